"""Ten samples with a scripted judge, through TCVA, every adapter and a panel."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

from tcva_adapters import TCVA, Result, Sample
from tests.adapters.table import ADAPTERS
from tests.golden import names
from tests.support.scripted import ScriptedModel, verdict_json

TEMPERATURE: Final = 0.6
THRESHOLD: Final = 0.55
TEMPERATURES: Final = (0.1, 0.3, 0.4556, 0.5, 0.9, 1.0)
FERRY: Final = "The ferry runs twice a day in winter."
SUMMER: Final = "It does not run on 24 December."
FARE: Final = "Tickets cost 12 euros."
DOGS: Final = "Dogs travel in the hold."
NIGHT: Final = "The cabins are heated at night."
PASSAGES: Final = (f"{FERRY} {SUMMER}", f"{FARE} {DOGS}", NIGHT)

Answer = str | Exception


class BusyError(Exception):
    """As providers name it."""

    status_code = 429


def _case(
    question: str, response: str, *answers: Answer, contexts: tuple[str, ...] | None = PASSAGES
) -> tuple[Sample, tuple[Answer, ...]]:
    return Sample(input=question, response=response, contexts=contexts), answers


CASES: Final = (
    _case(
        "How often does the ferry run, and for how much?",
        f"{FERRY} {FARE}",
        verdict_json((1, "fully", FERRY), (2, "fully", FARE)),
    ),
    _case(
        "May dogs travel on deck?",
        "Dogs travel in the hold. Cats travel in the cabins.",
        verdict_json((1, "fully", DOGS), (2, "none", "")),
    ),
    _case(
        "What is there to know about the ferry?",
        f"{FERRY} Tickets cost about a dozen euros. Dogs travel below. The cabins are warm. It has a bar.",
        verdict_json(
            (1, "fully", FERRY),
            (2, "mostly", FARE),
            (3, "partial", DOGS),
            (4, "minor", NIGHT),
            (5, "none", ""),
        ),
    ),
    _case(
        "What do children pay?",
        "Children travel free of charge. Tickets cost 12 euros.",
        verdict_json((1, "fully", "Children under six travel for nothing"), (2, "mostly", FARE)),
    ),
    _case(
        "Does it run on 24 December?",
        "It runs on 24 December. The cabins are heated.",
        verdict_json((1, "fully", "run on 24 December"), (2, "fully", NIGHT)),
    ),
    _case(
        "Can you help me with the fare?",
        "Hello! How can I help you? Tickets cost 12 euros.",
        verdict_json((1, "not_a_claim", ""), (2, "not_a_claim", ""), (3, "fully", FARE)),
    ),
    _case(
        "Where does the train leave?",
        "The train leaves at noon. It has two carriages.",
        verdict_json((1, "none", ""), (2, "none", "")),
    ),
    _case(
        "Who is the captain?",
        "I am sorry, but I cannot answer that.",
        verdict_json((1, "refusal", "")),
    ),
    _case(
        "Are the cabins heated, and when?",
        "The cabins are heated. That is so at night.",
        *[verdict_json((1, "fully", NIGHT))] * 2,
    ),
    _case("How long is the crossing?", "The crossing takes an hour.", BusyError("slow down")),
)
SAMPLES: Final = [sample for sample, _ in CASES]
OPTIONS: Final[dict[str, Any]] = {"temperature": TEMPERATURE, "threshold": THRESHOLD}


def replies() -> Callable[[str], str]:
    """Answers by the question that stands in the prompt, each sample's in order."""
    left = {sample.input or "": list(answers) for sample, answers in CASES}

    def reply(prompt: str) -> str:
        (question,) = (question for question in left if question in prompt)
        answer = left[question].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return reply


def plain(result: Result) -> dict[str, Any]:
    """What is compared of a result."""
    claims = [
        [
            claim.claim,
            claim.verdict and str(claim.verdict),
            claim.original_verdict and str(claim.original_verdict),
            claim.evidence_check and str(claim.evidence_check),
        ]
        for claim in result.claims
    ]
    return {
        "score": result.score,
        "passed": result.passed,
        "unscored": result.unscored and str(result.unscored.reason),
        "claims": claims,
        "at": [result.at(temperature).score for temperature in TEMPERATURES],
    }


def reference() -> list[Result]:
    """By TCVA, one at a time."""
    return [
        TCVA(judge=ScriptedModel(answers), **OPTIONS).evaluate(sample) for sample, answers in CASES
    ]


def through(name: str, *, asynchronous: bool) -> list[Result]:
    """By the entry point of a framework: one of the table's, or one of `FACES`."""
    if name in FACES:
        return FACES[name]()
    (adapter,) = (adapter for adapter in ADAPTERS if adapter.name == name)
    evaluator = adapter.built(adapter.llm(replies()), **OPTIONS)
    (results,) = adapter.suite([evaluator], SAMPLES, asynchronous)
    return results  # type: ignore[return-value]  # of a TCVA


def _langchain() -> Any:
    module: Any = import_module("tcva_adapters.langchain")
    entry: Any = import_module("tests.langchain.entry")
    return module, module.TCVAEvaluator(entry.ScriptedChatModel(reply=replies()), **OPTIONS)


def _string_evaluator() -> list[Result]:
    module, evaluator = _langchain()
    judge = module.TCVAStringEvaluator(evaluator)
    return [
        module.result_of(
            judge.evaluate_strings(
                prediction=sample.response, input=sample.input, contexts=sample.contexts
            )
        )
        for sample in SAMPLES
    ]


def _run_evaluator() -> list[Result]:
    module, evaluator = _langchain()
    schemas: Any = import_module("langsmith.schemas")
    judge, now = module.TCVARunEvaluator(evaluator), datetime.now(UTC)

    def run_of(sample: Sample) -> Any:
        outputs = {"answer": sample.response, "context": list(sample.contexts or ())}
        inputs = {"question": sample.input}
        names_of_run = {"name": "answer", "run_type": "chain", "start_time": now}
        return schemas.Run(
            id=uuid.uuid4(), inputs=inputs, outputs=outputs, trace_id=uuid.uuid4(), **names_of_run
        )

    return [module.result_of(judge.evaluate_run(run_of(sample))) for sample in SAMPLES]


def _openevals() -> list[Result]:
    module, evaluator = _langchain()
    judge = module.create_tcva_judge(evaluator)
    return [
        module.result_of(
            judge(inputs=sample.input, outputs=sample.response, context=list(sample.contexts or ()))
        )
        for sample in SAMPLES
    ]


def _collection() -> list[Result]:
    module: Any = import_module("tcva_adapters.ragas")
    entry: Any = import_module("tests.ragas.entry")
    metric = module.TCVACollectionMetric(entry.ScriptedLLM(replies()), **OPTIONS)
    return [
        metric.score(sample.input, sample.response, list(sample.contexts or ())).result
        for sample in SAMPLES
    ]


FACES: Final[dict[str, Callable[[], list[Result]]]] = {
    "langchain string evaluator": _string_evaluator,
    "langsmith run evaluator": _run_evaluator,
    "openevals": _openevals,
    "ragas collection": _collection,
}


def _native_langchain() -> list[Any]:
    _, evaluator = _langchain()
    entry: Any = import_module("tests.langchain.entry")
    found = evaluator.batch(entry.records(SAMPLES))
    return [[output[key] for key in ("score", "value", "passed")] for output in found]


def _native_llamaindex() -> list[Any]:
    module: Any = import_module("tcva_adapters.llamaindex")
    entry: Any = import_module("tests.llamaindex.entry")
    evaluator = module.TCVAEvaluator(entry.ScriptedLLM(reply=replies()), **OPTIONS)
    found = [evaluator.evaluate(s.input, s.response, list(s.contexts or ())) for s in SAMPLES]
    return [[each.score, each.passing, each.invalid_result] for each in found]


def _native_ragas() -> list[Any]:
    entry: Any = import_module("tests.ragas.entry")
    ragas: Any = import_module("ragas")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        arguments = entry._arguments(SAMPLES, replies(), OPTIONS)
        found = ragas.evaluate(**arguments, allow_nest_asyncio=False)
    (name,) = found.scores[0]
    column = [float(row[name]) for row in found.scores]
    return [[None if value != value else value] for value in column]  # noqa: PLR0124  # nan


def _native_deepeval() -> list[Any]:
    module: Any = import_module("tcva_adapters.deepeval")
    entry: Any = import_module("tests.deepeval.entry")
    metric = module.TCVAMetric(model=entry.ScriptedLLM(replies()), **OPTIONS)
    cases = [entry.case_of(sample) for sample in SAMPLES]
    found = entry.evaluated(cases, [metric], asynchronous=False).test_results
    return [[test.metrics_data[0].score, test.metrics_data[0].success] for test in found]


NATIVES: Final[dict[str, Callable[[], list[Any]]]] = {
    "langchain": _native_langchain,
    "llamaindex": _native_llamaindex,
    "ragas": _native_ragas,
    "deepeval": _native_deepeval,
}
"""The fields of the frameworks' own results: score, decision and the like of each sample."""


def panels(combine: str) -> list[dict[str, Any]]:
    """Three judges: the sample's own, one that is stricter in the first claim, one that fails."""
    found = []
    for sample, answers in CASES[:4]:
        (reply,) = answers
        judges = [
            ScriptedModel([reply], name="scripted:one"),
            ScriptedModel([str(reply).replace('"fully"', '"minor"', 1)], name="scripted:two"),
            ScriptedModel([BusyError("slow down")], name="scripted:three"),
        ]
        result = names.by_panel(judges, sample, combine, TEMPERATURE)
        shares = [claim.probabilities and list(claim.probabilities) for claim in result.claims]
        levels = [claim.verdict and str(claim.verdict) for claim in result.claims]
        found.append({"score": result.score, "levels": levels, "shares": shares})
    return found


def computed() -> dict[str, Any]:
    """Everything that is stored of them."""
    return {
        "results": [plain(result) for result in reference()],
        "natives": {name: native() for name, native in NATIVES.items()},
        "panels": {combine: panels(combine) for combine in ("median", "fused")},
    }

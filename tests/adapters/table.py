"""The adapters that are tested alike: how each is built, scores a sample, and runs a suite."""

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from langchain_core.runnables import RunnableParallel
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import BatchEvalRunner
from ragas import RunConfig, aevaluate, evaluate

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.llamaindex.entry as llamaindex_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import Conversation, Sample, deepeval, langchain, llamaindex, ragas
from tcva_adapters.results.protocol import Scored

Rows = list[list[Scored]]
"""Of each evaluator, the results by sample."""


@dataclass(frozen=True)
class Adapter:
    """One of them.

    Attributes:
        name: For ids of tests.
        judge: What its classes call the judge.
        named: What of a scorer names its evaluators; empty where they take no name that tells the
            settings.
        llm: A scripted LLM of the framework's, out of a function of the prompt; it has ``prompts``.
        drop_in: Builds a TCVA of its settings.
        scoring: Takes any scorer.
        score: The result of one sample, without an event loop; what cannot be judged may raise.
        ascore: The same, awaited.
        suite: Runs evaluators over samples through the framework's own runner.
        leaves_out: Settings that its drop-in does not take.
        has_ids: Whether the framework's samples have a name that comes back with the result.
        changed: A copy of an evaluator with other settings.
        instead: What an error says that gives such a copy.
    """

    name: str
    llm: Callable[[Callable[[str], str]], Any]
    drop_in: type[Any]
    scoring: type[Any]
    score: Callable[[Any, Sample], Scored]
    ascore: Callable[[Any, Sample], Coroutine[Any, Any, Scored]]
    suite: Callable[[list[Any], Sequence[Sample], bool], Rows]
    judge: str = "llm"
    named: str = ""
    leaves_out: frozenset[str] = frozenset()
    has_ids: bool = False
    changed: Callable[..., Any] = lambda evaluator, **changes: evaluator.changed(
        **changes
    )
    instead: str = "changed({}=...)"

    def built(self, judge: Any, /, **settings: Any) -> Any:
        """A drop-in with this judge."""
        return self.drop_in(**{self.judge: judge, **settings})


def _turn(sample: Sample) -> Any:
    return ragas_entry.dataset_of([sample]).samples[0]


async def _ragas_ascore(metric: Any, sample: Sample) -> Any:
    return (await metric.single_turn_ascore(_turn(sample))).result


def _ragas_suite(
    metrics: list[Any], samples: Sequence[Sample], asynchronous: bool
) -> Rows:
    arguments: dict[str, Any] = {
        "dataset": ragas_entry.dataset_of(samples),
        "metrics": metrics,
        "run_config": RunConfig(max_retries=1),
        "show_progress": False,
    }
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function on every call.
        warnings.simplefilter("ignore", DeprecationWarning)
        if asynchronous:
            found: Any = asyncio.run(aevaluate(**arguments))
        else:
            found = evaluate(**arguments, allow_nest_asyncio=False)
    return [ragas.results_of(found, metric.name) for metric in metrics]


def _row(sample: Sample) -> dict[str, Any]:
    row: dict[str, Any] = _turn(sample).to_dict()
    fields = ("user_input", "response", "retrieved_contexts")
    return {name: row.get(name) for name in fields} | {"reference": sample.reference}


async def _collections_ascore(metric: Any, sample: Sample) -> Any:
    return (await metric.ascore(**_row(sample))).result


def _collections_suite(
    metrics: list[Any], samples: Sequence[Sample], asynchronous: bool
) -> Rows:
    rows = list(map(_row, samples))

    async def together() -> Any:
        return await asyncio.gather(*(metric.abatch_score(rows) for metric in metrics))

    columns = (
        asyncio.run(together())
        if asynchronous
        else [m.batch_score(rows) for m in metrics]
    )
    return [[each.result for each in column] for column in columns]


def _deepeval_score(metric: Any, sample: Sample) -> Any:
    metric.measure(deepeval_entry.case_of(sample))
    return metric.result


async def _deepeval_ascore(metric: Any, sample: Sample) -> Any:
    case = deepeval_entry.case_of(sample)
    await metric.a_measure(case)
    return next(result for judged, result in metric.collected[::-1] if judged is case)


def _deepeval_suite(
    metrics: list[Any], samples: Sequence[Sample], asynchronous: bool
) -> Rows:
    made: Any = {Sample: deepeval_entry.case_of, Conversation: deepeval_entry.talk_of}
    cases = [made[type(each)](each) for each in samples]
    found = deepeval_entry.evaluated(
        cases, metrics, asynchronous=asynchronous, ignore_errors=True
    )
    return [deepeval.results_of(found, metric.name) for metric in metrics]


def _langchain_changed(evaluator: Any, **changes: Any) -> Any:
    return evaluator.model_copy(update=changes)


async def _langchain_ascore(evaluator: Any, sample: Sample) -> Any:
    (record,) = langchain_entry.records([sample])
    return langchain.result_of(await evaluator.ainvoke(record))


def _langchain_suite(
    evaluators: list[Any], samples: Sequence[Sample], asynchronous: bool
) -> Rows:
    step = RunnableParallel[Any]({str(i): each for i, each in enumerate(evaluators)})
    records = langchain_entry.records(samples)
    found = asyncio.run(step.abatch(records)) if asynchronous else step.batch(records)
    return [[langchain.result_of(row[name]) for row in found] for name in step.steps__]


def _given(sample: Sample) -> dict[str, Any]:
    fields = {"response", "contexts", "reference", "metadata"}
    return {"query": sample.input} | sample.model_dump(include=fields)


async def _llamaindex_ascore(evaluator: Any, sample: Sample) -> Any:
    return (await evaluator.aevaluate(**_given(sample))).result


def _llamaindex_suite(
    evaluators: list[Any], samples: Sequence[Sample], asynchronous: bool
) -> Rows:
    runner = BatchEvalRunner(
        {str(i): each for i, each in enumerate(evaluators)}, workers=8
    )
    rows = [_given(sample) for sample in samples]
    arguments: Any = {
        "queries": [row["query"] for row in rows],
        "response_strs": [row["response"] for row in rows],
        "contexts_list": [row["contexts"] for row in rows],
        "reference": [row["reference"] for row in rows],
    }
    with warnings.catch_warnings():
        # llama-index-core 0.14.25 calls a helper that the same package deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        if asynchronous:
            found = asyncio_run(runner.aevaluate_response_strs(**arguments))
        else:
            found = runner.evaluate_response_strs(**arguments)
    return [[each.result for each in column] for column in found.values()]


def _llamaindex_llm(reply: Callable[[str], str]) -> Any:
    def joined(messages: Any) -> str:
        return "\n\n".join(message.content for message in messages)

    return llamaindex_entry.ScriptedLLM(reply=reply, messages_to_prompt=joined)


_NO_METADATA: Final = frozenset({"profiles"})

ADAPTERS: Final = [
    Adapter(
        name="ragas", named="name", llm=ragas_entry.ScriptedLLM, leaves_out=_NO_METADATA,
        drop_in=ragas.TCVAMetric, scoring=ragas.ScorerMetric,
        score=lambda metric, sample: metric.single_turn_score(_turn(sample)).result,
        ascore=_ragas_ascore, suite=_ragas_suite,
    ),
    Adapter(
        name="ragas collections", named="name", llm=ragas_entry.ScriptedLLM, leaves_out=_NO_METADATA,
        drop_in=ragas.TCVACollectionMetric, scoring=ragas.ScorerCollectionMetric,
        score=lambda metric, sample: metric.score(**_row(sample)).result,
        ascore=_collections_ascore, suite=_collections_suite,
    ),
    Adapter(
        name="deepeval", named="title", llm=deepeval_entry.ScriptedLLM, judge="model", has_ids=True,
        drop_in=deepeval.TCVAMetric, scoring=deepeval.ScorerMetric,
        score=_deepeval_score, ascore=_deepeval_ascore, suite=_deepeval_suite,
    ),
    Adapter(
        name="langchain", llm=lambda reply: langchain_entry.ScriptedChatModel(reply=reply),
        drop_in=langchain.TCVAEvaluator, scoring=langchain.ScorerEvaluator, has_ids=True,
        score=lambda step, s: langchain.result_of(step.invoke(langchain_entry.records([s])[0])),
        ascore=_langchain_ascore, suite=_langchain_suite, changed=_langchain_changed,
        instead="model_copy(update={{'{}': ...}})",
    ),
    Adapter(
        name="llamaindex", llm=_llamaindex_llm,
        drop_in=llamaindex.TCVAEvaluator, scoring=llamaindex.ScorerEvaluator,
        score=lambda evaluator, sample: evaluator.evaluate(**_given(sample)).result,
        ascore=_llamaindex_ascore, suite=_llamaindex_suite,
    ),
]  # fmt: skip

_CONVERSATIONAL: Final = {
    "ragas": ragas.TCVAMultiTurnMetric,
    "deepeval": deepeval.TCVAConversationalMetric,
    "langchain": langchain.TCVAConversationEvaluator,
}

each_adapter = pytest.mark.parametrize(
    "adapter", ADAPTERS, ids=lambda adapter: adapter.name
)
each_named = pytest.mark.parametrize(
    "adapter",
    [each for each in ADAPTERS if each.named],
    ids=lambda adapter: adapter.name,
)
each_of_conversations = pytest.mark.parametrize(
    "adapter",
    [
        replace(a, drop_in=_CONVERSATIONAL[a.name])
        for a in ADAPTERS
        if a.name in _CONVERSATIONAL
    ],
    ids=lambda adapter: adapter.name,
)
both_ways = pytest.mark.parametrize(
    "asynchronous", [False, True], ids=["sync", "async"]
)

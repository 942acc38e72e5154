"""Events: one for each result, on the caller's span, whoever returns it; and no connection for them."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry.sdk._logs import Logger, LoggerProvider, export
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from tcva_adapters import CCRS, TCVA, Conversation, Sample, events
from tcva_adapters.compare.runs.run import Run
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.events import CONVENTION, EVENT, _logs, emit
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.scale import judge_batch
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.contract.adapters import SAMPLES
from tests.support.connections import connections
from tests.support.scripted import ScriptedModel, verdict_json

LEVELS = {"Desk 0": "fully", "Desk 1": "none"}
OPENS = "The office opens at nine."
TALK = [
    ("user", "When?"),
    ("assistant", OPENS),
    ("user", "Really?"),
    ("assistant", OPENS),
]
LABELS = {True: "pass", False: "fail", None: None}
NAME = "gen_ai.evaluation.name"
SCORE = "gen_ai.evaluation.score.value"
LABEL = "gen_ai.evaluation.score.label"
ERROR = "error.type"
PARTS = [SCORE, LABEL, ERROR]
NAMES = {
    EVENT,
    NAME,
    SCORE,
    LABEL,
    ERROR,
    "gen_ai.evaluation.explanation",
    "gen_ai.response.id",
    "tcva.sample.id",
}
REFUSAL = Unscored(reason=Reason.REFUSAL, detail="the answer declines")


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What an application's exporter gets; its older name is that of SDKs before 1.39."""
    kind: Any = (
        getattr(export, "InMemoryLogRecordExporter", None) or export.InMemoryLogExporter
    )
    exporter, provider = kind(), LoggerProvider()
    provider.add_log_record_processor(export.SimpleLogRecordProcessor(exporter))
    monkeypatch.setattr("opentelemetry._logs._internal._LOGGER_PROVIDER", provider)

    def taken() -> list[Any]:
        found = exporter.get_finished_logs()
        exporter.clear()
        assert {each.instrumentation_scope.schema_url for each in found} <= {CONVENTION}
        assert {each.log_record.event_name for each in found} <= {EVENT}
        return [each.log_record for each in found]

    return taken


@pytest.fixture
def span() -> Iterator[Any]:
    with TracerProvider().get_tracer("t").start_as_current_span("answer") as current:
        yield current.get_span_context()


def reply(prompt: str) -> str:
    for desk, level in LEVELS.items():
        if desk in prompt:
            return verdict_json(
                (1, "fully", "opens at nine"), (2, level, "is free for visitors")
            )
    msg = "the judge said secret things"
    raise RuntimeError(msg)


def check_are_of(records: Sequence[Any], results: Sequence[Any]) -> None:
    """Frameworks may end samples in another order."""
    why = [None if each.unscored is None else each.unscored.reason for each in results]
    expected = [
        (r.score, LABELS[r.passed], w) for r, w in zip(results, why, strict=True)
    ]
    found = [tuple(map(each.attributes.get, PARTS)) for each in records]
    assert sorted(found, key=str) == sorted(expected, key=str)


@each_adapter
@both_ways
def test_results_are_events(
    adapter: Adapter, asynchronous: bool, exported: Any, span: Any
) -> None:
    connections().clear()
    refused = SAMPLES[0].model_copy(
        update={"contexts": None}
    )  # in LangChain an error, no result
    samples = SAMPLES if adapter.name == "langchain" else [*SAMPLES, refused]
    evaluator = adapter.built(adapter.llm(reply), events=True, temperature=0.2)
    for _ in "asked", "shared":
        (results,) = adapter.suite([evaluator], samples, asynchronous)
        check_are_of(records := exported(), results)
        assert {each.passed for each in results} == {*LABELS}
        spans = {(each.trace_id, each.span_id) for each in records}
        assert spans == {(span.trace_id, span.span_id)}
        assert {each.attributes[NAME] for each in records} == {
            "tcva_faithfulness(T=0.2)"
        }
        for text in ("Desk", "nine", "secret"):
            assert not any(text in str(each.attributes) for each in records)
    results[0].to_json()
    adapter.suite([adapter.built(adapter.llm(reply))], SAMPLES, asynchronous)
    assert exported() == []
    ccrs = adapter.scoring(CCRS(("qr",), judge=adapter.llm(reply), events=True))
    (rated,) = adapter.suite([ccrs], SAMPLES, asynchronous)
    check_are_of(records := exported(), rated)
    assert "secret" not in str([each.attributes for each in records])
    assert connections() == []


@each_adapter
def test_a_judgement_that_a_framework_ends_is_an_event_if_it_is_a_result(
    adapter: Adapter, exported: Any
) -> None:
    model: Any = ScriptedModel([])
    model.acomplete = lambda _: asyncio.sleep(60)

    async def ended() -> None:
        with suppress(TimeoutError):
            evaluator = adapter.built(model, events=True)
            await asyncio.wait_for(adapter.ascore(evaluator, SAMPLES[0]), 1e-9)

    asyncio.run(ended())
    expected = ["timeout"] * (adapter.name in ("ragas", "deepeval"))
    assert [each.attributes[ERROR] for each in exported()] == expected


def test_every_way_to_evaluate_gives_one_event_for_each_result(exported: Any) -> None:
    tcva = TCVA(judge=ScriptedModel([reply("Desk 0")] * 4), events=True, repeats=2)
    results: list[Any] = [
        tcva.evaluate(SAMPLES[0]),
        asyncio.run(tcva.aevaluate(SAMPLES[0])),
    ]
    results += tcva.evaluate_many([SAMPLES[0], Sample()])
    results += asyncio.run(tcva.aevaluate_many(SAMPLES[:1]))
    results.append(next(stream := tcva.iter_evaluate(SAMPLES)))
    stream.close()
    lexical = TCVA(judge="lexical", events=True)
    talk = Conversation.from_messages(TALK, contexts=OPENS)
    results.append(lexical.evaluate_conversation(talk))
    results += asyncio.run(lexical.aevaluate_conversations([talk, talk]))
    messages = [{"role": role, "content": text} for role, text in TALK]
    rows = {
        "messages": [messages, None],
        "answer": [None, OPENS],
        "context": [OPENS, OPENS],
    }
    settings = {"criterion": "faithfulness", "judge": "lexical", "events": True}
    results += map(read_result, judge_batch(rows, settings=settings)["tcva_result"])
    Run(SAMPLES, lexical, frameworks="none").table()
    results.append(lexical.changed(fuse="lexical", threshold=0.7).evaluate(SAMPLES[0]))
    check_are_of(records := exported(), results)
    for result in results:
        emit(result)
    own, other = (
        [each.attributes[NAME] for each in them if SCORE in each.attributes]
        for them in (records, exported())
    )
    assert own == other
    fused = "tcva_faithfulness(threshold=0.7,fuse=lexical_6 faithfulness)"
    assert {*own} == {"tcva_faithfulness(repeats=2)", "tcva_faithfulness", fused}
    for wrong in (None, None), (0.5, None), (results, None), (results[0], "span"):
        with pytest.raises(
            InvalidValueError, match="a result and an OpenTelemetry span or None"
        ):
            emit(*wrong)


def test_events_change_no_name_no_key_and_no_verdict() -> None:
    quiet = TCVA(judge=ScriptedModel([reply("Desk 0")]))
    loud = quiet.changed(events="texts")
    assert (loud.name, loud.title, loud.fingerprint) == (
        quiet.name,
        quiet.title,
        quiet.fingerprint,
    )
    assert loud.key(SAMPLES[0]) == quiet.key(SAMPLES[0])
    assert loud.evaluate(SAMPLES[0]) == quiet.evaluate(SAMPLES[0])  # one reply for both
    for scorer in (
        TCVA(judge="lexical", events=True),
        CCRS(judge="lexical", events=True),
    ):
        assert pickle.loads(pickle.dumps(scorer)).events is True


def test_an_event_has_the_parts_of_the_convention(exported: Any, span: Any) -> None:
    if hasattr(
        gen_ai_attributes, "GEN_AI_EVALUATION_NAME"
    ):  # not in the lowest version
        own = {"gen_ai.evaluation.result", "error.type", "tcva.sample.id"}
        assert NAMES - own <= {*map(str, vars(gen_ai_attributes).values())}
    assert all(
        name in f"{events.__doc__}" for name in (*NAMES, CONVENTION.rpartition("/")[2])
    )
    about = {"id": "s-1", "metadata": {"gen_ai.response.id": 17, "name": "Ada"}}
    result = TCVA(judge="lexical", on_unscored=0.0).evaluate(
        SAMPLES[0].model_copy(update=about)
    )
    other = TracerProvider().get_tracer("t").start_span("other")
    emit(result, other, name="mine", texts=True)
    emit(result.unscored_for(REFUSAL).at("strict", on_unscored=None))
    emit(result.unscored_for(REFUSAL))
    shown, without, scored_all_the_same = exported()
    assert dict(shown.attributes) == {
        "gen_ai.evaluation.name": "mine",
        "gen_ai.evaluation.score.value": result.score,
        "gen_ai.evaluation.score.label": LABELS[result.passed],
        "gen_ai.evaluation.explanation": result.reason,
        "gen_ai.response.id": "17",
        "tcva.sample.id": "s-1",
    }
    assert (shown.span_id, without.span_id) == (
        other.get_span_context().span_id,
        span.span_id,
    )
    assert dict(without.attributes) == {
        "gen_ai.evaluation.name": "tcva_faithfulness(T=0.2)",
        "gen_ai.evaluation.explanation": "unscored: refusal",
        "error.type": "refusal",
    }
    assert [scored_all_the_same.attributes.get(name) for name in PARTS] == [
        0.0,
        "fail",
        None,
    ]


@pytest.mark.usefixtures("exported")
@pytest.mark.parametrize(
    ("owner", "part"), [(LoggerProvider, "get_logger"), (Logger, "emit")]
)
def test_a_provider_that_fails_costs_no_result(
    owner: Any,
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(owner, part, lambda *_, **__: 1 / 0)
    results = TCVA(judge="lexical", events=True).evaluate_many(SAMPLES)
    assert [each.unscored for each in results] == [None] * 3
    said = "no event for tcva_faithfulness: ZeroDivisionError: division by zero"
    assert caplog.messages == [said] * 3


def test_a_missing_package_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry._logs", None)
    _logs.cache_clear()
    for build in TCVA, CCRS:
        build(judge="lexical")
        with pytest.raises(
            MissingDependencyError, match=r"opentelemetry-api .*\[otel\]"
        ):
            build(judge="lexical", events=True)

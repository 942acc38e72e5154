"""Events: one for each result, on the caller's span, whoever returns it; and no connection for them."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from deepeval.test_case import ConversationalTestCase, Turn

from tcva_adapters import CCRS, TCVA, Conversation, Result, Sample, deepeval
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.events import CONVENTION, NAMES, _logs, emit
from tcva_adapters.results.assessment import Reason, Unscored
from tcva_adapters.results.protocol import Scored, read_result
from tcva_adapters.scale import judge_batch
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.contract.adapters import SAMPLES
from tests.deepeval.entry import case_of
from tests.support.connections import connections
from tests.support.scripted import ScriptedModel, verdict_json
from tests.support.server import ScriptedServer, auto_judge

export = pytest.importorskip("opentelemetry.sdk._logs.export")
trace = pytest.importorskip("opentelemetry.sdk.trace")
LEVELS = {"Desk 0": "fully", "Desk 1": "none"}
ENDED = {("pass", None), ("fail", None), (None, "judge_error")}


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What an application's exporter gets; its older name is that of SDKs before 1.39."""
    kind = getattr(export, "InMemoryLogRecordExporter", None) or export.InMemoryLogExporter
    provider, found = sys.modules["opentelemetry.sdk._logs"].LoggerProvider(), kind()
    provider.add_log_record_processor(export.SimpleLogRecordProcessor(found))
    monkeypatch.setattr("opentelemetry._logs._internal._LOGGER_PROVIDER", provider)
    return found


@pytest.fixture
def span() -> Iterator[Any]:
    with trace.TracerProvider().get_tracer("t").start_as_current_span("answer") as current:
        yield current.get_span_context()


def reply(prompt: str) -> str:
    for desk, level in LEVELS.items():
        if desk in prompt:
            return verdict_json((1, "fully", "opens at nine"), (2, level, "is free for visitors"))
    msg = "the judge said secret things"
    raise RuntimeError(msg)


def records(exporter: Any) -> list[Any]:
    found = [each.log_record for each in exporter.get_finished_logs()]
    exporter.clear()
    assert {each.event_name for each in found} <= {"gen_ai.evaluation.result"}
    return found


def told(found: Sequence[Any]) -> Counter[Any]:
    parts = [NAMES[part] for part in ("score", "label", "error")]
    return Counter(tuple(each.attributes.get(name) for name in parts) for each in found)


def of(results: Sequence[Scored]) -> Counter[Any]:
    label = {True: "pass", False: "fail", None: None}
    why = [None if each.unscored is None else each.unscored.reason.value for each in results]
    return Counter((r.score, label[r.passed], w) for r, w in zip(results, why, strict=True))


@each_adapter
@both_ways
def test_each_result_is_one_event_on_the_span_of_the_caller(
    adapter: Adapter, asynchronous: bool, exporter: Any, span: Any
) -> None:
    evaluator = adapter.built(adapter.llm(reply), events=True, temperature=0.2)
    for _ in "asked", "shared":
        (results,) = adapter.suite([evaluator], SAMPLES, asynchronous)
        found = records(exporter)
        assert told(found) == of(results)
        assert {(label, error) for _, label, error in told(found)} == ENDED
        assert {each.span_id for each in found} == {span.span_id}
        assert {each.trace_id for each in found} == {span.trace_id}
        assert {each.attributes[NAMES["name"]] for each in found} == {"tcva_faithfulness(T=0.2)"}
        for text in ("Desk", "nine", "secret"):
            assert not any(text in str(each.attributes) for each in found)
    assert isinstance(results[0], Result)
    results[0].at("lenient").to_json()
    quiet = adapter.built(adapter.llm(reply))
    adapter.suite([quiet], SAMPLES, asynchronous)
    (rated,) = adapter.suite(
        [adapter.scoring(CCRS(("qr",), judge="lexical", events=True))], SAMPLES, asynchronous
    )
    assert told(found := records(exporter)) == of(rated)
    assert {each.attributes[NAMES["name"]] for each in found} == {"ccrs_qr"}


@each_adapter
def test_what_an_adapter_refuses_is_an_event_where_it_is_a_result(
    adapter: Adapter, exporter: Any
) -> None:
    samples = [SAMPLES[0], SAMPLES[1].model_copy(update={"contexts": None})]
    try:
        (results,) = adapter.suite([adapter.built("lexical", events=True)], samples, True)
    except ValueError:  # LangChain: no results, but that of the other sample may have been one
        assert len(records(exporter)) <= 1
        return
    assert told(records(exporter)) == of(results)
    assert [each.score is None for each in results] == [False, True]


@pytest.mark.parametrize("kind", [deepeval.TCVAMetric, deepeval.TCVAConversationalMetric])
def test_what_deepeval_ends_is_an_event(kind: Any, exporter: Any) -> None:
    async def ended() -> None:
        model: Any = ScriptedModel([])
        model.acomplete = lambda _: asyncio.sleep(60)
        case: Any = case_of(SAMPLES[0])
        if kind is not deepeval.TCVAMetric:
            opens = Turn(role="assistant", content="It opens.", retrieval_context=["It opens."])
            case = ConversationalTestCase(turns=[Turn(role="user", content="When?"), opens])
        with suppress(TimeoutError):
            await asyncio.wait_for(kind(model=model, events=True).a_measure(case), 0.05)

    asyncio.run(ended())
    assert told(records(exporter)) == Counter([(None, None, "timeout")])


def test_every_way_to_evaluate_gives_one_event_for_each_result(exporter: Any) -> None:
    answers = [reply("Desk 0")] * 4
    tcva = TCVA(judge=ScriptedModel(answers), events=True, repeats=2)
    results = [tcva.evaluate(SAMPLES[0]), asyncio.run(tcva.aevaluate(SAMPLES[0]))]
    results += tcva.evaluate_many([SAMPLES[0], Sample()])
    results += asyncio.run(tcva.aevaluate_many(SAMPLES[:1]))
    results.append(next(stream := tcva.iter_evaluate(SAMPLES)))
    stream.close()
    turns = [
        ("user", "When?"),
        ("assistant", "At nine."),
        ("user", "And?"),
        ("assistant", "It is."),
    ]
    talk = Conversation.from_messages(turns, contexts="The office opens at nine.", id="talk")
    lexical = TCVA(judge="lexical", events=True)
    talks: list[Scored] = [lexical.evaluate_conversation(talk)]
    talks += asyncio.run(lexical.aevaluate_conversations([talk, talk]))
    messages = [{"role": role, "content": text} for role, text in turns]
    batch = {"messages": [messages, None], "answer": [None, "It opens at nine."]}
    settings = {"criterion": "faithfulness", "judge": "lexical", "events": True}
    judged = judge_batch({**batch, "context": ["It opens at nine."] * 2}, settings=settings)
    talks += map(read_result, judged["tcva_result"])
    assert told(spoken := records(exporter)) == of([*results, *talks])
    assert [each.attributes.get(NAMES["sample"]) for each in spoken[-5:-2]] == ["talk"] * 3
    assert [each.unscored is None for each in results] == [True, True, True, False, True, True]


def test_events_change_no_name_no_key_and_no_verdict() -> None:
    quiet = TCVA(judge=ScriptedModel([reply("Desk 0")]))
    loud = quiet.changed(events="texts")
    assert (loud.name, loud.title, loud.fingerprint) == (quiet.name, quiet.title, quiet.fingerprint)
    assert loud.key(SAMPLES[0]) == quiet.key(SAMPLES[0])
    assert loud.evaluate(SAMPLES[0]) == quiet.evaluate(SAMPLES[0])  # one reply for both
    for scorer in TCVA(judge="lexical", events=True), CCRS(judge="lexical", events=True):
        assert pickle.loads(pickle.dumps(scorer)).events is True


def test_an_event_has_the_parts_of_the_convention(exporter: Any, span: Any) -> None:
    names = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for name, value in vars(names).items() if name.startswith("GEN_AI")}
    own = {"gen_ai.evaluation.result", "error.type", "tcva.sample.id"}
    assert {*NAMES.values()} - own <= known
    metadata = {"gen_ai.response.id": "chatcmpl-1", "name": "Ada"}
    sample = SAMPLES[0].model_copy(update={"id": "s-1", "metadata": metadata})
    result = TCVA(judge="lexical", on_unscored=0.0).evaluate(sample)
    other = trace.TracerProvider().get_tracer("t").start_span("other")
    emit(result, other, name="mine", texts=True)
    emit(result.unscored_for(_refusal()).at("strict", on_unscored=None))
    emit(result.unscored_for(_refusal()))
    shown, without, scored_all_the_same = exporter.get_finished_logs()
    assert shown.instrumentation_scope.schema_url.endswith(CONVENTION)
    assert dict(shown.log_record.attributes) == {
        "gen_ai.evaluation.name": "mine",
        "gen_ai.evaluation.score.value": result.score,
        "gen_ai.evaluation.score.label": "pass" if result.passed else "fail",
        "gen_ai.evaluation.explanation": result.reason,
        "gen_ai.response.id": "chatcmpl-1",
        "tcva.sample.id": "s-1",
    }
    assert shown.log_record.span_id == other.get_span_context().span_id != span.span_id
    assert dict(without.log_record.attributes) == {
        "gen_ai.evaluation.name": "tcva_faithfulness",
        "gen_ai.evaluation.explanation": "unscored: refusal",
        "error.type": "refusal",
    }
    assert without.log_record.span_id == span.span_id
    assert told([scored_all_the_same.log_record]) == Counter([(0.0, "fail", None)])


def _refusal() -> Unscored:
    return Unscored(reason=Reason.REFUSAL, detail="the answer declines")


@pytest.mark.usefixtures("exporter")
@pytest.mark.parametrize("part", ["get_logger", "emit"])
def test_a_provider_that_fails_costs_no_result(
    part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        msg = "no space left"
        raise OSError(msg)

    owner = "LoggerProvider" if part == "get_logger" else "Logger"
    monkeypatch.setattr(getattr(sys.modules["opentelemetry.sdk._logs"], owner), part, fail)
    results = TCVA(judge="lexical", events=True).evaluate_many(SAMPLES)
    assert [each.unscored for each in results] == [None] * 3
    assert caplog.messages == ["no event for tcva_faithfulness: OSError: no space left"] * 3


def test_a_missing_package_is_named_when_the_evaluator_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry._logs", None)
    _logs.cache_clear()
    for build in TCVA, CCRS:
        with pytest.raises(MissingDependencyError, match=r"opentelemetry-api .*\[otel\]"):
            build(judge="lexical", events=True)
        build(judge="lexical")


@each_adapter
@pytest.mark.parametrize("events", [False, True, "texts"])
def test_nobody_but_the_judge_is_connected_to(
    adapter: Adapter, events: Any, exporter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        connections().clear()
        (results,) = adapter.suite([adapter.built("openai:m", events=events)], SAMPLES, True)
        found = {f"{address[0]}:{address[1]}" for address in connections()}
        assert found == {server.base_url.removeprefix("http://").removesuffix("/v1")}
        assert server.count == 3
    assert [each.unscored for each in results] == [None] * 3
    assert len(records(exporter)) == (3 if events else 0)

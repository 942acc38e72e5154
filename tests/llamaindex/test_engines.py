"""TCVAEvaluator where LlamaIndex takes an evaluator. Models are scripted, all else is real."""

import asyncio
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.token_counting import TokenCountingHandler
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.query_engine import RetryGuidelineQueryEngine, RetryQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import ToolOutput
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool
from llama_index_instrumentation import root_dispatcher
from pydantic import PrivateAttr

from tcva_adapters.llamaindex import (
    LexicalLLM,
    ScorerEvaluationEndEvent,
    ScorerEvaluationResult,
    ScorerEvaluationStartEvent,
    TCVAEvaluator,
    framework_metrics,
    result_of,
)
from tcva_adapters.results.judgement import Reason
from tests.llamaindex.entry import ScriptedLLM, scripted
from tests.support.scripted import verdict_json

# BatchEvalRunner of llama-index-core 0.14.25 calls a helper that the same package deprecates.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:asyncio_module\(\) is deprecated:DeprecationWarning:llama_index\.core\.evaluation"
)

PASSAGE = "The office opens at nine on weekdays."
GOOD = "The office opens at nine."
BAD = "The office never opens."
FULLY = verdict_json((1, "fully", "opens at nine"))
NONE = verdict_json((1, "none", ""))


def by_answer(prompt: str) -> str:
    """A judge that knows the good answer from the bad one."""
    return FULLY if GOOD in prompt.partition("<<<CLAIM 1 ")[2] else NONE


class Engine(BaseQueryEngine):
    """A query engine that gives its answers one after the other."""

    def __init__(self, *answers: str, is_streaming: bool = False) -> None:
        self.answers = list(answers)
        self.queries: list[str] = []
        self.is_streaming = is_streaming
        super().__init__(callback_manager=None)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        self.queries.append(query_bundle.query_str)
        answer = self.answers.pop(0)
        nodes = [NodeWithScore(node=TextNode(text=PASSAGE))]
        if self.is_streaming:
            return StreamingResponse((piece for piece in [answer]), nodes)
        return Response(answer, nodes)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._query(query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        pass


# --- BatchEvalRunner ---------------------------------------------------------------------------


def test_unreadable_samples_and_settings_leave_the_batch_alone() -> None:
    given: dict[str, Any] = {
        "queries": ["One?", "Two?", "Three?", "Four?"],
        "response_strs": [GOOD, 5, GOOD, GOOD],
        "contexts_list": [[PASSAGE], [PASSAGE], [1, 2], [PASSAGE]],
        "tcva": {
            "temperature": [0.5, 0.5, 0.5, 7],
            "metadata": ["docs", None, None, None],
        },
    }
    runner = BatchEvalRunner(
        {"tcva": TCVAEvaluator(ScriptedLLM(reply=lambda _: FULLY))}
    )
    found = runner.evaluate_response_strs(**given)["tcva"]
    assert [r.score for r in found] == [1.0, None, None, None]
    assert [r.query for r in found] == given["queries"]
    assert [r.response for r in found] == [GOOD, None, GOOD, GOOD]
    unscored = [result_of(r).unscored for r in found]
    assert [why and why.reason for why in unscored] == [
        None,
        *[Reason.INVALID_INPUT] * 3,
    ]
    named = ("response", "contexts", "temperature")
    assert all(
        n in (r.invalid_reason or "") for n, r in zip(named, found[1:], strict=True)
    )
    runner = BatchEvalRunner(
        {"tcva": TCVAEvaluator(ScriptedLLM(reply=lambda _: FULLY))}
    )
    responses: Any = [
        Response(GOOD, [NodeWithScore(node=TextNode(text=PASSAGE))]),
        {"text": GOOD},
    ]
    mixed = runner.evaluate_responses(queries=["One?", "Two?"], responses=responses)[
        "tcva"
    ]
    assert [r.score for r in mixed] == [1.0, None]


def test_a_batch_beside_framework_metrics_and_with_settings_per_sample() -> None:
    reply = verdict_json((1, "fully", "opens at nine"), (2, "none", ""))
    theirs = framework_metrics()["faithfulness"](llm=LexicalLLM())
    runner = BatchEvalRunner({"theirs": theirs, "tcva": TCVAEvaluator(scripted(reply))})
    found = runner.evaluate_responses(
        queries=["When?"],
        responses=[
            Response(f"{GOOD} {BAD}", [NodeWithScore(node=TextNode(text=PASSAGE))])
        ],
        tcva={"temperature": [1.0], "threshold": [0.2]},
    )
    (tcva,) = found["tcva"]
    assert isinstance(tcva, ScorerEvaluationResult)
    # T=1: p=12.25 over the weights 1 and 0, times the penalty (1 - 1/2)^(1.5 - 1)
    assert tcva.score == pytest.approx(0.5 ** (1 / 12.25) * 0.5**0.5, abs=1e-12)
    assert tcva.result.scoring.threshold == 0.2
    assert found["theirs"][0].score in (0.0, 1.0)


def test_queries_of_an_engine_are_answered_and_judged() -> None:
    runner = BatchEvalRunner({"tcva": TCVAEvaluator(ScriptedLLM(reply=by_answer))})
    found = runner.evaluate_queries(Engine(GOOD, BAD), queries=["One?", "Two?"])
    scores = {r.query: r.score for r in found["tcva"]}
    assert scores == {"One?": 1.0, "Two?": 0.0}


# --- engines and tools that act on the verdict -------------------------------------------------


@pytest.fixture
def _some_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    # FeedbackQueryTransformation resolves Settings.llm even where it does not use it.
    monkeypatch.setattr(Settings, "_llm", scripted())


@pytest.mark.usefixtures("_some_llm")
@pytest.mark.parametrize("is_streaming", [False, True])
@pytest.mark.parametrize("wrapper", [RetryQueryEngine, RetryGuidelineQueryEngine])
def test_a_failed_answer_is_tried_again_with_our_reasons(
    wrapper: Any, is_streaming: bool
) -> None:
    engine = Engine(BAD, GOOD, is_streaming=is_streaming)
    evaluator = TCVAEvaluator(ScriptedLLM(reply=by_answer))
    response = wrapper(engine, evaluator).query("When does it open?")
    assert str(response) == GOOD
    first, second = engine.queries
    assert first == "When does it open?"
    assert BAD in second
    assert "0.000 < 0.5 at T=0.5: 1 none" in second
    assert second.endswith("When does it open?")


@pytest.mark.usefixtures("_some_llm")
def test_retries_end_and_good_answers_are_not_retried() -> None:
    engine = Engine(BAD, BAD, BAD)
    evaluator = TCVAEvaluator(ScriptedLLM(reply=by_answer))
    assert str(RetryQueryEngine(engine, evaluator, max_retries=2).query("When?")) == BAD
    assert len(engine.queries) == 3
    engine = Engine(GOOD)
    assert str(RetryQueryEngine(engine, evaluator).query("When?")) == GOOD


def test_the_tool_tells_the_agent_what_was_wrong() -> None:
    def tool(answer: str) -> EvalQueryEngineTool:
        evaluator = TCVAEvaluator(ScriptedLLM(reply=by_answer))
        return EvalQueryEngineTool.from_defaults(Engine(answer), evaluator=evaluator)

    assert tool(GOOD).call("When?").content == GOOD

    async def acall(answer: str) -> ToolOutput:
        return await tool(answer).acall("When?")

    for output in (tool(BAD).call("When?"), asyncio.run(acall(BAD))):
        assert "Could not use tool" in output.content
        assert BAD in output.content
        assert "[none]" in output.content


# --- instrumentation ---------------------------------------------------------------------------


class Recorder(BaseEventHandler):
    _events: list[BaseEvent] = PrivateAttr(default_factory=list)

    @property
    def events(self) -> list[BaseEvent]:
        return self._events

    def handle(self, event: BaseEvent, **_: Any) -> None:
        self._events.append(event)


@pytest.mark.parametrize("is_async", [False, True])
def test_spans_nest_and_events_carry_the_result(is_async: bool) -> None:
    recorder, spans = Recorder(), SimpleSpanHandler()
    root_dispatcher.event_handlers.append(recorder)
    root_dispatcher.span_handlers.append(spans)
    evaluator = TCVAEvaluator(scripted(FULLY))
    response = Response(GOOD, [NodeWithScore(node=TextNode(text=PASSAGE))])
    try:
        given = ("When?", response)
        awaited = evaluator.aevaluate_response(*given) if is_async else None
        result = (
            asyncio.run(awaited) if awaited else evaluator.evaluate_response(*given)
        )
    finally:
        root_dispatcher.event_handlers.remove(recorder)
        root_dispatcher.span_handlers.remove(spans)
    face, chat = ("aevaluate", "achat") if is_async else ("evaluate", "chat")
    ours = next(
        s for s in spans.completed_spans if s.id_.startswith(f"TCVAEvaluator.{face}-")
    )
    asked = next(
        s for s in spans.completed_spans if s.id_.startswith(f"ScriptedLLM.{chat}-")
    )
    assert asked.parent_id == ours.id_
    start = next(
        e for e in recorder.events if isinstance(e, ScorerEvaluationStartEvent)
    )
    end = next(e for e in recorder.events if isinstance(e, ScorerEvaluationEndEvent))
    assert (start.subject, start.query, start.response) == (
        "faithfulness",
        "When?",
        GOOD,
    )
    assert start.span_id == end.span_id == ours.id_
    assert (end.result, end.model_dump()["class_name"]) == (
        result,
        "ScorerEvaluationEndEvent",
    )
    assert start.class_name() == "ScorerEvaluationStartEvent"


def test_token_counters_of_llamaindex_see_the_judge() -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    llm = ScriptedLLM(
        reply=lambda _: FULLY, callback_manager=CallbackManager([counter])
    )
    result = TCVAEvaluator(llm).evaluate(response=GOOD, contexts=[PASSAGE])
    assert counter.total_llm_token_count > 0
    usage = result.result.usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 10, 5)

"""What each gate lets through: answers that claim nothing, that claim something without contexts, and failures."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

import pytest
from deepeval.test_case import ConversationalTestCase, Turn
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core import Settings
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import BaseQueryEngine, RetryQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from tcva_adapters import (
    TCVA,
    Conversation,
    Panel,
    Sample,
    deepeval,
    langchain,
    llamaindex,
    ragas,
)
from tcva_adapters.compare import read_scores
from tcva_adapters.judges.base import Judge
from tcva_adapters.report import Gates, Suite, evaluation, to_junit
from tcva_adapters.report.gates import exit_code, gate_records
from tcva_adapters.serving import REFUSAL
from tests.adapters.table import ADAPTERS, Adapter
from tests.deepeval.entry import case_of, evaluated
from tests.langchain.entry import records
from tests.support.scripted import ScriptedModel, verdict_json

OPENS: Final = "The office opens at nine."
CAPTAIN: Final = "The captain is called Olav Berg."
DECLINES: Final = "I do not know."


def says(level: str) -> Callable[[str], str]:
    return lambda _: verdict_json((1, level, OPENS))


def fails(_: str) -> str:
    msg = "boom"
    raise RuntimeError(msg)


def sample(response: str, *contexts: str) -> Sample:
    return Sample(input="Who and when?", response=response, contexts=contexts, id="s")


CASES: Final = {
    "a greeting": (sample("Hello! How can I help?"), fails, True),
    "a greeting with contexts": (sample("Hello! How can I help?", OPENS), fails, True),
    "a refusal": (sample(DECLINES), fails, True),
    "a refusal with contexts": (sample(DECLINES, OPENS), fails, True),
    "a claim without contexts": (sample(CAPTAIN), says("fully"), False),
    "a claim with blank contexts": (sample(CAPTAIN, " "), says("fully"), False),
    "a judge that fails": (sample(OPENS, OPENS), fails, False),
    "a supported claim": (sample(OPENS, OPENS), says("fully"), True),
    "an unsupported claim": (sample(CAPTAIN, OPENS), says("none"), False),
}


def adapter(name: str) -> Adapter:
    return next(each for each in ADAPTERS if each.name == name)


def langchain_gate(case: Sample, reply: Callable[[str], str]) -> bool:
    (record,) = records([case])
    step = langchain.gate(langchain.TCVAEvaluator(adapter("langchain").llm(reply)))
    (found,) = step.batch([record], return_exceptions=True)
    assert found is record or found.output["passed"] is False
    return found is record


def langchain_middleware(case: Sample, reply: Callable[[str], str]) -> bool:
    state: Any = {"messages": [HumanMessage("Who?"), AIMessage(case.response or "")]}
    state["messages"][1:1] = [
        tool_message(text, number) for number, text in enumerate(case.contexts or ())
    ]
    evaluator = langchain.TCVAEvaluator(adapter("langchain").llm(reply))
    update = (
        langchain.TCVAMiddleware(evaluator, max_retries=0).after_model(state, None)
        or {}
    )
    return update["tcva"]["passed"] is not False


def tool_message(text: str, number: int) -> Any:
    return {"role": "tool", "content": text, "tool_call_id": str(number)}


def deepeval_test(case: Sample, reply: Callable[[str], str]) -> bool:
    metric = deepeval.TCVAMetric(model=adapter("deepeval").llm(reply))
    found = evaluated([case_of(case)], [metric], ignore_errors=True)
    return found.test_results[0].success


class Engine(BaseQueryEngine):
    """Gives one answer, and counts the questions."""

    def __init__(self, answer: Sample) -> None:
        super().__init__(None)
        self.answer, self.asked = answer, 0

    def _query(self, query_bundle: Any) -> Any:
        self.asked += 1
        nodes = [
            NodeWithScore(node=TextNode(text=text))
            for text in self.answer.contexts or ()
        ]
        return Response(self.answer.response, nodes)

    async def _aquery(self, query_bundle: Any) -> Any:
        return self._query(query_bundle)

    def _get_prompt_modules(self) -> Any:
        return {}


def llamaindex_retry(case: Sample, reply: Callable[[str], str]) -> bool:
    engine = Engine(case)
    evaluator: BaseEvaluator = llamaindex.TCVAEvaluator(
        adapter("llamaindex").llm(reply)
    )
    RetryQueryEngine(engine, evaluator, max_retries=1).query("Who?")
    return engine.asked == 1


def ragas_gate(case: Sample, reply: Callable[[str], str]) -> bool:
    found = adapter("ragas")
    ((result,),) = found.suite([found.built(found.llm(reply))], [case], False)
    assert (result.score is None) == math.isnan(float(ragas.ScorerScore(result)))
    return is_open(result)


def commands(case: Sample, reply: Callable[[str], str]) -> bool:
    return is_open(
        TCVA(judge=ScriptedModel(lambda request: reply(request.user))).evaluate(case)
    )


def is_open(result: Any) -> bool:
    """Whether gates of commands, JUnit and pytest let a result through; these agree."""
    judged = TCVA(judge="lexical").evaluate(sample(OPENS, OPENS))
    own = result.assessment.model_copy(update={"judge": judged.assessment.judge})
    table = read_scores([judged, type(result)(own, result.scoring)])
    report = evaluation(table, Gates.of(["pass_rate>=1"]))
    passes = exit_code(table, gate_records(report)) == 0
    root = ET.fromstring(to_junit(report, table))
    assert passes == (root.get("failures") == root.get("errors") == "0")
    covered = evaluation(table, Gates.of(["pass_rate>=1", "coverage>=1"]))
    assert passes == all(record["passed"] for record in gate_records(covered))
    with nullcontext() if passes else pytest.raises(AssertionError):
        Suite(judge="lexical").check(result)
    return passes


DOORS: Final[list[Callable[[Sample, Callable[[str], str]], bool]]] = [
    langchain_gate, langchain_middleware, deepeval_test, llamaindex_retry, ragas_gate, commands,
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("name", CASES)
def test_gates_agree(
    name: str, door: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "_llm", MockLLM())  # the retry engine asks for one
    case, reply, is_let_through = CASES[name]
    assert door(case, reply) == is_let_through


@pytest.mark.parametrize("judge", [
    "lexical", ScriptedModel([]), Panel(["lexical", ScriptedModel([])]),
])  # fmt: skip
@pytest.mark.parametrize("settings", [{}, {"claims": "llm"}, {"verdicts": "yes_no"}])
def test_every_judge_looks_at_contexts_after_the_split(
    judge: Any, settings: Any
) -> None:
    if isinstance(judge, Judge) and settings:
        return  # a panel has judges of its own
    tcva = TCVA(judge=judge, **(settings if judge != "lexical" else {}))
    for contexts in (None, (), (" ",), (OPENS,)):
        for text, reason in (
            ("Hello! How can I help?", "no_claims"),
            (DECLINES, "refusal"),
        ):
            result = tcva.evaluate(Sample(response=text, contexts=contexts))
            assert result.unscored is not None
            assert (result.unscored.reason, result.nothing_to_check) == (reason, True)
            assert (result.score, result.passed, result.usage.calls) == (None, None, 0)


def test_silence_by_the_judges_marks_alone_is_not_let_through() -> None:
    def marks(request: Any) -> str:
        if "SENTENCE" in request.user:
            return '{"asserts": "no"}'
        return '{"verdicts": [{"claim": "claim_1", "verdict": "not_a_claim"}]}'

    for judge in (
        ScriptedModel(marks),
        Panel([ScriptedModel(marks), ScriptedModel(marks, name="o")]),
    ):
        result = TCVA(judge=judge, share=False).evaluate(
            sample("Servus beinand.", OPENS)
        )
        assert result.unscored is not None
        assert (result.unscored.reason, result.nothing_to_check) == ("no_claims", False)
        assert result.assessment.marked_share == 1.0
        assert not is_open(result)


def test_scores_by_reason_decide_at_gates() -> None:
    scored = {"refusal": 0.0, "empty_context": 1.0}
    tcva = TCVA(judge="lexical", on_unscored=scored)
    declines, claims, greets = map(
        tcva.evaluate, map(sample, (DECLINES, CAPTAIN, "Hello!"))
    )
    assert [each.score for each in (declines, claims, greets)] == [0.0, 1.0, None]
    assert [is_open(each) for each in (declines, claims, greets)] == [False, True, True]
    # A number for all is none for what a gate closes.
    number = TCVA(judge="lexical", on_unscored=1.0).evaluate(sample(CAPTAIN))
    assert (number.score, number.passed) == (1.0, True)
    assert (number.at_gate().score, number.at_gate().passed) == (None, False)


def test_an_invented_turn_closes_the_gates_of_conversations() -> None:
    talk: list[Any] = [("user", "When?"), ("tool", OPENS), ("assistant", OPENS)]
    opened = Conversation.from_messages(talk)
    talk += [("user", "Who is it?"), ("assistant", CAPTAIN)]
    invented = Conversation.from_messages(talk)
    suite = Suite(judge="lexical")
    suite.check(opened)
    for gates in ("", "coverage>=1"):
        with pytest.raises(AssertionError):
            suite.check(invented, gates)
    turns = [
        Turn(role="user", content="When?"),
        Turn(role="assistant", content=OPENS, retrieval_context=[OPENS]),
        Turn(role="user", content="Who is it?"),
    ]
    for answer, is_open_ in ((OPENS, True), (CAPTAIN, False)):
        contexts: Any = [OPENS] if is_open_ else None
        last = Turn(role="assistant", content=answer, retrieval_context=contexts)
        metric = deepeval.TCVAConversationalMetric(model="lexical")
        metric.measure(ConversationalTestCase(turns=[*turns, last]))
        assert metric.is_successful() == is_open_
        assert metric.score is not None


def test_an_agents_empty_answer_does_not_pass() -> None:
    call = AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "1"}])
    middleware = langchain.TCVAMiddleware(
        langchain.TCVAEvaluator("lexical"), max_retries=0
    )
    replies: list[Any] = [call, AIMessage("")]
    agent: Any = create_agent(Agent(responses=replies), [find], middleware=[middleware])
    output = agent.invoke({"messages": [HumanMessage("When?")]})["tcva"]
    assert (output["passed"], output["unscored"]["reason"]) == (False, "empty_response")


class Agent(FakeMessagesListChatModel):
    """Takes tools without looking at them."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def find() -> str:
    """Find the opening hours."""
    return OPENS


def test_an_agent_that_claims_without_a_tool_is_asked_again() -> None:
    call = AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "1"}])
    evaluator = langchain.TCVAEvaluator("lexical")
    for second, passed in (
        ([call, AIMessage(OPENS)], True),
        ([AIMessage(CAPTAIN)], False),
    ):
        said: list[Any] = [AIMessage(CAPTAIN), *second]
        middleware = [langchain.TCVAMiddleware(evaluator)]
        agent = create_agent(Agent(responses=said), tools=[find], middleware=middleware)
        state = agent.invoke({"messages": [HumanMessage("When?")]})
        critique = next(each for each in state["messages"] if each.name == "tcva")
        assert "empty_context" in critique.text
        assert state["tcva"]["passed"] is passed
        assert state["messages"][-1].text == (OPENS if passed else REFUSAL)


def test_a_failed_judge_is_not_asked_of_the_model_again() -> None:
    evaluator = langchain.TCVAEvaluator(adapter("langchain").llm(fails))
    state: Any = {
        "messages": [HumanMessage("When?"), tool_message(OPENS, 1), AIMessage(OPENS)]
    }
    update = langchain.TCVAMiddleware(evaluator).after_model(state, None) or {}
    assert [message.text for message in update["messages"]] == [REFUSAL]
    assert "jump_to" not in update
    output = update["tcva"]
    assert (output["passed"], output["value"]) == (False, "unscored")
    assert output["unscored"]["reason"] == "judge_error"
    assert langchain.gate(evaluator, allow_unscored=True).invoke(state) is state

"""TCVAMiddleware in real agents; their model and the judge are scripted."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import ANY

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from tcva_adapters import CCRS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import ScorerEvaluator, TCVAEvaluator, TCVAMiddleware, result_of
from tests.langchain.entry import ScriptedChatModel, scripted
from tests.support.scripted import verdict_json

GOOD, BAD = (verdict_json((1, word, "opens at nine")) for word in ("fully", "none"))
CALL = AIMessage("", tool_calls=[{"name": "find", "args": {}, "id": "1"}])
TOOLS = [CALL, ToolMessage("It opens at nine.", tool_call_id="1")]


class ToolModel(FakeMessagesListChatModel):
    """Takes tools without looking at them: what it calls is scripted."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def find() -> str:
    """Find the opening hours."""
    return "It opens at nine."


def agent(
    judge: ScriptedChatModel, *said: AIMessage | str, checkpointer: Any = None, **options: Any
) -> Any:
    return create_agent(
        ToolModel(responses=[AIMessage(s) if isinstance(s, str) else s for s in said]),
        tools=[find],
        middleware=[TCVAMiddleware(TCVAEvaluator(judge, share=False), **options)],
        checkpointer=checkpointer,
    )


def ask(built: Any, asynchronous: bool = False, config: Any = None) -> dict[str, Any]:
    question = {"messages": [HumanMessage("When?")]}
    call = built.ainvoke(question, config) if asynchronous else built.invoke(question, config)
    state: dict[str, Any] = asyncio.run(call) if asynchronous else call
    return state


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_weak_answer_is_sent_back_with_the_reason(asynchronous: bool) -> None:
    judge = scripted(BAD, GOOD)
    state = ask(agent(judge, CALL, "It opens at ten.", "It opens at nine."), asynchronous)
    assert state["messages"][-1].text == "It opens at nine."
    critique = state["messages"][-2]
    assert (critique.name, critique.type) == ("tcva", "human")
    assert '"It opens at ten." [none]' in critique.text
    assert state["tcva"]["passed"]
    assert result_of(state["tcva"]).score == 1.0
    assert len(judge.prompts) == 2
    assert "It opens at nine." in judge.prompts[0]


def test_retries_end_and_the_last_judgement_is_kept() -> None:
    judge = scripted(BAD, BAD)
    state = ask(agent(judge, CALL, "At ten.", "At eleven.", max_retries=1))
    assert (state["messages"][-1].text, state["tcva"]["passed"]) == ("At eleven.", False)


def test_an_answer_without_tools_or_with_a_failed_judge_goes_through() -> None:
    judge = scripted()
    state = ask(agent(judge, "Hello!"))
    assert state["tcva"]["unscored"]["reason"] == "empty_context"
    assert not judge.prompts
    state = ask(agent(scripted(RuntimeError("boom")), CALL, "At ten."))
    assert (state["messages"][-1].text, state["tcva"]["value"]) == ("At ten.", "unscored")


def test_every_question_of_a_conversation_has_its_retries() -> None:
    judge = scripted(BAD, GOOD, BAD, GOOD)
    built = agent(
        judge, CALL, "At ten.", "At nine.", "At ten.", "At nine.", checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "1"}}
    ask(built, config=config)
    state = ask(built, config=config)
    assert state["messages"][-1].text == "At nine."
    assert len(judge.prompts) == 4


def test_the_judges_tokens_are_not_streamed_to_the_user() -> None:
    built = agent(scripted(GOOD), CALL, "It opens at nine.")
    chunks = built.stream({"messages": [HumanMessage("When?")]}, stream_mode="messages")
    said = "".join(str(message.text) for message, _ in chunks if isinstance(message, AIMessage))
    assert "verdicts" not in said


@pytest.mark.parametrize("retries", [-1, "x", True, None, 1.5])
def test_a_wrong_number_of_retries_fails_when_built(retries: Any) -> None:
    named = rf"max_retries.*{retries!r}"
    with pytest.raises(InvalidValueError, match=named):
        TCVAMiddleware(TCVAEvaluator(), max_retries=retries)
    no_evaluator: Any = "lexical"
    with pytest.raises(InvalidValueError, match=r"evaluator must be .*got 'lexical'"):
        TCVAMiddleware(no_evaluator)


def test_without_retries_it_only_judges() -> None:
    state: Any = {"messages": [HumanMessage("When?"), *TOOLS, AIMessage("It opens at ten.")]}
    once = TCVAMiddleware(TCVAEvaluator(scripted(BAD)), max_retries=0)
    assert once.after_model(state, None) == {"tcva": ANY}


def test_any_scorer_judges_answers() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge=scripted('{"score": 20}')))
    state: Any = {"messages": [HumanMessage("When?"), *TOOLS, AIMessage("It opens at ten.")]}
    update = TCVAMiddleware(evaluator).after_model(state, None) or {}
    assert result_of(update["tcva"]).scores == {"qr": 0.2}
    assert "question relevance 0.200" in update["messages"][0].text

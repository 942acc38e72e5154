"""One conversation through every framework and a file: the same verdicts, and one call a turn."""

from __future__ import annotations

import asyncio
import json
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from deepeval.test_case import ConversationalTestCase, Turn
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from ragas import EvaluationDataset, MultiTurnSample, RunConfig, aevaluate, evaluate
from ragas import messages as of_ragas

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import TCVA, Conversation, deepeval, langchain, ragas
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.samples.files import read_samples
from tests.adapters.table import both_ways
from tests.support.scripted import ScriptedModel, verdict_json

Message = tuple[str, str]
Rows = list[list[ConversationResult]]
"""Of each evaluator, the results by conversation."""

OPENS: Final = "The office opens at nine."
TALK: Final[list[Message]] = [
    ("user", "When does the office open?"),
    ("tool", f"{OPENS} Parking is free."),
    ("tool", "The office is closed on Sunday."),
    ("assistant", f"{OPENS} Parking costs money."),
    ("user", "Thanks!"),
    ("assistant", "You are welcome!"),
    ("user", "And what does it cost there?"),
    ("tool", "Desk seven costs two coins."),
    ("assistant", "Desk seven costs two coins. Lunch is free. Coffee costs a coin."),
]
FIRST: Final = TALK[:6]
REPLIES: Final = {
    "Parking costs money": verdict_json((1, "fully", "opens at nine"), (2, "minor", "")),
    "Coffee costs": verdict_json(
        (1, "fully", "Desk seven costs two coins"), (2, "none", ""), (3, "partial", "costs two")
    ),
}


def reply(prompt: str) -> str:
    """What the judge says of the last answer in a prompt; earlier ones are its history."""
    return [said for answer, said in REPLIES.items() if answer in prompt][-1]


def expected(talk: Sequence[Message] = TALK, /, **settings: Any) -> ConversationResult:
    model = ScriptedModel(lambda request: reply(request.user))
    return TCVA(judge=model, **settings).evaluate_conversation(Conversation.from_messages(talk))


def _ragas_messages(talk: Sequence[Message]) -> list[Any]:
    said: list[Any] = []
    for role, text in talk:
        if role == "tool":
            if not isinstance(said[-1], of_ragas.ToolMessage):
                call = of_ragas.ToolCall(name="search", args={})
                said.append(of_ragas.AIMessage(content="", tool_calls=[call]))
            said.append(of_ragas.ToolMessage(content=text))
        else:
            kind = of_ragas.HumanMessage if role == "user" else of_ragas.AIMessage
            said.append(kind(content=text))
    return said


def _ragas(metrics: list[Any], talks: Sequence[Sequence[Message]], asynchronous: bool) -> Rows:
    rows: Any = [MultiTurnSample(user_input=_ragas_messages(talk)) for talk in talks]
    given: dict[str, Any] = {
        "dataset": EvaluationDataset(samples=rows),
        "metrics": metrics,
        "run_config": RunConfig(max_retries=1),
        "show_progress": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if asynchronous:
            found: Any = asyncio.run(aevaluate(**given))
        else:
            found = evaluate(**given, allow_nest_asyncio=False)
    results: Any = [ragas.results_of(found, metric.name) for metric in metrics]
    assert [[str(score) for score in found[metric.name]] for metric in metrics] == [
        ["nan" if result.score is None else str(result.score) for result in row] for row in results
    ]
    return results  # type: ignore[no-any-return]


def case_of(talk: Sequence[Message], **given: Any) -> ConversationalTestCase:
    """The conversation with each answer's tool messages as its retrieval context."""
    turns: list[Turn] = []
    found: list[str] = []
    for role, text in talk:
        if role == "tool":
            found.append(text)
        elif role == "user":
            turns.append(Turn(role="user", content=text))
        else:
            about: Any = {"role": role, "content": text, "retrieval_context": found or None}
            turns.append(Turn(**about))
            found = []
    return ConversationalTestCase(turns=turns, **given)


def _deepeval(metrics: list[Any], talks: Sequence[Sequence[Message]], asynchronous: bool) -> Rows:
    cases: Any = [case_of(talk) for talk in talks]
    found = deepeval_entry.evaluated(cases, metrics, asynchronous=asynchronous, ignore_errors=True)
    return [deepeval.results_of(found, metric.name) for metric in metrics]


def messages_of(talk: Sequence[Message]) -> list[BaseMessage]:
    """The conversation in LangChain's messages."""
    made: dict[str, Callable[[str], BaseMessage]] = {
        "user": HumanMessage,
        "assistant": AIMessage,
        "tool": lambda text: ToolMessage(text, tool_call_id="1"),
    }
    return [made[role](text) for role, text in talk]


def _langchain(metrics: list[Any], talks: Sequence[Sequence[Message]], asynchronous: bool) -> Rows:
    given: list[Any] = list(map(messages_of, talks))
    rows = [asyncio.run(m.abatch(given)) if asynchronous else m.batch(given) for m in metrics]
    return [list(map(langchain.result_of, row)) for row in rows]


@dataclass(frozen=True)
class Face:
    """How a framework judges conversations: its LLM, its metric, its own runner."""

    name: str
    llm: Callable[[Callable[[str], str]], Any]
    built: Callable[..., Any]
    suite: Callable[[list[Any], Sequence[Sequence[Message]], bool], Rows]


FACES: Final = [
    Face(
        "ragas",
        ragas_entry.ScriptedLLM,
        lambda llm, **settings: ragas.TCVAMultiTurnMetric(llm=llm, **settings),
        _ragas,
    ),
    Face(
        "deepeval",
        deepeval_entry.ScriptedLLM,
        lambda llm, **settings: deepeval.TCVAConversationalMetric(model=llm, **settings),
        _deepeval,
    ),
    Face(
        "langchain",
        lambda said: langchain_entry.ScriptedChatModel(reply=said),
        langchain.TCVAConversationEvaluator,
        _langchain,
    ),
]
each_face = pytest.mark.parametrize("face", FACES, ids=lambda face: face.name)


def check_equal(result: ConversationResult, other: ConversationResult) -> None:
    assert [turn.claims for turn in result.turns] == [turn.claims for turn in other.turns]
    assert [turn.unscored for turn in result.turns] == [turn.unscored for turn in other.turns]
    for temperature in (0.1, 0.5, 0.9):
        assert result.at(temperature).score == other.at(temperature).score
    assert (result.score, result.reason) == (other.score, other.reason)


@each_face
@both_ways
def test_the_verdicts_are_the_same_everywhere(face: Face, asynchronous: bool) -> None:
    llm, settings = face.llm(reply), {"temperature": 0.4, "threshold": 0.3}
    ((result,),) = face.suite([face.built(llm, **settings)], [TALK], asynchronous)
    check_equal(result, expected(**settings))
    assert [turn.unscored and turn.unscored.reason for turn in result.turns] == [
        *(None, Reason.EMPTY_CONTEXT, None)
    ]
    model = ScriptedModel(lambda request: reply(request.user))
    TCVA(judge=model).evaluate_conversation(Conversation.from_messages(TALK))
    for prompt, request in zip(sorted(llm.prompts), sorted_users(model), strict=True):
        assert request in prompt


def sorted_users(model: ScriptedModel) -> list[str]:
    return sorted(request.user for request in model.requests)


def test_a_file_has_the_same_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    messages = [{"role": role, "content": text} for role, text in TALK]
    path.write_text(json.dumps({"id": "talk", "messages": messages}))
    samples = read_samples(path).samples
    model = ScriptedModel(lambda request: reply(request.user))
    results = TCVA(judge=model).evaluate_many(samples)
    assert [result.claims for result in results] == [turn.claims for turn in expected().turns]
    assert [result.sample_id for result in results] == ["talk/1", "talk/2", "talk/3"]


@each_face
@both_ways
def test_a_turn_is_one_call_for_all_temperatures_and_none_when_it_grows(
    face: Face, asynchronous: bool
) -> None:
    llm = face.llm(reply)
    metrics = [face.built(llm, temperature=each) for each in (0.2, 0.9)]
    for talk, asked, paid in ((FIRST, 1, 1), (TALK, 2, 1), (TALK, 2, 0)):
        strict, lenient = (row[0] for row in face.suite(metrics, [talk], asynchronous))
        assert len(llm.prompts) == asked
        assert strict.usage.calls + lenient.usage.calls == paid
        assert strict.at(0.9) == lenient
        assert (strict.score or 0) < (lenient.score or 0)


@each_face
@both_ways
def test_a_turn_that_fails_leaves_the_others(face: Face, asynchronous: bool) -> None:
    def failing(prompt: str) -> str:
        return reply(prompt) if "Coffee" not in prompt else "Nice."

    llm = face.llm(failing)
    ((broken, whole),) = face.suite([face.built(llm)], [TALK, FIRST], asynchronous)
    why: Any = broken.unscored
    assert (broken.score, why.reason) == (None, Reason.UNREADABLE_REPLY)
    assert re.match("turn 3: ", why.detail)
    assert broken.turns[0].score == whole.turns[0].score is not None
    check_equal(whole, expected(FIRST))

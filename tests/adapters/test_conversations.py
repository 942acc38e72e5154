"""One conversation through every framework and a file: the same verdicts, and one call a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tcva_adapters import TCVA, Conversation, ConversationResult
from tcva_adapters.results.assessment import Reason
from tcva_adapters.samples.files import read_samples
from tests.adapters.table import Adapter, both_ways, each_of_conversations
from tests.support.scripted import ScriptedModel, verdict_json

OPENS: Final = "The office opens at nine."
MESSAGES: Final = [
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
TALK: Final = Conversation.from_messages(MESSAGES)
BEGUN: Final = Conversation.from_messages(MESSAGES[:6])
FIRST: Final = verdict_json((1, "fully", "opens at nine"), (2, "minor", ""))
LAST: Final = verdict_json((1, "fully", "Desk seven costs"), (2, "none", ""), (3, "partial", "two"))


def reply(prompt: str) -> str:
    """The judge's; what was said before is in the prompt, too."""
    return LAST if "Coffee" in prompt else FIRST


def expected(talk: Conversation, **settings: Any) -> tuple[ConversationResult, list[str]]:
    """What TCVA makes of the same replies, and what it asked."""
    model = ScriptedModel(lambda request: reply(request.user))
    result = TCVA(judge=model, **settings).evaluate_conversation(talk)
    return result, sorted(request.user for request in model.requests)


@each_of_conversations
@both_ways
def test_the_verdicts_are_the_same_everywhere(adapter: Adapter, asynchronous: bool) -> None:
    settings: dict[str, Any] = {"temperature": 0.4, "threshold": 0.3}
    llm = adapter.llm(reply)
    talks: Any = [TALK, BEGUN]
    (results,) = adapter.suite([adapter.built(llm, **settings)], talks, asynchronous)
    for result, talk in zip(results, talks, strict=True):
        same: Any = result
        other, asked = expected(talk, **settings)
        assert [turn.claims for turn in same.turns] == [turn.claims for turn in other.turns]
        assert [turn.unscored for turn in same.turns] == [turn.unscored for turn in other.turns]
        assert [same.at(t).score for t in (0.1, 0.9)] == [other.at(t).score for t in (0.1, 0.9)]
        assert (same.score, same.reason) == (other.score, other.reason)
        assert all(any(each in prompt for prompt in llm.prompts) for each in asked)
    assert len(llm.prompts) == 2


def test_a_file_has_the_same_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    messages = [{"role": role, "content": text} for role, text in MESSAGES]
    path.write_text(json.dumps({"id": "talk", "messages": messages}))
    model = ScriptedModel(lambda request: reply(request.user))
    results = TCVA(judge=model).evaluate_many(read_samples(path).samples)
    assert [result.claims for result in results] == [t.claims for t in expected(TALK)[0].turns]
    assert [result.sample_id for result in results] == ["talk/1", "talk/2", "talk/3"]


@each_of_conversations
@both_ways
def test_a_turn_is_judged_once_for_all_temperatures(adapter: Adapter, asynchronous: bool) -> None:
    llm = adapter.llm(reply)
    metrics = [adapter.built(llm, temperature=each) for each in (0.2, 0.9)]
    for talk, asked, paid in ((BEGUN, 1, 1), (TALK, 2, 1), (TALK, 2, 0)):
        talks: Any = [talk]
        rows: Any = adapter.suite(metrics, talks, asynchronous)
        (strict,), (lenient,) = rows
        assert len(llm.prompts) == asked
        assert strict.usage.calls + lenient.usage.calls == paid
        assert strict.at(0.9) == lenient
        assert strict.score < lenient.score


@each_of_conversations
@both_ways
def test_a_turn_that_fails_leaves_the_others(adapter: Adapter, asynchronous: bool) -> None:
    llm = adapter.llm(lambda prompt: "Nice." if "Coffee" in prompt else FIRST)
    talks: Any = [TALK, BEGUN]
    rows: Any = adapter.suite([adapter.built(llm)], talks, asynchronous)
    ((broken, whole),) = rows
    assert (broken.score, broken.unscored.reason) == (None, Reason.UNREADABLE_REPLY)
    assert broken.unscored.detail.startswith("turn 3: ")
    assert [turn.score for turn in broken.turns] == [whole.score, None, None]
    assert whole.claims == expected(BEGUN)[0].claims

"""One conversation through every framework and a file: the same verdicts, and one call a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tcva_adapters import TCVA, Conversation, ConversationResult, Result
from tcva_adapters.cli.settings import parse_settings
from tcva_adapters.compare import read_scores
from tcva_adapters.report import evaluation
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.config import Config
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.samples.reader import read_samples
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
LAST: Final = verdict_json(
    (1, "fully", "Desk seven costs"), (2, "none", ""), (3, "partial", "two")
)


def reply(prompt: str) -> str:
    """The judge's; what was said before is in the prompt, too."""
    return LAST if "Coffee" in prompt else FIRST


def expected(
    talk: Conversation, **settings: Any
) -> tuple[ConversationResult, list[str]]:
    """What TCVA makes of the same replies, and what it asked."""
    model = ScriptedModel(lambda request: reply(request.user))
    result = TCVA(judge=model, **settings).evaluate_conversation(talk)
    return result, sorted(request.user for request in model.requests)


@each_of_conversations
@both_ways
def test_the_verdicts_are_the_same_everywhere(
    adapter: Adapter, asynchronous: bool
) -> None:
    settings: dict[str, Any] = {"temperature": 0.4, "threshold": 0.3}
    llm = adapter.llm(reply)
    talks: Any = [TALK, BEGUN]
    (results,) = adapter.suite([adapter.built(llm, **settings)], talks, asynchronous)
    for result, talk in zip(results, talks, strict=True):
        same: Any = result
        other, asked = expected(talk, **settings)
        assert [turn.claims for turn in same.turns] == [
            turn.claims for turn in other.turns
        ]
        assert [turn.unscored for turn in same.turns] == [
            turn.unscored for turn in other.turns
        ]
        assert [same.at(t).score for t in (0.1, 0.9)] == [
            other.at(t).score for t in (0.1, 0.9)
        ]
        assert (same.score, same.reason) == (other.score, other.reason)
        assert all(any(each in prompt for prompt in llm.prompts) for each in asked)
    assert len(llm.prompts) == 2


def test_a_file_has_the_same_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    messages = [{"role": role, "content": text} for role, text in MESSAGES]
    path.write_text(json.dumps({"id": "talk", "messages": messages}))
    model = ScriptedModel(lambda request: reply(request.user))
    results = TCVA(judge=model).evaluate_many(read_samples(path).samples)
    assert [result.claims for result in results] == [
        t.claims for t in expected(TALK)[0].turns
    ]
    assert [result.sample_id for result in results] == ["talk/1", "talk/2", "talk/3"]


@each_of_conversations
@both_ways
def test_a_turn_is_judged_once_for_all_temperatures(
    adapter: Adapter, asynchronous: bool
) -> None:
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
def test_a_turn_that_fails_leaves_the_others(
    adapter: Adapter, asynchronous: bool
) -> None:
    llm = adapter.llm(lambda prompt: "Nice." if "Coffee" in prompt else FIRST)
    talks: Any = [TALK, BEGUN]
    rows: Any = adapter.suite([adapter.built(llm)], talks, asynchronous)
    ((broken, whole),) = rows
    assert (broken.score, broken.unscored.reason) == (None, Reason.UNREADABLE_REPLY)
    assert broken.unscored.detail.startswith("turn 3: ")
    assert [turn.score for turn in broken.turns] == [whole.score, None, None]
    assert whole.claims == expected(BEGUN)[0].claims


CAPTAIN: Final = "The captain is called Olav Berg."
UNCONTEXTED: Final = Conversation.from_messages(
    [
        *MESSAGES[1:2],
        *MESSAGES[:6],
        ("user", "Who is the captain?"),
        ("assistant", CAPTAIN),
    ]
)


def levels(prompt: str) -> str:
    """The captain is in no context."""
    return verdict_json((1, "none", "")) if CAPTAIN in prompt else FIRST


@each_of_conversations
@both_ways
def test_a_turn_that_claims_something_without_contexts(
    adapter: Adapter, asynchronous: bool
) -> None:
    llm = adapter.llm(levels)
    settings: list[Any] = [{}, {"uncontexted": "fail"}, {"uncontexted": "earlier"}]
    metrics = [adapter.built(llm, **each) for each in settings]
    talks: Any = [UNCONTEXTED]
    rows: Any = adapter.suite(metrics, talks, asynchronous)
    (skips,), (fails,), (earlier,) = rows
    assert (skips.score, skips.passed) == (0.65, True)
    assert "without a score: turn 2 (no_claims), turn 3 (empty_context)" in skips.reason
    assert "turn 3 (empty_context)" in skips.summary
    said = "unscored: empty_context: turn 3: no contexts were retrieved, not passed"
    for closed in (fails, skips.at_gate(), skips.changed(uncontexted="fail")):
        assert (closed.score, closed.passed, closed.unscored.reason) == (
            None,
            False,
            "empty_context",
        )
        assert closed.reason.startswith(said)
        assert closed.turns[2].reason == said.replace("turn 3: ", "")
        assert read_result(closed.to_json()).passed is False
    assert earlier.turns[2].claims[0].verdict == "none"
    assert [turn.assessment.earlier_contexts for turn in earlier.turns] == [
        False,
        False,
        True,
    ]
    for judged in (earlier, earlier.turns[2], read_result(earlier.to_json())):
        assert "contexts of earlier turns count" in judged.reason
    assert len(llm.prompts) == 2
    assert earlier.at_gate() == earlier
    first = Conversation.from_messages(
        [("user", "Who?"), ("assistant", CAPTAIN), *MESSAGES[:4]]
    )
    tcva = TCVA(judge="lexical", uncontexted="earlier")
    assert tcva.evaluate_conversation(first).at_gate().passed is False


def test_scores_by_reason_stand_in_the_reason_of_a_conversation() -> None:
    tcva = TCVA(judge="lexical", on_unscored={"refusal": 0.0, "empty_context": 0.25})
    found = tcva.evaluate_conversation(UNCONTEXTED)
    said = "turn 2 (no_claims), turn 3 (empty_context, scored as 0.25 by on_unscored)"
    assert f"without a score: {said}" in found.reason
    assert [turn.score for turn in found.turns[1:]] == [None, 0.25]
    talk = [
        ("user", "Hi"),
        ("assistant", "Hello!"),
        ("user", "Who?"),
        ("assistant", "I don't know."),
    ]
    for turns in (talk, talk[2:] + talk[:2]):
        declines = tcva.evaluate_conversation([("tool", "Nothing."), *turns])
        assert (declines.score, declines.unscored and declines.unscored.reason) == (
            0.0,
            "refusal",
        )
        plain = tcva.changed(on_unscored=None).evaluate_conversation(
            [("tool", "-"), *turns]
        )
        assert plain.nothing_to_check
    one, two = (Result(turn.assessment) for turn in found.turns[1:])
    mixed = ConversationResult([one, two])
    assert (mixed.nothing_to_check, mixed.unscored and mixed.unscored.reason) == (
        False,
        "empty_context",
    )


def test_files_and_commands_take_it(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    said = [*MESSAGES[:4], ("user", "Who is the captain?"), ("assistant", CAPTAIN)]
    messages = [{"role": role, "content": text} for role, text in said]
    path.write_text(json.dumps({"id": "talk", "messages": messages}))
    turns = read_samples(path).samples
    plain = TCVA(judge="lexical").evaluate_many(turns)
    earlier = TCVA(judge="lexical", uncontexted="earlier").evaluate_many(turns)
    assert (plain[1].score, earlier[1].score) == (None, 0.027)
    table = read_scores(plain)
    assert "no contexts for the claims of 1 sample" in evaluation(table).notes
    (row,) = evaluation(read_scores(earlier)).records("conversations")
    assert (row["scored"], row["turns"]) == (2, 2)
    settings = {"uncontexted": "fail", "on_unscored": {"refusal": 1.0}}
    config = Config(settings=settings)
    config.dump(tmp_path / "tcva.json")
    built = TCVA.from_config(tmp_path / "tcva.json", judge="lexical")
    assert {name: built.settings[name] for name in settings} == settings
    typed = parse_settings(["uncontexted=fail", "on_unscored=refusal=1"], TCVASettings)
    assert typed == settings

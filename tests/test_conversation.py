"""Conversations: the score over all turns, what failed, what a judge sees, and every way in and out."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import (
    CCRS,
    TCVA,
    Assessment,
    Conversation,
    ConversationResult,
    Criterion,
    Panel,
    Result,
    aggregate,
    clear_shared,
    fuse,
)
from tcva_adapters.compare import read_scores
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.judges.prompts import blocks_for, verdict_request
from tcva_adapters.judges.yes_no import yes_no_request
from tcva_adapters.models.store_keys import verdict_key
from tcva_adapters.report import evaluation
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.writer import write_results
from tcva_adapters.scale.batch import judge_batch
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGE = "The office opens at nine. Parking is free."
ASKED = [("user", "When?"), ("tool", PASSAGE)]
TALK = [
    *(*ASKED, ("assistant", "The office opens at nine. Parking costs a coin.")),
    *(("user", "Thanks!"), ("assistant", "You are welcome!")),
    *(("user", "And parking?"), ("tool", PASSAGE), ("assistant", "Parking is free.")),
]
NONE = Unscored(reason=Reason.NO_CLAIMS, detail="nothing")
levels = st.lists(st.sampled_from([level.value for level in LEVELS]), max_size=5)


def of(*turns: list[str] | Unscored, **about: Any) -> ConversationResult:
    judged = [
        Assessment(criterion="c", judge="j", prompt_version="1", unscored=turn)
        if isinstance(turn, Unscored)
        else Assessment.from_verdicts(turn)
        for turn in turns
    ]
    return ConversationResult([Result(each) for each in judged], **about)


def conversation(**about: Any) -> Conversation:
    return Conversation.from_messages(TALK, **{"id": "t", **about})


def says(costs: str, other: str) -> Callable[[Any], str]:
    """A judge's reply: a level for claims about costs, and one for all others."""

    def reply(request: Any) -> str:
        claims = [part.split("\n")[1] for part in request.user.split("<<<CLAIM ")[1:]]
        found = [(costs if "costs" in claim else other, claim) for claim in claims]
        entries = [
            (n, w, "" if w == "none" else c) for n, (w, c) in enumerate(found, start=1)
        ]
        return verdict_json(*entries)

    return reply


# --- the score ------------------------------------------------------------------------------


@given(st.lists(levels, min_size=1, max_size=5), st.sampled_from([0.1, 0.45, 0.5, 1.0]))
def test_the_score_is_that_of_all_claims(
    turns: list[list[str]], temperature: float
) -> None:
    result = of(*turns).at(temperature)
    verdicts = [verdict for turn in turns for verdict in turn]
    if not verdicts:
        assert (result.score, result.unscored and result.unscored.reason) == (
            None,
            "no_claims",
        )
        return
    assert result.score == pytest.approx(aggregate(verdicts, temperature), rel=1e-12)
    assert [turn.score for turn in result.turns] == [
        pytest.approx(aggregate(turn, temperature), rel=1e-12) if turn else None
        for turn in turns
    ]
    assert result.reason.count("no_claims") == min(3, turns.count([])) * (
        len(turns) > 1
    )
    assert (
        read_result(result.to_json())
        == result
        == ConversationResult.from_json(result.to_json())
    )


def test_a_turn_that_failed_is_not_left_out() -> None:
    for reason in Reason:
        why = Unscored(reason=reason, detail="so")
        result = of(["fully"], why, NONE, ["none"])
        is_lost = reason.is_failure or reason is Reason.TOO_LONG
        assert (result.score is None) == is_lost
        assert (f"{reason.value}: turn 2: so" in result.reason) == is_lost
        assert result.turns[3].score == 0.0
    wrong_key = Unscored(reason=Reason.JUDGE_ERROR, detail="key", fatal=True)
    found = of(Unscored(reason=Reason.TIMEOUT), wrong_key).unscored
    assert found
    assert (found.fatal, found.detail) == (True, "turn 2: key")
    assert of(["none"]).unscored_for(found).unscored == found
    with pytest.raises(InvalidValueError, match="at least one turn"):
        ConversationResult([])
    wrong: dict[str, Any]
    for wrong in (
        {"scoring": {}},
        {"scoring": {}, "turns": []},
        {"turns": [1], "scoring": {}},
    ):
        with pytest.raises(UnreadableInputError):
            ConversationResult.from_dict(wrong)


def test_fused_judges_panels_repeats_and_profiles() -> None:
    model = ScriptedModel(says("none", "fully"))
    other = ScriptedModel(says("none", "none"), name="o")
    talk = conversation(metadata={"domain": "chat"})
    profiles = {"domain": {"chat": "lenient"}}
    fused = TCVA(judge=model, fuse=[other], profiles=profiles).evaluate_conversation(
        talk
    )
    scores = [aggregate(["fully", "none", "fully"], "lenient"), 0.0]
    assert fused.score == pytest.approx(fuse(np.array([scores])).scores[0], rel=1e-12)
    assert [*fused.member_scores.values()] == pytest.approx(scores, rel=1e-12)
    assert fused.usage.calls == 4  # two turns have contexts
    panel = TCVA(judge=Panel([model, other], combine="fused")).evaluate_conversation(
        talk
    )
    assert panel.breakdown == {
        "fully": 1.0,
        "mostly": 0,
        "partial": 0,
        "minor": 0,
        "none": 2.0,
    }
    assert [each.level_counts[0] for each in panel.assessment.panel] == [2, 0]
    repeats = TCVA(judge=model, repeats=3).evaluate_conversation(talk)
    assert [each.score for each in repeats.repeats] == [
        aggregate(["fully", "none", "fully"])
    ] * 3
    for result in (fused, panel, repeats):
        assert ConversationResult.from_json(result.to_json()) == result


def test_turns_of_all_conversations_are_judged_at_once_and_once() -> None:
    clear_shared()
    model = ScriptedModel(says("none", "fully"))
    tcva = TCVA(judge=model)
    talks = [conversation(), Conversation.from_messages(TALK[:3])]
    whole, begun = tcva.evaluate_conversations(talks)
    assert (
        len(model.requests) == 2
    )  # of the turns that claim something, the equal one once
    assert [each.sample_id for each in (whole, *whole.turns)] == [
        "t",
        "t/1",
        "t/2",
        "t/3",
    ]
    assert begun.turns[0].claims == whole.turns[0].claims
    grown = Conversation.from_messages(
        [*TALK, *ASKED, ("assistant", "Parking is free.")]
    )
    part = tcva.evaluate_conversation(grown)
    assert (part.usage.calls, part.assessment.is_new) == (1, True)
    assert asyncio.run(tcva.aevaluate_conversations(talks)) == [whole, begun]
    assert len(model.requests) == 3
    assert tcva.evaluate_conversation(TALK).usage.calls == 0
    store = tcva.changed(store=":memory:", share=False)
    calls = [store.evaluate_conversation(each) for each in (TALK, grown, TALK)]
    assert [each.usage.calls for each in calls] == [2, 1, 0]
    assert [each.assessment.is_new for each in calls] == [True, True, False]
    for wrong in ("When?", None, {"messages": TALK}):
        with pytest.raises(InvalidSampleError, match="must be a list of messages, got"):
            tcva.evaluate_conversation(wrong)  # type: ignore[arg-type]  # the mistake
    with pytest.raises(InvalidSampleError, match="metadata must be a valid dictionary"):
        Conversation.from_messages(TALK, metadata=[1])  # type: ignore[arg-type]  # the mistake
    assert repr(begun) == f"ConversationResult(None, {begun.reason!r})"


# --- what a judge sees ----------------------------------------------------------------------


def test_a_history_is_shown_with_the_question_and_is_no_evidence() -> None:
    turn = conversation().turns[2]
    for criterion in (*CRITERIA.values(), Criterion("own", "Decide.")):
        sample = turn.model_copy(update={"reference": "Free."})
        plain = sample.model_copy(update={"history": None})
        shows = "input" in (*criterion.required, *criterion.shows)
        judge = SimpleNamespace(name="j", prompt_version="1", parameters={})
        keys = [verdict_key(each, criterion, judge) for each in (sample, plain)]
        assert (keys[0] != keys[1]) == shows
        for seen, bare in (
            [
                verdict_request(blocks_for(each, criterion), criterion, ["C."]).user
                for each in (sample, plain)
            ],
            [
                yes_no_request(blocks_for(each, criterion), criterion, "C.").user
                for each in (sample, plain)
            ],
        ):
            before, _, after = seen.partition("HISTORY is")
            assert ("Assistant: You are welcome!" in after) == shows
            assert (seen == bare) != shows
            assert bare.startswith(before)
        empty = sample.model_copy(update={"history": ""})
        request, same = (
            verdict_request(blocks_for(each, criterion), criterion, ["C."])
            for each in (plain, empty)
        )
        assert same == request
    rated = ScriptedModel(['{"relevance": 80}'] * 2)
    CCRS(judge=rated, metrics=["qr"], share=False).evaluate(turn)
    assert "Parking costs a coin." in rated.requests[0].user
    forged = ScriptedModel([verdict_json((1, "fully", "Parking costs a coin"))])
    claim = TCVA(judge=forged).evaluate(turn).claims[0]
    assert claim.evidence_check is EvidenceCheck.NOT_FOUND
    lexical = TCVA(judge="lexical")
    assert lexical.evaluate(turn).claims == lexical.evaluate(plain).claims


# --- files ----------------------------------------------------------------------------------


def test_results_of_conversations_are_read_as_their_turns(tmp_path: Path) -> None:
    results = TCVA(judge="lexical").evaluate_conversations(
        [conversation(id=i) for i in "ab"]
    )
    write_results(tmp_path / "out.jsonl", results)
    for source in (results, results[0], tmp_path / "out.jsonl"):
        table = read_scores(source)
        assert table.groups[:3] == ("a", "a", "a")
        assert table.samples[:3] == ("a/1", "a/2", "a/3")
    nameless = read_scores([of(["fully"], ["none"]), of(["none"])])
    assert nameless.samples == ("row-1/1", "row-1/2", "row-2/1")
    assert nameless.groups == ("row-1", "row-1", "row-2")
    write_results(tmp_path / "mixed.jsonl", [results[0].turns[0], *results])
    again = evaluation(read_scores([results[0], results[0]])).records("conversations")
    assert [row["conversation"] for row in again] == ["a", "a#2"]
    counted = read_scores(tmp_path / "mixed.jsonl", hold="counts")
    assert counted.counts is not None
    assert counted.counts.shape == (7, 1, 5)


def test_a_row_of_a_batch_has_the_score_of_its_conversation() -> None:
    said = [{"role": role, "content": text} for role, text in TALK]
    batch = {"messages": [said, said[:3]], "domain": ["a", "b"]}
    found = judge_batch(batch, settings={"judge": "lexical"})
    talks = [conversation(), Conversation.from_messages(TALK[:3])]
    whole, one = TCVA(judge="lexical").evaluate_conversations(talks)
    assert found["tcva_score"].tolist() == [whole.score, one.score]
    assert isinstance(read_result(found["tcva_result"][0]), ConversationResult)
    assert len({*found["tcva_key"]}) == 2
    rated = judge_batch(batch, settings={"judge": "lexical", "metrics": ["qr"]})
    assert rated["tcva_error"][0].startswith("CCRS rates single answers")
    assert rated["tcva_error"][1] is None

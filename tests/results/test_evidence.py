"""Verdicts whose quotes do not support them: lowered or as judged, and counted by whoever shows them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Panel, Result, Sample
from tcva_adapters.compare import compare, read_scores
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.report import evaluation
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.evidence import (
    EVIDENCE,
    Evidence,
    EvidenceCounts,
    as_judged,
    lowered,
    under,
)
from tcva_adapters.results.settings import ScoringConfig
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGES = ("The office opens at nine. Parking is not free. They met in Paris. Hunde verboten.",)
SAMPLE = Sample(
    id="a",
    response="The office opens at nine. Parking is free. The drug cures cancer. Dogs can come.",
    contexts=PASSAGES,
)
REPLY = verdict_json(
    (1, "fully", "opens at noon"),
    (2, "mostly", "free"),
    (3, "fully", "They met in Paris"),
    (4, "minor", "made up, and of no consequence"),
)
LEVELS_SEEN = {
    "lower": ["partial", "partial", "partial", "minor"],
    "off": ["fully", "mostly", "fully", "minor"],
}
FOUND = ("not_found", "unrelated", "negated")
FIGURES = {
    "verdicts": 4,
    **dict.fromkeys(EvidenceCheck, 0),
    **dict.fromkeys(FOUND, 1),
    "not_lowered": 1,
}
LINES = [f"1 of 4 verdicts lowered: {EvidenceCheck(check).text}" for check in FOUND]
SHARES = (0.5, 0.25, 0.125, 0.0625, 0.0625)


def tcva(**settings: Any) -> TCVA:
    return TCVA(judge=ScriptedModel([REPLY] * 2), **settings)


def levels(result: Result) -> list[str]:
    return [claim.verdict.value for claim in result.claims if claim.verdict]


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_one_judgement_counts_lowered_or_as_judged(evidence: Evidence) -> None:
    lower = tcva().evaluate(SAMPLE)
    result = lower.at(0.5, evidence=evidence)
    wanted = Result(Assessment.from_verdicts(LEVELS_SEEN[evidence]))
    assert levels(result) == LEVELS_SEEN[evidence]
    assert (result.score, result.flip_temperature) == (wanted.score, wanted.flip_temperature)
    assert result.breakdown == wanted.breakdown
    assert result.assessment == lower.assessment
    again = Result.from_json(result.to_json())
    assert (again, again.score, again.claims) == (result, result.score, result.claims)
    assert tcva(evidence=evidence).evaluate(SAMPLE) == result
    assert tcva(evidence=evidence).key(SAMPLE) == tcva().key(SAMPLE)
    counts = EvidenceCounts.of([lower.assessment], evidence)
    lines = LINES if evidence == "lower" else []
    assert list(counts.lines()) == lines
    assert counts.to_dict()["not_lowered"] == (1 if lines else 4)
    assert all(line in result.reason for line in lines)
    assert ("lowered" in result.reason) == bool(lines)
    with pytest.raises(InvalidValueError, match=r"evidence='strict'.*'lower'.*'off'"):
        ScoringConfig(evidence="strict")


def test_a_claim_says_what_was_done() -> None:
    lower, off = (tcva(evidence=view).evaluate(SAMPLE).claims for view in EVIDENCE)
    note = "r (a negation stands beside the quote: lowered from mostly)"
    assert (lower[1].reason, lower[1].original_verdict) == (note, "mostly")
    assert (off[1].reason, off[1].original_verdict) == ("r", None)
    assert lower[3] == off[3]
    for seen in (lower, off):
        found = ["not_found", "negated", "unrelated", "not_found"]
        assert [claim.evidence_check for claim in seen] == found


def test_whoever_shows_verdicts_counts_them() -> None:
    judge = tcva()
    table = read_scores(judge.evaluate_many([SAMPLE]))
    assert table.about["summary"].evidence.to_dict() == FIGURES
    assert all(line in evaluation(table).notes for line in LINES)
    found = compare([SAMPLE], tcva(), frameworks="none")
    assert all(line in found.notes for line in LINES)
    off = compare([SAMPLE], tcva(evidence="off"), frameworks="none", temperatures=[0.5])
    assert off.records("methods")[0]["mean"] == tcva(evidence="off").evaluate(SAMPLE).score
    assert off.settings["scoring"]["evidence"] == "off"


def test_of_a_panel_and_of_additional_judges_every_verdict_counts() -> None:
    models = [ScriptedModel([REPLY], name=f"scripted:{i}") for i in range(3)]
    result = TCVA(judge=Panel(models[:2]), fuse=[models[2]], evidence="off").evaluate(SAMPLE)
    counts = EvidenceCounts.of([result.assessment])
    assert counts.to_dict() == {name: 3 * number for name, number in FIGURES.items()}
    assert counts == EvidenceCounts.of([result.assessment.members[0]] * 3)
    assert counts + counts == EvidenceCounts.of([result.assessment] * 2)
    score = tcva(evidence="off").evaluate(SAMPLE).score
    assert list(result.member_scores.values()) == [score, score]
    assert result.score == pytest.approx(score)


def test_what_is_unchecked_is_said_and_nothing_where_nothing_is_amiss() -> None:
    plain = Assessment.from_verdicts(["fully"])
    assert list(EvidenceCounts.of([plain]).lines()) == []
    unchecked = plain.claims[0].model_copy(update={"evidence_check": EvidenceCheck.UNCHECKED})
    judged = plain.model_copy(update={"claims": (unchecked, ClaimVerdict(claim="x", verdict=None))})
    [line] = EvidenceCounts.of([judged]).lines()
    assert line.startswith("1 of 1 verdicts unchecked: ")
    assert line in Result(judged).reason


def test_shares_move_and_come_back() -> None:
    checks = [None, EvidenceCheck.UNCHECKED, EvidenceCheck.NOT_FOUND]
    for level, check in itertools.product([*LEVELS, None], checks):
        claim = ClaimVerdict(claim="c", verdict=level, evidence_check=check, probabilities=SHARES)
        seen = lowered(claim)
        is_lowered = level in {"fully", "mostly"} and check is EvidenceCheck.NOT_FOUND
        assert (seen != claim) == is_lowered
        assert as_judged(ClaimVerdict.model_validate_json(seen.model_dump_json())) == claim
        if is_lowered:
            assert (seen.verdict, seen.probabilities) == ("partial", (0, 0, 0.875, 0.0625, 0.0625))
            [found] = check_evidence([claim.model_copy(update={"evidence_check": None})], PASSAGES)
            assert found.model_copy(update={"reason": ""}) == seen.model_copy(update={"reason": ""})


@pytest.mark.parametrize("combine", ["median", "fused"])
def test_votes_of_a_panel_are_combined_again(combine: str) -> None:
    other = verdict_json(*((n, "fully", "opens at nine") for n in range(1, 5)))
    models = [ScriptedModel([REPLY], name="one"), ScriptedModel([other], name="two")]
    panel = Panel(models, combine=combine)  # type: ignore[arg-type]  # either of the two
    stored = TCVA(judge=panel).evaluate(SAMPLE)
    for view in EVIDENCE:
        seen = stored.at(0.5, evidence=view)
        votes = [under(each, view) for each in stored.assessment.panel]
        assert seen.seen.panel == tuple(votes)
        assert seen.claims == panel.combined(votes).claims

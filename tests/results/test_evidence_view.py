"""Evidence as a view: three ways to count unsupported verdicts, all from what is stored."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Panel, Result, Sample
from tcva_adapters.compare import compare, sweep
from tcva_adapters.core.evidence import EVIDENCE, Evidence
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.evidence.check import check_evidence
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.evidence_view import claim_under, under
from tcva_adapters.results.scoring import Profiles, Scoring
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGES = ("The office opens at nine. Parking costs five coins.",)
SAMPLE = Sample(
    id="a",
    response="The office opens at nine. Parking is free. Dogs can come. Cats can come.",
    contexts=PASSAGES,
    metadata={"domain": "medical"},
)
REPLY = verdict_json(
    (1, "fully", "opens at nine"),
    (2, "mostly", "Parking is free"),
    (3, "minor", "Dogs can come"),
    (4, "none", ""),
)
LEVELS_SEEN = {
    "strict": ["fully", "none", "none", "none"],
    "lower": ["fully", "partial", "minor", "none"],
    "off": ["fully", "mostly", "minor", "none"],
}
SHARES = (0.5, 0.25, 0.125, 0.0625, 0.0625)


def judged(**settings: Any) -> Result:
    return TCVA(judge=ScriptedModel([REPLY]), **settings).evaluate(SAMPLE)


def levels(result: Result) -> list[str]:
    return [claim.verdict.value for claim in result.claims if claim.verdict]


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_one_judgement_counts_as_each_view_says(evidence: Evidence) -> None:
    result = judged().at(0.5, evidence=evidence)
    wanted = Assessment.from_verdicts(LEVELS_SEEN[evidence])
    assert levels(result) == LEVELS_SEEN[evidence]
    assert result.score == Result(wanted).score
    assert list(result.breakdown.values()) == wanted.counts.tolist()
    assert result.flip_temperature == Result(wanted).flip_temperature
    assert result.assessment == judged().assessment
    again = Result.from_json(result.to_json())
    assert (again, again.score, again.claims) == (result, result.score, result.claims)
    assert judged(evidence=evidence) == result
    assert again.at(0.5, evidence="lower") == judged()


def test_a_claim_says_what_its_view_did() -> None:
    strict, lower, off = (judged(evidence=view).claims for view in ("strict", "lower", "off"))
    note = "r (quote not found in the passages: lowered from {})"
    assert (strict[1].reason, strict[1].original_verdict) == (note.format("mostly"), "mostly")
    assert (strict[2].reason, strict[2].original_verdict) == (note.format("minor"), "minor")
    assert (lower[1].reason, lower[1].original_verdict) == (note.format("mostly"), "mostly")
    assert (lower[2].reason, lower[2].original_verdict) == ("r", None)
    assert (off[1].reason, off[1].original_verdict) == ("r", None)
    assert {claim.evidence_check for claims in (strict, lower, off) for claim in claims[1:3]} == {
        EvidenceCheck.NOT_FOUND
    }


def test_what_is_lowered_is_counted_by_view() -> None:
    said = {view: judged(evidence=view).reason for view in EVIDENCE}
    assert "at T=0.5, evidence strict: 1 fully, 3 none; 2 of 4 verdicts lowered" in said["strict"]
    assert "at T=0.5: 1 fully, 1 partial, 1 minor, 1 none; 1 of 4 verdicts" in said["lower"]
    assert "lowered" not in said["off"]
    counts = EvidenceCounts.of([judged().assessment])
    by_view = {view: counts.under(view) for view in EVIDENCE}
    assert [by_view[view].lowered for view in EVIDENCE] == [2, 1, 0]
    assert [by_view[view].to_dict()["not_lowered"] for view in EVIDENCE] == [0, 1, 2]
    assert counts + counts == EvidenceCounts.of([judged().assessment] * 2)


@pytest.mark.parametrize(
    ("level", "strict", "lower"),
    [
        (Verdict.FULLY, (0, 0, 0, 0, 1), (0, 0, 0.875, 0.0625, 0.0625)),
        (Verdict.MINOR, (0, 0, 0, 0, 1), SHARES),
    ],
)
def test_shares_move_and_come_back(
    level: Verdict, strict: tuple[float, ...], lower: tuple[float, ...]
) -> None:
    given = ClaimVerdict(claim="Dogs can come.", verdict=level, probabilities=SHARES)
    [stored] = check_evidence([given], PASSAGES)
    assert stored.probabilities == lower
    assert claim_under(stored, "strict").probabilities == strict
    assert claim_under(stored, "off").probabilities == SHARES
    assert claim_under(stored, "off").verdict == level
    again = ClaimVerdict.model_validate_json(stored.model_dump_json())
    assert claim_under(again, "off") == claim_under(stored, "off")
    assert claim_under(stored, "lower") == stored


def test_of_an_earlier_version_the_judges_level_gets_what_was_moved() -> None:
    plain = {"claim": "c", "verdict": "partial", "original_verdict": "mostly"}
    old = ClaimVerdict.model_validate({**plain, "probabilities": [0, 0, 0.75, 0.25, 0]})
    assert claim_under(old, "off").probabilities == (0.0, 0.75, 0.0, 0.25, 0.0)
    assert claim_under(old, "strict").verdict is Verdict.NONE


@pytest.mark.parametrize("level", [*LEVELS, None])
@pytest.mark.parametrize("check", [None, EvidenceCheck.UNCHECKED])
def test_what_nobody_found_fault_with_is_the_same_in_all_views(
    level: Verdict | None, check: EvidenceCheck | None
) -> None:
    claim = ClaimVerdict(claim="c", verdict=level, evidence_check=check, probabilities=SHARES)
    assert {claim_under(claim, view) for view in EVIDENCE} == {claim}


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
        wanted = panel.combined(votes).claims
        assert [(c.verdict, c.probabilities) for c in seen.claims] == [
            (c.verdict, c.probabilities) for c in wanted
        ]


def test_a_judge_that_sees_no_claim_stays_out_of_the_vote() -> None:
    votes = [
        ClaimVerdict(claim="c", verdict=Verdict.FULLY, evidence_check=EvidenceCheck.NOT_FOUND),
        ClaimVerdict(claim="c", verdict=None),
    ]
    single = [
        Assessment.from_verdicts(["fully"]).model_copy(update={"claims": (vote,), "judge": str(n)})
        for n, vote in enumerate(votes)
    ]
    stored = single[0].model_copy(update={"claims": (votes[1],), "panel": tuple(single)})
    assert under(stored, "strict").claims == (votes[1],)


def test_additional_judges_are_seen_under_the_view_too() -> None:
    models = [ScriptedModel([REPLY], name=name) for name in ("one", "two")]
    result = TCVA(judge=models[0], fuse=[models[1]], evidence="strict").evaluate(SAMPLE)
    score = judged(evidence="strict").score
    assert result.score == pytest.approx(score)
    assert list(result.member_scores.values()) == [score, score]


def test_profiles_and_files_choose_a_view() -> None:
    profiles = Profiles("domain", {"medical": {"evidence": "strict"}})
    assert levels(judged(profiles=profiles)) == LEVELS_SEEN["strict"]
    assert TCVA(judge="lexical", evidence="strict").name == "tcva_faithfulness(evidence=strict)"
    with pytest.raises(InvalidValueError, match=r"evidence='hard'; it is 'strict' or 'lower'"):
        Scoring(evidence="hard")  # type: ignore[arg-type]  # on purpose


def test_the_view_is_no_part_of_the_key() -> None:
    keys = {TCVA(judge=ScriptedModel([]), evidence=view).key(SAMPLE) for view in EVIDENCE}
    assert len(keys) == 1


def test_a_sweep_shows_what_the_views_do() -> None:
    whole = judged()
    part = whole.assessment.model_copy(update={"claims": whole.claims[:2]})
    results = [whole, Result(part)]
    found = sweep(results)
    by_view = {each.evidence: each for each in found.effects}
    for view in EVIDENCE:
        scores = [result.at(0.5, evidence=view).score for result in results]
        own = [result.at(0.5, evidence="off").passed for result in results]
        passed = [result.at(0.5, evidence=view).passed for result in results]
        each = by_view[view]
        assert each.mean == pytest.approx(np.mean(scores), abs=1e-15)  # type: ignore[arg-type]  # no score is None
        assert each.passed == sum(map(bool, passed))
        assert each.decisions == sum(a != b for a, b in zip(own, passed, strict=True))
        assert sweep(results, [0.5], evidence=view).rows[0].means == (each.mean,)
    assert [by_view[view].lowered for view in EVIDENCE] == [3, 2, 0]
    assert "Views of the evidence at T=0.5, threshold 0.5" in found.text()
    told = json.loads(json.dumps(found.to_dict()))["evidence_views"]
    assert [each["evidence"] for each in told] == ["off", "lower", "strict"]
    assert sweep([[1, 0, 0, 0, 0]]).effects == ()


def test_a_comparison_is_made_under_its_view() -> None:
    tcva = TCVA(judge=ScriptedModel([REPLY]), evidence="strict")
    found = compare([SAMPLE], tcva, frameworks="none", n_boot=10, temperatures=[0.5])
    [row] = found.rows
    assert row.score == judged(evidence="strict").score
    assert found.to_dict()["evidence"]["not_found"] == 2
    assert found.to_dict()["settings"]["evidence"] == "strict"

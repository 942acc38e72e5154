"""What is shown explains the score: weights beside levels, counts by level, and the interval."""

import json
from itertools import product
from operator import mul
from typing import Any

import pytest

from tcva_adapters import (
    TCVA,
    Assessment,
    ClaimVerdict,
    Panel,
    Result,
    Sample,
    aggregate,
    aggregate_counts,
)
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain.results import as_output
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.evidence import Evidence, evidence_lines, evidence_outcomes
from tcva_adapters.results.scoring import ScoringConfig
from tests.support.scripted import ScriptedModel, verdict_json

Shares = tuple[float, float, float, float, float]

HALF: Shares = (0.5, 0.0, 0.0, 0.0, 0.5)
GOOD: Shares = (0.8, 0.2, 0.0, 0.0, 0.0)
ODD: Shares = (0.123456789, 0.2, 0.3, 0.376543, 0.000000211)
KINDS: dict[str, list[Shares | None]] = {
    "hidden probabilities": [HALF, GOOD],
    "some": [HALF, None, ODD],
    "a trace of none": [(1.0 - 1e-7, 0.0, 0.0, 0.0, 1e-7), GOOD, GOOD],
    "none at all": [None, None],
}


def claim(
    shares: Shares | None, verdict: Verdict | None = Verdict.FULLY
) -> ClaimVerdict:
    return ClaimVerdict(claim="It opens.", verdict=verdict, probabilities=shares)


def assessed(*claims: ClaimVerdict, **more: Any) -> Assessment:
    given: dict[str, Any] = {
        "criterion": "c",
        "judge": "model",
        "prompt_version": "1",
        **more,
    }
    return Assessment(claims=claims, **given)


def score_of(counts: list[float], temperature: float) -> float:
    return float(aggregate_counts([counts], [temperature])[0, 0])


def test_the_score_follows_from_what_is_shown() -> None:
    for kind, temperature in product(KINDS, [0.1, 0.3, 0.4, 0.5, 0.8, 1.0]):
        claims = [*map(claim, KINDS[kind]), claim(None, None)]
        result = Result(assessed(*claims)).at(temperature)
        plain = json.loads(result.to_json())
        exact = score_of([plain["breakdown"][level] for level in LEVELS], temperature)
        assert exact == pytest.approx(result.score, rel=1e-12)
        # From the claims alone, as they are written.
        counts = [0.0] * len(LEVELS)
        for each in plain["claims"]:
            certain = [float(level == each["verdict"]) for level in LEVELS]
            shares = each["probabilities"] or (
                certain if each["verdict"] else [0.0] * 5
            )
            counts = [n + share for n, share in zip(counts, shares, strict=True)]
            weight = sum(map(mul, shares, (1.0, 0.9, 0.7, 0.3, 0.0)))
            assert (each["weight"] or 0.0) == pytest.approx(weight, rel=1e-11)
            assert (each["weight"] is None) is (each["verdict"] is None)
        assert score_of(counts, temperature) == pytest.approx(result.score, rel=1e-12)
        assert read_result(result.to_json()) == result
        assert Assessment.from_json(result.to_json()) == result.assessment


def test_same_verdicts_with_other_weights_look_different_everywhere() -> None:
    result = Result(assessed(claim(HALF), claim((0.6, 0, 0, 0, 0.4)), sample_id="torn"))
    assert result.weights == (0.5, 0.6)
    assert result.at(0.5, scheme=(0.8, 0.7, 0.5, 0.2, 0.1)).weights == (0.45, 0.52)
    assert ": 2 fully; 95%" in result.reason
    assert '"It opens." [fully, weight 0.500]' in result.reason
    assert "fully, weight 0.600" in result._repr_html_()
    output = as_output(result)
    assert (output["breakdown"]["fully"], output["claims"][1]["weight"]) == (1.1, 0.6)
    plain = Result(Assessment.from_verdicts(["fully", "none"]))
    assert plain.reason.endswith('1 fully, 1 none; worst: "claim 2" [none]')
    assert "weight" not in plain._repr_html_()


@pytest.mark.parametrize(("judged", "low", "high"), [
    (assessed(claim(HALF), claim(None)), aggregate(["fully", "none"]), 1.0),
    # P(yes) = .8 stands halfway between mostly (.9) and partial (.7); it is fully or none.
    (assessed(claim((0, 0.5, 0.5, 0, 0), Verdict.PARTIAL), form="yes_no"), 0.0, 1.0),
])  # fmt: skip
def test_an_interval_stands_beside_the_score(
    judged: Assessment, low: float, high: float
) -> None:
    result = Result(judged)
    assert result.interval == pytest.approx((low, high))
    assert f"; 95% interval {low:.3f} to {high:.3f}" in result.reason
    assert json.loads(result.to_json())["interval"] == list(result.interval or ())


@pytest.mark.parametrize("judged", [
    Assessment.from_verdicts(["fully", "none"]),
    assessed(claim(HALF), judge="lexical/6"),
    assessed(claim(None), claim(HALF, None)),
    assessed(claim(HALF), members=(assessed(claim(None), judge="other"),)),
])  # fmt: skip
def test_no_interval_without_chances(judged: Assessment) -> None:
    assert (Result(judged).interval, Result(judged).to_dict()["interval"]) == (
        None,
        None,
    )
    assert "interval" not in Result(judged).reason


PASSAGES = (
    "The office opens at nine. Parking is not free. They met in Paris. Hunde verboten.",
)
SAID = (
    "The office opens at nine. Parking is free. The drug cures cancer. Dogs can come."
)
SAMPLE = Sample(id="a", response=SAID, contexts=PASSAGES)
REPLY = verdict_json(
    (1, "fully", "opens at noon"),
    (2, "mostly", "free"),
    (3, "fully", "They met in Paris"),
    (4, "minor", "made up, and of no consequence"),
)
OFF = ["fully", "mostly", "fully", "minor"]
LEVELS_SEEN = {"lower": ["partial", "partial", "partial", "minor"], "off": OFF}
FOUND = ("not_found", "unrelated", "negated")
OUTCOMES = {(EvidenceCheck(check), True): 1 for check in FOUND}
OUTCOMES[EvidenceCheck.NOT_FOUND, False] = 1  # of minor, which is not lowered
LINES = [
    f"1 of 4 verdicts lowered to partial: {EvidenceCheck(check).text}"
    for check in FOUND
]


def tcva(**settings: Any) -> TCVA:
    return TCVA(judge=ScriptedModel([REPLY] * 2), **settings)


def levels(result: Result) -> list[str]:
    return [claim.verdict.value for claim in result.claims if claim.verdict]


@pytest.mark.parametrize("evidence", LEVELS_SEEN)
def test_one_judgement_counts_lowered_or_as_judged(evidence: Evidence) -> None:
    lower = tcva().evaluate(SAMPLE)
    result = lower.at(0.5, evidence=evidence)
    wanted = Result(Assessment.from_verdicts(LEVELS_SEEN[evidence]))
    assert levels(result) == LEVELS_SEEN[evidence]
    assert (result.score, result.flip_temperature) == (
        wanted.score,
        wanted.flip_temperature,
    )
    assert (result.breakdown, result.assessment) == (wanted.breakdown, lower.assessment)
    again = Result.from_json(result.to_json())
    assert (again, again.score, again.claims) == (result, result.score, result.claims)
    assert tcva(evidence=evidence).evaluate(SAMPLE) == result
    assert tcva(evidence=evidence).key(SAMPLE) == tcva().key(SAMPLE)
    outcomes = evidence_outcomes([lower.assessment])
    lines = LINES if evidence == "lower" else []
    assert outcomes == OUTCOMES
    assert list(evidence_lines(outcomes, evidence)) == lines
    assert all(line in result.reason for line in lines)
    assert ("lowered" in result.reason) == bool(lines)
    with pytest.raises(
        InvalidValueError, match=r"evidence must be 'lower' or 'off', got 'strict'"
    ):
        ScoringConfig(evidence="strict")


def test_a_claim_says_what_was_done() -> None:
    lower, off = (tcva(evidence=view).evaluate(SAMPLE).claims for view in LEVELS_SEEN)
    note = f"r (lowered from mostly: {EvidenceCheck.NEGATED.text})"
    assert (lower[1].reason, lower[1].original_verdict) == (note, "mostly")
    assert (off[1].reason, off[1].original_verdict) == ("r", None)
    assert lower[3] == off[3]
    for seen in (lower, off):
        found = ["not_found", "negated", "unrelated", "not_found"]
        assert [claim.evidence_check for claim in seen] == found


def test_of_a_panel_and_of_additional_judges_every_verdict_counts() -> None:
    models = [ScriptedModel([REPLY], name=f"scripted:{i}") for i in range(3)]
    result = TCVA(judge=Panel(models[:2]), fuse=[models[2]], evidence="off").evaluate(
        SAMPLE
    )
    outcomes = evidence_outcomes([result.assessment])
    assert outcomes == {case: 3 * number for case, number in OUTCOMES.items()}
    assert outcomes == evidence_outcomes([result.assessment.members[0]] * 3)
    assert outcomes + outcomes == evidence_outcomes([result.assessment] * 2)
    score = tcva(evidence="off").evaluate(SAMPLE).score
    assert list(result.member_scores.values()) == [score, score]
    assert result.score == pytest.approx(score)

"""How sure a result is: whose probabilities are chances, and what is said of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Result, Sample, Verdict, aggregate
from tcva_adapters.compare.gates import verdict_of
from tcva_adapters.compare.graded import grade
from tcva_adapters.judging.evidence.check import check_evidence
from tcva_adapters.results.protocol import read_result
from tcva_adapters.results.summary import summarise
from tcva_adapters.results.uncertainty import level_chances

Shares = tuple[float, float, float, float, float]

HALF: Shares = (0.5, 0.0, 0.0, 0.0, 0.5)
GOOD: Shares = (0.8, 0.2, 0.0, 0.0, 0.0)


def claim(shares: Shares | None, verdict: Verdict | None = Verdict.FULLY) -> ClaimVerdict:
    return ClaimVerdict(claim="It opens.", verdict=verdict, probabilities=shares)


def assessed(*claims: ClaimVerdict, **more: Any) -> Assessment:
    given: dict[str, Any] = {"criterion": "c", "judge": "model", "prompt_version": "1", **more}
    return Assessment(claims=claims, **given)


def test_a_distribution_beside_the_score_of_the_expected_shares() -> None:
    result = Result(assessed(claim(HALF), claim(None)))
    found = result.uncertainty
    assert found is not None
    half = aggregate(["fully", "none"])
    assert (found.low, found.high, found.threshold) == (half, 1.0, 0.5)
    assert found.mean == pytest.approx((half + 1.0) / 2.0, abs=1e-15)
    assert found.mean != result.score
    assert result.unsure_claims == (result.claims[0],)
    assert "chance to pass 50%, 95% interval 0.250 to 1.000" in result.reason


def test_at_another_setting_it_is_that_of_the_setting() -> None:
    result = Result(assessed(claim(HALF), claim(None)))
    strict = result.at("strict").uncertainty
    assert strict is not None
    assert (round(strict.low, 3), strict.pass_probability) == (0.0, 0.5)
    assert strict.is_undecided
    stricter = result.at(0.5, threshold=0.75).uncertainty
    assert stricter is not None
    assert stricter.pass_probability == 0.5


@pytest.mark.parametrize(
    "result",
    [
        Result(Assessment.from_verdicts(["fully", "none"])),
        Result(assessed(claim(HALF), judge="lexical/2")),
        TCVA(judge="lexical").evaluate(
            Sample(response="It opens at nine.", contexts=("It opens at ten.",))
        ),
        TCVA(judge="lexical", on_unscored=0.0).evaluate(Sample(response="", contexts=("a",))),
        Result(assessed(claim(None), claim(HALF, None))),
    ],
)
def test_none_without_chances(result: Result) -> None:
    assert result.uncertainty is None
    assert result.unsure_claims == ()
    assert result.to_dict()["uncertainty"] is None
    assert "chance to pass" not in result.reason
    assert summarise([result]).uncertainty is None


def test_sentences_that_claim_nothing_do_not_count() -> None:
    found = level_chances(assessed(claim(HALF), claim(HALF, None), claim(None, Verdict.MINOR)))
    assert found is not None
    assert found.tolist() == [[0.5, 0, 0, 0, 0.5], [0, 0, 0, 1, 0]]


def test_yes_or_no_is_fully_or_none() -> None:
    # P(yes) = .8 stands halfway between mostly (.9) and partial (.7).
    judged = assessed(claim((0.0, 0.5, 0.5, 0.0, 0.0), Verdict.PARTIAL), form="yes_no, 5 draws")
    result = Result(judged)
    assert result.score == pytest.approx(0.8)
    found = result.uncertainty
    assert found is not None
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.pass_probability == pytest.approx(0.8, abs=1e-15)
    assert result.unsure_claims == ()
    doubtful = assessed(claim((0.0, 0.0, 0.75, 0.25, 0.0), Verdict.PARTIAL), form="yes_no")
    assert Result(doubtful).unsure_claims == doubtful.claims
    written = assessed(claim(None, Verdict.PARTIAL), form="written")
    mixed = doubtful.model_copy(update={"panel": (doubtful, written)})
    assert Result(mixed).uncertainty is not None
    found = Result(mixed).uncertainty
    assert found is not None
    assert found.low == pytest.approx(0.3)


def test_a_fused_score_joins_the_judges() -> None:
    member = assessed(claim(None, Verdict.MOSTLY), judge="other")
    unscored = TCVA(judge="lexical").evaluate(Sample(response="", contexts=("a",))).assessment
    result = Result(assessed(claim(HALF), members=(member, unscored)))
    found = result.uncertainty
    assert found is not None
    # The geometric means of 1 and .9, and of the least score and .9.
    assert found.high == pytest.approx(0.9**0.5)
    assert found.low == pytest.approx((1e-9 * 0.9) ** 0.5)
    assert (found.pass_probability, found.is_exact) == (0.5, True)
    other_way = Result(assessed(claim(None), members=(assessed(claim(HALF), judge="other"),)))
    assert other_way.uncertainty is not None
    assert other_way.unsure_claims == ()


def test_it_is_written_and_worked_out_again_when_read() -> None:
    result = Result(assessed(claim(HALF), claim(GOOD)))
    assert result.uncertainty is not None
    plain = json.loads(result.to_json())
    assert plain["uncertainty"] == result.uncertainty.to_dict()
    plain["uncertainty"]["mean"] = 0.1
    read = read_result(plain)
    assert read == result
    assert isinstance(read, Result)
    assert read.uncertainty == result.uncertainty
    assert Assessment.from_json(result.to_json()) == result.assessment


def test_a_summary_says_what_to_look_at() -> None:
    sure, torn = assessed(claim(GOOD), sample_id="sure"), assessed(claim(HALF), sample_id="torn")
    plain = Assessment.from_verdicts(["fully"])
    found = summarise(Result(each) for each in (sure, plain, torn))
    counts = found.uncertainty
    assert counts is not None
    assert (counts.samples, counts.undecided, counts.claims, counts.unsure_claims) == (2, 1, 2, 1)
    assert counts.pass_probability == pytest.approx(0.75)
    assert [name for name, _ in counts.least_sure] == ["torn", "sure"]
    assert found.to_dict()["uncertainty"] == counts.to_dict()
    text = str(found)
    for said in ("chance to pass 75% of 2 samples", "1 undecided", "unsure of 1 of 2", "torn 50%"):
        assert said in " ".join(text.split())


def test_gates_say_it_beside_the_score() -> None:
    results = [Result(assessed(claim(HALF), claim(HALF), sample_id="torn"))]
    [torn] = grade("c", results, threshold=0.5).cases
    assert verdict_of(torn, grade("c", results, threshold=0.5)).endswith(
        "< 0.5, chance to pass 25%, 95% interval 0.000 to 1.000"
    )
    assert not grade("c", [Result(Assessment.from_verdicts(["none"]))]).cases[0].sure


def test_the_view_of_the_evidence_is_that_of_the_score() -> None:
    claim = ClaimVerdict(
        claim="It opens at nine.",
        verdict=Verdict.FULLY,
        evidence="no such words",
        probabilities=(0.9, 0.0, 0.0, 0.0, 0.1),
    )
    result = Result(assessed(*check_evidence([claim], ["It opens at ten."])))
    highest = {}
    for view in ("strict", "lower", "off"):
        found = result.at(0.5, evidence=view).uncertainty
        assert found is not None
        highest[view] = (found.low, found.high)
    assert highest == {"strict": (0.0, 0.0), "lower": (0.0, 0.7), "off": (0.0, 1.0)}

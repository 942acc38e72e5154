"""What repeats and panels show: noise, flips, gates on the lower bound, and what a panel is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import Assessment, Result, WeightScheme
from tcva_adapters.compare import Gates, panel_report, panel_worth, repeat_report
from tcva_adapters.compare.graded import Graded, grade
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig

HALF = ScoringConfig(scheme=WeightScheme.resolve("linear"), penalty="off")
LEVELS = ("fully", "mostly", "partial", "minor", "none")


def unfolded(report: object) -> str:
    return " ".join(str(report).split())


def repeated(*levels: str | None, name: str = "m") -> Result:
    """A sample of one claim with a repeat for each level; None for one that failed."""
    each = [
        Assessment.from_verdicts([level or "none"], judge=name)
        if level
        else Assessment.from_verdicts([], judge=name)
        for level in levels
    ]
    whole = Assessment.from_verdicts([levels[0] or "none"], judge=f"repeats({name}, {len(levels)})")
    return Result(whole.model_copy(update={"panel": tuple(each)}), HALF)


def test_flips_and_noise() -> None:
    # Scores: (1, 1, 0), (.75, .75, .75), (0, .25): one of three has repeats on both sides of .5;
    # of its three pairs two disagree.
    found = repeat_report(
        [
            repeated("fully", "fully", "none"),
            repeated("mostly", "mostly", "mostly"),
            repeated("none", "minor", None),
            repeated("fully", None, None),
        ]
    )
    assert (found.repeats, found.samples, found.flipped, found.same) == (3, 3, 1, 1)
    assert found.flip_rate == pytest.approx(1 / 3)
    assert found.disagreement == pytest.approx(2 / 9, abs=1e-12)
    # Squares within: 2/3 + 0 + 1/32, over 8 - 3.
    assert found.components.judge == pytest.approx((2 / 3 + 1 / 32) / 5, abs=1e-12)
    assert "1 of 3 samples flips at the threshold" in found.sentence
    assert "one repeat more would make it" in unfolded(found)
    assert json.loads(json.dumps(found.to_dict()))["flip_rate"] == pytest.approx(1 / 3)


def test_repeats_that_say_the_same_word_for_word_are_called_so() -> None:
    same = repeat_report([repeated("fully", "fully"), repeated("minor", "minor")])
    assert "worth one judgement" in unfolded(same)
    assert same.components.judge == 0.0
    differing = repeat_report([repeated("fully", "none")] * 2)
    assert "worth one judgement" not in unfolded(differing)


def test_one_sample_says_nothing_of_others() -> None:
    found = repeat_report([repeated("fully", "none")])
    assert "one sample alone" in unfolded(found)
    assert found.to_dict()["standard_error"] is None
    none = repeat_report([repeated("fully", None)])
    assert none.sentence == "No sample has two repeats with a score"
    assert str(none).strip() == none.sentence
    assert none.to_dict()["components"]["judge"] is None
    with pytest.raises(InvalidValueError, match="judged several times; judge with repeats=3"):
        repeat_report([Result(Assessment.from_verdicts(["fully"]))])


def graded(*scores: float | None) -> Graded:
    results = [_at(score) for score in scores]
    return grade("m", results, threshold=0.5)


def _at(score: float | None) -> Result:
    """A result with about this score."""
    if score is None:
        return Result(Assessment.from_verdicts([]), HALF)
    shares = (score, 0.0, 0.0, 0.0, 1.0 - score)
    claim = Assessment.from_verdicts(["fully"]).claims[0]
    claims = (claim.model_copy(update={"probabilities": shares}),)
    whole = Assessment.from_verdicts(["fully"]).model_copy(update={"claims": claims})
    return Result(whole, HALF)


def test_a_gate_on_the_lower_bound() -> None:
    method = graded(0.5, 0.75, 1.0, 0.75, None)
    # The mean that random weights of these scores and one more of 0 undercut in one case of twenty:
    # of 200 000 draws with a standard error of .0005.
    weights = np.random.default_rng(3).dirichlet(np.ones(5), 200_000)
    below = weights @ [0.0, 0.5, 0.75, 1.0, 0.75] < (method.sure_mean(0.95) or 0.0)
    assert float(below.mean()) == pytest.approx(0.05, abs=0.002)
    plain = Gates.of(0.6, min_coverage=0.5).judge([method])
    assert not plain.failed
    (gate,) = Gates.of(0.6, min_coverage=0.5, confidence=0.95).judge([method]).failed
    assert gate.text == "m: mean score 0.750, with 95% confidence at least 0.344 < 0.6"
    assert gate.reached == method.sure_mean(0.95)
    assert not Gates.of(0.2, min_coverage=0.5, confidence=0.95).judge([method]).failed


def test_a_pass_rate_is_exact() -> None:
    method = graded(*[1.0] * 8, 0.0, 0.25)
    # One-sided 97.5 % is the lower end of the two-sided 95 %: .4439 for 8 of 10.
    (gate,) = Gates.of(min_pass_rate=0.6, confidence=0.975).judge([method]).failed
    assert gate.text == "m: pass rate 0.800, with 97.5% confidence at least 0.444 < 0.6"


def test_equal_scores_are_no_proof() -> None:
    # A mean of m shows three times 1 with a chance of m cubed at most: .05 there.
    assert graded(1.0, 1.0, 1.0).sure_mean(0.95) == pytest.approx(0.05 ** (1 / 3), abs=1e-9)
    # A worse score never makes the bound higher by leaps.
    equal, other = graded(*[1.0] * 20), graded(*[1.0] * 19, 0.99)
    assert (equal.sure_mean(0.95) or 0.0) == pytest.approx(0.05 ** (1 / 20), abs=1e-9)
    assert 0.858 < (other.sure_mean(0.95) or 0.0) < (equal.sure_mean(0.95) or 0.0)
    assert graded(0.0, 0.0).sure_mean(0.95) == 0.0
    assert graded(1.0).sure_mean(0.95) == pytest.approx(0.05, abs=1e-9)
    (gate,) = Gates.of(0.5, confidence=0.95).judge([graded(1.0)]).failed
    assert gate.text == "m: mean score 1.000, with 95% confidence at least 0.050 < 0.5"
    (gate,) = Gates.of(0.5, min_coverage=0, confidence=0.95).judge([graded(None)]).failed
    assert gate.text == "m: there is no mean score, and 0.5 is asked for"


@pytest.mark.parametrize("truth", [0.5, 0.8, 0.86, 0.95])
@pytest.mark.parametrize("n", [5, 20, 60])
def test_lower_bounds_hold_where_failures_are_rare(truth: float, n: int) -> None:
    held = 0.0
    for passed in range(n + 1):
        method = graded(*[1.0] * passed, *[0.0] * (n - passed))
        chance = math.comb(n, passed) * truth**passed * (1 - truth) ** (n - passed)
        assert method.sure_pass_rate(0.95) == pytest.approx(
            stats.binomtest(passed, n).proportion_ci(0.9).low, abs=1e-9
        )
        held += chance * ((method.sure_mean(0.95) or 0.0) <= truth)
    assert held >= 0.93


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"min_score": 0.5, "confidence": 0.5}, r"confidence=0.5; it lies between 0.5 and 1"),
        ({"min_score": 0.5, "confidence": 95}, r"confidence=95; it lies between"),
        ({"min_score": 0.5, "confidence": math.nan}, r"confidence=nan"),
        ({"min_score": 0.5, "confidence": True}, r"confidence=True"),
        ({"confidence": 0.95}, r"how sure a gate has to be; give min_score or min_pass_rate, too"),
        ({"min_coverage": 0.9, "confidence": 0.95}, r"give min_score or min_pass_rate, too"),
    ],
)
def test_a_confidence_that_says_nothing_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Gates.of(**asked)


def panel(scores: Sequence[Sequence[int]]) -> list[Assessment]:
    """Judges that give each claim of a sample so many levels below fully; the panel their median."""
    found = []
    for row in scores:
        members = [
            Assessment.from_verdicts([LEVELS[level]], judge=f"judge {place}")
            for place, level in enumerate(row)
        ]
        middle = LEVELS[sorted(row)[len(row) // 2]]
        whole = Assessment.from_verdicts([middle], judge="panel")
        found.append(whole.model_copy(update={"panel": tuple(members)}))
    return found


def drawn(n: int, *, together: bool) -> tuple[list[Assessment], np.ndarray[Any, Any]]:
    """Three judges, each a level off now and then: all at once, or each for itself."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 5, n)
    errors = rng.integers(-2, 3, (n, 1 if together else 3)) + np.zeros((n, 3), dtype=int)
    return panel(np.clip(truth[:, None] + errors, 0, 4).tolist()), (4 - truth).astype(float)


def test_judges_that_fail_together_are_one() -> None:
    assessments, human = drawn(120, together=True)
    worth = panel_worth(assessments, human=human, scoring=HALF)
    assert worth.sentence.startswith("these 3 judges amount to 1.0 independent ones: their errors")
    assert worth.best is not None
    assert worth.best.would_do
    assert worth.best.difference.delta == 0.0
    assert "it would do alone, as far as these samples show" in str(list(worth.lines()))


def test_judges_that_fail_apart_are_worth_more_than_the_best() -> None:
    assessments, human = drawn(400, together=False)
    worth = panel_worth(assessments, human=human, scoring=HALF)
    assert worth.independence.effective > 2.0
    assert worth.best is not None
    assert not worth.best.would_do
    assert "the panel agrees better than any of its judges alone" in worth.best.sentence
    told = json.loads(json.dumps(worth.to_dict()))
    assert told["best_judge"]["would_do"] is False
    assert told["effective"] == worth.independence.effective


def test_what_cannot_be_said_is_said_so() -> None:
    assessments, human = drawn(120, together=True)
    worth = panel_worth(assessments, scoring=HALF)
    assert "which judges that are right have in common, too" in worth.sentence
    assert worth.best is None
    assert "cannot be told without human ratings" in worth.fault
    few = panel_worth(assessments[:20], human=human[:20], scoring=HALF)
    assert "not enough samples (20 with a score by each and a human rating; 30" in few.sentence
    assert "not enough samples (20 with all scores" in few.fault
    assert few.to_dict()["effective"] is None
    same = panel_worth(panel([[0, 0]] * 40), human=[1.0] * 40)
    assert "fewer than two of them give scores that vary" in same.sentence
    assert "no score or rating varies" in same.fault
    with pytest.raises(InvalidValueError, match="different lengths"):
        panel_worth(assessments, human=[1.0])


def test_the_report_of_a_panel_has_it() -> None:
    assessments, human = drawn(60, together=False)
    report = panel_report(assessments, human=human, scoring=HALF)
    assert "independent ones" in unfolded(report)
    assert "best judge by human ratings" in unfolded(report)
    assert report.to_dict()["worth"]["judges"] == 3


def test_fused_judges_may_be_asked_differently_often() -> None:
    main, other = repeated("fully", "none", "fully"), repeated("mostly", "none", name="n")
    whole = main.assessment.model_copy(update={"members": (other.assessment,)})
    result = Result(whole, HALF)
    assert [each.score for each in result.repeats] == pytest.approx([0.75**0.5, 0.0, 0.75**0.5])

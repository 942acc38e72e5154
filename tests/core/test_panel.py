"""Fused scores against scipy's power mean, and what must not change a bit of them."""

import itertools
import math
from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean, pmean

from tcva_adapters import WeightScheme, aggregate, aggregate_counts, exponent, fuse
from tcva_adapters.core import uncertainty
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.collapse import (
    binary_counts,
    from_deepeval,
)
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.panel import evaluate_panel
from tcva_adapters.core.uncertainty import central_interval, count_distribution
from tcva_adapters.core.verdicts import (
    LEVELS,
    SCHEMES,
    FloatArray,
    count_levels,
    level_shares,
)
from tcva_adapters.errors import InvalidValueError
from tests.support.ablation import ablation

NAN = float("nan")
scores = st.floats(0.001, 1.0)
rows = st.lists(scores, min_size=1, max_size=6)


@given(rows, st.floats(0.1, 1.0), st.data())
def test_the_weighted_power_mean(
    row: list[float], temperature: float, data: st.DataObject
) -> None:
    weights = data.draw(
        st.lists(st.floats(0.1, 9.0), min_size=len(row), max_size=len(row))
    )
    expected = pmean(row, exponent(temperature), weights=weights)
    fused = fuse([row], temperature=temperature, weights=weights).scores[0]
    assert fuse([row]).scores[0] == pytest.approx(gmean(row), rel=6e-12)
    # Near exponent 0 the power mean takes the 1/p-th power, which loses digits in any formula.
    tolerance = 1e-12 / min(1.0, abs(exponent(temperature)) or 1.0)
    assert fused == pytest.approx(expected, rel=max(6e-12, min(1e-6, tolerance)))


@given(
    st.lists(
        st.tuples(scores | st.just(NAN), st.floats(0.1, 9.0)), min_size=2, max_size=4
    ),
    st.sampled_from([None, 0.1, 0.5, 0.9]),
)
def test_order_of_methods(
    members: list[tuple[float, float]], temperature: float | None
) -> None:
    fused = []
    for order in itertools.permutations(members):
        row, weights = zip(*order, strict=True)
        fused.append(fuse([row], weights=weights, temperature=temperature).scores[0])
    assert len(set(map(repr, fused))) == 1


@given(rows)
def test_the_mean_rises_with_the_temperature_and_stays_within(row: list[float]) -> None:
    fused = [fuse([row], temperature=t).scores[0] for t in np.linspace(0.1, 1.0, 10)]
    assert all(a <= b * (1 + 1e-11) for a, b in itertools.pairwise(fused))
    assert fuse([row[:1] * 3], temperature=0.9).scores[0] == pytest.approx(
        row[0], rel=6e-12
    )
    assert min(row) * (1 - 6e-12) <= fused[0] <= fused[-1] <= max(row) * (1 + 6e-12)


def test_missing_scores_are_left_out_and_counted() -> None:
    fused = fuse([[0.4, NAN, 0.9], [NAN, NAN, NAN], [NAN, 0.3, NAN]], weights=[1, 5, 1])
    # sqrt(.4 * .9) = .6: the 5 parts of the absent method go to nobody.
    assert fused.scores == pytest.approx([0.6, NAN, 0.3], abs=1e-12, nan_ok=True)
    assert fused.members.tolist() == [2, 0, 1]
    weightless = fuse([[0.4, 0.9], [NAN, 0.9]], weights=[1, 0])
    assert weightless.scores == pytest.approx([0.4, NAN], abs=1e-15, nan_ok=True)
    assert weightless.members.tolist() == [1, 0]


def test_zeros_are_floored_but_a_row_of_zeros_is_zero() -> None:
    fused = fuse([[0.0, 0.9], [0.0, 0.4], [0.0, 0.0]])
    # sqrt(1e-9 * .9) = 3e-5 and sqrt(1e-9 * .4) = 2e-5: still in the order of the other method.
    assert fused.scores == pytest.approx([3e-5, 2e-5, 0.0], rel=1e-12)
    assert fuse([[0.0, 1.0]], temperature=0.5).scores[0] == 0.5
    assert fuse([[0.0, 1.0]], temperature=1.0).scores[0] == pytest.approx(
        0.5 ** (1 / 12.25)
    )
    assert fuse(np.empty((0, 3))).scores.shape == (0,)


@pytest.mark.parametrize(("judges", "weights", "expected"), [
    # .3*13/3 + .5*14/3 + .2*11/3 = 4.36667; every criterion's std is sqrt(2)/3 = .4714.
    ("453 444 554", [0.3, 0.5, 0.2], (4.3667, True, 0.8114)),
    ("111 222", [0.4, 0.3, 0.3], (1.5, False, 0.8)),
])  # fmt: skip
def test_the_published_panels(judges: str, weights: list[float], expected: Any) -> None:
    score, passes, agreement = expected
    scores = [list(map(int, judge)) for judge in judges.split()]
    rating = evaluate_panel(scores, weights, 0.6, 5.0)
    assert rating.weighted_score == pytest.approx(score, abs=5e-5)
    assert rating.normalized_score == pytest.approx(score / 5, abs=5e-5)
    assert rating.pass_status == passes
    assert rating.judge_agreement == pytest.approx(agreement, abs=5e-5)


def test_a_single_judge_has_no_agreement_and_the_most_divided_panel_none_either() -> (
    None
):
    rating = evaluate_panel([[4, 3]], [0.5, 0.5], 0.7, 5)
    assert (rating.weighted_score, rating.normalized_score) == (3.5, 0.7)
    assert math.isnan(rating.judge_agreement)
    assert evaluate_panel([[0], [5], [0], [5]], [1], 0.5, 5).judge_agreement == 0.0


@given(st.data())
def test_the_order_of_the_judges_does_not_change_a_bit(data: st.DataObject) -> None:
    judges = data.draw(st.integers(2, 4))
    judge = st.lists(scores, min_size=2, max_size=2)
    ratings = data.draw(st.lists(judge, min_size=judges, max_size=judges))
    rated = {
        evaluate_panel(p, [0.3, 0.7], 0.5, 1.0) for p in itertools.permutations(ratings)
    }
    assert len(rated) == 1


def test_a_unanimous_panel_reaches_the_threshold_that_it_gives() -> None:
    # Ten times 0.1 x 3 sums to 2.9999999999999996 in floats.
    rating = evaluate_panel([[3] * 10, [3] * 10], [0.1] * 10, 0.6, 5)
    assert (rating.weighted_score, rating.pass_status) == (3.0, True)


def interval(rows: FloatArray, temperature: float = 0.5) -> Any:
    counts, chances = count_distribution(rows)
    return central_interval(aggregate_counts(counts, [temperature])[:, 0], chances)


def some_rows(seed: int, claims: int) -> FloatArray:
    """Probabilities of claims, some of them certain, some without all levels."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(5, 0.5), size=claims)
    if seed % 3 == 0:
        rows[0] = np.eye(5)[rng.integers(5)]
    if seed % 3 == 1:
        rows[:, 1:4] = 0.0
        rows /= rows.sum(axis=1, keepdims=True)
    return rows


@pytest.mark.parametrize("penalty", PENALTIES)
def test_exact_against_brute_force(penalty: Any) -> None:
    for claims, temperature in enumerate((0.1, 0.4, 0.5, 0.9), start=1):
        rows = some_rows(claims, claims)
        truth: dict[float, float] = defaultdict(float)
        for levels in itertools.product(range(5), repeat=claims):
            chance = math.prod(
                float(row[level]) for row, level in zip(rows, levels, strict=True)
            )
            words = [LEVELS[level] for level in levels]
            truth[aggregate(words, temperature, penalty=penalty)] += chance
        counts, chances = count_distribution(rows)
        scores = aggregate_counts(counts, [temperature], penalty=penalty)[:, 0]
        found: dict[float, float] = defaultdict(float)
        for score, chance in zip(scores, chances, strict=True):
            found[score] += chance
        assert found == pytest.approx(
            {s: chance for s, chance in truth.items() if chance}
        )
        low, high = central_interval(scores, chances)
        assert (
            sum(chance for score, chance in truth.items() if score < low)
            <= 0.025 + 1e-12
        )
        assert (
            sum(chance for score, chance in truth.items() if score > high)
            <= 0.025 + 1e-12
        )


def test_the_interval_is_the_narrowest_of_its_kind() -> None:
    # Scores 0 (.02), 1 (.98): 2 % lie below 1, which may be left out; 3 % may not.
    assert interval(np.array([[0.98, 0, 0, 0, 0.02]])) == (1.0, 1.0)
    assert interval(np.array([[0.97, 0, 0, 0, 0.03]])) == (0.0, 1.0)
    score = aggregate(["fully", "mostly", "minor"], 0.3)
    assert interval(np.eye(5)[[0, 1, 3]], 0.3) == (score, score)


def test_draws_stand_in_for_many_claims_and_are_near(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = some_rows(5, 12)
    exact = interval(rows)
    assert interval(rows[::-1]) == exact  # the order of the claims does not count
    monkeypatch.setattr(uncertainty, "MAX_VECTORS", 10)
    drawn = interval(rows)
    assert drawn == pytest.approx(exact, abs=0.03)
    assert interval(rows[::-1]) == drawn
    assert 0.0 < interval(some_rows(2, 240))[0] < 1.0


WORDS = ["fully", "mostly", "partial", "minor", "none", "none"]
ROW = np.array([count_levels(WORDS)])


def test_counts_at_two_levels() -> None:
    assert binary_counts(ROW).tolist() == [[2, 0, 0, 0, 4]]


def test_ablation_by_hand() -> None:
    # Weights 1, .9, .7, .3, 0, 0: mean 2.9/6; f = 1/3; at T = .9 the exponent is 10, alpha .6.
    result = ablation(ROW, 0.9)
    power_mean = ((1 + 0.9**10 + 0.7**10 + 0.3**10) / 6) ** 0.1
    kept = (2 / 3) ** 0.6
    assert (
        result["full"][0]
        == aggregate(WORDS, 0.9)
        == pytest.approx(power_mean * kept, abs=1e-12)
    )
    assert result["without_penalty"][0] == pytest.approx(power_mean, abs=1e-12)
    assert result["arithmetic"][0] == pytest.approx(2.9 / 6 * kept, abs=1e-12)
    # D: two ones of six; f counts all four zeros.
    assert result["binary"][0] == pytest.approx(
        (2 / 6) ** 0.1 * (2 / 6) ** 0.6, abs=1e-12
    )


def test_ablation_at_the_balanced_temperature_leaves_the_mean_as_it_is() -> None:
    # T = .5 has exponent 1: A and C are one formula there, and so have all ties in common.
    rows = [[a, b, c, d, e] for a, b, c, d, e in product(range(3), repeat=5)]
    result = ablation(rows, "balanced")
    assert (result["arithmetic"][1:] == result["full"][1:]).all()
    assert all(
        map(
            math.isnan,
            (result["full"][0], result["arithmetic"][0], result["binary"][0]),
        )
    )


def test_verdicts_of_frameworks_are_levels() -> None:
    levels = from_deepeval(["Yes", " borderline", "no", "idk"])
    assert levels == ["fully", "partial", "none", "partial"]


@pytest.mark.parametrize(("scores", "options", "expected"), [
    ([], {}, 0.0),
    ([0], {}, 0.0),
    ([1, 0.9, 0.7], {}, 0.8667),
    ([1, 0.25], {"temperature": 0.1 + 8 / 20.25 * 0.9}, 0.5),  # the geometric mean
    # Mean .5, half are 0; alpha = (n - 1)/4: 1/4 at n = 2, 3/4 at n = 4, then 1.
    ([1, 0], {}, 0.4204),
    ([1, 0] * 2, {}, 0.2973),
    ([1, 0] * 3, {}, 0.25),
    ([1, 0], {"penalty": 5}, 0.4204),  # without effect, as in the library
    # T = 2: exponent of T = 1 (12.25), alpha = 1.5 - 2 = -.5 at full ramp (n = 5, one 0).
    ([1, 1, 1, 1, 0], {"temperature": 2}, round(0.8 ** (1 / 12.25 - 0.5), 4)),
])  # fmt: skip
def test_score_agg_by_hand(
    scores: list[float], options: dict[str, float], expected: float
) -> None:
    assert score_agg(scores, **options) == expected


PROBABILITIES = st.floats(0.0, 1.0)


def test_a_probability_is_shared_by_its_neighbours() -> None:
    assert level_shares(0.95) == pytest.approx((0.5, 0.5, 0, 0, 0), abs=1e-12)
    assert level_shares(0.9) == (0, 1, 0, 0, 0)
    # A quarter of the way from .7 to .9.
    assert level_shares(0.75) == pytest.approx((0, 0.25, 0.75, 0, 0), abs=1e-12)
    for no_probability in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidValueError, match="p_yes must"):
            level_shares(no_probability)


@given(PROBABILITIES, PROBABILITIES, st.sampled_from(sorted(SCHEMES)))
def test_expected_weights_are_and_rise_with_the_probability(
    p: float, q: float, name: str
) -> None:
    assert sum(level_shares(p)) == pytest.approx(1.0, abs=1e-12)
    assert np.dot(level_shares(p), WeightScheme.DEFAULT.weights) == pytest.approx(
        p, abs=1e-12
    )
    low, high = (
        np.dot(level_shares(each), SCHEMES[name].weights) for each in sorted((p, q))
    )
    assert low <= high + 1e-12

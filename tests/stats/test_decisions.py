"""AUC, kappa and the alternative-annotator test: against scipy, plain loops and figures by hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.alternative_annotator import alternative_annotator
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.decisions import auc, decision_estimate, kappa

RNG = np.random.default_rng(5)
N = 60
GOOD = (RNG.random(N) < 0.6).astype(float)
SCORES: Any = np.round(np.clip(0.3 + 0.3 * GOOD + RNG.normal(0, 0.25, N), 0, 1), 1)
PASSES = (SCORES >= 0.5).astype(float)
PAIRS = (np.arange(N) // 2).tolist()
UNEVEN = np.repeat(np.arange(27), [6, 4, *[2] * 25]).tolist()


def plain_auc(scores: FloatArray, good: FloatArray) -> float:
    """The share of pairs in the right order, pair by pair."""
    ahead = [
        (one > other) + 0.5 * (one == other)
        for one, is_good in zip(scores, good, strict=True)
        for other, is_other_good in zip(scores, good, strict=True)
        if is_good and not is_other_good
    ]
    return float(np.mean(ahead))


def plain_kappa(one: FloatArray, other: FloatArray) -> float:
    agreed = np.mean(one == other)
    by_chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    return float((agreed - by_chance) / (1 - by_chance))


def hall(left_out: FloatArray, value: float, equal: float, level: float) -> Any:
    """The ends of a mean by its jackknife: Hall's t meets Student's quantile."""
    m = len(left_out)
    error = math.sqrt((m - 1) / m * np.sum((left_out - left_out.mean()) ** 2))
    a = stats.skew(-left_out) / math.sqrt(m) if equal >= 0.7 * m else 0.0
    q = stats.t.ppf((1 + level) / 2, equal - 1)

    def t_of(target: float) -> float:
        def apart(t: float) -> float:
            return float(t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6 - target)

        return float(optimize.brentq(apart, -60, 60, xtol=1e-14))

    below, above = t_of(q), -t_of(-q)
    if equal < m:
        below, above = max(below, q), max(above, q)
    return value - below * error, value + above * error


@pytest.mark.parametrize(
    "groups", [None, PAIRS, UNEVEN], ids=["alone", "groups", "uneven"]
)
@pytest.mark.parametrize(
    ("measure", "first", "of"),
    [(auc, SCORES, plain_auc), (kappa, PASSES, plain_kappa)],
)
def test_figures_and_intervals_are_those_of_a_plain_loop(
    measure: Any,
    first: FloatArray,
    of: Callable[[FloatArray, FloatArray], float],
    groups: list[int] | None,
) -> None:
    figure = decision_estimate(measure, first, GOOD, groups, level=0.9)
    codes = np.arange(N) if groups is None else np.array(groups)
    left_out = np.array(
        [of(first[codes != unit], GOOD[codes != unit]) for unit in np.unique(codes)]
    )
    equal = N**2 / np.sum(np.bincount(codes) ** 2)
    value = of(first, GOOD)
    low, high = hall(left_out, value, equal, 0.9)
    assert figure.value == pytest.approx(value, abs=1e-12)
    assert (figure.low, figure.high) == pytest.approx((low, high), abs=1e-9)
    assert (figure.n, figure.level) == (N, 0.9)


def test_auc_is_mann_and_whitneys_u() -> None:
    u = stats.mannwhitneyu(SCORES[GOOD == 1], SCORES[GOOD == 0]).statistic
    expected = u / (GOOD.sum() * (N - GOOD.sum()))
    assert auc(SCORES, GOOD) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_auc_knows_only_the_order_and_turns_round(pairs: Any) -> None:
    columns: FloatArray = np.array(pairs, dtype=np.float64)
    scores, good = columns.T
    area = auc(scores, good)
    if good.min() == good.max():
        assert math.isnan(area)
        return
    assert area == pytest.approx(plain_auc(scores, good), abs=1e-12)
    assert auc(2.0**scores, good) == pytest.approx(area, abs=1e-12)
    assert auc(-scores, good) == pytest.approx(1 - area, abs=1e-12)
    assert auc(scores, 1 - good) == pytest.approx(1 - area, abs=1e-12)


def test_samples_without_a_value_do_not_count_and_ends_stay_in_range() -> None:
    some: Any = [None, *SCORES]
    with_one_more = decision_estimate(auc, some, [1.0, *GOOD])
    assert repr(with_one_more) == repr(decision_estimate(auc, SCORES, GOOD))
    good = np.repeat([0.0, 1.0], 8)
    near = np.arange(16.0)
    near[[7, 8]] = near[[8, 7]]
    figure = decision_estimate(auc, near, good)
    assert 0.5 < figure.low < figure.value < figure.high <= 1.0


@pytest.mark.parametrize(("scores", "good", "why"), [
    ([0.1] * 5, [0, 1, 0, 1, 1], "it needs 10 samples, got 5"),
    (SCORES[:12], [1] * 10 + [0, 0], "all but 2 values are equal; at least 5 must differ"),
    (np.arange(20), [0] * 10 + [1] * 10, "it stays the same whichever sample is left out"),
])  # fmt: skip
def test_there_is_no_interval_where_none_can_be_trusted(
    scores: Any, good: Any, why: str
) -> None:
    figure = decision_estimate(auc, scores, good)
    assert figure.reason == why
    assert math.isnan(figure.low)
    assert not math.isnan(figure.value)


def test_wrong_columns_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"0\.5 is no level"):
        decision_estimate(kappa, [0.5] * 20, [1.0, 0.0] * 10)
    with pytest.raises(InvalidValueError, match="is_good must be 1 where"):
        decision_estimate(auc, [0.5] * 20, [0.5] * 20)
    with pytest.raises(InvalidValueError, match="different lengths"):
        decision_estimate(auc, [0.5] * 20, [1.0] * 19)
    with pytest.raises(InvalidValueError, match="level must be between 0 and 1"):
        decision_estimate(auc, SCORES, GOOD, level=95)
    assert math.isnan(decision_estimate(kappa, np.ones(3), np.ones(3)).value)


# The alternative-annotator test

TRUTH = RNG.integers(0, 5, 90) / 4
RATINGS = np.clip(TRUTH[:, None] + RNG.integers(-1, 2, (90, 4)) / 4, 0, 1)
RATINGS[RNG.random(RATINGS.shape) < 0.2] = np.nan
JUDGE = np.clip(TRUTH + RNG.normal(0, 0.15, 90), 0, 1)
JUDGE[3] = np.nan


def by_loop(epsilon: float) -> tuple[list[float], list[float]]:
    """Advantages and corrected p, sample by sample and rater by rater."""
    advantages, ps = [], []
    for rater in range(4):
        judge_wins, rater_wins = [], []
        for i in range(90):
            others = [
                RATINGS[i, k]
                for k in range(4)
                if k != rater and not math.isnan(RATINGS[i, k])
            ]
            if math.isnan(JUDGE[i]) or math.isnan(RATINGS[i, rater]) or not others:
                continue
            ours = math.sqrt(np.mean([(JUDGE[i] - r) ** 2 for r in others]))
            theirs = math.sqrt(np.mean([(RATINGS[i, rater] - r) ** 2 for r in others]))
            judge_wins.append(float(ours <= theirs + 1e-9))
            rater_wins.append(float(theirs <= ours + 1e-9))
        apart = np.array(rater_wins) - np.array(judge_wins)
        ps.append(stats.ttest_1samp(apart, epsilon, alternative="less").pvalue)
        advantages.append(float(np.mean(judge_wins)))
    # Benjamini and Yekutieli: the smallest bound of this and all larger p.
    order = np.argsort(ps)
    harmonic = sum(1 / k for k in range(1, 5))
    adjusted = [0.0] * 4
    smallest = 1.0
    for rank in range(4, 0, -1):
        smallest = min(smallest, ps[order[rank - 1]] * 4 * harmonic / rank)
        adjusted[order[rank - 1]] = smallest
    return advantages, adjusted


@pytest.mark.parametrize("epsilon", [0.1, 0.2])
def test_the_alternative_annotator_is_that_of_a_plain_loop(epsilon: float) -> None:
    advantages, ps = by_loop(epsilon)
    tests = alternative_annotator(JUDGE, RATINGS, epsilon=epsilon)
    assert tests.advantage.tolist() == pytest.approx(advantages, abs=1e-12)
    assert tests.p.tolist() == pytest.approx(ps, rel=1e-9)
    assert len(set(ps)) > 1
    turned = alternative_annotator(JUDGE, RATINGS[:, ::-1], epsilon=epsilon)
    assert turned.p[::-1].tolist() == pytest.approx(ps, rel=1e-9)


def test_groups_count_once_against_raters() -> None:
    judge, ratings = np.repeat(JUDGE, 3), np.repeat(RATINGS, 3, axis=0)
    alone = alternative_annotator(JUDGE, RATINGS)
    groups = np.repeat(np.arange(90), 3).tolist()
    grouped = alternative_annotator(judge, ratings, groups)
    assert grouped.p.tolist() == pytest.approx(alone.p.tolist(), rel=1e-9)
    assert (alternative_annotator(judge, ratings).p < alone.p).all()


def test_raters_with_few_samples_have_no_test() -> None:
    ratings = RATINGS.copy()
    ratings[29:, 0] = np.nan
    tests = alternative_annotator(JUDGE, ratings)
    assert np.isnan(tests.p).tolist() == [True, False, False, False]
    assert tests.n[0] < 30
    few = alternative_annotator(JUDGE[:20], RATINGS[:20])
    assert np.isnan(few.p).all()
    with pytest.raises(InvalidValueError, match="epsilon must be between 0 and 1"):
        alternative_annotator(JUDGE, RATINGS, epsilon=20)


def test_a_judge_far_off_wins_against_nobody_and_a_perfect_one_against_all() -> None:
    wrong = alternative_annotator(1 - TRUTH, RATINGS)
    assert (wrong.p > 0.05).all()
    mean = np.nanmean(RATINGS, axis=1)
    assert (alternative_annotator(mean, RATINGS).p < 0.05).all()

"""Means from few ratings and many scores, against a loop, by hand, and on data of known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.prediction_powered import PoweredMean


def some(n: int, size: int, seed: int, noise: float = 0.2) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    truth = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], size, p=[0.05, 0.05, 0.1, 0.2, 0.6])
    scores = np.clip(0.2 + 0.7 * truth + noise * rng.normal(size=size), 0, 1)
    return np.where(np.arange(size) < n, truth, np.nan), scores


def by_loop(
    ratings: FloatArray, scores: FloatArray, weights: list[float], groups: list[int]
) -> tuple[float, float, float, float]:
    """Value and interval, sample by sample, of data that make a slope above 0."""
    rated = [i for i in range(len(ratings)) if not math.isnan(ratings[i])]
    own = sorted({groups[i] for i in rated})
    w = {i: weights[i] for i in rated}
    scale = sum(w.values()) / sum(v * v for v in w.values())
    w = {i: v * scale for i, v in w.items()}
    mean = sum(w[i] * ratings[i] for i in rated) / sum(w.values())
    per = {g: [i for i in rated if groups[i] == g] for g in own}
    most = sum(sum(w[i] for i in per[g]) ** 2 for g in own) / sum(v * v for v in w.values())
    effect = sum(sum(w[i] * (ratings[i] - mean) for i in per[g]) ** 2 for g in own)
    effect /= sum((w[i] * (ratings[i] - mean)) ** 2 for i in rated)
    w = {i: v / min(max(effect, 1.0), most) for i, v in w.items()}
    units = min(sum(w.values()), len(own))
    points = [(ratings[i], scores[i], w[i], ("g", groups[i])) for i in rated]
    points += [(0.0, max(scores), 1.0, ("low", 0)), (1.0, min(scores), 1.0, ("high", 0))]
    total = sum(p[2] for p in points)
    y0 = sum(p[2] * p[0] for p in points) / total
    f0 = sum(p[2] * p[1] for p in points) / total
    yy = sum(p[2] * (p[0] - y0) ** 2 for p in points)
    ff = sum(p[2] * (p[1] - f0) ** 2 for p in points)
    yf = sum(p[2] * (p[0] - y0) * (p[1] - f0) for p in points)
    explained = yf * yf / (yy * ff)
    share = 1 - (1 - explained) / (explained * units)
    assert yf > 0 < share
    slope = share * yf / ff
    sums: dict[object, float] = {}
    parts: dict[object, float] = {}
    for y, f, weight, group in points:
        sums[group] = sums.get(group, 0) + weight * (y - y0 - slope * (f - f0)) / total
        parts[group] = parts.get(group, 0) + weight / total
    k = len(own) + 2
    variance = sum((sums[g] / (1 - parts[g])) ** 2 for g in sums) * (k - 1) / k
    variance *= (units + 1) / (units + 1 - share)
    f_mean = sum(scores) / len(scores)
    variance *= 1 + total * (share * (f_mean - f0)) ** 2 / ff
    away: dict[int, float] = {}
    for i in range(len(scores)):
        away[groups[i]] = away.get(groups[i], 0) + slope * (scores[i] - f_mean) / len(scores)
    variance += sum(v * v for v in away.values()) * len(away) / (len(away) - 1)
    variance += 2 * sum(sums["g", g] * away[g] for g in own)
    half = stats.t.ppf(0.975, units - 1 - share) * variance**0.5
    centre = y0 + slope * (f_mean - f0)
    plain = sum(w[i] * ratings[i] for i in rated) / sum(w.values())
    drawn = sum(w[i] * scores[i] for i in rated) / sum(w.values())
    return plain + slope * (f_mean - drawn), centre - half, centre + half, slope


def test_single_samples_as_a_loop_has_it() -> None:
    ratings, scores = some(60, 400, 1)
    found = PoweredMean(ratings, scores)
    one = found.estimate()
    expected = by_loop(ratings, scores, [1.0] * 400, list(range(400)))
    assert (one.value, one.low, one.high, found.slope) == pytest.approx(expected, abs=1e-12)


def test_weights_and_groups_as_a_loop_has_them() -> None:
    ratings, scores = some(90, 600, 2)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, 600).tolist()
    groups = [i // 4 if i < 300 else i // 3 for i in range(600)]
    found = PoweredMean(ratings, scores, weights=weights, groups=groups)
    one = found.estimate()
    expected = by_loop(ratings, scores, weights, groups)
    assert (one.value, one.low, one.high, found.slope) == pytest.approx(expected, abs=1e-12)
    assert found.clusters == 23


def test_all_passed_by_hand() -> None:
    # Twelve labels with the two added ones, 11 of them 1: mean 11/12, variance of the mean
    # 11/12 * 1/12 / 11 = 1/144; Student's t has 9 degrees of freedom.
    found = PoweredMean([1.0] * 10 + [math.nan] * 90, np.linspace(0, 1, 100))
    one = found.estimate()
    half = stats.t.ppf(0.975, 9) / 12
    assert (one.value, one.high, found.slope) == (1.0, 1.0, 0.0)
    assert one.low == pytest.approx(11 / 12 - half, abs=1e-12)
    assert one == found.alone()
    assert found.worth == 10


def test_with_many_ratings_it_is_the_regression_estimator() -> None:
    ratings, scores = some(5000, 50_000, 4)
    rated = np.isfinite(ratings)
    line = stats.linregress(scores[rated], ratings[rated])
    expected = ratings[rated].mean() + line.slope * (scores.mean() - scores[rated].mean())
    found = PoweredMean(ratings, scores)
    # PPI++ (Angelopoulos, Duchi and Zrnic 2023), over the samples without a rating: the slope is
    # covariance / variance / (1 + n / N), and the estimate the same.
    assert found.slope == pytest.approx(line.slope, rel=0.01)
    assert found.estimate().value == pytest.approx(expected, abs=2e-5)
    y, f, rest = ratings[rated], scores[rated], scores[~rated]
    power = np.cov(y, f)[0, 1] / scores.var() / (1 + len(y) / len(rest))
    assert found.estimate().value == pytest.approx(
        np.mean(y - power * f) + power * rest.mean(), abs=2e-4
    )
    variance = np.var(y - power * f, ddof=1) / len(y) + power**2 * rest.var(ddof=1) / len(rest)
    assert found.estimate().width == pytest.approx(2 * 1.96 * variance**0.5, rel=0.02)


def test_another_scale_stretches_everything() -> None:
    ratings, scores = some(40, 300, 5)
    one = PoweredMean(ratings, scores).estimate()
    other = PoweredMean(1 + 4 * ratings, 10 * scores, scale=(1, 5)).estimate()
    assert [other.value, other.low, other.high] == pytest.approx(
        [1 + 4 * one.value, 1 + 4 * one.low, 1 + 4 * one.high], abs=1e-12
    )


def test_scores_that_say_nothing_cost_nothing() -> None:
    ratings, _ = some(30, 300, 6)
    for scores in (np.full(300, 0.7), np.random.default_rng(7).random(300)):
        found = PoweredMean(ratings, scores)
        assert found.estimate().width <= found.alone().width


def test_ratings_that_come_twice_in_a_group_count_once() -> None:
    ratings, scores = some(40, 200, 8)
    once = PoweredMean(ratings, scores)
    twice = PoweredMean(
        np.repeat(ratings, 2), np.repeat(scores, 2), groups=np.repeat(np.arange(200), 2).tolist()
    )
    assert twice.labels == 80
    assert twice.clusters == 40
    for name in ("value", "low", "high"):
        one, two = getattr(once.estimate(), name), getattr(twice.estimate(), name)
        assert one == pytest.approx(two, abs=1e-12)


def test_a_difference_of_independent_systems() -> None:
    first = PoweredMean(*some(60, 400, 9))
    second = PoweredMean(*some(30, 200, 10))
    found = first.less(second)
    assert found.value == first.estimate().value - second.estimate().value
    # Wider than either, narrower than both together.
    widths = [each.estimate().width for each in (first, second)]
    assert max(widths) < found.width < sum(widths)
    turned = second.less(first)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-12)


def test_what_both_systems_share_cancels_out() -> None:
    ratings, scores = some(60, 400, 11)
    groups = [f"q{i}" for i in range(400)]
    rng = np.random.default_rng(12)
    close = np.clip(ratings - 0.1 * (rng.random(400) < 0.3), 0, 1)
    one = PoweredMean(ratings, scores, groups=groups)
    paired = one.less(PoweredMean(close, scores, groups=groups))
    apart = PoweredMean(ratings, scores).less(PoweredMean(close, scores))
    assert paired.value == pytest.approx(apart.value, abs=1e-12)
    assert paired.width < 0.8 * apart.width


def test_too_few_have_no_interval() -> None:
    ratings, scores = some(9, 100, 13)
    one = PoweredMean(ratings, scores).estimate()
    assert (one.reason, math.isnan(one.low)) == ("9 samples: an interval needs 10", True)
    ratings, scores = some(40, 100, 13)
    groups = [i // 5 for i in range(100)]
    grouped = PoweredMean(ratings, scores, groups=groups)
    assert grouped.reason == "8 groups: an interval needs 10"
    assert grouped.less(PoweredMean(ratings, scores)).reason == grouped.reason


def test_rated_samples_that_were_picked_are_seen() -> None:
    ratings, scores = some(400, 400, 14)
    assert abs(PoweredMean(np.where(np.arange(400) < 60, ratings, np.nan), scores).drift) < 3
    low = np.argsort(scores)[:60]
    picked = np.full(400, np.nan)
    picked[low] = ratings[low]
    assert PoweredMean(picked, scores).drift < -5


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"scale": (0, 0.5)}, r"the rating 1 lies outside the scale from 0 to 0\.5"),
        ({"scale": (1, 0)}, "the scale is"),
        ({"weights": [0.0] * 100}, "weights are above 0"),
        ({"weights": [1.0]}, "different lengths"),
        ({"groups": ["a"]}, "1 groups for 100 samples"),
    ],
)
def test_what_is_refused(more: dict[str, object], said: str) -> None:
    ratings, scores = some(20, 100, 15)
    with pytest.raises(InvalidValueError, match=said):
        PoweredMean(ratings, scores, **more)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InvalidValueError, match="no sample has a score and a human rating"):
        PoweredMean([math.nan] * 100, scores)
    found = PoweredMean(ratings, scores)
    with pytest.raises(InvalidValueError, match="give both the same scale"):
        found.less(PoweredMean(ratings, scores, scale=(0, 2)))
    with pytest.raises(InvalidValueError, match="level"):
        found.estimate(1.0)


@pytest.mark.parametrize("n", [10, 30, 100])
@pytest.mark.parametrize("noise", [0.05, 5.0])
def test_intervals_cover_the_truth(n: int, noise: float) -> None:
    rng = np.random.default_rng(16)
    runs, hits, width, alone = 400, 0, 0.0, 0.0
    for _ in range(runs):
        truth = (rng.random(1000) < 0.9) * 1.0
        scores = truth + noise * rng.normal(size=1000)
        found = PoweredMean(np.where(np.arange(1000) < n, truth, np.nan), scores)
        one = found.estimate()
        hits += one.low <= 0.9 <= one.high
        width, alone = width + one.width, alone + found.alone().width
    # .93 less three standard errors of 400 runs; benchmarks/estimate.py has the whole grid.
    assert hits / runs > 0.93 - 0.039
    assert width <= (1.02 if noise > 1 else 0.97) * alone


@pytest.mark.parametrize(("n", "most"), [(30, 0.4), (300, 0.1)])
def test_the_slope_of_few_ratings_biases_by_a_part_of_a_standard_error(n: int, most: float) -> None:
    rng = np.random.default_rng(n)
    values = []
    for _ in range(1000):
        truth = (rng.random(1000) < 0.95) * 1.0  # and a judge that says the same
        found = PoweredMean(np.where(np.arange(1000) < n, truth, np.nan), truth)
        values.append(found.estimate().value)
    bias = (np.mean(values) - 0.95) / np.std(values)
    # .35 and .02 in 3000 runs; ratings alone are unbiased.
    assert abs(bias) < most + 2 / math.sqrt(1000)

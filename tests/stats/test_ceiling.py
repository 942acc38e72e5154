"""Ceilings of several raters: against scipy, the theory of parallel raters, and their coverage."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.ceiling import Correlated, ceiling, mean_rating
from tcva_adapters.stats.checks import FloatArray

NAN = math.nan


def judged(n: int, raters: int = 3, *, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Ratings from 1 to 5 by raters of one error, and a method with tied scores in [0, 1]."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 1))
    ratings = np.clip(np.round((truth + 0.8 * rng.normal(size=(n, raters))) * 1.2 + 3.5), 1, 5)
    method = 0.7 * truth + 0.7 * rng.normal(size=(n, 1))
    return ratings, np.clip(np.round(method * 4) / 8 + 0.6, 0, 1)


@pytest.mark.parametrize("measure", ["spearman", "pearson"])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_equal_to_a_plain_loop(measure: Correlated, gaps: float) -> None:
    ratings, method = judged(60)
    rng = np.random.default_rng(1)
    ratings[rng.random(ratings.shape) < gaps] = NAN
    method[rng.random(method.shape) < gaps] = NAN
    scores = method[:, 0]
    function = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[measure]

    def r(first: FloatArray, second: FloatArray) -> float:
        both = np.isfinite(first) & np.isfinite(second)
        return float(function(first[both], second[both]).statistic)

    rated = np.isfinite(ratings).any(axis=1)
    ratings, scores = ratings[rated], scores[rated]
    pairs = [r(ratings[:, i], ratings[:, j]) for i, j in combinations(range(3), 2)]
    known = np.isfinite(ratings)
    shared = [(known[:, i] & known[:, j]).sum() for i, j in combinations(range(3), 2)]
    between = float(np.average(pairs, weights=shared))
    k = stats.hmean(np.isfinite(ratings).sum(axis=1))
    reliability = k * between / (1 + (k - 1) * between)
    others = [mean_rating(np.delete(ratings, j, axis=1)) for j in range(3)]
    by = [(known[:, j] & np.isfinite(others[j])).sum() for j in range(3)]
    one_more = np.average([r(ratings[:, j], others[j]) for j in range(3)], weights=by)
    found = ceiling(measure, ratings, scores[:, None])
    assert [pair.value for pair in found.pairs] == pytest.approx(pairs, abs=1e-12)
    assert found.between == pytest.approx(between, abs=1e-12)
    assert found.reliability == pytest.approx(reliability, abs=1e-12)
    assert found.best.value == pytest.approx(math.sqrt(reliability), abs=1e-12)
    assert found.one_more.value == pytest.approx(one_more, abs=1e-12)
    (one,) = found.methods
    with_mean = r(scores, mean_rating(ratings))
    assert one.with_mean == pytest.approx(with_mean, abs=1e-12)
    assert one.corrected.value == pytest.approx(with_mean / math.sqrt(reliability), abs=1e-12)
    beside = [r(scores, np.where(np.isfinite(ratings[:, j]), others[j], NAN)) for j in range(3)]
    by = [(known[:, j] & np.isfinite(others[j]) & np.isfinite(scores)).sum() for j in range(3)]
    as_rater = np.average(beside, weights=by)
    assert one.as_rater == pytest.approx(as_rater, abs=1e-12)
    assert one.ahead.value == pytest.approx(as_rater - one_more, abs=1e-12)


@pytest.mark.slow
def test_the_theory_of_parallel_raters() -> None:
    # Truth and errors of variance 1: two raters correlate by 1/2, the mean of four by
    # 1/sqrt(1 + 1/4) with the truth, a rater with the mean of three others by
    # 1/sqrt(2 (1 + 1/3)); a method with error variance 1 by 1/sqrt(2) with the truth.
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(40_000, 1))
    found = ceiling(
        "pearson",
        truth + rng.normal(size=(40_000, 4)),
        np.hstack([truth, truth + rng.normal(size=(40_000, 1))]),
    )
    assert found.between == pytest.approx(0.5, abs=0.01)
    assert found.best.value == pytest.approx(1 / math.sqrt(1.25), abs=0.01)
    assert found.one_more.value == pytest.approx(1 / math.sqrt(8 / 3), abs=0.01)
    assert found.methods[0].corrected.value == pytest.approx(1.0, abs=0.01)
    assert found.methods[1].corrected.value == pytest.approx(1 / math.sqrt(2), abs=0.01)
    # A method as good as a rater is not ahead of one; the truth is.
    assert found.methods[1].ahead.low < 0.01
    assert found.methods[0].ahead.low > 0.2


@pytest.mark.slow
def test_intervals_cover() -> None:
    ratings, method = judged(40_000, seed=3)
    whole = ceiling("spearman", ratings, method)
    truth = [whole.best.value, whole.one_more.value, whole.methods[0].corrected.value]
    hits = []
    for seed in range(200):
        ratings, method = judged(60, seed=100 + seed)
        found = ceiling("spearman", ratings, method)
        ends = [found.best, found.one_more, found.methods[0].corrected]
        hits.append(
            [each.low <= value <= each.high for each, value in zip(ends, truth, strict=True)]
        )
    # Three standard errors of 200 data sets below 0.95.
    assert (np.mean(hits, axis=0) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 200)).all()


def test_groups_and_blocks() -> None:
    ratings, method = judged(50)
    alone = ceiling("spearman", ratings, method)
    each = ceiling("spearman", ratings, method, groups=range(50))
    assert (alone.best.low, alone.best.high) == (each.best.low, each.best.high)
    assert alone.methods[0].ahead.low == each.methods[0].ahead.low
    assert (alone.best.clusters, each.best.clusters) == (None, 50)
    twice = [i // 2 for i in range(100)]
    copied = ceiling("pearson", np.repeat(ratings, 2, 0), np.repeat(method, 2, 0), groups=twice)
    once = ceiling("pearson", ratings, method)
    assert (copied.best.low, copied.best.high) == pytest.approx((once.best.low, once.best.high))
    sizes = [30] * 3 + [3] * 30
    ratings, method = judged(sum(sizes))
    groups = np.repeat(np.arange(33), sizes)
    uneven = ceiling("pearson", ratings, method, groups=groups.tolist())
    left = [
        ceiling("pearson", ratings[groups != group], method[groups != group]).best.value
        for group in range(33)
    ]
    # Student's t of so many groups of one size as these amount to.
    reach = stats.t.ppf(0.975, 180**2 / (3 * 900 + 30 * 9) - 1)
    wide = 2 * reach * (32 * np.arctanh(left)).std(ddof=1) / math.sqrt(33)
    found = uneven.best
    assert np.arctanh(found.high) - np.arctanh(found.low) == pytest.approx(wide, rel=1e-9)


def test_where_there_is_nothing_to_correct_by() -> None:
    few = ceiling("spearman", *judged(12))
    assert few.best.reason == "12 samples: an interval needs 30"
    assert math.isnan(few.best.low)
    assert not math.isnan(few.best.value)
    apart = ceiling("spearman", [[1, 5], [2, 4], [3, 3], [4, 2], [5, 1]] * 8, np.zeros((40, 0)))
    assert apart.between == pytest.approx(-1.0, abs=1e-12)
    assert math.isnan(apart.reliability)
    assert (
        apart.best.reason == "the raters do not agree beyond chance: there is nothing to correct by"
    )
    alone = ceiling("spearman", [[1, NAN], [NAN, 2]], [[0.5], [NAN]])
    assert (alone.samples, alone.several, alone.pairs[0].n) == (2, 0, 0)
    assert math.isnan(alone.between)
    for ratings, message in (([[1.0]], "1 rater; a ceiling"), ([[1.0, 2.0]] * 2, "different")):
        with pytest.raises(InvalidValueError, match=message):
            ceiling("spearman", ratings, [[0.5]])
    with pytest.raises(InvalidValueError, match="no measure 'mae'"):
        ceiling("mae", [[1.0, 2.0]], [[0.5]])  # type: ignore[arg-type]  # the point


def test_a_rater_of_two_samples_hardly_counts_and_copies_have_a_reason() -> None:
    ratings, method = judged(40)
    two = ratings[:, :2]
    third = np.where(np.arange(40) < 2, two[:, 0], NAN)
    plain = ceiling("pearson", two, method)
    assert abs(ceiling("pearson", np.c_[two, third], method).between - plain.between) < 0.06
    same = ceiling("pearson", np.c_[two[:, 0], two[:, 0]], method)
    assert same.best.reason == "the raters never differ: there is nothing to correct for"
    assert np.isnan([same.best.low, same.methods[0].corrected.low]).all()

"""Several raters, judges or repeats: against plain loops over scipy, and derived by hand."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.raters import (
    independence,
    mean_rating,
    reliability,
    variance_components,
)

NAN = math.nan


def judged(n: int, raters: int = 3) -> tuple[FloatArray, FloatArray]:
    """Ratings from 1 to 5 by raters of one error, and two methods."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(n, 1))
    ratings = np.clip(np.round((truth + 0.8 * rng.normal(size=(n, raters))) * 1.2 + 3.5), 1, 5)
    ratings[rng.random(ratings.shape) < 0.2] = NAN
    methods = truth + np.array([0.2, 1.0]) * rng.normal(size=(n, 2))
    methods[rng.random(methods.shape) < 0.1] = NAN
    return ratings, methods


def by_loop(of: Any, ratings: FloatArray, methods: FloatArray) -> list[float]:
    """The square root of the reliability, and each method's corrected correlation."""

    def r(first: FloatArray, second: FloatArray) -> tuple[float, int]:
        both = np.isfinite(first) & np.isfinite(second)
        return float(of(first[both], second[both]).statistic), int(both.sum())

    values, sizes = zip(*(r(*pair) for pair in combinations(ratings.T, 2)), strict=True)
    between = np.average(values, weights=sizes)
    k = stats.hmean(np.isfinite(ratings).sum(axis=1))
    best = math.sqrt(k * between / (1 + (k - 1) * between))
    return [best, *(r(column, np.nanmean(ratings, axis=1))[0] / best for column in methods.T)]


@pytest.mark.parametrize("groups", [None, np.repeat(range(30), 2)], ids=["alone", "groups"])
@pytest.mark.parametrize(
    ("measure", "of"), [("spearman", stats.spearmanr), ("pearson", stats.pearsonr)]
)
def test_reliability_is_that_of_a_loop(measure: Any, of: Any, groups: Any) -> None:
    ratings, methods = judged(61)
    rated = np.isfinite(ratings).any(axis=1)
    ratings, methods = ratings[rated][:60], methods[rated][:60]
    codes = np.arange(60) if groups is None else groups
    found = reliability(
        measure, ratings, methods, groups=None if groups is None else codes.tolist()
    )
    values = by_loop(of, ratings, methods)
    estimates = [found.best, *found.corrected]
    assert [each.value for each in estimates] == pytest.approx(values, abs=1e-12)
    assert found.value == pytest.approx(values[0] ** 2, abs=1e-12)
    assert found.with_mean[1] == pytest.approx(values[2] * values[0], abs=1e-12)
    left = np.array(
        [by_loop(of, ratings[codes != i], methods[codes != i]) for i in np.unique(codes)]
    )
    m = len(left)
    # The first method comes out close to 1: no Fisher's z.
    z = np.arctanh(left[:, 0])
    reach = stats.t.ppf(0.975, m - 1) * math.sqrt((m - 1) * z.var())
    ends = math.tanh(math.atanh(values[0]) - reach), math.tanh(math.atanh(values[0]) + reach)
    assert (found.best.low, found.best.high) == pytest.approx(ends, abs=1e-10)


def test_reliability_that_there_is_none_of() -> None:
    rng = np.random.default_rng(1)
    ratings, methods = rng.normal(size=(60, 2)), rng.normal(size=(60, 1))
    ratings[:, 1] -= ratings[:, 0]
    found = reliability("pearson", ratings, methods)
    assert math.isnan(found.value)
    assert "beyond chance" in found.corrected[0].reason
    same = reliability("pearson", np.repeat(ratings[:, :1], 2, axis=1), methods)
    assert same.value == pytest.approx(1.0, abs=1e-12)
    assert "never differ" in same.best.reason
    # Two samples alone tell the raters apart, or one alone the method: without it nothing does.
    bare = np.column_stack([np.where(np.arange(60) < 1, 1.0, 0.0), methods[:, 0]])
    found = reliability("pearson", ratings[:, :1] + [[0.0, 0.0]] + 0.1 * methods * [[0, 1]], bare)
    assert "undefined" in found.corrected[0].reason
    few = reliability("spearman", *judged(12))
    assert "it needs 30 " in few.best.reason
    with pytest.raises(InvalidValueError, match="1 rater"):
        reliability("spearman", ratings[:, :1], methods)
    assert mean_rating([[1.0, 0.0], [0.5, NAN], [NAN, NAN]]).tolist()[:2] == [0.5, 0.5]


@pytest.mark.parametrize("against", ["scores", "errors"])
def test_judges_that_err_alike_are_worth_fewer(against: str) -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(size=200)
    rest = human[:, None] + rng.normal(size=(200, 1)) + rng.normal(size=(200, 3))
    # One judge does not vary, and one sample lacks a score.
    scores = np.column_stack([np.vstack([rest, [NAN, 1, 2]]), np.full(201, 0.5)])
    found = independence(scores, np.append(human, 0.0) if against == "errors" else None)
    if against == "errors":
        lines = [stats.linregress(human, column) for column in rest.T]
        rest = rest - np.column_stack([line.intercept + line.slope * human for line in lines])
    r = np.mean([stats.pearsonr(*pair).statistic for pair in combinations(rest.T, 2)])
    assert (found.judges, found.samples, found.varying) == (4, 200, 3)
    assert found.correlation == pytest.approx(r, abs=1e-12)
    assert found.effective == pytest.approx(3 / (1 + 2 * r), abs=1e-12)


def test_judges_that_say_nothing() -> None:
    found = independence(np.full((40, 3), 0.5))
    assert (found.varying, math.isnan(found.correlation), math.isnan(found.effective)) == (
        0,
        True,
        True,
    )
    opposed = np.arange(30.0)
    assert independence(np.column_stack([opposed, -opposed])).effective == 2.0
    assert independence([[0.5, 0.6]]).samples == 1


def test_variance_components_by_hand() -> None:
    # Samples (1, 2), (3, 5, 7), (4): means 1.5, 5 and 4; N = 6, k = 3.
    # within: (.25 + .25 + 4 + 0 + 4 + 0) / (6 - 3) = 8.5 / 3 = 17/6
    # between, with m = 22/6: (2 (13/6)^2 + 3 (4/3)^2 + (1/3)^2) / 2 = 89/12
    # n0 = (6 - 14/6) / 2 = 11/6; sample: (89/12 - 34/12) / (11/6) = (55/12) (6/11) = 5/2
    # The harmonic mean of 2, 3 and 1 is 3 / (1/2 + 1/3 + 1) = 18/11.
    # standard error: (5/2 + (17/6) (11/18)) / 3 = (457/108) / 3 = 457/324
    found = variance_components([[1.0, 2.0, NAN], [3.0, 5.0, 7.0], [NAN, NAN, 4.0]])
    assert (found.samples, found.scores) == (3, 6)
    exact = [3.5, 17 / 6, 5 / 2, 18 / 11, math.sqrt(457 / 324), math.sqrt(17 / 6 * 11 / 18 / 3)]
    values = [found.mean, found.judge, found.sample, found.repeats]
    values += [found.standard_error, found.judge_error]
    assert values == pytest.approx(exact, rel=1e-12)


def test_variance_components_of_little() -> None:
    nothing = variance_components(np.full((2, 2), NAN))
    assert nothing.samples == 0
    assert math.isnan(nothing.mean)
    once = variance_components([[1.0], [3.0]])
    assert (once.mean, math.isnan(once.judge), math.isnan(once.standard_error)) == (2.0, True, True)
    # Means that lie closer together than the judge's noise explains.
    assert variance_components([[0.0, 1.0], [1.0, 0.0]]).sample == 0.0

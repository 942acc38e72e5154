"""Krippendorff's alpha and Cohen's kappa: published values, and the definitions as plain loops."""

import math
from collections import Counter
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.alpha import ScaleKind, krippendorff_alpha
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.kappa import weighted_kappa
from tcva_adapters.stats.raters import (
    independence,
    mean_rating,
    reliability,
    variance_components,
)

NAN = math.nan

# Krippendorff, Computing Krippendorff's alpha-reliability (2011), example C: four observers, twelve
# units, values missing.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
# Answers of 91 married couples, husbands by wives (Hout, Duncan and Sobel 1987, in Agresti 1990).
# Published: kappa 0.1293, with linear weights 0.2374 (R package vcd, documentation of Kappa).
COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]


def by_pairs(table: FloatArray, scale: ScaleKind) -> float:
    """The definition, pair by pair."""
    units = [[v for v in column if not math.isnan(v)] for column in table.T]
    units = [unit for unit in units if len(unit) > 1]
    every = [v for unit in units for v in unit]
    used = Counter(every)

    @cache
    def distance(a: float, b: float) -> float:
        if scale == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(number for v, number in used.items() if low <= v <= high)
        return (between - (used[a] + used[b]) / 2) ** 2

    seen = sum(
        distance(a, b) / (len(u) - 1) for u in units for a, b in permutations(u, 2)
    )
    apart = sum(distance(a, b) for a, b in permutations(every, 2)) / (len(every) - 1)
    return 1 - seen / apart if apart else NAN


def test_the_published_values() -> None:
    assert krippendorff_alpha(PUBLISHED).value == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(PUBLISHED, "interval").value == pytest.approx(
        0.849, abs=5e-4
    )
    assert krippendorff_alpha(PUBLISHED).n == 11


def test_kappa_is_that_of_a_plain_loop_over_couples() -> None:
    counts = np.array(COUPLES)
    seen = by_chance = 0.0
    for i, j in product(range(len(counts)), repeat=2):
        seen += (i - j) ** 2 * counts[i, j]
        by_chance += (i - j) ** 2 * counts[i].sum() * counts[:, j].sum() / counts.sum()
    husbands, wives = np.repeat(np.argwhere(counts), counts[counts > 0], axis=0).T
    kappa = weighted_kappa(husbands, wives, levels=4)
    assert kappa == pytest.approx(1 - seen / by_chance, abs=1e-12)


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.5, 4.0, NAN]), min_size=3, max_size=3),
        min_size=1,
        max_size=9,
    ),
    st.sampled_from(["ordinal", "interval"]),
)
def test_equal_to_the_definition(units: list[list[float]], scale: ScaleKind) -> None:
    table = np.array(units).T
    found = krippendorff_alpha(table, scale).value
    assert found == pytest.approx(by_pairs(table, scale), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("scale", ["ordinal", "interval"])
def test_the_interval_of_unequal_groups_by_a_loop(scale: ScaleKind) -> None:
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(26), [9] * 3 + [3] * 23)
    table = np.round(rng.normal(size=(2, 96)) + 2 * rng.normal(size=26)[groups])
    without = np.array(
        [by_pairs(table[:, groups != group], scale) for group in range(26)]
    )
    pseudo = 26 * math.log(1 - by_pairs(table, scale)) - 25 * np.log(1 - without)
    # 96 ** 2 / (3 * 9 ** 2 + 23 * 3 ** 2) groups of one size
    reach = stats.t.ppf(0.975, 96**2 / 450 - 1) * pseudo.std(ddof=1) / math.sqrt(26)
    found = krippendorff_alpha(table, scale, groups=groups.tolist())
    ends = 1 - math.exp(pseudo.mean() + reach), 1 - math.exp(pseudo.mean() - reach)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-10)
    assert (found.n, found.groups) == (96, 26)


@pytest.mark.slow
def test_many_units_are_left_out_in_parts() -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=3000)
    found = krippendorff_alpha(truth + rng.normal(size=(2, 3000)), "interval")
    # Of normal ratings the error of a correlation is (1 - r^2) / sqrt(n).
    assert found.high - found.low == pytest.approx(
        2 * 1.96 * 0.75 / math.sqrt(3000), rel=0.1
    )


def test_alpha_without_an_interval() -> None:
    # On the only unit that both rated they say the same: there is nothing to tell from chance.
    for table in ([[0.0, 4.0], [0.0, NAN]], [[0.0, NAN], [NAN, 4.0]]):
        assert math.isnan(krippendorff_alpha(table).value)
    assert krippendorff_alpha(np.empty((2, 0))).n == 0
    perfect = krippendorff_alpha(np.tile(np.arange(50.0) % 5, (2, 1)))
    assert perfect.value == 1.0
    assert "differ on a single sample" in perfect.reason
    # Without the one unit on which they differ, all ratings are the same.
    one_apart = np.ones((2, 60))
    one_apart[1, 0] = 2.0
    assert "differ on a single sample" in krippendorff_alpha(one_apart).reason
    assert "not defined" in krippendorff_alpha(np.ones((2, 50))).reason
    assert "needs 50" in krippendorff_alpha(PUBLISHED).reason
    grouped = krippendorff_alpha(np.ones((2, 30)), groups=[*range(15)] * 2)
    assert grouped.reason == "it needs 20 groups, got 15 (effectively 15.0)"


def test_kappa_by_hand() -> None:
    # Rows 1, 1, 1 and columns 2, 0, 1 of 3 items: observed 0 + 1 + 0 = 1 squared level; expected
    # by chance (1/3)(0*2 + 4*1 + 1*2 + 1*1 + 4*2 + 0*1) = 15/3 = 5; kappa = 1 - 1/5.
    assert weighted_kappa([0, 1, 2], [0, 0, 2], levels=3) == pytest.approx(
        0.8, abs=1e-12
    )
    # Two levels need no weights: observed .7, by chance .5: (.7 - .5) / .5
    one, other = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], axis=0).T
    assert weighted_kappa(one, other, levels=2) == pytest.approx(0.4, abs=1e-12)
    # Items that either left out do not count; what chance explains is undefined.
    found = weighted_kappa([0, NAN, 1, 2], [0, 2, NAN, 0], levels=3)
    assert found == weighted_kappa([0, 2], [0, 0], levels=3)
    assert math.isnan(weighted_kappa([1, 1], [1, 1], levels=3))
    assert math.isnan(weighted_kappa([], [], levels=3))


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidValueError, match="'ratio'"):
        krippendorff_alpha([[1], [2]], "ratio")  # type: ignore[arg-type]  # the point
    with pytest.raises(InvalidValueError, match=r"5\.0"):
        weighted_kappa([5], [0], levels=5)


def judged(n: int, raters: int = 3) -> tuple[FloatArray, FloatArray]:
    """Ratings from 1 to 5 by raters of one error, and two methods."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(n, 1))
    ratings = np.clip(
        np.round((truth + 0.8 * rng.normal(size=(n, raters))) * 1.2 + 3.5), 1, 5
    )
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
    return [
        best,
        *(r(column, np.nanmean(ratings, axis=1))[0] / best for column in methods.T),
    ]


@pytest.mark.parametrize(
    "groups", [None, np.repeat(range(30), 2)], ids=["alone", "groups"]
)
@pytest.mark.parametrize(
    ("measure", "of"), [("spearman", stats.spearmanr), ("pearson", stats.pearsonr)]
)
def test_reliability_is_that_of_a_loop(measure: Any, of: Any, groups: Any) -> None:
    ratings, methods = judged(61)
    rated = np.isfinite(ratings).any(axis=1)
    ratings, methods = ratings[rated][:60], methods[rated][:60]
    codes = np.arange(60) if groups is None else groups
    given = None if groups is None else codes.tolist()
    found = reliability(measure, ratings, methods, groups=given)
    values = by_loop(of, ratings, methods)
    estimates = [found.best, *found.corrected]
    assert [each.value for each in estimates] == pytest.approx(values, abs=1e-12)
    assert found.value == pytest.approx(values[0] ** 2, abs=1e-12)
    assert found.with_mean[1] == pytest.approx(values[2] * values[0], abs=1e-12)
    left = np.array(
        [by_loop(of, ratings[codes != i], methods[codes != i]) for i in set(codes)]
    )
    m = len(left)
    # The first method comes out close to 1: no Fisher's z.
    z = np.arctanh(left[:, 0])
    reach = stats.t.ppf(0.975, m - 1) * math.sqrt((m - 1) * z.var())
    ends = (
        math.tanh(math.atanh(values[0]) - reach),
        math.tanh(math.atanh(values[0]) + reach),
    )
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
    found = reliability(
        "pearson", ratings[:, :1] + [[0.0, 0.0]] + 0.1 * methods * [[0, 1]], bare
    )
    assert found.corrected[0].reason
    few = reliability("spearman", *judged(12))
    assert "30" in few.best.reason
    with pytest.raises(InvalidValueError, match="raters, got 1"):
        reliability("spearman", ratings[:, :1], methods)
    assert mean_rating([[1.0, 0.0], [0.5, NAN], [NAN, NAN]]).tolist()[:2] == [0.5, 0.5]


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_ratings_at_one_end_of_the_scale_do_not_show_what_can_be_reached(
    end: float,
) -> None:
    """Of 120 ratings 81 are at the end, or 80, which are two thirds."""
    raters = np.zeros((60, 2))
    raters[:18], raters[18:22, 0] = 1.0, 1.0
    scores = np.arange(60.0)[:, None]
    fewer = reliability("spearman", abs(end - raters), scores)
    assert not fewer.best.reason
    raters[17, 1] = 0.0
    found = reliability("spearman", abs(end - raters), scores)
    assert "68 % of the ratings are at one end" in found.best.reason
    assert found.corrected[0].reason == found.best.reason
    assert np.isnan([found.value, found.best.value, found.corrected[0].value]).all()
    mean = abs(end - raters).mean(axis=1)
    rho = stats.spearmanr(scores[:, 0], mean).statistic
    assert found.with_mean[0] == pytest.approx(rho, abs=1e-12)
    assert found.between == pytest.approx(
        stats.spearmanr(*raters.T).statistic, abs=1e-12
    )


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
        rest = rest - np.column_stack(
            [line.intercept + line.slope * human for line in lines]
        )
    r = np.mean([stats.pearsonr(*pair).statistic for pair in combinations(rest.T, 2)])
    assert found.samples == 200
    assert found.correlation == pytest.approx(r, abs=1e-12)
    assert found.effective == pytest.approx(3 / (1 + 2 * r), abs=1e-12)


def test_judges_that_say_nothing() -> None:
    found = independence(np.full((40, 3), 0.5))
    assert np.isnan([found.correlation, found.effective]).all()
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
    assert found.samples == 3
    exact = [
        17 / 6,
        5 / 2,
        18 / 11,
        math.sqrt(457 / 324),
    ]
    values = [found.judge, found.sample, found.repeats]
    values.append(found.standard_error)
    assert values == pytest.approx(exact, rel=1e-12)


def test_variance_components_of_little() -> None:
    nothing = variance_components(np.full((2, 2), NAN))
    assert nothing.samples == 0
    assert math.isnan(nothing.repeats)
    once = variance_components([[1.0], [3.0]])
    assert np.isnan([once.judge, once.standard_error]).all()
    # Means that lie closer together than the judge's noise explains.
    assert variance_components([[0.0, 1.0], [1.0, 0.0]]).sample == 0.0

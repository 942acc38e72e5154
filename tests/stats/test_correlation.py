import math
import statistics
import sys
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.stats.correlation import (
    MEASURES,
    Measure,
    agreement,
    fisher_average,
    higher_is_better,
)
from tcva_adapters.stats.describe import describe, seen, tie_probability
from tcva_adapters.stats.inference import estimate


def test_values_by_hand() -> None:
    scores, human = [1.0, 2.0, 2.0, 4.0], [1.0, 3.0, 2.0, 4.0]
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: deviations -1.5, 0, 0, 1.5 and -1.5, .5, -.5, 1.5;
    # products sum up to 4.5, squares to 4.5 and 5.
    assert agreement("spearman", scores, human).value == pytest.approx(
        4.5 / 22.5**0.5, abs=1e-15
    )
    # Of six pairs one is tied in the scores, the other five are concordant: 5 / sqrt(5 * 6).
    assert agreement("kendall", scores, human).value == pytest.approx(
        5 / 30**0.5, abs=1e-15
    )
    # Means 2.25 and 2.5: products 1.25*1.5 + .25*-.5 + .25*.5 + 1.75*1.5 = 4.5; squares 4.75, 5.
    assert agreement("pearson", scores, human).value == pytest.approx(
        4.5 / 23.75**0.5, abs=1e-15
    )
    assert agreement("mae", scores, human).value == 0.25


@pytest.mark.parametrize("measure", MEASURES)
def test_samples_without_both_scores_are_left_out(measure: Measure) -> None:
    scores = [0.1, None, 0.5, 0.4, np.nan, 0.9, np.inf]
    human = [1, 2, 3, np.nan, 5, 2, 4]
    found = agreement(measure, scores, human)  # type: ignore[arg-type]  # None is a score too
    assert (found, found.n) == (agreement(measure, [0.1, 0.5, 0.9], [1, 3, 2]), 3)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("scores", "human", "n"), [
    ([], [], 0), ([np.nan, 1.0], [1.0, np.nan], 0),
], ids=["empty", "no pair"])  # fmt: skip
def test_nothing_to_measure(
    measure: Measure, scores: list[float], human: Any, n: int
) -> None:
    found = agreement(measure, scores, human)
    assert np.isnan(found.value)
    assert found.n == n


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
@pytest.mark.parametrize(("scores", "human"), [
    ([0.5], [0.5]), ([0.5, 0.5, 0.5], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1]),
], ids=["one pair", "constant scores", "constant people"])  # fmt: skip
def test_correlations_are_undefined(measure: Measure, scores: Any, human: Any) -> None:
    assert np.isnan(agreement(measure, scores, human).value)


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_two_pairs_agree_or_do_not(measure: Measure) -> None:
    assert agreement(measure, [1, 2], [3, 9]).value == pytest.approx(1)
    assert agreement(measure, [1, 2], [9, 3]).value == pytest.approx(-1)


def test_one_pair_has_an_error() -> None:
    assert agreement("mae", [0.5], [0.75]).value == 0.25


def test_a_nearly_constant_side_warns_nobody() -> None:
    scores = 1 + np.arange(5) * 1e-15
    assert -1 <= agreement("pearson", scores, [1, 2, 3, 4, 5]).value <= 1


def test_only_of_the_error_less_is_better() -> None:
    assert [m for m in MEASURES if not higher_is_better(m)] == ["mae"]


@pytest.mark.parametrize(("call", "message"), [
    (lambda: agreement("rho", [1], [1]), r"unknown measure 'rho'; use spearman, kendall"),  # type: ignore[arg-type]  # wrong on purpose
    (lambda: higher_is_better("r2"), "unknown measure 'r2'"),  # type: ignore[arg-type]  # likewise
    (lambda: agreement("mae", [1, 2], [1]), "2 of scores, 1 of human; give one value per"),
    (lambda: agreement("mae", [[1, 2]], [1]), r"scores must have 1 dim.*\(1, 2\)"),
    (lambda: agreement("mae", [1], "ab"), "human must be numbers .*'ab'"),
    (lambda: agreement("mae", [[1], [1, 2]], [1]), "scores must be numbers"),
])  # fmt: skip
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        call()


def test_the_references_are_scipys() -> None:
    rng = np.random.default_rng(0)
    scores, human = rng.integers(0, 9, 60) / 8, rng.integers(0, 6, 60) / 5
    for measure, function in (
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
        ("pearson", stats.pearsonr),
    ):
        found = agreement(measure, scores, human)  # type: ignore[arg-type]  # a literal in a tuple
        expected = function(scores, human).statistic
        assert found.value == pytest.approx(expected, rel=0.0, abs=1e-12)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingDependencyError, match=r"\[stats\]"):
        agreement("spearman", [1, 2, 3], [1, 3, 2])
    with pytest.raises(MissingDependencyError, match=r"\[stats\]"):
        estimate("mean", np.arange(12) / 12)
    assert estimate("mean", [1, 2, 3]).n == 3  # too few for an interval


def test_a_whole_number_larger_than_any_float_is_refused() -> None:
    with pytest.raises(InvalidValueError):
        agreement("spearman", [10**400, 1], [1, 2])


def test_fishers_average_by_hand() -> None:
    # atanh(r) is half of log((1 + r) / (1 - r)).
    z = (0.5 * math.log(1.2 / 0.8) + 0.5 * math.log(1.8 / 0.2)) / 2
    expected = (math.exp(2 * z) - 1) / (math.exp(2 * z) + 1)
    assert fisher_average([0.2, 0.8, math.nan]) == pytest.approx(expected, abs=1e-12)
    assert (fisher_average([1.0, 0.3]), fisher_average([-1.0, 0.3])) == (1.0, -1.0)
    assert math.isnan(fisher_average([-1.0, 1.0]))
    assert math.isnan(fisher_average([math.nan]))


NAN = math.nan
SCORES = st.lists(st.integers(0, 20).map(lambda i: i / 20), min_size=1, max_size=40)


def test_by_hand() -> None:
    found = describe([0.0, 0.2, 0.4, 1.0, 1.0, NAN, NAN])
    assert found["n"] == 5
    assert found["missing"] == 2
    assert found["mean"] == pytest.approx(0.52, abs=1e-15)
    assert found["median"] == 0.4
    # Places of the quartiles among five scores, from 0: 0.25 * 4 = 1 and 3.
    assert found["midhinge"] == pytest.approx((0.2 + 1.0) / 2)
    assert found["iqr"] == pytest.approx(0.8)
    # Squares of -0.52, -0.32, -0.12, 0.48, 0.48: 0.2704 + 0.1024 + 0.0144 + 2 * 0.2304 = 0.848.
    assert found["variance"] == pytest.approx(0.848 / 4)
    assert (found["minimum"], found["maximum"], found["range"]) == (0.0, 1.0, 1.0)
    assert (found["at_lower"], found["at_upper"]) == (0.2, 0.4)
    # One of ten pairs ties.
    assert found["ties"] == pytest.approx(0.1)
    assert found["geometric_mean"] == 0.0


@given(SCORES)
def test_against_scipy(scores: list[float]) -> None:
    found = describe(scores)
    assert found["mean"] == pytest.approx(np.mean(scores), abs=1e-12)
    mean = 0.0 if 0.0 in scores else stats.gmean(scores)
    assert found["geometric_mean"] == pytest.approx(mean, abs=1e-12)
    lower, upper = stats.mstats.mquantiles(scores, [0.25, 0.75], alphap=1, betap=1)
    assert found["midhinge"] == pytest.approx((lower + upper) / 2, abs=1e-12)
    assert found["iqr"] == pytest.approx(stats.iqr(scores), abs=1e-12)
    variance = math.nan if len(scores) < 2 else statistics.variance(scores)
    assert found["variance"] == pytest.approx(variance, abs=1e-12, nan_ok=True)
    if len(set(scores)) > 1:
        assert found["skewness"] == pytest.approx(stats.skew(scores), abs=1e-9)
        assert found["kurtosis"] == pytest.approx(stats.kurtosis(scores), abs=1e-9)
    else:
        assert math.isnan(found["skewness"])
        assert math.isnan(found["kurtosis"])


@given(SCORES)
def test_ties_are_the_share_of_tied_pairs(scores: list[float]) -> None:
    pairs = list(combinations(scores, 2))
    found = tie_probability(scores)
    if not pairs:
        assert math.isnan(found)
    else:
        assert found == float(Fraction(sum(a == b for a, b in pairs), len(pairs)))


def test_the_ends_of_the_scale() -> None:
    # What a reader sees as 0.000 is at the bound, such as what the floor of a strict score leaves.
    assert describe([1.2e-9, 0.000499, 0.0006, 0.5])["at_lower"] == 0.5
    assert describe([0.9994, 0.9996, 1.0])["at_upper"] == pytest.approx(2 / 3)


def test_ties_are_those_that_a_reader_sees() -> None:
    scores = [4.58e-10, 0.0, 0.0004, 0.0006, 0.4567, 0.45674]
    # 3 at 0.000, 1 at 0.001, 2 at 0.457: 3 + 0 + 1 of 15 pairs
    assert tie_probability(scores) == 4 / 15
    for value in [
        *np.random.default_rng(0).uniform(size=500).tolist(),
        0.0005,
        0.0015,
        0.1235,
    ]:
        assert f"{seen(value):.3f}" == f"{value:.3f}"


def test_nothing_to_describe() -> None:
    found = describe([NAN, NAN])
    assert (found["n"], found["missing"]) == (0, 2)
    assert all(
        math.isnan(found[name]) for name in ("mean", "median", "ties", "at_upper")
    )
    assert math.isnan(describe([-0.5, 0.5])["geometric_mean"])


def test_mistakes() -> None:
    with pytest.raises(InvalidValueError):
        describe(["good"])

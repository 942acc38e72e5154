"""Descriptions of scores, by hand and against scipy."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.describe import describe, seen, tie_probability

NAN = math.nan
SCORES = st.lists(st.integers(0, 20).map(lambda i: i / 20), min_size=1, max_size=40)


def test_by_hand() -> None:
    found = describe([0.0, 0.2, 0.4, 1.0, 1.0, NAN, NAN])
    assert (found["n"], found["missing"]) == (5, 2)
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
    assert found["geometric_mean"] == pytest.approx(
        0.0 if 0.0 in scores else stats.gmean(scores), abs=1e-12
    )
    lower, upper = stats.mstats.mquantiles(scores, [0.25, 0.75], alphap=1, betap=1)
    assert found["midhinge"] == pytest.approx((lower + upper) / 2, abs=1e-12)
    assert found["iqr"] == pytest.approx(stats.iqr(scores), abs=1e-12)
    assert found["variance"] == pytest.approx(
        math.nan if len(scores) < 2 else statistics.variance(scores), abs=1e-12, nan_ok=True
    )
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
    for value in [*np.random.default_rng(0).uniform(size=500).tolist(), 0.0005, 0.0015, 0.1235]:
        assert f"{seen(value):.3f}" == f"{value:.3f}"


def test_nothing_to_describe() -> None:
    found = describe([NAN, NAN])
    assert (found["n"], found["missing"]) == (0, 2)
    assert all(math.isnan(found[name]) for name in ("mean", "median", "ties", "at_upper"))
    assert math.isnan(describe([-0.5, 0.5])["geometric_mean"])


def test_mistakes() -> None:
    with pytest.raises(InvalidValueError):
        describe(["good"])

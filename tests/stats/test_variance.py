"""Variance components against values derived by hand, and on simulated judges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.variance import variance_components

EXACT = 1e-12
NAN = math.nan


def test_unequal_numbers_of_scores_by_hand() -> None:
    # Samples (1, 2), (3, 5, 7), (4): means 1.5, 5 and 4; N = 6, k = 3.
    # within: (.25 + .25 + 4 + 0 + 4 + 0) / (6 - 3) = 8.5 / 3 = 17/6
    # between, with m = 22/6: (2 (13/6)^2 + 3 (4/3)^2 + (1/3)^2) / 2 = 89/12
    # n0 = (6 - 14/6) / 2 = 11/6; sample: (89/12 - 34/12) / (11/6) = (55/12) (6/11) = 5/2
    # The harmonic mean of 2, 3 and 1 is 3 / (1/2 + 1/3 + 1) = 18/11.
    # standard error: (5/2 + (17/6) (11/18)) / 3 = (457/108) / 3 = 457/324
    found = variance_components([[1.0, 2.0, NAN], [3.0, 5.0, 7.0], [NAN, NAN, 4.0]])
    assert (found.samples, found.scores) == (3, 6)
    assert found.mean == pytest.approx(3.5, rel=EXACT)
    assert found.judge == pytest.approx(17 / 6, rel=EXACT)
    assert found.sample == pytest.approx(5 / 2, rel=EXACT)
    assert found.repeats == pytest.approx(18 / 11, rel=EXACT)
    assert found.standard_error == pytest.approx(math.sqrt(457 / 324), rel=EXACT)
    assert found.judge_error == pytest.approx(math.sqrt(17 / 6 * 11 / 18 / 3), rel=EXACT)


def test_equal_numbers_give_the_variance_of_the_means() -> None:
    # With n of each the estimators collapse: sample + judge / n is the variance of the means.
    rng = np.random.default_rng(3)
    table = rng.normal(size=(50, 1)) + 0.3 * rng.normal(size=(50, 4))
    found = variance_components(table)
    means = table.mean(axis=1)
    assert found.repeats == 4.0
    assert found.judge == pytest.approx(table.var(axis=1, ddof=1).mean(), rel=EXACT)
    assert found.sample + found.judge / 4 == pytest.approx(means.var(ddof=1), rel=EXACT)
    assert found.standard_error == pytest.approx(math.sqrt(means.var(ddof=1) / 50), rel=EXACT)


def test_what_more_would_buy() -> None:
    found = variance_components([[0.9, 1.1], [2.9, 3.1]])
    # judge .02, sample 1.99
    assert found.error_with(2, 4) == pytest.approx(math.sqrt((1.99 + 0.02 / 4) / 2), rel=EXACT)
    assert found.error_with(8, 2) == pytest.approx(math.sqrt((1.99 + 0.02 / 2) / 8), rel=EXACT)
    with pytest.raises(
        InvalidValueError, match=r"0 repeats of 2 samples; both numbers lie above 0"
    ):
        found.error_with(2, 0)


def test_small_differences_keep_their_digits() -> None:
    # Deviations of 2^-30 from 1 are exact; within: 2 * 2^-60 / 2 for each of two samples.
    tiny = 2.0**-30
    found = variance_components([[1 - tiny, 1 + tiny], [1 - tiny, 1 + tiny]])
    assert found.judge == 2 * tiny**2
    assert found.sample == 0.0  # the means are equal: less than the noise explains


@pytest.mark.parametrize(
    ("scores", "judge", "sample", "error"),
    [
        (np.empty((0, 3)), math.nan, math.nan, math.nan),
        ([[None, None]], math.nan, math.nan, math.nan),
        ([[0.5, 0.5]], 0.0, math.nan, math.nan),
        ([[0.5, 0.7], [None, None]], 0.02, math.nan, math.nan),
        ([[0.5], [0.7]], math.nan, math.nan, math.nan),
        ([[0.5, 0.5], [0.5, 0.5]], 0.0, 0.0, 0.0),
    ],
)
def test_degenerate_tables(scores: object, judge: float, sample: float, error: float) -> None:
    found = variance_components(scores)  # type: ignore[arg-type]  # a table of any kind
    told = (found.judge, found.sample, found.standard_error)
    assert told == pytest.approx((judge, sample, error), abs=1e-15, nan_ok=True)


def test_simulated_components_are_recovered() -> None:
    rng = np.random.default_rng(11)
    n = rng.integers(2, 6, size=4000)
    noise = np.where(np.arange(5) < n[:, None], rng.normal(0, 0.1, (4000, 5)), np.nan)
    found = variance_components(rng.normal(0.7, 0.2, (4000, 1)) + noise)
    assert found.judge == pytest.approx(0.01, rel=0.1)
    assert found.sample == pytest.approx(0.04, rel=0.1)


def test_no_table_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="2 dimension"):
        variance_components([0.5, 0.7])
    with pytest.raises(InvalidValueError, match="must be numbers"):
        variance_components([["good", "bad"]])

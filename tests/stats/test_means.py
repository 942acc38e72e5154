"""Intervals of means and shares, against scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.means import mean_intervals, wilson

stats = pytest.importorskip("scipy.stats", reason="the extra stats")


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_mean_has_students_interval(level: float) -> None:
    table = np.random.default_rng(0).random((20, 3))
    table[3:9, 1] = np.nan
    for column, found in zip(
        table.T, zip(*mean_intervals(table, level=level), strict=True), strict=True
    ):
        known = column[np.isfinite(column)]
        expected = stats.t.interval(level, len(known) - 1, loc=known.mean(), scale=stats.sem(known))
        assert found == pytest.approx((known.mean(), *expected), abs=1e-12)


def test_few_scores_have_no_interval() -> None:
    means, low, high = mean_intervals([[0.5, math.nan, 1.0], [math.nan] * 2 + [1.0]])
    assert means[0] == 0.5
    assert np.isnan([means[1], low[0], high[0], low[1], high[1]]).all()
    assert (means[2], low[2], high[2]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("passed", "n"), [(0, 1), (0, 10), (3, 10), (10, 10), (57, 10_000)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_share_has_wilsons_interval(passed: int, n: int, level: float) -> None:
    expected = stats.binomtest(passed, n).proportion_ci(level, method="wilson")
    assert wilson(passed, n, level=level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_share_of_nothing_has_none_and_nonsense_is_refused() -> None:
    assert np.isnan(wilson(0, 0)).all()
    with pytest.raises(InvalidValueError, match="11 of 10 passed"):
        wilson(11, 10)
    with pytest.raises(InvalidValueError, match="level is 95"):
        wilson(1, 10, level=95)
    with pytest.raises(InvalidValueError, match="level is 0"):
        mean_intervals([[0.5]], level=0)

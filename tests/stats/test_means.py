"""Intervals of means and shares, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.means import mean_intervals, share_interval

stats = pytest.importorskip("scipy.stats", reason="the extra stats")


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_mean_without_skewness_has_students_interval(level: float) -> None:
    table = np.random.default_rng(0).random((20, 3))
    table = np.concatenate([table, -table])  # symmetric, so there is nothing to correct
    table[3:9, 1] = np.nan
    table[23:29, 1] = np.nan
    for column, found in zip(
        table.T, zip(*mean_intervals(table, level=level), strict=True), strict=True
    ):
        known = column[np.isfinite(column)]
        expected = stats.t.interval(level, len(known) - 1, loc=known.mean(), scale=stats.sem(known))
        assert found == pytest.approx((known.mean(), *expected), abs=1e-12)


def test_the_correction_for_skewness_solves_halls_equation() -> None:
    # g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 is the quantile of t at the lower end, and its
    # opposite at the upper one; T = (mean - end) / error.
    values = np.random.default_rng(3).exponential(size=25)
    (mean,), (low,), (high,) = mean_intervals(values[:, None])
    bend = stats.skew(values) / 5
    for end, quantile in ((low, stats.t.ppf(0.975, 24)), (high, -stats.t.ppf(0.975, 24))):
        t = (mean - end) / stats.sem(values)
        solved = t + bend * t**2 / 3 + bend**2 * t**3 / 27 + bend / 6
        assert solved == pytest.approx(quantile, abs=1e-12)
    assert high - mean > mean - low


def test_few_or_equal_scores_have_no_interval() -> None:
    table = np.full((12, 4), np.nan)
    table[:9, 0] = np.linspace(0, 1, 9)
    table[:, 1] = 0.1
    table[:10, 2] = np.linspace(0, 1, 10)
    means, low, high = mean_intervals(table)
    assert means[:3] == pytest.approx([0.5, 0.1, 0.5])
    assert np.isnan(means[3])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, True, False, True]


@pytest.mark.parametrize(("passed", "n"), [(0, 1), (0, 10), (3, 10), (10, 10), (57, 10_000)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_share_has_the_exact_interval(passed: int, n: int, level: float) -> None:
    expected = stats.binomtest(passed, n).proportion_ci(level, method="exact")
    found = share_interval(passed, n, level=level)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_share_of_nothing_has_none_and_nonsense_is_refused() -> None:
    assert np.isnan(share_interval(0, 0)).all()
    with pytest.raises(InvalidValueError, match="11 of 10 passed"):
        share_interval(11, 10)
    with pytest.raises(InvalidValueError, match="level is 95"):
        share_interval(1, 10, level=95)
    with pytest.raises(InvalidValueError, match="level is 0"):
        mean_intervals([[0.5]], level=0)

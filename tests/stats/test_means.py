"""Intervals of means and shares, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.means import LEAST_OTHERS, mean_interval, mean_intervals, share_interval

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


DIFFERENCES = (-10.0, 10.0)


def test_a_column_of_a_table_has_the_interval_of_its_scores() -> None:
    table = np.random.default_rng(0).beta(0.5, 2.0, (31, 3))
    table[4, 1] = np.nan
    found = zip(*mean_intervals(table, level=0.9), strict=True)
    for column, ends in zip(table.T, found, strict=True):
        one = mean_interval(column[np.isfinite(column)], level=0.9)
        assert ends == (one.value, one.low, one.high)


def test_a_grouped_mean_of_equal_groups_is_that_of_their_means() -> None:
    rng = np.random.default_rng(1)
    values, codes = rng.normal(size=60), np.repeat(np.arange(15), 4)
    found = mean_interval(values, codes=codes, ends=DIFFERENCES)
    wanted = mean_interval(values.reshape(15, 4).mean(axis=1), ends=DIFFERENCES)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (found.n, found.clusters) == (60, 15)


def test_groups_of_one_sample_are_none() -> None:
    values = np.random.default_rng(2).random(12)
    found = mean_interval(values, codes=np.arange(12))
    assert (found.low, found.high) == pytest.approx(
        (mean_interval(values).low, mean_interval(values).high), abs=1e-15
    )
    assert found.clusters == 12


def test_reasons_stand_where_there_is_no_interval() -> None:
    assert mean_interval(np.arange(9.0)).reason == "9 samples: an interval needs 10"
    assert mean_interval(np.ones(20)).reason.startswith("all are equal")
    assert (mean_interval(np.array([])).n, mean_interval(np.array([])).clusters) == (0, None)
    values, codes = np.random.default_rng(3).random(57), np.repeat(np.arange(19), 3)
    assert mean_interval(values, codes=codes).reason == "19 groups: an interval needs 20"
    assert mean_interval(values - 0.5, codes=codes, ends=DIFFERENCES).reason == ""


def test_values_on_both_sides_need_a_few_others_and_have_the_wider_interval() -> None:
    errors = np.zeros(40)
    errors[:LEAST_OTHERS] = [0.5, 0.4, 0.3, 0.2, -0.2]
    found, n = mean_interval(errors, ends=DIFFERENCES), len(errors)
    half = stats.t.ppf(0.975, n - 1) * errors.std(ddof=1) / np.sqrt(n)
    # The plain one reaches further down, Hall's further up, where the long tail is.
    assert found.low == pytest.approx(errors.mean() - half, abs=1e-12)
    assert found.high > errors.mean() + half
    errors[0] = 0.0
    assert mean_interval(errors, ends=DIFFERENCES).reason == (
        "all but 4 are equal: an interval needs 5 others"
    )
    grouped = np.zeros(40)
    grouped[:6] = 0.5  # six samples of two groups
    assert mean_interval(grouped, codes=np.arange(40) // 4, ends=DIFFERENCES).reason.startswith(
        "all but 2"
    )


def test_what_most_are_counts_as_usual_unless_it_is_an_end_of_the_scale() -> None:
    ratings = np.array([0.5] * 17 + [0.75] * 3)
    assert mean_interval(ratings).reason.startswith("all but 3")
    assert mean_interval(ratings, ends=(0.0, 0.5)).reason == ""
    assert mean_interval(np.where(ratings == 0.5, 1.0, 0.75)).reason == ""
    # Less than half are usual: nothing is known of another side.
    spread = np.append(np.full(9, 0.5), np.linspace(0.6, 1.0, 11))
    hall = mean_intervals(spread[:, None])
    assert mean_interval(spread).low == hall[1][0]


def test_an_interval_keeps_within_what_there_can_be() -> None:
    rare = np.array([1.0] * 9 + [0.0])
    found, other = mean_interval(rare), mean_interval(1.0 - rare)
    assert (found.high, other.low) == (1.0, 0.0)
    assert found.low == pytest.approx(1.0 - other.high, abs=1e-12)
    assert mean_interval(5.0 * rare).high > 5.0


@pytest.mark.parametrize("others", [[0.3, -0.5], [0.5, -0.5]])
def test_errors_that_are_mostly_none_are_covered(others: list[float]) -> None:
    # 1000 data sets of 30, of which 80 % are 0: three standard errors are .021. Hall's alone held
    # the mean in .93 of the first kind; of ten samples in .71.
    rng, held, offered = np.random.default_rng(6), 0, 0
    values, shares = [0.0, *others], [0.8, *[0.2 / len(others)] * len(others)]
    for _ in range(1000):
        found = mean_interval(rng.choice(values, 30, p=shares), ends=(-1.0, 1.0))
        offered += not found.reason
        held += bool(found.low <= 0.2 * np.mean(others) <= found.high)
    assert offered > 700
    assert held / offered >= 0.95 - 0.021


def test_a_mean_holds_where_three_groups_of_many_have_most_samples() -> None:
    # 400 data sets: three standard errors of .05 are .033. By the number of groups it held in .82.
    rng, codes = (
        np.random.default_rng(4),
        np.repeat(np.arange(40), np.ceil(100 / np.arange(1, 41)).astype(int)),
    )
    held = 0
    for _ in range(400):
        values = rng.normal(0.0, 1.0, 40)[codes] + rng.normal(0.0, 1.0, len(codes))
        found = mean_interval(values, codes=codes, ends=DIFFERENCES)
        held += found.low <= 0.0 <= found.high
    assert held / 400 >= 0.95 - 0.033

"""Intervals and tests by group: as without groups where each has one sample, wider where few."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.clusters import clustered_p, interval_shares, worth
from tcva_adapters.stats.correlation import MEASURES, Measure
from tcva_adapters.stats.replicates import IntervalMethod


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["student", "percentile", "bca"])
def test_groups_of_one_sample_change_nothing(measure: Measure, method: IntervalMethod) -> None:
    rng = np.random.default_rng(2)
    human, first, second = rng.random((3, 14))
    alone = [f"conversation {i}" for i in range(14)]
    ours, plain = (
        interval(measure, first, human, method=method, groups=groups, n_boot=200, seed=3)
        for groups in (alone, None)
    )
    assert ours.clusters == 14
    assert (ours.low, ours.high, ours.reason) == (plain.low, plain.high, plain.reason)
    pairs = [
        paired_difference(measure, first, second, human, groups=groups, n_boot=200)
        for groups in (alone, None)
    ]
    assert (pairs[0].low, pairs[0].high) == (pairs[1].low, pairs[1].high)
    assert pairs[0].p_two_sided == pairs[1].p_two_sided


def test_few_groups_count_as_fewer_where_one_is_large() -> None:
    even, uneven = np.repeat(np.arange(12), 5), np.repeat(np.arange(12), [38, *[2] * 11])
    assert worth(even) == pytest.approx(12)
    assert worth(uneven) == pytest.approx(3600 / (38**2 + 44))
    narrow, wide = (interval_shares(0.95, 60, worth(codes)) for codes in (even, uneven))
    assert wide[0] < narrow[0] < 0.025
    assert narrow.sum() == wide.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("groups", [3.5, 10.0, 40.0])
def test_a_p_goes_with_its_interval(groups: float) -> None:
    for level in (0.8, 0.95, 0.99):
        share = float(interval_shares(level, 100, groups)[0])
        # scipy's inverse of Student's t is exact to 1e-11 or so in its earlier versions.
        assert clustered_p(2 * share, 100, groups) == pytest.approx(1 - level, abs=1e-10)


def test_too_few_groups_have_no_interval() -> None:
    rng = np.random.default_rng(0)
    human, scores = rng.random((2, 60))
    nine = (np.arange(60) % 9).tolist()
    assert interval("spearman", scores, human, groups=nine).reason.startswith("9 groups: an interv")
    fifteen = (np.arange(60) % 15).tolist()
    assert interval("mae", scores, human, groups=fifteen).reason.startswith("15 groups: an inter")
    assert not interval("pearson", scores, human, groups=fifteen).reason


@pytest.mark.parametrize("measure", MEASURES)
def test_one_huge_group_has_a_reason_in_place_of_an_interval(measure: Measure) -> None:
    human, first, second = np.random.default_rng(5).random((3, 329))
    groups = [0] * 300 + list(range(1, 30))
    amount = "30 groups of unequal size amount to 1.2 equal ones: an interval needs 5"
    for method in get_args(IntervalMethod):
        found = interval(measure, first, human, method=method, groups=groups, n_boot=100)
        assert (found.reason, np.isnan(found.low)) == (amount, True)
    paired = paired_difference(measure, first, second, human, groups=groups, n_boot=100)
    assert (paired.reason, np.isnan(paired.low)) == (amount, True)
    assert np.isnan(paired.p_two_sided) == (measure != "mae")


@pytest.mark.parametrize("measure", MEASURES)
def test_groups_that_are_copies_have_no_interval_without_width(measure: Measure) -> None:
    human, first, second = (np.tile(each, 30) for each in np.random.default_rng(6).random((3, 4)))
    groups = np.repeat(np.arange(30), 4).tolist()
    for method in get_args(IntervalMethod):
        found = interval(measure, first, human, method=method, groups=groups, n_boot=100)
        assert found.reason.endswith("nothing varies")
    paired = paired_difference(measure, first, second, human, groups=groups, n_boot=100)
    assert paired.reason.endswith("nothing varies")
    assert measure != "pearson" or np.isnan(paired.p_two_sided)

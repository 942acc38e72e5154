"""Two one-sided tests against a margin: by hand, by the interval, and by simulation of their level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.planning import Case, planned
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.bootstrap import paired_difference
from tcva_adapters.stats.correlation import MEASURES, Measure
from tcva_adapters.stats.equivalence import equivalence
from tcva_adapters.stats.replicates import Replicates

EQUAL = Case(0.6, 0.6, 0.9)


def test_the_mean_absolute_error_is_tested_by_student() -> None:
    one, other, human = EQUAL.draw(60, np.random.default_rng(1))
    apart = np.abs(one - human) - np.abs(other - human)
    found = equivalence("mae", one, other, human, 0.1)
    worse = stats.ttest_1samp(apart, 0.1, alternative="less").pvalue
    better = stats.ttest_1samp(apart, -0.1, alternative="greater").pvalue
    assert found.p_not_worse == pytest.approx(worse, abs=1e-8)
    assert found.p_equivalent == pytest.approx(max(worse, better), abs=1e-8)
    # Beyond the margin, too.
    found = equivalence("mae", one + 0.4, other, human, 0.01)
    apart = np.abs(one + 0.4 - human) - np.abs(other - human)
    worse = stats.ttest_1samp(apart, 0.01, alternative="less").pvalue
    assert found.p_not_worse == pytest.approx(worse, abs=1e-8)


def test_ranks_are_tested_by_the_share_of_resamples_beyond_the_margin() -> None:
    one, other, human = EQUAL.draw(50, np.random.default_rng(2))
    run = Replicates("spearman", [one, other], human, n_boot=999, seed=4, codes=None)
    deltas = run.values[0] - run.values[1]
    found = equivalence("spearman", one, other, human, 0.06, n_boot=999, seed=4)
    assert found.p_not_worse == (np.sum(deltas <= -0.06) + 1) / 1000
    assert found.p_equivalent == (max(np.sum(deltas <= -0.06), np.sum(deltas >= 0.06)) + 1) / 1000


@pytest.mark.parametrize("measure", MEASURES)
def test_the_interval_and_the_tests_say_the_same(measure: Measure) -> None:
    one, other, human = EQUAL.draw(80, np.random.default_rng(3))
    for alpha in (0.025, 0.05):
        said = paired_difference(measure, one, other, human, n_boot=500, level=1 - 2 * alpha)
        for margin in (0.01, 0.03, 0.05, 0.08, 0.12, 0.3):
            found = equivalence(measure, one, other, human, margin, alpha=alpha, n_boot=500)
            assert (found.low, found.high) == (said.low, said.high)
            inside = -margin < found.low and found.high < margin
            assert inside == (found.p_equivalent < alpha)
            assert found.p_not_worse <= found.p_equivalent


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["spearman", "pearson", "mae"])
def test_the_level_at_the_margin_and_the_power_between_equals(measure: Measure) -> None:
    # 200 data sets: three standard errors of .05 are .046.
    rng = np.random.default_rng(5)
    apart = Case(0.45, 0.6, 0.7)
    margin = planned(measure, apart, rng)[1]
    wrong = [
        equivalence(measure, *apart.draw(60, rng), margin, n_boot=200).p_not_worse < 0.05
        for _ in range(200)
    ]
    assert np.mean(wrong) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    right = [
        equivalence(measure, *EQUAL.draw(200, rng), margin, n_boot=200).p_equivalent < 0.05
        for _ in range(20)
    ]
    assert np.mean(right) > 0.5


def test_groups_count_as_one() -> None:
    one, other, human = EQUAL.draw(30, np.random.default_rng(6))
    groups = np.repeat(np.arange(30), 3)
    first, second, rated = (np.repeat(each, 3) for each in (one, other, human))
    found = equivalence("mae", first, second, rated, 0.1, groups=groups.tolist())
    alone = equivalence("mae", one, other, human, 0.1)
    assert found.clusters == 30
    assert found.p_equivalent == pytest.approx(alone.p_equivalent, abs=1e-8)


def test_few_samples_and_wrong_margins_are_refused() -> None:
    found = equivalence("spearman", [1, 2, 3], [1, 3, 2], [1, 2, 3], 0.1)
    assert found.reason == "3 samples: an interval needs 30"
    assert math.isnan(found.p_equivalent)
    for margin in (0.0, -0.1, math.inf, math.nan):
        with pytest.raises(InvalidValueError, match="the margin is"):
            equivalence("mae", [1], [1], [1], margin)
    with pytest.raises(InvalidValueError, match=r"alpha is 0\.5"):
        equivalence("mae", [1], [1], [1], 0.1, alpha=0.5)


def test_groups_widen_the_test_as_they_widen_the_interval() -> None:
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(12), 5)
    one, other, human = EQUAL.draw(60, rng)
    one, other = (each + rng.normal(0, 0.2, 12)[groups] for each in (one, other))
    names = groups.tolist()
    low = equivalence("spearman", one, other, human, 0.1, n_boot=2000, groups=names).low
    found = equivalence("spearman", one, other, human, -low, n_boot=2000, groups=names)
    assert found.p_not_worse == pytest.approx(0.05, abs=0.002)

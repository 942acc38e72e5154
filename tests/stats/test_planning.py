"""Planned labels, powers and widths against textbook formulas, scipy's noncentral t and simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.planning import CASES, found, planned
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.assumed import assumed_correlation, assumed_mean
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.planning import (
    PLANNED,
    PlannedName,
    Spread,
    labels_for_difference,
    labels_for_width,
    pilot_spread,
    power,
    smallest_difference,
    smallest_from,
    standard_error_of,
    width,
)


def pilot(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    one, other, human = CASES[1].draw(n, np.random.default_rng(seed))
    return one, other, human


def test_the_spread_of_a_mean_is_its_standard_deviation() -> None:
    one, other, human = pilot()
    assert pilot_spread("mean", [one]).per_label == pytest.approx(one.std(ddof=1), rel=1e-12)
    apart = np.abs(one - human) - np.abs(other - human)
    found = pilot_spread("mae", [one, other], human)
    assert found.per_label == pytest.approx(apart.std(ddof=1), rel=1e-9)
    # Of normal values the spread is known to 1 / sqrt(2 n).
    many = np.random.default_rng(1).standard_normal(20_000)
    assert pilot_spread("mean", [many]).error == pytest.approx(1 / math.sqrt(40_000), rel=0.05)


def test_the_spread_of_a_correlation_is_the_jackknifes() -> None:
    one, other, human = pilot(40)

    def apart(kept: np.ndarray) -> float:
        return float(
            stats.spearmanr(one[kept], human[kept])[0]
            - stats.spearmanr(other[kept], human[kept])[0]
        )

    without = np.array([apart(np.arange(40) != i) for i in range(40)])
    error = math.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
    spread = pilot_spread("spearman", [one, other], human)
    assert spread.standard_error(40) == pytest.approx(error, rel=1e-10)
    assert (spread.n, spread.clusters) == (40, None)


def test_groups_are_taken_out_together_and_gaps_are_left_out() -> None:
    one, _, human = pilot(30)
    # Each sample twice: twice the labels say no more.
    twice = pilot_spread(
        "pearson", [np.repeat(one, 2)], np.repeat(human, 2), groups=[i // 2 for i in range(60)]
    )
    single = pilot_spread("pearson", [one], human)
    assert twice.standard_error(60) == pytest.approx(single.standard_error(30), rel=1e-9)
    assert twice.clusters == 30
    # Nor do widths and powers: Student's t has the degrees of the groups, not of the labels.
    assert width(twice, 60) == pytest.approx(width(single, 30), rel=1e-9)
    assert power(twice, 0.2, 60) == pytest.approx(power(single, 0.2, 30), rel=1e-9)
    gaps = np.append(one, [np.nan, 1.0]), np.append(human, [1.0, np.nan])
    assert pilot_spread("pearson", [gaps[0]], gaps[1]) == single


def test_plans_of_groups_begin_where_their_intervals_do() -> None:
    values = np.random.default_rng(2).normal(size=200)
    spread = pilot_spread("mean", [values], groups=[i // 5 for i in range(200)])
    # Ten groups of five; t with 9 degrees of freedom.
    wide = 2 * stats.t.ppf(0.975, 9) * spread.standard_error(50)
    assert width(spread, 50) == pytest.approx(wide, rel=1e-9)
    assert labels_for_width(spread, 100.0) == labels_for_difference(spread, 100.0) == 50
    # Resamples of ranks as well are held against t, where they are of groups.
    ranks = Spread("spearman", 0.6, 200, 0.1, 40, 40.0)
    known = stats.t.ppf(0.975, 9) * 0.6 / math.sqrt(50)
    assert power(ranks, known, 50) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("n", [10, 20, 50, 200])
@pytest.mark.parametrize("size", [0.3, 1.0, 2.8, 4.0])
def test_the_power_of_a_mean_is_that_of_the_noncentral_t(n: int, size: float) -> None:
    spread = Spread("mean", per_label=math.sqrt(n))  # a standard error of 1
    critical = stats.t.ppf(0.975, n - 1)
    assert power(spread, size, n) == pytest.approx(stats.nct.sf(critical, n - 1, size), abs=2e-3)


def test_labels_widths_and_differences_belong_together() -> None:
    for spread in (Spread("mean", 0.31), Spread("spearman", 0.62)):
        needed = labels_for_difference(spread, 0.07, target=0.9, alpha=0.01)
        assert needed is not None
        assert power(spread, 0.07, needed, alpha=0.01) >= 0.9
        assert power(spread, 0.07, needed - 1, alpha=0.01) < 0.9
        least = smallest_difference(spread, needed, target=0.9, alpha=0.01)
        assert power(spread, least, needed, alpha=0.01) == pytest.approx(0.9, abs=1e-9)
        wide = labels_for_width(spread, 0.1, level=0.9)
        assert wide is not None
        assert width(spread, wide, level=0.9) <= 0.1 < width(spread, wide - 1, level=0.9)
    # (1.959964 + 0.841621)^2 0.62^2 / 0.07^2 = 615.7, and the eight that tests of Spearman lose.
    assert labels_for_difference(Spread("spearman", 0.62), 0.07) == 624
    assert labels_for_difference(Spread("mean", 1.0), 1e-6) is None
    assert labels_for_width(Spread("mean", 1e-3), 1.0) == 10


def test_what_an_interval_says_of_power() -> None:
    z = stats.norm.ppf(0.975)
    assert standard_error_of(-z, z, 0.95) == pytest.approx(1.0, rel=1e-12)
    assert smallest_from(-z, z, 0.95) == pytest.approx(z + stats.norm.ppf(0.8), rel=1e-12)
    corrected = stats.norm.ppf(1 - 0.05 / 6) + stats.norm.ppf(0.8)
    assert smallest_from(-z, z, 0.95, comparisons=3) == pytest.approx(corrected, rel=1e-12)
    assert math.isnan(smallest_from(math.nan, math.nan, 0.95))
    assert math.isnan(smallest_from(0.0, 0.0, 0.95))


def test_assumed_spreads_are_those_of_normal_theory() -> None:
    # Var r is (1 - r^2)^2 / n, and at r = 0 that of Spearman's rho 1 / (n - 1), of Kendall's tau
    # 2 (2 n + 5) / (9 n (n - 1)): all exact up to 1 / n, simulated to about 1 %.
    assert assumed_correlation("pearson", 0.8).per_label == pytest.approx(0.36, rel=0.06)
    assert assumed_correlation("spearman", 0.0).per_label == pytest.approx(1.0, rel=0.04)
    assert assumed_correlation("kendall", 0.0).per_label == pytest.approx(2 / 3, rel=0.05)
    # Olkin and Siotani's variance of r12 - r13, here of equal correlations with the ratings.
    r, between = 0.6, 0.7
    determinant = 1 - 2 * r * r - between**2 + 2 * r * r * between
    covariance = between * (1 - 2 * r * r) - 0.5 * r * r * (1 - 2 * r * r - between**2)
    expected = math.sqrt(2 * ((1 - r * r) ** 2 - covariance))
    assert determinant > 0
    assert assumed_correlation("pearson", r, r, between=between).per_label == pytest.approx(
        expected, rel=0.04
    )
    assert assumed_mean(0.2).per_label == 0.2
    assert assumed_mean(0.2, between=-1, is_error=True) == Spread("mae", 0.4)
    again = [assumed_correlation("spearman", 0.5, seed=s).per_label for s in (0, 0, 1)]
    assert again[0] == again[1] != again[2]


@pytest.mark.slow
@pytest.mark.parametrize("objective", PLANNED)
def test_planned_power_is_that_of_the_tests_that_are_offered(objective: PlannedName) -> None:
    # 150 data sets: a standard error of .037; `python -m benchmarks.planning` draws more.
    rng = np.random.default_rng(11)
    spread, difference = planned(objective, CASES[0], rng)
    n = labels_for_difference(spread, difference, target=0.7)
    assert n is not None
    runs = 60 if objective == "kendall" else 150
    share = np.mean([found(objective, CASES[0], n, rng) for _ in range(runs)])
    assert share == pytest.approx(0.7, abs=0.03 + 3 * math.sqrt(0.21 / runs))


def test_a_pilot_agrees_with_the_interval_of_the_library() -> None:
    one, other, human = pilot(400, seed=3)
    for measure in ("spearman", "pearson", "mae"):
        spread = pilot_spread(measure, [one], human)
        ends = interval(measure, one, human)
        assert width(spread, 400) == pytest.approx(ends.high - ends.low, rel=0.05)
        both = pilot_spread(measure, [one, other], human)
        said = paired_difference(measure, one, other, human, n_boot=2000)
        assert width(both, 400) == pytest.approx(said.high - said.low, rel=0.08)


def test_what_cannot_be_planned_is_refused() -> None:
    ten = np.arange(10.0)
    wrong: Any = "f1"
    refused: dict[str, Callable[[], object]] = {
        "no objective 'f1'": lambda: pilot_spread(wrong, [ten], ten),
        "3 methods": lambda: pilot_spread("mean", [ten, ten, ten]),
        "against human ratings": lambda: pilot_spread("mae", [ten]),
        "pilot of 9": lambda: pilot_spread("mean", [ten[:9]]),
        "pilot of 2 groups": lambda: pilot_spread("mean", [ten], groups=[0] * 5 + [1] * 5),
        "does not vary": lambda: pilot_spread("mean", [np.ones(10)]),
        "different lengths": lambda: pilot_spread("mae", [ten], ten[:9]),
        "give one above 0": lambda: power(Spread("mean", 1.0), 0.0, 10),
        "labels is 1": lambda: power(Spread("mean", 1.0), 0.1, 1),
        "the power is 0.05": lambda: labels_for_difference(Spread("mean", 1.0), 0.1, target=0.05),
        "the width is -1": lambda: labels_for_width(Spread("mean", 1.0), -1),
        "no correlation 'mae'": lambda: assumed_correlation("mae", 0.5),
        "between -1 and 1": lambda: assumed_correlation("pearson", 1.0),
        "give that": lambda: assumed_correlation("pearson", 0.5, 0.4),
        "go together": lambda: assumed_correlation("pearson", 0.9, -0.9, between=0.9),
        "spread is 0": lambda: assumed_mean(0),
        "between is 1": lambda: assumed_mean(1, between=1),
    }
    for message, refuse in refused.items():
        with pytest.raises(InvalidValueError, match=message):
            refuse()


@pytest.mark.parametrize("objective", PLANNED)
@pytest.mark.parametrize("n", [2, 3, 10, 5000])
def test_the_smallest_difference_has_the_power_that_it_was_asked_for(
    objective: PlannedName, n: int
) -> None:
    spread = Spread(objective, 0.3)
    for alpha, target in ((0.05, 0.8), (1e-5, 0.9), (0.2, 0.5)):
        found = smallest_difference(spread, n, target=target, alpha=alpha)
        assert power(spread, found, n, alpha=alpha) == pytest.approx(target, abs=1e-12)
    assert smallest_difference(Spread("mean", 0.3), 2, target=0.06) == 0.0


def test_a_pilot_that_does_not_vary_but_for_rounding_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="does not vary"):
        pilot_spread("mean", [[0.1] * 30])
    values = np.random.default_rng(1).random(309)
    with pytest.raises(InvalidValueError, match="10 groups of unequal size amount"):
        pilot_spread("mean", [values], groups=[0] * 300 + list(range(1, 10)))

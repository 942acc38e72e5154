"""Tests of dependence against plain loops, and their level."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError

pytest.importorskip("scipy", reason="the extra stats")

from scipy import stats

from tcva_adapters.compare.calibration.objectives import mid_ranks
from tcva_adapters.stats.dependence import dependence


def squared_t(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of y on x over its HC0 error, squared, as a regression has it."""
    a = x - x.mean()
    slope = float(a @ y) / float(a @ a)
    rest = y - y.mean() - slope * a
    return (slope * float(a @ a)) ** 2 / float((a * rest) @ (a * rest))


def test_p_is_that_of_a_plain_loop_over_the_same_permutations() -> None:
    rng = np.random.default_rng(1)
    columns, targets = rng.normal(size=(23, 2)), rng.normal(size=(23, 2))
    targets[:, 0] += 0.4 * columns[:, 1]
    places = np.random.Generator(np.random.PCG64(7)).permuted(
        np.tile(np.arange(23), (199, 1)), axis=1
    )
    for target, found in zip(
        targets.T, dependence(columns, targets, draws=199, seed=7), strict=True
    ):
        seen = max(squared_t(x, target) for x in columns.T)
        drawn = [max(squared_t(x, target[row]) for x in columns.T) for row in places]
        assert found == (1 + sum(each >= seen for each in drawn)) / 200


def test_grouped_p_is_that_of_a_plain_loop_over_the_same_signs() -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(12), 3)[rng.permutation(36)]
    x, y = rng.normal(size=36), rng.normal(size=36) + rng.normal(size=12)[codes]
    a, b = x - x.mean(), y - y.mean()

    def clustered(target: np.ndarray) -> float:
        slope = float(a @ target) / float(a @ a)
        rest = a * (target - target.mean() - slope * a)
        spread = sum(rest[codes == group].sum() ** 2 for group in range(12))
        return float((slope * float(a @ a)) ** 2 / spread)

    rng = np.random.Generator(np.random.PCG64(3))
    signs = rng.choice(np.array([-1.0, 1.0]), (299, 12))
    # The column is centred, so that the sum with a target is that with its deviations.
    drawn = [clustered(row[codes] * b) for row in signs]
    found = dependence(x[:, None], y[:, None], codes=codes, draws=299, seed=3)
    assert found[0] == (1 + sum(each >= clustered(b) for each in drawn)) / 300


def test_p_of_ranks_is_close_to_that_of_spearman() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    y = 0.11 * x + rng.normal(size=400)
    found = dependence(mid_ranks(x[:, None]), mid_ranks(y[:, None]), draws=4999)[0]
    # Three Monte Carlo errors, and what studentising moves.
    assert found == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.02)


@pytest.mark.parametrize("clusters", [0, 12])
def test_level_holds_where_nothing_depends(clusters: int) -> None:
    rng, rejected, sets = np.random.default_rng(5), 0, 400
    for number in range(sets):
        n = 4 * clusters or 12
        codes = np.repeat(np.arange(clusters), 4) if clusters else None
        errors = rng.beta(0.6, 3.0, n)
        if codes is not None:
            errors += rng.beta(0.6, 3.0, clusters)[codes]
        p = dependence(
            rng.lognormal(size=(n, 1)), errors[:, None], codes=codes, draws=199, seed=number
        )
        rejected += int(p[0] <= 0.05)
    # 0.05, and three standard errors of 400 data sets.
    assert rejected / sets <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / sets)


def test_constant_sides_have_no_p_and_a_line_has_the_least() -> None:
    x = np.arange(15.0)[:, None]
    assert np.isnan(dependence(np.ones((15, 1)), x, draws=99)).all()
    assert np.isnan(dependence(x, np.ones((15, 1)), draws=99)).all()
    assert dependence(x, 2.0 * x, draws=99)[0] == 0.01
    with pytest.raises(InvalidValueError, match="draws is 0"):
        dependence(x, x, draws=0)


def test_a_constant_side_is_constant_whatever_its_mean_is_rounded_to() -> None:
    varied = np.random.default_rng(9).random((37, 1))
    codes = np.arange(37) // 3
    for value in (1 / 3, 0.1, 1e9 / 7):
        same = np.full((37, 1), value)
        for groups in (None, codes):
            assert np.isnan(dependence(varied, same, codes=groups, draws=99)).all()
            assert np.isnan(dependence(same, varied, codes=groups, draws=99)).all()

"""Jackknife intervals against plain loops, closed forms and other solvers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from scipy import optimize, stats

from tcva_adapters.stats.jackknife import (
    coefficient_intervals,
    exact_share,
    falling_weights,
)
from tcva_adapters.stats.means import share_interval


@pytest.mark.parametrize("grouped", [False, True])
def test_coefficients_leave_out_one_unit_at_a_time(*, grouped: bool) -> None:
    rng = np.random.default_rng(2)
    columns = rng.dirichlet(np.ones(3), 40)
    values = columns @ [1.0, 0.5, 0.2] + rng.normal(0.0, 0.1, 40)
    codes = np.repeat(np.arange(10), 4) if grouped else None
    units = np.arange(40) if codes is None else codes
    whole = np.linalg.lstsq(columns, values, rcond=None)[0]
    without = np.array(
        [
            np.linalg.lstsq(columns[units != unit], values[units != unit], rcond=None)[0]
            for unit in np.unique(units)
        ]
    )
    error = np.sqrt(((without - whole) ** 2).sum(axis=0))
    half = stats.t.ppf(0.975, len(without) - 3) * error
    found = coefficient_intervals(columns, values, codes=codes)
    assert [f.value for f in found] == pytest.approx(whole.tolist(), abs=1e-12)
    assert [f.high - f.value for f in found] == pytest.approx(half.tolist(), abs=1e-10)


def test_reasons_stand_where_there_is_no_interval() -> None:
    columns = np.column_stack([np.ones(20), np.ones(20)])
    assert "depend on each other" in coefficient_intervals(columns, np.arange(20.0))[0].reason
    alone = np.column_stack([np.ones(20), np.eye(20)[0]])
    found = coefficient_intervals(alone, np.arange(20.0))[1]
    assert (found.reason, np.isnan(found.low)) == ("hangs on a single sample or group", True)
    assert exact_share(np.ones(9)).reason == "9 samples: an interval needs 10"
    groups = np.repeat(np.arange(5), 4)
    assert exact_share(np.ones(20), codes=groups).reason == "5 groups: an interval needs 10"


def test_shares_are_exact_and_wider_with_groups_that_agree() -> None:
    hits = np.array([1.0] * 33 + [0.0] * 7)
    found, exact = exact_share(hits), stats.binomtest(33, 40).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)
    grouped = exact_share(
        np.repeat([1.0, 1.0, 0.0, 1.0, 1.0] * 2, 4), codes=np.repeat(np.arange(10), 4)
    )
    # Groups whose samples all agree: .16 / (.16 * 10 / 9 / 10) = 9 single ones, less what t costs.
    as_sure = 9.0 * (stats.t.ppf(0.975, 39) / stats.t.ppf(0.975, 9)) ** 2
    wanted = share_interval(0.8 * as_sure, as_sure)
    assert (grouped.low, grouped.high) == pytest.approx(wanted, abs=1e-9)
    every = exact_share(np.ones(40), codes=np.repeat(np.arange(10), 4))
    assert every.low == pytest.approx(0.025 ** (1 / 10), abs=1e-12)


def test_falling_weights_are_the_least_squares_under_their_bounds() -> None:
    rng = np.random.default_rng(3)
    for truth in (
        [1.0, 0.9, 0.7, 0.3, 0.0],
        [0.2, 0.9, 0.1, 0.8, 1.2],
        [2.0, 1.5, 1.5, -1.0, -1.0],
    ):
        columns = rng.dirichlet(np.ones(5), 80)
        values = columns @ truth + rng.normal(0.0, 0.1, 80)
        found = falling_weights(columns, values)
        assert found[0] <= 1.0 + 1e-12
        assert found[-1] >= -1e-12
        assert (np.diff(found) <= 1e-12).all()
        # Steps between neighbours as variables of a general solver.
        lifted = np.cumsum(columns, axis=1)
        wanted = optimize.minimize(
            lambda d, x=lifted, y=values: float(((x @ d - y) ** 2).sum()),
            np.full(5, 0.1),
            bounds=[(0, None)] * 5,
            constraints={"type": "ineq", "fun": lambda d: 1.0 - d.sum()},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        loss = float(((columns @ found - values) ** 2).sum())
        assert loss <= wanted.fun + 1e-9


def test_a_share_that_is_the_same_in_every_group_is_worth_its_samples() -> None:
    # A variance of 0 and one of rounding errors are the same.
    for size in (2, 3, 7):
        hits = np.tile(np.eye(size)[0], 30)
        found = exact_share(hits, codes=np.repeat(np.arange(30), size))
        assert (found.low, found.high) == pytest.approx(share_interval(30, 30 * size), abs=1e-9)

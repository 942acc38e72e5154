"""The effective number of judges: by hand, on simulated judges, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.independence import ENOUGH, Independence, independence


def test_three_judges_by_hand() -> None:
    # Columns 1 and 2 are the same, column 3 is orthogonal to both: r = (1 + 0 + 0) / 3, and
    # 3 / (1 + 2/3) = 1.8.
    found = independence([[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1]])
    assert found.correlation == pytest.approx(1 / 3, abs=1e-12)
    assert found.effective == pytest.approx(1.8, abs=1e-12)


@pytest.mark.parametrize(
    ("correlation", "effective"), [(1.0, 1.0), (0.0, 4.0), (-0.2, 4.0), (math.nan, math.nan)]
)
def test_from_one_to_all_of_them(correlation: float, effective: float) -> None:
    found = Independence(4, 100, 4, correlation, of_errors=False)
    assert found.effective == pytest.approx(effective, nan_ok=True)


def test_judges_that_are_right_are_not_taken_for_one() -> None:
    rng = np.random.default_rng(5)
    human = rng.normal(size=3000)
    good = human[:, None] + 0.3 * rng.normal(size=(3000, 4))
    alike, apart = independence(good), independence(good, 3 * human + 10)
    assert alike.effective < 1.2
    assert apart.effective == pytest.approx(4.0, rel=0.05)
    assert (alike.of_errors, apart.of_errors) == (False, True)
    together = human[:, None] + 0.3 * rng.normal(size=(3000, 1)) + 0.1 * rng.normal(size=(3000, 4))
    # Errors correlate by .09 / .10: 4 / (1 + 3 * .9) = 1.08.
    assert independence(together, human).effective == pytest.approx(4 / 3.7, rel=0.02)


def test_missing_scores_and_judges_that_do_not_vary_are_left_out() -> None:
    nan = math.nan
    rows = [[0.1, 0.2, 0.5], [0.4, 0.1, 0.5], [0.9, 0.8, 0.5], [0.3, nan, 0.5], [0.2, 0.9, 0.5]]
    found = independence(rows, [1, 2, 3, 4, nan])
    assert (found.judges, found.samples) == (3, 3)
    two = independence([row[:2] for row in rows[:3]])
    assert independence(rows[:3]).correlation == two.correlation
    # The third says the same of every sample: three judges are two.
    assert independence(rows[:3]).effective == two.effective


@pytest.mark.parametrize(
    ("scores", "human"),
    [
        (np.empty((0, 2)), None),
        ([[0.5, 0.7]], None),
        ([[0.5, 0.7], [0.5, 0.7]], None),
        # Both judges are the human ratings, on a scale of their own: nothing is left of them.
        ([[0.1, 0.3], [0.2, 0.5], [0.7, 1.5]], [1.0, 2.0, 7.0]),
    ],
)
def test_without_a_correlation_nothing_is_known(scores: object, human: object) -> None:
    found = independence(scores, human)  # type: ignore[arg-type]  # tables of any kind
    assert math.isnan(found.correlation)
    assert math.isnan(found.effective)
    assert not found.is_known


def test_ratings_that_are_all_the_same_take_nothing_off() -> None:
    rows = np.random.default_rng(1).normal(size=(ENOUGH, 2))
    same = independence(rows, np.ones(ENOUGH))
    assert same.correlation == pytest.approx(independence(rows).correlation, abs=1e-12)
    assert same.is_known
    assert not independence(rows[:-1]).is_known


def test_lengths_have_to_fit() -> None:
    with pytest.raises(InvalidValueError, match="different lengths"):
        independence([[0.5, 0.7]], [1, 2])

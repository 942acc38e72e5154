"""Holm's correction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.holm import holm

PS = st.lists(st.integers(0, 64).map(lambda i: i / 64), min_size=1, max_size=12)


def test_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04; the last may not
    # fall below the third.
    assert holm([0.01, 0.04, 0.03, 0.005]).round(12).tolist() == [0.03, 0.06, 0.06, 0.02]
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


def test_a_missing_p_counts_as_a_hypothesis() -> None:
    assert holm([0.01, math.nan, 0.02]).tolist() == pytest.approx(
        [0.03, math.nan, 0.04], nan_ok=True
    )


def rejected(ps: list[float], alpha: float) -> list[bool]:
    """The procedure as a textbook has it: stop at the first p that is too large."""
    out = [False] * len(ps)
    for step, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        if ps[place] > alpha / (len(ps) - step):
            break
        out[place] = True
    return out


@given(PS, st.integers(1, 63))
def test_adjusted_p_decide_as_the_procedure_does(ps: list[float], level: int) -> None:
    # No product of 64ths meets alpha by rounding: it lies half way between two 64ths of 1/12!.
    alpha = (level + 1 / (2 * math.factorial(12))) / 64
    assert (holm(ps) <= alpha).tolist() == rejected(ps, alpha)


@given(PS)
def test_adjusted_p_keep_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert (adjusted >= np.array(ps)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0).all()


def test_a_p_beyond_its_range_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"1\.5"):
        holm([1.5])

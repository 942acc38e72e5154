"""Kappa against published tables."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.kappa import KappaWeights, kappa_of_table, weighted_kappa

# Answers of 91 married couples, husbands by wives (Hout, Duncan and Sobel 1987, in Agresti 1990).
# Published: kappa 0.1293, with linear weights 0.2374 (R package vcd, documentation of Kappa).
COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]


@pytest.mark.parametrize(("weights", "expected"), [("none", 0.1293), ("linear", 0.2374)])
def test_a_published_table(weights: KappaWeights, expected: float) -> None:
    assert kappa_of_table(COUPLES, weights) == pytest.approx(expected, abs=5e-5)


def test_quadratic_weights_by_hand() -> None:
    # Rows 1, 1, 1 and columns 2, 0, 1 of 3 items: observed 0 + 1 + 0 = 1 squared level; expected
    # by chance (1/3)(0*2 + 4*1 + 1*2 + 1*1 + 4*2 + 0*1) = 15/3 = 5; kappa = 1 - 1/5.
    assert weighted_kappa([0, 1, 2], [0, 0, 2], levels=3) == pytest.approx(0.8, abs=1e-12)


def test_two_levels_need_no_weights() -> None:
    table = [[20, 5], [10, 15]]  # observed .7, by chance .5: (.7 - .5) / .5
    kappas = [kappa_of_table(table, weights) for weights in ("none", "linear", "quadratic")]
    assert kappas == pytest.approx([0.4] * 3, abs=1e-12)


def test_missing_levels_do_not_count() -> None:
    nan = float("nan")
    assert weighted_kappa([0, nan, 1, 2], [0, 2, nan, 0], levels=3) == weighted_kappa(
        [0, 2], [0, 0], levels=3
    )


def test_what_chance_explains_is_undefined() -> None:
    assert np.isnan(weighted_kappa([1, 1], [1, 1], levels=3))
    assert np.isnan(weighted_kappa([], [], levels=3))


def test_bad_input_is_named() -> None:
    with pytest.raises(InvalidValueError, match=r"5\.0 is no level; levels are 0 to 4"):
        weighted_kappa([5], [0], levels=5)
    with pytest.raises(InvalidValueError, match="different lengths: 2 of first, 1 of second"):
        weighted_kappa([1, 2], [1], levels=5)
    with pytest.raises(InvalidValueError, match="levels by levels"):
        kappa_of_table([[1, 2, 3]])
    with pytest.raises(InvalidValueError, match="not negative"):
        kappa_of_table([[1, -2], [0, 1]])
    with pytest.raises(InvalidValueError, match="unknown weights 'cubic'"):
        kappa_of_table([[1, 2], [0, 1]], "cubic")  # type: ignore[arg-type]  # wrong on purpose


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="counts must be numbers"):
        kappa_of_table([["a"]])
    with pytest.raises(InvalidValueError, match="first must be numbers"):
        weighted_kappa(["a"], [0], levels=2)
    with pytest.raises(InvalidValueError, match="levels is 0"):
        weighted_kappa([], [], levels=0)

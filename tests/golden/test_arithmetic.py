"""Scores of stored level counts, and everything else that is numbers only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.golden.arithmetic import FLIP, Arrays, computed

RELATIVE = 1e-11
"""Scores are rounded to 12 significant digits; that moves them by half of this at most."""
TINY = 1e-25
"""Right above exponent 0 a score with a `none` is 0 for every purpose, be it 1e-98 or 1e-302."""
GIVEN = ("counts", "table", "judges", "temperatures")
DECIDING = np.round(np.arange(0.05, 1.0, 0.05), 2)


@pytest.fixture(scope="module")
def golden() -> Arrays:
    with np.load(Path(__file__).with_name("arithmetic.npz")) as arrays:
        return {key: arrays[key] for key in arrays}


@pytest.fixture(scope="module")
def now(golden: Arrays) -> Arrays:
    return computed({key: golden[key] for key in GIVEN})


@pytest.mark.parametrize(
    "name", ["scores", "always", "lists", "library", "exponents", "fused", "weighted", "ratings"]
)
def test_numbers_are_those_that_were(golden: Arrays, now: Arrays, name: str) -> None:
    np.testing.assert_allclose(now[name], golden[name], rtol=RELATIVE, atol=TINY)


@pytest.mark.parametrize("name", ["scores", "always", "lists", "library", "fused", "weighted"])
def test_decisions_are_those_that_were(golden: Arrays, now: Arrays, name: str) -> None:
    for threshold in DECIDING:
        assert np.array_equal(now[name] >= threshold, golden[name] >= threshold), threshold


def test_flips_are_those_that_were(golden: Arrays, now: Arrays) -> None:
    np.testing.assert_allclose(now["flips"], golden["flips"], rtol=0, atol=FLIP)

"""The map from temperature to exponent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tcva_adapters.core.temperature import PRESETS, Bounds, check_temperature, exponent
from tcva_adapters.errors import InvalidValueError


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [(0.1, -8.0), (0.3, -3.5), (0.5, 1.0), (0.7, 5.5), (0.9, 10.0), (1.0, 12.25)],
)
def test_the_papers_exponents_are_exact(temperature: float, expected: float) -> None:
    assert exponent(temperature) == expected


def test_other_bounds() -> None:
    # Half way from 0 to 2 lies half way from -1 to 3.
    assert exponent(0.75, p_min=-1, p_max=3, t_min=0, t_max=1.5) == 1.0


def test_presets_rise_in_leniency() -> None:
    assert list(PRESETS) == ["strict", "balanced", "lenient"]
    assert exponent("strict") < exponent("balanced") == 1.0 < exponent("lenient")
    assert check_temperature("0.25") == 0.25


@pytest.mark.parametrize(
    "temperature", [0.0999, 1.0001, -1, math.nan, math.inf, "cold", True, None]
)
def test_out_of_range(temperature: Any) -> None:
    with pytest.raises(InvalidValueError, match=str(temperature)):
        check_temperature(temperature)


@pytest.mark.parametrize(
    "ends",
    [
        {"p_min": 1.0, "p_max": 1.0},
        {"t_min": 0.5, "t_max": 0.5},
        {"t_max": 1.6},
        {"p_max": math.inf},
        {"p_min": -1e308, "p_max": 1e308},
    ],
)
def test_wrong_bounds(ends: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError):
        Bounds(**ends)


def test_numbers_of_no_ordinary_size_are_refused() -> None:
    for wrong in (10**400, np.array([0.5, 0.6])):
        with pytest.raises(InvalidValueError, match=r"must be a number|inf is outside"):
            check_temperature(wrong)  # type: ignore[arg-type]  # what a user may get wrong

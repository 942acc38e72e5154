"""score_agg against hand computation; benchmarks/compat.py compares it with the library itself."""

from __future__ import annotations

import pytest

from tcva_adapters.core.compat import score_agg
from tcva_adapters.errors import InvalidValueError


def test_no_scores_give_zero() -> None:
    assert score_agg([]) == 0.0


def test_the_penalty_is_ramped_in_with_the_number_of_scores() -> None:
    # Mean .5, half of the scores are 0; alpha = 1 * (n - 1)/4: 1/4 at n = 2, 3/4 at n = 4, then 1.
    assert score_agg([1, 0]) == round(0.5 * 0.5**0.25, 4)
    assert score_agg([1, 0] * 2) == round(0.5 * 0.5**0.75, 4)
    assert score_agg([1, 0] * 3) == 0.25
    assert score_agg([0]) == 0.0


def test_the_penalty_argument_has_no_effect() -> None:
    assert score_agg([1, 0.9, 0], penalty=0.1) == score_agg([1, 0.9, 0], penalty=5)


def test_temperature_is_clamped_for_the_exponent_alone() -> None:
    # T = 2: exponent of T = 1 (12.25), alpha = 1.5 - 2 = -.5 at full ramp (n = 5, one 0).
    mean = (4 / 5) ** (1 / 12.25)
    assert score_agg([1, 1, 1, 1, 0], temperature=2) == round(mean * 0.8**-0.5, 4)


def test_results_have_four_decimals() -> None:
    assert score_agg([1, 0.9, 0.7]) == 0.8667


@pytest.mark.parametrize(
    ("dialect", "expected"), [("paper", 0.25), ("absolute", 0.45), ("off", 0.5), ("ramped", 0.4204)]
)
def test_dialects(dialect: str, expected: float) -> None:
    assert score_agg([1, 0], dialect=dialect) == expected  # type: ignore[arg-type]  # a literal


def test_unknown_dialects_are_named() -> None:
    with pytest.raises(InvalidValueError, match="'double'"):
        score_agg([1], dialect="double")  # type: ignore[arg-type]  # on purpose

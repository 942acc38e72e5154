"""From a probability of a yes to shares of levels; every figure is derived by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.core.verdicts import SCHEMES, WeightScheme
from tcva_adapters.core.yes_no import level_shares
from tcva_adapters.errors import InvalidValueError

PROBABILITIES = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("p_yes", "shares"),
    [
        (1.0, (1, 0, 0, 0, 0)),
        (0.95, (0.5, 0.5, 0, 0, 0)),  # half way from .9 to 1
        (0.9, (0, 1, 0, 0, 0)),
        (0.75, (0, 0.25, 0.75, 0, 0)),  # a quarter of the way from .7 to .9
        (0.5, (0, 0, 0.5, 0.5, 0)),
        (0.03, (0, 0, 0, 0.1, 0.9)),
        (0.0, (0, 0, 0, 0, 1)),
    ],
)
def test_a_probability_is_shared_by_its_neighbours(p_yes: float, shares: tuple[float, ...]) -> None:
    assert level_shares(p_yes) == pytest.approx(shares, abs=1e-12)


@given(PROBABILITIES)
def test_the_expected_weight_of_the_default_scheme_is_the_probability(p_yes: float) -> None:
    shares = level_shares(p_yes)
    assert sum(shares) == pytest.approx(1.0, abs=1e-12)
    assert np.dot(shares, WeightScheme.DEFAULT.weights) == pytest.approx(p_yes, abs=1e-12)


@given(PROBABILITIES, PROBABILITIES, st.sampled_from(sorted(SCHEMES)))
def test_expected_weights_rise_with_the_probability(one: float, other: float, name: str) -> None:
    weights = SCHEMES[name].weights
    low, high = (np.dot(level_shares(p), weights) for p in sorted((one, other)))
    assert low <= high + 1e-12


@pytest.mark.parametrize("p_yes", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p_yes: float) -> None:
    with pytest.raises(InvalidValueError, match="p_yes="):
        level_shares(p_yes)

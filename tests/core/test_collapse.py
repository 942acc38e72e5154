"""Two and three levels, the ablation, verdicts of frameworks, score_agg and shares of levels."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.core.collapse import ablation, binary_counts, from_deepeval, ternary_counts
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.verdicts import SCHEMES, WeightScheme, count_levels, level_shares
from tcva_adapters.errors import InvalidValueError

WORDS = ["fully", "mostly", "partial", "minor", "none", "none"]
ROW = count_levels(WORDS)[None, :]


def test_counts_at_two_and_three_levels() -> None:
    assert binary_counts(ROW).tolist() == [[2, 0, 0, 0, 4]]
    assert ternary_counts(ROW).tolist() == [[2, 2, 2]]


def test_ablation_by_hand() -> None:
    # Weights 1, .9, .7, .3, 0, 0: mean 2.9/6; f = 1/3; at T = .9 the exponent is 10, alpha .6.
    result = ablation(ROW, 0.9)
    power_mean = ((1 + 0.9**10 + 0.7**10 + 0.3**10) / 6) ** 0.1
    kept = (2 / 3) ** 0.6
    assert result["full"][0] == aggregate(WORDS, 0.9) == pytest.approx(power_mean * kept, abs=1e-12)
    assert result["without_penalty"][0] == pytest.approx(power_mean, abs=1e-12)
    assert result["arithmetic"][0] == pytest.approx(2.9 / 6 * kept, abs=1e-12)
    # D: two ones of six; f counts all four zeros.
    assert result["binary"][0] == pytest.approx((2 / 6) ** 0.1 * (2 / 6) ** 0.6, abs=1e-12)


def test_ablation_at_the_balanced_temperature_leaves_the_mean_as_it_is() -> None:
    # T = .5 has exponent 1: A and C are one formula there, and so have all ties in common.
    rows = [[a, b, c, d, e] for a, b, c, d, e in product(range(3), repeat=5)]
    result = ablation(rows, "balanced")
    assert (result["arithmetic"][1:] == result["full"][1:]).all()
    assert all(map(math.isnan, (result["full"][0], result["arithmetic"][0], result["binary"][0])))


def test_verdicts_of_frameworks_are_levels() -> None:
    assert [level.value for level in from_deepeval(["Yes", " borderline", "no", "idk"])] == [
        *("fully", "partial", "none", "partial")
    ]


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([], {}, 0.0),
        ([0], {}, 0.0),
        ([1, 0.9, 0.7], {}, 0.8667),
        ([1, 0.25], {"temperature": 0.1 + 8 / 20.25 * 0.9}, 0.5),  # the geometric mean
        # Mean .5, half are 0; alpha = (n - 1)/4: 1/4 at n = 2, 3/4 at n = 4, then 1.
        ([1, 0], {}, 0.4204),
        ([1, 0] * 2, {}, 0.2973),
        ([1, 0] * 3, {}, 0.25),
        ([1, 0], {"penalty": 5}, 0.4204),  # without effect, as in the library
        # T = 2: exponent of T = 1 (12.25), alpha = 1.5 - 2 = -.5 at full ramp (n = 5, one 0).
        ([1, 1, 1, 1, 0], {"temperature": 2}, round(0.8 ** (1 / 12.25 - 0.5), 4)),
    ],
)
def test_score_agg_by_hand(scores: list[float], options: dict[str, float], expected: float) -> None:
    assert score_agg(scores, **options) == expected


PROBABILITIES = st.floats(0.0, 1.0)


def test_a_probability_is_shared_by_its_neighbours() -> None:
    assert level_shares(0.95) == pytest.approx((0.5, 0.5, 0, 0, 0), abs=1e-12)
    assert level_shares(0.9) == (0, 1, 0, 0, 0)
    # A quarter of the way from .7 to .9.
    assert level_shares(0.75) == pytest.approx((0, 0.25, 0.75, 0, 0), abs=1e-12)
    for no_probability in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidValueError, match="p_yes must"):
            level_shares(no_probability)


@given(PROBABILITIES, PROBABILITIES, st.sampled_from(sorted(SCHEMES)))
def test_expected_weights_are_and_rise_with_the_probability(p: float, q: float, name: str) -> None:
    assert sum(level_shares(p)) == pytest.approx(1.0, abs=1e-12)
    assert np.dot(level_shares(p), WeightScheme.DEFAULT.weights) == pytest.approx(p, abs=1e-12)
    low, high = (np.dot(level_shares(each), SCHEMES[name].weights) for each in sorted((p, q)))
    assert low <= high + 1e-12

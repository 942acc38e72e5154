"""Temperatures: their exponents, their names, and the one at which a verdict flips."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcva_adapters import (
    Verdict,
    aggregate,
    aggregate_counts,
    exponent,
    flip_temperature,
)
from tcva_adapters.core.aggregation import (
    FLOORS,
    PENALTIES,
    Floor,
    Penalty,
    score_curves,
)
from tcva_adapters.core.flip import flip_point
from tcva_adapters.core.temperature import PRESETS, check_temperature
from tcva_adapters.core.verdicts import LEVELS, count_levels

WORDS = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=10)


@given(WORDS, st.floats(0.0, 1.0), st.sampled_from(FLOORS))
def test_passes_from_there_on(
    words: list[Verdict], threshold: float, floor: Floor
) -> None:
    flip = flip_temperature(words, threshold, floor=floor)
    if flip is None:
        assert aggregate(words, 1.0, floor=floor) < threshold
        return
    assert aggregate(words, flip, floor=floor) >= threshold
    for at in np.linspace(flip, 1.0, 50)[1:]:
        # The score is monotone but for the last bits.
        assert aggregate(words, float(at), floor=floor) >= threshold * (1 - 1e-12)
    if flip > 0.1:
        assert aggregate(words, math.nextafter(flip, 0.0), floor=floor) < threshold


@given(
    st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any), st.floats(0.1, 1.0)
)
@example([1, 1, 0, 0, 0], 0.18546239775783702)
@example([1, 1, 0, 0, 0], 0.1730554454435916)
@example([1, 2, 3, 0, 0], 0.3)  # the last bit wavers there
@example([1, 3, 2, 0, 3], 1.0)  # floats are closer together below a power of two
@example([0, 1, 2, 2, 0], 0.25)
@example([0, 3, 0, 2, 0], 0.125)
def test_a_threshold_that_is_the_answers_own_score(
    row: list[int], temperature: float
) -> None:
    threshold = float(aggregate_counts([row], [temperature])[0, 0])
    flip = flip_temperature(row, threshold)
    assert flip is not None
    near = np.minimum(flip + np.ldexp(1.0, np.arange(-54, 0)), 1.0)
    assert (aggregate_counts([row], near) >= threshold).all()


@given(
    WORDS,
    st.one_of(st.floats(0.0, 1.0), st.integers(0, 100).map(lambda cents: cents / 100)),
    st.sampled_from(PENALTIES),
    st.sampled_from(FLOORS),
)
@example(["fully"], 2 / 3, "paper", "paper")
@example(["fully", "mostly"], 1.0, "paper", "paper")
def test_a_list_flips_where_its_row_does(
    words: list[Verdict], threshold: float, penalty: Penalty, floor: Floor
) -> None:
    row = np.array([count_levels(words)], dtype=np.float64)
    curve = score_curves(row, penalty=penalty, floor=floor)
    expected = flip_point(lambda temperatures: curve(temperatures)[0] - threshold)
    flip = flip_temperature(words, threshold, penalty=penalty, floor=floor)
    assert flip == (
        expected if expected is None else pytest.approx(expected, rel=1e-12)
    )


def test_a_pass_below_the_drop_does_not_count() -> None:
    words = ["fully"] * 4 + ["none"]
    # At p = 0 the geometric mean of 1, 1, 1, 1, 1e-9 is 10^-1.8 = .0158 and passes .01 without a
    # penalty; right above it the score is 2e-10, so the answer passes for good only further up.
    at_zero = 0.1 + 8 / 20.25 * 0.9
    assert aggregate(words, at_zero, penalty="off") > 0.01
    flip = flip_temperature(words, 0.01, penalty="off")
    assert flip is not None
    assert flip > at_zero + 1e-4
    # With the floor everywhere there is no drop.
    steady = flip_temperature(words, 0.01, penalty="off", floor="always")
    assert steady is not None
    assert steady < at_zero


def test_the_ends() -> None:
    assert (flip_temperature(["fully"], 1.0), flip_temperature(["none"], 0.1)) == (
        0.1,
        None,
    )
    assert (flip_temperature(["none"], 0.0), flip_temperature([], 0.5)) == (0.1, None)
    words = ["fully", "minor", "partial", "none"]
    assert flip_temperature([1, 0, 1, 1, 1], 0.5) == flip_temperature(words, 0.5)


def test_other_bounds() -> None:
    # Half way from 0 to 2 lies half way from -1 to 3.
    assert exponent(0.75, p_min=-1, p_max=3, t_min=0, t_max=1.5) == 1.0


def test_presets_and_numbers_warn_of_nothing() -> None:
    with warnings.catch_warnings(action="error"):
        assert [check_temperature(t) for t in ("strict", "0.25", 0.9)] == [
            0.2,
            0.25,
            0.9,
        ]
        assert list(PRESETS) == ["strict", "balanced", "lenient"]
        assert exponent("strict") < exponent("balanced") == 1.0 < exponent("lenient")

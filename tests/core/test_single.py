"""Single rows are scored on plain numbers: every bit is that of the arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.scores import differing
from tcva_adapters.core.aggregation import (
    FLOORS,
    PENALTIES,
    Floor,
    score_curves,
    single_score,
    sweep,
)
from tcva_adapters.core.kernel import GRAINS, Penalty
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds
from tcva_adapters.core.verdicts import SCHEMES, WeightScheme

NUMBERS = st.one_of(
    st.integers(0, 12),
    st.integers(0, 2**53).map(float),
    st.integers(0, int(GRAINS)).map(lambda n: n / GRAINS),
    st.floats(0.0, 2.0**53),
)
WEIGHTS = st.lists(st.sampled_from([0.0, 0.25, 0.3, 1 / 3, 0.9, 1.0]), min_size=5, max_size=5)
SCHEME = st.one_of(
    st.sampled_from([*SCHEMES.values()]),
    WEIGHTS.map(lambda weights: WeightScheme.custom(*sorted(weights, reverse=True))),
)
BOUNDS = st.sampled_from(
    [
        PAPER_BOUNDS,
        Bounds(0.5, 30.0, 0.0, 1.4),
        Bounds(-1e-11, 1e-11, 0.0, 1.0),
        Bounds(-50, 1, -20, 1),
    ]
)


FLOORED = st.tuples(st.floats(1e-300, 1e-9), st.sampled_from(FLOORS)) | st.tuples(
    st.floats(1e-300, 0.999), st.just("always")
)


@given(
    st.lists(NUMBERS, min_size=5, max_size=5),
    st.floats(0.0, 1.0),
    SCHEME,
    st.sampled_from(PENALTIES),
    FLOORED,
    BOUNDS,
)
@example([1, 1, 0, 0, 1], 4 / 9, WeightScheme.DEFAULT, "ramped", (1e-9, "paper"), PAPER_BOUNDS)
@example(
    [5e-324, 0, 0, 0, 5e-324], 1.0, WeightScheme.DEFAULT, "paper", (1e-9, "paper"), PAPER_BOUNDS
)
@settings(max_examples=1000, deadline=None)
def test_the_same_bits_as_in_a_sweep(
    row: list[float],
    share: float,
    scheme: WeightScheme,
    penalty: Penalty,
    floored: tuple[float, Floor],
    bounds: Bounds,
) -> None:
    temperature = min(bounds.t_min + share * (bounds.t_max - bounds.t_min), bounds.t_max)
    options = (scheme, penalty, *floored, bounds)
    names = ("scheme", "penalty", "eps", "floor", "bounds")
    swept = sweep([row, [3, 0, 0, 1, 1]], [temperature], **dict(zip(names, options, strict=True)))  # type: ignore[arg-type]  # of several kinds
    single = single_score(row, temperature, *options)
    assert np.array([single]).tobytes() == swept[:1].tobytes()


def test_the_same_bits_for_many_kinds_of_rows_and_settings() -> None:
    # python -m benchmarks.scores compares millions, and with fewer of numpy's vector kernels.
    compared, wrong = differing(20_000, seed=1)
    assert compared >= 20_000
    assert wrong == 0


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, 1e-120, 2.0**-200])
def test_tiny_shares_are_shares(tiny: float) -> None:
    # At exponent 1 their products would vanish.
    assert sweep([[tiny, 0, 0, 0, tiny]], [0.5]).tolist() == [[0.25]]


def test_curves_are_sweeps_and_a_judge_may_have_nothing() -> None:
    rows = np.array([[2.0, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0.5, 0, 0, 0.25, 0]])
    for grid in ([0.3], [0.1, 0.3, 0.5, 0.9]):
        at = np.array(grid)
        curves = score_curves(rows, WeightScheme.LINEAR, "ramped", 1e-9, "paper", PAPER_BOUNDS)
        swept = sweep(rows, at, scheme=WeightScheme.LINEAR, penalty="ramped")
        assert curves(at).tobytes() == swept.tobytes()


def test_a_user_may_have_numpy_raise() -> None:
    with np.errstate(all="raise"):
        assert (
            single_score(
                [1, 0, 0, 0, 1], 0.1, WeightScheme.DEFAULT, "paper", 1e-300, "paper", PAPER_BOUNDS
            )
            < 1e-290
        )
        assert (
            single_score(
                [1, 0, 0, 0, 1], 0.46, WeightScheme.DEFAULT, "paper", 1e-9, "paper", PAPER_BOUNDS
            )
            > 0.0
        )

"""Means in blocks are those of exact sums."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.stats.exact_mean import ExactMean

numbers = st.floats(-1e300, 1e300) | st.just(math.nan) | st.floats(0.0, 1.0)


@given(st.lists(numbers, max_size=40), st.integers(1, 7))
def test_a_mean_is_that_of_fsum_whatever_the_blocks(values: list[float], size: int) -> None:
    mean = ExactMean(2)
    for start in range(0, len(values), size):
        block = np.array(values[start : start + size])
        mean.add(np.stack([block, block[::-1]], axis=1))
    known = [value for value in values if not math.isnan(value)]
    wanted = math.fsum(known) / len(known) if known else math.nan
    np.testing.assert_array_equal(mean.values(), [wanted, wanted])


def test_no_digit_is_lost_in_many() -> None:
    values = np.random.default_rng(0).random(100_000) ** 20
    mean = ExactMean(1)
    mean.add(values[:, None])
    assert mean.values() == [math.fsum(values) / len(values)]

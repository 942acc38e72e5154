"""Is a correlation with human ratings more than chance? By permuting the ratings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, IntArray, numbers, same_length, whole
from tcva_adapters.stats.correlation import Measure, check_measure, value_of
from tcva_adapters.stats.scipy_extra import scipy_module

__all__ = ["CorrelationTest", "correlation_test"]

_EXACT: Final = 8
"""Samples up to which every permutation is looked at: 40,320 of them."""
_PAIRS: Final = 50
"""Up to which Kendall's is permuted, since it takes n^2 steps each time."""
_MOST: Final = 1_000
"""Up to which the others are; beyond, the formulas differ from permutations by less than these do."""
_CELLS: Final = 1 << 18
_SAME: Final = 1e-12
"""Correlations that differ by less are the same on paper."""


@dataclass(frozen=True, slots=True)
class CorrelationTest:
    """Whether a correlation is more than chance.

    Attributes:
        measure: ``spearman``, ``kendall`` or ``pearson``.
        value: The correlation; nan where it is undefined.
        p_two_sided: How often ratings that are dealt at random agree at least as closely, in either
            direction; nan where the correlation is undefined.
        test: ``permutations, exact``, ``permutations, drawn``, ``Student's t`` or ``normal``.
        n: Samples that have both.
    """

    measure: Measure
    value: float
    p_two_sided: float
    test: str
    n: int


def correlation_test(
    measure: Measure,
    scores: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    n_permutations: int = 10_000,
    seed: int = 0,
) -> CorrelationTest:
    """A permutation test of one correlation, for single samples that were drawn independently.

    Every permutation of up to eight samples; above, ``n_permutations`` drawn ones and the one at hand,
    so that p is never 0. Above 1,000 samples Student's t with n - 2
    degrees, and for Kendall above 50 the normal distribution with the variance for ties.

    Args:
        measure: ``spearman``, ``kendall`` or ``pearson``.
        scores: Shape (N,); nan or None where there is none.
        human: Shape (N,), likewise.
        n_permutations: How many are drawn; of Spearman and Pearson a few more, to full rounds of N.
        seed: Of these.

    Returns:
        ``mae``, and a side that is the same throughout, have no p (nan).

    Raises:
        InvalidValueError: An unknown measure, lengths that differ, no permutations, a bad seed.
        MissingDependencyError: scipy is not installed.

    Of the 24 orders of four ratings, the rising and the falling one agree as closely as this:

    >>> found = correlation_test("spearman", [0.1, 0.4, 0.6, 0.9], [1, 2, 3, 5])
    >>> round(found.p_two_sided * 24, 9), found.test
    (2.0, 'permutations, exact')
    """
    check_measure(measure)
    count = whole("n_permutations", n_permutations, least=1)
    generator = np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))
    first, ratings = numbers("scores", scores), numbers("human", human)
    same_length(scores=first, human=ratings)
    both = np.isfinite(first) & np.isfinite(ratings)
    first, ratings = first[both], ratings[both]
    value, n = value_of(measure, first, ratings), len(first)
    if measure == "mae" or np.isnan(value):
        return CorrelationTest(measure, value, float("nan"), "", n)
    if measure == "kendall" and n > _PAIRS:
        found = scipy_module("stats").kendalltau(first, ratings, method="asymptotic")
        return CorrelationTest(measure, value, float(found.pvalue), "normal", n)
    if n > _MOST:
        t = abs(value) * np.sqrt((n - 2) / max(1 - value**2, 1e-300))
        p = 2 * float(scipy_module("special").stdtr(n - 2, -t))
        return CorrelationTest(measure, value, p, "Student's t", n)
    if n <= _EXACT:
        p = _as_far(measure, first, ratings, _all(n)) / factorial(n)
        return CorrelationTest(measure, value, p, "permutations, exact", n)
    if measure == "kendall":
        p = (_as_far(measure, first, ratings, _drawn(generator, n, count)) + 1) / (count + 1)
    else:
        p = _share_of_rotations(*_unit_vectors(measure, first, ratings), generator, count)
    return CorrelationTest(measure, value, p, "permutations, drawn", n)


def _all(n: int) -> Iterator[IntArray]:
    yield np.array(list(permutations(range(n))), dtype=np.int64)


def _drawn(generator: np.random.Generator, n: int, count: int) -> Iterator[IntArray]:
    rows = max(1, _CELLS // n)
    for start in range(0, count, rows):
        block = np.tile(np.arange(n), (min(rows, count - start), 1))
        yield generator.permuted(block, axis=1)


def _as_far(
    measure: Measure, first: FloatArray, ratings: FloatArray, orders: Iterator[IntArray]
) -> int:
    """How many of the orders of the ratings give a sum of products as far from 0, or farther."""
    if measure == "kendall":
        ours, theirs = _signs(first), _signs(ratings)
        observed = abs(float(np.sum(ours * theirs)))
        return sum(
            int(np.count_nonzero(abs(sum_) >= observed - 0.5))
            for block in orders
            for sum_ in _kendall_sums(ours, theirs, block)
        )
    ours, theirs = _unit_vectors(measure, first, ratings)
    observed = abs(float(ours @ theirs)) - _SAME
    return sum(int(np.count_nonzero(np.abs(theirs[block] @ ours) >= observed)) for block in orders)


def _share_of_rotations(
    ours: FloatArray, theirs: FloatArray, generator: np.random.Generator, count: int
) -> float:
    """The share of so many orders of the ratings whose sum of products is as far from 0, or farther.

    They come in rounds: an order, and all that come of it when the whole of it moves on by one place
    after the other. One Fourier transform has the sums of a round. The order at hand begins a round,
    the others begin at random: where scores say nothing of ratings, each order of each round is as
    likely to be the one at hand, so that the share is an exact p. The places are dealt first, so
    that neighbours in a file are none here.
    """
    n = len(ours)
    places = generator.permutation(n)
    ours, theirs = ours[places], theirs[places]
    starts = np.tile(theirs, (1 + -(-count // n), 1))
    generator.permuted(starts[1:], axis=1, out=starts[1:])
    sums = np.fft.irfft(np.fft.rfft(starts) * np.conj(np.fft.rfft(ours)), n)
    return float(np.mean(np.abs(sums) >= abs(float(ours @ theirs)) - _SAME))


def _unit_vectors(
    measure: Measure, first: FloatArray, ratings: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both sides, or their ranks, less their mean and of length 1: their product is the correlation."""
    if measure == "spearman":
        rank = scipy_module("stats").rankdata
        first, ratings = rank(first), rank(ratings)
    return _scaled(first), _scaled(ratings)


def _kendall_sums(ours: FloatArray, theirs: FloatArray, block: IntArray) -> Iterator[FloatArray]:
    """Concordant less discordant pairs, twice, of some orders at a time."""
    rows = max(1, _CELLS // len(ours) ** 2)
    for start in range(0, len(block), rows):
        part = block[start : start + rows]
        moved = theirs[part[:, :, None], part[:, None, :]]
        yield np.tensordot(moved, ours, axes=2)


def _signs(values: FloatArray) -> FloatArray:
    """Which of two is larger, for every two."""
    return np.sign(values[:, None] - values[None, :])


def _scaled(values: FloatArray) -> FloatArray:
    # Powers of two change no digit, and keep sums and squares from overflowing.
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    centred = values - values.mean()
    scaled: FloatArray = centred / np.linalg.norm(centred)
    return scaled

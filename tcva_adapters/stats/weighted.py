"""Measures of agreement of many resamples at once, from counts per sample.

The values are those of the plain formulas on the drawn samples, with no approximation: every
resample is ranked anew, ties within it included. Sums over ranks and pairs are exact (for Spearman
up to 200,000 samples); all others run along the samples of one resample. So a value does not
depend on the block that a resample is in.

Arrays have one row per resample and one column per sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.ranks import Concordance, Ranks

Statistic = Callable[[IntArray], FloatArray]
"""From counts (rows, n) to values (methods, rows); nan where a value is undefined."""


def statistic_of(measure: Measure, methods: Sequence[FloatArray], human: FloatArray) -> Statistic:
    """The function that gives the measure of every method in every resample.

    Args:
        measure: Its name.
        methods: Finite scores, each of shape (n,), n at least 1.
        human: Finite, shape (n,).

    Each sample once, and the first one thrice:

    >>> scores, human = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    >>> statistic_of("spearman", [scores], human)(np.array([[1, 1, 1], [3, 1, 1]])).round(3)
    array([[0.5  , 0.875]])
    """
    if measure == "mae":
        return _mae(methods, human)
    if measure == "kendall":
        return _kendall(methods, human)
    return _product_moment(Ranks if measure == "spearman" else _Values, methods, human)


class _Values:
    """One variable of a correlation that is not ranked: the values themselves."""

    def __init__(self, values: FloatArray) -> None:
        # A power of two changes no digit and keeps squares from overflowing.
        self._values = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))

    def centred(self, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Scaled deviations from each resample's mean (rows, n), and the sums of their squares."""
        # Measured from the smallest drawn value first: a constant resample then gives zeros
        # exactly, and an outlier that was not drawn costs no digits.
        lowest = np.where(counts > 0, self._values, np.inf).min(axis=1, keepdims=True)
        deviations = self._values - lowest
        weights = counts.astype(np.float64)
        weighted = weights * deviations
        deviations -= weighted.sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
        np.multiply(weights, deviations, out=weighted)
        weighted *= deviations
        return deviations, weighted.sum(axis=1)


def _product_moment(
    side: type[Ranks | _Values], methods: Sequence[FloatArray], human: FloatArray
) -> Statistic:
    ratings = side(human)
    sides = [side(scores) for scores in methods]

    def values(counts: IntArray) -> FloatArray:
        weighted, spread = ratings.centred(counts)
        weighted *= counts
        rows = []
        for one in sides:
            deviations, own_spread = one.centred(counts)
            deviations *= weighted
            rows.append(_ratio(deviations.sum(axis=1), own_spread, spread))
        return np.array(rows)

    return values


def _kendall(methods: Sequence[FloatArray], human: FloatArray) -> Statistic:
    ratings = Ranks(human)
    pairs = [Concordance(Ranks(scores), ratings) for scores in methods]
    return lambda counts: np.array([_ratio(*pair.tau_b(counts)) for pair in pairs])


def _mae(methods: Sequence[FloatArray], human: FloatArray) -> Statistic:
    gaps = [np.abs(scores - human) for scores in methods]

    def values(counts: IntArray) -> FloatArray:
        weights = counts.astype(np.float64)
        total = weights.sum(axis=1)
        return np.array([(weights * gap).sum(axis=1) / total for gap in gaps])

    return values


def _ratio(product: FloatArray | IntArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """``product / sqrt(first * second)`` within [-1, 1]; nan where a side does not vary."""
    scale = np.sqrt(first * second)
    ratio = np.full(product.shape, np.nan)
    np.divide(product, scale, out=ratio, where=scale > 0)
    return np.clip(ratio, -1.0, 1.0, out=ratio)

"""Coefficients and shares, with intervals that leave out one sample or one group at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.clusters import worth
from tcva_adapters.stats.enough import why_no_interval
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.means import means_without, share_interval
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.student import quantile

_NOTHING: Final = 1e-12


def coefficient_intervals(
    columns: FloatArray, values: FloatArray, *, codes: IntArray | None = None, level: float = 0.95
) -> list[Interval]:
    """Coefficients of least squares, with jackknife intervals: they need no equal spread of errors.

    With the coefficients b(i) without unit i, of C units (samples or groups), the squared standard
    error is ``sum((b(i) - b)^2)``, and the quantile that of t with C - K degrees (MacKinnon and White,
    Journal of Econometrics 29, 1985: the HC3 of a regression; with groups CR3).

    Args:
        columns: Shape (N, K); a column of ones where there is to be a constant.
        values: Shape (N,).
        codes: As for `means.mean_interval`.
        level: Of each interval.

    Returns:
        One per column; nan with a reason where the columns are not independent of each other.

    Raises:
        MissingDependencyError: scipy is not installed.
    """
    units = np.arange(len(values)) if codes is None else np.unique(codes, return_inverse=True)[1]
    number = int(units.max()) + 1
    clusters = None if codes is None else number
    products, sides = _by_unit(columns, values, units, number)
    whole, side = products.sum(axis=0), sides.sum(axis=0)
    if np.linalg.matrix_rank(whole, hermitian=True) < columns.shape[1]:
        why = "cannot be told apart: the columns depend on each other"
        return [Interval(math.nan, math.nan, math.nan, len(values), clusters, why)] * len(side)
    found = np.linalg.solve(whole, side)
    why = why_no_interval(len(values), codes=codes)
    half = np.full(len(found), np.nan)
    if not why:
        left = whole - products
        if (np.linalg.matrix_rank(left, hermitian=True) < columns.shape[1]).any():
            why = "hangs on a single sample or group"
        else:
            without = np.linalg.solve(left, (side - sides)[:, :, None])[:, :, 0]
            squares = ((without - found) ** 2).sum(axis=0)
            half = quantile(level, number - columns.shape[1]) * np.sqrt(squares)
    return [
        Interval(value, value - width, value + width, len(values), clusters, why)
        for value, width in zip(found.tolist(), half.tolist(), strict=True)
    ]


def _by_unit(
    columns: FloatArray, values: FloatArray, units: IntArray, number: int
) -> tuple[FloatArray, FloatArray]:
    """What each unit adds to the normal equations: (C, K, K) and (C, K)."""
    k = columns.shape[1]
    products, sides = np.zeros((number, k, k)), np.zeros((number, k))
    np.add.at(products, units, columns[:, :, None] * columns[:, None, :])
    np.add.at(sides, units, columns * values[:, None])
    return products, sides


def exact_share(
    hits: FloatArray, *, codes: IntArray | None = None, level: float = 0.95
) -> Interval:
    """A share with the exact interval of Clopper and Pearson, which is at its level at least.

    With groups, the number of samples is the one that would be as sure if they stood alone (Korn and
    Graubard, Survey Methodology 24, 1998): ``p (1 - p) / variance``, with the jackknife's variance
    over groups, less what t costs; at a share of 0 or 1 it is what the groups amount to.

    Args:
        hits: Shape (N,), of 0 and 1.
        codes: As for `means.mean_interval`.
        level: Of the interval.

    Raises:
        MissingDependencyError: scipy is not installed.

    >>> found = exact_share(np.array([1.0] * 8 + [0.0] * 2))
    >>> round(found.low, 4), round(found.high, 4)
    (0.4439, 0.9748)
    """
    if not len(hits):
        return Interval(math.nan, math.nan, math.nan, 0, None, why_no_interval(0))
    clusters = None if codes is None else len(np.unique(codes))
    mean = Interval(float(hits.mean()), math.nan, math.nan, len(hits), clusters)
    if why := why_no_interval(mean.n, codes=codes):
        return replace(mean, reason=why)
    n, share = float(mean.n), mean.value
    if codes is not None:
        as_sure = equal = worth(codes)
        if 0.0 < share < 1.0:
            left_out = means_without(hits, codes)
            variance = (len(left_out) - 1) * float(left_out.var())
            costs = quantile(level, n - 1) / quantile(level, equal - 1)
            as_sure = share * (1 - share) / max(variance, _NOTHING) * costs**2
        n = min(n, as_sure)
    low, high = share_interval(share * n, n, level=level)
    return replace(mean, low=low, high=high)


def falling_weights(columns: FloatArray, values: FloatArray) -> FloatArray:
    """The weights in [0, 1], none larger than the one before, with the least squared error.

    In steps between neighbours and 0 and 1 these are the points of a simplex. Over it ``|A d|^2`` is
    least where the non-negative least squares of ``A d = 0, sum d = 1`` lie, scaled to the sum 1
    (Haskell and Hanson, Mathematical Programming 21, 1981).

    Args:
        columns: Shape (N, K).
        values: Shape (N,).

    Returns:
        Shape (K,).

    Raises:
        MissingDependencyError: scipy is not installed.

    >>> falling_weights(np.eye(3), np.array([0.9, 0.2, 0.4])).round(12).tolist()
    [0.9, 0.3, 0.3]
    """
    # Step j lifts the weights 0..j; the first one lifts none.
    lifted = np.cumsum(columns, axis=1)
    steps = np.column_stack([np.zeros(len(columns)), lifted]) - values[:, None]
    scale = max(float(np.abs(steps).max()) * math.sqrt(len(steps)), 1e-300)
    system = np.vstack([steps / scale, np.ones(steps.shape[1])])
    wanted = np.zeros(len(system))
    wanted[-1] = 1.0
    found, _ = scipy_module("optimize").nnls(system, wanted)
    sizes = found / found.sum()
    weights: FloatArray = np.cumsum(sizes[:0:-1])[::-1]
    return weights

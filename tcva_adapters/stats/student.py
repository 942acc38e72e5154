"""Intervals by Student's quantiles: of a mean, of a correlation, and of the difference of two.

How much a figure varies is seen from leaving out one sample, or one group, at a time (the
jackknife). What the quantiles need, a distribution that is close to symmetric and whose spread does
not hang on the figure itself, Fisher's z gives correlations, and Hall's correction gives means.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.scipy_extra import scipy_module

Ends = tuple[float, float]

_UNEVEN: Final = 0.7
"""Groups that amount to a smaller share of their number differ much in size."""


def quantile(level: float, degrees: float) -> float:
    """Of Student's t, for an interval of this level.

    Raises:
        MissingDependencyError: scipy is not installed.
    """
    return float(scipy_module("special").stdtrit(degrees, (1 + level) / 2))


def skewed_quantiles(
    quantiles: FloatArray, skewness: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """How many standard errors an interval of a mean reaches below and above it.

    Of T = (mean - truth) / error, Hall's ``T + a T^2 / 3 + a^2 T^3 / 27 + a / 6`` with
    ``a = skewness / sqrt(n)`` is closer to Student's distribution than T is; solved for T:
    ``3 / a * (cbrt(1 + a (q - a / 6)) - 1)``. P. Hall, On the removal of skewness by transformation,
    Journal of the Royal Statistical Society B 54 (1992).

    Args:
        quantiles: Of Student's t, above 0.
        skewness: Third central moment over the 1.5th power of the second, both over n.
        n: Values, or groups.

    Without skewness it is Student's interval; long tails to the right make the upper part longer:

    >>> parts = skewed_quantiles(np.array([2.0]), np.array([1.0]), np.array([16.0]))
    >>> [part.round(3).tolist() for part in parts]
    [[1.705], [2.542]]
    """
    bend = skewness / np.sqrt(n)

    def solved(wanted: FloatArray) -> FloatArray:
        moved = wanted - bend / 6
        # Close to 0 the cubic is a straight line, and its root would lose all digits.
        straight = np.abs(bend) < 1e-6
        safe = np.where(straight, 1.0, bend)
        return np.where(straight, moved, 3 / safe * (np.cbrt(1 + safe * moved) - 1))

    return solved(quantiles), -solved(-quantiles)


def correlation_ends(
    value: float, left_out: FloatArray, level: float, worth: float | None = None
) -> Ends:
    """A correlation's interval: ``tanh(z -+ t(level, units - 2) * error of z)``, z being its atanh.

    Args:
        value: In (-1, 1).
        left_out: Values without one unit (sample or group), shape (units,), units at least 3.
        level: Of the interval.
        worth: To how many units of one size they amount, see `clusters.worth`; by default all.
    """
    z, error = np.arctanh(value), _error(_fisher(left_out))
    half = quantile(level, (worth or len(left_out)) - 2) * error
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def mean_ends(value: float, left_out: FloatArray, level: float, worth: float | None = None) -> Ends:
    """The interval of a mean, its skewness allowed for; of single samples, that of `mean_intervals`.

    Not that of groups of very unequal size: what is seen of it is the sign of the largest one.

    Args:
        value: The mean.
        left_out: Means without one unit, shape (units,).
        level: Of the interval.
        worth: As for `correlation_ends`.
    """
    units = len(left_out)
    influence = left_out.mean() - left_out
    # A power of two changes no digit, and keeps cubes from overflowing.
    influence = np.ldexp(influence, -int(np.frexp(np.abs(influence).max())[1]))
    skewness = np.mean(influence**3) / np.mean(influence**2) ** 1.5
    if worth is not None and worth < _UNEVEN * units:
        skewness = 0.0
    q = np.array([quantile(level, (worth or units) - 1)])
    below, above = skewed_quantiles(q, np.array([skewness]), np.array([float(units)]))
    error = _error(left_out)
    return value - error * float(below[0]), value + error * float(above[0])


def mean_difference_ends(
    value: float, left_out: FloatArray, level: float, worth: float | None = None
) -> Ends:
    """Student's interval of a mean of differences, which skewness of both sides hardly moves."""
    half = quantile(level, (worth or len(left_out)) - 1) * _error(left_out)
    return value - half, value + half


def correlation_difference_ends(
    values: FloatArray, left_out: FloatArray, level: float, worth: float | None = None
) -> Ends:
    """The interval of the difference of two correlations with the same ratings.

    Made of the two intervals of `correlation_ends`, each of which bends as it should close to 1, and
    of how both move together when a unit is left out. G. Y. Zou, Toward using confidence intervals to
    compare correlations, Psychological Methods 12 (2007).

    Args:
        values: The two, in (-1, 1).
        left_out: Shape (2, units).
        level: Of the interval.
        worth: As for `correlation_ends`.
    """
    ends = np.array(
        [correlation_ends(v, row, level, worth) for v, row in zip(values, left_out, strict=True)]
    )
    apart = _fisher(left_out)
    apart -= apart.mean(axis=1, keepdims=True)
    together = float(apart[0] @ apart[1] / np.sqrt((apart[0] @ apart[0]) * (apart[1] @ apart[1])))
    below, above = values - ends[:, 0], ends[:, 1] - values
    delta = float(values[0] - values[1])

    def reach(one: float, other: float) -> float:
        return float(np.sqrt(max(0.0, one**2 + other**2 - 2 * together * one * other)))

    return delta - reach(below[0], above[1]), delta + reach(above[0], below[1])


def _fisher(values: FloatArray) -> FloatArray:
    """Fisher's z; where all but one sample agree perfectly, a large number in place of infinity."""
    return np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))


def _error(left_out: FloatArray) -> float:
    """The jackknife's standard error."""
    units = len(left_out)
    return float(np.sqrt((units - 1) / units * np.sum((left_out - left_out.mean()) ** 2)))

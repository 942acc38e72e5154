"""Intervals of a mean and of a share."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray, check_level, numbers
from tcva_adapters.stats.clusters import worth
from tcva_adapters.stats.enough import LEAST_CLUSTERS, why_no_interval
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.student import mean_difference_ends, mean_ends

LEAST_CLUSTERS_PILED: Final = 20
"""Groups that a mean needs, but one of differences. Of 10 its intervals hold it in .92, of 15 in .93."""
LEAST_OTHERS: Final = 5
"""Values besides the most frequent one, where they lie on both sides. 4 lie on one side by chance too
often, and intervals hold the mean in .87 to .92 (of 6 in no more than of 5)."""

ALL_EQUAL: Final = "all are equal: how rarely another one comes cannot be seen"
SAME_WITHOUT: Final = "without any one group the value is the same: nothing varies"

_DIGITS: Final = 12
_SAME: Final = 1e-12


def mean_interval(
    values: FloatArray,
    *,
    codes: IntArray | None = None,
    level: float = 0.95,
    ends: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """A mean with Student's interval, corrected for skewness as Hall has it (see `student`).

    Samples, or groups, are left out one at a time; the quantiles are those for so many groups of one
    size as they amount to (`clusters.worth`).

    The correction takes the long tail to lie where it was seen. That is right for values that pile up
    at an end, as scores and sizes of errors do. Where values lie on both sides of what is usual
    (differences around 0; most ratings the same one, which is not an end), the next one may lie as
    far on the other side: there the interval reaches as far as the wider one of the corrected and
    the plain, and a few other values do not say where the next one lies. So it does with groups of
    unequal size, whose skewness is that of the largest. ``python -m benchmarks.coverage --only mean`` and ``python -m
    benchmarks.groups --only intervals`` show how often intervals hold the mean.

    Args:
        values: Shape (N,), finite.
        codes: The group of each sample, any whole numbers; None where samples stand alone.
        level: Of the interval, in (0, 1).
        ends: The lowest and the highest value that there can be; the lowest one of differences lies
            below 0. The interval keeps within them, where the values do.

    Returns:
        Without ends, but with the reason, for fewer than 10 samples, and where all are the same: how
        rarely another one comes cannot be seen from them. With groups, for fewer than 20, and 10
        of differences. Where values lie on both sides, 5 samples, or groups with such, have to have
        another value than the most frequent one.

    Raises:
        MissingDependencyError: scipy is not installed.

    The standard error of this mean is sqrt(55 / 6 / 10), the quantile of t for 9 degrees 2.2622:

    >>> found = mean_interval(np.arange(10.0), ends=(0, 9))
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (4.5, 2.3341, 6.6659)
    >>> mean_interval(np.array([0.0] * 27 + [0.5, 0.5, -0.5]), ends=(-1, 1)).reason
    'all but 3 are equal: an interval needs 5 others'
    """
    n = len(values)
    clusters = None if codes is None else len(np.unique(codes))
    if not n:
        return Interval(math.nan, math.nan, math.nan, 0, clusters, why_no_interval(0))
    if clusters == n:  # each in a group of its own: as if there were none
        codes = None
    value, left_out = float(values.mean()), means_without(values, codes)
    spread = _Spread(values, ends)
    least = LEAST_CLUSTERS if ends[0] < 0.0 else LEAST_CLUSTERS_PILED
    why = why_no_interval(n, codes=codes, least_clusters=least)
    if why := why or spread.why_none(left_out, codes):
        return Interval(value, math.nan, math.nan, n, clusters, why)
    equal = None if codes is None else worth(codes)
    low, high = mean_ends(value, left_out, level, equal)
    if spread.is_both_sided or (equal is not None and equal < len(left_out)):
        plain = mean_difference_ends(value, left_out, level, equal)
        low, high = min(low, plain[0]), max(high, plain[1])
    if ends[0] <= values.min():
        low = max(low, ends[0])
    if values.max() <= ends[1]:
        high = min(high, ends[1])
    return Interval(value, low, high, n, clusters)


def means_without(values: FloatArray, codes: IntArray | None = None) -> FloatArray:
    """The mean without each sample, or each group, in turn: shape (N,) or (groups,)."""
    if codes is None:
        alone: FloatArray = (values.sum() - values) / max(len(values) - 1, 1)
        return alone
    units = np.unique(codes, return_inverse=True)[1]
    sums, sizes = np.bincount(units, weights=values), np.bincount(units)
    # A single group leaves nothing, and has no interval.
    without: FloatArray = (values.sum() - sums) / np.maximum(len(values) - sizes, 1)
    return without


class _Spread:
    """Where values lie, some of them at least."""

    def __init__(self, values: FloatArray, ends: tuple[float, float]) -> None:
        found, places, often = np.unique(
            values.round(_DIGITS), return_inverse=True, return_counts=True
        )
        usual = int(often.argmax())
        self._others = places != usual
        self._largest = float(np.abs(values).max())
        is_inside = ends[0] < found[usual] < ends[1]
        self.is_both_sided = ends[0] < 0.0 or (is_inside and 2 * often[usual] >= len(values))

    def why_none(self, left_out: FloatArray, codes: IntArray | None) -> str:
        """Why too little varies for an interval; empty where enough does."""
        # All equal but for rounding is all equal.
        if np.ptp(left_out) <= _SAME * self._largest:
            return ALL_EQUAL if codes is None else SAME_WITHOUT
        others = int(self._others.sum()) if codes is None else len(np.unique(codes[self._others]))
        if others >= LEAST_OTHERS or not self.is_both_sided:
            return ""
        return f"all but {others} are equal: an interval needs {LEAST_OTHERS} others"


def mean_intervals(
    table: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`mean_interval` of each column of scores.

    Args:
        table: Shape (N, M): one mean per column; nan or None where there is no score.
        level: Of the intervals, in (0, 1).

    Returns:
        Means, lower and upper ends, each of shape (M,); nan where there are none.

    Raises:
        InvalidValueError: Values that are no numbers, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> [part.round(4).tolist() for part in mean_intervals(np.arange(10.0)[:, None])]
    [[4.5], [2.3341], [6.6659]]
    """
    check_level(level)
    columns = numbers("table", table, ndim=2).T
    found = [mean_interval(column[np.isfinite(column)], level=level) for column in columns]
    means, low, high = np.array([(f.value, f.low, f.high) for f in found]).reshape(-1, 3).T
    return means, low, high


def share_interval(passed: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson): at its level or above, for every n.

    Wilson's interval is narrower and holds on average alone: for some shares close to 0 and 1 it
    has the truth in 85 % of all cases.

    Args:
        passed: How many did.
        n: Of how many; not whole where grouped samples are worth so many single ones.
        level: Of the interval, in (0, 1).

    Returns:
        Lower and upper end; nan for n = 0.

    Raises:
        InvalidValueError: More passed than there are, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> [round(end, 4) for end in share_interval(8, 10)], round(share_interval(0, 10)[1], 4)
    ([0.4439, 0.9748], 0.3085)
    """
    check_level(level)
    confidence = (1 + level) / 2
    return least_share(passed, n, confidence), 1.0 - least_share(n - passed, n, confidence)


def least_share(passed: float, n: float, confidence: float) -> float:
    """The lower bound of a share, one-sided and exact (Clopper and Pearson).

    Under any smaller share so many pass in at most ``1 - confidence`` of all cases. Wilson's
    interval is narrower and holds on average alone: of 20 samples its lower end lies above the true
    share up to twice as often as it says.

    Args:
        passed: How many did.
        n: Of how many.
        confidence: In (0, 1).

    Returns:
        In [0, 1]; nan for n = 0.

    Raises:
        InvalidValueError: More passed than there are, or a confidence outside (0, 1).
        MissingDependencyError: scipy is not installed.

    Three of three: ``0.05 ** (1 / 3)``.

    >>> round(least_share(3, 3, 0.95), 4), round(least_share(8, 10, 0.95), 4), least_share(0, 5, 0.9)
    (0.3684, 0.4931, 0.0)
    """
    check_level(confidence)
    _check_passed(passed, n)
    if n == 0:
        return math.nan
    if passed == 0:
        return 0.0
    return float(scipy_module("special").betaincinv(passed, n - passed + 1, 1.0 - confidence))


def _check_passed(passed: float, n: float) -> None:
    if not 0 <= passed <= n:
        msg = f"{passed!r} of {n!r} passed; give how many did, and of how many"
        raise InvalidValueError(msg)

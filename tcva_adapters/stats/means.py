"""Intervals of a mean and of a share."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, check_level, numbers
from tcva_adapters.stats.enough import LEAST_SAMPLES
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.student import skewed_quantiles


def mean_intervals(
    table: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means with intervals: Student's, corrected for skewness as Hall has it (`student`).

    Args:
        table: Shape (N, M): one mean per column; nan or None where there is no score.
        level: Of the intervals, in (0, 1).

    Returns:
        Means, lower and upper ends, each of shape (M,). A mean of nothing is nan, and so are the
        ends for fewer than ten scores, and for scores that are all the same: how rarely another
        one comes cannot be seen from them.

    Raises:
        InvalidValueError: Values that are no numbers, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    Without skewness it is ``mean -+ t(level, n - 1) * sd / sqrt(n)``; here 4.5 -+ 2.2622 * .9574:

    >>> [part.round(4).tolist() for part in mean_intervals(np.arange(10.0)[:, None])]
    [[4.5], [2.3341], [6.6659]]
    """
    check_level(level)
    scores = numbers("table", table, ndim=2)
    known = np.isfinite(scores)
    n = known.sum(axis=0)
    filled = np.where(known, scores, 0.0)
    means = np.where(n > 0, filled.sum(axis=0) / np.maximum(n, 1), np.nan)
    apart = np.where(known, filled - means, 0.0)
    # All equal but for rounding is all equal.
    varies = np.abs(apart).max(axis=0, initial=0.0) > 1e-12 * np.abs(filled).max(
        axis=0, initial=0.0
    )
    offered = (n >= LEAST_SAMPLES) & varies
    second, third = (apart**2).sum(axis=0)[offered], (apart**3).sum(axis=0)[offered]
    size = n[offered].astype(np.float64)
    skewness = third / size / (second / size) ** 1.5
    quantiles = scipy_module("special").stdtrit(size - 1, (1 + level) / 2)
    below, above = skewed_quantiles(quantiles, skewness, size)
    errors = np.sqrt(second / (size - 1) / size)
    low, high = np.full(len(n), np.nan), np.full(len(n), np.nan)
    low[offered] = means[offered] - below * errors
    high[offered] = means[offered] + above * errors
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

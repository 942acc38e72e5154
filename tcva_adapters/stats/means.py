"""Intervals of a mean and of a share."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, check_level, numbers
from tcva_adapters.stats.scipy_extra import scipy_module


def mean_intervals(
    table: npt.ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means with Student's interval: ``mean -+ t(level, n - 1) * sd / sqrt(n)``.

    Args:
        table: Shape (N, M): one mean per column; nan or None where there is no score.
        level: Of the intervals, in (0, 1).

    Returns:
        Means, lower and upper ends, each of shape (M,). A mean of nothing is nan, and so are the
        ends for fewer than two scores.

    Raises:
        InvalidValueError: Values that are no numbers, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    The quantile of t for 2 degrees of freedom is 4.3027, the standard error of this mean 1/sqrt(3):

    >>> [part.round(4).tolist() for part in mean_intervals([[1.0], [2.0], [3.0]])]
    [[2.0], [-0.4841], [4.4841]]
    """
    check_level(level)
    scores = numbers("table", table, ndim=2)
    known = np.isfinite(scores)
    n = known.sum(axis=0)
    filled = np.where(known, scores, 0.0)
    means = np.where(n > 0, filled.sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(known, (filled - means) ** 2, 0.0).sum(axis=0)
    errors = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    quantiles = scipy_module("special").stdtrit(np.maximum(n - 1, 1), (1 + level) / 2)
    half = np.where(n > 1, quantiles * errors, np.nan)
    return means, means - half, means + half


def wilson(passed: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share; within [0, 1], and of use at 0 and 1 as well.

    The ends p solve ``|passed / n - p| = z * sqrt(p * (1 - p) / n)``.

    Args:
        passed: How many did.
        n: Of how many.
        level: Of the interval, in (0, 1).

    Returns:
        Lower and upper end; nan for n = 0.

    Raises:
        InvalidValueError: More passed than there are, or a level outside (0, 1).

    >>> [round(end, 4) for end in wilson(8, 10)], round(wilson(0, 10)[1], 4)
    ([0.4902, 0.9433], 0.2775)
    """
    check_level(level)
    _check_passed(passed, n)
    if n == 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = passed / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the very ends of the scale the two terms are equal on paper.
    low = 0.0 if passed == 0 else middle - half
    return low, 1.0 if passed == n else middle + half


def least_share(passed: int, n: int, confidence: float) -> float:
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


def _check_passed(passed: int, n: int) -> None:
    if not 0 <= passed <= n:
        msg = f"{passed!r} of {n!r} passed; give how many did, and of how many"
        raise InvalidValueError(msg)

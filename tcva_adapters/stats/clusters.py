"""What groups are worth, and what few of them change of a bootstrap."""

from __future__ import annotations

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.scipy_extra import scipy_module

__all__ = ["clustered_p", "interval_shares", "worth"]


def worth(codes: IntArray) -> float:
    """To how many groups of one size these amount: ``N**2 / sum(n**2)``, G where all are equal.

    Where one group has most of the samples, many small ones beside it add little certainty.

    Args:
        codes: The group of each sample, any whole numbers.

    >>> worth(np.array([0, 0, 1, 1])), round(worth(np.array([0, 0, 0, 1])), 2)
    (2.0, 1.6)
    """
    return float(len(codes) ** 2 / np.sum(np.unique(codes, return_counts=True)[1] ** 2))


def interval_shares(level: float, n: int, groups: float | None = None) -> FloatArray:
    """The shares at which to read the resamples' quantiles for an interval.

    Resamples of G groups vary less than they should, by sqrt((G - 1) / G), and with few groups the
    spread is not known well. So the shares go further out, as far as Student's distribution with
    G - 1 degrees of freedom lies beyond the normal one: T. Hesterberg, What teachers should know
    about the bootstrap, The American Statistician 69 (2015), section 5.3. Groups of unequal size
    count as `worth` says. ``python -m benchmarks.groups`` shows the coverage with and without.

    Args:
        level: Of the interval, in (0, 1).
        n: Samples.
        groups: To how many groups those that are drawn amount, above 1; None where single samples
            are. Groups of one sample each change nothing.

    Raises:
        MissingDependencyError: Groups without scipy.

    >>> interval_shares(0.95, 60).round(4).tolist(), interval_shares(0.95, 60, 15).round(4).tolist()
    ([0.025, 0.975], [0.0132, 0.9868])
    """
    lower = (1.0 - level) / 2.0
    shares = np.array([lower, (1.0 + level) / 2.0])
    if groups is None or groups >= n:
        return shares
    special = scipy_module("special")
    wider = np.sqrt(groups / (groups - 1.0)) * special.stdtrit(groups - 1.0, shares)
    further: FloatArray = special.ndtr(wider)
    return further


def clustered_p(p: float, n: int, groups: float | None = None) -> float:
    """The two-sided p that goes with these shares: ``1 - level`` where an end touches 0.

    Args:
        p: Twice the share of resamples on one side of 0, in [0, 2]; or nan.
        n: Samples.
        groups: As for `interval_shares`.

    Raises:
        MissingDependencyError: Groups without scipy.

    >>> round(clustered_p(2 * 0.01324, 60, 15), 3), clustered_p(0.01, 60)
    (0.05, 0.01)
    """
    if groups is None or groups >= n:
        return p
    special = scipy_module("special")
    nearer = np.sqrt((groups - 1.0) / groups) * special.ndtri(p / 2.0)
    return float(2.0 * special.stdtr(groups - 1.0, nearer))

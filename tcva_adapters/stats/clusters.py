"""What few groups change of a bootstrap: which of its quantiles to read, and its p."""

from __future__ import annotations

import numpy as np

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.scipy_extra import scipy_module

__all__ = ["clustered_p", "interval_shares"]


def interval_shares(level: float, n: int, clusters: int | None = None) -> FloatArray:
    """The shares at which to read the resamples' quantiles for an interval.

    Resamples of G groups vary less than they should, by sqrt((G - 1) / G), and with few groups the
    spread is not known well. So the shares go further out, as far as Student's distribution with
    G - 1 degrees of freedom lies beyond the normal one: T. Hesterberg, What teachers should know
    about the bootstrap, The American Statistician 69 (2015), section 5.3. The interval then needs no
    scale: it stays within what resamples show.

    Args:
        level: Of the interval, in (0, 1).
        n: Samples.
        clusters: Groups that are drawn, at least 2; None where single samples are. Groups of one
            sample each change nothing.

    Raises:
        MissingDependencyError: Groups without scipy.

    >>> interval_shares(0.95, 60).round(4).tolist(), interval_shares(0.95, 60, 10).round(4).tolist()
    ([0.025, 0.975], [0.0085, 0.9915])
    """
    lower = (1.0 - level) / 2.0
    shares = np.array([lower, 1.0 - lower])
    if clusters is None or clusters == n:
        return shares
    special = scipy_module("special")
    wider = np.sqrt(clusters / (clusters - 1.0)) * special.stdtrit(clusters - 1.0, shares)
    further: FloatArray = special.ndtr(wider)
    return further


def clustered_p(p: float, n: int, clusters: int | None = None) -> float:
    """The two-sided p that goes with these shares: at most ``1 - level`` where 0 is left out.

    Args:
        p: Twice the smaller share of resamples on either side of 0, in [0, 1]; or nan.
        n: Samples.
        clusters: As for `interval_shares`.

    Raises:
        MissingDependencyError: Groups without scipy.

    >>> round(clustered_p(2 * 0.0085, 60, 10), 3), clustered_p(0.01, 60)
    (0.05, 0.01)
    """
    if clusters is None or clusters == n:
        return p
    special = scipy_module("special")
    nearer = np.sqrt((clusters - 1.0) / clusters) * special.ndtri(p / 2.0)
    return float(2.0 * special.stdtr(clusters - 1.0, nearer))

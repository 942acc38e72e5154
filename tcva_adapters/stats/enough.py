"""Whether there are enough samples for an interval, and the words that stand where there is none."""

from __future__ import annotations

from typing import Final

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.clusters import worth

__all__ = ["LEAST_CLUSTERS", "LEAST_SAMPLES", "MOST_UNDEFINED", "constant_share", "why_no_interval"]

LEAST_SAMPLES: Final = 10
LEAST_CLUSTERS: Final = 10
# To so many of one size groups must amount: where one or two have nearly all samples, nothing is seen
# of how groups vary.
LEAST_WORTH: Final = 5
# Of the resamples: where more of them have no value, those that are left are a choice of their own.
MOST_UNDEFINED: Final = 0.15


def why_no_interval(
    n: int,
    *,
    undefined: float = 0,
    n_boot: int = 0,
    codes: IntArray | None = None,
    least: int = LEAST_SAMPLES,
    least_clusters: int = LEAST_CLUSTERS,
) -> str:
    """Why no interval can be trusted here, in one sentence without a full stop.

    Args:
        n: Samples that were measured.
        undefined: Resamples without a value, drawn or expected.
        n_boot: Resamples that were drawn; 0 where the interval is not one of resamples.
        codes: The group of each sample, any whole numbers; None where single samples were drawn.
        least: Samples that this interval needs, where it needs more than others.
        least_clusters: Groups, likewise.

    Returns:
        Empty where nothing speaks against one.

    >>> why_no_interval(4)
    '4 samples: an interval needs 10'
    >>> why_no_interval(60, undefined=1800, n_boot=10_000)
    '18 % of the resamples have no value (one side constant): an interval needs 15 % or less'
    >>> why_no_interval(60, codes=np.arange(60) // 12)
    '5 groups: an interval needs 10'
    >>> why_no_interval(60, codes=np.maximum(np.arange(60) - 49, 0))
    '11 groups of unequal size amount to 1.4 equal ones: an interval needs 5'
    >>> why_no_interval(10)
    ''
    """
    if n < least:
        return f"{_number(n, 'sample')}: an interval needs {least}"
    if codes is not None:
        clusters, equal = len(np.unique(codes)), worth(codes)
        if clusters < least_clusters:
            return f"{_number(clusters, 'group')}: an interval needs {least_clusters}"
        if equal < LEAST_WORTH:
            amount = f"{clusters} groups of unequal size amount to {equal:.1f} equal ones"
            return f"{amount}: an interval needs {LEAST_WORTH}"
    if undefined > MOST_UNDEFINED * n_boot:
        share = f"{100 * undefined / n_boot:.2g} % of the resamples have no value"
        return f"{share} (one side constant): an interval needs {100 * MOST_UNDEFINED:g} % or less"
    return ""


def constant_share(values: FloatArray, codes: IntArray | None = None) -> float:
    """The share of all bootstrap resamples in which the values are all the same.

    Args:
        values: Finite, shape (n,), n at least 1.
        codes: Groups as numbers from 0 up, which are drawn as a whole; None for single samples.

    Of ten values nine of which are 1, a resample lacks the tenth in .9 ** 10 of all cases:

    >>> round(constant_share(np.array([1.0] * 9 + [0.0])), 4)
    0.3487
    """
    if codes is not None:
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        lowest = np.minimum.reduceat(values[order], starts)
        units, same = len(starts), lowest == np.maximum.reduceat(values[order], starts)
        values = lowest[same]
    else:
        units = len(values)
    counts = np.unique(values, return_counts=True)[1]
    return float(np.sum((counts / units) ** units))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

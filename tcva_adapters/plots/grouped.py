"""Intervals of means and shares in figures: of single samples, or of what they belong to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from tcva_adapters.stats.checks import BoolArray, FloatArray, IntArray, group_codes
from tcva_adapters.stats.jackknife import exact_share
from tcva_adapters.stats.means import mean_interval, mean_intervals, share_interval

Groups = Sequence[Hashable] | None
"""One per sample; None where they stand alone, or for a sample that belongs to none."""

Curve = tuple[FloatArray, FloatArray, FloatArray]


def means_with_ends(table: FloatArray, groups: Groups, level: float = 0.95) -> Curve:
    """The mean of each column with its interval; ends are nan where there is none.

    Args:
        table: Shape (N, M); nan where there is no score.
        groups: See `Groups`.
        level: Of the intervals.
    """
    if groups is None:
        return mean_intervals(table, level=level)
    found = []
    for column in table.T:
        known: BoolArray = np.isfinite(column)
        codes = _codes(groups, known)
        if codes is None or not known.any():
            found.append((column[known].mean() if known.any() else np.nan, np.nan, np.nan))
            continue
        one = mean_interval(column[known], codes=codes, level=level)
        found.append((one.value, one.low, one.high))
    means, low, high = np.array(found, dtype=np.float64).T
    return means, low, high


def share_ends(
    hits: BoolArray, groups: Groups, known: BoolArray, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a share; nan where there is none.

    Args:
        hits: Shape (n,), of the samples that count.
        groups: Of all samples, see `Groups`.
        known: Which samples count, shape (N,).
        level: Of the interval.
    """
    if groups is None:
        return share_interval(int(hits.sum()), len(hits), level=level)
    codes = _codes(groups, known)
    if codes is None:
        return np.nan, np.nan
    found = exact_share(hits.astype(np.float64), codes=codes, level=level)
    return found.low, found.high


def _codes(groups: Sequence[Hashable], known: BoolArray) -> IntArray | None:
    """Groups of the samples that count, as numbers; None where one of them has none."""
    lacking = any(groups[place] is None for place in np.flatnonzero(known).tolist())
    return None if lacking else group_codes(groups, known)

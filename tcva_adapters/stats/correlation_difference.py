"""The difference of two correlations with the same ratings: its interval and its p."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcva_adapters.stats.bootstrap import clustered_p, interval_shares
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.jackknife import (
    Ends,
    EndsAt,
    correlations_without,
    error,
    fisher,
    quantile,
    student_p,
    why_perfect,
)
from tcva_adapters.stats.p_values import bootstrap_p, spearman_resamples
from tcva_adapters.stats.units import Units

_SAME = 1e-12
_STILL = "the difference is the same on all resamples"


@dataclass(frozen=True, slots=True)
class CorrelationDifference:
    """How far a difference can be trusted.

    Attributes:
        p: Two-sided; nan where there is none.
        ends: The interval at a level; None where there is none.
        reason: Why there is none.
    """

    p: float = math.nan
    ends: EndsAt | None = None
    reason: str = ""


def correlation_difference(
    measure: Measure,
    sides: Sequence[FloatArray],
    human: FloatArray,
    values: Sequence[float],
    units: Units,
    *,
    resamples: int,
    seed: int,
) -> CorrelationDifference:
    """Test whether two methods correlate with ratings alike: on resamples, or by the jackknife.

    Args:
        measure: ``spearman`` by the paired bootstrap; ``pearson`` and ``kendall`` by Student's t of
            a jackknife on Fisher's z.
        sides: The scores of each method, finite, shape (n,).
        human: Ratings, likewise.
        values: The two correlations.
        units: What is drawn, or left out.
        resamples: That are drawn.
        seed: Of these.
    """
    delta = values[0] - values[1]
    if measure == "spearman":
        first, second = spearman_resamples(sides, human, units.codes, resamples, seed)
        deltas = first - second
        return _of_resamples(deltas[~np.isnan(deltas)], delta, units)
    if why := why_perfect(max(values, key=abs)):
        return CorrelationDifference(reason=why)
    left_out = [correlations_without(measure, s, human, units.codes) for s in sides]

    first_z, second_z = fisher(values).tolist()
    apart = first_z - second_z
    spread = error(np.subtract(*fisher(left_out)))
    if math.isnan(spread) or spread < _SAME:
        return _unvarying(delta)
    # Back from z by the slope between the two.
    slope = delta / apart if abs(apart) > _SAME else 1.0 - values[0] ** 2
    degrees = units.equal - 2

    def ends(level: float) -> Ends:
        half = quantile(level, degrees) * spread
        return slope * (apart - half), slope * (apart + half)

    return CorrelationDifference(student_p(abs(apart) / spread, degrees), ends)


def _of_resamples(
    deltas: FloatArray, delta: float, units: Units
) -> CorrelationDifference:
    if np.ptp(deltas) < _SAME:
        return _unvarying(delta)

    def ends(level: float) -> Ends:
        shares = interval_shares(level, units.clusters)
        low, high = np.quantile(deltas, shares).tolist()
        return low, high

    return CorrelationDifference(clustered_p(bootstrap_p(deltas), units.clusters), ends)


def _unvarying(delta: float) -> CorrelationDifference:
    p = 1.0 if abs(delta) < _SAME else math.nan
    return CorrelationDifference(p, reason=_STILL)

"""The difference of two correlations with the same ratings: its interval and its p."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tcva_adapters.stats.bootstrap import bootstrap_p, interval_shares
from tcva_adapters.stats.checks import SAME, FloatArray
from tcva_adapters.stats.estimates import Ends, Estimate
from tcva_adapters.stats.jackknife import (
    fisher,
    standard_error,
    student_p,
    student_quantile,
)
from tcva_adapters.stats.sampling_units import Units


def difference_of_resamples(
    figure: Estimate,
    deltas: FloatArray,
    units: Units,
) -> Estimate:
    """Test a difference by its values on resamples (the paired bootstrap).

    Args:
        figure: The difference, without an interval.
        deltas: The difference on each resample; nan where one of the two is undefined.
        units: The units that were drawn.
    """
    deltas = deltas[~np.isnan(deltas)]
    if not len(deltas) or np.ptp(deltas) < SAME:
        return _without_spread(figure)

    def ends(level: float) -> Ends:
        low, high = np.quantile(deltas, interval_shares(level, units.clusters)).tolist()
        return low, high

    return replace(figure, p=bootstrap_p(deltas, units.clusters)).with_ends(ends)


def difference_by_z(
    figure: Estimate,
    values: Sequence[float],
    left_out: Sequence[FloatArray],
    units: Units,
) -> Estimate:
    """Test a difference by Student's t of a jackknife on Fisher's z.

    Args:
        figure: The difference, without an interval.
        values: The two correlations, not perfect.
        left_out: Each correlation without every unit in turn.
        units: The units that are left out.
    """
    first_z, second_z = fisher(values).tolist()
    apart = first_z - second_z
    spread = standard_error(np.subtract(*fisher(left_out)))
    if math.isnan(spread) or spread < SAME:
        return _without_spread(figure)
    # Back from z by the slope between the two.
    slope = figure.value / apart if abs(apart) > SAME else 1.0 - values[0] ** 2
    degrees = units.equal - 2

    def ends(level: float) -> Ends:
        half = student_quantile(level, degrees) * spread
        return slope * (apart - half), slope * (apart + half)

    return replace(figure, p=student_p(abs(apart) / spread, degrees)).with_ends(ends)


def _without_spread(figure: Estimate) -> Estimate:
    p = 1.0 if abs(figure.value) < SAME else math.nan
    return replace(figure, p=p, reason="the difference is the same on all resamples")

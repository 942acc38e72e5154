"""Agreement of any number of raters beyond chance: Krippendorff's alpha with its interval."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import (
    SAME,
    FloatArray,
    Groups,
    check_level,
    numbers,
    one_of,
)
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.jackknife import standard_error, student_quantile
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

ScaleKind = Literal["ordinal", "interval"]

MIN_UNITS: dict[ScaleKind, int] = {"ordinal": 50, "interval": 100}
"""Units with two ratings that the interval of alpha needs. With fewer, the distances of skewed
ratings depend on single ones."""

_MIN_GROUPS = 20


def krippendorff_alpha(
    ratings: npt.ArrayLike,
    scale: ScaleKind = "ordinal",
    *,
    groups: Groups = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of raters: one less the disagreement at hand over the one expected by chance.

    ``alpha = 1 - D_o / D_e``: D_o is the mean squared distance of two ratings of one unit, D_e that
    of any two ratings. On the ``interval`` scale the distance is the difference; on the ``ordinal``
    one it is how many ratings lie between the two, ties half, which is the difference of their
    ranks. K. Krippendorff, Computing Krippendorff's alpha-reliability (2011). The interval is the
    jackknife's, on the scale of ``log(1 - alpha)`` with Student's t.

    Args:
        ratings: Shape (K, N): one row per rater, one column per unit; nan or None where a rater
            has none. Units with fewer than two ratings do not count.
        scale: ``ordinal`` or ``interval``.
        groups: One per unit: the sample that it belongs to, to leave out whole samples.
        level: Of confidence, in (0, 1).

    Returns:
        The value is 1 where agreement is perfect, 0 where it is what chance would give, and nan
        where all ratings are the same, or no unit has two.

    Raises:
        InvalidValueError: Values that are no numbers, an unknown scale, groups that do not fit, or
            a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    Two raters, three units: D_o = 1/3 (one unit differs by 1), and of all pairs of the ratings
    1, 1, 2, 2, 3, 2 the mean squared difference is 34/30:

    >>> alpha = krippendorff_alpha([[1, 2, 3], [1, 2, 2]], "interval")
    >>> round(alpha.value, 4), alpha.n, alpha.reason
    (0.7059, 3, 'it needs 100 samples, got 3')
    """
    table = numbers("ratings", ratings, ndim=2)
    one_of("scale", scale, get_args(ScaleKind))
    check_level(level)
    used = np.isfinite(table).sum(axis=0) > 1
    units = Units(groups, used)
    table = table[:, used]
    value = _alpha(table, scale)
    why = units.why_no_interval(MIN_UNITS[scale], least_groups=_MIN_GROUPS)
    if not why and math.isnan(value):
        why = "all ratings are the same, so agreement beyond chance is not defined"
    figure = units.figure(value, level, why)
    if why:
        return figure
    left_out = np.array([_alpha(table[:, kept], scale) for kept in units.without()])
    if not np.append(left_out, value).max() < 1.0 - SAME:  # nan is not
        return replace(figure, reason="the raters differ on a single sample")
    # The jackknife estimates log(1 - alpha) by the mean of its pseudo-values.
    m = len(left_out)
    logs = np.log(1.0 - left_out)
    centre = m * math.log(1.0 - value) - (m - 1) * mean(logs)
    reach = student_quantile(level, units.equal - 1) * standard_error(logs)
    return replace(
        figure,
        low=1.0 - math.exp(centre + reach),
        high=1.0 - math.exp(centre - reach),
    )


def _alpha(table: FloatArray, scale: ScaleKind) -> float:
    """Alpha of units with two ratings or more, shape (K, N); nan where it is not defined."""
    if not table.size:
        return float("nan")
    known = np.isfinite(table)
    if scale == "ordinal":
        ranks = scipy_module("stats").rankdata(
            table,
            nan_policy="omit",
            axis=None,
        )
        table = ranks.reshape(table.shape)
    # Measured from a value in the middle, so that large ratings cost no digits.
    table = np.where(known, table - np.nanmedian(table), 0.0)
    number = known.sum(axis=0)
    sums = table.sum(axis=0)
    squares = (table**2).sum(axis=0)
    n = number.sum()
    observed = ((number * squares - sums**2) / (number - 1)).sum()
    expected = (n * squares.sum() - sums.sum() ** 2) / (n - 1)
    size = n * np.abs(table).max() ** 2
    return float(1.0 - observed / expected) if expected > SAME * size else float("nan")

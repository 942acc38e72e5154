"""How well scores, or pass and fail by score, agree with people who accept or reject: AUC and kappa."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import SAME, FloatArray, Groups, check_level, in_all
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.jackknife import mean_interval
from tcva_adapters.stats.kappa import weighted_kappa
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

MIN_SAMPLES = 10
"""Samples that an interval needs, of which 5 are rejected and 5 are not."""


def auc(scores: FloatArray, is_good: FloatArray) -> float:
    """The chance that a good answer has a higher score than a rejected one; equal scores count half.

    It is the area under the ROC curve, and Mann and Whitney's U over the number of pairs.

    Args:
        scores: Finite, shape (N,).
        is_good: 1 or 0, shape (N,).

    Returns:
        nan where no answer, or every answer, is good.

    The good answer is ahead of one rejected answer, and level with the other:

    >>> auc(np.array([0.2, 0.5, 0.5]), np.array([0.0, 0.0, 1.0]))
    0.75
    """
    good = is_good > 0.0
    if good.all() or not good.any():
        return math.nan
    ranks = scipy_module("stats").rankdata(scores)
    return float(0.5 + (ranks[good].mean() - ranks[~good].mean()) / len(ranks))


def kappa(passes: FloatArray, is_good: FloatArray) -> float:
    """Cohen's kappa of decisions that are 1 or 0; nan where both are the same one throughout.

    >>> round(kappa(np.array([1, 1, 0, 0, 0.0]), np.array([1, 1, 1, 0, 0.0])), 3)
    0.615
    """
    return weighted_kappa(passes, is_good, levels=2)


def decision_estimate(
    measure: Callable[[FloatArray, FloatArray], float],
    scores: npt.ArrayLike,
    is_good: npt.ArrayLike,
    groups: Groups = None,
    *,
    level: float = 0.95,
) -> Estimate:
    """Estimate AUC or Cohen's kappa with its interval.

    Args:
        measure: `auc`, of scores; or `kappa`, of decisions that are 1 or 0.
        scores: Scores or decisions, shape (N,); nan or None where there is none.
        is_good: 1 where people accept the answer, 0 where they reject it, likewise.
        groups: One per sample, or None.
        level: Of confidence, in (0, 1).

    Returns:
        The interval is the jackknife's, which leaves out one sample (group) at a time, with Student's
        quantiles and Hall's correction for skewness, as that of a mean.

    Raises:
        InvalidValueError: ``is_good`` or decisions other than 0 and 1, columns or groups that do not
            fit, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> scores = np.arange(20) / 20
    >>> figure = decision_estimate(auc, scores, np.tile([0, 1, 0, 1, 1], 4))
    >>> round(figure.value, 3), round(figure.low, 2), round(figure.high, 2)
    (0.583, 0.29, 0.88)
    """
    check_level(level)
    columns, used = in_all({"scores": scores, "is_good": is_good})
    if not np.isin(columns[1], (0.0, 1.0)).all():
        raise InvalidValueError("is_good must be 1 where people accept, 0 where not")
    units = Units(groups, used)
    value = measure(*columns)
    figure = units.figure(value, level, units.why_no_interval(MIN_SAMPLES, *columns))
    if figure.reason:
        return figure
    left_out = np.array(
        [measure(*(column[left] for column in columns)) for left in units.without()]
    )
    if np.ptp(left_out) <= SAME:
        return replace(figure, reason="it stays the same whichever sample is left out")
    ends, _ = mean_interval(
        left_out,
        value,
        units.equal,
        signed=False,
        within=(0.0 if measure is auc else -1.0, 1.0),
    )
    return figure.with_ends(ends)

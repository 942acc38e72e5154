"""Means of human ratings from a few ratings and many scores of a judge: prediction-powered.

Of N samples that a judge scored (f) n have a human rating (y). The mean of the n ratings is right
and wide; that of the N scores is narrow and as biased as the judge. The estimate takes from the
judge how far the rated samples lie from all of them:

    mean(y) + slope * (mean of f over all N - mean of f over the n rated)

It is right however good the judge is, and narrower the more the judge knows (Angelopoulos et al.,
Prediction-powered inference, 2023). The slope that makes it narrowest (PPI++, Angelopoulos, Duchi
and Zrnic, 2023) is that of the regression of y on f, so this is the regression estimator of survey
statistics (Cochran, Sampling Techniques, chapter 7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import Groups, check_level, numbers, same_length
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.jackknife import student_quantile
from tcva_adapters.stats.sampling_units import Units, natural_ends

MIN_RATINGS = 30
"""With fewer ratings, or groups of them, the judge's scores are left out."""


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """The mean human rating of samples that a judge scored and of which some are rated.

    Attributes:
        estimate: The mean from ratings and scores together; `alone` where there are fewer than 30
            ratings, hardly any two scores of these differ, or they make it no narrower.
        alone: The mean from the ratings alone.
        effective_n: How many ratings alone would give an interval as narrow.
    """

    estimate: Estimate
    alone: Estimate
    effective_n: float


def powered_mean(
    ratings: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    groups: Groups = None,
    level: float = 0.95,
    signed: bool = False,
) -> PoweredMean:
    """Estimate the mean rating of all samples, of which a random draw is rated.

    Also the difference of two systems, with ``signed``: from the ratings and scores of the one less
    those of the other, query by query.

    Args:
        ratings: Shape (N,); nan or None where nobody rated. For a pass rate 0 and 1.
        scores: Scores of the judge, shape (N,), on any scale. Samples without one are left out.
        groups: One per sample: samples of one group were drawn together, or resemble each other.
        level: Of confidence.
        signed: Whether the mean may be negative although no rating at hand is.

    Raises:
        InvalidValueError: Lengths that differ, no rating, groups that do not fit, or a level
            outside (0, 1).
        MissingDependencyError: scipy is not installed.

    >>> ratings = [1, 0, 1, 0, 1, 0, 1, 1, 0, 1] * 3 + [None] * 270
    >>> scores = [0.9, 0.3, 0.8, 0.5, 0.9, 0.4, 0.7, 0.9, 0.2, 0.8] * 3 + [0.8, 0.9] * 135
    >>> mean = powered_mean(ratings, scores)
    >>> round(mean.alone.value, 2), round(mean.estimate.value, 2), round(mean.effective_n) > 60
    (0.6, 0.94, True)
    """
    known = numbers("ratings", ratings)
    judged = numbers("scores", scores)
    same_length({"ratings": known, "scores": judged})
    check_level(level)
    scored = np.isfinite(judged)
    rated = np.isfinite(known) & scored
    n = int(rated.sum())
    if not n:
        raise InvalidValueError(
            "no sample has a score and a human rating; rate some first"
        )
    alone = estimate(
        "mean",
        np.where(rated, known, np.nan),
        groups,
        level=level,
    )
    unpowered = PoweredMean(alone, alone, effective_n=n)
    units = Units(groups, rated)
    all_units = Units(groups, scored)
    if alone.reason or units.why_no_interval(MIN_RATINGS, judged[rated]):
        return unpowered

    here = rated[scored]
    f = judged[scored] - judged[scored].mean()
    y = known[rated]
    shift = mean(f[here])
    centred = f[here] - shift
    across = max(float(centred @ centred), 1e-300)  # 0 of equal scores: no slope
    slope = float(centred @ y) / across
    value = mean(y) - slope * shift

    # What each sample adds to the estimate's error; the units of the draw are independent.
    weights = 1.0 / n - centred * shift / across
    left = (y - y.mean() - slope * centred) * weights
    leverage = 1.0 / n + centred**2 / across
    influence = slope * f / len(f)
    influence[here] += left / (1.0 - leverage)
    if all_units.codes is not None:
        influence = np.bincount(all_units.codes, weights=influence)
    corrected = units.equal / (units.equal - 1.0)
    error = math.sqrt((influence @ influence) * corrected)
    half = student_quantile(level, units.equal - 2.0) * error
    plain = alone.high - alone.low
    if not 2.0 * half < plain:
        return unpowered
    least, most = natural_ends(np.append(y, -1.0) if signed else y)
    powered = replace(
        alone,
        value=min(max(value, least), most),
        low=max(value - half, least),
        high=min(value + half, most),
        narrow=(math.nan, math.nan),
    )
    return PoweredMean(powered, alone, effective_n=n * (plain / (2.0 * half)) ** 2)

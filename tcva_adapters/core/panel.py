"""Several scores of one sample made into one: fused methods, and judges by criteria."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    TINY_EXPONENT,
    check_eps,
    rounded,
)
from tcva_adapters.core.checks import as_list, as_matrix, as_number, check_within
from tcva_adapters.core.temperature import (
    PAPER_BOUNDS,
    Bounds,
    check_temperature,
    exponent_within,
)
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Fused:
    """Fused scores, and how many methods stand behind each.

    Attributes:
        scores: Shape (N,), in [0, 1]; nan where no method has a score.
        members: Shape (N,): how many methods had one.
    """

    scores: FloatArray
    members: npt.NDArray[np.int64]


def fuse(
    scores: npt.ArrayLike,
    *,
    weights: Sequence[float] | None = None,
    temperature: float | str | None = None,
    eps: float = DEFAULT_EPS,
    bounds: Bounds = PAPER_BOUNDS,
) -> Fused:
    """The weighted power mean of several methods' scores, sample by sample.

    Methods that make different errors correct each other. A missing score is left out, and the other
    weights are scaled up. The result does not depend on the order of the methods.

    Args:
        scores: Shape (N, M): N samples, M methods, in [0, 1]; nan where a method has no score.
        weights: One per method, at least 0 and not all 0; equal where None.
        temperature: Of this mean, as for ``aggregate``: low is near the smallest score,
            0.5 the arithmetic mean, high is near the largest. None is the geometric mean
            (exponent 0).
        eps: The least score that enters a mean with an exponent up to 0, so that one 0 does not
            make all samples alike. Where every score is 0 the mean is 0.
        bounds: The end points of the map from temperature to exponent.

    Raises:
        InvalidValueError: A wrong shape, a score outside [0, 1] (the message says where), or
            weights or a temperature outside their ranges.

    >>> fused = fuse([[0.9, 0.4], [0.9, float("nan")], [float("nan"), float("nan")]])
    >>> fused.scores.round(3).tolist(), fused.members.tolist()
    ([0.6, 0.9, nan], [2, 1, 0])
    >>> fuse([[0.9, 0.4]], temperature=0.5, weights=[3, 1]).scores.round(3).tolist()
    [0.775]
    """
    table = as_matrix(
        "scores",
        scores,
        "method",
        1.0,
        wanted="between 0 and 1 (rescale other scores first), or nan where there is none",
        may_miss=True,
    )
    methods = table.shape[1]
    shares = np.ones(methods)
    if weights is not None:
        shares = _check_weights(weights, methods, "methods")
    power = 0.0  # the geometric mean
    if temperature is not None:
        power = exponent_within(check_temperature(temperature, bounds), bounds)
    eps = check_eps(eps)
    present = np.isfinite(table) & (shares > 0.0)
    members = present.sum(axis=1)
    fused = np.full(len(table), np.nan)
    scored = np.flatnonzero(members)
    present_shares = np.where(present[scored], shares, 0.0)
    fused[scored] = rounded(_means(table[scored], present_shares, power, eps))
    return Fused(fused, members)


@dataclass(frozen=True)
class PanelRating:
    """The rating that a panel of judges gave one answer.

    Attributes:
        weighted_score: The criteria's scores by their weights, in [0, max_score].
        normalized_score: The same over ``max_score``, in [0, 1].
        pass_status: Whether the normalized score reaches the threshold.
        judge_agreement: 1 where all judges gave the same, 0 where half gave 0 and half the
            maximum; nan for a single judge.
    """

    weighted_score: float
    normalized_score: float
    pass_status: bool
    judge_agreement: float


def evaluate_panel(
    judge_scores: Sequence[Sequence[float]],
    criteria_weights: Sequence[float],
    passing_threshold: float,
    max_score: float,
) -> PanelRating:
    """Combine several judges' scores on weighted criteria into one rating, with their agreement.

    The agreement is ``1 - mean(std) / (max_score / 2)`` over the criteria, with the population
    standard deviation. It is not defined for a single judge.

    Args:
        judge_scores: N judges by K criteria, in [0, max_score].
        criteria_weights: K numbers, at least 0, that sum to 1.
        passing_threshold: The least normalized score that passes, in [0, 1].
        max_score: The best score, above 0.

    Raises:
        InvalidValueError: No judges, rows of different length, a number outside its range, or
            weights that do not sum to 1.

    >>> rating = evaluate_panel([[4, 5, 3], [4, 4, 4], [5, 5, 4]], [0.3, 0.5, 0.2], 0.6, 5)
    >>> round(rating.weighted_score, 4), round(rating.judge_agreement, 4), rating.pass_status
    (4.3667, 0.8114, True)
    """
    limits = sys.float_info
    best = check_within(
        "max_score", max_score, limits.min, limits.max, "a number above 0"
    )
    least = check_within(
        "passing_threshold",
        passing_threshold,
        0.0,
        1.0,
    )
    table = as_matrix(
        "judge_scores",
        judge_scores,
        "criterion",
        best,
        wanted=f"between 0 and max_score={best:g}",
    )
    shares = _check_weights(
        criteria_weights,
        table.shape[1],
        "criteria",
    )
    if abs(shares.sum() - 1.0) > _SUM_TOLERANCE:
        raise InvalidValueError(
            f"criteria_weights must sum to 1, got {list(criteria_weights)!r}"
        )
    table = np.sort(table, axis=0)  # the order of the judges must not move the last bit
    means = table.mean(axis=0)
    # A mean lies between its members. Without this, a panel that gives 3 of 5 by ten criteria of
    # weight 0.1 would miss a threshold of 0.6 by the last bit.
    weighted = float(np.clip(shares @ means, means.min(), means.max()))
    normalized = weighted / best
    return PanelRating(
        weighted_score=weighted,
        normalized_score=normalized,
        pass_status=normalized >= least,
        judge_agreement=(1.0 - 2.0 * float(table.std(axis=0).mean()) / best)
        if len(table) > 1
        else math.nan,
    )


def _means(
    table: FloatArray,
    shares: FloatArray,
    power: float,
    eps: float,
) -> FloatArray:
    """Power means of rows with at least one share above 0."""
    values = np.where(shares > 0.0, table, 0.0)
    # A fixed order of the summands: the order of the methods must not move the last bit.
    order = np.lexsort((shares, values), axis=-1)
    values = np.take_along_axis(values, order, axis=1)
    shares = np.take_along_axis(shares, order, axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    low = np.where(shares > 0.0, values, np.inf).min(axis=1)
    high = values.max(axis=1)
    with np.errstate(divide="ignore"):  # log of 0, as of a share that a row lacks
        logs = np.log(np.maximum(values, eps) if power < TINY_EXPONENT else values)
        log_shares = np.log(shares)
    if abs(power) < TINY_EXPONENT:
        log_means = (shares * logs).sum(axis=1)
    else:
        log_means = np.logaddexp.reduce(log_shares + power * logs, axis=1) / power
    # A mean lies between its members; this also makes the mean of equal scores exactly that score.
    clipped: FloatArray = np.clip(np.exp(log_means), low, high)
    return clipped


def _check_weights(
    weights: Sequence[float],
    count: int,
    owners: str,
) -> FloatArray:
    """Check weights, one per method or criterion, and return them as an array."""
    numbers = [as_number(weight) for weight in as_list("weights", weights)]
    if len(numbers) != count or None in numbers:
        raise InvalidValueError(
            f"weights must be numbers, one for each of {count} {owners}, got {weights!r}"
        )
    shares = np.array(numbers, dtype=np.float64)
    if not ((shares >= 0.0).all() and 0.0 < sum(shares.tolist()) < np.inf):
        raise InvalidValueError(
            f"weights must be finite, at least 0 and not all 0, got {weights!r}"
        )
    return shares

"""From verdicts to scores: one list at one temperature, or a matrix of counts at many.

`scores_of` scores a matrix, `score_of` one list on plain numbers, which takes a tenth of the time.
Nothing in a row's result depends on the rows around it, and scores are rounded to 12 significant
digits: they are the same alone and among a million others, in any order of the verdicts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Literal, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.checks import as_list, as_matrix, check_names, check_within
from tcva_adapters.core.temperature import (
    BALANCED,
    PAPER_BOUNDS,
    Bounds,
    check_temperature,
    exponent_within,
)
from tcva_adapters.core.verdicts import (
    LEVELS,
    FloatArray,
    Verdict,
    WeightScheme,
    count_levels,
)
from tcva_adapters.errors import InvalidValueError

Penalty = Literal["paper", "ramped", "absolute", "off"]

Floor = Literal["paper", "always"]

SchemeLike = WeightScheme | str | Sequence[float]

PENALTIES: tuple[Penalty, ...] = get_args(Penalty)
FLOORS: tuple[Floor, ...] = get_args(Floor)

DEFAULT_PENALTY: Penalty = "paper"
DEFAULT_FLOOR: Floor = "paper"
DEFAULT_EPS = 1e-9

TINY_EXPONENT = 1e-12
"""Below this distance from 0 the geometric mean stands in (paper, step 5)."""

_NEAREST_EXPONENT = -(TINY_EXPONENT**2)
"""An exponent so near to 0 that the power mean is the geometric one to the last digit."""

DIGITS = 12
"""Significant digits of every score."""

_SCALES = np.array([float(f"1e{places}") for places in range(301)])
_NEAR_HALF = 2e-3
"""The distance from a tie between two scores of 12 digits at which last bits decide the
rounding."""
_SURE_PLACES = 22
"""Decimals (of scores from 1e-10 on) up to which last bits decide only so near to a tie."""
_PLAIN_SUM_BELOW = -0.5
_LARGEST_COUNT = 2.0**53
_CHUNK_CELLS = 2**16
_MIN_LOG = -1e300
"""Stands for the logarithm of 0, so that times an exponent of 0 it gives 0."""


class ScoreOptions(TypedDict, total=False):
    """Keyword arguments of `aggregate`, which explains them."""

    scheme: SchemeLike
    penalty: Penalty
    eps: float
    floor: Floor


OPTIONS = ("bounds", *ScoreOptions.__annotations__)
"""The names of all keyword arguments of functions that score."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The options of a score, checked and prepared before the first row is scored.

    Attributes:
        temperatures: One per column of the result.
        exponents: The power mean's exponent at each temperature.
        floored: The five weights for exponents up to 0; all above 0.
        weights: The five weights for exponents above 0.
        penalty: How ``none`` verdicts are penalised.
    """

    temperatures: Sequence[float] | FloatArray
    exponents: Sequence[float] | FloatArray
    floored: Sequence[float]
    weights: Sequence[float]
    penalty: Penalty


def aggregate(
    verdicts: Iterable[Verdict | str],
    temperature: float | str = BALANCED,
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = DEFAULT_PENALTY,
    eps: float = DEFAULT_EPS,
    floor: Floor = DEFAULT_FLOOR,
    bounds: Bounds = PAPER_BOUNDS,
) -> float:
    """The score of a list of verdicts (paper, section 3.4).

    It is the power mean of the verdicts' weights, with the exponent that the temperature stands
    for, times a penalty for ``none`` verdicts, rounded to 12 significant digits. The order of the
    verdicts does not change it; nor does repetition of the whole list, with the penalties
    ``paper`` and ``off``.

    Args:
        verdicts: Levels or their words, in any order.
        temperature: In ``[bounds.t_min, bounds.t_max]``, or ``strict``, ``balanced``, ``lenient``.
        scheme: The weights: a scheme, a published scheme's name, or five numbers.
        penalty: The factor for n verdicts of which the share f is ``none``. ``paper``:
            ``(1-f)**(1.5-T)``. ``ramped``: ``(1-f)**((1.5-T) * min(1, (n-1)/4))``. ``absolute``:
            ``max(0, 1 - 0.1 * number of none)``. ``off``: 1. The level counts, not the weight 0.
        eps: The least weight where the floor applies, in (0, 1). A larger one (0.05, say) turns
            the veto of a single ``none`` into a smaller penalty, and needs ``floor="always"``.
        floor: Where weights are raised to ``eps``. ``paper``: for exponents up to 0, so that with
            a ``none`` the score falls right above exponent 0 (T = 0.4556) before it rises again.
            ``always``: at every exponent; the score then never falls as the temperature rises.
            The two are the same up to exponent 0. Above it an ``eps`` over 1e-9 is refused with
            ``paper``: scores would rise to it, fall to nothing, and rise again.
        bounds: The end points of the map from temperature to exponent.

    Returns:
        A number in [0, 1]; nan where there is no verdict at all.

    Raises:
        InvalidValueError: An unknown word, level, scheme, penalty or floor, a number outside its
            range, or an ``eps`` and a ``floor`` that do not go together.

    >>> aggregate(["fully", "mostly", "partial"])
    0.866666666667
    >>> words = ["fully"] * 4 + ["none"]
    >>> [round(aggregate(words, t), 3) for t in ("strict", 0.46, 0.5, "lenient")]
    [0.0, 0.085, 0.64, 0.855]
    >>> [round(aggregate(words, t, eps=0.05, floor="always"), 3) for t in ("strict", 0.46, 0.5)]
    [0.049, 0.466, 0.648]
    """
    return score_of(
        count_levels(verdicts),
        make_plan(
            [temperature],
            scheme=scheme,
            penalty=penalty,
            eps=eps,
            floor=floor,
            bounds=bounds,
        ),
    )


def aggregate_counts(
    counts: npt.ArrayLike,
    temperatures: Iterable[float | str],
    *,
    bounds: Bounds = PAPER_BOUNDS,
    **options: Unpack[ScoreOptions],
) -> FloatArray:
    """The scores of many verdict lists at many temperatures.

    A list's score depends on nothing but how often each level occurs. Each score equals what
    ``aggregate`` gives for that list alone.

    Args:
        counts: Shape (N, 5), fully to none: how often each level occurs, or the (expected) shares
            of the levels. Entries lie in [0, 2**53]. The penalties ``ramped`` and ``absolute``
            depend on the number of verdicts, so they need counts (expected ones will do).
        temperatures: Any number of them, each as for ``aggregate``.
        bounds: As for ``aggregate``.
        options: Likewise ``scheme``, ``penalty``, ``eps`` and ``floor``.

    Returns:
        Shape (N, number of temperatures); a row of zeros gives nan.

    Raises:
        InvalidValueError: As for ``aggregate``; a wrong shape, or an entry that is negative, too
            large or not finite (the message names the row).

    >>> aggregate_counts([[1, 1, 1, 0, 0], [4, 0, 0, 0, 1]], [0.1, 0.5, 1.0]).round(3).tolist()
    [[0.786, 0.867, 0.933], [0.0, 0.64, 0.878]]
    """
    check_names(options, OPTIONS, owner="aggregate_counts")
    return scores_of(
        check_counts(counts), make_plan(temperatures, bounds=bounds, **options)
    )


def score_curves(
    rows: FloatArray,
    *,
    bounds: Bounds = PAPER_BOUNDS,
    **options: Unpack[ScoreOptions],
) -> Callable[[FloatArray], FloatArray]:
    """The scores of checked rows as functions of the temperature, over all that the bounds allow.

    Args:
        rows: Shape (N, 5).
        bounds: As for ``aggregate_counts``.
        options: Likewise ``scheme``, ``penalty``, ``eps`` and ``floor``.

    Returns:
        A function from temperatures within the bounds, shape (T,), to the scores of
        ``aggregate_counts``, shape (N, T).

    Raises:
        InvalidValueError: As for ``aggregate_counts``.
    """
    plan = make_plan(
        [bounds.t_max],
        bounds=bounds,
        **options,
    )
    return lambda at: scores_of(
        rows,
        replace(
            plan,
            temperatures=at,
            exponents=exponent_within(at, bounds),
        ),
    )


def make_plan(
    temperatures: Iterable[float | str],
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = DEFAULT_PENALTY,
    eps: float = DEFAULT_EPS,
    floor: Floor = DEFAULT_FLOOR,
    bounds: Bounds = PAPER_BOUNDS,
) -> Plan:
    """Check the options of `aggregate_counts`, and prepare them for `scores_of`.

    Raises:
        InvalidValueError: As for ``aggregate_counts``.
    """
    grid = [check_temperature(t, bounds) for t in as_list("temperatures", temperatures)]
    weights = WeightScheme.resolve(scheme).weights
    check_known("penalty", penalty, PENALTIES)
    least = check_eps(eps)
    floored = [max(weight, least) for weight in weights]
    check_known("floor", floor, FLOORS)
    exponents = [exponent_within(temperature, bounds) for temperature in grid]
    check_floored(
        least,
        floor,
        max(exponents, default=-math.inf),
    )
    return Plan(
        temperatures=grid,
        exponents=exponents,
        floored=floored,
        weights=floored if floor == "always" else weights,
        penalty=penalty,
    )


def check_known(what: str, name: str, known: Sequence[str]) -> None:
    """Refuse a name that is not known.

    Raises:
        InvalidValueError: It is not one of the known names.
    """
    if not isinstance(name, str) or name not in known:
        raise InvalidValueError(
            f"{what} must be one of {', '.join(known)}, got {name!r}"
        )


def check_eps(eps: float) -> float:
    """Check a least weight, and return it as a float.

    Too small a weight would overflow at negative exponents.

    Raises:
        InvalidValueError: It lies outside (0, 1), or below the smallest ordinary float.
    """
    return check_within(
        "eps",
        eps,
        low=sys.float_info.min,
        high=math.nextafter(1.0, 0.0),
        wanted="above 0 and below 1",
    )


def check_floored(eps: float, floor: Floor, highest: float) -> None:
    """Refuse a floor that would let scores fall as the temperature rises.

    The paper's floor ends at exponent 0. A ``none`` counts as ``eps`` up to there and as 0 right
    above it, so that with a larger ``eps`` the score would fall from anywhere to nothing.

    Args:
        eps: The least weight, checked.
        floor: Where it applies, checked.
        highest: The highest exponent that is used.

    Raises:
        InvalidValueError: A larger ``eps`` than the default, the paper's floor, and an exponent
            above 0.
    """
    if eps > DEFAULT_EPS and floor == "paper" and highest >= TINY_EXPONENT:
        raise InvalidValueError(
            f'eps={eps:g} needs floor="always". With floor="paper" an eps above {DEFAULT_EPS:g} '
            "makes scores fall where the exponent turns positive"
        )


def check_counts(counts: npt.ArrayLike) -> FloatArray:
    """Check a matrix of counts or shares, and return it as floats.

    Raises:
        InvalidValueError: Not of shape (N, 5), or an entry is not a count or a share.
    """
    return as_matrix(
        "counts",
        counts,
        LEVELS,
        _LARGEST_COUNT,
        wanted="finite, not negative and at most 2**53",
    )


def score_of(counts: Sequence[float], plan: Plan) -> float:
    """The score of one checked row at the one temperature of a plan; as `scores_of`, but faster."""
    score = unrounded_score(
        counts,
        plan,
        plan.temperatures[0],
        plan.exponents[0],
    )
    if not score > 0.0:
        return score
    places = DIGITS - 1 - math.floor(math.log10(score))
    scale: float = _SCALES.item(min(places, len(_SCALES) - 1))
    scaled = score * scale
    if places > _SURE_PLACES or abs(scaled % 1.0 - 0.5) < _NEAR_HALF:
        return float(scores_of(np.array([counts]), plan)[0, 0])
    return round(scaled) / scale


def unrounded_score(
    counts: Sequence[float],
    plan: Plan,
    temperature: float,
    exponent: float,
) -> float:
    """The score of one row on plain numbers; see `_power_means` for the formula.

    Args:
        counts: Checked, fully to none.
        plan: Only its weights and its penalty are used.
        temperature: Checked.
        exponent: The exponent at this temperature.
    """
    total = sum(counts)
    if not total:
        return math.nan

    is_low = exponent < TINY_EXPONENT
    weights = plan.floored if is_low else plan.weights
    present = [pair for pair in zip(counts, weights, strict=True) if pair[0]]
    favoured = present[-1 if is_low else 0][1]
    if not favoured:
        return 0.0
    if abs(exponent) < TINY_EXPONENT:
        exponent = _NEAREST_EXPONENT

    deficit = plain_sum = 0.0
    for count, weight in present:
        power = exponent * math.log(weight / favoured) if weight else -math.inf
        deficit += count / total * math.expm1(power)
        plain_sum += count / total * math.exp(power)
    is_clear = deficit < _PLAIN_SUM_BELOW
    log_sum = math.log(plain_sum) if is_clear else math.log1p(deficit)
    mean = favoured * math.exp(log_sum / exponent)
    if plan.penalty == "off":
        return mean
    if plan.penalty == "absolute":
        return mean * max(10.0 - counts[-1], 0.0) / 10.0
    alpha = 1.5 - temperature
    if plan.penalty == "ramped":
        alpha *= min(max((total - 1.0) / 4.0, 0.0), 1.0)
    factor: float = (sum(counts[:-1]) / total) ** alpha
    return mean * factor


def scores_of(rows: FloatArray, plan: Plan) -> FloatArray:
    """The scores of checked rows, shape (rows, temperatures); nan for rows of zeros."""
    temperatures = np.asarray(plan.temperatures, dtype=np.float64)
    exponents = np.asarray(plan.exponents, dtype=np.float64)
    step = max(1, _CHUNK_CELLS // max(1, len(exponents)))
    if len(rows) > step:
        distinct, inverse = _distinct(rows)
        if len(distinct) < len(rows):
            return scores_of(distinct, plan)[inverse]

    # The favoured weight comes first: the largest one for exponents above 0, else the smallest.
    is_low = exponents < TINY_EXPONENT
    pieces = [
        (np.flatnonzero(is_low), plan.floored[::-1], -1),
        (np.flatnonzero(~is_low), plan.weights, 1),
    ]
    scores = np.empty((len(rows), len(exponents)))
    for start in range(0, len(rows), step):
        chunk = rows[start : start + step]
        part = scores[start : start + step]
        # A weight of 0 has no logarithm, and a row of zeros no shares.
        with np.errstate(all="ignore"):
            # Added from the first level to the last, whatever the other rows hold.
            total = reduce(add, chunk.T)
            shares = chunk / total[:, None]
            penalty = _log_penalty(
                chunk,
                total,
                plan.penalty,
                1.5 - temperatures,
            )
            for columns, weights, step_of_levels in pieces:
                if len(columns):
                    part[:, columns] = _power_means(
                        shares[:, ::step_of_levels],
                        np.array(weights),
                        exponents[columns],
                        penalty[:, columns],
                    )
            part[total == 0.0] = np.nan
    return rounded(scores)


def rounded(scores: FloatArray) -> FloatArray:
    """Round numbers in [0, 1] to 12 digits, those below 1e-289 to 300 decimals; nan stays.

    >>> rounded(np.array([2 / 3, 2e-9 / 3, 1.0])).tolist()
    [0.666666666667, 6.66666666667e-10, 1.0]
    """
    with np.errstate(divide="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(scores))
    scales = _SCALES[np.fmin(places, len(_SCALES) - 1).astype(np.intp)]
    return np.asarray(np.rint(scores * scales) / scales)


def _power_means(
    shares: FloatArray,
    weights: FloatArray,
    exponents: FloatArray,
    log_factors: FloatArray,
) -> FloatArray:
    """Power means of weights times factors.

    With w0 the weight that the exponents favour (the largest one present for p > 0, else the
    smallest, which is not 0), ``M = w0 * exp(ln(1 + S) / p)`` and
    ``S = sum_i share_i * ((w_i / w0)**p - 1)``: the logarithm of a sum of exponentials. All terms of
    S lie in [-1, 0]: nothing overflows, and nothing cancels, however small p is.

    Args:
        shares: Shape (N, 5).
        weights: Shape (5,), in the order of favour.
        exponents: Shape (T,), all of one sign (0 counts as negative).
        log_factors: Shape (N, T).
    """
    means = np.zeros(log_factors.shape)
    favoured = (shares > 0.0).argmax(axis=1)
    is_tiny = np.abs(exponents) < TINY_EXPONENT
    exponents = np.where(is_tiny, _NEAREST_EXPONENT, exponents)
    for first in np.flatnonzero(np.bincount(favoured)).tolist():
        if weights[first] == 0.0:
            continue
        rows = favoured == first
        of_levels = shares[rows, first:].T
        logs = np.log(weights[first:] / weights[first])
        scaled = np.multiply.outer(logs, exponents)
        deficits = _weighted(of_levels, np.expm1(scaled))
        # 1 + S loses digits where S is close to -1; the plain sum of positive terms does not.
        log_sums = np.where(
            deficits < _PLAIN_SUM_BELOW,
            np.log(_weighted(of_levels, np.exp(scaled))),
            np.log1p(deficits),
        )
        log_means = log_sums / exponents
        means[rows] = weights[first] * np.exp(log_means + log_factors[rows])
    return means


def _log_penalty(
    rows: FloatArray,
    total: FloatArray,
    penalty: Penalty,
    alpha: FloatArray,
) -> FloatArray:
    """The logarithm of the factor for ``none`` verdicts, shape (N, T) (paper, eq. 12)."""
    if penalty == "off":
        left = np.ones(len(rows))
    elif penalty == "absolute":
        left = np.maximum(10.0 - rows[:, -1], 0.0) / 10.0
        alpha = np.ones(len(alpha))
    else:
        left = reduce(add, rows[:, :-1].T) / total
    logs = np.maximum(np.log(left), _MIN_LOG)
    if penalty == "ramped":
        logs *= np.clip((total - 1.0) / 4.0, 0.0, 1.0)
    return np.multiply.outer(logs, alpha)


def _weighted(shares: FloatArray, terms: FloatArray) -> FloatArray:
    """Sums over the levels, shape (rows, terms' columns), added from the first to the last."""
    sums: FloatArray = shares[0][:, None] * terms[0]
    for share, term in zip(shares[1:], terms[1:], strict=True):
        sums += share[:, None] * term
    return sums


def _distinct(rows: FloatArray) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Find the distinct rows and the index of each row among them; all rows unless small counts."""
    radices = rows.max(axis=0) + 1.0
    if radices.prod() > _LARGEST_COUNT or not (rows == np.floor(rows)).all():
        return rows, np.arange(len(rows))
    _, first, inverse = np.unique(
        rows @ np.cumprod([1.0, *radices[:-1]]),
        return_index=True,
        return_inverse=True,
    )
    return rows[first], inverse

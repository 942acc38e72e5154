"""From verdicts to scores: one list at one temperature, or a matrix of counts at many."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.checks import as_floats, as_number, listed
from tcva_adapters.core.kernel import LARGEST_WHOLE, TINY_EXPONENT, Penalty, Plan, score_rows
from tcva_adapters.core.single import Row, ScoreCurves, SingleScores
from tcva_adapters.core.temperature import (
    BALANCED,
    PAPER_BOUNDS,
    Bounds,
    check_bounds,
    check_temperature,
    exponent_within,
)
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict, WeightScheme, level_counts
from tcva_adapters.errors import InvalidValueError

Floor = Literal["paper", "always"]

SchemeLike = WeightScheme | str | Sequence[float]

GivenSettings = tuple[SchemeLike, Penalty, float, Floor, Bounds]
Settings = tuple[WeightScheme, Penalty, float, Floor, Bounds]

PENALTIES: Final[tuple[Penalty, ...]] = get_args(Penalty)
FLOORS: Final[tuple[Floor, ...]] = get_args(Floor)

DEFAULT_PENALTY: Final[Penalty] = "paper"
DEFAULT_FLOOR: Final[Floor] = "paper"
DEFAULT_EPS: Final = 1e-9

_CHUNK_CELLS: Final = 2**18
_LOOKUP_CELLS: Final = 2**20


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

    The power mean of the verdicts' weights, with the exponent that the temperature stands for,
    times a penalty for ``none`` verdicts. Order and repetition of the whole list do not change a
    bit of it, and it is never rounded.

    Args:
        verdicts: Levels or their words, in any order.
        temperature: In ``[bounds.t_min, bounds.t_max]``, or ``strict``, ``balanced``, ``lenient``.
        scheme: The weights: a scheme, a published scheme's name, or five numbers.
        penalty: The factor for n verdicts of which the share f is ``none``. ``paper``:
            ``(1-f)**(1.5-T)``. ``ramped``: ``(1-f)**((1.5-T) * min(1, (n-1)/4))``. ``absolute``:
            ``max(0, 1 - 0.1 * number of none)``. ``off``: 1. The level counts, not the weight 0.
        eps: The least weight where the floor applies, in (0, 1). A larger one (0.05, say) turns
            the veto of a single ``none`` into a graded punishment, and goes with
            ``floor="always"``.
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
    0.8666666666666667
    >>> words = ["fully"] * 4 + ["none"]
    >>> [round(aggregate(words, t), 3) for t in ("strict", 0.46, 0.5, "lenient")]
    [0.0, 0.085, 0.64, 0.855]
    >>> [round(aggregate(words, t, eps=0.05, floor="always"), 3) for t in ("strict", 0.46, 0.5)]
    [0.049, 0.466, 0.648]
    """
    counts = level_counts(verdicts)
    value = check_temperature(temperature, bounds)
    return single_score(counts, value, scheme, penalty, eps, floor, bounds)


def sweep(
    counts: npt.ArrayLike,
    temperatures: Iterable[float | str],
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = DEFAULT_PENALTY,
    eps: float = DEFAULT_EPS,
    floor: Floor = DEFAULT_FLOOR,
    bounds: Bounds = PAPER_BOUNDS,
) -> FloatArray:
    """The scores of many verdict lists at many temperatures.

    A list's score depends on nothing but how often each level occurs. Each score equals, bit for
    bit, what ``aggregate`` gives for that list alone.

    Args:
        counts: Shape (N, 5), fully to none: how often each level occurs, or the (expected) shares
            of the levels. Entries lie in [0, 2**53]. The penalties ``ramped`` and ``absolute``
            depend on the number of verdicts, so they need counts (expected ones will do).
        temperatures: As many as you like, each as for ``aggregate``.
        scheme: As for ``aggregate``, like the remaining arguments.
        penalty: See there.
        eps: See there.
        floor: See there.
        bounds: See there.

    Returns:
        Shape (N, number of temperatures); a row of zeros gives nan.

    Raises:
        InvalidValueError: As for ``aggregate``; a wrong shape, or an entry that is negative, too
            large or not finite (the message names the row).

    >>> sweep([[1, 1, 1, 0, 0], [4, 0, 0, 0, 1]], [0.1, 0.5, 1.0]).round(3).tolist()
    [[0.786, 0.867, 0.933], [0.0, 0.64, 0.878]]
    """
    rows = check_counts(counts)
    plan = make_plan(
        temperatures, scheme=scheme, penalty=penalty, eps=eps, floor=floor, bounds=bounds
    )
    return scores_of(rows, plan)


def single_score(
    counts: Sequence[float],
    temperature: float,
    scheme: SchemeLike,
    penalty: Penalty,
    eps: float,
    floor: Floor,
    bounds: Bounds,
) -> float:
    """The score of five level counts that are known to be such, at a temperature that is checked.

    Raises:
        InvalidValueError: As for ``aggregate``.
    """
    scores = _single_scores(scheme, penalty, eps, floor, bounds)
    exponent = exponent_within(temperature, bounds)
    check_floored(eps, floor, exponent)
    return scores.of(Row(counts), temperature, exponent)


def score_curves(
    rows: FloatArray,
    scheme: SchemeLike,
    penalty: Penalty,
    eps: float,
    floor: Floor,
    bounds: Bounds,
) -> ScoreCurves:
    """The scores of checked rows as functions of the temperature, over all that the bounds allow.

    Raises:
        InvalidValueError: As for ``sweep``.
    """
    single = _single_scores(scheme, penalty, eps, floor, bounds)
    check_floored(eps, floor, bounds.p_max)
    return ScoreCurves(rows, single, bounds)


def _single_scores(*settings: *GivenSettings) -> SingleScores:
    try:
        return _remembered(*settings)
    except TypeError:  # what has no hash: weights as a list, numbers as arrays
        return _remembered(*_checked(*settings))


@lru_cache(maxsize=64, typed=True)  # typed: a truth value equals a number, and is none
def _remembered(*settings: *GivenSettings) -> SingleScores:
    return SingleScores(_plan((), *_checked(*settings)))


def _checked(
    scheme: SchemeLike, penalty: Penalty, eps: float, floor: Floor, bounds: Bounds
) -> Settings:
    return (
        WeightScheme.resolve(scheme),
        check_penalty(penalty),
        check_eps(eps),
        check_floor(floor),
        check_bounds(bounds),
    )


def _plan(temperatures: tuple[float, ...], *settings: *Settings) -> Plan:
    scheme, penalty, eps, floor, bounds = settings
    weights = scheme.as_array()
    floored = np.maximum(weights, eps)
    at = np.array(temperatures, dtype=np.float64)
    exponents = exponent_within(at, bounds)
    check_floored(eps, floor, float(exponents.max(initial=-np.inf)))
    return Plan(
        temperatures=at,
        exponents=exponents,
        floored=floored,
        weights=floored if floor == "always" else weights,
        penalty=penalty,
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
    """The checked options of a sweep in the form that the kernel works with.

    Raises:
        InvalidValueError: As for ``sweep``.
    """
    check_bounds(bounds)
    values = [check_temperature(t, bounds) for t in listed("temperatures", temperatures)]
    return _plan(tuple(values), *_checked(scheme, penalty, eps, floor, bounds))


def check_penalty(penalty: Penalty) -> Penalty:
    """A penalty's name as it is.

    Raises:
        InvalidValueError: There is no such penalty.
    """
    check_known("penalty", penalty, PENALTIES)
    return penalty


def check_floor(floor: Floor) -> Floor:
    """A floor's name as it is.

    Raises:
        InvalidValueError: There is no such floor.
    """
    check_known("floor", floor, FLOORS)
    return floor


def check_known(what: str, name: str, known: Sequence[str]) -> None:
    """Refuse a name that is none of those that are known.

    Raises:
        InvalidValueError: It is none of them.
    """
    if not isinstance(name, str) or name not in known:
        msg = f"unknown {what} {name!r}; known are {', '.join(known)}"
        raise InvalidValueError(msg)


def check_eps(eps: float) -> float:
    """A least weight as a float: too small a one would overflow at negative exponents.

    Raises:
        InvalidValueError: It lies outside (0, 1), or below the smallest ordinary float.
    """
    least = as_number(eps)
    if least is None or not sys.float_info.min <= least < 1.0:
        msg = f"eps is {eps!r}; it must lie above 0 and below 1"
        raise InvalidValueError(msg)
    return least


def check_floored(eps: float, floor: Floor, highest: float) -> None:
    """Nothing, if this floor may stand under weights at exponents as high as this one.

    The paper's floor ends at exponent 0. A ``none`` counts as ``eps`` up to there and as 0 right
    above it, so that with a larger ``eps`` the score would fall from anywhere to nothing.

    Args:
        eps: Checked.
        floor: Checked.
        highest: The highest exponent that is looked at.

    Raises:
        InvalidValueError: A larger ``eps`` than the default, the paper's floor, and an exponent
            above 0.
    """
    if eps > DEFAULT_EPS and floor == "paper" and highest >= TINY_EXPONENT:
        msg = (
            f'eps is {eps:g} and floor is "paper", which applies it at exponents up to 0 alone: '
            "scores would fall as the temperature rises past there. With an eps above "
            f'{DEFAULT_EPS:g} give floor="always", which is the same up to exponent 0'
        )
        raise InvalidValueError(msg)


def check_counts(counts: npt.ArrayLike) -> FloatArray:
    """A matrix of counts or shares, checked.

    Raises:
        InvalidValueError: Not of shape (N, 5), or an entry is not a count or a share.
    """
    try:
        rows = as_floats(counts)
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"counts must be a matrix of numbers with {len(LEVELS)} columns: {error}"
        raise InvalidValueError(msg) from None
    if rows.ndim != 2 or rows.shape[1] != len(LEVELS):
        msg = (
            f"counts must have the shape (N, {len(LEVELS)}), one column per level from fully to "
            f"none; got {rows.shape}"
        )
        raise InvalidValueError(msg)
    if rows.size and not (rows.min() >= 0.0 and rows.max() <= LARGEST_WHOLE):
        row, column = np.argwhere(~((rows >= 0.0) & (rows <= LARGEST_WHOLE)))[0]
        value = float(rows[row, column])
        msg = (
            f"row {row} of counts has {value!r} for {LEVELS[column].value}; "
            "counts and shares are finite, not negative, and at most 2**53"
        )
        raise InvalidValueError(msg)
    return rows


def scores_of(rows: FloatArray, plan: Plan) -> FloatArray:
    """The scores of checked rows: each distinct row is computed once where that pays."""
    scores = np.empty((len(rows), len(plan.exponents)))
    step = max(1, _CHUNK_CELLS // max(1, len(plan.exponents)))
    if len(rows) > step:
        packed = _distinct(rows)
        if packed is not None and 4 * len(packed[0]) <= len(rows):
            distinct, inverse = packed
            # "clip" rather than the default "raise", which would buffer the whole result.
            np.take(scores_of(distinct, plan), inverse, axis=0, out=scores, mode="clip")
            return scores
    for start in range(0, len(rows), step):
        scores[start : start + step] = score_rows(rows[start : start + step], plan)
    return scores


def _distinct(rows: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int64]] | None:
    """The distinct rows and which of them each row is; None where they cannot be told cheaply."""
    radices = [int(top) + 1 for top in rows.max(axis=0)]
    size = 1
    for radix in radices:
        size *= radix
    if size > _LOOKUP_CELLS or not (rows == np.floor(rows)).all():
        return None
    key = np.zeros(len(rows), dtype=np.int64)
    for i, radix in enumerate(radices):
        key *= radix
        key += rows[:, i].astype(np.int64)
    seen = np.zeros(size, dtype=np.bool_)
    seen[key] = True
    keys = np.flatnonzero(seen)
    position = np.zeros(size, dtype=np.int64)
    position[keys] = np.arange(len(keys))
    distinct = np.stack(np.unravel_index(keys, radices), axis=1).astype(np.float64)
    return distinct, position[key]

"""From which temperature on an answer passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    Floor,
    SchemeLike,
    check_counts,
    make_plan,
)
from tcva_adapters.core.kernel import TINY_EXPONENT, Penalty, score_rows
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, exponent_within
from tcva_adapters.core.verdicts import FloatArray, Verdict, WeightScheme, count_levels
from tcva_adapters.errors import InvalidValueError


def flip_temperature(
    verdicts_or_counts: Iterable[Verdict | str] | Sequence[float] | FloatArray,
    threshold: float,
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = "paper",
    eps: float = DEFAULT_EPS,
    floor: Floor = "paper",
    bounds: Bounds = PAPER_BOUNDS,
) -> float | None:
    """The smallest temperature from which on, up to the largest, the score reaches a threshold.

    The score rises with the temperature, but for one place: with the default floor and a ``none``
    present it falls right above exponent 0 (T = 0.4556). A pass below that fall does not count when
    the score fails again above it.

    Args:
        verdicts_or_counts: A list of verdicts, or the five level counts, fully first.
        threshold: In [0, 1]; a score equal to it passes.
        scheme: As for ``aggregate``, like the remaining arguments.
        penalty: See there.
        eps: See there.
        floor: See there.
        bounds: See there.

    Returns:
        A temperature at which the score passes, while it fails at the next smaller float (unless
        it is the lowest temperature of all); None where it fails at the highest one, or there are
        no verdicts.

    Raises:
        InvalidValueError: As for ``aggregate``, or the threshold lies outside [0, 1].

    >>> round(flip_temperature(["fully", "partial", "minor"], threshold=0.7), 3)
    0.524
    >>> flip_temperature(["fully", "fully"], threshold=0.9)
    0.1
    >>> flip_temperature([0, 0, 0, 0, 3], threshold=0.5) is None
    True
    """
    if not 0.0 <= threshold <= 1.0:
        msg = f"threshold is {threshold!r}; it must lie in [0, 1]"
        raise InvalidValueError(msg)
    row = _as_row(verdicts_or_counts)

    def passes(temperature: float) -> bool:
        plan = make_plan(
            [temperature], scheme=scheme, penalty=penalty, eps=eps, floor=floor, bounds=bounds
        )
        return bool(score_rows(row, plan)[0, 0] >= threshold)

    # Two pieces on which the score never falls: exponents above 0, and those up to 0.
    pieces = [(bounds.t_min, bounds.t_max)]
    if bounds.p_min < TINY_EXPONENT <= bounds.p_max:
        edge = _bisect(
            lambda t: exponent_within(t, bounds) >= TINY_EXPONENT, bounds.t_min, bounds.t_max
        )
        pieces = [(edge, bounds.t_max), (bounds.t_min, math.nextafter(edge, -math.inf))]
    found = None
    for start, end in pieces:
        if not passes(end):
            break
        found = _bisect(passes, start, end)
        if found > start:
            break
    return found


def _as_row(
    verdicts_or_counts: Iterable[Verdict | str] | Sequence[float] | FloatArray,
) -> FloatArray:
    items = list(verdicts_or_counts)
    if all(isinstance(item, str) for item in items):
        return count_levels(items)[None, :]
    return check_counts(np.array([items], dtype=np.float64))


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest float in [low, high] where ``holds`` does, given that it does at ``high``."""
    if holds(low):
        return low
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if holds(middle):
            high = middle
        else:
            low = middle

"""From which temperature on an answer passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    DEFAULT_FLOOR,
    DEFAULT_PENALTY,
    Floor,
    SchemeLike,
    check_counts,
    score_curves,
)
from tcva_adapters.core.checks import check_within, listed
from tcva_adapters.core.kernel import TINY_EXPONENT, Penalty
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, exponent_within
from tcva_adapters.core.verdicts import FloatArray, Verdict, WeightScheme, count_levels

_PROBES: Final = 33
_NEIGHBOURS: Final = 3
_EVENLY: Final = np.arange(16) / 16
_AROUND: Final = np.array([sign * 0.25**i for i in range(1, 26) for sign in (-1.0, 1.0)])
_AHEAD: Final = np.array([*range(128), *(2.0**i for i in range(7, 60))])


def flip_temperature(
    verdicts_or_counts: Iterable[Verdict | str] | Sequence[float] | FloatArray,
    threshold: float,
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = DEFAULT_PENALTY,
    eps: float = DEFAULT_EPS,
    floor: Floor = DEFAULT_FLOOR,
    bounds: Bounds = PAPER_BOUNDS,
) -> float | None:
    """The smallest temperature from which on, up to the largest, the score reaches a threshold.

    The score rises with the temperature, but for one place: with the default floor and a ``none``
    present it falls right above exponent 0 (T = 0.4556). A pass below that fall does not count when
    the score fails again above it. Where a score is flat in the temperature, its last bit may
    waver; the answer lies above every failure seen at any scale of the search.

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
    least = check_within("threshold", threshold, 0.0, 1.0)
    items = listed("verdicts or counts", verdicts_or_counts)
    is_words = all(isinstance(item, str) for item in items)
    row = count_levels(items)[None, :] if is_words else check_counts([items])
    scores = score_curves(row, scheme, penalty, eps, floor, bounds)
    return flip_point(lambda temperatures: scores(temperatures)[0] - least, bounds)


def flip_point(
    above: Callable[[FloatArray], FloatArray], bounds: Bounds = PAPER_BOUNDS
) -> float | None:
    """The smallest temperature from which on a score passes, for scores that rise with it.

    Args:
        above: How far the score lies above what passes at some temperatures: it passes from 0 on,
            not where it is nan. It never falls as the temperature rises, but right above exponent
            0, which is where the floor under the weights may end.
        bounds: The range that is searched.

    Returns:
        As `flip_temperature`.

    >>> flip_point(lambda temperatures: temperatures - 0.625)
    0.625
    """
    # Two pieces on which the score never falls: exponents above 0, and those up to 0.
    pieces = [(bounds.t_min, bounds.t_max)]
    edge = first_positive(bounds)
    if edge is not None:
        pieces = [(edge, bounds.t_max), (bounds.t_min, math.nextafter(edge, -math.inf))]
    found = None
    for start, end in pieces:
        settled = _settles(above, start, end)
        if settled is None:
            break
        found = settled
        if found > start:
            break
    return found


@lru_cache  # the same for every sample of a run
def first_positive(bounds: Bounds) -> float | None:
    """The smallest temperature whose exponent counts as positive; None for all of them, or none."""
    if not bounds.p_min < TINY_EXPONENT <= bounds.p_max:
        return None
    return _settles(
        lambda each: exponent_within(each, bounds) - TINY_EXPONENT, bounds.t_min, bounds.t_max
    )


def _settles(above: Callable[[FloatArray], FloatArray], low: float, high: float) -> float | None:
    """The float in [low, high] from which on ``above`` is at least 0; None where it is not at high."""
    probes = np.linspace(low, high, _PROBES)
    while True:
        values = above(probes)
        failing = np.flatnonzero(~(values >= 0.0))
        if not len(failing):
            return float(probes[0])
        last = int(failing[-1])
        if last == len(probes) - 1:
            return None
        fails, passes = float(probes[last]), float(probes[last + 1])
        if math.nextafter(fails, math.inf) < passes:
            probes = _between(fails, passes, _crossing(probes, values, last))
        else:
            # The very next floats one by one, and ever more distant ones: the last bit may waver.
            probes = np.minimum(passes + math.ulp(passes) * _AHEAD, high)


def _between(fails: float, passes: float, guess: float) -> FloatArray:
    """Where to look next: evenly between both, and ever closer around a guess, in order."""
    width = passes - fails
    probes = np.concatenate((fails + width * _EVENLY, guess + width * _AROUND, (passes,)))
    probes.sort()
    return np.minimum(np.maximum(probes, fails), passes)


def _crossing(probes: FloatArray, values: FloatArray, last: int) -> float:
    """Where a line through the values around the last failing one crosses 0 (Neville, inverse)."""
    start = max(0, last - _NEIGHBOURS + 1)
    at = probes[start : last + _NEIGHBOURS + 1].tolist()
    heights = values[start : last + _NEIGHBOURS + 1].tolist()
    for step in range(1, len(at)):
        for i in range(len(at) - step):
            rise = heights[i] - heights[i + step]
            if not rise:
                return float(probes[last])
            at[i] = (heights[i] * at[i + 1] - heights[i + step] * at[i]) / rise
    return float(at[0])

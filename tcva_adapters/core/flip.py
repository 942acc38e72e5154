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

_CLOSE: Final = 1e-8
"""A step after which a parabola tells where the score crosses the threshold."""

_STEPS: Final = np.array([*range(8), *(2.0**i for i in range(3, 44, 2))])
_SEEN: Final = 4
"""Floats above the guess: so far the ones right above an answer have been tried."""
_AROUND: Final = np.concatenate((-_STEPS, _STEPS))
_EVENLY: Final = 2.0 ** -np.arange(12.0)


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
    end = high
    below, beyond = (float(above(np.array([at]))[0]) for at in (low, high))
    if not beyond >= 0.0:
        return None
    guess = low
    while True:
        if below < 0.0:
            guess = _crossing(above, (low, below), (high, beyond))
        # The floats around one by one, ever more distant ones, and some up to the end: the last bit
        # may waver.
        step = math.ulp(math.nextafter(guess, low))
        around = guess + step * _AROUND
        probes = np.concatenate(
            (around, guess + (end - guess) * _EVENLY, (low, (low + high) / 2.0))
        )
        np.minimum(np.maximum(probes, low, out=probes), end, out=probes)
        probes.sort()
        values = above(probes)
        failing = (values < 0.0).nonzero()[0]
        if not len(failing):
            return low
        last = failing[-1]
        low, high = probes[last : last + 2].tolist()
        below, beyond = values[last : last + 2].tolist()
        # Above the last one of the floats that were tried one by one nothing is known yet.
        if math.nextafter(low, math.inf) >= high and abs(high - guess) <= _SEEN * step:
            return high


Point = tuple[float, float]


def _crossing(above: Callable[[FloatArray], FloatArray], failing: Point, passing: Point) -> float:
    """Where ``above`` crosses 0 between a float and a larger one, nearly (Chandrupatla's method).

    Args:
        above: The function.
        failing: A float where it is negative, and what it is there.
        passing: A larger one where it is not.
    """
    (a, fa), (b, fb) = failing, passing
    share = fa / (fa - fb)
    while abs(share * (b - a)) > max(_CLOSE, 4.0 * math.ulp(max(-a, -b, b, a))):
        c, fc = a, fa
        at = a + share * (b - a)
        value = float(above(np.array([at]))[0])
        if (value >= 0.0) != (fa >= 0.0):
            c, fc, b, fb = b, fb, a, fa
        a, fa = at, value
        share = _share((a, fa), (b, fb), (c, fc))
    return a + share * (b - a)


def _share(one: Point, two: Point, three: Point) -> float:
    """Where between two points to look next: by the parabola through three where that is safe."""
    (a, fa), (b, fb), (c, fc) = one, two, three
    place, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if height * height < place and (1.0 - height) ** 2 < 1.0 - place:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5

"""The temperature from which on an answer passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Unpack

import numpy as np

from tcva_adapters.core.aggregation import (
    DIGITS,
    OPTIONS,
    TINY_EXPONENT,
    ScoreOptions,
    check_counts,
    make_plan,
    score_curves,
    unrounded_score,
)
from tcva_adapters.core.checks import as_list, check_names, check_within
from tcva_adapters.core.temperature import (
    PAPER_BOUNDS,
    Bounds,
    check_bounds,
    exponent_within,
)
from tcva_adapters.core.verdicts import FloatArray, Verdict, count_levels

_PROBES = 257
"""Temperatures that are tried at once, each time between two of the last ones."""

_WAVERING = 100
"""Floats within which a score may fall by its last digit as the temperature rises."""

_CLEAR = 1e-9
"""A score so far from a threshold lies on the same side of it by either computation."""

_HALF_DIGIT = 0.5 * 10.0**-DIGITS
"""Scores this far below a threshold in [0.1, 1] are rounded to it."""

_MAX_STEPS = 60
"""The most steps of the search for a crossing, which takes about 10."""

Curve = Callable[[FloatArray], FloatArray]
"""A function from temperatures to how far the score lies above the threshold at each."""


def flip_temperature(
    verdicts_or_counts: Iterable[Verdict | str] | Sequence[float] | FloatArray,
    threshold: float,
    *,
    bounds: Bounds = PAPER_BOUNDS,
    **options: Unpack[ScoreOptions],
) -> float | None:
    """The lowest temperature from which the score reaches a threshold, at it and at all higher ones.

    The score rises with the temperature, but for one place: with the default floor and a ``none``
    present it falls right above exponent 0 (T = 0.4556). A pass below that fall does not count when
    the score fails again above it.

    Args:
        verdicts_or_counts: A list of verdicts, or the five level counts, fully first.
        threshold: In [0, 1]; a score equal to it passes.
        bounds: The end points of the map from temperature to exponent.
        options: ``scheme``, ``penalty``, ``eps`` and ``floor`` as for ``aggregate``.

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
    check_names(options, OPTIONS, owner="flip_temperature")
    least = check_within(
        "threshold",
        threshold,
        0.0,
        1.0,
    )
    items = as_list("verdicts or counts", verdicts_or_counts)
    is_words = all(isinstance(item, str) for item in items)
    row = check_counts([count_levels(items) if is_words else items])
    plan = make_plan(
        [check_bounds(bounds).t_max],
        bounds=bounds,
        **options,
    )
    counts = row[0].tolist()
    scores = score_curves(row, bounds=bounds, **options)

    def above_at(temperature: float) -> float:
        exponent = exponent_within(temperature, bounds)
        return (
            unrounded_score(counts, plan, temperature, exponent) - least + _HALF_DIGIT
        )

    return flip_point(
        lambda temperatures: scores(temperatures)[0] - least, bounds, above_at
    )


def flip_point(
    above: Curve,
    bounds: Bounds = PAPER_BOUNDS,
    above_at: Callable[[float], float] | None = None,
) -> float | None:
    """The smallest temperature from which on a score passes, for scores that rise with it.

    Args:
        above: How far the score lies above the threshold at some temperatures: it passes from 0
            on, not where it is nan. It never falls as the temperature rises, except right above
            exponent 0, where the floor under the weights may end.
        bounds: The range that is searched.
        above_at: A faster function with nearly the same result for one temperature.

    Returns:
        As `flip_temperature`.

    >>> flip_point(lambda temperatures: temperatures - 0.625)
    0.625
    """
    # Two pieces on which the score never falls: exponents above 0, and those up to 0.
    edge = first_positive(bounds)
    start = bounds.t_min if edge is None else edge
    upper = _settles_near(above, above_at, start, bounds.t_max)
    if edge is None or upper != edge:
        return upper
    lower = _settles_near(
        above, above_at, bounds.t_min, math.nextafter(edge, -math.inf)
    )
    return upper if lower is None else lower


@lru_cache  # the same for every sample of a run
def first_positive(bounds: Bounds) -> float | None:
    """The smallest temperature whose exponent counts as positive; None for all of them, or none."""
    if not bounds.p_min < TINY_EXPONENT <= bounds.p_max:
        return None
    return _settles(
        lambda temperatures: exponent_within(temperatures, bounds) - TINY_EXPONENT,
        bounds.t_min,
        bounds.t_max,
    )


def _settles_near(
    above: Curve,
    above_at: Callable[[float], float] | None,
    low: float,
    high: float,
) -> float | None:
    """Search like `_settles`, among the floats around the point where single scores begin to pass."""
    if above_at is None:
        return _settles(above, low, high)
    end = low
    latest = high
    end_value = above_at(low)
    value = above_at(high)
    if value < -_CLEAR:
        return None
    if end_value > _CLEAR:
        return low

    # False position. An end that stays where it is counts half (the Illinois algorithm).
    for _ in range(_MAX_STEPS):
        step = value * (latest - end) / ((value - end_value) or 1.0)
        if abs(step) < math.ulp(latest):
            break
        next_value = above_at(latest - step)
        if next_value * value < 0.0:
            end = latest
            end_value = value
        else:
            end_value /= 2.0
        latest = latest - step
        value = next_value

    reach = _WAVERING * math.ulp(latest)
    start = max(low, latest - reach)
    stop = min(high, latest + reach)
    settled = _settles(above, start, stop)
    is_missed = settled == start > low or (settled is None and stop < high)
    return _settles(above, low, high) if is_missed else settled


def _settles(above: Curve, low: float, high: float) -> float | None:
    """The float in [low, high] from which on ``above`` is at least 0; None where it is not at high."""
    while True:
        probes = np.unique(np.linspace(low, high, _PROBES))
        passes = above(probes) >= 0.0
        if not passes[-1]:
            return None
        failing = np.flatnonzero(~passes)
        if not len(failing):
            return low
        last = int(failing[-1])
        if len(probes) < _PROBES:  # these are all the floats between the two
            return float(probes[last + 1])
        # The last digits waver: what passes may fail again a few floats above.
        low = float(probes[last])
        clear = int(np.searchsorted(probes, low + _WAVERING * math.ulp(low)))
        high = float(probes[min(max(last + 1, clear), _PROBES - 1)])

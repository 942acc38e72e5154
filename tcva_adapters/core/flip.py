"""From which temperature on an answer passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, Unpack

import numpy as np

from tcva_adapters.core.aggregation import (
    TINY_EXPONENT,
    ScoreOptions,
    check_counts,
    score_curves,
)
from tcva_adapters.core.checks import check_within, listed
from tcva_adapters.core.temperature import (
    PAPER_BOUNDS,
    Bounds,
    check_bounds,
    exponent_within,
)
from tcva_adapters.core.verdicts import FloatArray, Verdict, count_levels

_PROBES: Final = 257
"""Temperatures that are looked at in one go, each time between two of the time before."""

_WAVERING: Final = 100
"""Floats within which a score may fall by its last digit as the temperature rises."""


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
    least = check_within("threshold", threshold, 0.0, 1.0)
    items = listed("verdicts or counts", verdicts_or_counts)
    is_words = all(isinstance(item, str) for item in items)
    row = count_levels(items)[None, :] if is_words else check_counts([items])
    scores = score_curves(row, bounds=check_bounds(bounds), **options)
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
    edge = first_positive(bounds)
    if edge is None:
        return _settles(above, bounds.t_min, bounds.t_max)
    upper = _settles(above, edge, bounds.t_max)
    lower = None
    if upper == edge:
        lower = _settles(above, bounds.t_min, math.nextafter(edge, -math.inf))
    return upper if lower is None else lower


@lru_cache  # the same for every sample of a run
def first_positive(bounds: Bounds) -> float | None:
    """The smallest temperature whose exponent counts as positive; None for all of them, or none."""
    if not bounds.p_min < TINY_EXPONENT <= bounds.p_max:
        return None
    return _settles(
        lambda each: exponent_within(each, bounds) - TINY_EXPONENT,
        bounds.t_min,
        bounds.t_max,
    )


def _settles(
    above: Callable[[FloatArray], FloatArray], low: float, high: float
) -> float | None:
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
        clear = int(
            np.searchsorted(probes, probes[last] + _WAVERING * np.spacing(probes[last]))
        )
        low, high = probes[[last, min(max(last + 1, clear), _PROBES - 1)]].tolist()

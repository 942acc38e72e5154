"""From which temperature on an answer passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    DEFAULT_FLOOR,
    DEFAULT_PENALTY,
    Floor,
    SchemeLike,
    check_counts,
    make_plan,
)
from tcva_adapters.core.checks import check_within, listed
from tcva_adapters.core.kernel import TINY_EXPONENT, Penalty, score_rows
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, check_bounds, exponent_within
from tcva_adapters.core.verdicts import FloatArray, Verdict, WeightScheme, count_levels

_PROBES: Final = 65
_AHEAD: Final = 256


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
    check_bounds(bounds)
    items = listed("verdicts or counts", verdicts_or_counts)
    is_words = all(isinstance(item, str) for item in items)
    row = count_levels(items)[None, :] if is_words else check_counts([items])

    def passes(temperatures: FloatArray) -> npt.NDArray[np.bool_]:
        plan = make_plan(
            temperatures, scheme=scheme, penalty=penalty, eps=eps, floor=floor, bounds=bounds
        )
        reached: npt.NDArray[np.bool_] = score_rows(row, plan)[0] >= least
        return reached

    return flip_point(passes, bounds)


def flip_point(
    passes: Callable[[FloatArray], npt.NDArray[np.bool_]], bounds: Bounds = PAPER_BOUNDS
) -> float | None:
    """The smallest temperature from which on ``passes`` holds, for scores that rise with it.

    Args:
        passes: Which of some temperatures pass. Once it holds it goes on to hold, but for a fall
            right above exponent 0, which is where the floor under the weights may end.
        bounds: The range that is searched.

    Returns:
        As `flip_temperature`.

    >>> flip_point(lambda temperatures: temperatures >= 0.625)
    0.625
    """
    # Two pieces on which the score never falls: exponents above 0, and those up to 0.
    pieces = [(bounds.t_min, bounds.t_max)]
    edge = first_positive(bounds)
    if edge is not None:
        pieces = [(edge, bounds.t_max), (bounds.t_min, float(np.nextafter(edge, -np.inf)))]
    found = None
    for start, end in pieces:
        if not passes(np.array([end]))[0]:
            break
        found = _settles(passes, start, end)
        if found > start:
            break
    return found


@lru_cache  # the same for every sample of a run
def first_positive(bounds: Bounds) -> float | None:
    """The smallest temperature whose exponent counts as positive; None for all of them, or none."""
    if not bounds.p_min < TINY_EXPONENT <= bounds.p_max:
        return None

    def positive(temperatures: FloatArray) -> npt.NDArray[np.bool_]:
        return np.array([exponent_within(t, bounds) >= TINY_EXPONENT for t in temperatures])

    return _settles(positive, bounds.t_min, bounds.t_max)


def _settles(
    holds: Callable[[FloatArray], npt.NDArray[np.bool_]], low: float, high: float
) -> float:
    """The float in [low, high] from which on ``holds`` does, given that it does at ``high``."""
    end = high
    while True:
        probes = np.unique(np.linspace(low, high, _PROBES))
        failing = np.flatnonzero(~holds(probes))
        if not len(failing):
            return low
        low, high = float(probes[failing[-1]]), float(probes[failing[-1] + 1])
        if len(probes) == 2:
            break
    # The very next floats one by one: there the last bit wavers, and probes skip most of them.
    ahead = np.minimum(high + np.spacing(high) * np.arange(_AHEAD), end)
    failing = np.flatnonzero(~holds(ahead))
    return float(ahead[failing[-1] + 1]) if len(failing) else high

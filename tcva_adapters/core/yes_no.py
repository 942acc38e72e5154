"""From the probability of a yes to shares of the five levels."""

from __future__ import annotations

from typing import Final

from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidValueError

Shares = tuple[float, float, float, float, float]

_POINTS: Final[Shares] = WeightScheme.DEFAULT.weights


def level_shares(p_yes: float) -> Shares:
    """The shares of fully, mostly, partial, minor and none that a probability of a yes stands for.

    Each level stands at its weight in the default scheme. A probability between two of them is
    shared by these two, in proportion to how near it is. So under that scheme the expected weight
    is the probability itself, and under any scheme it never falls when ``p_yes`` rises.

    Args:
        p_yes: 0 to 1.

    Raises:
        InvalidValueError: ``p_yes`` is no probability.

    >>> [round(share, 6) for share in level_shares(0.8)]
    [0.0, 0.5, 0.5, 0.0, 0.0]
    >>> level_shares(0.0)
    (0.0, 0.0, 0.0, 0.0, 1.0)
    """
    if not 0.0 <= p_yes <= 1.0:
        msg = f"p_yes={p_yes!r}; a probability lies between 0 and 1"
        raise InvalidValueError(msg)
    upper = max(i for i, point in enumerate(_POINTS[:-1]) if point >= p_yes)
    above, below = _POINTS[upper : upper + 2]
    shares = [0.0] * len(_POINTS)
    shares[upper] = (p_yes - below) / (above - below)
    shares[upper + 1] = 1.0 - shares[upper]
    fully, mostly, partial, minor, none = shares
    return fully, mostly, partial, minor, none

"""From the probability of a yes to shares of the five levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tcva_adapters.core.checks import as_number
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidValueError

Shares = tuple[float, float, float, float, float]

POINTS: Final[Shares] = WeightScheme.DEFAULT.weights
"""Where each level stands unless said otherwise, fully first: at its weight in the default scheme,
so that under this scheme the weight to be expected is the probability itself."""


def check_points(points: Sequence[float]) -> Shares:
    """Five probabilities, fully first, each below the one before.

    Raises:
        InvalidValueError: They are something else.
    """
    numbers = [as_number(point) for point in points] if isinstance(points, list | tuple) else []
    found = tuple(math.nan if number is None else number for number in numbers)
    if len(found) != len(POINTS) or not (
        found[-1] >= 0.0 and found[0] <= 1.0 and all(a > b for a, b in pairwise(found))
    ):
        msg = (
            f"yes_no_points={points!r}; they are the probabilities of a yes at which fully, mostly, partial, "
            f"minor and none stand: five falling numbers from 1 to 0, e.g. {POINTS}"
        )
        raise InvalidValueError(msg)
    fully, mostly, partial, minor, none = found
    return fully, mostly, partial, minor, none


def level_shares(p_yes: float, points: Sequence[float] = POINTS) -> Shares:
    """The shares of fully, mostly, partial, minor and none that a probability of a yes stands for.

    Each level stands at one probability. A probability between two of them is shared by these two,
    in proportion to how near it is; beyond the outermost points it is the outermost level. So the
    expected weight never falls when ``p_yes`` rises, whatever the scheme.

    Args:
        p_yes: 0 to 1.
        points: See `check_points`; calibrated ones stand closer to what human ratings say.

    Raises:
        InvalidValueError: ``p_yes`` is no probability, or the points are none.

    >>> [round(share, 6) for share in level_shares(0.8)]
    [0.0, 0.5, 0.5, 0.0, 0.0]
    >>> level_shares(0.0)
    (0.0, 0.0, 0.0, 0.0, 1.0)
    """
    if not 0.0 <= p_yes <= 1.0:
        msg = f"p_yes={p_yes!r}; a probability lies between 0 and 1"
        raise InvalidValueError(msg)
    points = check_points(points)
    shares = [0.0] * len(points)
    if p_yes >= points[0]:
        shares[0] = 1.0
    elif p_yes <= points[-1]:
        shares[-1] = 1.0
    else:
        upper = max(i for i, point in enumerate(points) if point >= p_yes)
        above, below = points[upper], points[upper + 1]
        shares[upper] = (p_yes - below) / (above - below)
        shares[upper + 1] = 1.0 - shares[upper]
    fully, mostly, partial, minor, none = shares
    return fully, mostly, partial, minor, none

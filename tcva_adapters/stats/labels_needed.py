"""How many human ratings an interval of some width takes."""

from __future__ import annotations

import math

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.estimates import Estimate


def labels_needed(pilot: Estimate, width: float) -> int:
    """Compute how many labels an interval of some width takes, from those of a pilot.

    An interval narrows with the square root of the samples behind it.

    Args:
        pilot: A figure or a difference with an interval, of samples of the same kind.
        width: From end to end, above 0.

    Raises:
        InvalidValueError: A width that is not above 0, or a pilot without an interval.

    >>> labels_needed(Estimate(0.5, 0.4, 0.6, n=50), width=0.1)
    200
    """
    if not 0 < width < math.inf:
        raise InvalidValueError(f"width must be above 0, got {width!r}")
    reached = pilot.high - pilot.low
    if not reached > 0.0:
        raise InvalidValueError(
            f"this pilot is too small to plan with ({pilot.reason or 'all values are equal'})"
        )
    return math.ceil(pilot.n * (reached / width) ** 2 - 1e-9)

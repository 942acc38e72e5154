"""The difference that samples find, from an interval at hand."""

from __future__ import annotations

from statistics import NormalDist

from tcva_adapters.stats.checks import check_level


def smallest_from(low: float, high: float, level: float, *, comparisons: int = 1) -> float:
    """The difference that samples find with 80 % power, from the interval that they gave.

    >>> round(smallest_from(-0.0196, 0.0196, 0.95), 4)
    0.028
    """
    check_level(level)
    z = NormalDist().inv_cdf
    error = (high - low) / (2 * z((1 + level) / 2))
    alpha = (1 - level) / comparisons
    return error * (z(1 - alpha / 2) + z(0.8)) if error > 0.0 else float("nan")

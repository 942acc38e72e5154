"""Sums of numbers that come one after the other."""

from __future__ import annotations

import math


class ExactSum:
    """The sum of numbers that come one after the other, to the same bit as ``math.fsum`` of them all.

    >>> total = ExactSum()
    >>> for value in [0.1] * 10:
    ...     total.add(value)
    >>> total.value
    1.0
    """

    def __init__(self) -> None:
        self._parts: list[float] = []  # they do not overlap, and their sum is exact (Shewchuk)

    def add(self, value: float) -> None:
        """One more, a finite number."""
        kept = 0
        for part in self._parts:
            larger, smaller = (part, value) if abs(value) < abs(part) else (value, part)
            value = larger + smaller
            lost = smaller - (value - larger)
            if lost:
                self._parts[kept] = lost
                kept += 1
        self._parts[kept:] = [value]

    @property
    def value(self) -> float:
        """The sum so far, rounded once."""
        return math.fsum(self._parts)

"""A figure with its interval, whatever the figure is of."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its interval.

    Attributes:
        value: nan where it is not defined.
        low: Lower end; nan where there is no interval.
        high: Upper end, likewise.
        n: Samples behind it.
        clusters: Groups that these are of; None where samples stand alone.
        reason: Why there is no interval; empty where there is one.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int | None = None
    reason: str = ""

    @property
    def width(self) -> float:
        """From end to end; nan where there is no interval."""
        return self.high - self.low

"""A figure with its interval and its p."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

from tcva_adapters.errors import InvalidValueError

Ends = tuple[float, float]
EndsAt = Callable[[float], Ends]
"""From a level to the ends of an interval."""

_POWER = 0.8
DETECTABLE = "the true difference that a test of this size finds with 80 % power"
"""The description of `Estimate.smallest` in tables."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval and the p of "it is 0".

    Attributes:
        value: nan where it is not defined.
        low: Lower end; nan where there is no interval.
        high: Upper end, likewise.
        p: Two-sided; nan where there is none, or none was asked for.
        n: Samples behind it.
        groups: The number of their groups; None where samples stand alone.
        reason: Why there is no interval; empty where there is one.
        level: The level of the interval.
        narrow: For a difference, the interval with twice the error (90 % next to 95 %), which
            belongs to two one-sided tests; see `equivalent`.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    n: int = 0
    groups: int | None = None
    reason: str = ""
    level: float = 0.95
    narrow: Ends = (math.nan, math.nan)

    def record(self, name: str) -> dict[str, float]:
        """The three cells of an interval column.

        >>> Estimate(0.5, 0.25, 0.75).record("rho")
        {'rho': 0.5, 'rho_low': 0.25, 'rho_high': 0.75}
        """
        return {
            name: self.value,
            f"{name}_low": self.low,
            f"{name}_high": self.high,
        }

    @property
    def smallest(self) -> float:
        """The true difference that so many samples find in 80 % of cases; smaller ones are mostly missed.

        It is 1.96 + 0.84 standard errors for a 95 % interval, from which the error is taken.

        >>> round(Estimate(0.0, -0.0196, 0.0196).smallest, 4)
        0.028
        """
        z = NormalDist().inv_cdf((1 + self.level) / 2)
        error = (self.high - self.low) / (2 * z)
        smallest = error * (z + NormalDist().inv_cdf(_POWER))
        return smallest if smallest > 0.0 else math.nan

    def with_ends(self, ends: EndsAt) -> Estimate:
        """Return a copy with its interval, and the one with twice the error."""
        low, high = ends(self.level)
        narrow = ends(2 * self.level - 1) if self.level > 0.5 else self.narrow
        return replace(
            self,
            low=low,
            high=high,
            narrow=narrow,
        )

    def equivalent(self, margin: float) -> bool:
        """Whether two methods are equally good, up to a margin chosen before the test.

        Two one-sided tests at ``1 - level``: the interval with twice that error lies inside the
        margin. D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).

        Args:
            margin: Above 0: the difference that would matter.

        Raises:
            InvalidValueError: A margin that is not above 0.

        >>> Estimate(0.01, -0.05, 0.07, narrow=(-0.04, 0.06)).equivalent(0.1)
        True
        """
        if not 0 < margin < math.inf:
            raise InvalidValueError(f"margin must be above 0, got {margin!r}")
        return -margin < self.narrow[0] and self.narrow[1] < margin

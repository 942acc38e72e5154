"""Two ways to say pass or fail about the same samples, counted against each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.printing import share

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Crosstab:
    """How often two decisions coincide.

    Attributes:
        both: Samples that pass under both.
        only_first: Samples that pass under the first alone.
        only_second: Samples that pass under the second alone.
        neither: Samples that fail under both.
    """

    both: int
    only_first: int
    only_second: int
    neither: int

    @classmethod
    def of(cls, first: Flags, second: Flags) -> Crosstab:
        """Count two arrays of decisions about the same samples.

        >>> Crosstab.of(np.array([True, True, False]), np.array([True, False, False]))
        Crosstab(both=1, only_first=1, only_second=0, neither=1)
        """
        return cls(
            int((first & second).sum()),
            int((first & ~second).sum()),
            int((~first & second).sum()),
            int((~first & ~second).sum()),
        )

    @property
    def n(self) -> int:
        """Samples that were counted."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def agreement(self) -> float:
        """Share of equal decisions, in [0, 1]; nan without samples."""
        return (self.both + self.neither) / self.n if self.n else math.nan

    @property
    def pass_rates(self) -> tuple[float, float]:
        """Share of the samples that pass under the first, and under the second; nan without samples.

        A kappa says little without them: where nearly all pass, chance agrees nearly always.

        >>> Crosstab(20, 5, 10, 15).pass_rates
        (0.5, 0.6)
        """
        if not self.n:
            return math.nan, math.nan
        return (self.both + self.only_first) / self.n, (self.both + self.only_second) / self.n

    @property
    def rates(self) -> str:
        """The same for a table.

        >>> Crosstab(20, 5, 10, 15).rates
        '50% 60%'
        """
        return " ".join(map(share, self.pass_rates))

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond that of two coins with the same shares of passes.

        1 is complete, 0 what chance gives. It is nan where both pass everything or both fail
        everything: chance alone then agrees always, and there is nothing beyond it.

        >>> Crosstab(20, 5, 10, 15).kappa
        0.4
        >>> Crosstab(10, 0, 0, 0).kappa
        nan
        """
        if not self.n:
            return math.nan
        first, second = self.both + self.only_first, self.both + self.only_second
        # In whole numbers, so that kappa is exactly 0 and 1 where it ought to be.
        chance = first * second + (self.n - first) * (self.n - second)
        if chance == self.n**2:
            return math.nan
        return ((self.both + self.neither) * self.n - chance) / (self.n**2 - chance)

    def to_dict(self) -> dict[str, Any]:
        """The counts with ``n``, ``agreement``, ``pass_rates`` and ``kappa``; None where undefined."""
        derived: dict[str, Any] = {"n": self.n, "agreement": self.agreement}
        derived |= {"pass_rates": self.pass_rates, "kappa": self.kappa}
        return {**jsonable(self), **jsonable(derived)}

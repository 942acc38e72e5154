"""One metric of a comparison of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.describe import Description
from tcva_adapters.stats.discrimination import Discrimination, asl_curve, discrimination
from tcva_adapters.stats.power import PowerView
from tcva_adapters.stats.randomisation import TukeyHSD


@dataclass(frozen=True, eq=False)
class MetricFigures:
    """One metric.

    Attributes:
        metric: Its name.
        descriptions: One per system.
        test: Tukey's test of all pairs of systems.
        alpha: Its level.
        power: What the queries at hand can show; None where it was not asked for, or where fewer
            than three queries have a score of every system.
    """

    metric: str
    descriptions: tuple[Description, ...]
    test: TukeyHSD
    alpha: float
    power: PowerView | None

    @property
    def discrimination(self) -> Discrimination:
        """How many pairs it tells apart."""
        return discrimination(self.test.pair_ps(), alpha=self.alpha)

    @property
    def asl(self) -> FloatArray:
        """The p of all pairs, ascending."""
        return asl_curve(self.test.pair_ps())

    def pairs(self, systems: Sequence[str]) -> list[dict[str, Any]]:
        """Every pair of systems with its difference and p, as plain values."""
        return [
            {
                "first": systems[i],
                "second": systems[j],
                "difference": float(self.test.differences[i, j]),
                "p": float(self.test.p[i, j]),
            }
            for i, j in self.test.pairs()
        ]

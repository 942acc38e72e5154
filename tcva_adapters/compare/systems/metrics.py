"""One metric of a comparison of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.printing import figure
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.describe import Description
from tcva_adapters.stats.discrimination import Discrimination, asl_curve, discrimination
from tcva_adapters.stats.pairwise import PairwiseTest, Test
from tcva_adapters.stats.power import PowerView
from tcva_adapters.stats.randomisation import TukeyHSD
from tcva_adapters.stats.studentised import StudentisedPairs

ALIKE: Final = 1.25
"""Standard deviations up to this ratio hardly move the level of Tukey's test."""


@dataclass(frozen=True, eq=False)
class MetricFigures:
    """One metric.

    Attributes:
        metric: Its name.
        descriptions: One per system.
        studentised: The test of all pairs that lets their spreads differ.
        tukey: Tukey's test of the same pairs.
        read: Which of them is read.
        alpha: Their level.
        power: What the queries at hand can show; None where it was not asked for, or where fewer
            than three queries have a score of every system.
    """

    metric: str
    descriptions: tuple[Description, ...]
    studentised: StudentisedPairs
    tukey: TukeyHSD
    read: Test
    alpha: float
    power: PowerView | None

    @property
    def test(self) -> PairwiseTest:
        """The one that is read."""
        return self.studentised if self.read == "studentised" else self.tukey

    @property
    def smallest(self) -> FloatArray:
        """See `PairwiseTest.smallest`."""
        return self.test.smallest(self.alpha)

    @property
    def missed(self) -> FloatArray:
        """The same of the pairs that are not told apart, ascending."""
        smallest = self.smallest
        of = [smallest[i, j] for i, j in self.test.pairs() if self.test.p[i, j] >= self.alpha]
        known = np.array(of, dtype=np.float64)
        return np.sort(known[~np.isnan(known)])

    @property
    def advice(self) -> str:
        """Which p to read, by how far the systems' scores spread."""
        spreads = sorted(math.sqrt(d.variance) for d in self.descriptions if d.n > 1)
        if not spreads:
            return ""
        low, high = map(figure, (spreads[0], spreads[-1]))
        advice = f"standard deviations of the systems from {low} to {high}: "
        if spreads[-1] <= ALIKE * spreads[0]:
            return advice + "nearly alike, so both p can be read"
        return advice + "read the studentised p; Tukey's supposes equal ones"

    @property
    def discrimination(self) -> Discrimination:
        """How many pairs it tells apart."""
        return discrimination(self.test.pair_ps(), alpha=self.alpha)

    @property
    def asl(self) -> FloatArray:
        """The p of all pairs, ascending."""
        return asl_curve(self.test.pair_ps())

    def pairs(self, systems: Sequence[str]) -> list[dict[str, Any]]:
        """Every pair of systems with its difference and p, as plain values.

        ``p`` is the one that is read; it is nan where the studentised test has too few queries.
        ``smallest`` is the true difference that this test finds in 80 % of cases.
        """
        smallest = self.smallest
        return [
            {
                "first": systems[i],
                "second": systems[j],
                "difference": float(self.test.differences[i, j]),
                "p": float(self.test.p[i, j]),
                "p_studentised": float(self.studentised.p[i, j]),
                "p_tukey": float(self.tukey.p[i, j]),
                "smallest": float(smallest[i, j]),
            }
            for i, j in self.tukey.pairs()
        ]

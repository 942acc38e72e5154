"""How far a mean has changed between two runs, on the samples of both."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.enough import LEAST_SAMPLES
from tcva_adapters.stats.least_mean import mean_between
from tcva_adapters.stats.planning import smallest_from

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class MeanChange:
    """A mean of paired differences, now minus before, and its interval.

    Attributes:
        value: The mean difference; nan without a pair.
        low: Lower end of the interval, see `mean_between`; nan likewise.
        high: Upper end.
        n: Samples that have both values.
        level: Of the interval.
        clusters: Groups that the samples belong to; None where they stand alone.
        reason: Why there is no interval; empty where there is one.
    """

    value: float
    low: float
    high: float
    n: int
    level: float = LEVEL
    clusters: int | None = None
    reason: str = ""

    @classmethod
    def of(
        cls, differences: FloatArray, groups: Sequence[Hashable] | None, *, level: float = LEVEL
    ) -> MeanChange:
        """The mean of differences between values in [0, 1].

        Args:
            differences: Shape (N,), finite, in [-1, 1].
            groups: One per difference, or None.
            level: Of the interval.
        """
        n = len(differences)
        clusters = None if groups is None else len(set(groups))
        if not n:
            why = "no sample has a score in both runs"
            return cls(math.nan, math.nan, math.nan, n, level, clusters, why)
        value = float(np.mean(differences))
        try:
            low, high = mean_between(differences, level, ends=(-1.0, 1.0), groups=groups)
        except MissingDependencyError as error:
            return cls(value, math.nan, math.nan, n, level, clusters, str(error))
        return cls(value, low, high, n, level, clusters)

    @property
    def smallest(self) -> float:
        """The true change that such samples show in 80 % of cases.

        nan where this one is shown, and for fewer than ten samples, which show next to nothing.
        """
        if self.reason or self.n < LEAST_SAMPLES or not self.low <= 0.0 <= self.high:
            return math.nan
        return smallest_from(self.low, self.high, self.level)

    @property
    def text(self) -> str:
        """The change and its interval.

        >>> MeanChange(0.1, -0.02, 0.2, 30).text
        '+0.100 [-0.020, 0.200]'
        """
        shown = f"[{self.low:.3f}, {self.high:.3f}]" if not self.reason else f"({self.reason})"
        return f"{self.value:+.3f} {shown}" if self.n else self.reason

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is undefined is None."""
        found: dict[str, Any] = jsonable(self)
        return {**found, "smallest": jsonable(self.smallest)}

"""How well a metric tells systems apart: discriminative power, and achieved significance levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, check_level, numbers


@dataclass(frozen=True, slots=True)
class Discrimination:
    """Pairs of systems that a metric tells apart.

    Attributes:
        significant: Pairs with p below ``alpha``.
        pairs: Pairs that have a p.
        alpha: The level.
    """

    significant: int
    pairs: int
    alpha: float

    @property
    def power(self) -> float:
        """The share of them, in [0, 1]; nan without any pair."""
        return self.significant / self.pairs if self.pairs else float("nan")


def discrimination(p: npt.ArrayLike, *, alpha: float = 0.05) -> Discrimination:
    """Discriminative power: the share of pairs of systems that differ significantly.

    Source: T. Sakai, Evaluating evaluation metrics based on the bootstrap, SIGIR 2006; section 4.1.3
    of the CCRS paper uses it with Tukey's test.

    Args:
        p: One per pair; nan, which is left out, where there is none.
        alpha: In (0, 1).

    Raises:
        InvalidValueError: Values that are no numbers, or a level outside (0, 1).

    >>> discrimination([0.001, 0.04, 0.05, 0.7]).power
    0.5
    """
    check_level(alpha)
    known = asl_curve(p)
    return Discrimination(int((known < alpha).sum()), len(known), alpha)


def asl_curve(p: npt.ArrayLike) -> FloatArray:
    """Achieved significance levels: the p of all pairs, ascending, without those that are nan.

    Drawn over their rank, the curve of the metric that tells systems apart better lies lower.

    Raises:
        InvalidValueError: Values that are no numbers.

    >>> asl_curve([0.7, 0.001, None]).tolist()
    [0.001, 0.7]
    """
    raw = numbers("p", p)
    return np.sort(raw[~np.isnan(raw)])

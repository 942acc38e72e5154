"""What a test of all pairs of systems found, and the table of scores that it starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray, numbers

Estimate = Literal["add_one", "count"]
Test = Literal["studentised", "tukey"]
"""Tests of all pairs, `studentised_pairs` and `tukey_hsd`."""
PERMUTATIONS: Final = 10_000


@dataclass(frozen=True, eq=False)
class PairwiseTest:
    """Every pair of systems, tested together.

    Attributes:
        means: Mean score of each system, shape (S,); nan for a system without scores.
        n: Scores of each system, shape (S,).
        differences: Of the means, first less second, shape (S, S).
        p: Two-sided p of each pair, shape (S, S), corrected for the number of pairs; nan on the
            diagonal and where a pair was not tested.
        estimate: How p was made of counts: ``add_one`` or ``count``.
        tolerance: Differences that are this close are equal; sums of the same scores in another
            order differ in the last bit.
    """

    means: FloatArray
    n: IntArray
    differences: FloatArray
    p: FloatArray
    estimate: Estimate
    tolerance: float

    def one_sided(self, better: int, worse: int) -> float:
        """The p of "the first system's mean is higher", an expectation from before the test.

        Half of the two-sided p where the difference is as expected, one less that half where it
        is the other way round, 0.5 where there is none; nan as for ``p``.

        Args:
            better: Column of the system that was expected to have the higher mean.
            worse: Column of the other one.
        """
        p, difference = float(self.p[better, worse]), float(self.differences[better, worse])
        if np.isnan(p):
            return p
        if abs(difference) <= self.tolerance:
            return 0.5
        return p / 2 if difference > 0 else 1 - p / 2

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Columns of each pair that has a p, the first below the second."""
        first, second = np.triu_indices(len(self.means), k=1)
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            if not np.isnan(self.p[i, j]):
                yield i, j

    def pair_ps(self) -> FloatArray:
        """The p of each of these pairs."""
        return np.array([self.p[i, j] for i, j in self.pairs()], dtype=np.float64)


def checked_table(scores: npt.ArrayLike) -> FloatArray:
    """Scores by query and system, shape (N, S).

    Raises:
        InvalidValueError: Fewer than two systems, no queries, or infinite scores.
    """
    table = numbers("scores", scores, ndim=2)
    if table.shape[0] < 1 or table.shape[1] < 2:
        msg = (
            f"scores have the shape {table.shape}; give one row per query and one column for each "
            "of two systems or more"
        )
        raise InvalidValueError(msg)
    if np.isinf(table).any():
        msg = "a score is infinite; give a number, or nan where there is none"
        raise InvalidValueError(msg)
    return table


def system_means(table: FloatArray) -> FloatArray:
    """The mean of each system, shape (S,); nan for one without scores."""
    present = ~np.isnan(table)
    means = np.full(table.shape[1], np.nan)
    known = np.flatnonzero(present.any(axis=0))
    means[known] = [table[present[:, system], system].mean() for system in known]
    return means


def shares(reached: npt.NDArray[np.intp], draws: int, estimate: Estimate) -> FloatArray:
    """The p of how many of the draws reached what is at hand.

    >>> shares(np.array([0, 9]), 99, "add_one"), shares(np.array([0, 99]), 99, "count")
    (array([0.01, 0.1 ]), array([0., 1.]))
    """
    found: FloatArray = reached / draws if estimate == "count" else (1 + reached) / (draws + 1)
    return found

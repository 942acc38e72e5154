"""What a test of all pairs of systems found, and the table of scores that it starts from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
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
class PairwiseTest(ABC):
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
        errors: Standard error of each difference over the queries that both systems have, shape
            (S, S); nan below two of them.
    """

    means: FloatArray
    n: IntArray
    differences: FloatArray
    p: FloatArray
    estimate: Estimate
    tolerance: float
    errors: FloatArray

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

    @abstractmethod
    def _found(self, alpha: float, beyond: FloatArray) -> FloatArray:
        """The true differences that lie so far beyond what one at hand has to reach, shape (S, S)."""

    def smallest(self, alpha: float = 0.05, *, power: float = 0.8) -> FloatArray:
        """The true difference of each pair that this test finds with a given power.

        What a difference at hand has to reach, and as many standard errors more as normal means lie
        above their own ``1 - power`` quantile. Smaller ones are mostly missed, so pairs that are not
        told apart need not be alike.

        Args:
            alpha: Level of the test, over all pairs together.
            power: In (0, 1).

        Returns:
            Shape (S, S), at least 0; nan where a pair was not tested, or its difference never varies.
        """
        found = self._found(alpha, NormalDist().inv_cdf(power) * self.errors)
        return np.where((self.errors > 0.0) & ~np.isnan(self.p), found, np.nan)

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


def difference_errors(table: FloatArray) -> FloatArray:
    """The standard error of the mean difference of every two columns, shape (S, S).

    >>> table = np.array([[0.0, 1.0], [0.0, 3.0], [0.0, 5.0]])
    >>> round(float(difference_errors(table)[0, 1]), 4)
    1.1547
    """
    size = table.shape[1]
    errors = np.full((size, size), np.nan)
    for i, j in combinations(range(size), 2):
        apart = table[:, i] - table[:, j]
        apart = apart[~np.isnan(apart)]
        if len(apart) > 1:
            errors[i, j] = errors[j, i] = apart.std(ddof=1) / np.sqrt(len(apart))
    return errors


def shares(reached: npt.NDArray[np.intp], draws: int, estimate: Estimate) -> FloatArray:
    """The p of how many of the draws reached what is at hand.

    >>> shares(np.array([0, 9]), 99, "add_one"), shares(np.array([0, 99]), 99, "count")
    (array([0.01, 0.1 ]), array([0., 1.]))
    """
    found: FloatArray = reached / draws if estimate == "count" else (1 + reached) / (draws + 1)
    return found

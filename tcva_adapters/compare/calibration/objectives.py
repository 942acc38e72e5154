"""How well scores of many candidates agree with human ratings, on many selections of the samples.

A selection says how often each sample counts: 1 and 0 for the samples in and out of a training
fold, a multiplicity for a bootstrap resample. So choosing inside folds and resampling are the same
computation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.weighted import Statistic, statistic_of

ObjectiveName = Literal["spearman", "kendall", "mae", "f1", "kappa"]
OBJECTIVES: Final[tuple[ObjectiveName, ...]] = get_args(ObjectiveName)

_BLOCK_CELLS: Final = 2**16


@dataclass(frozen=True, slots=True)
class Objective:
    """One way to measure agreement.

    Attributes:
        name: ``spearman``, ``kendall``, ``mae``, ``f1`` or ``kappa``.

    Raises:
        InvalidValueError: Another name.

    >>> scores = np.array([[0.1, 0.9], [0.5, 0.4], [0.8, 0.2]])
    >>> Objective("spearman").values(scores, np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, -1.0]
    """

    name: ObjectiveName

    def __post_init__(self) -> None:
        if self.name not in OBJECTIVES:
            msg = f"unknown objective {self.name!r}; known are {', '.join(OBJECTIVES)}"
            raise InvalidValueError(msg)

    @property
    def kind(self) -> Literal["rank", "scale", "pass_fail"]:
        """What it looks at: order alone, distances, or decisions (scores and ratings are 0 or 1)."""
        if self.name in {"f1", "kappa"}:
            return "pass_fail"
        return "scale" if self.name == "mae" else "rank"

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return -1 if self.name == "mae" else 1

    def statistic(self, scores: FloatArray, human: FloatArray) -> Statistic:
        """The function from selections to values.

        Args:
            scores: Shape (N, C), one column per candidate.
            human: Shape (N,).

        Returns:
            From counts per sample (B, N) to values (C, B). A value is nan where the
            objective is not defined, e.g. a rank correlation with a constant.
        """
        match self.name:
            case "f1" | "kappa":
                return _pass_fail(self.name, scores, human)
            case _:
                return statistic_of(self.name, list(scores.T), human)

    def values(
        self, scores: FloatArray, human: FloatArray, selections: IntArray | None = None
    ) -> FloatArray:
        """The values themselves.

        Args:
            scores: Shape (N, C).
            human: Shape (N,).
            selections: Shape (B, N); every sample once where None.

        Returns:
            Shape (C, B), or (C,) without selections.
        """
        statistic = self.statistic(scores, human)
        if selections is None:
            once: FloatArray = statistic(np.ones((1, len(human)), dtype=np.int64))[:, 0]
            return once
        step = max(1, _BLOCK_CELLS // len(human))
        starts = range(0, len(selections), step)
        return np.concatenate([statistic(selections[a : a + step]) for a in starts], axis=1)


def _pass_fail(name: Literal["f1", "kappa"], scores: FloatArray, human: FloatArray) -> Statistic:
    columns = np.ascontiguousarray(scores.T)

    def values(counts: IntArray) -> FloatArray:
        weights = counts.astype(np.float64)
        ratings = weights * human
        ours, theirs, both = columns @ weights.T, ratings.sum(axis=1), columns @ ratings.T
        if name == "f1":
            return _ratio(2.0 * both, ours + theirs)
        total = weights.sum(axis=1)
        by_chance = ours * theirs + (total - ours) * (total - theirs)
        agree = total * (total + 2.0 * both - ours - theirs)
        return _ratio(agree - by_chance, total * total - by_chance)

    return values


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    ratio = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0.0)
    return ratio


def mid_ranks(scores: FloatArray) -> FloatArray:
    """Each column's ranks from 1, ties sharing the average of theirs: order without scale.

    >>> mid_ranks(np.array([[0.2], [0.9], [0.2]])).ravel().tolist()
    [1.5, 3.0, 1.5]
    """
    ranks = np.empty(scores.shape)
    for j, column in enumerate(scores.T):
        _, group, size = np.unique(column, return_inverse=True, return_counts=True)
        ranks[:, j] = (np.cumsum(size) - 0.5 * (size - 1))[group]
    return ranks

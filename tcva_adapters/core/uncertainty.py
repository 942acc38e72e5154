"""Where a score may lie where verdicts are uncertain: its distribution over what they may be.

Each claim's level is drawn from its own probabilities, independently of the others. A score depends
on nothing but how often each level occurs, so the combinations of levels (5**n of them) need not be
walked through: claims are added one by one to a table of count vectors and their probabilities,
of which there are C(n+4, 4), which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.verdicts import LEVELS, FloatArray

MOST_VECTORS: Final = 20_000
"""Count vectors, or combinations of several judges' scores, up to which distributions are exact:
23 claims that may have any of the five levels, 198 of three, 19 999 of two."""

DRAWS: Final = 10_000
"""So many draws, with seed 0, stand in where there are more."""

INTERVAL: Final = 0.95
"""The least probability of the central interval."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreDistribution:
    """Scores with their probabilities.

    Attributes:
        scores: Distinct, rising.
        chances: How likely each of them is; they sum to 1.
    """

    scores: FloatArray
    chances: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, chances: FloatArray) -> ScoreDistribution:
        """The distribution of scores of which some may be equal."""
        distinct, place = np.unique(scores, return_inverse=True)
        return cls(distinct, _added(chances / chances.sum(), place))

    def interval(self, level: float = INTERVAL) -> tuple[float, float]:
        """The central interval that has at least this probability, both ends included.

        Its ends are the largest score that at most (1 - ``level``) / 2 of the probability lies
        below, and the smallest that at most as much lies above. Scores are discrete, so that it has
        more than ``level``, never less.
        """
        outside = (1.0 - level) / 2.0
        below = np.cumsum(self.chances) - self.chances
        above = np.cumsum(self.chances[::-1])[::-1] - self.chances
        return float(self.scores[below <= outside][-1]), float(self.scores[above <= outside][0])


def score_distribution(
    probabilities: FloatArray, scores_of: Callable[[FloatArray], FloatArray]
) -> ScoreDistribution:
    """The distribution of the score of claims whose levels are drawn independently.

    Args:
        probabilities: Shape (n, 5), a row per claim, fully to none, each summing to 1. A verdict
            that is certain has a 1 in its row.
        scores_of: The scores of level counts: shape (N, 5) to (N,).

    >>> counted = score_distribution(np.array([[0.8, 0, 0, 0, 0.2]] * 2), lambda rows: rows[:, 0] / 2)
    >>> counted.scores.tolist(), counted.chances.round(2).tolist(), counted.interval()
    ([0.0, 0.5, 1.0], [0.04, 0.32, 0.64], (0.0, 1.0))
    """
    rows = probabilities[np.lexsort(probabilities.T)]  # the order of the claims changes nothing
    places = (len(rows) + 1) ** np.arange(len(LEVELS))  # a vector of counts is one number
    keys, chances = np.zeros(1, np.int64), np.ones(1)
    for row in rows:
        occurring = np.flatnonzero(row)
        keys, place = np.unique(keys[:, None] + places[occurring], return_inverse=True)
        chances = _added(np.outer(chances, row[occurring]), place)
        if len(keys) > MOST_VECTORS:
            keys, chances = _drawn(rows, places)
            break
    counts = keys[:, None] // places % (len(rows) + 1)
    return ScoreDistribution.of(scores_of(counts.astype(np.float64)), chances)


def joined_distribution(
    parts: Sequence[ScoreDistribution], join: Callable[[Sequence[FloatArray]], FloatArray]
) -> ScoreDistribution:
    """The distribution of what several independent scores become together.

    Args:
        parts: Their distributions.
        join: Makes one score of several: arrays of shape (N,) to one of shape (N,).
    """
    sizes = [len(part.scores) for part in parts]
    if math.prod(sizes) <= MOST_VECTORS:
        places = list(np.indices(sizes).reshape(len(parts), -1))
        each = [part.chances[place] for part, place in zip(parts, places, strict=True)]
        chances = np.prod(each, axis=0)
    else:
        rng = np.random.default_rng(0)
        places = [rng.choice(len(part.scores), DRAWS, p=part.chances) for part in parts]
        chances = np.ones(DRAWS)
    scores = join([part.scores[place] for part, place in zip(parts, places, strict=True)])
    return ScoreDistribution.of(scores, chances)


def _added(chances: FloatArray, place: npt.NDArray[np.intp]) -> FloatArray:
    """Chances added by their places."""
    return np.bincount(place.ravel(), weights=chances.ravel()).astype(np.float64)


def _drawn(
    rows: FloatArray, places: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Distinct vectors of counts among `DRAWS`, and how often each came."""
    rng = np.random.default_rng(0)
    drawn = sum(places[rng.choice(len(LEVELS), DRAWS, p=row / row.sum())] for row in rows)
    keys, number = np.unique(drawn, return_counts=True)
    return keys, number.astype(np.float64)

"""The distribution of a score whose verdicts are uncertain.

Each claim's level is drawn from its own probabilities, independently of the others. A score depends
on nothing but how often each level occurs, so the combinations of levels (5**n of them) need not be
walked through: claims are added one by one to a table of count vectors and their probabilities,
of which there are C(n+4, 4), which is exact.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.verdicts import LEVELS, FloatArray

MAX_VECTORS = 20_000
"""The most count vectors of an exact distribution: 23 claims that may have any of the five levels,
198 of three, 19 999 of two."""

DRAWS = 10_000
"""The number of draws, with seed 0, that stand in where there are more."""

_OUTSIDE = (1.0 - 0.95) / 2.0
"""The most probability on either side of the central interval."""


def count_distribution(probabilities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute how the level counts of claims with independently drawn levels are distributed.

    Args:
        probabilities: Shape (n, 5), a row per claim, fully to none, each summing to 1. A verdict
            that is certain has a 1 in its row.

    Returns:
        Counts, shape (N, 5), and how likely each row of them is, shape (N,), summing to 1.

    >>> counts, chances = count_distribution(np.array([[0.8, 0, 0, 0, 0.2]] * 2))
    >>> counts[:, 0].tolist(), chances.round(2).tolist()
    ([2.0, 1.0, 0.0], [0.64, 0.32, 0.04])
    """
    # The order of the claims must change nothing.
    rows = probabilities[np.lexsort(probabilities.T)]
    rows = rows / rows.sum(axis=1, keepdims=True)
    # Each vector of counts is written as one number.
    digits = (len(rows) + 1) ** np.arange(len(LEVELS))
    keys: npt.NDArray[np.int64] = np.zeros(1, np.int64)
    chances: FloatArray = np.ones(1)
    for row in rows:
        # Every vector so far with every level that this claim may have: (vectors, levels).
        occurring = np.flatnonzero(row)
        sums = keys[:, None] + digits[occurring]
        likely = np.outer(chances, row[occurring])
        keys, place = np.unique(sums, return_inverse=True)
        chances = np.bincount(
            place.ravel(),
            likely.ravel(),
        ).astype(np.float64)
        if len(keys) > MAX_VECTORS:
            rng = np.random.default_rng(0)
            drawn = sum(rng.multinomial(1, chance, DRAWS) for chance in rows)
            return (
                np.asarray(drawn, np.float64),
                np.full(DRAWS, 1.0 / DRAWS),
            )

    counts = keys[:, None] // digits % (len(rows) + 1)
    return counts.astype(np.float64), chances


def central_interval(scores: FloatArray, chances: FloatArray) -> tuple[float, float]:
    """The central interval that has at least 95 % of the probability, both ends included.

    Its ends are the largest score that at most 2.5 % of the probability lies below,
    and the smallest that at most as much lies above. Scores are discrete, so it often has more
    than 95 %, never less.

    Args:
        scores: Shape (N,), in any order.
        chances: How likely each of them is; they sum to 1.

    >>> central_interval(np.array([1.0, 0.5, 0.0]), np.array([0.97, 0.02, 0.01]))
    (0.5, 1.0)
    """
    distinct, place = np.unique(scores, return_inverse=True)
    by_score = np.bincount(place, chances)
    below = np.cumsum(by_score) - by_score
    above = np.cumsum(by_score[::-1])[::-1] - by_score
    return (
        float(distinct[below <= _OUTSIDE][-1]),
        float(distinct[above <= _OUTSIDE][0]),
    )

"""How far a score moves where verdicts are uncertain: its distribution over what they may be.

Each claim's level is drawn from its own probabilities, independently of the others. A score depends
on nothing but how often each level occurs, so the combinations of levels (5**n of them) need not be
walked through: claims are added one by one to a table of count vectors and their probabilities,
of which there are C(n+4, 4), which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    DEFAULT_FLOOR,
    DEFAULT_PENALTY,
    Floor,
    Penalty,
    SchemeLike,
    sweep,
)
from tcva_adapters.core.checks import as_matrix, check_within
from tcva_adapters.core.temperature import BALANCED, PAPER_BOUNDS, Bounds
from tcva_adapters.core.verdicts import LEVELS, FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError

MOST_VECTORS: Final = 20_000
"""Count vectors, or combinations of several judges' scores, up to which distributions are exact:
23 claims that may have any of the five levels, 198 of three, 19 999 of two."""

DRAWS: Final = 10_000
"""So many draws, with seed 0, stand in where there are more."""

INTERVAL: Final = 0.95
"""The least probability of the central interval."""

_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """What a score may be, and how likely it passes.

    Attributes:
        mean: The mean of the scores that the verdicts may give, in [0, 1]. It is another number
            than the score of the expected shares, since a score is no linear function of these.
        deviation: Their standard deviation.
        low: The largest score that at most (1 - ``level``) / 2 of the probability lies below.
        high: The smallest score that at most (1 - ``level``) / 2 of it lies above.
        level: The least probability of [``low``, ``high``], both ends included. Scores are
            discrete, so that the interval has more than this, never less.
        threshold: A score passes from here on.
        pass_probability: That the score does, in [0, 1].
        is_exact: Whether these are sums over all that the verdicts may be. Otherwise 10 000 draws
            with seed 0 stand in: the chance to pass then has a standard error of at most 0.005.
    """

    mean: float
    deviation: float
    low: float
    high: float
    level: float
    threshold: float
    pass_probability: float
    is_exact: bool

    @property
    def is_undecided(self) -> bool:
        """Whether the interval has scores on both sides of the threshold."""
        return self.low < self.threshold <= self.high

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreDistribution:
    """Scores with their probabilities.

    Attributes:
        scores: Distinct, rising.
        chances: How likely each of them is, above 0; they sum to 1.
        is_exact: See `Uncertainty`.
    """

    scores: FloatArray
    chances: FloatArray
    is_exact: bool = True

    @classmethod
    def of(
        cls, scores: FloatArray, chances: FloatArray, *, is_exact: bool = True
    ) -> ScoreDistribution:
        """The distribution of scores of which some may be equal."""
        distinct, place = np.unique(scores, return_inverse=True)
        added = np.bincount(place, weights=chances, minlength=len(distinct))
        return cls(distinct, added / math.fsum(added), is_exact)

    def summary(self, threshold: float, *, level: float = INTERVAL) -> Uncertainty:
        """Mean, interval and chance to pass.

        Args:
            threshold: A score passes from here on.
            level: The least probability of the interval, in (0, 1).

        Raises:
            InvalidValueError: A level outside (0, 1).
        """
        if not 0.0 < check_within("level", level, 0.0, 1.0) < 1.0:
            msg = f"level={level!r}; it lies above 0 and below 1"
            raise InvalidValueError(msg)
        scores, chances = self.scores, self.chances
        mean = math.fsum(scores * chances)
        mean = min(max(mean, float(scores[0])), float(scores[-1]))
        outside = (1.0 - level) / 2.0
        below = np.concatenate([[0.0], np.cumsum(chances)[:-1]])
        above = np.concatenate([np.cumsum(chances[::-1])[-2::-1], [0.0]])
        return Uncertainty(
            mean=mean,
            deviation=math.sqrt(math.fsum(chances * (scores - mean) ** 2)),
            low=float(scores[below <= outside][-1]),
            high=float(scores[above <= outside][0]),
            level=level,
            threshold=threshold,
            pass_probability=min(math.fsum(chances[scores >= threshold]), 1.0),
            is_exact=self.is_exact,
        )


def score_uncertainty(
    probabilities: npt.ArrayLike,
    temperature: float | str = BALANCED,
    *,
    threshold: float = 0.5,
    level: float = INTERVAL,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = DEFAULT_PENALTY,
    eps: float = DEFAULT_EPS,
    floor: Floor = DEFAULT_FLOOR,
    bounds: Bounds = PAPER_BOUNDS,
) -> Uncertainty:
    """What the score of claims may be whose levels are known by their probabilities alone.

    Args:
        probabilities: Shape (n, 5), a row per claim, fully to none, each summing to 1. A verdict
            that is certain has a 1 in its row.
        temperature: As for ``aggregate``, like the last five arguments.
        threshold: A score in [0, 1] passes from here on.
        level: The least probability of the interval, in (0, 1).
        scheme: See ``aggregate``.
        penalty: See there.
        eps: See there.
        floor: See there.
        bounds: See there.

    Raises:
        InvalidValueError: As for ``aggregate``; no claim, a wrong shape, or a row of other than
            five numbers that are at least 0 and sum to 1 (the message names it).

    >>> from tcva_adapters import aggregate
    >>> found = score_uncertainty([[0.8, 0, 0, 0, 0.2], [1, 0, 0, 0, 0]])
    >>> (found.low, found.high) == (aggregate(["fully", "none"]), 1.0)
    True
    >>> round(found.mean, 12), round(found.pass_probability, 12)
    (0.85, 0.8)
    """
    options: dict[str, Any] = {
        "scheme": scheme,
        "penalty": penalty,
        "eps": eps,
        "floor": floor,
        "bounds": bounds,
    }
    least = check_within("threshold", threshold, 0.0, 1.0)
    found = score_distribution(
        probabilities, lambda counts: sweep(counts, [temperature], **options)[:, 0]
    )
    return found.summary(least, level=level)


def score_distribution(
    probabilities: npt.ArrayLike, scores_of: Callable[[FloatArray], FloatArray]
) -> ScoreDistribution:
    """The distribution of the score of claims whose levels are drawn independently.

    The order of the claims does not change a bit of it.

    Args:
        probabilities: As for `score_uncertainty`.
        scores_of: The scores of level counts: shape (N, 5) to (N,).

    Raises:
        InvalidValueError: See there.
    """
    rows = _checked(probabilities)
    is_certain = rows.max(axis=1) == 1.0
    certain, rows = rows[is_certain].sum(axis=0), rows[~is_certain]
    rows = rows[np.lexsort(rows.T)]
    occurring = np.flatnonzero(rows.any(axis=0))
    is_exact = math.comb(len(rows) + max(len(occurring), 1) - 1, len(rows)) <= MOST_VECTORS
    counts, chances = _all_counts(rows, occurring) if is_exact else _drawn_counts(rows)
    return ScoreDistribution.of(scores_of(counts + certain), chances, is_exact=is_exact)


def joined_distribution(
    parts: Sequence[ScoreDistribution], join: Callable[[Sequence[FloatArray]], FloatArray]
) -> ScoreDistribution:
    """The distribution of what several independent scores become together.

    Args:
        parts: Their distributions.
        join: Makes one score of several: arrays of shape (N,) to one of shape (N,).
    """
    sizes = [len(part.scores) for part in parts]
    is_exact = all(part.is_exact for part in parts) and math.prod(sizes) <= MOST_VECTORS
    if is_exact:
        places: Iterable[npt.NDArray[np.intp]] = np.indices(sizes).reshape(len(parts), -1)
        chances = np.ones(math.prod(sizes))
        for part, place in zip(parts, places, strict=True):
            chances *= part.chances[place]
    else:
        rng = np.random.default_rng(0)
        places = [rng.choice(len(p.scores), DRAWS, p=p.chances) for p in parts]
        chances = np.full(DRAWS, 1.0 / DRAWS)
    scores = join([part.scores[place] for part, place in zip(parts, places, strict=True)])
    return ScoreDistribution.of(scores, chances, is_exact=is_exact)


def _all_counts(rows: FloatArray, occurring: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Every vector of counts, shape (N, 5), and how likely it is.

    The table has an axis for each level that occurs but the last, whose count is what is left.
    """
    *first, last = occurring.tolist() or [0]
    table = np.ones((1,) * len(first))
    for row in rows:
        grown = np.zeros([size + 1 for size in table.shape])
        for axis, level in enumerate(first):
            grown[_placed(table.shape, axis)] += row[level] * table
        grown[_placed(table.shape, None)] += row[last] * table
        table = grown
    places = np.argwhere(table > 0.0)
    counts = np.zeros((len(places), len(LEVELS)))
    counts[:, first] = places
    counts[:, last] = len(rows) - places.sum(axis=1)
    return counts, table[table > 0.0]


def _placed(shape: tuple[int, ...], axis: int | None) -> tuple[slice, ...]:
    """Where a table lies in one that has grown by 1, when it is moved by 1 along an axis."""
    return tuple(slice(int(i == axis), size + int(i == axis)) for i, size in enumerate(shape))


def _drawn_counts(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct vectors of counts among `DRAWS`, and their shares."""
    rng = np.random.default_rng(0)
    counts = np.zeros((DRAWS, len(LEVELS)), dtype=np.int64)
    every = np.arange(DRAWS)
    for row in rows:
        counts[every, rng.choice(len(LEVELS), DRAWS, p=row)] += 1
    distinct, number = np.unique(counts, axis=0, return_counts=True)
    return distinct.astype(np.float64), number / DRAWS


def _checked(probabilities: npt.ArrayLike) -> FloatArray:
    rows = as_matrix("probabilities", probabilities, len(LEVELS))
    if not len(rows):
        msg = "probabilities have a row per claim, and at least one"
        raise InvalidValueError(msg)
    totals = rows.sum(axis=1)
    wrong = np.flatnonzero(~((rows.min(axis=1) >= 0.0) & (np.abs(totals - 1.0) <= _TOLERANCE)))
    if len(wrong):
        msg = (
            f"row {wrong[0]} of probabilities is {rows[wrong[0]].tolist()!r}; five probabilities "
            "are at least 0 and sum to 1"
        )
        raise InvalidValueError(msg)
    shares: FloatArray = rows / totals[:, None]
    return shares

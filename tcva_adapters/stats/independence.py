"""To how many independent judges several judges amount."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, numbers, same_length

ENOUGH: Final = 30
"""Samples below which a correlation of judges says too little."""

_NOTHING: Final = 1e-9
"""What is left of scores beside their own size, when it is rounding alone."""


@dataclass(frozen=True, slots=True)
class Independence:
    """How much judges say that the others do not say already.

    Attributes:
        judges: How many there are.
        samples: Those with a score by each of them (and a human rating, where errors are looked at).
        varying: Those that vary; one that says the same of every sample adds nothing, and is left
            out of what follows.
        correlation: Pearson's, mean over the pairs of judges; nan where no pair has one.
        of_errors: Whether it is that of their errors against human ratings, not that of their scores.
    """

    judges: int
    samples: int
    varying: int
    correlation: float
    of_errors: bool

    @property
    def effective(self) -> float:
        """Kish's effective number of the k that vary, ``k / (1 + (k - 1) r)``, from 1 to k; nan where r is.

        So many independent judges would have a mean with as much noise. A correlation below 0
        counts as 0: k judges are k at most.

        >>> Independence(3, 100, 3, 0.5, of_errors=False).effective
        1.5
        """
        r = max(0.0, self.correlation) if not math.isnan(self.correlation) else math.nan
        return self.varying / (1.0 + (self.varying - 1) * r)

    @property
    def is_known(self) -> bool:
        """Whether there are `ENOUGH` samples for it, and a correlation."""
        return self.samples >= ENOUGH and not math.isnan(self.correlation)


def independence(scores: npt.ArrayLike, human: npt.ArrayLike | None = None) -> Independence:
    """How far judges say the same: the mean correlation of their scores, or of their errors.

    Judges that are right agree, so correlated scores alone do not mean that they fail together.
    With human ratings the errors are looked at: what is left of a judge's scores once the straight
    line through the human ratings that fits them best is taken off. No scale needs to be known.

    Args:
        scores: Shape (N, K), one column per judge; nan or None where it has none. Samples without
            all of them are left out.
        human: Shape (N,), on any scale; nan or None where there is none.

    Raises:
        InvalidValueError: Values that are no numbers, or lengths that differ.

    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(500, 1))
    >>> found = independence(shared + rng.normal(size=(500, 4)))
    >>> round(found.correlation, 1), round(found.effective, 1)
    (0.5, 1.6)
    """
    table = numbers("scores", scores, ndim=2)
    kept = np.isfinite(table).all(axis=1)
    if human is not None:
        ratings = numbers("human", human)
        same_length(scores=table, human=ratings)
        kept &= np.isfinite(ratings)
    table = table[kept]
    rest = table if human is None else _errors(table, ratings[kept])
    varying, correlation = _correlation(rest, table)
    return Independence(table.shape[1], len(table), varying, correlation, human is not None)


def _errors(table: FloatArray, ratings: FloatArray) -> FloatArray:
    """What the human ratings do not explain."""
    if len(table) < 2:
        return table
    centred, about = table - table.mean(axis=0), ratings - ratings.mean()
    power = float(about @ about)
    slopes = about @ centred / power if power > 0.0 else np.zeros(table.shape[1])
    rest: FloatArray = centred - np.outer(about, slopes)
    return rest


def _correlation(rest: FloatArray, scores: FloatArray) -> tuple[int, float]:
    """How many columns vary by more than rounding, and their mean Pearson correlation, or nan."""
    if len(rest) < 2:
        return 0, math.nan
    rest = rest - rest.mean(axis=0)
    lengths = np.sqrt((rest**2).sum(axis=0))
    varies = lengths > _NOTHING * np.sqrt((scores**2).sum(axis=0))
    unit = rest[:, varies] / lengths[varies]
    k = unit.shape[1]
    if k < 2:
        return k, math.nan
    together = unit.T @ unit
    return k, float(np.clip((together.sum() - np.trace(together)) / (k * (k - 1)), -1.0, 1.0))

"""Samples spread evenly over human ratings, for a study that cannot take all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, numbers, whole

__all__ = ["Strata", "stratified"]

STRATA: Final = 5
"""As many as the TCVA paper has."""


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """A sample that was drawn from strata.

    Attributes:
        places: Of the samples that were drawn, rising.
        edges: Of the strata, one more than there are; each but the last is without its upper end.
        available: How many samples with a rating each has.
        drawn: How many of them were drawn.
        weights: For each place, how many samples of its stratum it stands for: where each stratum
            that has samples gave one, a mean with these weights estimates that of all samples; a
            plain one does not.
    """

    places: npt.NDArray[np.int64]
    edges: FloatArray
    available: tuple[int, ...]
    drawn: tuple[int, ...]
    weights: FloatArray


def stratified(ratings: npt.ArrayLike, size: int, *, seed: int = 0) -> Strata:
    """Draw samples spread evenly over their human ratings (TCVA paper, section 4.1).

    The range of the ratings is cut into five parts of one width, and the same number is drawn from
    each, without replacement. Where a part has fewer, the others make up for it.

    Such a set is easier to rank than the whole: good and bad answers are more frequent in it.
    Correlations on it are of an even spread of quality, not of what the system usually answers.

    Args:
        ratings: Shape (N,); samples without one (nan, None) are never drawn.
        size: How many; all where there are no more.
        seed: Same seed, same samples.

    Raises:
        InvalidValueError: No sample has a rating, a number below 1, or a negative seed.

    >>> found = stratified([0.0, 0.9, 1.0, 0.9, 0.95, 1.0, 0.5, None], 4)
    >>> found.available, found.drawn, found.places.tolist()[0]
    ((1, 0, 1, 0, 5), (1, 0, 1, 0, 2), 0)
    >>> found.weights.tolist().count(2.5)
    2
    """
    size = whole("size", size, least=1)
    known = numbers("ratings", ratings)
    rated = np.flatnonzero(np.isfinite(known))
    if not len(rated):
        msg = "no sample has a human rating, so there is nothing to spread them over"
        raise InvalidValueError(msg)
    values = known[rated]
    edges = np.linspace(values.min(), values.max(), STRATA + 1)
    part = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, STRATA - 1)
    available = np.bincount(part, minlength=STRATA)
    drawn = _quotas(available, min(size, len(rated)))
    rng = np.random.default_rng(whole("seed", seed, least=0))
    picked = [
        rng.choice(rated[part == stratum], number, replace=False)
        for stratum, number in enumerate(drawn)
    ]
    stands_for = [
        np.full(number, of / max(number, 1)) for number, of in zip(drawn, available, strict=True)
    ]
    places, weights = np.concatenate(picked), np.concatenate(stands_for)
    order = np.argsort(places)
    return Strata(places[order], edges, tuple(available.tolist()), drawn, weights[order])


def _quotas(available: npt.NDArray[np.int64], size: int) -> tuple[int, ...]:
    """How many each stratum gives: the same, or all that it has, the smallest first."""
    quotas = [0] * len(available)
    order = np.argsort(available, kind="stable").tolist()
    for position, stratum in enumerate(order):
        share = (size - sum(quotas)) // (len(order) - position)
        quotas[stratum] = min(int(available[stratum]), share)
    return tuple(quotas)

"""Which samples to rate next, with known chances, so that the estimate from them is unbiased.

Every sample has a chance above 0 (Horvitz and Thompson, 1952). A sample that was twice as likely to
be chosen stands for half as many others: its weight is 1 / its chance.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray, numbers, same_length, whole

__all__ = ["chances", "disagreement", "draw", "round_weights", "shares", "spreads"]

EVEN: Final = 0.5
"""Share of every choice that goes to all samples alike: no weight is above 1 / this of the mean
one, so that a bad guess of where ratings tell most makes an interval at most 1.41 times as wide."""

_STRATA: Final = 5
_PRIOR: Final = 5.0
"""Ratings that the mean of all strata counts in each of them."""
_LEAST_SPREAD: Final = 0.05
"""Of a score in [0, 1]: also where a judge is sure, it may be wrong."""


def shares(sizes: npt.ArrayLike) -> FloatArray:
    """Half the same for all, half proportional to size, with the mean 1: see `EVEN`.

    Args:
        sizes: How much a rating of each sample is expected to tell, shape (N,), from 0 up. nan
            counts as the mean size; all are equal where nothing is known.

    Returns:
        Shape (N,), 0.5 or more.

    Raises:
        InvalidValueError: A negative or infinite size.

    >>> shares([0, 1, 2, float("nan")]).tolist()
    [0.5, 1.0, 1.5, 1.0]
    """
    given = numbers("sizes", sizes)
    known = given[~np.isnan(given)]
    if (known < 0.0).any() or np.isinf(known).any():
        msg = "sizes must be numbers from 0 up, nan where nothing is known"
        raise InvalidValueError(msg)
    mean = float(known.mean()) if len(known) else 0.0
    if mean == 0.0:
        return np.ones(len(given))
    return EVEN + (1.0 - EVEN) * np.where(np.isnan(given), mean, given) / mean


def chances(sizes: npt.ArrayLike, n: int) -> FloatArray:
    """The chance of each sample to be among n that are chosen: proportional to its size, at most 1.

    Args:
        sizes: Above 0, shape (N,), e.g. from `shares`.
        n: How many are chosen; all of them where there are no more.

    Returns:
        Shape (N,), in (0, 1]; their sum is n, or N.

    Raises:
        InvalidValueError: A size that is not above 0, no sample, or n below 1.

    Two of four: the last one's share is above 1, and what is left goes to the others:

    >>> chances([1, 1, 1, 9], 2).round(3).tolist()
    [0.333, 0.333, 0.333, 1.0]
    """
    given = numbers("sizes", sizes)
    n = min(whole("n", n, least=1), len(given))
    if not len(given) or not (np.isfinite(given) & (given > 0.0)).all():
        msg = "sizes must be one number above 0 for each sample that can be chosen"
        raise InvalidValueError(msg)
    found = np.ones(len(given))
    free = np.ones(len(given), dtype=np.bool_)
    while free.any():
        left = n - (len(given) - int(free.sum()))
        found[free] = given[free] * left / given[free].sum()
        beyond = free & (found >= 1.0)
        if not beyond.any():
            break
        found[beyond] = 1.0
        free &= ~beyond
    return found


def draw(probabilities: npt.ArrayLike, order: npt.ArrayLike, *, seed: int = 0) -> IntArray:
    """Samples drawn with these chances: every 1-th of their sum along an order, from a random start.

    Neighbours in the order are hardly ever chosen together. By system and score, the samples that
    are chosen spread evenly over both, which is a stratified draw.

    Args:
        probabilities: From `chances`, shape (N,).
        order: What to go along, shape (N,) or (N, K): sorted by its first column, then by the
            second, and so on. Equals are in random order.
        seed: Of the start and the order of equals.

    Returns:
        The places of those chosen, ascending; as many as the sum of the probabilities.

    Raises:
        InvalidValueError: Lengths that differ, or a negative seed.

    >>> draw([0.5] * 6, [3, 1, 2, 6, 5, 4], seed=1).tolist()
    [2, 3, 5]
    """
    given = numbers("probabilities", probabilities)
    keys = np.asarray(order, dtype=np.float64)
    keys = keys[:, None] if keys.ndim == 1 else keys
    same_length(probabilities=given, order=keys)
    rng = np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))
    along = np.lexsort((rng.random(len(given)), *keys.T[::-1]))
    wanted = round(float(given.sum()))
    passed = np.cumsum(given[along])
    ticks = rng.random() + np.arange(wanted)
    # The last sum is whole on paper alone.
    places = np.minimum(np.searchsorted(passed, ticks, side="right"), len(given) - 1)
    return np.sort(along[np.unique(places)]).astype(np.int64)


def disagreement(methods: npt.ArrayLike) -> FloatArray:
    """How far several methods' ranks of a sample lie apart: their standard deviation.

    Args:
        methods: Scores, shape (N, M), one column per method on a scale of its own; nan or None where
            a method has none.

    Returns:
        Shape (N,), from 0 (all have the same rank) to 0.5; nan with fewer than two scores.

    Raises:
        InvalidValueError: Not two dimensions.

    >>> disagreement([[0.1, 9], [0.2, 7], [0.3, 8]]).round(3).tolist()
    [0.333, 0.167, 0.167]
    """
    table = numbers("methods", methods, ndim=2)
    ranks = np.full(table.shape, np.nan)
    for number, column in enumerate(table.T):
        known = np.isfinite(column)
        values = column[known]
        if len(values):
            ordered = np.sort(values)
            below = np.searchsorted(ordered, values, side="left")
            upto = np.searchsorted(ordered, values, side="right")
            ranks[known, number] = (below + upto) / 2 / len(values)
    there = np.isfinite(ranks).sum(axis=1)
    filled = np.where(np.isfinite(ranks), ranks, 0.0)
    means = filled.sum(axis=1) / np.maximum(there, 1)
    squares = np.where(np.isfinite(ranks), (ranks - means[:, None]) ** 2, 0.0).sum(axis=1)
    return np.where(there > 1, np.sqrt(squares / np.maximum(there, 1)), np.nan)


def spreads(
    scores: npt.ArrayLike, ratings: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """How far ratings are expected to lie from what the judge's scores say of them.

    Where there are ratings, the root of the mean squared residual of their regression on the
    scores, in five strata by score, each drawn towards that of all. Without, as of a coin that
    falls as often as the score says: ``sqrt(s (1 - s))``.

    Args:
        scores: Shape (N,), of which none is nan.
        ratings: Shape (N,); nan where nobody rated.
        weights: Of the rated samples, shape (N,); None where they were drawn at random.

    Returns:
        Shape (N,), on the scale of the ratings or of the scores.

    Raises:
        InvalidValueError: Lengths that differ.

    >>> spreads([0.0, 0.5, 0.9], [None, None, None]).round(3).tolist()
    [0.218, 0.5, 0.3]
    """
    judged, given = numbers("scores", scores), numbers("ratings", ratings)
    same_length(scores=judged, ratings=given)
    rated = np.isfinite(given)
    weight = np.ones(len(judged)) if weights is None else numbers("weights", weights)
    same_length(scores=judged, weights=weight)
    if int(rated.sum()) <= _STRATA:
        inside = np.clip(judged, _LEAST_SPREAD, 1.0 - _LEAST_SPREAD)
        return np.sqrt(inside * (1.0 - inside))
    y, f, w = given[rated], judged[rated], weight[rated] / weight[rated].mean()
    centred, from_mean = y - np.average(y, weights=w), f - np.average(f, weights=w)
    across = float((w * from_mean**2).sum())
    slope = float((w * centred * from_mean).sum()) / across if across > 0.0 else 0.0
    squares = (centred - slope * from_mean) ** 2
    all_of_them = float(np.average(squares, weights=w))
    ends = np.quantile(judged, np.arange(1, _STRATA) / _STRATA)
    strata = np.searchsorted(ends, judged, side="right")
    own = strata[rated]
    sums = np.bincount(own, w * squares, _STRATA) + _PRIOR * all_of_them
    found: FloatArray = np.sqrt(sums / (np.bincount(own, w, _STRATA) + _PRIOR))[strata]
    return found


def round_weights(inclusion: npt.ArrayLike, rounds: npt.ArrayLike) -> FloatArray:
    """What each rated sample stands for, where samples were chosen in one or several rounds.

    A round chooses among the samples that earlier ones left, so it estimates the sum over all by
    the ratings before it, as they are, and its own over their chances. Each round's estimate is
    unbiased, and so is their mean, in which a round counts as many times as it has ratings.

    Args:
        inclusion: The chance with which each rated sample was chosen in its round, in (0, 1],
            shape (n,).
        rounds: The number of its round, shape (n,).

    Returns:
        Weights, shape (n,).

    Raises:
        InvalidValueError: Lengths that differ, or a chance outside (0, 1].

    Two ratings with chance 0.1, then two with 0.5 and 0.25: the first ones stand for
    ``0.5 / 0.1 + 0.5 * 1``, the others for ``0.5 / 0.5`` and ``0.5 / 0.25``:

    >>> round_weights([0.1, 0.1, 0.5, 0.25], [1, 1, 2, 2]).tolist()
    [5.5, 5.5, 1.0, 2.0]
    """
    chance, number = numbers("inclusion", inclusion), numbers("rounds", rounds)
    same_length(inclusion=chance, rounds=number)
    wrong = chance[~((chance > 0.0) & (chance <= 1.0))]
    if len(wrong):
        msg = f"an inclusion probability is {wrong[0]!r}; it lies above 0 and is at most 1"
        raise InvalidValueError(msg)
    _, places, counts = np.unique(number, return_inverse=True, return_counts=True)
    shares = counts / counts.sum()
    later = 1.0 - np.cumsum(shares)
    later[-1:] = 0.0
    found: FloatArray = shares[places] / chance + later[places]
    return found

"""Bootstrap resamples as counts, how often each sample was drawn, and Spearman's rho of many at once.

Every resample is ranked anew, ties within it included, with no approximation: sums over ranks are of
whole numbers, hence exact, and a value does not depend on the block that its resample is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tcva_adapters.stats.checks import (
    SAME,
    FloatArray,
    IntArray,
    random_generator,
    whole,
)
from tcva_adapters.stats.scipy_extra import scipy_module

ResampledStatistic = Callable[[IntArray], FloatArray]
"""From counts (rows, n) to values (methods, rows); nan where a value is undefined."""

# Counts, and each array that is derived from them, have this many cells per block: 128 KiB of
# numbers. That stays in a processor's cache, bounds the memory, and does not make the allocator
# hand every array back to the system, which would cost more than the arithmetic.
_CELLS = 1 << 14
_MIN_ROWS = 8


def draw_resamples(
    n: int,
    n_boot: int,
    *,
    seed: int,
    codes: IntArray | None,
) -> Iterator[IntArray]:
    """Draw bootstrap resamples, block by block, each as counts per sample.

    Without groups n samples are drawn with replacement; with groups as many groups as there are,
    each with all of its samples, so that a resample may have more or fewer samples than n.

    Args:
        n: Samples, 1 or more.
        n_boot: Resamples.
        seed: Of ``Generator(PCG64(seed))``, whose ``integers(0, n, (n_boot, n))`` are the draws.
        codes: The group of each sample, from 0 up, or None.

    Returns:
        Blocks of the shape (rows, n): entry (b, i) says how often resample b has sample i. How they
        are cut depends on n alone and has no influence on the draws.

    Raises:
        InvalidValueError: A negative seed.

    >>> np.concatenate(list(draw_resamples(4, 3, seed=0, codes=None)))
    array([[0, 1, 2, 1],
           [3, 1, 0, 0],
           [1, 0, 1, 2]])
    """
    generator = random_generator(seed)
    n_boot = whole("resamples", n_boot, least=1)
    units = n if codes is None else codes.max() + 1
    for start, stop in _spans(n_boot, n):
        rows = stop - start
        # 64-bit integers take the generator's words one after the other, so that cutting the
        # draws into blocks does not change them.
        drawn = generator.integers(
            0,
            units,
            size=(rows, units),
            dtype=np.int64,
        )
        drawn += np.arange(0, rows * units, units)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
        yield counts if codes is None else counts[:, codes]


def leave_one_out(codes: IntArray) -> Iterator[IntArray]:
    """The jackknife as counts: row j has every sample once but those of the j-th group."""
    for start, stop in _spans(codes.max() + 1, len(codes)):
        yield (codes != np.arange(start, stop)[:, None]).astype(np.int64)


def _spans(total: int, n: int) -> Iterator[tuple[int, int]]:
    """Starts and stops of blocks that cover ``total`` rows of n cells."""
    rows = max(_MIN_ROWS, _CELLS // n)
    for start in range(0, total, rows):
        yield start, min(start + rows, total)


def interval_shares(level: float, groups: float | None = None) -> FloatArray:
    """The shares at which to read the resamples' quantiles for an interval.

    Resamples of G groups vary less than they should, by sqrt((G - 1) / G), and with few groups the
    spread is not known well. So the shares go further out, as far as Student's distribution with
    G - 1 degrees of freedom lies beyond the normal one: T. Hesterberg, What teachers should know
    about the bootstrap, The American Statistician 69 (2015), section 5.3.

    Args:
        level: Of the interval, in (0, 1).
        groups: The number of groups of one size to which the drawn ones amount; None for single
            samples.

    >>> interval_shares(0.95).round(4).tolist(), interval_shares(0.95, 15).round(4).tolist()
    ([0.025, 0.975], [0.0132, 0.9868])
    """
    shares = np.array([1.0 - level, 1.0 + level]) / 2.0
    if groups is None:
        return shares
    special = scipy_module("special")
    t = special.stdtrit(groups - 1.0, shares)
    return np.asarray(special.ndtr(np.sqrt(groups / (groups - 1.0)) * t))


def bootstrap_p(deltas: FloatArray, groups: float | None = None) -> float:
    """The two-sided p of "it is 0" from resamples: ``1 - level`` where an end of `interval_shares` touches 0.

    Args:
        deltas: A figure on each resample.
        groups: See `interval_shares`.

    >>> deltas = np.arange(-9, 990.0)
    >>> f"{bootstrap_p(deltas):.3f}, {bootstrap_p(deltas, 15):.3f}"
    '0.022, 0.044'
    """
    # Shares must not depend on the last bit of figures that are equal on paper.
    below = np.count_nonzero(deltas <= SAME)
    above = np.count_nonzero(deltas >= -SAME)
    p = min(1.0, 2 * (min(below, above) + 1) / (len(deltas) + 1))
    if groups is None:
        return p
    special = scipy_module("special")
    nearer = np.sqrt((groups - 1.0) / groups) * special.ndtri(p / 2.0)
    return float(2.0 * special.stdtr(groups - 1.0, nearer))


class _Ranks:
    """One variable, whose values are ranked anew in every resample."""

    def __init__(self, values: FloatArray) -> None:
        distinct, self._codes = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._codes, kind="stable")
        self._starts = np.searchsorted(
            self._codes[self._order], np.arange(len(distinct))
        )
        self._tied = len(distinct) < len(values)

    def centred(self, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Twice the ranks less twice their mean, per sample, and the sums of their squares.

        Equal values share the average of their places; twice it is whole.
        """
        drawn = np.take(counts, self._order, axis=1)
        if self._tied:
            drawn = np.add.reduceat(drawn, self._starts, axis=1)
        # c draws of a value, with u draws up to it, of m in all: the average rank is u - (c-1)/2,
        # the mean of all ranks (m+1)/2; twice their difference is 2u - c - m.
        places = np.cumsum(drawn, axis=1)
        ranks = (2 * places - drawn - places[:, -1:]).astype(np.float64)
        squares = drawn * ranks * ranks
        return np.take(ranks, self._codes, axis=1), squares.sum(axis=1)


def spearman_of(methods: Sequence[FloatArray], human: FloatArray) -> ResampledStatistic:
    """Make a function from counts (rows, n) to each method's Spearman's rho, (methods, rows).

    Args:
        methods: Finite scores, each of shape (n,), n at least 1.
        human: Finite, shape (n,).

    Returns:
        The function, which gives nan where one side is constant.

    Each sample once, and the first one thrice:

    >>> scores, human = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    >>> spearman_of([scores], human)(np.array([[1, 1, 1], [3, 1, 1]])).round(3)
    array([[0.5  , 0.875]])
    """
    ratings = _Ranks(human)
    sides = [_Ranks(scores) for scores in methods]

    def values(counts: IntArray) -> FloatArray:
        human_deviations, spread = ratings.centred(counts)
        weighted = human_deviations * counts
        rows = []
        for side in sides:
            deviations, side_spread = side.centred(counts)
            products = deviations * weighted
            rows.append(ratio(products.sum(axis=1), side_spread, spread))
        return np.array(rows)

    return values


def ratio(
    product: FloatArray,
    first: FloatArray,
    second: FloatArray,
) -> FloatArray:
    """``product / sqrt(first * second)`` within [-1, 1]; nan where a side does not vary."""
    scale = np.sqrt(first * second)
    undefined = np.full(product.shape, np.nan)
    ratios: FloatArray = np.divide(product, scale, out=undefined, where=scale > 0)
    return np.clip(ratios, -1.0, 1.0)

"""All pairs of systems tested together: Tukey's honestly significant differences, and a studentised test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    FloatArray,
    IntArray,
    numbers,
    random_generator,
    whole,
)
from tcva_adapters.stats.raters import mean_rating

PairsTest = Literal["studentised", "tukey"]

MIN_QUERIES = 20
"""Two systems must share so many queries for the studentised test; with fewer, very skewed differences
are found too often."""

_BEYOND = NormalDist().inv_cdf(0.8)
"""Standard errors beyond the least significant difference at which a test has 80 % power."""
# Draws are made in blocks of at most so many rows and cells, to bound the memory.
_BLOCK = 1024
_CELLS = 2**19
# Rounding: a spread below the one is none; statistics that differ by less than the other are equal.
_NOTHING = 1e-12
_SAME = 1e-9


@dataclass(
    frozen=True,
    slots=True,
    eq=False,
)
class Pairs:
    """Every pair of systems, tested together.

    Attributes:
        means: Of the systems, shape (S,); nan without scores.
        differences: Of the means, first less second, shape (S, S).
        p: Two-sided, corrected for the number of pairs, shape (S, S); nan on the diagonal and where
            a pair was not tested.
        smallest: The true difference of each pair that the test finds in 80 % of cases; smaller
            ones are mostly missed. nan where a pair was not tested, or its difference never varies.
        reason: Why some pair was not tested; empty where all were.
    """

    means: FloatArray
    differences: FloatArray
    p: FloatArray
    smallest: FloatArray
    reason: str = ""

    def one_sided(self, better: int, worse: int) -> float:
        """The p of "the first system's mean is higher", an expectation from before the test.

        Half of the two-sided p where the difference is as expected, one less that half where it is
        the other way round, 0.5 where there is none; nan as for ``p``.
        """
        p = float(self.p[better, worse])
        apart = self.differences[better, worse]
        if math.isnan(p):
            return p
        if abs(apart) <= _NOTHING * np.nanmax(np.abs(self.means)):
            return 0.5
        return p / 2 if apart > 0 else 1 - p / 2


def asl_curve(pairs: Pairs) -> FloatArray:
    """Achieved significance levels: the p of all pairs, ascending.

    Drawn over their rank, the curve of the metric that tells systems apart better lies lower; the
    share below a level is its discriminative power. T. Sakai, Evaluating evaluation metrics based
    on the bootstrap, SIGIR 2006.
    """
    p = pairs.p[np.triu_indices(len(pairs.p), k=1)]
    return np.sort(p[~np.isnan(p)])


def tukey(
    scores: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    permutations: int = 10_000,
    seed: int = 0,
) -> Pairs:
    """Test all pairs of systems at once, by shuffling each query's scores over the systems.

    If systems do not differ, a query's scores might as well have come from one another. So in
    each of B copies every row is shuffled, cells without a score staying where they are, and the
    distance q* between the highest and the lowest mean counts. The p of a pair is (1 + copies with q*
    at least as large as its difference) / (B + 1). The chance of any find is at most the level where
    systems are alike in spread and shape, too; with unequal spreads it is higher (`studentised`).

    Source: appendix F of the CCRS paper; B. Carterette, Multiple testing in statistical analysis of
    systems-based information retrieval experiments, ACM TOIS 30 (2012).

    Args:
        scores: Shape (N, S): one row per query, one column per system; nan or None where there is
            no score. A row with fewer than two scores only enters the means.
        alpha: The level that `Pairs.smallest` uses.
        permutations: B, the number of shuffled copies.
        seed: Same seed, same copies.

    Raises:
        InvalidValueError: Fewer than two systems, no queries, infinite scores, a number of
            permutations below 1, or a negative seed.

    The first system is the best on each of eight queries. Of 2**8 equally likely tables two have
    a difference as large as this one, so p is about 2/256:

    >>> pairs = tukey([[0.9, 0.1]] * 8)
    >>> round(float(pairs.differences[0, 1]), 2), round(float(pairs.p[0, 1]), 3)
    (0.8, 0.008)
    """
    table = _score_table(scores)
    draws = whole("permutations", permutations, least=1)
    present = ~np.isnan(table)
    n = present.sum(axis=0)
    means = mean_rating(table.T)
    known = n > 0
    sums = _shuffled_sums(table, draws, seed)
    ranges = np.zeros(draws)
    if known.any():
        ranges = np.sort(np.ptp(sums[:, known] / n[known], axis=1))
    differences = means[:, None] - means
    # Means that are equal on paper differ in the last bit.
    tolerance = _NOTHING * np.abs(np.nan_to_num(table)).max()
    p = _p_among(ranges, np.abs(differences) - tolerance)
    p[np.isnan(differences) | np.eye(len(p), dtype=bool)] = np.nan
    # A difference d of one system adds d**2 / S to the variance that shuffles have, and so
    # mixed * d**2 to the square of what it has to reach; solved for d.
    reach = np.quantile(ranges, 1.0 - alpha)
    mixed = 0.0
    if reach:
        rows = table[present.sum(axis=1) > 1]
        variance = np.nanvar(rows, axis=1, ddof=1).mean()
        mixed = reach**2 / (table.shape[1] * variance)
    errors = _square(_errors(_differences(table)))
    beyond = _BEYOND * errors
    smallest = np.full_like(p, np.nan)
    if mixed < 1.0:
        root = np.sqrt(mixed * beyond**2 + (1.0 - mixed) * reach**2)
        smallest = (beyond + root) / (1.0 - mixed)
    return Pairs(
        means,
        differences,
        p,
        _detectable(smallest, p, errors),
    )


def studentised(
    scores: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    permutations: int = 10_000,
    seed: int = 0,
) -> Pairs:
    """Test all pairs of systems at once, by turning the signs of each query's differences round.

    Tukey's test takes every system's scores to spread alike; here each difference is measured by
    its own standard error. If two systems have the same mean, a query's difference might as well
    have the other sign. So in each of B draws every query gets a sign for all of its differences,
    and the largest statistic of any pair counts. The p of a pair is (1 + draws in which that is at
    least as large as the pair's own) / (B + 1). For systems of one mean, the chance of any find is
    at most the level if differences lie symmetrically around 0, whatever their spreads. Skewed
    ones are allowed for by Hall's transformation of t, which takes off the first-order effect of
    skewness g: ``t + g t^2 / (3 sqrt(n)) + g^2 t^3 / (27 n) + g / (6 sqrt(n))``.

    Sources: J. P. Romano, On the behavior of randomization tests without a group invariance
    assumption, JASA 85 (1990); P. H. Westfall and S. S. Young, Resampling-based multiple testing
    (1993); P. Hall, On the removal of skewness by transformation, JRSS B 54 (1992).

    Args:
        scores: As for `tukey`. A pair is tested on the queries that both systems have, if these are
            `MIN_QUERIES` or more.
        alpha: As for `tukey`.
        permutations: B, the number of draws.
        seed: Same seed, same signs.

    Raises:
        InvalidValueError: As for `tukey`.

    Two systems differ by 0.01 on every query, next to one whose scores vary widely:

    >>> wide = np.linspace(0, 1, 30)
    >>> pairs = studentised(np.stack([np.full(30, 0.5), np.full(30, 0.51), wide], axis=1))
    >>> round(float(pairs.p[0, 1]), 4), round(float(pairs.p[0, 2]), 1)
    (0.0001, 1.0)
    """
    table = _score_table(scores)
    draws = whole("permutations", permutations, least=1)
    rng = random_generator(seed)
    apart = _differences(table)
    counts = np.isfinite(apart).sum(axis=0)
    tested = np.flatnonzero(counts >= MIN_QUERIES)
    p, smallest = np.full((2, len(counts)), np.nan)
    if len(tested):
        # To a mean square of 1, which tells rounding from spread.
        sizes = np.sqrt(mean_rating((apart[:, tested] ** 2).T))
        scaled = np.nan_to_num(apart[:, tested] / np.where(sizes > 0.0, sizes, 1.0))
        as_they_are = np.ones((1, len(table)))
        observed = _hall(as_they_are, scaled, counts[tested])[0]
        drawn = [
            _hall(signs, scaled, counts[tested]).max(axis=1)
            for signs in _signs(rng, draws, apart)
        ]
        largest = np.sort(np.concatenate(drawn))
        p[tested] = _p_among(largest, observed * (1 - _SAME))
        errors = _errors(apart)
        reach = np.quantile(largest, 1.0 - alpha) + _BEYOND
        smallest = _detectable(reach * errors, p, errors)
    fewest = counts.min()
    reason = ""
    if fewest < MIN_QUERIES:
        reason = (
            f"this test needs {MIN_QUERIES} queries, and two systems share {fewest}"
        )
    return Pairs(
        means=mean_rating(table.T),
        differences=_square(mean_rating(apart.T), mirror=-1),
        p=_square(p),
        smallest=_square(smallest),
        reason=reason,
    )


def _score_table(scores: npt.ArrayLike) -> FloatArray:
    table = numbers("scores", scores, ndim=2)
    if table.shape[0] < 1 or table.shape[1] < 2:
        raise InvalidValueError(
            f"scores have the shape {table.shape}; give a row per query, and two systems or more"
        )
    if np.isinf(table).any():
        raise InvalidValueError(
            "a score is infinite; give a number, or nan where there is none"
        )
    return table


def _differences(table: FloatArray) -> FloatArray:
    """The differences of every two columns, first less second, shape (N, pairs)."""
    first, second = np.triu_indices(table.shape[1], k=1)
    return table[:, first] - table[:, second]


def _square(by_pair: FloatArray, mirror: int = 1) -> FloatArray:
    """Figures of pairs as a matrix, shape (S, S); its lower half is the mirrored upper one."""
    size = math.isqrt(2 * len(by_pair)) + 1
    first, second = np.triu_indices(size, k=1)
    square = np.full((size, size), np.nan)
    square[first, second] = by_pair
    square[second, first] = mirror * by_pair
    return square


def _errors(apart: FloatArray) -> FloatArray:
    """The standard error of each pair's mean difference; 0 below two common queries."""
    n = np.isfinite(apart).sum(axis=0)
    squares = np.nansum((apart - mean_rating(apart.T)) ** 2, axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(n * (n - 1), 1)))


def _detectable(
    smallest: FloatArray,
    p: FloatArray,
    errors: FloatArray,
) -> FloatArray:
    """Set pairs to nan that were not tested, or whose difference never varies."""
    return np.where(
        np.isnan(p) | ~(errors > 0.0),
        np.nan,
        smallest,
    )


def _p_among(drawn: FloatArray, observed: FloatArray) -> FloatArray:
    """The p of observed values among sorted draws."""
    return (1 + len(drawn) - np.searchsorted(drawn, observed)) / (len(drawn) + 1)


def _shuffled_sums(table: FloatArray, number: int, seed: int) -> FloatArray:
    """Column sums of copies of a table whose rows are shuffled, shape (number, S).

    Rows are shuffled together with those that have scores in the same columns.
    """
    rng = random_generator(seed)
    ways, codes = np.unique(~np.isnan(table), axis=0, return_inverse=True)
    block = max(1, min(_BLOCK, _CELLS // table.size))
    parts = []
    for _ in range(0, number, block):
        sums = np.zeros((block, table.shape[1]))
        for place, way in enumerate(ways):
            rows = table[codes.reshape(-1) == place][:, way]
            copies = np.broadcast_to(rows, (block, *rows.shape))
            sums[:, way] += rng.permuted(copies, axis=2).sum(axis=1)
        parts.append(sums)
    return np.concatenate(parts)[:number]


def _hall(
    signs: FloatArray,
    scaled: FloatArray,
    counts: IntArray,
) -> FloatArray:
    """The size of Hall's transformed t of each pair, under given signs.

    Args:
        signs: Shape (draws, N).
        scaled: Differences with a mean square of 1, shape (N, pairs), 0 where a pair has none.
        counts: How many each pair has.

    Returns:
        Shape (draws, pairs); infinite without any spread.
    """
    means = signs @ scaled / counts
    variances = 1.0 - means**2
    spread = variances > _NOTHING
    variances = np.where(spread, variances, 1.0)
    cubes = signs @ scaled**3 / counts
    skewness = (cubes - 3.0 * means + 2.0 * means**3) / variances**1.5
    t = means * np.sqrt(counts / variances)
    bend = skewness / (3.0 * np.sqrt(counts))
    sizes = np.abs(t + bend * t**2 + bend**2 * t**3 / 3.0 + bend / 2.0)
    return np.where(spread, sizes, np.inf)


def _signs(
    rng: np.random.Generator,
    draws: int,
    apart: FloatArray,
) -> Iterator[FloatArray]:
    """Rows of signs, shape (rows, N), in blocks that depend on the table alone."""
    rows = max(1, _CELLS // max(apart.shape))
    for start in range(0, draws, rows):
        shape = (min(rows, draws - start), len(apart))
        yield np.where(rng.integers(0, 2, shape, dtype=np.int8), 1.0, -1.0)

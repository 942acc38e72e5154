"""All pairs of systems tested at once, each beside its own standard error: spreads may differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import (
    FloatArray,
    IntArray,
    one_of,
    same_within,
    whole,
)
from tcva_adapters.stats.pairwise import (
    PERMUTATIONS,
    Estimate,
    PairwiseTest,
    checked_table,
    difference_errors,
    shares,
    system_means,
)

LEAST_QUERIES: Final = 20
"""Two systems must share so many queries; with fewer, very skewed differences are found too often."""

_CELLS: Final = 2**19
_NOTHING: Final = 1e-12
"""Variance beside the mean square, where it is rounding alone."""

_SAME: Final = 1e-9


@dataclass(frozen=True, eq=False)
class StudentisedPairs(PairwiseTest):
    """Every pair of systems on the queries that both have scored.

    Attributes:
        queries: How many these are, shape (S, S).
        largest: Largest statistic of any pair under each draw of signs, ascending, shape (B,);
            empty where no pair was tested.
    """

    queries: IntArray
    largest: FloatArray

    def _found(self, alpha: float, beyond: FloatArray) -> FloatArray:
        critical = np.quantile(self.largest, 1.0 - alpha) if len(self.largest) else np.nan
        return critical * self.errors + beyond

    @property
    def reason(self) -> str:
        """Why some pair was not tested; empty where all were.

        >>> studentised_pairs([[0.9, 0.1]] * 8).reason
        'two systems share 8 of the 20 queries that this test needs'
        """
        fewest = int(self.queries[np.triu_indices(len(self.queries), k=1)].min())
        if fewest >= LEAST_QUERIES:
            return ""
        return f"two systems share {fewest} of the {LEAST_QUERIES} queries that this test needs"


def studentised_pairs(
    scores: npt.ArrayLike,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    estimate: Estimate = "add_one",
) -> StudentisedPairs:
    """Test all pairs of systems at once, by turning the signs of each query's differences round.

    Tukey's test takes every system's scores to spread alike; here each difference is measured by
    its own standard error. If two systems have the same mean, a query's difference might as well
    have the other sign. So in each of B draws every query gets a sign for all of its differences,
    and the largest statistic of any pair is kept. The p of a pair is the share of draws in which
    that is at least as large as the pair's own. For systems of one mean, the chance of any find is
    at most the level if differences lie symmetrically around 0, whatever their spreads; likewise
    for those systems that have one mean where others do not. Skewed differences (a system that is
    quite right or plainly wrong beside a steady one) are allowed for by Hall's transformation of t,
    which is increasing in t and takes off the first-order effect of skewness g::

        t + g t**2 / (3 sqrt(n)) + g**2 t**3 / (27 n) + g / (6 sqrt(n))

    Sources: J. P. Romano, On the behavior of randomization tests without a group invariance
    assumption, JASA 85 (1990); P. H. Westfall and S. S. Young, Resampling-based multiple testing
    (1993); P. Hall, On the removal of skewness by transformation, JRSS B 54 (1992).

    Args:
        scores: Shape (N, S): one row per query, one column per system; nan or None where there is
            no score. A pair is tested on the queries that both systems have, if these are
            `LEAST_QUERIES` or more.
        permutations: B, the number of draws.
        seed: Same seed, same signs.
        estimate: As for `tukey_hsd`.

    Raises:
        InvalidValueError: As for `tukey_hsd`.

    Two systems differ by 0.01 on every query, beside one whose scores lie far apart:

    >>> wide = np.linspace(0, 1, 30)
    >>> found = studentised_pairs(np.stack([np.full(30, 0.5), np.full(30, 0.51), wide], axis=1))
    >>> round(float(found.p[0, 1]), 4), round(float(found.p[0, 2]), 1)
    (0.0001, 1.0)
    """
    table = checked_table(scores)
    permutations = whole("permutations", permutations, least=1)
    one_of("estimate", estimate, get_args(Estimate))
    rng = np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))
    present = ~np.isnan(table)
    size = table.shape[1]
    first, second = np.triu_indices(size, k=1)
    shared = present[:, first] & present[:, second]
    counts = shared.sum(axis=0)
    apart = np.where(shared, table[:, first] - table[:, second], 0.0)
    tested = np.flatnonzero(counts >= LEAST_QUERIES)
    ps, largest = np.full(len(counts), np.nan), np.empty(0)
    if len(tested):
        statistic = _Hall(apart[:, tested], counts[tested])
        observed = statistic(np.ones((1, len(apart))))[0]
        drawn = (statistic(signs).max(axis=1) for signs in _signs(rng, permutations, apart))
        largest = np.sort(np.concatenate(list(drawn)))
        reached = permutations - np.searchsorted(largest, observed * (1 - _SAME))
        ps[tested] = shares(reached, permutations, estimate)
    p, queries = np.full((size, size), np.nan), np.zeros((size, size), dtype=np.int64)
    p[first, second] = p[second, first] = ps
    queries[first, second] = queries[second, first] = counts
    return StudentisedPairs(
        means=system_means(table),
        n=present.sum(axis=0),
        differences=_differences(table),
        p=p,
        estimate=estimate,
        tolerance=same_within(table[present]) if present.any() else 0.0,
        errors=difference_errors(table),
        queries=queries,
        largest=largest,
    )


def _differences(table: FloatArray) -> FloatArray:
    """Shape (S, S): how far a row's mean lies above a column's, on the queries of both; nan without."""
    size = table.shape[1]
    differences = np.full((size, size), np.nan)
    for i, j in zip(*np.triu_indices(size, k=1), strict=True):
        both = ~np.isnan(table[:, i] + table[:, j])
        if both.any():
            differences[i, j] = table[both, i].mean() - table[both, j].mean()
            differences[j, i] = -differences[i, j]
    return differences


class _Hall:
    """The size of Hall's transformed t of each pair, under given signs.

    Args:
        apart: Differences, shape (N, pairs), 0 where a pair has none.
        counts: How many each pair has.
    """

    def __init__(self, apart: FloatArray, counts: IntArray) -> None:
        self._n = counts.astype(np.float64)
        sizes = np.sqrt((apart**2).sum(axis=0) / self._n)
        # On a common scale the mean square is 1, so that rounding can be told from spread.
        self._apart = apart / np.where(sizes > 0.0, sizes, 1.0)
        self._cubes = self._apart**3

    def __call__(self, signs: FloatArray) -> FloatArray:
        """Shape (draws, pairs) for signs of the shape (draws, N); infinite without any spread."""
        means = signs @ self._apart / self._n
        variances = 1.0 - means**2
        spread = variances > _NOTHING
        variances = np.where(spread, variances, 1.0)
        skewness = (signs @ self._cubes / self._n - 3.0 * means + 2.0 * means**3) / variances**1.5
        t = means * np.sqrt(self._n / variances)
        bend = skewness / (3.0 * np.sqrt(self._n))
        found = np.abs(t + bend * t**2 + bend**2 * t**3 / 3.0 + bend / 2.0)
        return np.where(spread, found, np.inf)


def _signs(rng: np.random.Generator, draws: int, apart: FloatArray) -> Iterator[FloatArray]:
    """Rows of signs, shape (rows, N), in blocks that depend on the table alone."""
    n = len(apart)
    rows = max(1, _CELLS // max(apart.shape))
    for start in range(0, draws, rows):
        drawn = rng.integers(0, 256, (rows, -(-n // 8)), dtype=np.uint8)
        bits = np.unpackbits(drawn, axis=1)[: draws - start, :n]
        yield 1.0 - 2.0 * bits.astype(np.float64)

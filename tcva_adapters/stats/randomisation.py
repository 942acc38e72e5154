"""Tukey's honestly significant differences by randomisation: which systems differ at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, one_of, same_within, whole
from tcva_adapters.stats.pairwise import (
    PERMUTATIONS,
    Estimate,
    PairwiseTest,
    checked_table,
    difference_errors,
    shares,
    system_means,
)
from tcva_adapters.stats.shuffles import Shuffles


@dataclass(frozen=True, eq=False)
class TukeyHSD(PairwiseTest):
    """Every pair of systems, by Tukey's honestly significant differences.

    Attributes:
        ranges: Largest less smallest mean in each shuffled table, ascending, shape (B,).
        row_variance: Mean variance of a query's scores over the systems, which shuffles keep; nan
            where no query has two.
    """

    ranges: FloatArray
    row_variance: float

    def _found(self, alpha: float, beyond: FloatArray) -> FloatArray:
        # A difference d of one system adds d**2 / S to the variance that shuffles have, and so
        # mixed * d**2 to the square of what it has to reach; solved for d.
        reach = float(np.quantile(self.ranges, 1.0 - alpha))
        mixed = reach**2 / (len(self.means) * self.row_variance) if reach else 0.0
        if mixed >= 1.0:
            return np.full_like(beyond, np.nan)
        root = np.sqrt(mixed * beyond**2 + (1.0 - mixed) * reach**2)
        found: FloatArray = (beyond + root) / (1.0 - mixed)
        return found


def tukey_hsd(
    scores: npt.ArrayLike,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    estimate: Estimate = "add_one",
    progress: Callable[[int, int], None] | None = None,
) -> TukeyHSD:
    """Test all pairs of systems at once, by shuffling each query's scores over the systems.

    If systems do not differ, a query's scores might as well have come from one another. So in
    each of B copies every row is shuffled, cells without a score staying where they are, and the
    distance q* between the highest and the lowest mean is kept. The p of a pair is the share of
    copies with q* at least as large as the pair's difference. Since q* is the largest of all
    differences, the chance of any find is at most the level of the test where a query's scores
    might have come from any of the systems, that is, where these are alike in spread and shape, too.
    With systems of one mean and unequal spreads it is higher (`studentised_pairs` is for these). A
    system far off from the rest widens the shuffles, and so makes small differences among the
    others harder to find.

    Source: appendix F of the CCRS paper; B. Carterette, Multiple testing in statistical analysis of
    systems-based information retrieval experiments, ACM TOIS 30 (2012).

    Args:
        scores: Shape (N, S): one row per query, one column per system; nan or None where there is
            no score. A row with fewer than two scores only enters the means.
        permutations: B, the number of shuffled copies.
        seed: Same seed, same copies; see `shuffled_tables`.
        estimate: ``add_one`` is (1 + count) / (B + 1), which keeps the level of the test and is
            never 0; ``count`` is count / B, as the paper's code has it.
        progress: Called with the copies done and B.

    Raises:
        InvalidValueError: Fewer than two systems, no queries, infinite scores, a number of
            permutations below 1, a negative seed or an unknown estimate.

    The first system is the best on each of eight queries. Of 2**8 equally likely tables two have
    a difference as large as this one, so p is about 2/256:

    >>> found = tukey_hsd([[0.9, 0.1]] * 8)
    >>> round(float(found.differences[0, 1]), 2), round(float(found.p[0, 1]), 3)
    (0.8, 0.008)
    """
    table = checked_table(scores)
    permutations = whole("permutations", permutations, least=1)
    one_of("estimate", estimate, get_args(Estimate))
    present = ~np.isnan(table)
    n = present.sum(axis=0)
    known = n > 0
    means = system_means(table)
    ranges = np.empty(permutations)
    done = 0
    for sums in Shuffles(table, whole("seed", seed, least=0)).sums(permutations):
        shuffled = sums[:, known] / n[known]
        ranges[done : done + len(sums)] = (
            np.ptp(shuffled, axis=1) if shuffled.shape[1] else np.zeros(len(sums))
        )
        done += len(sums)
        if progress is not None:
            progress(done, permutations)
    ranges.sort()
    tolerance = same_within(table[present]) if present.any() else 0.0
    differences = means[:, None] - means[None, :]
    reached = permutations - np.searchsorted(ranges, np.abs(differences) - tolerance)
    p = shares(reached, permutations, estimate)
    p[np.isnan(differences) | np.eye(len(p), dtype=bool)] = np.nan
    errors = difference_errors(table)
    rows = table[present.sum(axis=1) > 1]
    spread = float(np.nanvar(rows, axis=1, ddof=1).mean()) if len(rows) else float("nan")
    return TukeyHSD(means, n, differences, p, estimate, tolerance, errors, ranges, spread)


def shuffled_tables(
    scores: npt.ArrayLike, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> Iterator[FloatArray]:
    """The very copies that `tukey_hsd` looks at with this seed, one by one.

    Args:
        scores: Shape (N, S), as for `tukey_hsd`.
        permutations: How many.
        seed: Same seed, same copies.

    Raises:
        InvalidValueError: As for `tukey_hsd`.

    >>> [table.tolist() for table in shuffled_tables([[1, None, 2]], permutations=2, seed=3)]
    [[[2.0, nan, 1.0]], [[2.0, nan, 1.0]]]
    """
    table = checked_table(scores)
    shuffles = Shuffles(table, whole("seed", seed, least=0))
    return shuffles.tables(whole("permutations", permutations, least=1))

"""Tests of all pairs of systems that have one mean and unequal spreads: how often is one found?

Run: python -m benchmarks.unequal_spreads [--sets 400] [--paper FOLDER]
Three systems of one mean in each data set. FOLDER holds the paper's files (TCVA_PAPER_DATA by
default); without it their verdicts are left out. A share of 400 data sets has a standard error of
0.011 at 0.05.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

import numpy as np

from tcva_adapters import sweep
from tcva_adapters.compare.paper.data import read_folder
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.pairwise import PairwiseTest
from tcva_adapters.stats.randomisation import tukey_hsd
from tcva_adapters.stats.studentised import LEAST_QUERIES, studentised_pairs

SPREADS = np.array([0.05, 0.2, 0.4])
QUERIES = (5, 10, LEAST_QUERIES, 30, 50, 170)
DRAWS = 199

Null = Callable[[int, np.random.Generator], FloatArray]
"""Scores of systems of one mean: from a number of queries and a generator to (queries, systems)."""


def normal(n: int, rng: np.random.Generator) -> FloatArray:
    """Normal scores, some queries harder for all."""
    return rng.normal(0, SPREADS, (n, 3)) + rng.normal(0, 0.2, (n, 1))


def bounded(mean: float) -> Null:
    """Beta scores in [0, 1] with this mean: the widest is nearly all 0 and 1."""
    spreads = np.minimum(SPREADS, 0.95 * np.sqrt(mean * (1 - mean)))
    size = mean * (1 - mean) / spreads**2 - 1
    return lambda n, rng: rng.beta(mean * size, (1 - mean) * size, (n, 3))


def of_verdicts(counts: FloatArray, *, together: bool) -> Null:
    """Answers with these verdicts at T = 0.1, 0.5 and 0.9, less the means over all of them.

    Args:
        counts: Shape (answers, 5).
        together: Each query has the same answer under all three; else each has its own.
    """
    scores = sweep(counts, [0.1, 0.5, 0.9])
    scores -= scores.mean(axis=0)
    size = 1 if together else 3

    def null(n: int, rng: np.random.Generator) -> FloatArray:
        drawn = rng.integers(0, len(scores), (n, size))
        found: FloatArray = np.take_along_axis(scores, np.broadcast_to(drawn, (n, 3)), axis=0)
        return found

    return null


def nulls(folder: str | None) -> dict[str, Null]:
    """Every kind of data by its name."""
    found: dict[str, Null] = {
        "normal, sd .05 .2 .4": normal,
        "in [0, 1], mean .5": bounded(0.5),
        "in [0, 1], mean .8": bounded(0.8),
    }
    for each, data in read_folder(folder).items() if folder else ():
        assert data.counts is not None
        name = f"{each} by T"
        counts = data.counts[:, 0]
        counts = counts[np.nan_to_num(counts).sum(axis=1) > 0]
        found[f"{name}, own answers"] = of_verdicts(counts, together=False)
        found[f"{name}, same answers"] = of_verdicts(counts, together=True)
    return found


def false_positives(null: Null, n: int, sets: int, *, draws: int = DRAWS) -> tuple[float, float]:
    """Shares of data sets in which Tukey's and the studentised test find a pair at 0.05.

    The second is nan where that test is not offered.
    """
    rng = np.random.default_rng(n)
    found = np.zeros(2)
    for number in range(sets):
        table = null(n, rng)
        tests: tuple[PairwiseTest, ...] = (
            tukey_hsd(table, permutations=draws, seed=number),
            studentised_pairs(table, permutations=draws, seed=number),
        )
        found += [(test.pair_ps() <= 0.05).any() for test in tests]
    tukey, studentised = (found / sets).tolist()
    return tukey, studentised if n >= LEAST_QUERIES else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--paper", default=os.environ.get("TCVA_PAPER_DATA"))
    given = parser.parse_args()
    print(f"{'queries':>52}", *(f"{n:>11}" for n in QUERIES))
    for name, null in nulls(given.paper).items():
        shares = [false_positives(null, n, given.sets) for n in QUERIES]
        for place, test in enumerate(("Tukey", "studentised")):
            row = (
                f"{pair[place]:11.3f}" if pair[place] == pair[place] else f"{'not offered':>11}"
                for pair in shares
            )  # nan
            print(f"{name:<36} {test:>15}", *row, flush=True)


if __name__ == "__main__":
    main()

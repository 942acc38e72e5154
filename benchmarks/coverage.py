"""How often the intervals that are offered hold the truth, at nominal 95 %, by simulation.

Run: python -m benchmarks.coverage [--datasets 2000] [--resamples 500] [--n 5 10 30 50 170] [--only mae]
Each cell is the share of simulated data sets whose interval holds the population's value, of those
for which an interval is offered; behind it, how many these are where it is not all of them.
``not offered``: less than one in a hundred gets an interval. ``<``: below 93 %, and the command fails
(of fewer than 500 intervals, below it by more than two standard errors); ``>``: above 97 %.
The Monte Carlo error of 95 % of 2,000 is half a point. With few resamples the quantiles of the
percentile and BCa intervals are rougher, which costs them about half a point, too.

What is above: the jackknife of ranks is wide for ten samples, since one left out moves many ranks; the
exact interval of a share never falls below its level and, shares being discrete, stays above it.

Data: *good* ratings are uniform and scores add normal errors; *tied* are five levels on either side;
*skewed* are mostly high, in six levels against scores with a long tail. Scores of the second method,
for differences, err independently of the first one's. Of shares .5, .8 and .95 pass. Means are those of
the scores; of their errors; of such errors where four samples of five have none; and of human ratings
where two of three are one level inside the scale, as those of one part of the scores.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from scipy import special

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import MEASURES, Measure, value_of
from tcva_adapters.stats.means import mean_interval, share_interval
from tcva_adapters.stats.replicates import IntervalMethod, Replicates

LEVEL: Final = 0.95
LEAST: Final = 0.93
SOME: Final = 500
SIZES: Final = (5, 10, 30, 50, 170)
POPULATION: Final = 400_000
Sides = tuple[FloatArray, FloatArray, FloatArray]
"""Scores of two methods, and human ratings."""

_PASSING: Final = {"good": 0.5, "tied": 0.8, "skewed": 0.95}


def good(rng: np.random.Generator, n: int) -> Sides:
    """Uniform ratings, normal errors."""
    human = rng.random(n)
    return human + rng.normal(0, 0.25, n), human + rng.normal(0, 0.35, n), human


def tied(rng: np.random.Generator, n: int) -> Sides:
    """Five levels everywhere."""
    true = rng.normal(size=n)

    def levels(values: FloatArray) -> FloatArray:
        return np.clip(np.round(2 + 1.2 * values), 0, 4) / 4

    first = 0.75 * true + 0.66 * rng.normal(size=n)
    second = 0.65 * true + 0.76 * rng.normal(size=n)
    return levels(first), levels(second), levels(true)


def skewed(rng: np.random.Generator, n: int) -> Sides:
    """Most are high; ratings in six levels."""
    true = rng.normal(size=n)

    def high(values: FloatArray) -> FloatArray:
        below: FloatArray = special.ndtr(values)
        return 1 - below**3

    first = high(0.7 * true + 0.71 * rng.normal(size=n))
    second = high(0.6 * true + 0.8 * rng.normal(size=n))
    return first, second, np.round(high(true) * 5) / 5


DATA: Final[dict[str, Callable[[np.random.Generator, int], Sides]]] = {
    "good": good,
    "tied": tied,
    "skewed": skewed,
}


class Tally:
    """Intervals that were offered, and those that hold the truth."""

    def __init__(self) -> None:
        self.tried = self.offered = self.held = 0

    def add(self, low: float, high: float, truth: float) -> None:
        """One more data set."""
        self.tried += 1
        if not np.isnan(low):
            self.offered += 1
            # Equal on paper is held: a share's interval may end at the share itself.
            self.held += low - 1e-12 <= truth <= high + 1e-12

    def __str__(self) -> str:
        if self.offered < 0.01 * self.tried:
            return "not offered"
        covered = self.held / self.offered
        error = (LEAST * (1 - LEAST) / self.offered) ** 0.5 if self.offered < SOME else 0.0
        mark = "<" if covered < LEAST - 2 * error else ">" if covered > 0.97 else " "
        some = f" ({self.offered / self.tried:.0%})" if self.offered < self.tried else ""
        return f"{covered:.3f}{mark}{some}".replace("0.", ".")


def agreement_cells(
    measure: Measure, data: str, n: int, datasets: int, resamples: int
) -> dict[str, Tally]:
    """Every interval of one measure, and of the difference of two methods."""
    draw = DATA[data]
    first, second, human = draw(np.random.default_rng(1), POPULATION)
    truths = [value_of(measure, scores, human) for scores in (first, second)]
    methods: tuple[IntervalMethod, ...] = ("student", "percentile", "bca")
    cells = {name: Tally() for name in (*methods, "difference")}
    rng = np.random.default_rng([n, MEASURES.index(measure)])
    for number in range(datasets):
        *sides, ratings = draw(rng, n)
        run = Replicates(measure, sides, ratings, n_boot=resamples, seed=number, codes=None)
        for method in methods:
            found = run.ends(0, LEVEL, method)
            cells[method].add(found.low, found.high, truths[0])
        apart = run.difference(LEVEL)
        cells["difference"].add(apart.low, apart.high, truths[0] - truths[1])
    return {f"{measure}, {name}": cell for name, cell in cells.items()}


def means_of(
    rng: np.random.Generator, data: str, n: int
) -> dict[str, tuple[FloatArray, tuple[float, float]]]:
    """Values of which a mean is taken, and the ends that there can be."""
    scores, _, human = DATA[data](rng, n)
    errors, one_of_five = scores - human, rng.random(n) < 0.2
    level = np.where(rng.random(n) < 2 / 3, 0.75, np.clip(np.round(4 * human), 0, 4) / 4)
    return {
        "mean": (scores, (0.0, 1.0)),
        "mean error": (errors, (-1.0, 1.0)),
        "mean of few errors": (np.where(one_of_five, errors, 0.0), (-1.0, 1.0)),
        "mean of one level": (level, (0.0, 1.0)),
    }


def mean_cells(data: str, n: int, datasets: int) -> dict[str, Tally]:
    """The intervals of means and of a pass rate."""
    passing = _PASSING[data]
    population = means_of(np.random.default_rng(1), data, POPULATION)
    truths = {name: float(values.mean()) for name, (values, _) in population.items()}
    cells = {name: Tally() for name in (*truths, "share")}
    rng = np.random.default_rng(n)
    for _ in range(datasets):
        for name, (values, ends) in means_of(rng, data, n).items():
            found = mean_interval(values, level=LEVEL, ends=ends)
            cells[name].add(found.low, found.high, truths[name])
        passed = int(rng.binomial(n, passing))
        cells["share"].add(*share_interval(passed, n, level=LEVEL), passing)
    return cells


def table(
    sizes: Sequence[int], datasets: int, resamples: int, only: Sequence[str]
) -> dict[tuple[str, str], list[str]]:
    """Cells by interval and data, one per size."""
    rows: dict[tuple[str, str], list[str]] = {}
    for data in DATA:
        for n in sizes:
            cells = mean_cells(data, n, datasets) if "mean" in only else {}
            for measure in MEASURES:
                if measure in only:
                    cells |= agreement_cells(measure, data, n, datasets, resamples)
            for name, cell in cells.items():
                rows.setdefault((name, data), []).append(str(cell))
    return rows


def main() -> int:
    """Print the table; returns how many cells are below the limit."""
    names = ("mean", *MEASURES)
    parser = argparse.ArgumentParser(description="Coverage of every interval that is offered.")
    parser.add_argument("--datasets", type=int, default=2000, help="simulated data sets per cell")
    parser.add_argument("--resamples", type=int, default=500, help="of each bootstrap")
    parser.add_argument("--n", type=int, nargs="+", default=SIZES, help="sample sizes")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="what is looked at")
    given = parser.parse_args()
    started = time.process_time()
    rows = table(given.n, given.datasets, given.resamples, given.only)
    print(f"{given.datasets} data sets each, {given.resamples} resamples, nominal {LEVEL:.0%}")
    print(f"{'interval':24}{'data':8}" + "".join(f"{f'n={n}':>14}" for n in given.n))
    for name, data in sorted(rows, key=lambda row: row[0]):
        print(f"{name:24}{data:8}" + "".join(f"{cell:>14}" for cell in rows[name, data]))
    below = sum("<" in cell for cells in rows.values() for cell in cells)
    print(f"{below} below {LEAST:g}; {time.process_time() - started:.0f} s of CPU time")
    return below


if __name__ == "__main__":
    sys.exit(1 if main() else 0)

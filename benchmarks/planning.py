"""Planned powers and widths beside simulated ones, and the level of the equivalence tests.

``python -m benchmarks.planning [--runs 1000]`` draws data sets for each row, runs the tests and intervals
that the library offers, and prints the largest gap.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tcva_adapters.stats.assumed import assumed_correlation, assumed_mean
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import Measure, agreement
from tcva_adapters.stats.equivalence import equivalence
from tcva_adapters.stats.planning import PLANNED, PlannedName, Spread, pilot_spread, power, width
from tcva_adapters.stats.sign_flip import sign_flip

SIZES: Final = (50, 100, 200, 400)
ALPHA: Final = 0.05
_RESAMPLES: Final = 1000
_PILOT: Final = 1000
_PILOTS: Final = 40
"""So many know the spread to about one percent, which moves a power by a point."""


@dataclass(frozen=True)
class Case:
    """Two methods and ratings: normal, perhaps in levels, correlated like this by Pearson.

    Attributes:
        first: The first method's correlation with the ratings.
        second: The other one's.
        between: Theirs with each other.
        levels: Of the ratings, equally wide over the middle; 0 for a fine scale.
    """

    first: float
    second: float
    between: float
    levels: int = 0

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Both methods' scores and the ratings, of one data set."""
        table = np.array(
            [
                [1, self.first, self.second],
                [self.first, 1, self.between],
                [self.second, self.between, 1],
            ]
        )
        human, one, other = np.linalg.cholesky(table) @ rng.standard_normal((3, n))
        if self.levels:
            half = (self.levels - 1) / 2
            human = np.clip(np.round(human * half / 1.5), -half, half)
        return one, other, human


CASES: Final = (Case(0.6, 0.45, 0.7), Case(0.7, 0.6, 0.85, levels=5), Case(0.35, 0.15, 0.5))


def found(objective: PlannedName, case: Case, n: int, rng: np.random.Generator) -> bool:
    """Whether the test of one data set finds the difference, in its direction."""
    one, other, human = case.draw(n, rng)
    if objective == "mean":
        apart = one - other + _SHIFT
        return apart.mean() > 0 and sign_flip(apart, n_flips=_RESAMPLES).p_two_sided < ALPHA
    # The other two tests need no resamples.
    n_boot = _RESAMPLES if objective in {"spearman", "kendall"} else 1
    said = paired_difference(objective, one, other, human, n_boot=n_boot)
    delta = -said.delta if objective == "mae" else said.delta
    return delta > 0 and said.p_two_sided < ALPHA


_SHIFT: Final = 0.15
"""By which the one mean lies above the other."""


def planned(objective: PlannedName, case: Case, rng: np.random.Generator) -> tuple[Spread, float]:
    """The spread from several large pilots, and the true difference from many large data sets."""
    spreads = []
    for _ in range(_PILOTS):
        one, other, human = case.draw(_PILOT, rng)
        ratings = None if objective == "mean" else human
        spreads.append(pilot_spread(objective, [one, other], ratings).per_label)
    spread = Spread(objective, float(np.mean(spreads)))
    if objective == "mean":
        return spread, _SHIFT
    many = []
    for _ in range(20):
        one, other, human = case.draw(20_000, rng)
        values = [agreement(objective, side, human).value for side in (one, other)]
        many.append(values[0] - values[1])
    return spread, abs(float(np.mean(many)))


def powers(
    runs: int, names: Sequence[PlannedName] = PLANNED
) -> Iterator[tuple[str, int, float, float]]:
    """Name of the row, labels, planned and simulated power."""
    for objective in names:
        for number, case in enumerate(CASES):
            rng = np.random.default_rng([number, 1])
            spread, difference = planned(objective, case, rng)
            for n in SIZES:
                share = np.mean([found(objective, case, n, rng) for _ in range(runs)])
                plan = power(spread, difference, n, alpha=ALPHA)
                yield f"{objective} {number + 1}", n, plan, float(share)


def assumptions() -> Iterator[tuple[str, float, float]]:
    """Name, the spread per label that is assumed, and that of large pilots."""
    for number, case in enumerate(CASES):
        if case.levels:
            continue
        pilots = []
        for seed in range(10):
            one, other, human = case.draw(_PILOT, np.random.default_rng([seed, 2]))
            pilots.append(pilot_spread("pearson", [one, other], human).per_label)
        assumed = assumed_correlation("pearson", case.first, case.second, between=case.between)
        yield f"pearson {number + 1}", assumed.per_label, float(np.mean(pilots))
    one, other, _ = CASES[0].draw(100_000, np.random.default_rng(3))
    yield "mean 1", assumed_mean(1.0, between=0.7).per_label, float((one - other).std())


def widths(runs: int) -> Iterator[tuple[str, int, float, float]]:
    """Name, labels, planned width, and the mean width of simulated intervals."""
    measures: tuple[Measure, ...] = ("spearman", "kendall", "pearson", "mae")
    for measure in measures:
        rng = np.random.default_rng(4)
        pilots = [CASES[0].draw(_PILOT, rng) for _ in range(_PILOTS)]
        spreads = [pilot_spread(measure, [one], human).per_label for one, _, human in pilots]
        spread = Spread(measure, float(np.mean(spreads)))
        for n in SIZES:
            drawn = []
            for _ in range(runs):
                one, _, human = CASES[0].draw(n, rng)
                ends = interval(measure, one, human)
                drawn.append(ends.high - ends.low)
            yield measure, n, width(spread, n), float(np.mean(drawn))


def levels(runs: int) -> Iterator[tuple[str, int, float, float]]:
    """Name, labels, false claims of "as good" at the margin, and true ones between equal methods."""
    apart, equal = Case(0.45, 0.6, 0.7), Case(0.6, 0.6, 0.9)
    measures: tuple[Measure, ...] = ("spearman", "kendall", "pearson", "mae")
    for measure in measures:
        rng = np.random.default_rng(5)
        margin = planned(measure, apart, rng)[1]
        for n in (10, 30, *SIZES):
            said = [
                [
                    equivalence(measure, *case.draw(n, rng), margin, n_boot=_RESAMPLES)
                    for _ in range(runs)
                ]
                for case in (apart, equal)
            ]
            wrong = np.mean([each.p_not_worse < ALPHA for each in said[0]])
            right = np.mean([each.p_equivalent < ALPHA for each in said[1]])
            yield measure, n, float(wrong), float(right)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="data sets for each row")
    runs = parser.parse_args().runs
    error = math.sqrt(0.25 / runs)
    print(f"power of tests at {ALPHA}, {runs} data sets (standard error up to {error:.3f})")
    print(f"{'case':14}{'labels':>7}{'planned':>9}{'simulated':>11}")
    gaps = []
    for name, n, plan, share in powers(runs):
        gaps.append(abs(plan - share))
        print(f"{name:14}{n:7}{plan:9.3f}{share:11.3f}", flush=True)
    print(f"largest gap {max(gaps):.3f}, mean gap {np.mean(gaps):.3f}")
    print("\nspread per label: assumed, and of pilots")
    for name, assumed, pilots in assumptions():
        print(f"{name:14}{assumed:9.3f}{pilots:11.3f}", flush=True)
    print("\nwidth of 95 % intervals: planned, and simulated")
    for name, n, plan, drawn in widths(min(runs, 300)):
        print(f"{name:14}{n:7}{plan:9.3f}{drawn:11.3f}", flush=True)
    print("\n'not worse' claimed wrongly at the margin; 'as good' claimed of equal methods")
    for name, n, wrong, right in levels(runs):
        print(f"{name:14}{n:7}{wrong:9.3f}{right:11.3f}", flush=True)


if __name__ == "__main__":
    main()

"""Do intervals, tests and gates hold what they say where samples come in groups, and over many runs?

Run: python -m benchmarks.groups [--datasets 2000] [--resamples 500] [--only intervals tests gates runs]

*intervals*: the share of data sets whose interval at 95 % holds the population's value (``<``: below
93 %), of agreement and of means (of scores, errors and their sizes; ``none``: not offered). *tests*:
how often two equal methods differ at p <= 0.05 (``>``: above 6.5 %). Samples of a group share a part
of their quality and of both methods' errors; groups have 2 to 9 samples (*even*) or 1 to 39
(*uneven*). *gates*: how often the lower bound at 95 or 99 % lies above the true mean (``>``: above 6.5
or 1.5 %), for single samples and for groups. *runs*: the share of series of 100 runs with a false
alarm anywhere, of the gate of ``--sequential`` (``>``: above 6.5 %) and of a betting test that takes
each run for new evidence; the same samples are judged in every run, and nothing has changed but the
judge's noise. One series is made for twenty of the data sets. A mark makes the command fail.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from scipy import special

from benchmarks.coverage import Tally
from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.compare.watch import Watch
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import Measure, value_of
from tcva_adapters.stats.least_mean import least_mean
from tcva_adapters.stats.means import mean_interval

GROUPS: Final = (10, 15, 20, 30, 50)
SIZES: Final = {"even": (2, 10), "uneven": (1, 40)}
MEASURES: Final[tuple[Measure, ...]] = ("spearman", "pearson", "mae")
POPULATION: Final = 20_000
RUNS: Final = 100
Drawn = tuple[IntArray, FloatArray, FloatArray, FloatArray]
"""Groups, scores of two methods, human ratings."""


def drawn(rng: np.random.Generator, groups: int, data: str, sizes: str) -> Drawn:
    """Samples in groups; both methods err equally much."""
    codes = np.repeat(np.arange(groups), rng.integers(*SIZES[sizes], groups))
    n = len(codes)

    def shared(inside: float, own: float) -> FloatArray:
        found: FloatArray = rng.normal(0, inside, groups)[codes] + rng.normal(0, own, n)
        return found

    quality = shared(0.7, 1.0)
    values = [quality + shared(0.6, 0.6), quality + shared(0.6, 0.6), quality]
    if data == "skewed":
        values = [special.ndtr(each) ** 0.3 for each in values]
    if data == "tied":
        values = [np.clip(np.round(each), -2, 2) for each in values]
    return codes, values[0], values[1], values[2]


def agreement_rows(what: str, datasets: int, resamples: int) -> Iterator[str]:
    """Coverage of intervals, or false positives of tests, by data, sizes and measure."""
    for data in ("good", "tied", "skewed"):
        for sizes in SIZES:
            _, first, _, human = drawn(np.random.default_rng(1), POPULATION, data, sizes)
            for measure in MEASURES:
                truth = value_of(measure, first, human)
                cells = [
                    _cell(what, measure, truth, (groups, data, sizes), datasets, resamples)
                    for groups in GROUPS
                ]
                yield f"{what:10} {data:8} {sizes:8} {measure:9} {'  '.join(cells)}"


def _cell(
    what: str,
    measure: Measure,
    truth: float,
    kind: tuple[int, str, str],
    datasets: int,
    resamples: int,
) -> str:
    rng = np.random.default_rng([kind[0], MEASURES.index(measure)])
    tried = held = found = 0
    for number in range(datasets):
        codes, first, second, human = drawn(rng, *kind)
        groups = codes.tolist()
        if what == "tests":
            p = paired_difference(
                measure, first, second, human, n_boot=resamples, seed=number, groups=groups
            ).p_two_sided
            tried += not np.isnan(p)
            found += p <= 0.05
        else:
            ends = interval(measure, first, human, groups=groups)
            tried += not ends.reason
            held += ends.low <= truth <= ends.high
    if not tried:
        return "  none "
    share = (found if what == "tests" else held) / tried
    mark = (">" if share > 0.065 else " ") if what == "tests" else ("<" if share < 0.93 else " ")
    return f"{share:.3f}{mark} "


def mean_rows(datasets: int) -> Iterator[str]:
    """Coverage of means of scores, of errors and of their sizes."""
    for data in ("good", "tied", "skewed"):
        for sizes in SIZES:
            truths = {
                name: float(values.mean())
                for name, (values, _) in means_of(np.random.default_rng(1), data, sizes)[1].items()
            }
            tallies: dict[str, list[Tally]] = {name: [] for name in truths}
            for groups in GROUPS:
                rng = np.random.default_rng(groups)
                for each in tallies.values():
                    each.append(Tally())
                for _ in range(datasets):
                    codes, drawn_values = means_of(rng, data, sizes, groups)
                    for name, (values, ends) in drawn_values.items():
                        found = mean_interval(values, codes=codes, ends=ends)
                        tallies[name][-1].add(found.low, found.high, truths[name])
            for name, cells in tallies.items():
                yield f"intervals  {data:8} {sizes:8} {name:9} {'  '.join(map(str, cells))}"


def means_of(
    rng: np.random.Generator, data: str, sizes: str, groups: int = POPULATION
) -> tuple[IntArray, dict[str, tuple[FloatArray, tuple[float, float]]]]:
    """Groups, and values of which a mean is taken with the ends that there can be."""
    codes, scores, _, human = drawn(rng, groups, data, sizes)
    errors = scores - human
    return codes, {
        "score": (scores, (0.0, np.inf)),
        "error": (errors, (-np.inf, np.inf)),
        "size": (np.abs(errors), (0.0, np.inf)),
    }


def scores_of(rng: np.random.Generator, kind: str, n: int) -> Iterator[FloatArray]:
    """Their true mean, and then scores of a kind, again and again."""
    levels, chances = np.array([0, 0.3, 0.7, 0.9, 1.0]), np.array([0.05, 0.05, 0.1, 0.2, 0.6])
    rare = 2.7 / n
    means = {"failures are rare": 1 - rare, "levels": float(levels @ chances), "high": 0.9}
    yield np.array([means[kind]])
    while True:
        if kind == "levels":
            made = rng.choice(levels, n, p=chances)
        elif kind == "high":
            made = np.round(rng.beta(9, 1, n), 2)
        else:
            made = (rng.random(n) > rare).astype(float)
        yield made


def gate_rows(datasets: int) -> Iterator[str]:
    """How often bounds lie above the truth: of single samples, and of groups alike in their failures."""
    for kind in ("failures are rare", "levels", "high"):
        for n in (5, 10, 30, 50, 170):
            rng = np.random.default_rng(n)
            again = scores_of(rng, kind, n)
            truth = float(next(again)[0])
            above = np.zeros(2)
            for _, scores in zip(range(datasets), again, strict=False):
                above += [least_mean(scores, level) > truth + 1e-9 for level in (0.95, 0.99)]
            yield f"gates      {kind:18} n={n:<4} {_levels(above / datasets)}"
    for groups in (5, 10, 20, 50):
        for sizes in SIZES:
            rng = np.random.default_rng(groups)
            above = np.zeros(2)
            for _ in range(datasets):
                codes = np.repeat(np.arange(groups), rng.integers(*SIZES[sizes], groups))
                chance = rng.beta(4.5, 0.5, groups)[codes]
                passed = (rng.random(len(codes)) < chance).astype(float)
                bounds = [least_mean(passed, c, groups=codes.tolist()) for c in (0.95, 0.99)]
                above += [bound > 0.9 + 1e-9 for bound in bounds]
            yield f"gates      {groups} groups, {sizes:6}            {_levels(above / datasets)}"


def _levels(above: FloatArray) -> str:
    return "  ".join(
        f"{share:.4f}{'>' if share > limit else ' '}"
        for share, limit in zip(above, (0.065, 0.015), strict=True)
    )


def series(rng: np.random.Generator, n: int, noise: float) -> Callable[[], FloatArray]:
    """Scores of the same samples, judged anew by every call."""
    quality = rng.beta(4, 1, n)
    return lambda: np.clip(np.round(quality + rng.normal(0, noise, n), 1), 0, 1)


def run_rows(datasets: int) -> Iterator[str]:
    """The share of series with a false alarm in 100 runs."""
    for n in (20, 100):
        for noise in (0.05, 0.2):
            rng = np.random.default_rng([n, int(100 * noise)])
            alarms = np.zeros(2)
            for _ in range(datasets):
                alarms += _one_series(series(rng, n, noise), RUNS)
            watched, betting = alarms / datasets
            yield (
                f"runs       {n:>4} samples, noise {noise:<5} --sequential {watched:.3f}"
                f"{'>' if watched > 0.065 else ' '} betting {betting:.3f}"
            )


def _one_series(judged: Callable[[], FloatArray], runs: int) -> tuple[bool, bool]:
    before = judged()
    baseline = graded(before)
    watch, alarm, wealth, most = Watch.of(baseline), False, 0.0, 0.0
    for _ in range(runs):
        now = judged()
        look = watch.after(Changes(baseline, graded(now)))
        watch, alarm = look.watch, alarm or look.has_fallen
        for difference in now - before:
            wealth += float(np.log1p(-0.25 * difference))
            most = max(most, wealth)
    return alarm, most >= np.log(1 / 0.05)


def graded(scores: FloatArray) -> Graded:
    """Scores as a run."""
    return Graded("m", tuple(Case(f"s{i}", s) for i, s in enumerate(scores.tolist())))


def main() -> int:
    """Print the tables; returns how many cells are outside their limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=500)
    parser.add_argument("--only", nargs="*", default=["intervals", "tests", "gates", "runs"])
    asked = parser.parse_args()
    begun = time.time()
    print(f"groups: {', '.join(map(str, GROUPS))}")
    rows: list[Iterator[str]] = []
    for what in asked.only:
        if what in {"intervals", "tests"}:
            rows.append(agreement_rows(what, asked.datasets, asked.resamples))
        if what == "intervals":
            rows.append(mean_rows(asked.datasets))
        if what == "gates":
            rows.append(gate_rows(asked.datasets))
        if what == "runs":
            rows.append(run_rows(max(1, asked.datasets // 20)))
    outside = 0
    for each in rows:
        for line in each:
            print(line, flush=True)
            outside += line.count("<" if line.startswith("intervals") else ">")
    print(f"{outside} outside; {asked.datasets} data sets each, {time.time() - begun:.0f} s")
    return outside


if __name__ == "__main__":
    sys.exit(1 if main() else 0)

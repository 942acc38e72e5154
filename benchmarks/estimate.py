"""What the estimates of `tcva estimate` promise, on data whose truth is known, and what they are worth.

Run: python -m benchmarks.estimate [PART...] [--runs RUNS]
PART is one or more of (all by default):
  means        coverage and width of a mean and a pass rate: kinds of ratings, judges, 10 to 300 ratings
  differences  coverage of the difference of two systems, of which one judge may be worse
  groups       coverage where whole conversations are drawn, alike or not
  choices      bias, coverage and width where samples are chosen by variance, in one or two rounds
  paper        width beside ratings alone, with the verdicts of the paper and 60 ratings
RUNS (2000) data sets each. The last line says whether every coverage is at least .93, less three
standard errors of RUNS, and no useless judge makes an interval more than 1.02 times as wide, and no
bias is above a fifth of a standard error.
The paper's files are in TCVA_PAPER_DATA, or in ../shared/data/tcva_paper beside the repository.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters import sweep
from tcva_adapters.compare.paper.data import read_folder
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.prediction_powered import PoweredMean
from tcva_adapters.stats.selection import chances, draw, round_weights, shares, spreads

ROOT: Final = Path(__file__).parents[1]
SAMPLES: Final = 3000
LEAST, WIDEST = 0.93, 1.02
SIZES: Final = (10, 30, 50, 60, 170, 300)
Random = np.random.Generator
Ratings = Callable[[Random, int], FloatArray]
Judge = Callable[[Random, FloatArray], npt.NDArray[np.floating[Any]]]


def _of_steps(values: list[float], parts: list[float]) -> tuple[Ratings, float]:
    return lambda rng, n: rng.choice(values, n, p=parts), float(np.dot(values, parts))


RATINGS: Final[dict[str, tuple[Ratings, float]]] = {
    "even": (lambda rng, n: rng.random(n), 0.5),
    "tied": _of_steps([1, 0.75, 0.5, 0.25, 0], [0.6, 0.2, 0.1, 0.05, 0.05]),
    "skewed": _of_steps([1, 0.9, 0.75, 0.5, 0], [0.8, 0.06, 0.05, 0.05, 0.04]),
    "high": (lambda rng, n: rng.beta(9, 1, n), 0.9),
    "pass 50 %": _of_steps([1, 0], [0.5, 0.5]),
    "pass 80 %": _of_steps([1, 0], [0.8, 0.2]),
    "pass 90 %": _of_steps([1, 0], [0.9, 0.1]),
    "pass 95 %": _of_steps([1, 0], [0.95, 0.05]),
}
USELESS: Final = ("useless", "coin")
JUDGES: Final[dict[str, Judge]] = {
    "useless": lambda rng, y: rng.random(len(y)),
    "coin": lambda rng, y: (rng.random(len(y)) < 0.8) * 1.0,
    "good": lambda rng, y: np.clip(0.15 + 0.7 * y + 0.1 * rng.normal(size=len(y)), 0, 1),
    "biased": lambda rng, y: np.clip(y + 0.3 + 0.2 * rng.normal(size=len(y)), 0, 1),
    "perfect": lambda _, y: y,
    "upside down": lambda rng, y: 1 - np.clip(y + 0.2 * rng.normal(size=len(y)), 0, 1),
    "rarely wrong": lambda rng, y: np.where(rng.random(len(y)) < 0.05, 1 - y, y),
    "lenient": lambda rng, y: np.where((y > 0.5) | (rng.random(len(y)) < 0.3), 1.0, 0.0),
}


MOST_BIAS: Final = 0.2
"""In standard errors of an estimate."""


class Verdict:
    """What is promised, and whether it holds."""

    def __init__(self, runs: int) -> None:
        self.least = LEAST - 3 * (LEAST * (1 - LEAST) / runs) ** 0.5
        self.broken: list[str] = []
        self.lowest = 1.0

    def covered(self, name: str, share: float) -> str:
        """A coverage, as it is printed; it is remembered where it is too low."""
        self.lowest = min(self.lowest, share)
        if share < self.least:
            self.broken.append(f"{name}: coverage {share:.3f}")
        return f"{share:.3f}"

    def biased(self, name: str, bias: float) -> None:
        """Remember a bias that is too large."""
        if abs(bias) > MOST_BIAS:
            self.broken.append(f"{name}: bias {bias:+.2f}")

    def wide(self, name: str, ratio: float, *, is_useless: bool) -> str:
        """A width, as it is printed; it is remembered where a useless judge costs too much."""
        if is_useless and ratio > WIDEST:
            self.broken.append(f"{name}: {ratio:.3f} times as wide")
        return f"{ratio:.2f}"


def some_rated(ratings: FloatArray, n: int) -> FloatArray:
    found = np.full(len(ratings), np.nan)
    found[:n] = ratings[:n]
    return found


def means(runs: int, verdict: Verdict) -> None:
    print("coverage of 95 % intervals / width beside ratings alone, by number of ratings")
    print(f"{'ratings':10} {'judge':13}", *(f"{n:>11}" for n in SIZES))
    for kind, (make, truth) in RATINGS.items():
        for judge, score in JUDGES.items():
            cells = []
            for n in SIZES:
                rng = np.random.default_rng([n, len(kind), len(judge)])
                hits, width, alone = 0, 0.0, 0.0
                for _ in range(runs):
                    y = make(rng, SAMPLES)
                    found = PoweredMean(some_rated(y, n), score(rng, y))
                    one = found.estimate()
                    hits += _holds(one, truth)
                    width, alone = width + one.width, alone + found.alone().width
                name = f"{kind}, {judge}, {n} ratings"
                ratio = verdict.wide(name, width / alone, is_useless=judge in USELESS)
                cells.append(f"{verdict.covered(name, hits / runs)} {ratio:>5}")
            print(f"{kind:10} {judge:13}", *(f"{cell:>11}" for cell in cells), flush=True)


def differences(runs: int, verdict: Verdict) -> None:
    print("\ncoverage of the difference of two systems, by number of ratings of each")
    print(f"{'first':20} {'second':20}", *(f"{n:>6}" for n in SIZES))
    cases = [
        (("tied", "good"), ("skewed", "good")),
        (("pass 80 %", "biased"), ("pass 90 %", "lenient")),
        (("pass 95 %", "rarely wrong"), ("pass 95 %", "rarely wrong")),
        (("even", "useless"), ("even", "perfect")),
        (("skewed", "coin"), ("high", "biased")),
    ]
    for one, two in cases:
        cells = []
        for n in SIZES:
            rng = np.random.default_rng([n, 7])
            hits = 0
            truth = RATINGS[one[0]][1] - RATINGS[two[0]][1]
            for _ in range(runs):
                sides = []
                for kind, judge in (one, two):
                    y = RATINGS[kind][0](rng, SAMPLES)
                    sides.append(PoweredMean(some_rated(y, n), JUDGES[judge](rng, y)))
                hits += _holds(sides[0].less(sides[1]), truth)
            cells.append(verdict.covered(f"{one} less {two}, {n} ratings", hits / runs))
        print(f"{', '.join(one):20} {', '.join(two):20}", *(f"{c:>6}" for c in cells), flush=True)


def groups(runs: int, verdict: Verdict) -> None:
    print(
        "\ncoverage where groups of 2 to 8 are rated, by number of groups; and of a paired difference"
    )
    cases = [(kind, alike) for kind in ("even", "pass 80 %", "skewed") for alike in (0.0, 0.5, 1.0)]
    counts = (10, 20, 60)
    print(f"{'ratings':10} {'alike':>5}", *(f"{n:>13}" for n in counts))
    for kind, alike in cases:
        make, truth = RATINGS[kind]
        cells = []
        for n in counts:
            rng = np.random.default_rng([n, 11])
            hits = pairs = 0
            for _ in range(runs):
                sizes = rng.integers(2, 9, 300)
                codes = np.repeat(np.arange(300), sizes)
                sides = []
                shared = make(rng, 300)[codes]
                for _ in range(2):
                    y = np.where(rng.random(len(codes)) < alike, shared, make(rng, len(codes)))
                    f = JUDGES["biased"](rng, y)
                    rated = np.where(codes < n, y, np.nan)
                    sides.append(PoweredMean(rated, f, groups=codes.tolist()))
                hits += _holds(sides[0].estimate(), truth)
                pairs += _holds(sides[0].less(sides[1]), 0.0)
            name = f"{kind}, alike {alike:g}, {n} groups"
            cells.append(
                f"{verdict.covered(name, hits / runs)} {verdict.covered(f'pair: {name}', pairs / runs)}"
            )
        print(f"{kind:10} {alike:5g}", *(f"{cell:>13}" for cell in cells), flush=True)


def choices(runs: int, verdict: Verdict) -> None:
    print(
        "\nchosen by variance: bias in standard errors of an estimate, coverage, width beside a random choice"
    )
    for kind in ("tied", "skewed", "pass 80 %", "pass 95 %"):
        make, truth = RATINGS[kind]
        for n, rounds in ((60, 1), (120, 2)):
            rng = np.random.default_rng([n, 13])
            values, hits, width, plain = [], 0, 0.0, 0.0
            for run in range(runs):
                y = make(rng, SAMPLES)
                f = JUDGES["lenient"](rng, y) * 0.5 + JUDGES["good"](rng, y) * 0.5
                rated, weights = chosen(y, f, n, rounds, run)
                found = PoweredMean(rated, f, weights=weights)
                one = found.estimate()
                values.append(one.value)
                hits, width = hits + _holds(one, truth), width + one.width
                plain += PoweredMean(some_rated(y, n), f).estimate().width
            bias = float((np.mean(values) - truth) / np.std(values))
            verdict.biased(f"chosen, {kind}, {n} ratings", bias)
            name = f"chosen, {kind}, {n} in {rounds}"
            print(
                f"{kind:10} {n} ratings in {rounds}: bias {bias:+.2f} (chance {1 / runs**0.5:.2f}), coverage "
                f"{verdict.covered(name, hits / runs)}, width {width / plain:.2f}",
                flush=True,
            )


def chosen(
    y: FloatArray, f: FloatArray, n: int, rounds: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Ratings and weights of samples that are chosen in rounds, each by the ratings before it."""
    rated, inclusion, number = (np.full(len(y), np.nan) for _ in range(3))
    weights: FloatArray = np.ones(len(y))
    for turn in range(rounds):
        expected = spreads(f, rated, weights=weights)
        open_ = np.flatnonzero(np.isnan(rated))
        probability = chances(shares(expected[open_]), n // rounds)
        taken = draw(probability, f[open_], seed=seed)
        rated[open_[taken]] = y[open_[taken]]
        inclusion[open_[taken]], number[open_[taken]] = probability[taken], turn
        there = ~np.isnan(rated)
        weights[there] = round_weights(inclusion[there], number[there])
    return rated, weights


def paper(runs: int, verdict: Verdict) -> None:
    folder = Path(os.environ.get("TCVA_PAPER_DATA", ROOT.parent / "shared/data/tcva_paper"))
    if not folder.is_dir():
        print(f"\nno paper data in {folder}; set TCVA_PAPER_DATA")
        return
    print("\nthe paper's verdicts, 60 random ratings: width beside ratings alone, coverage of the")
    print("mean of all ratings; with so many samples as there are, and 3000 drawn from them")
    for set_name, each in read_folder(folder).items():
        assert each.counts is not None
        for temperature in (0.1, 0.5, 0.9):
            scores = sweep(each.counts[:, 0], [temperature])[:, 0]
            known = np.isfinite(scores) & np.isfinite(each.rating)
            f, y = scores[known], each.rating[known]
            for size in (len(y), SAMPLES):
                for what, human in (("mean", y), ("pass rate", np.array(y >= 0.5, dtype=float))):
                    ratio, worth, share = beside_alone(human, f, size, runs)
                    name = f"{set_name:13} T={temperature:g} {size:5} samples, {what:9}"
                    print(
                        f"{name}: width {ratio:.2f}, 60 ratings worth {worth:.0f}, covered "
                        f"{verdict.covered(name, share)}, r {np.corrcoef(human, f)[0, 1]:.2f}",
                        flush=True,
                    )


def beside_alone(
    human: FloatArray, f: FloatArray, size: int, runs: int
) -> tuple[float, float, float]:
    """Width beside 60 ratings alone, how many of these would do, and coverage."""
    rng = np.random.default_rng(17)
    hits, width, alone, worth = 0, 0.0, 0.0, []
    for _ in range(runs):
        is_whole = size == len(human)
        places = rng.permutation(size) if is_whole else rng.integers(0, len(human), size)
        found = PoweredMean(some_rated(human[places], 60), f[places])
        one = found.estimate()
        hits += _holds(one, float(human.mean()))
        width, alone = width + one.width, alone + found.alone().width
        worth.append(found.worth)
    return width / alone, float(np.median(worth)), hits / runs


PARTS: Final = {each.__name__: each for each in (means, differences, groups, choices, paper)}


def _holds(found: Interval, truth: float) -> bool:
    return found.low <= truth <= found.high


def main(arguments: list[str]) -> Iterator[str]:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--runs", type=int, default=2000)
    given = parser.parse_args(arguments)
    verdict = Verdict(given.runs)
    for name in given.parts:
        PARTS[name](given.runs, verdict)
    yield f"\nlowest coverage {verdict.lowest:.3f}"
    yield from verdict.broken


if __name__ == "__main__":
    said = list(main(sys.argv[1:]))
    print("\n".join(said), "all promises hold" if len(said) == 1 else "", sep="\n")
    sys.exit(len(said) > 1)

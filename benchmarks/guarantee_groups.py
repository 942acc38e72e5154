"""What a guarantee holds for, and what passes, where answers are in groups.

Run: python -m benchmarks.guarantee_groups [--sets 2000], with --levels, and with --labelled.

Groups are drawn from a population with true shares that are counted: dialogues of 1 to 20 answers, of
which the long ones pass more, the short ones, or all alike. Of the data sets it prints the share in which
a certified threshold breaks the limit in truth, ``!`` above .065, for what the certificate is about (the
mean over groups; with "per answer" the share of answers), and the share of good answers that pass, on
average. "answers" in brackets: how often the certificate for the mean over groups would be wrong of answers.

--levels: how often a threshold is certified whose true share is the limit itself.

--labelled: of labelled sets, answers with the same contexts are a group, and people's labels below .5 are
rejections. The share of good answers that pass by the bound of Hoeffding and Bentkus (in use until
November 2026), by bets of groups, and per answer at two largest groups.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from scipy import special

from benchmarks.lexical_sets import judged, load
from benchmarks.paper.data import read_folder
from tcva_adapters.compare.combined_methods import with_fused
from tcva_adapters.stats import guarantee
from tcva_adapters.stats.checks import BoolArray, FloatArray, IntArray
from tcva_adapters.stats.guarantee import certify
from tests.support.paper import FOLDER

ERROR: Final = 0.05
LIMITS: Final = (0.05, 0.1, 0.2)
GROUPS: Final = (30, 100, 300)
POPULATION: Final = 4_000
STEPS: Final = np.linspace(1.0, 0.0, 26)
SIZES: Final = np.array([1, 2, 3, 5, 10, 20])
LARGEST: Final = 20
WORLDS: Final = {"long ones pass more": 0.5, "short ones pass more": -0.5, "alike": 0.0}
Place = Callable[[BoolArray, IntArray, float], int | None]


class World:
    """A population of groups of rejected answers, and of good answers.

    Args:
        slope: By how much scores rise with the size of the group.
    """

    def __init__(self, slope: float) -> None:
        rng = np.random.default_rng(1)
        shares = 1.0 / SIZES
        self.sizes = rng.choice(SIZES, POPULATION, p=shares / shares.sum())
        centre = slope * np.log(self.sizes) - 2.2 + rng.normal(0, 0.7, POPULATION)
        logits = centre[:, None] + rng.normal(0, 1.0, (POPULATION, LARGEST))
        scores = special.expit(logits)
        exists = np.arange(LARGEST) < self.sizes[:, None]
        self.scores = np.where(exists, scores, np.nan)
        hits = (self.scores[:, :, None] >= STEPS).sum(axis=1)
        self.by_group = (hits / self.sizes[:, None]).mean(axis=0)
        self.by_answer = hits.sum(axis=0) / self.sizes.sum()
        good = special.expit(rng.normal(1.0, 1.2, 20_000))
        self.good = (good[:, None] >= STEPS).mean(axis=0)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[BoolArray, IntArray]:
        """Which answers of n groups pass at each step, and their groups."""
        drawn = self.scores[rng.integers(POPULATION, size=n)]
        codes, _ = np.nonzero(np.isfinite(drawn))
        return drawn[np.isfinite(drawn)] >= STEPS[:, None], codes


def simulate(sets: int) -> int:
    """Print what the guarantee holds for; returns how many figures are not as they should be."""
    beyond = 0
    for name, slope in WORLDS.items():
        world = World(slope)
        print(f"\n{name}\nlimit", *(f"{f'{n} groups':>24}" for n in GROUPS))
        for limit in LIMITS:
            cells = []
            for n in GROUPS:
                broken = np.zeros(3)
                passed = np.zeros(2)
                rng = np.random.default_rng(n)
                for _ in range(sets):
                    passes, codes = world.draw(rng, n)
                    for per, largest in enumerate((None, LARGEST)):
                        place = certify(
                            passes,
                            limit,
                            error=ERROR,
                            groups=codes.tolist(),
                            largest_group=largest,
                        ).place
                        if place is None:
                            continue
                        truth = (world.by_group, world.by_answer)[per]
                        broken[per] += truth[place] > limit
                        broken[2] += per == 0 and world.by_answer[place] > limit
                        passed[per] += world.good[place]
                broken, passed = broken / sets, passed / sets
                beyond += int((broken[:2] > 0.065).sum())
                marks = ["!" if share > 0.065 else " " for share in broken[:2]]
                cells.append(
                    f"{broken[0]:.3f}{marks[0]}({broken[2]:.2f}) {passed[0]:.2f}, "
                    f"{broken[1]:.3f}{marks[1]} {passed[1]:.2f}"
                )
            print(f"{limit:<5}", *(f"{cell:>24}" for cell in cells), flush=True)
    print(f"\n{beyond} beyond their limit")
    pairs = np.repeat(np.arange(20), 2).tolist()
    for largest in (2, 10, 50):
        tested = certify(
            np.zeros((1, 40)), 0.1, error=ERROR, groups=pairs, largest_group=largest
        )
        fewest = math.ceil(20 * math.log(ERROR) / math.log(tested.p[0]))
        print(
            f"limit .1, two rejected answers a group, at most {largest}: {fewest} groups or more"
        )
    return beyond


def print_levels(sets: int) -> int:
    """Print how often a threshold is certified whose true share is the limit; returns how many are not as they should be."""
    beyond = 0
    print("\ncertified where the true share is the limit: mean over groups, answers")
    for name, slope in WORLDS.items():
        world = World(slope)
        for truth, largest in ((world.by_group, None), (world.by_answer, LARGEST)):
            shares = []
            for wanted in LIMITS:
                step = int(np.abs(truth - wanted).argmin())
                for n in GROUPS:
                    rng = np.random.default_rng(n)
                    certified = 0
                    for _ in range(sets):
                        passes, codes = world.draw(rng, n)
                        tested = certify(
                            passes[step : step + 1],
                            float(truth[step]),
                            error=ERROR,
                            groups=codes.tolist(),
                            largest_group=largest,
                        )
                        certified += tested.place is not None
                    shares.append(certified / sets)
            beyond += int((np.array(shares) > 0.065).sum())
            print(f"{name:22} {'answers' if largest else 'groups':8}", *shares)
    return beyond


def hoeffding_bentkus(passes: BoolArray, codes: IntArray, limit: float) -> int | None:
    """The place on the path by the bound of Hoeffding and Bentkus for the mean over groups."""
    sizes = np.bincount(codes)
    n = len(sizes)
    sums = (passes @ (1.0 / sizes)[codes]).round(9)
    shares = np.minimum(sums / n, limit)
    divergence = special.rel_entr(shares, limit)
    divergence += special.rel_entr(1.0 - shares, 1.0 - limit)
    bentkus = np.e * special.bdtr(np.ceil(sums), n, limit)
    p = np.minimum(np.exp(-n * divergence), bentkus)
    if sizes.max() == 1:  # answers alone: the exact test
        p = special.bdtr(sums, n, limit)
    certified = int(np.append(p <= ERROR, False).argmin())
    return certified - 1 if certified else None


def by_bets(largest: int | None) -> Place:
    """The place on the path by bets of groups; None where a group is too large."""

    def place(passes: BoolArray, codes: IntArray, limit: float) -> int | None:
        groups = codes.tolist()
        found = certify(
            passes, limit, error=ERROR, groups=groups, largest_group=largest
        )
        return found.place

    return place


def labelled() -> Iterator[tuple[str, FloatArray, FloatArray, list[str]]]:
    """Sets with scores at T = 0.5, labels from 0 to 1, and the group of each answer."""
    for name, rows in load().items():
        labels = np.array([float(row["label"]) for row in rows])
        yield (
            f"{name}, lexical",
            judged(rows),
            labels,
            [json.dumps(row["contexts"]) for row in rows],
        )
    for name, table in read_folder(FOLDER, lexical=True).items():
        prepared = json.loads((FOLDER / f"{name}_prepared.json").read_text("utf-8"))
        contexts = {str(row["id"]): json.dumps(row["context"]) for row in prepared}
        scored = table.with_method("TCVA", table.at(0.5)).rated
        scored = with_fused(scored, "TCVA + lexical")
        groups = [contexts[sample] for sample in scored.samples]
        for method in ("TCVA", scored.methods[-1]):
            yield f"{name}, {method}", scored.column(method), scored.rating, groups


def print_labelled() -> int:
    """Print what passes; returns the number of sets on which the bets pass less."""
    largest = (10, 50)
    heads = ("before", "bets", *(f"per answer, N={n}" for n in largest))
    print(f"{'':38} limit answers groups", *(f"{head:>16}" for head in heads))
    rules: list[Place] = [hoeffding_bentkus, by_bets(None), *map(by_bets, largest)]
    less = 0
    shares: dict[float, list[list[float]]] = {limit: [] for limit in LIMITS}
    for name, scores, labels, groups in labelled():
        is_good = labels >= 0.5
        used = ~is_good & np.isfinite(scores)
        codes = np.unique(np.array(groups)[used], return_inverse=True)[1]
        steps = np.unique(np.append(scores[np.isfinite(scores)], 1.0))[::-1]
        passes = scores[used] >= steps[:, None]
        for limit in LIMITS:
            passed = []
            for rule, most in zip(rules, (None, None, *largest), strict=True):
                if most and np.bincount(codes).max() > most:
                    passed.append(np.nan)
                    continue
                place = rule(passes, codes, limit)
                # The threshold lies above the score at which the first test fails.
                share = 0.0
                if place is not None:
                    share = float((scores[is_good] >= steps[place]).mean())
                passed.append(share)
            shares[limit].append(passed[:2])
            less += passed[1] < passed[0]
            cells = (f"{share:16.3f}" for share in passed)
            print(f"{name:38} {limit:5} {used.sum():7} {codes.max() + 1:6}", *cells)
    for limit, rows in shares.items():
        before, bets = np.mean(rows, axis=0)
        print(f"mean at limit {limit:4}: {before:.3f} before, {bets:.3f} by bets")
    print(f"the bets pass less on {less}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--levels", action="store_true")
    parser.add_argument("--labelled", action="store_true")
    given = parser.parse_args()
    guarantee._TOLERANCE = 1.0  # noqa: SLF001  # bounds of groups take time, and none is shown
    if given.labelled:
        return print_labelled()
    return print_levels(given.sets) if given.levels else simulate(given.sets)


if __name__ == "__main__":
    raise SystemExit(int(main() > 0))

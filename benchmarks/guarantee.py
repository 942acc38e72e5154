"""Does the guarantee of a gate hold, what does it cost, and what does it give on labelled sets?

Run: python -m benchmarks.guarantee [--sets 2000], and with --labelled.

Answers are drawn from a population in which the true shares are counted. Of the data sets it prints the
share in which a certified setting breaks the limit in truth (``!``: above .065; the Monte Carlo error
of .05 of 2,000 is .005), and the share of all good answers that pass, on average, beside that at the most
permissive setting which keeps the limit in truth ("allowed").

--labelled: the sets of `benchmarks.lexical_sets`, people's labels below .5 are rejections. Of each method the
share of good answers that pass under the guarantee, and its threshold. Then 200 splits of the set in two: how
often the false passes on the other half are above the limit, how often they contradict it at 95 %, and how
often no threshold was certified: then nothing passes, so that the limit is kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.stats import binom

from benchmarks.lexical_sets import PAPER, judged, load
from benchmarks.paper.data import read_folder
from tcva_adapters.compare import ScoreTable, calibrate
from tcva_adapters.compare.calibration.certify_setting import guarantee_table
from tcva_adapters.compare.calibration.threshold_path import THRESHOLDS
from tcva_adapters.compare.combined_methods import with_fused
from tcva_adapters.compare.scores.table import RowIds
from tcva_adapters.core.aggregation import aggregate_counts
from tcva_adapters.results.guarantee import Limits
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.guarantee import certify
from tests.support.paper import FOLDER

SIZES: Final = (30, 60, 150, 400)
LIMITS: Final = (0.05, 0.1, 0.2)
ERROR: Final = 0.05
SPLITS: Final = 200
POPULATION: Final = 20_000
WHOLE: Final = 20
"""One in so many data sets goes through `calibrate` as well."""
Drawn = tuple[IntArray, IntArray, list[int] | None]
Skill = tuple[tuple[float, float], tuple[float, float]]
GOOD: Final = ((1.5, 3.0), (9.0, 1.0))
USELESS: Final = ((6.0, 2.0), (6.0, 2.0))
"""Quality of rejected and of good answers, as a judge sees it: parameters of a beta distribution."""
IGNORED: Final = "the same, groups not given"
"""What comes of it where nobody says that there are groups; no limit is asked of it."""
MIXED: Final = "share goes up and down"
"""One path that takes two temperatures in turn."""


class World:
    """A population of answers with a judge's verdicts, and which of them pass along paths of settings.

    Args:
        name: Tells what is special.
        skill: `GOOD` or `USELESS`.
        temperatures: A path each, over the thresholds.
        most: Rejected answers of a group, at most; they have their quality in common.
    """

    def __init__(
        self, name: str, skill: Skill, *temperatures: float, most: int = 1
    ) -> None:
        rng = np.random.default_rng(1)
        self.name, self.temperatures, self.most = name, temperatures, most
        self.sizes = rng.integers(1, most + 1, POPULATION // most)
        bad = np.repeat(rng.beta(*skill[0], len(self.sizes)), most)
        self.counts = answers(rng, bad), answers(rng, rng.beta(*skill[1], POPULATION))
        scores = [
            np.asarray(aggregate_counts(each, list(temperatures)))
            for each in self.counts
        ]
        paths = [
            (np.full(len(THRESHOLDS), t), THRESHOLDS) for t in range(len(temperatures))
        ]
        if name == MIXED:
            paths = [(np.arange(2 * len(THRESHOLDS)) % 2, np.repeat(THRESHOLDS, 2))]
        self.passes = [
            [side[:, columns] >= at for side in scores] for columns, at in paths
        ]
        # A group counts one, by the answers that it has.
        weights = (
            (np.arange(most) < self.sizes[:, None])
            / self.sizes[:, None]
            / len(self.sizes)
        )
        self.true = [
            ((weights.ravel() @ a).round(12), b.mean(axis=0)) for a, b in self.passes
        ]

    def allowed(self, limit: float) -> float:
        """The largest share of good answers that pass where the limit is kept in truth."""
        return max(
            float(good[bad <= limit].max(initial=0.0)) for bad, good in self.true
        )

    def draw(self, rng: np.random.Generator, n: int) -> Drawn:
        """Places of n rejected answers (about n, of groups) and of n good ones, and the groups."""
        groups = rng.integers(len(self.sizes), size=round(2 * n / (self.most + 1)))
        sizes, place = self.sizes[groups], np.arange(self.most)
        bad = (groups[:, None] * self.most + place)[place < sizes[:, None]]
        codes = np.repeat(np.arange(len(groups)), sizes).tolist()
        return (
            bad,
            rng.integers(POPULATION, size=n),
            None if self.name == IGNORED else codes,
        )

    def outcome(self, drawn: Drawn, limit: float) -> tuple[bool, float, float]:
        """Whether the limit is broken, and the share of good answers that pass, there and in truth."""
        (bad, good, codes), broken, best = drawn, False, (0.0, 0.0)
        for (fails, passes), (false, true) in zip(self.passes, self.true, strict=True):
            place = certify(
                fails[bad].T, limit, error=ERROR / len(self.true), groups=codes
            ).place
            if place is not None:
                broken |= bool(false[: place + 1].max() > limit)
                best = max(
                    best, (float(passes[good, place].mean()), float(true[place]))
                )
        return broken, *best

    def chosen(self, drawn: Drawn, limit: float) -> float:
        """The share of good answers of the data set that pass by `calibrate`."""
        bad, good, codes = drawn
        counts = (
            np.concatenate([self.counts[0][bad], self.counts[1][good]])[:, None] * 1.0
        )
        table = table_of(counts[:, 0, 0], np.repeat([0.0, 1.0], [len(bad), len(good)]))
        of = () if codes is None else (*codes, *range(-len(good), 0))
        table = replace(table, groups=of, counts=counts)
        found = calibrate(table, max_false_pass=limit, temperatures=self.temperatures)
        return float((found.settings["guarantee"] or {"true_pass": 0.0})["true_pass"])


def answers(rng: np.random.Generator, quality: FloatArray) -> IntArray:
    """Level counts (N, 5) of answers of 1 to 6 claims, the better the higher the quality."""
    levels = rng.binomial(4, 1.0 - quality[:, None], (len(quality), 6))
    levels[np.arange(6) >= rng.integers(1, 7, (len(quality), 1))] = -1
    return np.stack([(levels == level).sum(axis=1) for level in range(5)], axis=1)


def table_of(scores: FloatArray, labels: FloatArray) -> ScoreTable:
    return ScoreTable(RowIds(len(labels)), ("lexical",), scores[:, None], labels)


def simulate(sets: int) -> int:
    """Print what the guarantee holds; returns how many figures are not as they should be."""
    beyond, same = 0, []
    for world in (
        World("good judge", GOOD, 0.5),
        World("useless judge", USELESS, 0.5),
        World("good judge, three temperatures", GOOD, 0.2, 0.5, 0.9),
        World("good judge, groups", GOOD, 0.5, most=8),
        World(IGNORED, GOOD, 0.5, most=8),
        World(MIXED, GOOD, 0.2, 0.9),
    ):
        print(
            f"\n{world.name}\nlimit allowed", *(f"{'n=' + str(n):>12}" for n in SIZES)
        )
        for limit in LIMITS:
            cells = []
            for n in SIZES:
                rng, found = np.random.default_rng(n), []
                for number in range(sets):
                    drawn = world.draw(rng, n)
                    found.append(world.outcome(drawn, limit))
                    if number % WHOLE == 0 and world.name != MIXED:
                        same.append(
                            abs(world.chosen(drawn, limit) - found[-1][1]) < 1e-9
                        )
                broken, _, passed = np.mean(found, axis=0)
                beyond += (over := broken > 0.065 and world.name != IGNORED)
                cells.append(f"{broken:.3f}{'!' if over else ' '} {passed:.2f}")
            print(
                f"{limit:<5} {world.allowed(limit):7.2f}",
                *(f"{cell:>12}" for cell in cells),
            )
    print(
        f"\n{beyond} beyond their limit; calibrate finds the same on {sum(same)} of {len(same)}"
    )
    return beyond + len(same) - sum(same)


def labelled() -> Iterator[tuple[str, ScoreTable]]:
    """Sets with scores at T = 0.5 and labels from 0 to 1."""
    for name, table in read_folder(FOLDER, lexical=True).items():
        scored = table.with_method("TCVA", table.at(0.5)).rated
        for other in ("lexical", "ragas"):
            scored = with_fused(scored, f"TCVA + {other}")
        yield (
            name,
            scored.select(methods=["TCVA", "ragas", "lexical", *scored.methods[-2:]]),
        )
    for name, rows in load().items():
        if name not in PAPER:
            yield (
                name,
                table_of(judged(rows), np.array([float(row["label"]) for row in rows])),
            )


def tried(
    table: ScoreTable, rows: IntArray, limit: float
) -> list[tuple[bool, bool, bool]]:
    """By method: whether the second half is above the limit, contradicts it, and nothing was chosen."""
    mine, other = map(table.select, np.array_split(rows, 2))
    found = []
    for row in guarantee_table(mine, Limits(max_false_pass=limit)).records:
        bad = other.column(row["method"])[other.rating < 0.5]
        hits, n = (bad >= row.get("threshold", np.inf)).sum(), np.isfinite(bad).sum()
        contradicts = binom.sf(hits - 1, n, limit) <= ERROR
        found.append((hits > limit * n, contradicts, "threshold" not in row))
    return found


def print_labelled() -> int:
    """Print what passes; returns at how many limits the splits are not as they should be."""
    print(f"{'':36} limit rejected  at 1 passed    at  above contradict none")
    means = []
    for name, table in labelled():
        for limit in LIMITS:
            rng = np.random.default_rng(0)
            splits = [
                tried(table, rng.permutation(len(table)), limit) for _ in range(SPLITS)
            ]
            means.append((limit, np.mean(splits, axis=0)))
            records = guarantee_table(table, Limits(max_false_pass=limit)).records
            for row, (above, contradicts, nothing) in zip(
                records, means[-1][1], strict=True
            ):
                passed = [row.get(each, np.nan) for each in ("true_pass", "threshold")]
                shares = (row["at_threshold_1"], *passed, above, contradicts, nothing)
                about = (
                    f"{name + ', ' + row['method']:36} {limit:5} {row['rejected']:8}"
                )
                print(about, *(f"{share:6.3f}" for share in shares))
    beyond = 0
    for limit in LIMITS:
        of = np.concatenate([mean for at, mean in means if at == limit])
        above, contradicts, nothing = of.mean(axis=0)
        print(f"mean at limit {limit:4}: {above:.3f}  {contradicts:.3f}  {nothing:.3f}")
        beyond += int(above > 0.1 or contradicts > ERROR)
    return beyond


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--labelled", action="store_true")
    given = parser.parse_args()
    return print_labelled() if given.labelled else simulate(given.sets)


if __name__ == "__main__":
    raise SystemExit(int(main() > 0))

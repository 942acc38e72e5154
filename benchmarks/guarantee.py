"""Does the guarantee of a gate hold, what does it cost, and what does it give on labelled sets?

Run: python -m benchmarks.guarantee [--sets 2000] [--world groups], with --labelled, and with --paths.

Answers are drawn from a population in which the true shares are counted. Of the data sets it prints the
share in which a certified threshold breaks the limit in truth (``!``: above .065; the Monte Carlo error
of .05 of 2,000 is .005), the share in which one is certified, and the share of all good answers that
pass, on average, beside that at the most permissive threshold which keeps the limit in truth ("allowed").

--labelled: the sets of `benchmarks.lexical_sets`, people's labels below .5 are rejections. Of each method the
share of good answers that pass under the guarantee, and its threshold. Then 200 splits of the set in two: how
often the false passes on the other half are above the limit, how often they contradict it at 95 %, and how
often no threshold was certified: then nothing passes, so that the limit is kept.

--paths: on the same sets, judged by the lexical judge, the share of good answers that pass at three
temperatures, by a path of 201 thresholds in steps of .005 and by the path over all thresholds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.stats import binom

from benchmarks.lexical_sets import PAPER, judged, level_counts, load
from benchmarks.paper.data import read_folder
from tcva_adapters.compare import ScoreTable, calibrate
from tcva_adapters.compare.calibration.certify_setting import guarantee_table
from tcva_adapters.compare.calibration.threshold_path import ThresholdPath
from tcva_adapters.compare.combined_methods import with_fused
from tcva_adapters.compare.scores.table import RowIds
from tcva_adapters.core.aggregation import aggregate_counts
from tcva_adapters.results.guarantee import Limits
from tcva_adapters.stats import guarantee
from tcva_adapters.stats.checks import BoolArray, FloatArray, IntArray
from tcva_adapters.stats.guarantee import certify
from tcva_adapters.stats.threshold_steps import Steps
from tests.support.paper import FOLDER

SIZES: Final = (30, 60, 150, 400)
LIMITS: Final = (0.05, 0.1, 0.2)
ERROR: Final = 0.05
SPLITS: Final = 200
TEMPERATURES: Final = (0.2, 0.5, 0.9)
POPULATION: Final = 20_000
WHOLE: Final = 20
"""One in so many data sets goes through `calibrate` as well."""
Drawn = tuple[IntArray, IntArray, list[int] | None]
Outcome = tuple[bool, bool, float, float]
Skill = tuple[tuple[float, float], tuple[float, float]]
GOOD: Final = ((1.5, 3.0), (9.0, 1.0))
USELESS: Final = ((6.0, 2.0), (6.0, 2.0))
"""Quality of rejected and of good answers, as a judge sees it: parameters of a beta distribution."""
IGNORED: Final = "the same, groups not given"
"""What comes of it where nobody says that there are groups; no limit is asked of it."""
MIXED: Final = "share goes up and down"
"""One path that takes two temperatures in turn, over a grid of thresholds."""
WORST: Final = "three values, all certified break it"
"""The share of rejected answers with the highest score lies just above the limit."""
GRID: Final = np.arange(200, -1, -1) / 200


class World:
    """A population of answers with a judge's verdicts, and the shares of them that pass.

    Args:
        name: Tells what is special.
        skill: `GOOD` or `USELESS`.
        temperatures: A path each, over the thresholds.
        most: Rejected answers of a group, at most; they have their quality in common.
        values: The number of different scores, to which they are rounded; 0 leaves them as they are.
        rejected: The share of rejected answers; a data set is then drawn whole, and n rejected answers
            are expected in it.
    """

    def __init__(
        self,
        name: str,
        skill: Skill,
        *temperatures: float,
        most: int = 1,
        values: int = 0,
        rejected: float = 0.5,
    ) -> None:
        rng = np.random.default_rng(1)
        self.name, self.temperatures, self.most = name, temperatures, most
        self.rejected = rejected
        self.is_whole = not values and name != MIXED
        self.sizes = rng.integers(1, most + 1, POPULATION // most)
        bad = np.repeat(rng.beta(*skill[0], len(self.sizes)), most)
        self.counts = answers(rng, bad), answers(rng, rng.beta(*skill[1], POPULATION))
        # By temperature, the scores of rejected and of good answers.
        self.scores = [
            [np.asarray(aggregate_counts(each, [t])[:, 0]) for each in self.counts]
            for t in temperatures
        ]
        if values:
            self.scores = [
                [np.round(side * (values - 1)) / (values - 1) for side in sides]
                for sides in self.scores
            ]
        # A group counts one, by the answers that it has.
        weights = (
            (np.arange(most) < self.sizes[:, None])
            / self.sizes[:, None]
            / len(self.sizes)
        )
        self.weights = weights.ravel()

    def at(self, limit: float) -> World:
        """The population for a limit, which is another one for `WORST` only."""
        if self.name == WORST:
            shares = [limit + 1 / POPULATION, 0.3, 0.7 - limit - 1 / POPULATION]
            numbers = np.round(np.multiply(shares, POPULATION)).astype(int)
            self.scores[0][0] = np.repeat([1.0, 0.5, 0.0], numbers)
        return self

    def true(self, path: int, threshold: float, *, above: bool) -> tuple[float, float]:
        """The weights of rejected and good answers that reach a threshold, or lie above it."""
        bad, good = self.scores[path]
        passes = np.greater if above else np.greater_equal
        false = float(self.weights[passes(bad, threshold)].sum())
        return round(false, 12), float(passes(good, threshold).mean())

    def allowed(self, limit: float) -> float:
        """The largest share of good answers that pass where the limit is kept in truth."""
        shares = [
            self.true(path, threshold, above=False)
            for path, (bad, _) in enumerate(self.scores)
            for threshold in np.unique(bad)
        ]
        return max([good for false, good in shares if false <= limit], default=0.0)

    def draw(self, rng: np.random.Generator, n: int) -> Drawn:
        """Places of n rejected answers (about n, of groups) and of good ones, and the groups."""
        good = n
        if self.rejected != 0.5:
            total = round(n / self.rejected)
            n = int(rng.binomial(total, self.rejected))
            good = total - n
        groups = rng.integers(len(self.sizes), size=round(2 * n / (self.most + 1)))
        sizes, place = self.sizes[groups], np.arange(self.most)
        bad = (groups[:, None] * self.most + place)[place < sizes[:, None]]
        codes = np.repeat(np.arange(len(groups)), sizes).tolist()
        return (
            bad,
            rng.integers(POPULATION, size=good),
            None if self.name == IGNORED else codes,
        )

    def outcome(self, drawn: Drawn, limit: float) -> Outcome:
        """Whether the limit is broken, whether one is certified, and the good that pass, here and in truth."""
        (bad, good, codes), broken, best = drawn, False, (-1.0, 0.0)
        for path, (theirs, ours) in enumerate(self.scores):
            scores, accepted = theirs[bad], ours[good]
            steps = np.union1d(scores, 1.0)[::-1]
            place = certify(
                scores >= steps[:, None],
                limit,
                error=ERROR / len(self.scores),
                groups=codes,
            ).place
            if place is not None:
                failed = np.append(steps, -1.0)[place + 1]
                broken |= self.true(path, failed, above=True)[0] > limit
                observed = np.concatenate([scores, accepted, [1.0]])
                threshold = (failed + observed[observed > failed].min()) / 2
                threshold = 0.0 if failed < 0 else threshold
                passed = float((accepted > failed).mean())
                best = max(best, (passed, self.true(path, threshold, above=False)[1]))
        return broken, best[0] >= 0, max(best[0], 0.0), best[1]

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


class Mixed(World):
    """One path over a grid of thresholds that takes two temperatures in turn."""

    @cached_property
    def steps(self) -> list[tuple[int, float]]:
        """The temperature and threshold of each step."""
        return [(path, at) for at in GRID for path in range(len(self.scores))]

    @cached_property
    def shares(self) -> FloatArray:
        """The shares of rejected and good answers that pass in truth at each step, shape (2, K)."""
        return np.array([self.true(*step, above=False) for step in self.steps]).T

    def outcome(self, drawn: Drawn, limit: float) -> Outcome:
        """The same along the one path."""
        bad, good, codes = drawn
        passes = [self.scores[path][0][bad] >= at for path, at in self.steps]
        place = certify(passes, limit, error=ERROR, groups=codes).place
        if place is None:
            return False, False, 0.0, 0.0
        path, at = self.steps[place]
        passed = float((self.scores[path][1][good] >= at).mean())
        false, true = self.shares[:, : place + 1]
        return bool(false.max() > limit), True, passed, float(true[-1])


def answers(rng: np.random.Generator, quality: FloatArray) -> IntArray:
    """Level counts (N, 5) of answers of 1 to 6 claims, the better the higher the quality."""
    levels = rng.binomial(4, 1.0 - quality[:, None], (len(quality), 6))
    levels[np.arange(6) >= rng.integers(1, 7, (len(quality), 1))] = -1
    return np.stack([(levels == level).sum(axis=1) for level in range(5)], axis=1)


def table_of(scores: FloatArray, labels: FloatArray) -> ScoreTable:
    return ScoreTable(RowIds(len(labels)), ("lexical",), scores[:, None], labels)


WORLDS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("good judge", {}),
    ("useless judge", {"skill": USELESS}),
    ("three temperatures", {"temperatures": (0.2, 0.5, 0.9)}),
    ("heavy ties: eleven values", {"values": 11}),
    (WORST, {"values": 3}),
    ("5 % rejected", {"rejected": 0.05}),
    ("60 % rejected", {"rejected": 0.6}),
    ("groups of 1 to 8", {"most": 8}),
    (IGNORED, {"most": 8}),
    (MIXED, {"temperatures": (0.2, 0.9)}),
)


def worlds() -> Iterator[World]:
    for name, how in WORLDS:
        options: dict[str, Any] = {"skill": GOOD, "temperatures": (0.5,), **how}
        kind = Mixed if name == MIXED else World
        skill, temperatures = options.pop("skill"), options.pop("temperatures")
        yield kind(name, skill, *temperatures, **options)


def simulate(sets: int, only: str) -> int:
    """Print what the guarantee holds; returns how many figures are not as they should be."""
    beyond, same = 0, []
    print("each cell: broken, certified, good answers passed (in truth)")
    for world in worlds():
        if only not in world.name:
            continue
        print(
            f"\n{world.name}\nlimit allowed", *(f"{'n=' + str(n):>17}" for n in SIZES)
        )
        for limit in LIMITS:
            world.at(limit)
            cells = []
            for n in SIZES:
                rng, found = np.random.default_rng(n), []
                for number in range(sets):
                    drawn = world.draw(rng, n)
                    found.append(world.outcome(drawn, limit))
                    if number % WHOLE == 0 and world.is_whole:
                        same.append(
                            abs(world.chosen(drawn, limit) - found[-1][2]) < 1e-9
                        )
                broken, certified, _, passed = np.mean(found, axis=0)
                beyond += (over := broken > 0.065 and world.name != IGNORED)
                mark = "!" if over else " "
                cells.append(f"{broken:.3f}{mark} {certified:.3f} {passed:.2f}")
            print(
                f"{limit:<5} {world.allowed(limit):7.2f}",
                *(f"{cell:>17}" for cell in cells),
                flush=True,
            )
    print(
        f"\n{beyond} beyond their limit; calibrate finds the same on {sum(same)} of {len(same)}"
    )
    return beyond + len(same) - sum(same)


def print_paths() -> int:
    """Print the good answers that pass by a path of 201 thresholds and by all; returns how often fewer pass."""
    print(f"{'':18}limit" + "".join(f"{f'T={t:g}':>16}" for t in TEMPERATURES))
    fewer, found = 0, []
    for name, rows in load().items():
        counts = level_counts(rows)
        labels = np.array([float(row["label"]) for row in rows])
        for limit in LIMITS:
            cells = []
            for scores in aggregate_counts(counts, list(TEMPERATURES)).T:
                table = table_of(scores, labels)
                steps = Steps.between(scores)
                path = ThresholdPath.of(
                    table, scores, steps, Limits(max_false_pass=limit), ERROR
                )
                new = path.record().get("true_pass", 0.0)
                old = passed_by_grid(scores, labels >= 0.5, limit)
                fewer += new < old - 1e-9
                cells.append((old, new))
            found.append((limit, cells))
            shown = "".join(f"{old:8.3f} {new:7.3f}" for old, new in cells)
            print(f"{name:18}{limit:<5}{shown}", flush=True)
    for limit in LIMITS:
        means = np.mean([cells for at, cells in found if at == limit], axis=0)
        shown = "".join(f"{old:8.3f} {new:7.3f}" for old, new in means)
        print(f"{'mean':18}{limit:<5}{shown}")
    print(f"each cell: 201 thresholds, all thresholds; fewer pass in {fewer}")
    return fewer


def passed_by_grid(scores: FloatArray, is_good: BoolArray, limit: float) -> float:
    """The share of good answers that pass at the lowest certified threshold of the grid."""
    bad = scores[~is_good & np.isfinite(scores)]
    hits = (bad >= GRID[:, None]).sum(axis=1)
    failing = np.flatnonzero(binom.cdf(hits, len(bad), limit) > ERROR)
    last = int(failing[0]) if len(failing) else len(GRID)
    return float((scores[is_good] >= GRID[last - 1]).mean()) if last else 0.0


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
    parser.add_argument(
        "--world", default="", help="only worlds with this in their name"
    )
    parser.add_argument("--labelled", action="store_true")
    parser.add_argument("--paths", action="store_true")
    given = parser.parse_args()
    guarantee._TOLERANCE = 1.0  # noqa: SLF001  # bounds of groups take time, and none is shown
    if given.paths:
        return print_paths()
    return print_labelled() if given.labelled else simulate(given.sets, given.world)


if __name__ == "__main__":
    raise SystemExit(int(main() > 0))

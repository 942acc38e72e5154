"""Do tests find nothing where there is nothing, and do intervals hold the truth? Every one that is offered.

Run: python -m benchmarks.levels [--sets 2000] [--n 5 10 30 50 170] [--uneven-n 10 20 40 80]
(``--n`` or ``--uneven-n`` without a number leaves their tables out).

Upper table: of data sets without what a test looks for, the share in which it finds it at 5 % (``!``:
above .065). Lower table: the share of 95 % intervals that hold the value of the population (``!``: below
.93). ``-``: offered on less than a twentieth of the data sets. Either mark makes the command fail. Data are normal,
tied (five levels) or skewed (most values high, a long tail), in turn; *by groups* samples come in groups
of 2 to 4 that share half of the variance of everything. The Monte Carlo error of .05 of 2,000 is .005; where
so few data sets offer a figure that three errors go beyond these limits, they count in their place.

The last tables are of errors that do not lie alike on both sides, while their mean is 0: *asymmetric*
ones have a long tail (exponential); *rare misses* are those of a judge that gives about .95 whatever it
sees, where 95 % of ratings are 1 and the others 0; *rare steps* are equal but for one in twenty, which is
large. They are of mean errors, ``mae`` and differences of both, and have the share of data sets on which a
figure is given (``!``: below .9 of symmetric ones from 40 samples on).
"""

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from typing import Any, Final, Self

import numpy as np
from scipy import special

from benchmarks.paper.tables import bootstrapped
from tcva_adapters.stats.alpha import ScaleKind, krippendorff_alpha
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import Measure, value_of
from tcva_adapters.stats.decisions import auc, decision_estimate, kappa
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.inference import Compared, difference, estimate
from tcva_adapters.stats.lower_bound import lower_bound
from tcva_adapters.stats.powered_mean import powered_mean
from tcva_adapters.stats.raters import mean_rating, reliability
from tcva_adapters.stats.system_pairs import Pairs, asl_curve, studentised, tukey

KINDS: Final = ("normal", "tied", "skewed")
SIZES: Final = (5, 10, 30, 50, 170)
MOST: Final = 0.065
LEAST: Final = 0.93
OFFERED: Final = 0.05
USUALLY: Final = 0.9
"""Of symmetric data sets of so many samples, figures are given in at least this share."""
ENOUGH: Final = 40
SYMMETRIC: Final = ("normal", "tied")
UNEVEN: Final = (*SYMMETRIC, "asymmetric", "rare misses", "rare steps")
UNEVEN_SIZES: Final = (10, 20, 40, 80)
AT_END: Final = (0.5, 0.6, 2 / 3, 0.75, 0.85)
RATED: Final = 20_000
ALPHA: Final = 0.05
DRAWN: Final = {"resamples": 199}
SLOW: Final = 5
"""One in so many data sets is looked at for what the raters allow, which takes long; none of 170 samples."""
POPULATION: Final = 200_000
AGREEMENT: Final[tuple[Measure, ...]] = ("mae", "pearson", "spearman", "kendall")
DIFFERENCES: Final[tuple[Compared, ...]] = ("mean", *AGREEMENT)
SCALES: Final[tuple[ScaleKind, ...]] = ("ordinal", "interval")

FALSE: Final = "finds what is not there"
HELD: Final = "holds the truth"
GIVEN: Final = "is given"
Outcome = tuple[str, str, bool | None]
"""A table, a row of it, and what came of one data set; None where it is not offered."""
Tallies = dict[tuple[str, int], list[bool | None]]
"""What came of the data sets, by row and number of samples."""


class Data:
    """One data set: ratings, and scores of methods that know something of them.

    Args:
        rng: Draws it.
        kind: Of `KINDS`.
        n: Samples.
        grouped: Whether these come in groups.
    """

    def __init__(
        self, rng: np.random.Generator, kind: str, n: int, *, grouped: bool
    ) -> None:
        self.rng, self.kind, self.n = rng, kind, n
        sizes = rng.integers(2, 5, n) if grouped else np.ones(n, dtype=np.int64)
        self.codes: IntArray = np.repeat(np.arange(n), sizes)[:n]
        self.groups = self.codes.tolist() if grouped else None
        self._truth = self.drawn(1)
        self.human = self.shaped(self._truth)[:, 0]

    def drawn(self, columns: int) -> FloatArray:
        """Normal values of variance 1; half of it is of the group."""
        values: FloatArray = self.rng.normal(size=(self.n, columns))
        if self.groups is None:
            return values
        shared = self.rng.normal(size=(self.n, columns))[self.codes]
        mixed: FloatArray = np.sqrt(0.5) * (values + shared)
        return mixed

    def shaped(self, values: FloatArray) -> FloatArray:
        """As scores of this kind."""
        if self.kind == "normal":
            return 0.5 + 0.2 * values
        if self.kind == "tied":
            return np.clip(np.round(2 + 1.2 * values), 0, 4) / 4
        skewed: FloatArray = 1 - special.ndtr(values) ** 3
        return skewed

    def methods(self, *noise: float) -> list[FloatArray]:
        """Scores with errors of these sizes, a part of them in common."""
        errors = np.sqrt(0.3) * self.drawn(1) + np.sqrt(0.7) * self.drawn(len(noise))
        return list(self.shaped(0.7 * self._truth + np.array(noise) * errors).T)


@cache
def truths(kind: str) -> dict[str, float]:
    """What intervals have to hold, from a large data set."""
    data = Data(np.random.default_rng(1), kind, POPULATION, grouped=False)
    one, other = data.methods(0.7, 1.0)
    found = {"mean": one.mean(), "mean error": (one - data.human).mean()}
    found |= {"rating": data.human.mean(), "difference of mean": (one - other).mean()}
    found["share"] = (one > 0.6).mean()
    few = Data(np.random.default_rng(1), kind, 20_000, grouped=False)
    sides = [*few.methods(0.7, 1.0), few.human]
    for measure in AGREEMENT:
        values = [value_of(measure, side, sides[2]) for side in sides[:2]]
        found |= {measure: values[0], f"difference of {measure}": values[0] - values[1]}
    good = (sides[2] >= 0.5).astype(float)
    found["auc"] = auc(sides[0], good)
    found["kappa"] = kappa((sides[0] > 0.6).astype(float), good)
    raters, whole = (
        np.stack(few.methods(0.7, 0.7, 0.7)),
        ["all"] * few.n,
    )  # without an interval
    for scale in SCALES:
        found[f"alpha, {scale}"] = krippendorff_alpha(raters, scale, groups=whole).value
    best = reliability("spearman", raters.T, raters[:1].T, groups=whole).best
    found["best of raters"] = best.value
    return {name: float(value) for name, value in found.items()}


def tests(data: Data, seed: int) -> Iterator[Outcome]:
    """Every test, where there is nothing to find."""
    options: dict[str, Any] = {"seed": seed, **DRAWN}
    one, other = data.methods(0.7, 0.7)
    for statistic in DIFFERENCES:
        human = None if statistic == "mean" else data.human
        found = difference(statistic, one, other, human, data.groups, **options)
        yield FALSE, f"difference of {statistic}", _rejects(found.p)
    unrelated = Data(data.rng, data.kind, data.n, grouped=False)
    unrelated.codes, unrelated.groups = data.codes, data.groups
    apart = unrelated.shaped(unrelated.drawn(1))[:, 0]
    for measure in AGREEMENT[1:]:
        found = estimate(measure, [one, apart], data.groups, test=True, **options)
        yield FALSE, f"{measure} of one method", _rejects(found.p)
    passed = (data.rng.random(data.n) < 0.9).astype(float)
    if data.groups is not None:
        passed = (
            data.rng.beta(4.5, 0.5, data.n)[data.codes] > data.rng.random(data.n)
        ) * 1.0
    bound = lower_bound(passed, groups=data.groups, seed=seed)
    yield FALSE, "gate on a pass rate", bound > 0.9
    mean = truths(data.kind)["mean"]
    low = -1.0 if data.kind == "normal" else 0.0
    bound = lower_bound(np.maximum(one, low), low=low, groups=data.groups)
    yield FALSE, "gate on a mean", bound > mean
    if data.groups is None:
        hard, noise = 0.5 * data.drawn(1), data.drawn(4)
        yield (
            FALSE,
            "Tukey, 4 systems",
            _finds(tukey(data.shaped(hard + noise), permutations=199)),
        )
        spread = 0.5 + 0.1 * (hard + np.array([0.5, 1, 1, 2]) * noise)
        found_any = _finds(studentised(spread, permutations=199))
        yield FALSE, "studentised, 4 systems of unequal spread", found_any


def intervals(data: Data, seed: int) -> Iterator[Outcome]:
    """Every interval, beside what it has to hold."""
    options: dict[str, Any] = {"seed": seed, **DRAWN}
    one, other = data.methods(0.7, 1.0)
    truth, groups = truths(data.kind), data.groups
    found = {
        "mean": estimate("mean", one, groups),
        "share": estimate("share", one > 0.6, groups),
    }
    good = data.human >= 0.5
    found["auc"] = decision_estimate(auc, one, good, groups)
    found["kappa"] = decision_estimate(kappa, one > 0.6, good, groups)
    found["mean error"] = estimate("error", [one, data.human], groups)
    found |= {each: estimate(each, [one, data.human], groups) for each in AGREEMENT}
    for statistic in DIFFERENCES:
        human, name = (
            None if statistic == "mean" else data.human,
            f"difference of {statistic}",
        )
        found[name] = difference(statistic, one, other, human, groups, **options)
        margin = abs(truth[name])
        is_offered = margin > 0.01 and not found[name].reason
        found_equal = found[name].equivalent(margin) if is_offered else None
        yield FALSE, f"equivalence of {statistic}", found_equal
    for name, each in found.items():
        yield HELD, name, _holds(each, truth[name])
    percentile = bootstrapped(one, data.human, groups, **options)
    yield HELD, "spearman, percentile", _holds(percentile, truth["spearman"])
    few = np.where(data.rng.random(data.n) < 0.2, one - data.human, 0.0)
    error = estimate("error", [data.human + few, data.human], groups)
    yield HELD, "mean error, mostly 0", _holds(error, 0.2 * truth["mean error"])
    raters = np.stack(data.methods(0.7, 0.7, 0.7))
    if seed % 2:
        for scale in SCALES:
            name = f"alpha, {scale}"
            yield (
                HELD,
                name,
                _holds(krippendorff_alpha(raters, scale, groups=groups), truth[name]),
            )
    if data.n <= 100 and seed % SLOW == 0:
        best = reliability("spearman", raters.T, raters[:1].T, groups=groups).best
        yield HELD, "best of raters", _holds(best, truth["best of raters"])
    many = Data(data.rng, data.kind, 10 * data.n, grouped=groups is not None)
    rated = many.codes <= many.codes[data.n if groups is not None else data.n - 1]
    human = np.where(rated, many.human, np.nan)
    powered = powered_mean(human, many.methods(0.7)[0], groups=many.groups)
    yield HELD, "mean rating by a judge", _holds(powered.estimate, truth["rating"])
    # Two systems on the same queries, and a judge that is fonder of the second.
    answers = np.stack([many.human, *many.methods(1.0)])
    liked = 0.6 * answers + [[0.0], [0.2]] + 0.1 * data.rng.normal(size=answers.shape)
    by_people = np.where(rated, answers[0] - answers[1], np.nan)
    by_judge = liked[0] - liked[1]
    apart = powered_mean(by_people, by_judge, groups=many.groups, signed=True).estimate
    expected = truth["rating"] - truth["mean"] + truth["difference of mean"]
    yield HELD, "difference of two systems by a judge", _holds(apart, expected)


@dataclass(frozen=True)
class Uneven:
    """One data set whose errors do not lie alike on both sides; all truths but `mae` are 0.

    Attributes:
        human: Ratings.
        fair: Scores without a mean error.
        even: Scores of another method with the same mean.
        spread: Scores whose absolute errors differ.
        steady: Scores with the same mean absolute error, of nearly one size.
    """

    human: FloatArray
    fair: FloatArray
    even: FloatArray
    spread: FloatArray
    steady: FloatArray

    @classmethod
    def drawn(cls, rng: np.random.Generator, kind: str, n: int) -> Self:
        """One of a kind of `UNEVEN`."""
        if kind in SYMMETRIC:
            data = Data(rng, kind, n, grouped=False)
            one, other = data.methods(0.7, 0.7)
            return cls(data.human, one, other, one, other)
        noise = rng.uniform(-0.03, 0.03, (2, n))
        side = rng.choice([-1.0, 1.0], n)
        if kind == "rare misses":
            ones: FloatArray = (rng.random(n) < 0.95).astype(np.float64)
            blind = 0.95 + noise[0]
            steady = np.where(ones > 0.0, 0.905, 0.095) + noise[1]
            return cls(ones, blind, ones, blind, steady)
        human = rng.uniform(0.3, 0.7, n)
        if kind == "asymmetric":
            tail = 0.1 * rng.exponential(size=n)
            steady = human + 0.1 * side + noise[1]
            return cls(
                human, human + tail - 0.1, human + noise[0], human + side * tail, steady
            )
        steps = human + np.where(rng.random(n) < 0.05, -0.38, 0.02)
        return cls(human, steps, human, steps, human + 0.038 * side)

    def figures(self) -> Iterator[tuple[str, Estimate]]:
        """The figures that are offered of it."""
        yield "mean error", estimate("error", [self.fair, self.human], test=True)
        yield "mae", estimate("mae", [self.spread, self.human])
        yield "difference of mean", difference("mean", self.fair, self.even)
        yield (
            "difference of mae",
            difference("mae", self.spread, self.steady, self.human),
        )


def uneven_outcomes(kind: str, n: int, sets: int) -> Iterator[Outcome]:
    """Tests, intervals and whether there are any, of data sets of a kind."""
    many = Uneven.drawn(np.random.default_rng(1), kind, POPULATION)
    truths = {"mae": float(np.abs(many.spread - many.human).mean())}
    rng = np.random.default_rng([n, UNEVEN.index(kind)])
    for _ in range(sets):
        for figure, found in Uneven.drawn(rng, kind, n).figures():
            name = f"{figure}, {kind}"
            if figure != "mae":
                yield FALSE, name, _rejects(found.p)
            yield HELD, name, _holds(found, truths.get(figure, 0.0))
            yield GIVEN, name, not found.reason


def most_that_best_is_off(rng: np.random.Generator, at_end: float) -> float:
    """By how much the best correlation of raters is too high, with a share of ratings at one end.

    Raters see a normal truth with errors of half its spread or all of it, and give one of 2, 3 or 5
    ratings, those below the end as evenly as they can. `reliability` refuses to say it from two
    thirds on, so it is computed here, from the raters' mean correlation.
    """
    truth = rng.normal(size=(RATED, 1))
    off = []
    for size, raters, levels in product((0.5, 1.0), (2, 3), (2, 3, 5)):
        shares = (1.0 - at_end) * np.arange(1, levels) / (levels - 1)
        cuts = np.sqrt(1 + size**2) * special.ndtri(shares)
        seen = truth + size * rng.normal(size=(RATED, raters))
        ratings = np.searchsorted(cuts, seen).astype(np.float64)
        found = reliability("spearman", ratings, truth, groups=["all"] * RATED)
        best = np.sqrt(raters * found.between / (1 + (raters - 1) * found.between))
        off.append(best - value_of("spearman", truth[:, 0], mean_rating(ratings)))
    return float(max(off))


def _rejects(p: float) -> bool | None:
    return None if np.isnan(p) else bool(p <= ALPHA)


def _finds(pairs: Pairs) -> bool | None:
    ps = asl_curve(pairs)
    return bool(ps[0] <= ALPHA) if len(ps) else None


def _holds(found: Estimate, truth: float) -> bool | None:
    return None if found.reason else found.low <= truth <= found.high


def share(outcomes: Sequence[bool | None]) -> float:
    """Of those that are offered; nan where these are too few to count."""
    offered = [each for each in outcomes if each is not None]
    is_few = not offered or len(offered) < OFFERED * len(outcomes)
    return float("nan") if is_few else sum(offered) / len(offered)


def is_beyond(table: str, name: str, n: int, value: float, offered: int) -> bool:
    """Whether a cell of a table is beyond its limit; an empty one is not.

    The limit allows for three Monte Carlo errors where few data sets offer a figure.
    """
    errors = 3 * math.sqrt(ALPHA * (1 - ALPHA) / max(offered, 1))
    if table == GIVEN:
        return name.endswith(SYMMETRIC) and n >= ENOUGH and value < USUALLY
    if table == FALSE:
        return value > max(MOST, ALPHA + errors)
    return value < min(LEAST, 1 - ALPHA - errors)


def printed(title: str, table: str, tallies: Tallies, sizes: Sequence[int]) -> int:
    """Print a table; returns how many of its cells are beyond their limit."""
    print(f"\n{title}")
    print(" " * 42, *(f"{f'n={n}':>7}" for n in sizes))
    beyond = 0
    for name in dict.fromkeys(name for name, _ in tallies):
        cells = []
        for n in sizes:
            outcomes = tallies[name, n]
            value = share(outcomes)
            offered = sum(outcome is not None for outcome in outcomes)
            is_marked = is_beyond(table, name, n, value, offered)
            beyond += is_marked
            shown = "-" if np.isnan(value) else f"{value:.3f}".removeprefix("0")
            cells.append(shown + (" ", "!")[is_marked])
        print(f"{name:42}", *(f"{cell:>7}" for cell in cells), flush=True)
    return beyond


def usual_tables(sizes: Sequence[int], sets: int) -> int:
    """Print the tables of all tests and intervals; returns how many cells are beyond their limit."""
    beyond = 0
    for grouped in (False, True):
        tables: dict[str, Tallies] = {FALSE: defaultdict(list), HELD: defaultdict(list)}
        for n in sizes:
            rng = np.random.default_rng([n, grouped])
            for number in range(sets):
                data = Data(rng, KINDS[number % len(KINDS)], n, grouped=grouped)
                for table, name, outcome in chain(
                    tests(data, number), intervals(data, number)
                ):
                    tables[table][name, n].append(outcome)
        for table, tallies in tables.items():
            suffix = ", by groups" if grouped else ""
            title = f"{table}{suffix}: {sets} data sets each"
            beyond += printed(title, table, tallies, sizes)
    return beyond


def uneven_tables(sizes: Sequence[int], sets: int) -> int:
    """Print the tables of errors that do not lie alike on both sides, and of raters."""
    tables: dict[str, Tallies] = {
        table: defaultdict(list) for table in (FALSE, HELD, GIVEN)
    }
    for kind, n in product(UNEVEN, sizes):
        for table, name, outcome in uneven_outcomes(kind, n, sets):
            tables[table][name, n].append(outcome)
    beyond = 0
    for table, tallies in tables.items():
        title = f"{table}, uneven errors: {sets} data sets each"
        beyond += printed(title, table, tallies, sizes)
    print("\nraters' best correlation, which is given up to 67%: too high by at most")
    rng = np.random.default_rng(0)
    for at_end in AT_END:
        off = most_that_best_is_off(rng, at_end)
        print(f"{at_end:.0%} of ratings at one end: {off:.3f}")
    return beyond


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; returns how many cells are beyond their limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--n", type=int, nargs="*", default=SIZES)
    parser.add_argument("--uneven-n", type=int, nargs="*", default=UNEVEN_SIZES)
    given = parser.parse_args(arguments)
    started = time.monotonic()
    beyond = usual_tables(given.n, given.sets) if given.n else 0
    if given.uneven_n:
        beyond += uneven_tables(given.uneven_n, given.sets)
    print(f"\n{beyond} beyond their limit; {time.monotonic() - started:.0f} s")
    return beyond


if __name__ == "__main__":
    sys.exit(1 if main() else 0)

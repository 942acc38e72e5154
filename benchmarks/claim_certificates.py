"""Do certificates over claims hold, how often is one given, and what does each rule keep?

Run: python -m benchmarks.claim_certificates [--of served] [--world NAME ...] [--count 2000]
and: python -m benchmarks.claim_certificates --sets FOLDER [--of served]

Answers of 1 to 12 claims are drawn from a population in which the true shares are counted. Of the data
sets it prints the share in which any certified rule breaks the limit in truth (``!`` above .065; the Monte
Carlo error of .05 of 2,000 is .005), and in which the one that keeps most does; those in which a rule is
certified, and recommended; then the share of all good claims that stay on average, 0 where nothing is
certified: by each rule (cut, refuse above half, refuse), by the one that keeps most in each data set
("chosen"), by each rule alone with all of the error, and chosen in relation to the best of these.

--sets: the answers of each file of FOLDER (``claims`` with a ``label`` and two scores) are the population, from
which answers are drawn with replacement; claims with another label than Y are rejected.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Final

import numpy as np

from tcva_adapters.stats.checks import BoolArray, FloatArray, IntArray
from tcva_adapters.stats.claim_risk import (
    _STARTS,
    AnswerClaims,
    ClaimCertificate,
    Of,
    certify_claims,
    served_claims,
)

ERROR: Final = 0.05
RULES: Final = (1.0, 0.5, 0.0)
LIMITS: Final = (0.05, 0.1, 0.2)
SIZES: Final = (30, 60, 150, 400)
SET_SIZES: Final = (60, 150, 400)
POPULATION: Final = 20_000
MOST: Final = 12
LEVELS: Final = np.array([0.0, 0.3, 0.7, 0.9, 1.0])
RISKY: Final = "risk at the limit"
GROUPED: Final = "groups"
WORLDS: Final = ("useless", "good", "three values", RISKY, GROUPED)


@dataclass(frozen=True)
class Population:
    """Answers from which data sets are drawn, and what is true of them.

    Args:
        weights: Of each sentence, ordered by answer.
        rejected: Likewise.
        sizes: The number of sentences of each answer.
        groups: The group of each answer, ordered; None where answers stand alone.
    """

    weights: FloatArray
    rejected: BoolArray
    sizes: IntArray
    groups: IntArray | None = None

    @cached_property
    def ends(self) -> FloatArray:
        """All weights, and 1, the lowest first."""
        weights = self.weights[np.isfinite(self.weights)]
        return np.union1d(weights.clip(0), [1.0])

    @cached_property
    def whole(self) -> AnswerClaims:
        """All answers."""
        answer = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return AnswerClaims(self.weights, self.rejected, answer, len(self.sizes))

    @cached_property
    def truth(self) -> dict[tuple[float, float], tuple[float, float, float]]:
        """By rule and end: the risk of all and of served answers, and the share of good claims kept."""
        truth = {}
        good = ~self.rejected & ~np.isnan(self.weights)
        for rule in RULES:
            for end in self.ends.tolist():
                stays, served, holds = served_claims(self.whole, end, rule)
                every = np.ones_like(served)
                truth[rule, end] = (
                    self.mean(holds, every),
                    self.mean(holds, served),
                    float(stays[good].mean()),
                )
        return truth

    def mean(self, holds: BoolArray, counted: BoolArray) -> float:
        """The share among the counted answers; of groups, the mean of that within each."""
        if not counted.any():
            return 0.0
        if self.groups is None:
            return float(holds[counted].mean())
        sizes = np.bincount(self.groups, counted)
        hits = np.bincount(self.groups, counted & holds)
        return float((hits[sizes > 0] / sizes[sizes > 0]).mean())

    def of(
        self, certificate: ClaimCertificate, threshold: float | None
    ) -> tuple[float, float, float]:
        """What is true of a rule at a threshold; nothing is kept without one."""
        if threshold is None:
            return 0.0, 0.0, 0.0
        end = self.ends[np.searchsorted(self.ends, threshold)]
        return self.truth[certificate.max_removed, float(end)]

    @cached_property
    def starts(self) -> IntArray:
        """Where the sentences of each answer begin."""
        return np.cumsum(self.sizes) - self.sizes

    def draw(self, rng: np.random.Generator, n: int) -> AnswerClaims:
        """Draw n answers, or n groups."""
        chosen = rng.integers(len(self.sizes), size=n)
        names = None
        if self.groups is not None:
            numbers = np.bincount(self.groups)
            groups = rng.integers(len(numbers), size=n)
            chosen = ranges((np.cumsum(numbers) - numbers)[groups], numbers[groups])
            names = np.repeat(np.arange(n), numbers[groups]).tolist()
        sizes = self.sizes[chosen]
        places = ranges(self.starts[chosen], sizes)
        return AnswerClaims(
            self.weights[places],
            self.rejected[places],
            np.repeat(np.arange(len(chosen)), sizes),
            len(chosen),
            names,
        )


def ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Whole numbers from each start on, so many."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(sizes.sum())


def world(name: str, limit: float) -> Population:
    """Make a population of answers of 1 to 12 claims, whose quality they share in part."""
    if name == RISKY:
        return risky(limit)
    rng = np.random.default_rng(1)
    groups = None
    n = POPULATION
    quality = rng.normal(0, 1, n)
    if name == GROUPED:
        numbers = rng.integers(1, 11, n // 4)
        groups = np.repeat(np.arange(len(numbers)), numbers)
        n = len(groups)
        quality = rng.normal(0, 1, len(numbers))[groups] + rng.normal(0, 0.5, n)
    sizes = rng.integers(1, MOST + 1, n)
    total = int(sizes.sum())
    rejected = rng.normal(0, 1, total) + np.repeat(quality, sizes) > 2.1
    seen = rng.normal(0, 1, total)
    if name != "useless":
        seen = seen - 2.6 * rejected
    weights = LEVELS[np.searchsorted([-1.8, -1.2, -0.5, 0.4], seen)]
    if name == "good":
        weights = (1 / (1 + np.exp(-1.5 * seen - 2.0))).round(1)
    if name == "three values":
        weights = np.array([0.0, 0.5, 1.0])[np.searchsorted([-1.5, -0.3], seen)]
    # Some sentences claim nothing.
    weights = np.where(rng.random(total) < 0.05, np.nan, weights)
    return Population(weights, rejected, sizes, groups)


def risky(limit: float) -> Population:
    """Answers in which each rule has a step of its own that breaks the limit, as little as can be.

    A rejected claim of weight 1 stands beside two of weight 0: only cutting serves it. One of weight .9
    stands beside one of .9 and one of 0: refusing above half serves it. One of weight .7 stands alone. In
    each kind of answers so many are rejected that a rule's risk passes the limit just there.
    """
    some = int(limit * POPULATION) + 1
    kinds = [
        ([1.0, 0.0, 0.0], [True, False, False], some),
        ([0.9, 0.9, 0.0], [True, False, False], some),
        ([0.7], [True], some),
        ([1.0], [False], POPULATION - 3 * some),
    ]
    weights = np.concatenate([np.tile(kind, number) for kind, _, number in kinds])
    rejected = np.concatenate([np.tile(kind, number) for _, kind, number in kinds])
    sizes = np.concatenate([np.full(number, len(kind)) for kind, _, number in kinds])
    return Population(weights, rejected, sizes)


def labelled(folder: Path) -> Iterator[tuple[str, Population]]:
    """Each file of a folder as a population, by each score."""
    for path in sorted(folder.glob("*.jsonl")):
        answers = [json.loads(line)["claims"] for line in path.open(encoding="utf-8")]
        claims = [claim for answer in answers for claim in answer]
        rejected = np.array([claim["label"] != "Y" for claim in claims])
        sizes = np.array([len(answer) for answer in answers])
        for score, lowest, highest in (("gpt", 0.0, 1.0), ("frequency", -5.0, 5.0)):
            weights = np.array([claim[score] for claim in claims], dtype=float)
            scaled = (weights - lowest) / (highest - lowest)
            yield f"{path.stem}, {score}", Population(scaled, rejected, sizes)


def threshold_alone(certificate: ClaimCertificate, of: Of) -> float | None:
    """The threshold of a rule that has all of the error; with groups, nearly: their bets are those at its part."""
    starts = _STARTS if of == "served" else _STARTS[:1]
    certified = [
        step
        for start in starts
        for step in takewhile(
            lambda step: step.p <= ERROR / len(starts),
            [step for step in certificate.path if step.up_to <= start],
        )
        if step.good_kept > 0
    ]
    return min(certified).threshold if certified else None


def print_cell(
    population: Population, limit: float, n: int, of: Of, count: int
) -> tuple[bool, float]:
    """Print a row about data sets of one size; returns whether all is as it should be, and the ratio."""
    rng = np.random.default_rng(n)
    broken = np.zeros(2)
    given = np.zeros(2)
    kept, alone = np.zeros(len(RULES)), np.zeros(len(RULES))
    chosen = 0.0
    for _ in range(count):
        certificates = certify_claims(
            population.draw(rng, n), limit, error=ERROR, of=of
        )
        truths = [population.of(each, each.threshold) for each in certificates]
        breaks = np.array([truth[of == "served"] > limit + 1e-12 for truth in truths])
        merits = [
            (each.threshold is not None, each.step.good_kept) for each in certificates
        ]
        best = merits.index(max(merits))
        broken += breaks.any(), breaks[best]
        given += max(merits)[0], any(each.recommended for each in certificates)
        kept += [truth[2] for truth in truths]
        chosen += truths[best][2]
        alone += [
            population.of(each, threshold_alone(each, of))[2] for each in certificates
        ]
    broken, given, kept, alone = (each / count for each in (broken, given, kept, alone))
    ratio = chosen / count / alone.max() if alone.max() > 0 else np.nan
    mark = "!" if broken[0] > 0.065 else " "
    by_rule, by_rule_alone = (
        " ".join(f"{share:.2f}" for share in shares) for shares in (kept, alone)
    )
    print(
        f"{limit:<5} {n:>4}   {broken[0]:.3f}{mark} {broken[1]:.3f}  {given[0]:.2f} {given[1]:.2f}   "
        f"{by_rule}   {chosen / count:.3f}   {by_rule_alone}   {ratio:.2f}",
        flush=True,
    )
    return not mark.strip(), float(ratio)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", choices=["all", "served"], default="all")
    parser.add_argument("--world", nargs="*", choices=WORLDS, default=WORLDS)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--limit", type=float, nargs="*", default=LIMITS)
    parser.add_argument("--size", type=int, nargs="*")
    parser.add_argument("--sets", type=Path)
    args = parser.parse_args()
    sizes = args.size or (SET_SIZES if args.sets else SIZES)
    named = [
        (name, {limit: world(name, limit) for limit in args.limit})
        for name in args.world
    ]
    if args.sets:
        named = [
            (name, dict.fromkeys(args.limit, population))
            for name, population in labelled(args.sets)
        ]
    beyond, ratios = 0, []
    for name, populations in named:
        print(
            f"\n{name}, of {args.of}\nlimit    n   broken: any  certified  kept by rules    chosen  rules alone      ratio"
        )
        for limit, population in populations.items():
            for n in sizes:
                holds, ratio = print_cell(population, limit, n, args.of, args.count)
                beyond += not holds
                ratios.append(ratio)
    known = [ratio for ratio in ratios if ratio == ratio]  # noqa: PLR0124  # not nan
    print(
        f"\n{beyond} cells beyond their limit; ratio at least .9 in {np.sum(np.array(known) >= 0.9)} of {len(known)}"
    )
    return int(beyond > 0)


if __name__ == "__main__":
    raise SystemExit(main())

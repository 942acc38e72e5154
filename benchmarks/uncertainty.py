"""Whether what is said of a score's uncertainty is so: against brute force, and on simulated verdicts.

Run: python -m benchmarks.uncertainty
"""

from __future__ import annotations

import itertools
import math
import time
from typing import Any, Final

import numpy as np

from tcva_adapters import Assessment, ClaimVerdict, Result, aggregate
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.uncertainty import score_uncertainty
from tcva_adapters.core.verdicts import LEVELS, SCHEMES, FloatArray

TRIALS: Final = 5000
OVERCONFIDENT: Final = 2.0
MOST: Final = 5


def drawn_chances(rng: np.random.Generator, claims: int) -> FloatArray:
    """Probabilities of some claims, from flat to nearly certain; some of them certain."""
    rows = rng.dirichlet(np.full(len(LEVELS), rng.choice([0.1, 0.3, 1.0])), size=claims)
    certain = rng.random(claims) < 0.2
    rows[certain] = np.eye(len(LEVELS))[rng.integers(len(LEVELS), size=certain.sum())]
    return rows


def brute_force(
    chances: FloatArray, temperature: float, threshold: float, **settings: Any
) -> tuple[float, float]:
    """Mean and chance to pass, by walking through every combination of levels."""
    mean, passed = [], []
    for levels in itertools.product(range(len(LEVELS)), repeat=len(chances)):
        chance = math.prod(float(row[level]) for row, level in zip(chances, levels, strict=True))
        if chance:
            score = aggregate([LEVELS[level] for level in levels], temperature, **settings)
            mean.append(chance * score)
            passed.append(chance * (score >= threshold))
    return math.fsum(mean), math.fsum(passed)


def fused_brute_force(judges: list[FloatArray], threshold: float) -> tuple[float, float]:
    """The same of two judges with as many claims each, whose scores are fused at T = 0.5."""
    mean, passed = [], []
    claims = [len(chances) for chances in judges]
    rows = np.concatenate(judges)
    for levels in itertools.product(range(len(LEVELS)), repeat=sum(claims)):
        chance = math.prod(float(row[level]) for row, level in zip(rows, levels, strict=True))
        if chance:
            words = [LEVELS[level] for level in levels]
            scores = [aggregate(words[: claims[0]]), aggregate(words[claims[0] :])]
            score = math.exp(math.fsum(math.log(max(each, 1e-9)) for each in scores) / 2.0)
            score = min(max(score, min(scores)), max(scores))
            mean.append(chance * score)
            passed.append(chance * (score >= threshold))
    return math.fsum(mean), math.fsum(passed)


def assessed(chances: FloatArray, **more: Any) -> Assessment:
    """An assessment with these probabilities."""
    claims = tuple(
        ClaimVerdict(claim=f"{n}", verdict=LEVELS[row.index(max(row))], probabilities=tuple(row))
        for n, row in enumerate(chances.tolist())
    )
    return Assessment(criterion="c", judge="model", prompt_version="1", claims=claims, **more)


def print_differences() -> None:
    rng = np.random.default_rng(1)
    print("largest difference from brute force: mean, chance to pass")
    for claims in range(1, MOST + 1):
        worst = np.zeros(2)
        for temperature, penalty, scheme in itertools.product(
            PRESETS.values(), PENALTIES, SCHEMES.values() if claims < MOST else [None]
        ):
            settings: dict[str, Any] = {
                "penalty": penalty,
                **({"scheme": scheme} if scheme else {}),
            }
            chances = drawn_chances(rng, claims)
            words = [LEVELS[place] for place in rng.integers(len(LEVELS), size=claims)]
            threshold = aggregate(words, temperature, **settings)  # ties with it count, too
            found = score_uncertainty(chances, temperature, threshold=threshold, **settings)
            truth = brute_force(chances, temperature, threshold, **settings)
            worst = np.maximum(
                worst, np.abs(np.subtract((found.mean, found.pass_probability), truth))
            )
        print(f"  {claims} claims {worst[0]:.1e} {worst[1]:.1e}")
    worst = np.zeros(2)
    for _ in range(5):
        judges = [drawn_chances(rng, 2), drawn_chances(rng, 2)]
        seen = Result(assessed(judges[0], members=(assessed(judges[1]),))).at(0.5, threshold=0.6)
        fused = seen.uncertainty
        assert fused is not None
        truth = fused_brute_force(judges, 0.6)
        worst = np.maximum(worst, np.abs(np.subtract((fused.mean, fused.pass_probability), truth)))
    print(f"  2 judges fused, 2 claims each {worst[0]:.1e} {worst[1]:.1e}")


def print_coverage() -> None:
    rng = np.random.default_rng(2)
    print(
        f"\nhow often the 95 % interval has the score of verdicts that are drawn, {TRIALS} samples"
    )
    for what, sharper in (
        ("probabilities that are right", 1.0),
        ("squared: too sure", OVERCONFIDENT),
    ):
        inside = passing = said = 0.0
        for _ in range(TRIALS):
            truth = drawn_chances(rng, int(rng.integers(1, 13)))
            stated = truth**sharper
            stated /= stated.sum(axis=1, keepdims=True)
            words = [LEVELS[rng.choice(len(LEVELS), p=row)] for row in truth]
            score, found = aggregate(words), score_uncertainty(stated)
            inside += found.low <= score <= found.high
            passing += score >= 0.5
            said += found.pass_probability
        print(
            f"  {what:30} {inside / TRIALS:.1%}; {passing / TRIALS:.1%} pass, "
            f"mean chance to pass {said / TRIALS:.1%}"
        )


def print_speed() -> None:
    rng = np.random.default_rng(3)
    print("\nmilliseconds a sample, five levels possible for each claim")
    for claims in (2, 4, 8, 12, 20, 23, 24, 100):
        chances = rng.dirichlet(np.ones(len(LEVELS)), size=claims)
        begin, rounds = time.perf_counter(), 5
        for _ in range(rounds):
            found = score_uncertainty(chances)
        spent = 1000.0 * (time.perf_counter() - begin) / rounds
        print(f"  {claims:3} claims {spent:6.1f} {'exact' if found.is_exact else '10 000 draws'}")


def main() -> None:
    print_differences()
    print_coverage()
    print_speed()


if __name__ == "__main__":
    main()

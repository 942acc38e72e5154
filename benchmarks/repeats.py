"""Variance components, flips and lower bounds on simulated judges, whose true noise is known.

Run: python -m benchmarks.repeats
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters import TCVA, Sample, aggregate
from tcva_adapters.compare import repeat_report
from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.models.protocol import JudgeRequest, ModelReply, Sampling
from tcva_adapters.stats.variance import VarianceComponents, variance_components

TARGET: Final = 0.10
SAMPLES: Final = 2_000
REPEATS: Final = 5
CLAIMS: Final = 3
SETS: Final = 4_000
CONFIDENCE: Final = 0.95

Floats = npt.NDArray[np.float64]
_ROOM: Final = re.compile(r"^Room (\d+) is number (\d+)\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Judge:
    """Draws each verdict from the claim's own shares of the levels, by the seed that it is given.

    Attributes:
        shares: Shape (samples, claims, 5).
    """

    shares: Floats
    name: str = "simulated"
    follows_sampling: bool = True

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Nothing but the seed changes what it says."""
        return {"temperature": 1.0}

    def complete(self, request: JudgeRequest) -> ModelReply:
        """A verdict for each claim that the prompt shows."""
        seed = (request.sampling or Sampling()).seed_offset
        verdicts = {
            f"claim_{place}": {
                "quote_from_passage": f"Room {sample} is number {claim}.",
                "reason": "drawn",
                "verdict": self._level(int(sample), int(claim), seed),
            }
            for place, (sample, claim) in enumerate(_claims(request.user), start=1)
        }
        return ModelReply(json.dumps(verdicts))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """The same."""
        return self.complete(request)

    def _level(self, sample: int, claim: int, seed: int) -> str:
        draw = np.random.default_rng([sample, claim, seed])
        return LEVELS[int(draw.choice(len(LEVELS), p=self.shares[sample, claim]))].value


def _claims(prompt: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys(_ROOM.findall(prompt)))


def through_tcva() -> tuple[VarianceComponents, float, float, float, float]:
    """Repeats of a simulated judge, and the true components by all combinations of verdicts."""
    rng = np.random.default_rng(13)
    lean = rng.dirichlet(np.full(len(LEVELS), 0.6), SAMPLES)[:, None, :]
    noise = rng.dirichlet(np.full(len(LEVELS), 0.6), (SAMPLES, CLAIMS))
    shares = 0.7 * lean + 0.3 * noise
    shares /= shares.sum(axis=2, keepdims=True)
    tcva = TCVA(judge=Judge(shares), repeats=REPEATS, penalty="off")
    found = repeat_report(tcva.evaluate_many(map(_sample, range(SAMPLES)), progress=False))
    # Every combination of the claims' levels has a score and a probability: exact moments.
    combinations = list(product(range(len(LEVELS)), repeat=CLAIMS))
    scores = np.array([aggregate([LEVELS[i] for i in c], penalty="off") for c in combinations])
    chances = np.ones((SAMPLES, len(combinations)))
    for claim in range(CLAIMS):
        chances *= shares[:, claim, [c[claim] for c in combinations]]
    means = chances @ scores
    judge = float((chances @ scores**2 - means**2).mean())
    passing = chances @ (scores >= tcva.threshold)
    flips = float((1 - passing**REPEATS - (1 - passing) ** REPEATS).mean())
    return found.components, judge, float(means.var(ddof=1)), found.flip_rate, flips


def _sample(number: int) -> Sample:
    text = "\n".join(f"Room {number} is number {claim}." for claim in range(CLAIMS))
    return Sample(id=str(number), input="?", response=text, contexts=[text])


def normal(counts: Sequence[int]) -> Iterator[tuple[str, float, float]]:
    """Normal noise of a stated size, with so many scores of each sample in turn."""
    rng = np.random.default_rng(7)
    judge, sample = 0.02, 0.05
    n = np.resize(counts, 10 * SAMPLES)
    noise = rng.normal(0, judge**0.5, (len(n), max(counts)))
    noise[np.arange(max(counts)) >= n[:, None]] = np.nan
    found = variance_components(rng.normal(0.6, sample**0.5, (len(n), 1)) + noise)
    yield "judge", found.judge, judge
    yield "sample", found.sample, sample


def bound(n: int, repeats: int, failing: float | None) -> float:
    """How often the lower bound of a mean is below the truth, over `SETS` sets of n samples.

    Args:
        n: How many there are.
        repeats: Of each; a score is the mean of as many of four claims that hold or do not.
        failing: Samples that are wrong throughout, where all others are right; None for samples
            of all kinds.
    """
    rng = np.random.default_rng(29)
    held = 0
    for _ in range(SETS):
        own = rng.beta(4, 2, n) if failing is None else (rng.random(n) >= failing).astype(float)
        scores = rng.binomial(4, own, (repeats, n)).mean(axis=0) / 4
        graded = Graded("m", [Case(str(i), float(score)) for i, score in enumerate(scores)])
        low = graded.sure_mean(CONFIDENCE)
        held += low is not None and low <= (4 / 6 if failing is None else 1 - failing)
    return held / SETS


def line(what: str, found: float, true: float) -> str:
    """A figure beside the truth."""
    off = found / true - 1.0
    verdict = "ok" if abs(off) <= TARGET else "OFF"
    return f"{what:46} {found:8.5f} {true:8.5f} {off:+7.1%}  {verdict}"


def main() -> None:
    """Print everything."""
    print(f"{SAMPLES} samples, {10 * SAMPLES} of normal noise; target: within {TARGET:.0%}")
    print(f"{'':46} {'found':>8} {'true':>8} {'off':>7}")
    components, judge, sample, flip_rate, flips = through_tcva()
    print(line(f"verdicts of {REPEATS} repeats, variance by the judge", components.judge, judge))
    print(line("  variance by the samples", components.sample, sample))
    print(line("  flip rate", flip_rate, flips))
    for counts in ((3,), (2, 3, 5)):
        for what, found, true in normal(counts):
            of = "/".join(map(str, counts))
            print(line(f"normal noise, {of} scores a sample, {what}", found, true))
    print(f"\nlower bound at {CONFIDENCE:.0%}, {SETS} sets: how often it is below the true mean")
    for n, repeats in product((20, 60), (1, 5)):
        print(f"  {n} samples, {repeats} repeats: {bound(n, repeats, None):.3f}")
    for n, failing in product((20, 60), (0.02, 0.05, 0.1, 0.2)):
        print(f"  {n} samples, of which {failing:.0%} fail: {bound(n, 1, failing):.3f}")


if __name__ == "__main__":
    main()

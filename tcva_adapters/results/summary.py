"""What a batch of results amounts to: means with their coverage, and why the rest has none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.printing import Part, Report, Table, counted, figure, share, shortened
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.result import Result

_DETAIL: Final = 200

FEW_SAMPLES: Final = 30
"""Scored samples below which a pass rate hardly says anything about others."""


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Report):
    """Figures of a batch.

    Attributes:
        samples: How many there were.
        scored: How many have a score; every mean is over these.
        mean: Mean score, or None where nothing has a score.
        passed: How many of them reach the threshold.
        levels: Claims per level, fully first.
        evidence: How many verdicts were lowered for their quotes, or could not be checked.
        unscored: Samples per reason.
        details: What the first sample says of each reason.
        usage: Calls, tokens and cost of this run; what a store served costs nothing.
        served: How many samples a store served.
    """

    samples: int
    scored: int
    mean: float | None
    passed: int
    levels: dict[str, int]
    evidence: EvidenceCounts
    unscored: dict[str, int]
    details: dict[str, str]
    usage: Usage
    served: int

    @property
    def coverage(self) -> float:
        """Share of the samples that have a score; 1 for an empty batch."""
        return self.scored / self.samples if self.samples else 1.0

    @property
    def pass_rate(self) -> float | None:
        """Share of the scored samples that pass."""
        return self.passed / self.scored if self.scored else None

    @property
    def sentence(self) -> str:
        """The pass rate with its samples, the mean, and how many have no score."""
        return self.passing("")

    def passing(self, at: str, *, judge: str = "") -> str:
        """The same with the setting of the dial, and with what is to be known of the judge.

        Args:
            at: The setting, ``" at T=0.5"``.
            judge: In a few words; may be empty.
        """
        if not self.scored:
            return f"None of {counted(self.samples, 'sample')} has a score"
        lacking = self.samples - self.scored
        said = [f"mean {figure(self.mean)}"]
        if lacking:
            said.append(f"{lacking} of {self.samples} {'has' if lacking == 1 else 'have'} no score")
        if self.scored < FEW_SAMPLES:
            said.append("few samples: another draw may look different")
        if judge:
            said.append(judge)
        passes = f"{share(self.pass_rate)} of {counted(self.scored, 'scored sample')} pass"
        return f"{passes}{'es' * (self.scored == 1)}{at} ({'; '.join(said)})"

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {
            "sentence": self.sentence,
            "samples": self.samples,
            "scored": self.scored,
            "coverage": self.coverage,
            "mean_score": self.mean,
            "pass_rate": self.pass_rate,
            "levels": self.levels,
            "evidence": self.evidence.to_dict(),
            "unscored": self.unscored,
            "details": self.details,
            "from_store": self.served,
            "usage": self.usage.model_dump(),
        }

    def parts(self) -> Iterator[Part]:
        """Mean, passes, coverage and levels; what quotes lowered; the unscored; what it cost."""
        figures = (
            figure(self.mean),
            f"{self.passed}/{self.scored}",
            f"{self.scored}/{self.samples}",
            *map(str, self.levels.values()),
        )
        yield Table(("mean", "passed", "scored", *self.levels), [figures], "r")
        yield from self.evidence.lines()
        for reason, number in self.unscored.items():
            yield f"unscored: {number} {reason} ({shortened(self.details[reason], _DETAIL)})"
        used = self.usage
        if used.calls or self.served:
            yield (
                f"{counted(used.calls, 'call')}, {used.input_tokens} + {used.output_tokens} tokens; "
                f"{counted(self.served, 'sample')} from the store"
            )


def summarise(results: Sequence[Result]) -> Summary:
    """The figures of a batch of results."""
    scores = [result.score for result in results if result.score is not None]
    levels = Counter(v for result in results for v in result.assessment.verdicts)
    unscored = [result.unscored for result in results if result.unscored is not None]
    reasons = Counter(each.reason.value for each in unscored)
    return Summary(
        samples=len(results),
        scored=len(scores),
        mean=math.fsum(scores) / len(scores) if scores else None,
        passed=sum(bool(result.passed) for result in results),
        levels={level.value: levels[level] for level in LEVELS},
        evidence=EvidenceCounts.of(result.assessment for result in results),
        unscored=dict(reasons.most_common()),
        details={each.reason.value: each.detail for each in reversed(unscored)},
        usage=sum((result.usage for result in results), Usage()),
        served=sum(result.assessment.from_store for result in results),
    )

"""What a batch of results amounts to: means with their coverage, and why the rest has none."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.printing import Part, Table, counted, figure, share, shortened
from tcva_adapters.results.assessment import Unscored, Usage
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.result import Result

_DETAIL: Final = 200

FEW_SAMPLES: Final = 30
"""Scored samples below which a pass rate hardly says anything about others."""


@dataclass(slots=True, eq=False)
class Scores:
    """Scores that come one after the other, and why the other samples have none.

    Attributes:
        samples: How many samples there were.
        passed: How many reach the threshold.
        details: What the first sample says of each reason, in the order of these samples.
        fatal: Why no call could succeed; None where that was not seen.
    """

    samples: int = 0
    passed: int = 0
    details: dict[str, str] = field(default_factory=dict)
    fatal: str | None = None
    _values: array[float] = field(default_factory=lambda: array("d"))
    _reasons: Counter[str] = field(default_factory=Counter)

    def add_score(
        self, score: float | None, *, passed: bool | None = None, why: Unscored | None = None
    ) -> None:
        """One sample more.

        >>> from tcva_adapters.results.assessment import Reason
        >>> scores = Scores()
        >>> scores.add_score(0.5, passed=True)
        >>> scores.add_score(None, why=Unscored(reason=Reason.REFUSAL))
        >>> scores.mean, scores.coverage, scores.unscored
        (0.5, 0.5, {'refusal': 1})
        """
        self.samples += 1
        if score is not None:
            self._values.append(score)
            self.passed += bool(passed)
        if why is not None:
            self._reasons[why.reason.value] += 1
            self.details.setdefault(why.reason.value, why.detail)
            if why.fatal and self.fatal is None:
                self.fatal = why.detail

    @property
    def scored(self) -> int:
        """How many samples have a score; every mean is over these."""
        return len(self._values)

    @property
    def mean(self) -> float | None:
        """Mean score, or None where nothing has a score."""
        return math.fsum(self._values) / self.scored if self.scored else None

    @property
    def coverage(self) -> float:
        """Share of the samples that have a score; 1 without samples."""
        return self.scored / self.samples if self.samples else 1.0

    @property
    def pass_rate(self) -> float | None:
        """Share of the scored samples that pass."""
        return self.passed / self.scored if self.scored else None

    @property
    def unscored(self) -> dict[str, int]:
        """Samples per reason, the most frequent first."""
        return dict(self._reasons.most_common())

    def lines(self) -> list[str]:
        """How many have no score for each reason, and what the first of them says, shortened."""
        return [
            f"{number} {reason} ({shortened(self.details[reason], _DETAIL)})"
            for reason, number in self.unscored.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        names = ("mean", "scored", "coverage", "unscored", "details")
        return {name: getattr(self, name) for name in names}

    def check(self) -> None:
        """Refuse scores that say nothing.

        Raises:
            JudgeError: No call of the judge could succeed.
            InvalidSampleError: There are samples, and none has a score.
        """
        if self.fatal is not None:
            raise JudgeError(self.fatal, fatal=True)
        if self.samples and not self.scored:
            reasons = ", ".join(f"{number} {reason}" for reason, number in self.unscored.items())
            first = next(iter(self.details.values()))
            msg = f"no sample has a score: {reasons}; the first: {first}"
            raise InvalidSampleError(msg)


@dataclass(slots=True, eq=False)
class Summary(Scores):
    """Figures of results that come one after the other; none of these is held.

    Attributes:
        evidence: How many verdicts were lowered for their quotes, or could not be checked.
        usage: Calls, tokens and cost of this run; what a store served costs nothing.
        served: How many samples a store served.
    """

    evidence: EvidenceCounts = field(default_factory=lambda: EvidenceCounts.of(()))
    usage: Usage = field(default_factory=Usage)
    served: int = 0
    _levels: Counter[Verdict] = field(default_factory=Counter)

    def add(self, result: Result) -> None:
        """One more."""
        judged = result.assessment
        self.add_score(result.score, passed=result.passed, why=result.unscored)
        self.served += judged.from_store
        self._levels.update(result.seen.verdicts)
        self.evidence += EvidenceCounts.of([judged], result.scoring.evidence)
        self.usage += result.usage

    @property
    def levels(self) -> dict[str, int]:
        """Claims per level, fully first."""
        return {level.value: self._levels[level] for level in LEVELS}

    def passing(self, at: str, *, judge: str = "") -> str:
        """The pass rate with its samples, the mean, and how many have no score, in a sentence.

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
        """Mean, passes, coverage, levels; what quotes lowered; the unscored; the cost."""
        figures = (
            figure(self.mean),
            f"{self.passed}/{self.scored}",
            f"{self.scored}/{self.samples}",
            *map(str, self.levels.values()),
        )
        yield Table(("mean", "passed", "scored", *self.levels), [figures], "r")
        yield from self.evidence.lines()
        for why in self.lines():
            yield f"unscored: {why}"
        yield from cost_lines(self.usage, self.served, "sample")


def cost_lines(usage: Usage, served: int, what: str) -> Iterator[str]:
    """What a run cost, and what a store served; nothing where neither was."""
    if usage.calls or served:
        yield (
            f"{counted(usage.calls, 'call')}, {usage.input_tokens} + {usage.output_tokens} tokens; "
            f"{counted(served, what)} from the store"
        )

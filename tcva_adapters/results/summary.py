"""What a batch of results amounts to: means with their coverage, and why the rest has none."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.printing import Part, Report, Table, counted, figure, share, shortened
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.result import Result

_DETAIL: Final = 200

WRITTEN: Final = "written"
"""The usual form of verdicts, which goes without saying."""

FEW_SAMPLES: Final = 30
"""Scored samples below which a pass rate hardly says anything about others."""


def form_lines(forms: Mapping[str, int], samples: int) -> Iterator[str]:
    """In which forms verdicts were asked for; nothing where all are written.

    >>> list(form_lines({"yes_no": 3}, 4)), list(form_lines({"written": 4}, 4))
    (['verdicts asked for as yes_no: 3 of 4 samples'], [])
    """
    if forms.keys() - {WRITTEN}:
        used = "; ".join(f"{form}: {number}" for form, number in forms.items())
        yield f"verdicts asked for as {used} of {counted(samples, 'sample')}"


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
        details: What the first sample says of each reason, in the order of these samples.
        usage: Calls, tokens and cost of this run; what a store served costs nothing.
        served: How many samples a store served.
        fatal: Why no call could succeed; None where that was not seen.
        forms: Samples by the form in which verdicts were asked for; none of judges without forms.
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
    fatal: str | None = None
    forms: dict[str, int] = field(default_factory=dict)

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
            "forms": self.forms,
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
        yield from form_lines(self.forms, self.samples)
        yield from self.evidence.lines()
        for reason, number in self.unscored.items():
            yield f"unscored: {number} {reason} ({shortened(self.details[reason], _DETAIL)})"
        cost = self.usage
        if cost.calls or self.served:
            yield (
                f"{counted(cost.calls, 'call')}, {cost.input_tokens} + {cost.output_tokens} tokens; "
                f"{counted(self.served, 'sample')} from the store"
            )


class Tally:
    """The figures of results that come one after the other; none of these is held."""

    def __init__(self) -> None:
        self._samples = self._passed = self._scored = self._served = 0
        self._scores = array("d")
        self._levels: Counter[Verdict] = Counter()
        self._evidence = EvidenceCounts.of(())
        self._reasons: Counter[str] = Counter()
        self._details: dict[str, str] = {}
        self._fatal: str | None = None
        self._forms: Counter[str] = Counter()
        self._usage = Usage()

    def add(self, result: Result) -> None:
        """One more."""
        judged, why = result.assessment, result.unscored
        self._samples += 1
        self._passed += bool(result.passed)
        self._served += judged.from_store
        if result.score is not None:
            self._scored += 1
            self._scores.append(result.score)
        self._levels.update(result.seen.verdicts)
        self._evidence += EvidenceCounts.of([judged], result.scoring.evidence)
        self._usage += result.usage
        self._forms.update([judged.form] if judged.form else [])
        if why is not None:
            self._reasons[why.reason.value] += 1
            self._details.setdefault(why.reason.value, why.detail)
            if why.fatal and self._fatal is None:
                self._fatal = why.detail

    @property
    def summary(self) -> Summary:
        """The figures of those that came."""
        return Summary(
            samples=self._samples,
            scored=self._scored,
            mean=math.fsum(self._scores) / self._scored if self._scored else None,
            passed=self._passed,
            levels={level.value: self._levels[level] for level in LEVELS},
            evidence=self._evidence,
            unscored=dict(self._reasons.most_common()),
            details=self._details,
            usage=self._usage,
            served=self._served,
            fatal=self._fatal,
            forms=dict(self._forms.most_common()),
        )


def summarise(results: Iterable[Result]) -> Summary:
    """The figures of a batch of results."""
    tally = Tally()
    for result in results:
        tally.add(result)
    return tally.summary

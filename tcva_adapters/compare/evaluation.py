"""A batch of results with who judged it: what ``tcva evaluate`` prints, and its gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tcva_adapters.compare.agreement import PanelReport, panel_report
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.printing import Part, Report
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.result import Result
from tcva_adapters.results.summary import Summary, summarise
from tcva_adapters.samples.files import SampleFile
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

COVERAGE = "coverage"


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Report):
    """Results of one `TCVA`.

    Attributes:
        tcva: Who judged, and the dial.
        results: In the order of the samples.
        summary: Their figures.
        skipped: Samples of the file that were left out.
    """

    tcva: TCVA
    results: Sequence[Result]
    summary: Summary
    skipped: int

    @classmethod
    def of(cls, tcva: TCVA, results: Sequence[Result], *, skipped: int = 0) -> Self:
        """The report of a batch.

        Args:
            tcva: Who made the results.
            results: From `TCVA.evaluate_many`.
            skipped: Samples that were left out before.
        """
        return cls(tcva, results, summarise(results), skipped)

    @property
    def sentence(self) -> str:
        """How many samples pass at this setting of the dial, the mean, and what to doubt."""
        tcva = self.tcva
        profiles = "" if tcva.profiles is None else f" or by {tcva.profiles.by!r}"
        lexical = "the lexical judge only compares words" if tcva.judge.is_local else ""
        at = f" at T={tcva.scoring.temperature:g}{profiles}"
        return self.summary.passing(at, judge=lexical)

    def to_dict(self) -> dict[str, Any]:
        """The settings and figures as plain values."""
        tcva, dial = self.tcva, self.tcva.scoring
        figures: dict[str, Any] = {
            "criterion": tcva.criterion.name,
            "judge": tcva.judge.name,
            "temperature": dial.temperature,
            "scheme": dial.scheme.name,
            "penalty": dial.penalty,
            "threshold": dial.threshold,
            "skipped": self.skipped,
            **self.summary.to_dict(),
            "sentence": self.sentence,
        }
        if tcva.members:
            figures["fused"] = self.additional_judges()
        if tcva.profiles is not None:
            figures["profiles"] = {"by": tcva.profiles.by, "values": list(tcva.profiles.values)}
        if tcva.panel_judges:
            figures["panel"] = self.panel().to_dict()
        return figures

    def additional_judges(self) -> list[dict[str, Any]]:
        """The judges that were fused with the first, and on how many samples each was left out."""
        fused = [r.assessment.members for r in self.results if r.assessment.members]
        return [
            {
                "judge": member.judge.name,
                "criterion": member.criterion.name,
                "left_out": sum(judged[place].unscored is not None for judged in fused),
            }
            for place, member in enumerate(self.tcva.members)
        ]

    def panel(self) -> PanelReport:
        """How far the panel's judges agree.

        Raises:
            InvalidValueError: The judge is no panel.
        """
        return panel_report([result.assessment for result in self.results])

    def parts(self) -> Iterator[Part]:
        """Who judged and the dial, the summary, and the panel where there is one."""
        tcva, dial = self.tcva, self.tcva.scoring
        yield (
            f"{tcva.criterion.name} by {tcva.judge.name}; T={dial.temperature:g}, "
            f"{dial.scheme.name} weights, {dial.penalty} penalty, threshold {dial.threshold:g}"
        )
        for member in self.additional_judges():
            left_out = f"; left out on {n} samples" if (n := member["left_out"]) else ""
            yield f"fused with {member['criterion']} by {member['judge']}{left_out}"
        if tcva.profiles is not None:
            yield f"other settings by {tcva.profiles.by!r}: {', '.join(tcva.profiles.values)}"
        yield from self.summary.parts()
        if tcva.panel_judges:
            yield from self.panel().parts()

    def check(self) -> None:
        """Refuse a batch that says nothing.

        Raises:
            JudgeError: No call of the judge could succeed.
            InvalidSampleError: There are samples, and none has a score.
        """
        unscored = [result.unscored for result in self.results if result.unscored is not None]
        for each in unscored:
            if each.fatal:
                raise JudgeError(each.detail, fatal=True)
        if self.results and self.summary.scored == 0:
            counts = self.summary.unscored.items()
            reasons = ", ".join(f"{number} {reason}" for reason, number in counts)
            msg = f"no sample has a score: {reasons}; the first: {unscored[0].detail}"
            raise InvalidSampleError(msg)

    def failed_gates(self, gates: Mapping[str, float | None]) -> list[str]:
        """What lies below its gate, in sentences.

        Where the judge lost samples and no coverage is asked for, that is a failure too.

        Args:
            gates: Least ``mean score``, ``pass rate`` and ``coverage``; None for no gate.
        """
        summary = self.summary
        reached = {
            "mean score": summary.mean,
            "pass rate": summary.pass_rate,
            COVERAGE: summary.coverage,
        }
        failed = []
        lost = sum(n for reason, n in summary.unscored.items() if Reason(reason).is_failure)
        if lost and any(gates.values()) and gates[COVERAGE] is None:
            lacking = f"{lost} of {summary.samples} samples have no score because the judge failed"
            failed = [f"{lacking} (--min-coverage says how many may)"]
        return failed + [
            f"{name} {reached[name] or 0.0:.3f} < {least:g}"
            for name, least in gates.items()
            if least is not None and (reached[name] or 0.0) < least
        ]


def check_gates(gates: Mapping[str, float | None]) -> None:
    """Refuse gates outside [0, 1] before any work is done.

    Raises:
        InvalidValueError: A gate lies outside.
    """
    for name, least in gates.items():
        if least is not None and not 0.0 <= least <= 1.0:
            msg = f"the gate on the {name} is {least!r}; it lies in [0, 1]"
            raise InvalidValueError(msg)


def with_needed_fields(
    tcva: TCVA, read: SampleFile, *, skip_bad: bool
) -> tuple[list[Sample], list[tuple[int, str]]]:
    """The samples that have what the criterion needs, and line and message of the others.

    Raises:
        InvalidSampleError: A sample lacks something, and is not to be skipped.
    """
    usable, lacking = [], []
    for line, sample in zip(read.lines, read.samples, strict=True):
        try:
            tcva.require(sample)
        except InvalidSampleError as error:
            if not skip_bad:
                msg = f"line {line}: {error}; name it with --map, or leave it out with --skip-bad"
                raise InvalidSampleError(msg) from None
            lacking.append((line, str(error)))
        else:
            usable.append(sample)
    return usable, lacking

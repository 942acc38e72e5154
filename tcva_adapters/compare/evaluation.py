"""A batch of results with who judged it: what ``tcva evaluate`` prints, and its gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from tcva_adapters.compare.agreement import PanelReport, panel_report
from tcva_adapters.compare.gates import Gated, Gates
from tcva_adapters.compare.graded import grade_tcva, part_names
from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.printing import Part, Report
from tcva_adapters.results.result import Result
from tcva_adapters.results.summary import Summary, summarise
from tcva_adapters.samples.files import SampleFile
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Report):
    """Results of one `TCVA`.

    Attributes:
        tcva: Who judged, and the dial.
        results: In the order of the samples.
        summary: Their figures.
        skipped: Samples of the file that were left out.
        gated: What came of its gates.
    """

    tcva: TCVA
    results: Sequence[Result]
    summary: Summary
    skipped: int
    gated: Gated

    @classmethod
    def of(
        cls,
        tcva: TCVA,
        results: Sequence[Result],
        *,
        skipped: int = 0,
        gates: Gates | None = None,
    ) -> Self:
        """The report of a batch.

        Args:
            tcva: Who made the results.
            results: From `TCVA.evaluate_many`.
            skipped: Samples that were left out before.
            gates: What is asked for, by the criterion's name and those of `part_names`.

        Raises:
            InvalidValueError: A gate is for something else.
        """
        gates = gates or Gates()
        check_gates(gates, tcva)
        gated = gates.judge(grade_tcva(tcva, results))
        return cls(tcva, results, summarise(results), skipped, gated)

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
            "gates": self.gated.to_dict(),
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


def check_gates(gates: Gates, tcva: TCVA) -> None:
    """Refuse gates on judges or criteria that a `TCVA` does not have, before any work is done.

    Raises:
        InvalidValueError: There is such a gate.
    """
    gates.check_names([tcva.criterion.name, *part_names(tcva)])


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

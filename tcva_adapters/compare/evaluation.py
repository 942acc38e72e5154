"""A batch of results with who judged it: what ``tcva evaluate`` prints, and its gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tcva_adapters.compare.gates import Gated, Gates
from tcva_adapters.compare.graded import case_name, grade_tcva, part_names
from tcva_adapters.compare.grouping import group_of
from tcva_adapters.compare.labels import Labels
from tcva_adapters.compare.ratings import human_ratings
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.judges.panel import Repeats
from tcva_adapters.printing import Part, Report
from tcva_adapters.results.result import Result
from tcva_adapters.results.summary import Summary
from tcva_adapters.tcva import TCVA

if TYPE_CHECKING:  # most evaluations have no panel and no repeats
    from tcva_adapters.compare.agreement import PanelReport
    from tcva_adapters.compare.repeats import RepeatReport


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Report):
    """Results of one `TCVA`.

    Attributes:
        tcva: Who judged, and the dial.
        results: In the order of the samples.
        summary: Their figures.
        skipped: Samples of the file that were left out.
        gated: What came of its gates.
        left_out: On how many samples each of the additional judges was left out.
        human: Where the human ratings of a panel's samples are: a field of theirs, or a file of
            labels; None for nowhere.
        group: The metadata field of what samples belong to; None where they stand alone.
    """

    tcva: TCVA
    results: Sequence[Result]
    summary: Summary
    skipped: int
    gated: Gated
    left_out: tuple[int, ...] = ()
    human: str | Labels | None = None
    group: str | None = None

    @classmethod
    def of(
        cls,
        tcva: TCVA,
        results: Sequence[Result],
        *,
        skipped: int = 0,
        gates: Gates | None = None,
        group: str | None = None,
        human: str | Labels | None = None,
    ) -> Evaluation:
        """The report of a batch.

        Args:
            tcva: Who made the results.
            results: From `TCVA.evaluate_many`.
            skipped: Samples that were left out before.
            gates: What is asked for, by the criterion's name and those of `part_names`.
            group: The metadata field of what samples belong to (a document): a gate's confidence,
                and a panel's intervals, are about other groups then.
            human: See `Evaluation`.

        Raises:
            InvalidValueError: A gate is for something else.
            InvalidSampleError: A sample belongs to no group.
        """
        running = Running(tcva, gates or Gates(), group=group)
        for result in results:
            running.add(result)
        return running.ended(results, skipped=skipped, human=human)

    @property
    def sentence(self) -> str:
        """How many samples pass at this setting of the dial, the mean, and what to doubt."""
        tcva = self.tcva
        profiles = f" or by {next(iter(tcva.profiles))!r}" if tcva.profiles else ""
        lexical = "the lexical judge only compares words" if tcva.judge.is_local else ""
        at = f" at {tcva.scoring.place}{profiles}"
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
            "evidence_view": dial.evidence,
            "skipped": self.skipped,
            **self.summary.to_dict(),
            "sentence": self.sentence,
            "gates": self.gated.to_dict(),
        }
        if tcva.members:
            figures["fused"] = self.additional_judges()
        for by, values in (tcva.profiles or {}).items():
            figures["profiles"] = {"by": by, "values": list(values)}
        if self.tcva.has_panel:
            figures["panel"] = self.panel().to_dict()
        if isinstance(tcva.judge, Repeats):
            figures["repeats"] = self.repeats().to_dict()
        return figures

    def additional_judges(self) -> list[dict[str, Any]]:
        """The judges that were fused with the first, and on how many samples each was left out."""
        return [
            {
                "judge": member.judge.name,
                "criterion": member.criterion.name,
                "left_out": left_out,
            }
            for member, left_out in zip(self.tcva.members, self.left_out, strict=True)
        ]

    def panel(self) -> PanelReport:
        """How far the panel's judges agree, and what they are worth; of repeats, in the first one.

        Raises:
            InvalidValueError: The judge is no panel, or no sample has a human rating.
        """
        from tcva_adapters.compare.agreement import panel_report  # noqa: PLC0415  # as above
        from tcva_adapters.compare.several import once  # noqa: PLC0415  # as above

        views = [once(result.seen) for result in self.results]
        groups = None
        if (field := self.group) is not None:
            groups = [group_of(view.metadata, field, view.sample_id or "") for view in views]
        scoring = self.tcva.scoring
        return panel_report(views, human=self._ratings(), scoring=scoring, groups=groups)

    def repeats(self) -> RepeatReport:
        """What the repeats show.

        Raises:
            InvalidValueError: The samples were judged once.
        """
        from tcva_adapters.compare.repeats import repeat_report  # noqa: PLC0415  # as above

        return repeat_report(self.results)

    def _ratings(self) -> FloatArray | None:
        """Human ratings, one per sample."""
        human = self.human
        if isinstance(human, Labels):
            names = [case_name(result, place) for place, result in enumerate(self.results, start=1)]
            found = human.of(names)
            return np.array([found.get(name, np.nan) for name in names])
        if human is None:
            return None
        return human_ratings((result.assessment.metadata for result in self.results), human)

    def parts(self) -> Iterator[Part]:
        """Who judged and the dial, the summary, the panel and the repeats where there are some."""
        tcva, dial = self.tcva, self.tcva.scoring
        yield (
            f"{tcva.criterion.name} by {tcva.judge.name}; {dial.place}, "
            f"{dial.scheme.name} weights, {dial.penalty} penalty, threshold {dial.threshold:g}"
        )
        for member in self.additional_judges():
            left_out = f"; left out on {n} samples" if (n := member["left_out"]) else ""
            yield f"fused with {member['criterion']} by {member['judge']}{left_out}"
        for by, values in (tcva.profiles or {}).items():
            yield f"other temperatures by {by!r}: {', '.join(values)}"
        yield from self.summary.parts()
        if self.tcva.has_panel:
            yield from self.panel().parts()
        if isinstance(tcva.judge, Repeats):
            found = self.repeats()
            yield found.sentence
            yield from found.parts()

    def check(self) -> None:
        """Refuse a batch that says nothing; see `Scores.check`."""
        self.summary.check()


class Running:
    """An evaluation whose results come one after the other; it holds figures alone.

    Args:
        tcva: Who makes the results.
        gates: See `Evaluation.of`.
        group: See there.

    Raises:
        InvalidValueError: A gate is for something else.
    """

    def __init__(self, tcva: TCVA, gates: Gates, *, group: str | None = None) -> None:
        gates.check_names([tcva.criterion.name, *part_names(tcva)])
        self._tcva, self._gates, self._group = tcva, gates, group
        self._summary = Summary()
        self._left_out = [0] * len(tcva.members)

    def add(self, result: Result) -> None:
        """One more."""
        self._summary.add(result)
        for place, judged in enumerate(result.assessment.members):
            self._left_out[place] += judged.unscored is not None

    def ended(
        self, results: Sequence[Result], *, skipped: int, human: str | Labels | None = None
    ) -> Evaluation:
        """The whole of it.

        Args:
            results: All that came, to be looked at one at a time by gates and pages; may be empty
                where nobody looks.
            skipped: Samples that were left out.
            human: See `Evaluation`.
        """
        gated = self._gates.judge(grade_tcva(self._tcva, results, group=self._group))
        summary, left_out = self._summary, tuple(self._left_out)
        more = (summary, skipped, gated, left_out, human, self._group)
        return Evaluation(self._tcva, results, *more)

"""What a comparison found: scores, figures, and its printed form."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy.typing as npt

from tcva_adapters.compare.existing.imports import ImportedScores
from tcva_adapters.compare.fused import FusedRow
from tcva_adapters.compare.gates import Gated, Gates
from tcva_adapters.compare.graded import grade_table
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.raters import Raters
from tcva_adapters.compare.repeats import RepeatReport, repeat_report
from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.running.details import SampleDetails, write_details
from tcva_adapters.compare.running.folder import (
    ASSESSMENTS,
    DETAILS,
    PARQUET,
    SCORES,
    SETTINGS,
    SUMMARY,
    check_folder,
)
from tcva_adapters.compare.running.run import Models, Outcome, profile_name, tcva_name
from tcva_adapters.compare.running.write import write_csv, write_json, write_parquet
from tcva_adapters.compare.several import once
from tcva_adapters.compare.views.decision_text import brief_decisions, decision_parts
from tcva_adapters.compare.views.decisions import DecisionView
from tcva_adapters.compare.views.same_samples import SameSamples
from tcva_adapters.compare.views.sentence import comparison_sentence
from tcva_adapters.compare.views.summary import TableSummary
from tcva_adapters.compare.views.summary_text import brief_parts, notes_parts, summary_parts
from tcva_adapters.compare.worth import PanelWorth, panel_worth
from tcva_adapters.judges.panel import Repeats
from tcva_adapters.printing import Part, Tabular, Wrapped, counted
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_NO_GAIN: Final = "its gain shows on ten samples or more with human ratings: --human"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Tabular):
    """Framework metrics, imported scores and TCVA on the same samples.

    Attributes:
        tcva: Who judged, and the dial.
        temperatures: TCVA's.
        samples: What was judged, each with an id of its own.
        outcome: TCVA's results, and what the run made, was served, and spent.
        rows: A score, or the reason for none, per sample and method.
        table: The same as a matrix, with human ratings where there are any.
        summary: Each method alone, in pairs, and against human ratings.
        decisions: Pass and fail under TCVA against the other methods.
        raters: Who rated, where there are several; None otherwise.
        imported: Scores that were made elsewhere.
        members: By fused method, how many samples have so many members.
        groups: What the samples of the table belong to; None where they stand alone.
        gains: By fused method, its gain over the best member, where human ratings show one.
        left_out: Metrics and fused methods that are not in it, with the reason.
        skipped: Lines of the samples' file that are not in it, with the reason.
        settings: What was asked for, by name, as JSON values: `save` goes by them.
        ways: TCVA with parts of the method taken out, and other judgements of the same samples.
        gates: The least mean score, pass rate and coverage that were asked for.
        models: Those behind the frameworks' LLMs; they are held so that their connections are
            closed with the event loop.
    """

    tcva: TCVA
    temperatures: tuple[float, ...]
    samples: Sequence[Sample]
    outcome: Outcome
    rows: Sequence[Row]
    table: ScoreTable
    summary: TableSummary
    decisions: DecisionView
    raters: Raters | None
    imported: tuple[ImportedScores, ...]
    members: Mapping[str, Mapping[int, int]]
    gains: Mapping[str, FusedRow]
    groups: Sequence[Hashable] | None
    left_out: tuple[str, ...]
    skipped: tuple[tuple[int, str], ...]
    settings: Mapping[str, Any]
    ways: tuple[SameSamples, ...]
    gates: Gates
    models: Models | None

    @property
    def results(self) -> Sequence[Result]:
        """TCVA's, one per sample, in order; each is read anew from a temporary file."""
        return self.outcome.results

    @property
    def evidence(self) -> EvidenceCounts:
        """How many of TCVA's verdicts were lowered for their quotes, or could not be checked."""
        return self.outcome.evidence

    @property
    def lead(self) -> str:
        """The method that is told about first: TCVA at the middle one of the temperatures."""
        return tcva_name(self._middle)

    @property
    def sentence(self) -> str:
        """Which method agrees best with human ratings, or else who decides most like TCVA."""
        lexical = self.tcva.judge.is_local
        return comparison_sentence(self.summary, self.decisions, self.lead, lexical=lexical)

    @property
    def gated(self) -> Gated:
        """What came of the gates, method by method."""
        ours = {tcva_name(t) for t in self.temperatures}
        if self.tcva.profiles is not None:
            ours.add(profile_name(self.tcva.profiles))
        graded = grade_table(
            self.table,
            self.rows,
            self.summary.methods,
            dict.fromkeys(ours, self.results),
            self.tcva.judge.name,
            self.groups,
        )
        return self.gates.judge(graded)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values; what is undefined is None."""
        outcome = self.outcome
        return {
            "sentence": self.sentence,
            "criterion": self.tcva.criterion.name,
            "judge": self.tcva.judge.name,
            "temperatures": list(self.temperatures),
            SETTINGS: dict(self.settings),
            "run": {
                "judged": outcome.judged,
                "cached": outcome.cached,
                "spent": outcome.spent.model_dump(),
                "left_out": list(self.left_out),
                "skipped": len(self.skipped),
            },
            "gates": self.gated.to_dict(),
            "ways": [each.to_dict() for each in self.ways],
            "evidence": self.evidence.to_dict(),
            "repeats": None if (repeats := self.repeats()) is None else repeats.to_dict(),
            "panel": None if (worth := self.worth()) is None else worth.to_dict(),
            "raters": None if self.raters is None else self.raters.to_dict(),
            "fused": {
                name: {"members": jsonable(counts), "gain": jsonable(self.gains.get(name))}
                for name, counts in self.members.items()
            },
            **report_dict(self.summary, self.decisions, self.imported),
        }

    def records(self) -> list[dict[str, Any]]:
        """One per sample and method, with the columns of ``scores.csv``."""
        return [asdict(row) for row in self.rows]

    def save(self, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write scores, assessments and figures; returns the files.

        These are ``scores.csv``, ``scores.parquet`` (with pyarrow), ``assessments.jsonl``,
        ``details.jsonl`` (the samples' texts, human ratings, and the framework metrics' own
        verdicts) and ``summary.json``. Each appears under its name once it is complete.

        Args:
            folder: It is made where it is not there.
            overwrite: Replace a comparison with other settings, and files of something else.

        Raises:
            InvalidValueError: A file cannot be written, or the folder holds a comparison with other
                settings, or files of something else under these names.
        """
        check_folder(folder, self.settings, overwrite=overwrite)
        scores, parquet, assessments, details, summary = (
            Path(folder) / name for name in (SCORES, PARQUET, ASSESSMENTS, DETAILS, SUMMARY)
        )
        write_csv(scores, self.rows)
        has_parquet = write_parquet(parquet, self.rows)
        judged = (result.assessment for result in self.results)
        write_assessments(assessments, judged, overwrite=overwrite)
        write_details(details, self.details())
        write_json(summary, self.to_dict())
        return [scores, *([parquet] if has_parquet else []), assessments, details, summary]

    def details(self) -> Iterator[SampleDetails]:
        """What a reader of single samples needs, in the order of the samples."""
        human, verdicts = self.human, self.outcome.verdicts
        for sample in self.samples:
            name = sample.id or ""
            said = [one.reasons.get(name, {}) for one in self.imported]
            reasons = {method: reason for each in said for method, reason in each.items()}
            yield SampleDetails(sample, human.get(name), verdicts.get(name, {}), reasons)

    @property
    def human(self) -> dict[str, float]:
        """Human ratings by sample id; empty without them."""
        table = self.table
        ratings = () if table.human is None else zip(table.samples, table.human, strict=True)
        return {name: float(rating) for name, rating in ratings if not math.isnan(rating)}

    def brief(self) -> Iterator[Part]:
        """Who judged, each method in a row, what is missing, and what is decided otherwise."""
        yield from self._run()
        yield from brief_parts(self.summary, self.lead)
        if self.raters is not None:
            yield Wrapped(self.raters.sentence, indent=2)
            yield from self.raters.brief()
        yield from brief_decisions(self.decisions)
        yield from self._gains()
        yield from self._ways()
        yield from self._several()
        yield from notes_parts(self.summary)
        pairs = len(self.summary.pairs)
        if pairs:
            yield Wrapped(
                f"more (all columns, {counted(pairs, 'pair')} of methods, decisions by T): --all, or "
                "show(full=True)",
                indent=2,
            )

    def parts(self) -> Iterator[Part]:
        """What was judged, the summary, the decisions, and what fusing gains."""
        yield from self._run()
        yield from summary_parts(self.summary, lead=self.lead)
        if self.raters is not None:
            yield ""
            yield Wrapped(self.raters.sentence, indent=2)
            yield from self.raters.parts()
        yield from decision_parts(self.decisions)
        yield from self._gains()
        yield from self._ways()
        yield from self._several()

    def _run(self) -> Iterator[Part]:
        outcome, spent = self.outcome, self.outcome.spent
        made, cached = sum(outcome.judged.values()), sum(outcome.cached.values())
        yield (
            f"{self.tcva.criterion.name} by {self.tcva.judge.name}: "
            f"{counted(made, 'judgement')} now, {cached} cached; "
            f"{counted(spent.calls, 'call')}, {spent.input_tokens} + {spent.output_tokens} tokens"
        )
        yield from self.evidence.lines()

    def repeats(self) -> RepeatReport | None:
        """What repeats show at the temperature of `lead`; None where samples were judged once."""
        if not isinstance(self.tcva.judge, Repeats):
            return None
        return repeat_report(result.at(self._middle) for result in self.results)

    def worth(self) -> PanelWorth | None:
        """What a panel's judges are worth together, likewise and in the first repeat.

        None for a single judge.
        """
        if not self.tcva.has_panel:
            return None
        human: npt.ArrayLike | None = None
        if self.human:
            human = [self.human.get(sample.id or "", math.nan) for sample in self.samples]
        views = [once(result.assessment) for result in self.results]
        scoring = self.tcva.scoring.changed(temperature=self._middle)
        groups = self._groups_of
        own = None if groups is None else [groups[sample.id or ""] for sample in self.samples]
        return panel_worth(views, human=human, scoring=scoring, groups=own)

    @property
    def _groups_of(self) -> dict[str, Hashable] | None:
        """What each sample belongs to, by its id."""
        if self.groups is None:
            return None
        return dict(zip(self.table.samples, self.groups, strict=True))

    @property
    def _middle(self) -> float:
        return self.temperatures[len(self.temperatures) // 2]

    def _several(self) -> Iterator[Part]:
        repeats, worth = self.repeats(), self.worth()
        if repeats is not None:
            yield repeats.sentence
            yield from repeats.parts()
        for line in () if worth is None else worth.lines():
            yield Wrapped(line, indent=2)

    def _ways(self) -> Iterator[Part]:
        for each in self.ways:
            yield ""
            yield from each.parts()

    def _gains(self) -> Iterator[Part]:
        for name, counts in self.members.items():
            sizes = ", ".join(f"{n} samples of {size}" for size, n in sorted(counts.items())[::-1])
            gain = self.gains.get(name)
            yield Wrapped(
                f"{name}: {sizes} members; {_NO_GAIN if gain is None else gain.sentence}", 2
            )


def report_dict(
    summary: TableSummary,
    decisions: DecisionView | None = None,
    imported: Sequence[ImportedScores] = (),
) -> dict[str, Any]:
    """Figures for ``json.dumps``: those that are undefined are None, never nan.

    The keys of the summary stand at the top; ``decisions`` is None without a decision view, and
    ``imported`` has one entry per file, without its rows and reasons.
    """
    files = []
    for file in imported:
        entry = jsonable(file)
        del entry["rows"], entry["reasons"]
        entry["matched"] = len({row.sample for row in file.rows})
        files.append(entry)
    view = None if decisions is None else decisions.to_dict()
    return {**summary.to_dict(), "decisions": view, "imported": files}

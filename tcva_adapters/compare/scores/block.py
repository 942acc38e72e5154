"""The methods of one source by one judge, collected sample by sample."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.compare.scores.reading import Reading
from tcva_adapters.compare.scores.sample_rows import SampleRows
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import EvidenceCounts, under
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import MOSTLY_MARKED, Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import LevelCounts, Scores, Summary
from tcva_adapters.samples.sample import Sample

_DEFAULT = ScoringConfig()


@dataclass(slots=True, eq=False)
class Block:
    """The methods of one source by one judge: they rate the same samples, row by row.

    Attributes:
        reading: How the source is read.
        name: What the source was named; empty where it was not.
        source: The file's name without its suffix.
        kind: ``tcva``, ``ccrs`` or a kind of `Imported`.
        criterion: What was judged; empty for imported scores.
        judge: Who judged it; empty for imported scores.
        system: What the samples are answers of, where that is asked for.
        scores: By method, nan where there is none.
        thresholds: By method.
        reasons: By sample and method.
        counts: Level counts, where they are held.
        results: By method.
        texts: The samples of imported scores.
        prompt_versions: Of the judge, each once.
        scoring: The settings of the first judgement.
        additional_judges: Whose verdicts are fused with the judge's; None before the first scored judgement.
        summaries: By method.
        rows: The samples.
    """

    reading: Reading
    name: str
    source: str
    kind: str
    criterion: str = ""
    judge: str = ""
    system: str = ""
    scores: dict[str, array[float]] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    counts: LevelCounts = field(default_factory=LevelCounts)
    results: dict[str, list[Scored]] = field(default_factory=dict)
    texts: list[Sample] = field(default_factory=list)
    prompt_versions: dict[str, None] = field(default_factory=dict)
    scoring: ScoringConfig | None = None
    additional_judges: tuple[str, ...] | None = None
    summaries: dict[str, Scores] = field(default_factory=dict)
    rows: SampleRows = field(init=False)

    def __post_init__(self) -> None:
        holds_ids = self.reading.hold == "all"
        self.rows = SampleRows(self.reading.ratings, self.reading.group, holds_ids)

    @property
    def called(self) -> str:
        """What its samples are answers of, or the file is called."""
        return self.system or self.name or self.source

    def add(
        self,
        row: str,
        scores: Mapping[str, float | None],
        reasons: Mapping[str, str],
        result: Scored | None = None,
    ) -> None:
        """Take the scores of a sample that is in the rows already."""
        for method, score in scores.items():
            column = self.scores.setdefault(method, array("d"))
            column.append(math.nan if score is None else score)
        if self.rows.holds_ids:
            self.reasons |= {
                (row, method): why for method, why in reasons.items() if why
            }
            if result is not None:
                for method in scores:
                    self.results.setdefault(method, []).append(result)

    def add_rated(self, item: CCRSResult) -> None:
        """Take one more sample by its CCRS result."""
        row = self.rows.add(item.sample_id, item.metadata)
        reasons = {method: why.text for method, why in item.unscored_by.items()}
        self.add(row, item.scores, reasons, item)
        self.thresholds |= dict.fromkeys(item.scores, item.threshold)
        self.prompt_versions[item.prompt_version] = None
        for metric, score in item.scores.items():
            summary = self.summaries.setdefault(metric, Scores())
            summary.add_score(score, item.unscored_by.get(metric))

    def add_judged(
        self, item: Assessment | Result, conversation: str | None = None
    ) -> None:
        """Take one more sample by its judgement.

        Args:
            item: A result with its settings, or a bare assessment.
            conversation: The one that the sample is a turn of.

        Raises:
            InvalidSampleError: It is fused with other judges than those before.
        """
        if isinstance(item, Result):
            judged, scoring = item.assessment, self.reading.scoring or item.scoring
        else:
            judged, scoring = item, self.reading.scoring or _DEFAULT
        self.scoring = self.scoring or scoring
        self.prompt_versions[judged.prompt_version] = None
        if self.reading.ratings is not None:
            self.reading.ratings.temperature = scoring.temperature
        if judged.unscored is None:  # else additional judges were not asked
            self._check_fused(judged)

        row = self.rows.add(judged.sample_id, judged.metadata, conversation)
        summary = self.summaries.setdefault(judged.criterion, Summary())
        assert isinstance(summary, Summary)  # noqa: S101  # a block holds results of one kind
        if self.reading.hold == "counts":
            summary.evidence.outcomes.update(EvidenceCounts.of([judged]).outcomes)
            self.counts.add(under(judged, scoring.evidence))
            return

        result = item if isinstance(item, Result) else Result(judged, scoring)
        if result.scoring != scoring:
            result = Result(judged, scoring, result.certified)
        method, why = judged.criterion, result.unscored
        reasons = {} if why is None or result.score is not None else {method: why.text}
        self.add(row, {method: result.score}, reasons, result)
        if result.mostly_marked:
            self.reasons[row, method] = MOSTLY_MARKED
        self.thresholds.setdefault(method, scoring.threshold)
        summary.add(result)
        if self.rows.holds_ids:
            self.counts.add(result.seen)

    def _check_fused(self, judged: Assessment) -> None:
        names = tuple(
            f"{member.criterion} by {member.judge}" for member in judged.members
        )
        first = self.additional_judges
        if first is None:
            self.additional_judges = names
        elif first != names:
            mixed = "; ".join(
                sorted(", ".join(part) or "nothing" for part in (first, names))
            )
            raise InvalidSampleError(
                f"{self.called} mixes scores that are fused with different judges: {mixed}"
            )

    def judged(self, method: str) -> JudgedBy:
        """What was judged and by whom, with what a method's scores amount to."""
        return JudgedBy(
            criterion=self.criterion,
            judge=self.judge,
            prompt_versions=tuple(self.prompt_versions),
            scoring=self.scoring,
            additional_judges=self.additional_judges or (),
            summary=self.summaries.get(method),
            kind=self.kind,
        )

    def table(self, titles: Mapping[str, str] | None = None) -> ScoreTable:
        """The block as a table.

        Args:
            titles: What its methods are called there; by default as they are.
        """
        titles = titles or {method: method for method in self.scores}
        table = self.rows.table()
        columns = [np.frombuffer(scores) for scores in self.scores.values()]
        usage = {
            titles[method]: summary.usage.model_dump(exclude_none=True)
            for method, summary in self.summaries.items()
            if isinstance(summary, Summary) and method in titles
        }
        return replace(
            table,
            methods=tuple(titles.values()),
            scores=np.stack(columns, axis=1) if columns else table.scores,
            counts=self.counts.table() if self.counts.judges else None,
            thresholds={
                title: self.thresholds[method]
                for method, title in titles.items()
                if method in self.thresholds
            },
            reasons={
                (row, titles[method]): why
                for (row, method), why in self.reasons.items()
            },
            usage=usage,
            results={titles[name]: results for name, results in self.results.items()},
        )

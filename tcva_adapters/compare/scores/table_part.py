"""The methods of one source by one judge, collected sample by sample."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.compare.scores.ratings import Ratings
from tcva_adapters.compare.scores.reading_options import ReadingOptions
from tcva_adapters.compare.scores.table import RowIds, ScoreTable
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import evidence_outcomes, under
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import MOSTLY_MARKED, Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import LevelCounts, MissingScores, Summary
from tcva_adapters.samples.conversation import add_group, conversation_of
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.reader import numbered
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import quoted_names

_DEFAULT = ScoringConfig()


@dataclass(slots=True, eq=False)
class TablePart:
    """The methods of one source by one judge: they rate the same samples, row by row.

    Attributes:
        options: How the source is read.
        ratings: Where human ratings are; None where there are none.
        name: The name given to the source; empty where there is none.
        source: The file's name without its suffix.
        kind: ``tcva``, ``ccrs`` or a kind of `Imported`.
        criterion: The criterion that was judged; empty for imported scores.
        judge: The judge; empty for imported scores.
        system: The system whose answers the samples are, where that is asked for.
        number: The number of samples.
        names: The samples' ids in order, and how often each occurred.
        metadata: The metadata of each sample.
        human: Ratings in one flat array, sample by sample, one for each rater.
        groups: The group of each sample.
        judged_samples: The samples of imported scores.
        scores: Scores by method; nan where there is none.
        thresholds: Thresholds by method.
        reasons: Why there is no score, by sample and method.
        counts: Level counts, where they are held.
        results: The result of each sample, where they are held.
        scoring: The settings of the first judgement.
        additional_judges: The judges whose verdicts are fused with the judge's; None before the
            first scored judgement.
        summaries: Summaries by method.
    """

    options: ReadingOptions
    ratings: Ratings | None = None
    name: str = ""
    source: str = ""
    kind: str = ""
    criterion: str = ""
    judge: str = ""
    system: str = ""
    number: int = 0
    names: dict[str, int] = field(default_factory=dict)
    metadata: list[Fields] = field(default_factory=list)
    human: array[float] = field(default_factory=lambda: array("d"))
    groups: list[Hashable] = field(default_factory=list)
    judged_samples: list[Sample] = field(default_factory=list)
    scores: dict[str, array[float]] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    counts: LevelCounts = field(default_factory=LevelCounts)
    results: list[Scored] = field(default_factory=list)
    scoring: ScoringConfig | None = None
    additional_judges: tuple[str, ...] | None = None
    summaries: dict[str, MissingScores] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name of the system, the source or the file."""
        return self.system or self.name or self.source

    def add_sample(
        self,
        name: str | None,
        metadata: Fields,
        conversation: str | None = None,
    ) -> str:
        """Add a sample.

        Args:
            name: Its id; by default ``row-N``. A repeated id is numbered.
            metadata: Its metadata.
            conversation: The conversation of which it is a turn, where its id does not say so.

        Returns:
            The sample's name in the table.
        """
        self.number += 1
        row = f"row-{self.number}"
        known_as = name or row
        options = self.options
        if options.holds_ids:
            row = known_as = numbered(known_as, self.names)
            self.metadata.append(metadata)
        if self.ratings is not None:
            labelled = f"{self.label}/{known_as}" if options.of_systems else known_as
            self.human.extend(self.ratings.of_sample(labelled, metadata))
        if options.group is None:
            turn_of = conversation_of(name, metadata) or conversation
            add_group(self.groups, self.number, turn_of)
        else:
            self.groups.append(_group(metadata.get(options.group)))
        return row

    def add_scores(
        self,
        row: str,
        scores: Mapping[str, float | None],
        reasons: Mapping[str, str],
    ) -> None:
        """Add the scores of the sample added last, or the reasons why there are none."""
        for method, score in scores.items():
            column = self.scores.setdefault(method, array("d"))
            column.append(math.nan if score is None else score)
        if self.options.holds_ids:
            self.reasons |= {
                (row, method): why for method, why in reasons.items() if why
            }

    def add_rated(self, item: CCRSResult) -> None:
        """Add a sample by its CCRS result."""
        row = self.add_sample(item.sample_id, item.metadata)
        reasons = {method: why.text for method, why in item.unscored_by.items()}
        self.add_scores(row, item.scores, reasons)
        if self.options.holds_ids:
            self.results.append(item)
        for metric, score in item.scores.items():
            self.thresholds[metric] = item.threshold
            summary = self.summaries.setdefault(metric, MissingScores())
            summary.add_missing(score, item.unscored_by.get(metric))

    def add_judged(
        self,
        item: Assessment | Result,
        conversation: str | None = None,
    ) -> None:
        """Add a sample by its judgement.

        Args:
            item: A result with its settings, or a bare assessment.
            conversation: The conversation of which the sample is a turn.

        Raises:
            InvalidSampleError: It is fused with other judges than the samples before.
        """
        if isinstance(item, Result):
            judged = item.assessment
            scoring = self.options.scoring or item.scoring
        else:
            judged = item
            scoring = self.options.scoring or _DEFAULT
        self.scoring = self.scoring or scoring
        if self.ratings is not None:
            self.ratings.temperature = scoring.temperature
        if judged.unscored is None:  # else additional judges were not asked
            self._check_fused(judged)

        row = self.add_sample(judged.sample_id, judged.metadata, conversation)
        summary = self.summaries.setdefault(judged.criterion, Summary())
        assert isinstance(summary, Summary)  # noqa: S101  # a part holds results of one kind
        if self.options.hold == "counts":
            summary.outcomes += evidence_outcomes([judged])
            self.counts.add(under(judged, scoring.evidence))
            return

        result = item if isinstance(item, Result) else Result(judged, scoring)
        if result.scoring != scoring:
            result = Result(judged, scoring, result.certified)
        method = judged.criterion
        why = result.unscored
        reasons = {} if why is None or result.score is not None else {method: why.text}
        self.add_scores(row, {method: result.score}, reasons)
        if result.mostly_marked:  # gates ask for it where no other reason is held
            self.reasons[row, method] = MOSTLY_MARKED
        self.thresholds.setdefault(method, scoring.threshold)
        summary.add(result)
        if self.options.holds_ids:
            self.results.append(result)
            self.counts.add(result.seen)

    def _check_fused(self, judged: Assessment) -> None:
        names = tuple(
            f"{member.criterion} by {member.judge}" for member in judged.members
        )
        if self.additional_judges is None:
            self.additional_judges = names
        if self.additional_judges != names:
            mixed = sorted((", ".join(self.additional_judges), ", ".join(names)))
            raise InvalidSampleError(
                f"{self.label} mixes scores that are fused with different judges: "
                f"{mixed[0] or 'nothing'}; {mixed[1]}"
            )

    def judged(self, method: str) -> JudgedBy:
        """Describe what was judged and by whom, with the summary of a method's scores."""
        return JudgedBy(
            criterion=self.criterion,
            judge=self.judge,
            scoring=self.scoring,
            additional_judges=self.additional_judges or (),
            summary=self.summaries.get(method),
            kind=self.kind,
        )

    def table(self, titles: Mapping[str, str] | None = None) -> ScoreTable:
        """Convert the part to a table.

        Args:
            titles: The names of its methods there; by default unchanged.
        """
        titles = titles or {method: method for method in self.scores}
        no_columns = np.empty((self.number, 0))
        columns = map(np.frombuffer, self.scores.values())
        return ScoreTable(
            samples=tuple(self.names) if self.names else RowIds(self.number),
            methods=tuple(titles.values()),
            scores=np.column_stack([no_columns, *columns]),
            human=np.frombuffer(self.human),
            raters=self.ratings.raters if self.ratings and self.human else (),
            groups=tuple(self.groups),
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
            metadata=self.metadata,
            usage={
                titles[method]: summary.usage.model_dump(exclude_none=True)
                for method, summary in self.summaries.items()
                if isinstance(summary, Summary) and method in titles
            },
            results=dict.fromkeys(
                titles.values() if self.results else (), self.results
            ),
        )


def system_of(
    sample: str | None,
    metadata: Fields,
    field: str | None,
) -> str:
    """The system that gave a sample's answer; empty where systems are not asked for.

    Raises:
        InvalidSampleError: The sample does not name its system.
    """
    value = "" if field is None else metadata.get(field)
    if field is not None and value in (None, ""):
        known = quoted_names(metadata) or "none"
        raise InvalidSampleError(
            f"sample {sample!r} has no {field!r} in its metadata; its fields are {known}"
        )
    return str(value)


def _group(value: object) -> Hashable:
    """Return a value that names a group; None for any other value."""
    is_name = isinstance(value, str | int | float) and value != ""
    is_nan = value != value  # noqa: PLR0124  # only nan differs from itself
    return value if is_name and not is_nan else None

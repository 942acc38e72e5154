"""Results and assessments as the content of a report: runs that follow the dial, and CCRS ratings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.ccrs.summary import summarise_ccrs
from tcva_adapters.compare.kinds import Kinds
from tcva_adapters.compare.several import several_notes
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.report.content import FixedMethod, Run, Said
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.protocol import read_result
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.results.summary import Summary
from tcva_adapters.samples.files import SampleFile, distinct
from tcva_adapters.samples.records import RowStream
from tcva_adapters.samples.sample import Sample

ItemOfRun = Assessment | Result | CCRSResult


@dataclass(frozen=True, slots=True)
class JudgedSamples:
    """What one file or list holds, under ids that differ; all of it is held.

    Attributes:
        name: Of the file or list.
        samples: Ids and metadata; texts are not known.
        judgements: One per sample.
        ratings: CCRS results, one per sample; then there are no judgements.
        scorings: The settings of the results, and how many have each.
        summary: Of the results.
        kinds: Who judged.
        notes: What was left out, in sentences.
    """

    name: str
    samples: Sequence[Sample]
    judgements: Sequence[Assessment]
    ratings: Sequence[CCRSResult]
    scorings: Counter[ScoringConfig]
    summary: Summary
    kinds: Kinds
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, items: Iterable[Any]) -> JudgedSamples:
        """Results of one kind, one after the other.

        Args:
            name: For messages and titles.
            items: What was judged: assessments, results, or CCRS results.

        Raises:
            InvalidSampleError: There are none, they are of several kinds, judges or criteria, or
                none has a score.
            InvalidValueError: Something else stands among them.
        """
        names: list[str] = []
        brought: list[dict[str, Any]] = []
        judgements: list[Assessment] = []
        ratings: list[CCRSResult] = []
        tally, kinds, scorings = Summary(), Kinds(), Counter[ScoringConfig]()
        for place, item in enumerate(items, start=1):
            if isinstance(item, CCRSResult):
                judged: Assessment | CCRSResult = item
                ratings.append(item)
            elif isinstance(item, Assessment | Result):
                result = Result(item) if isinstance(item, Assessment) else item
                judged = result.assessment
                judgements.append(judged)
                tally.add(result)
                scorings[result.scoring] += 1
                kinds.add_assessment(judged)
            else:
                msg = f"{str(item)[:80]!r} stands among the results of {name}; give results alone: result_of or results_of of the framework's adapter finds them"
                raise InvalidValueError(msg)
            names.append(judged.sample_id or f"row-{place}")
            brought.append(judged.metadata)
        if not names:
            msg = f"{name} holds no assessments; give what 'tcva evaluate --out' wrote"
            raise InvalidSampleError(msg)
        if ratings and judgements:
            msg = f"{name} mixes assessments and CCRS ratings; give a file of each"
            raise InvalidSampleError(msg)
        names, repeated = distinct(names)
        samples = [
            Sample(id=name, metadata=metadata)
            for name, metadata in zip(names, brought, strict=True)
        ]
        notes = list(SampleFile(samples, [], [], repeated).notes)
        if scorings:
            notes += several_notes(judgements, scorings.most_common(1)[0][0])
        return cls(*(name, samples, judgements, ratings, scorings, tally, kinds, tuple(notes)))

    @property
    def names(self) -> list[str]:
        """The id of each sample."""
        return [sample.id or "" for sample in self.samples]

    @property
    def scoring(self) -> ScoringConfig:
        """The setting that most results have."""
        return self.scorings.most_common(1)[0][0]

    @property
    def sentence(self) -> str:
        """How many pass at that setting; of CCRS ratings, their means."""
        if self.ratings:
            return summarise_ccrs(self.ratings).sentence
        at = f" at {self.scoring.place}"
        lexical = self.judgements[0].is_lexical
        judge = "the lexical judge only compares words" if lexical else ""
        return self.summary.passing(at, judge=judge)

    def run(self, name: str) -> Run:
        """Its judgements as a run under this name.

        Raises:
            InvalidSampleError: See `Kinds.check`.
        """
        self.kinds.check(self.name)
        scoring = self.scoring
        return Run(
            name=name,
            assessments=dict(zip(self.names, self.judgements, strict=True)),
            scoring=scoring,
            temperatures=(scoring.temperature,),
        )

    def methods(self, prefix: str = "") -> Iterator[FixedMethod]:
        """Its CCRS ratings, a method for each metric.

        Args:
            prefix: Before their names, where several files have them.
        """
        ratings = dict(zip(self.names, self.ratings, strict=True))
        scores: dict[str, dict[str, float | None]] = {}
        unscored: dict[str, dict[str, str]] = {}
        for name, rating in ratings.items():
            for metric in rating.answers:
                scores.setdefault(metric, {})[name] = rating.scores[metric]
            for metric, why in rating.unscored_by.items():
                unscored.setdefault(metric, {})[name] = why.text
        for metric, own in scores.items():
            yield FixedMethod(
                name=f"{prefix}{METRICS[metric].title}",
                scores=own,
                framework="ccrs",
                threshold=self.ratings[0].threshold,
                unscored=unscored.get(metric, {}),
                said={
                    name: Said(reason=rating.reasons[metric])
                    for name, rating in ratings.items()
                    if metric in rating.answers
                },
            )


def read_judged(path: str | Path, *, skip_bad: bool) -> JudgedSamples:
    """Read a file that ``tcva evaluate`` or ``tcva ccrs`` wrote.

    Raises:
        UnreadableInputError: It cannot be read, or a line is no result.
        InvalidSampleError: See `JudgedSamples.of`.
    """
    rows = RowStream(path, None, skip_bad=skip_bad, read=_item)
    name = Path(path).name
    found = JudgedSamples.of(name, rows)
    skipped = [f"{name}: {said}" for said in rows.notes]
    return replace(found, notes=(*skipped, *found.notes))


def _item(record: dict[str, Any]) -> ItemOfRun:
    """A line: a result with its setting, or a bare assessment, as ``tcva compare`` writes them."""
    if "scoring" not in record and "answers" not in record:
        return Assessment.from_json(json.dumps(record))
    return cast("ItemOfRun", read_result(record))

"""Results and assessments as the content of a report: runs that follow the dial, and CCRS ratings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.ccrs.summary import summarise_ccrs
from tcva_adapters.compare.judged import samples_of
from tcva_adapters.compare.kinds import Kinds
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.report.content import FixedMethod, Run, Said
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.protocol import read_result
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import Scoring
from tcva_adapters.results.summary import summarise
from tcva_adapters.samples.rows import collect_rows
from tcva_adapters.samples.sample import Sample

ItemOfRun = Assessment | Result | CCRSResult
_ITEMS: Final = (Assessment, Result, CCRSResult)


@dataclass(frozen=True, slots=True)
class JudgedSamples:
    """What one file or list holds, under ids that differ.

    Attributes:
        name: Of the file or list.
        samples: Ids and metadata; texts are not known.
        results: One per sample.
        ratings: CCRS results, one per sample; then there are no results.
        notes: What was left out, in sentences.
    """

    name: str
    samples: list[Sample]
    results: list[Result]
    ratings: list[CCRSResult]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, items: Sequence[ItemOfRun]) -> JudgedSamples:
        """Results of one kind.

        Args:
            name: For messages and titles.
            items: What was judged.

        Raises:
            InvalidSampleError: There are none, they are of several kinds, judges or criteria, or
                none has a score.
            InvalidValueError: Something else stands among them.
        """
        if not items:
            msg = f"{name} holds no assessments; give what 'tcva evaluate --out' wrote"
            raise InvalidSampleError(msg)
        other = next((item for item in items if not isinstance(item, _ITEMS)), None)
        if other is not None:
            msg = f"{str(other)[:80]!r} stands among the results of {name}; give results alone: result_of or results_of of the framework's adapter finds them"
            raise InvalidValueError(msg)
        ratings = [item for item in items if isinstance(item, CCRSResult)]
        results = [
            Result(item) if isinstance(item, Assessment) else item
            for item in items
            if not isinstance(item, CCRSResult)
        ]
        if ratings and results:
            msg = f"{name} mixes assessments and CCRS ratings; give a file of each"
            raise InvalidSampleError(msg)
        read = samples_of(ratings or [result.assessment for result in results])
        return cls(name, read.samples, results, ratings, tuple(read.notes))

    @property
    def scoring(self) -> Scoring:
        """The setting that most results have."""
        return Counter(result.scoring for result in self.results).most_common(1)[0][0]

    @property
    def sentence(self) -> str:
        """How many pass at that setting; of CCRS ratings, their means."""
        if self.ratings:
            return summarise_ccrs(self.ratings).sentence
        at = f" at T={self.scoring.temperature:g}"
        lexical = is_lexical(self.results[0].assessment.judge)
        judge = "the lexical judge only compares words" if lexical else ""
        return summarise(self.results).passing(at, judge=judge)

    def run(self, name: str) -> Run:
        """Its results as a run under this name.

        Raises:
            InvalidSampleError: See `Judged.of`.
        """
        judged = [result.assessment for result in self.results]
        Kinds.of(judged).check(self.name)
        ids = [sample.id or "" for sample in self.samples]
        scoring = self.scoring
        return Run(
            name=name,
            assessments=dict(zip(ids, judged, strict=True)),
            scoring=scoring,
            temperatures=(scoring.temperature,),
        )

    def methods(self, prefix: str = "") -> Iterator[FixedMethod]:
        """Its CCRS ratings, a method for each metric.

        Args:
            prefix: Before their names, where several files have them.
        """
        rated = {s.id or "": r for s, r in zip(self.samples, self.ratings, strict=True)}
        for metric in dict.fromkeys(name for rating in self.ratings for name in rating.answers):
            own = {name: rating for name, rating in rated.items() if metric in rating.answers}
            yield FixedMethod(
                name=f"{prefix}{METRICS[metric].title}",
                scores={name: rating.scores[metric] for name, rating in own.items()},
                framework="ccrs",
                threshold=self.ratings[0].threshold,
                unscored={
                    name: why.text
                    for name, rating in own.items()
                    if (why := rating.unscored_by.get(metric)) is not None
                },
                said={name: Said(reason=rating.reasons[metric]) for name, rating in own.items()},
            )


def read_judged(path: str | Path, *, skip_bad: bool) -> JudgedSamples:
    """Read a file that ``tcva evaluate`` or ``tcva ccrs`` wrote.

    Raises:
        UnreadableInputError: It cannot be read, or a line is no result.
        InvalidSampleError: See `JudgedSamples.of`.
    """
    items, _, bad = collect_rows(path, None, skip_bad=skip_bad, read=_item)
    name = Path(path).name
    found = JudgedSamples.of(name, items)
    skipped = [f"{name}: skipped line {line}: {message}" for line, message in bad]
    return replace(found, notes=(*skipped, *found.notes))


def _item(record: dict[str, Any]) -> ItemOfRun:
    """A line: a result with its setting, or a bare assessment, as ``tcva compare`` writes them."""
    if "scoring" not in record and "answers" not in record:
        return Assessment.from_json(json.dumps(record))
    return cast("ItemOfRun", read_result(record))


def is_lexical(judge: str) -> bool:
    """Whether a judge of this name compares words."""
    return judge.startswith("lexical")

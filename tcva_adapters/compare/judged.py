"""Judgements of one judge under one criterion: what a sweep and a calibration look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.labels import Labels
from tcva_adapters.compare.ratings import human_ratings, metadata_values
from tcva_adapters.compare.running.run import named
from tcva_adapters.core.aggregation import check_counts
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import Config
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.files import read_assessments
from tcva_adapters.results.result import Result, judged_counts
from tcva_adapters.results.scoring import Scoring, changed
from tcva_adapters.samples.files import SampleFile
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import FloatArray, numbers


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was judged, by whom, and the counts that every score is made of.

    Attributes:
        counts: Level counts of each judge, shape (N, J, 5), the main judge first; zeros where one
            has no verdicts.
        criterion: Its name; empty for bare counts.
        judge: Its name; likewise.
        fused: The additional judges, each with its criterion.
        assessments: Unscored ones included; empty for bare counts.
        notes: Which lines of a file were left out, and why.
    """

    counts: FloatArray
    criterion: str = ""
    judge: str = ""
    fused: tuple[str, ...] = ()
    assessments: tuple[Assessment, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: JudgedSource, *, skip_bad: bool = False) -> Judged:
        """Read or take judgements that can be looked at together.

        Args:
            source: A file that ``tcva evaluate --out`` wrote (``"-"`` for standard input), several
                of them, results or assessments; or level counts, shape (N, 5) or (N, J, 5).
            skip_bad: Leave out unreadable lines.

        Raises:
            InvalidSampleError: Several judges or criteria, additional judges on a part of the
                samples alone, or no score at all.
            InvalidValueError: Something else, or counts that are none.
            UnreadableInputError: As for `read_assessments`.
        """
        if isinstance(source, Judged):
            return source
        if isinstance(source, str | Path):
            return _of_files([source], skip_bad=skip_bad)
        items: Any = source if isinstance(source, np.ndarray) else list(source)
        if len(items) and all(isinstance(item, str | Path) for item in items):
            return _of_files(items, skip_bad=skip_bad)
        if any(isinstance(item, Assessment | Result) for item in items):
            return of_assessments(list(map(_assessment, items)), "this list")
        return cls(by_judge(items))

    def to_dict(self) -> dict[str, Any]:
        """What was judged and by whom, and how much of it was read, as plain values."""
        about = {"criterion": self.criterion, "judge": self.judge, "fused": list(self.fused)}
        size = {"samples": len(self.counts), "skipped": len(self.notes)}
        return {**about, **size, "evidence": self.evidence.to_dict()}

    @property
    def title(self) -> str:
        """The same in a few words."""
        fused = f", fused with {', '.join(self.fused)}" if self.fused else ""
        return f"{self.criterion} by {self.judge}{fused}" if self.judge else "level counts"

    @property
    def names(self) -> list[str]:
        """An id for each sample: its own, numbered where it repeats, or ``row-N``."""
        return [sample.id or "" for sample in samples_of(self.assessments).samples]

    @property
    def evidence(self) -> EvidenceCounts:
        """How many verdicts were lowered for their quotes, or could not be checked."""
        return EvidenceCounts.of(self.assessments)

    @property
    def scored(self) -> int:
        """How many samples have a score: verdicts of the main judge."""
        return int(has_score(self.counts).sum())

    def ratings(self, human: str | Labels | npt.ArrayLike) -> FloatArray:
        """Human ratings, shape (N,), nan where there is none.

        Args:
            human: A key of the metadata, a file of labels, or the ratings themselves.

        Raises:
            InvalidValueError: No sample has the key or a label, or a value is no rating.
        """
        if isinstance(human, Labels):
            names = self.names
            found = human.of(names)
            return np.array([found.get(name, np.nan) for name in names])
        if isinstance(human, str):
            return human_ratings(self.assessments, human)
        return numbers("human ratings", human)

    def values(self, field: str | Sequence[Any], what: str) -> Sequence[Any]:
        """What each sample's metadata has under a key, None for nothing; or the values themselves.

        Args:
            field: The key, or the values.
            what: A name for them.

        Raises:
            InvalidValueError: No sample has the key, or there is not one value for each sample.
        """
        if isinstance(field, str):
            return metadata_values(self.assessments, field)
        if len(field) != len(self.counts):
            msg = f"{len(field)} {what} for {len(self.counts)} samples; give one per sample"
            raise InvalidValueError(msg)
        return field

    def unused(self, config: Config | str | Path | None) -> tuple[str, ...]:
        """What of a configuration does not apply to a view of all samples at once, in sentences.

        Raises:
            UnreadableInputError: As for `Config.load`.
        """
        if config is None:
            return ()
        found, notes = Config.load(config), []
        name = "the configuration" if isinstance(config, Config) else config
        if found.profiles is not None:
            by = repr(found.profiles.by)
            notes.append(f"{name} has profiles by {by}; its settings for all samples are used here")
        if self.criterion and found.criterion not in {None, self.criterion}:
            notes.append(f"{name} is for {found.criterion}, these are of {self.criterion}")
        return tuple(notes)


JudgedSource = (
    Judged
    | str
    | Path
    | Iterable[str | Path]
    | Iterable[Assessment | Result]
    | npt.NDArray[Any]
    | Sequence[Sequence[float]]
)
"""What `Judged.of` takes."""


def samples_of(judged: Sequence[Assessment | CCRSResult]) -> SampleFile:
    """What results say of their samples, ids and metadata; each with an id of its own.

    Ids that repeat are numbered, and the N-th sample without one is ``row-N``.
    """
    bare = [Sample(id=each.sample_id, metadata=each.metadata) for each in judged]
    return named(SampleFile.of(bare))


def in_use(config: Config | str | Path | None) -> Scoring:
    """The settings that a file has for all samples; the defaults without one.

    Raises:
        UnreadableInputError: As for `Config.load`.
    """
    return changed(Scoring(), {} if config is None else Config.load(config).settings.given())


def by_judge(counts: npt.ArrayLike) -> FloatArray:
    """Counts of one judge or of several, checked, as shape (N, J, 5).

    Raises:
        InvalidValueError: Another shape, or an entry that is no count.
    """
    try:
        table = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return check_counts(counts)[:, None]  # which says what is wrong with them
    if table.ndim != 3:
        return check_counts(table)[:, None]
    return check_counts(table.reshape(-1, table.shape[2])).reshape(table.shape)


def has_score(counts: FloatArray) -> npt.NDArray[np.bool_]:
    """Which samples of shape (N, J, 5) have a score: those with verdicts of the first judge."""
    scored: npt.NDArray[np.bool_] = counts[:, 0].sum(axis=1) > 0.0
    return scored


def _of_files(files: Sequence[str | Path], *, skip_bad: bool) -> Judged:
    assessments: list[Assessment] = []
    notes: list[str] = []
    for file in files:
        read = read_assessments(file, skip_bad=skip_bad)
        assessments += read.assessments
        where = f" of {file}" if len(files) > 1 else ""
        notes += [f"skipped line {line}{where}: {message}" for line, message in read.bad]
    return of_assessments(assessments, ", ".join(map(str, files)), tuple(notes))


def _assessment(item: object) -> Assessment:
    if isinstance(item, Result):
        return item.assessment
    if isinstance(item, Assessment):
        return item
    msg = f"{item!r} stands among assessments; give results, assessments or files alone"
    raise InvalidValueError(msg)


def of_assessments(
    assessments: Sequence[Assessment], source: str, notes: tuple[str, ...] = ()
) -> Judged:
    """Assessments of one judge under one criterion.

    Args:
        assessments: Unscored ones included.
        source: Where they are from, for messages.
        notes: What was left out.

    Raises:
        InvalidSampleError: See `Judged.of`.
    """
    of_one_kind(assessments, source)
    first = assessments[0]
    members = next(_fused_with(each) for each in assessments if each.unscored is None)
    counts = judged_counts(assessments)
    return Judged(counts, first.criterion, first.judge, members, tuple(assessments), notes)


def of_one_kind(assessments: Sequence[Assessment], source: str) -> None:
    """Refuse assessments that have no common mean, or none at all.

    Raises:
        InvalidSampleError: See `Judged.of`.
    """
    judged = sorted({(a.criterion, a.judge) for a in assessments})
    if len(judged) > 1:
        mixed = "; ".join(f"{criterion} by {judge}" for criterion, judge in judged)
        msg = f"{source} mixes judgements that have no common mean: {mixed}"
        raise InvalidSampleError(msg)
    scored = [a for a in assessments if a.unscored is None]
    if not scored:
        msg = f"none of the {len(assessments)} assessments in {source} has a score"
        raise InvalidSampleError(msg)
    # Without a score of the first judge the others are not asked.
    fused = sorted(set(map(_fused_with, scored)))
    if len(fused) > 1:
        mixed = "; ".join(", ".join(names) or "nothing" for names in fused)
        msg = f"{source} mixes scores that are fused with different judges: {mixed}"
        raise InvalidSampleError(msg)


def _fused_with(assessment: Assessment) -> tuple[str, ...]:
    return tuple(f"{member.criterion} by {member.judge}" for member in assessment.members)

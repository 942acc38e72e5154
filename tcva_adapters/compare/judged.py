"""Judgements of one judge under one criterion: what a sweep and a calibration look at."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.grouping import groups_in
from tcva_adapters.compare.judged_files import Brought, Held, read_judged
from tcva_adapters.compare.kinds import Kinds
from tcva_adapters.compare.labels import Labels
from tcva_adapters.compare.ratings import human_ratings, metadata_values
from tcva_adapters.core.aggregation import check_counts
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import Config
from tcva_adapters.results.counted import level_tables
from tcva_adapters.results.evidence import (
    DEFAULT_EVIDENCE,
    EVIDENCE,
    Evidence,
    EvidenceCounts,
)
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.samples.files import distinct
from tcva_adapters.stats.checks import FloatArray, numbers


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was judged, by whom, and the counts that every score is made of.

    Of a file nothing else is held, so that its size does not matter: names and metadata are read
    from it once more where they are asked for.

    Attributes:
        tables: Level counts of each judge, lowered for their quotes and as judged, shape (N, J, 5),
            the main judge first; zeros where one has no verdicts.
        scored: How many samples have a score: verdicts of the main judge.
        criterion: Its name; empty for bare counts.
        judge: Its name; likewise.
        fused: The additional judges, each with its criterion.
        forms: In which forms verdicts were asked for, the most frequent first; none of judges
            without forms.
        quotes: How many verdicts are lowered for their quotes, or could not be checked, in each
            of the two.
        seen: Which of the two scores are made of.
        brought: The ids and metadata of the samples; none for bare counts.
        notes: Which lines of a file were left out, and why.
        skipped: How many those are.
    """

    tables: Mapping[Evidence, FloatArray]
    scored: int
    criterion: str = ""
    judge: str = ""
    fused: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    quotes: Mapping[Evidence, EvidenceCounts] = field(
        default_factory=lambda: dict.fromkeys(EVIDENCE, EvidenceCounts.of(()))
    )
    seen: Evidence = DEFAULT_EVIDENCE
    brought: Brought = field(default_factory=lambda: Held(()))
    notes: tuple[str, ...] = ()
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.counts)

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
            return _of_assessments(list(map(_assessment, items)))
        return _of_counts(by_judge(items))

    @property
    def counts(self) -> FloatArray:
        """The level counts that scores are made of, shape (N, J, 5)."""
        return self.tables[self.seen]

    @property
    def evidence(self) -> EvidenceCounts:
        """How many verdicts are lowered for their quotes, or could not be checked."""
        return self.quotes[self.seen]

    def under(self, evidence: Evidence) -> Judged:
        """The same judgements under a view of their evidence. No call."""
        return replace(self, seen=evidence)

    def to_dict(self) -> dict[str, Any]:
        """What was judged and by whom, and how much of it was read, as plain values."""
        about = {"criterion": self.criterion, "judge": self.judge, "fused": list(self.fused)}
        size = {"samples": len(self), "skipped": self.skipped}
        return {**about, **size, "evidence": self.evidence.to_dict()}

    @property
    def title(self) -> str:
        """The same in a few words."""
        fused = f", fused with {', '.join(self.fused)}" if self.fused else ""
        return f"{self.criterion} by {self.judge}{fused}" if self.judge else "level counts"

    @property
    def names(self) -> list[str]:
        """An id for each sample: its own, numbered where it repeats, or ``row-N``."""
        places = enumerate(self.brought.samples(), start=1)
        return distinct(name or f"row-{place}" for place, (name, _) in places)[0]

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
            return human_ratings(self._metadata(), human)
        return numbers("human ratings", human)

    def values(self, key: str | Sequence[Any], what: str) -> Sequence[Any]:
        """What each sample's metadata has under a key, None for nothing; or the values themselves.

        Args:
            key: The key, or the values.
            what: A name for them.

        Raises:
            InvalidValueError: No sample has the key, or there is not one value for each sample.
        """
        if isinstance(key, str):
            return list(metadata_values(self._metadata(), key))
        if len(key) != len(self):
            msg = f"{len(key)} {what} for {len(self)} samples; give one per sample"
            raise InvalidValueError(msg)
        return key

    def groups(self, key: str | Sequence[Any] | None, ratings: FloatArray) -> list[Hashable] | None:
        """What the samples belong to; None where nothing is named.

        Args:
            key: As for `values`.
            ratings: Shape (N,): samples with a score and a finite rating need a group.

        Raises:
            InvalidValueError: As for `values`.
            InvalidSampleError: Such a sample has none.
        """
        if key is None:
            return None
        values = self.values(key, "groups")
        needed = has_score(self.counts) & np.isfinite(ratings)
        return groups_in(
            values, lambda: self.names, key if isinstance(key, str) else "group", needed
        )

    def unused(self, config: Config | str | Path | None) -> tuple[str, ...]:
        """What of a configuration does not apply to a view of all samples at once, in sentences.

        Raises:
            UnreadableInputError: As for `Config.load`.
        """
        if config is None:
            return ()
        found, notes = Config.load(config), []
        name = "the configuration" if isinstance(config, Config) else config
        notes += [
            f"{name} has profiles by {by!r}; its settings for all samples are used here"
            for by in found.profiles or ()
        ]
        if self.criterion and found.criterion not in {None, self.criterion}:
            notes.append(f"{name} is for {found.criterion}, these are of {self.criterion}")
        return tuple(notes)

    def _metadata(self) -> Iterator[Mapping[str, Any]]:
        return (metadata for _, metadata in self.brought.samples())


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


def in_use(config: Config | str | Path | None) -> ScoringConfig:
    """The settings that a file has for all samples; the defaults without one.

    Raises:
        UnreadableInputError: As for `Config.load`.
    """
    return ScoringConfig(**({} if config is None else Config.load(config).given()))


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
    read = read_judged(files, skip_bad=skip_bad)
    return Judged(
        read.tables,
        _scored(read.tables),
        *_about(read.kinds, read.source),
        quotes={view: EvidenceCounts(read.checks, view) for view in EVIDENCE},
        brought=read.brought,
        notes=tuple(read.notes),
        skipped=read.skipped,
    )


def _of_assessments(assessments: Sequence[Assessment]) -> Judged:
    about = _about(Kinds.of(assessments), "this list")
    quotes = {view: EvidenceCounts.of(assessments, view) for view in EVIDENCE}
    tables = level_tables(assessments)
    brought = Held([(each.sample_id, each.metadata) for each in assessments])
    return Judged(tables, _scored(tables), *about, quotes=quotes, brought=brought)


def _of_counts(counts: FloatArray) -> Judged:
    tables: dict[Evidence, FloatArray] = dict.fromkeys(EVIDENCE, counts)
    return Judged(tables, _scored(tables))


def _scored(tables: Mapping[Evidence, FloatArray]) -> int:
    """How many samples have a score, which is the same under every view."""
    return int(has_score(tables[DEFAULT_EVIDENCE]).sum())


def _about(kinds: Kinds, source: str) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """Criterion, judge, additional judges and forms of judgements, which must be of one kind."""
    kinds.check(source)
    ((criterion, judge),), (fused,) = kinds.judges, kinds.fused
    return criterion, judge, fused, tuple(form for form, _ in kinds.forms.most_common())


def _assessment(item: object) -> Assessment:
    if isinstance(item, Result):
        return item.assessment
    if isinstance(item, Assessment):
        return item
    msg = f"{item!r} stands among assessments; give results, assessments or files alone"
    raise InvalidValueError(msg)

"""Scores of several methods on the same samples, with human ratings.

Every analysis is a function from this table to a `tcva_adapters.tables.Report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import (
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Sized,
)
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.scores.judged_by import JudgedBy, RunInfo
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.judgement import SILENT
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import MOSTLY_MARKED
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.conversation import conversation_of
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import quoted_names
from tcva_adapters.stats.checks import BoolArray, Groups, IntArray, one_of
from tcva_adapters.stats.raters import mean_rating
from tcva_adapters.tables import Record, counted

T = TypeVar("T")

RowsByLabel = dict[str, list[int]]
"""Rows of a table by their label, e.g. the turns of each conversation."""

THRESHOLD = 0.5
"""The lowest score that passes, for methods without a threshold of their own."""


@dataclass(frozen=True, slots=True)
class RowIds(Sequence[str]):
    """Ids of samples by their row number, which take no memory.

    >>> RowIds(2)[1], list(RowIds(2))
    ('row-2', ['row-1', 'row-2'])
    """

    number: int

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, place: Any) -> Any:
        """Return one id, or several."""
        numbers = range(1, self.number + 1)[place]
        if isinstance(numbers, int):
            return f"row-{numbers}"
        return [f"row-{number}" for number in numbers]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Samples in rows, methods in columns, and what belongs to either.

    Attributes:
        samples: Ids, one per row, each once.
        methods: Names, one per column, each once.
        scores: Shape (N, M); nan where there is no score.
        human: Ratings, shape (N, R), one column per rater; nan where one did not rate. R is 0
            where there are none; an array of shape (N,) is taken as one rater's.
        raters: Their names, R of them or none.
        groups: The group of each sample (a document, a conversation, a system); empty without
            groups.
        counts: Level counts, shape (N, J, 5), the main judge's first, for scores at other
            temperatures; zeros where a judge has no verdicts. None for methods without verdicts.
        thresholds: By method, the lowest score that passes; see `threshold`.
        reasons: By (sample, method): why there is no score, or why one passes no gate.
        metadata: One mapping per sample; empty where there is none.
        usage: By method, its cost where counted: ``calls``, ``input_tokens``, ``output_tokens``,
            ``seconds``.
        results: By method, one result per sample (None where there is none): texts and claims.
        notes: Facts that a reader of any figure must know: lines left out, ids that did not match.
        judged: The criterion, judge and settings, where all verdicts share them.
        judged_methods: The same by method, of results and scores that were read.
        run: The run that made the table; None where it was read.
        members: By fused method, the methods that it is the mean of.
        judged_samples: The samples that were judged, with their texts, of imported scores and of runs.
        skipped: The number of lines that could not be read and were left out.
        can_continue: Whether the same command, run again, asks only for the judgements that failed.

    Raises:
        InvalidValueError: Shapes that do not fit, or a name that occurs twice.

    >>> table = ScoreTable(("a", "b"), ("m",), np.array([[0.5], [np.nan]]), np.array([0.6, 0.2]))
    >>> table.human.shape, table.rated.samples, table.common().samples
    ((2, 1), ('a', 'b'), ('a',))
    """

    samples: Sequence[str]
    methods: tuple[str, ...]
    scores: FloatArray
    human: FloatArray = field(default_factory=lambda: np.empty(0))
    raters: tuple[str, ...] = ()
    groups: tuple[Hashable, ...] = ()
    counts: FloatArray | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    metadata: Sequence[Fields] = ()
    usage: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    results: Mapping[str, Sequence[Scored | None]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    judged: JudgedBy = field(default_factory=JudgedBy)
    judged_methods: Mapping[str, JudgedBy] = field(default_factory=dict)
    run: RunInfo | None = None
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged_samples: Sequence[Sample] = ()
    skipped: int = 0
    can_continue: bool | None = None

    def __post_init__(self) -> None:
        for kind, names in (("sample", self.samples), ("method", self.methods)):
            if not isinstance(names, RowIds) and (name := repeated_name(names)):
                raise InvalidValueError(
                    f"the {kind} {name!r} occurs twice; each needs a name of its own"
                )
        size = len(self.samples)
        if self.scores.shape != (size, len(self.methods)):
            raise InvalidValueError(
                f"scores need the shape ({size}, {len(self.methods)}), got {self.scores.shape}"
            )
        human = self.human.reshape(size, -1) if self.human.size else np.empty((size, 0))
        object.__setattr__(self, "human", human)
        rows: dict[str, Sized] = {"groups": self.groups, "metadata": self.metadata}
        rows |= self.results
        if self.counts is not None:
            rows["level counts"] = self.counts
        for name, values in rows.items():
            if len(values) not in {0, size}:
                raise InvalidValueError(
                    f"{len(values)} {name} for {size} samples; give one per sample"
                )

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def conversations(self) -> RowsByLabel:
        """The rows of each conversation's turns, by its id; a repeated id has a number."""
        turns: RowsByLabel = {}
        named = zip(self.samples, self.metadata, strict=False)
        for row, (name, metadata) in enumerate(named):
            if conversation := conversation_of(name, metadata):
                number = name.removeprefix(f"{conversation}/{metadata['turn']}")
                turns.setdefault(conversation + number, []).append(row)
        return turns

    @property
    def columns(self) -> Iterator[tuple[str, FloatArray]]:
        """Each method with its scores, shape (N,)."""
        return zip(self.methods, self.scores.T, strict=True)

    def column(self, method: str) -> FloatArray:
        """One method's scores, shape (N,).

        Raises:
            InvalidValueError: No such method.
        """
        one_of("method", method, self.methods)
        return self.scores[:, self.methods.index(method)]

    def places_of(self, samples: Sequence[str]) -> IntArray:
        """Return the row of each of these samples, -1 if it is not in the table."""
        # A million ids take a hundred megabytes, so the lookup is built only if needed.
        names = self.samples if samples else ()
        places = {name: place for place, name in enumerate(names)}
        return np.array([places.get(sample, -1) for sample in samples], dtype=np.intp)

    def threshold(self, method: str) -> float:
        """The lowest score of a method with which a sample passes."""
        return self.thresholds.get(method, THRESHOLD)

    def passes(self, method: str) -> BoolArray:
        """Mark the samples that pass a method's threshold, shape (N,), without `closed` ones."""
        reaches = self.column(method) >= self.threshold(method)
        return reaches & ~self.closed(method)

    def closed(self, method: str) -> BoolArray:
        """Mark the answers that no gate passes, whatever the score: see `Result.mostly_marked`."""
        return self.has_reason(method, {MOSTLY_MARKED})

    def silent(self, method: str) -> BoolArray:
        """Mark the answers that claim nothing, so that gates let them through without a score."""
        return self.has_reason(method, SILENT)

    def has_reason(
        self,
        method: str,
        reasons: Collection[str],
    ) -> BoolArray:
        """Mark the samples that have no score, or pass no gate, for one of these reasons."""
        if not self.reasons:
            return np.zeros(len(self), dtype=np.bool_)
        why = [self.reason(sample, method) for sample in self.samples]
        words = [text.removeprefix("unscored: ").partition(":")[0] for text in why]
        return np.array([word in reasons for word in words], dtype=np.bool_)

    @property
    def views(self) -> tuple[str, ...]:
        """The methods that are views of TCVA's one judgement at several temperatures."""
        return self.run.views if self.run else ()

    @property
    def main(self) -> str:
        """The method to compare others with: TCVA at the middle temperature, else the first."""
        if self.run and self.run.views:
            return self.run.views[len(self.run.temperatures) // 2]
        return self.methods[0]

    @property
    def settings(self) -> Record:
        """The criterion, judge and settings, as reports show them."""
        settings = {**self.judged.settings, "skipped": self.skipped}
        if self.judged_methods:
            settings["methods"] = {
                method: judged.settings
                for method, judged in self.judged_methods.items()
            }
        if self.members:
            settings["members"] = self.members
        if self.run:
            settings |= {"is_lexical": self.judged.is_lexical, **asdict(self.run)}
        if self.can_continue is not None:
            settings["can_continue"] = self.can_continue
        return settings

    @property
    def total(self) -> int:
        """The number of samples in the source, with those that could not be read."""
        return len(self) + self.skipped

    def result(
        self,
        method: str,
        place: int,
    ) -> Scored | None:
        """A method's result of one sample; None where there is none."""
        results = self.results.get(method)
        return results[place] if results else None

    def reason(
        self,
        sample: str,
        method: str,
    ) -> str:
        """Why there is no score; ``no result`` where no reason is known."""
        return self.reasons.get((sample, method), "no result")

    @property
    def rating(self) -> FloatArray:
        """The mean rating of each sample over its raters, shape (N,); nan where there is none."""
        return mean_rating(self.human)

    @property
    def known_groups(self) -> Groups:
        """The groups as the statistics take them: None where samples stand alone."""
        return self.groups or None

    @property
    def rated(self) -> ScoreTable:
        """The table of the samples with a rating."""
        return self.select(np.isfinite(self.rating))

    def common(self, methods: Sequence[str] | None = None) -> ScoreTable:
        """Select these methods (by default all), and the samples that all of them have scored."""
        chosen = self.select(methods=methods)
        return chosen.select(np.isfinite(chosen.scores).all(axis=1))

    @property
    def level_counts(self) -> FloatArray:
        """The level counts of judgements, by which they are scored at any temperature.

        Raises:
            InvalidValueError: There are none.
        """
        if self.counts is None:
            raise InvalidValueError(
                "scores without verdicts have no other temperatures; give judgements"
            )
        return self.counts

    def at(self, scoring: ScoringConfig | float) -> FloatArray:
        """Score the judgements at other settings, shape (N,), without a call.

        Args:
            scoring: Temperature and weights, or a temperature with the defaults.

        Raises:
            InvalidValueError: There are no level counts.
        """
        if not isinstance(scoring, ScoringConfig):
            scoring = ScoringConfig(temperature=scoring)
        return scoring.fuse_scores(
            [scoring.scores(judge) for judge in self.level_counts.swapaxes(0, 1)]
        )

    def with_method(
        self,
        name: str,
        scores: FloatArray,
        threshold: float = THRESHOLD,
    ) -> ScoreTable:
        """Add one more method, e.g. another temperature or a fused one.

        Raises:
            InvalidValueError: There is a method of that name, or not one score per sample.
        """
        return replace(
            self,
            methods=(*self.methods, name),
            scores=np.column_stack([self.scores, scores]),
            thresholds={**self.thresholds, name: threshold},
        )

    def rows_by(self, field: str) -> RowsByLabel:
        """Group the rows of a table of rated samples by the values of a metadata field.

        Raises:
            InvalidValueError: No sample has the field.
        """
        rows = rows_by_label(metadata.get(field) for metadata in self.metadata)
        if not rows:
            raise InvalidValueError(
                f"no rated sample has {field!r} in its metadata; name a field that samples have"
            )
        return rows

    def select(
        self,
        rows: npt.ArrayLike | None = None,
        methods: Sequence[str] | None = None,
    ) -> ScoreTable:
        """Select some of the samples and methods.

        Args:
            rows: Indices in the order wanted, or a mask of shape (N,); by default all.
            methods: Names in the order wanted; by default all.

        Raises:
            InvalidValueError: No such method.
        """
        table = self
        if methods is not None:
            no_columns = np.empty((len(self), 0))
            scores = np.column_stack([no_columns, *map(self.column, methods)])
            table = replace(table, methods=tuple(methods), scores=scores)
        if rows is None:
            return table
        chosen = np.asarray(rows)
        if chosen.dtype != bool:
            chosen = chosen.astype(np.intp)
        places = np.arange(len(self))[chosen]
        return table.aligned(places, _values_at(table.samples, places, ""))

    def aligned(
        self,
        places: IntArray,
        samples: Sequence[str],
    ) -> ScoreTable:
        """Select rows by index under these names; a row below 0 is one without any values."""
        return replace(
            self,
            samples=samples,
            scores=_rows_at(self.scores, places, np.nan),
            human=_rows_at(self.human, places, np.nan),
            groups=_values_at(self.groups, places, None),
            counts=None if self.counts is None else _rows_at(self.counts, places, 0.0),
            metadata=_values_at(self.metadata, places, {}),
            results={
                method: _values_at(results, places, None)
                for method, results in self.results.items()
            },
        )

    def for_samples(self, samples: Sequence[str]) -> ScoreTable:
        """Select samples by id, in this order; those that the table lacks have no values."""
        return self.aligned(self.places_of(samples), samples)

    def join(self, other: ScoreTable) -> ScoreTable:
        """Add the methods, ratings and groups of another table, by the samples' ids.

        Samples that the other table lacks have no score of its methods, and samples that only it
        has are left out; notes count both. Ratings and groups that both tables have are taken from
        this one. Level counts and metadata are always this one's: those of the other table are lost.

        Raises:
            InvalidValueError: Both tables have a method of one name, or no sample is in common.
        """
        known = set(self.samples)
        common = len(known.intersection(other.samples))
        if len(self) and not common:
            raise InvalidValueError(
                f"no sample in common: {self.samples[0]!r} and others here, "
                f"{quoted_names(other.samples[:1]) or 'none'} and others there"
            )
        name = ", ".join(other.methods) or "the ratings"
        notes = []
        if missing := len(self) - common:
            notes.append(f"{counted(missing, 'sample')} came without a row of {name}")
        if left := len(other) - common:
            notes.append(
                f"{counted(left, 'sample')} of {name} left out: not among these"
            )
        reasons = {key: why for key, why in other.reasons.items() if key[0] in known}
        aligned = other.for_samples(self.samples)
        return replace(
            self,
            methods=(*self.methods, *other.methods),
            scores=np.column_stack([self.scores, aligned.scores]),
            human=self.human if self.human.shape[1] else aligned.human,
            raters=self.raters or other.raters,
            groups=self.groups or aligned.groups,
            thresholds={**self.thresholds, **other.thresholds},
            reasons={**self.reasons, **reasons},
            usage={**self.usage, **other.usage},
            results={**self.results, **aligned.results},
            notes=(*self.notes, *other.notes, *notes),
        )


def repeated_name(names: Iterable[str]) -> str | None:
    """The first name that occurs more than once; None where all differ."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def rows_by_label(labels: Iterable[object]) -> RowsByLabel:
    """Group rows by their label; those without one are left out.

    >>> rows_by_label(["b", "a", None, "b"])
    {'b': [0, 3], 'a': [1]}
    """
    rows: RowsByLabel = {}
    for row, label in enumerate(labels):
        if label is not None:
            rows.setdefault(str(label), []).append(row)
    return rows


def _values_at(
    values: Sequence[T],
    places: IntArray,
    missing: T,
) -> tuple[T, ...]:
    """Select values by index, ``missing`` for an index below 0; empty where there are no values."""
    if not len(values):
        return ()
    return tuple(values[i] if i >= 0 else missing for i in places.tolist())


def _rows_at(
    values: FloatArray,
    places: IntArray,
    missing: float,
) -> FloatArray:
    """Select rows by index, all ``missing`` for an index below 0."""
    rows = values[places]
    rows[places < 0] = missing
    return rows


def no_group(sample: str | None, field: str) -> str:
    """The message on a sample without a group, with the remedy."""
    return (
        f"sample {sample!r} has no {field!r} in its metadata; --group (group=) needs a name or a "
        "number there in every sample"
    )


def groups_note(number: int) -> str:
    """The note on how many groups count instead of samples."""
    return f"Intervals and tests count {counted(number, 'group')}, not samples."


def check_groups(table: ScoreTable, field: str | None) -> None:
    """Refuse samples that need a group and have none.

    Raises:
        InvalidSampleError: A scored sample (with a rating, where there are ratings) has none.
    """
    if field is None:
        return
    is_needed = np.full(len(table), fill_value=not table.methods)
    is_needed |= np.isfinite(table.scores).any(axis=1)
    if table.human.shape[1]:
        is_needed &= np.isfinite(table.rating)
    for place in np.flatnonzero(is_needed).tolist():
        if table.groups[place] is None:
            raise InvalidSampleError(no_group(table.samples[place], field))

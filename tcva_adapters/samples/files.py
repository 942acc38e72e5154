"""Samples from files.

Whatever the format, a file is a stream of rows (`records`), and of samples (`stream_samples`); a list of
them is `read_samples`. Reading stops at the first bad row, or skips bad rows and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.samples.ids import DistinctIds
from tcva_adapters.samples.layouts import dotted, values_at
from tcva_adapters.samples.names import ALIASES
from tcva_adapters.samples.records import NAN, Format, Source, listed, name_of
from tcva_adapters.samples.rows import KEPT, RowStream, skipped_rows
from tcva_adapters.samples.sample import Sample

_NAMED: Final = 3
_TEXT_FIELDS: Final = tuple(field for field in ALIASES if field != "id")


@dataclass(frozen=True, slots=True)
class SampleFile:
    """What was read from a file of samples.

    Attributes:
        samples: The samples, in the order of the file. Ids differ, and may be None.
        lines: The line (csv, jsonl), item (json) or row (parquet) of each sample, from 1.
        bad: Line and message of each row that is no sample; empty unless bad rows are skipped.
        repeated: Ids that several rows have. From the second on they were numbered: a, a#2, a#3.
    """

    samples: Sequence[Sample]
    lines: Sequence[int]
    bad: list[tuple[int, str]]
    repeated: tuple[str, ...] = ()

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> SampleFile:
        """Samples that come from no file: their lines are their places, from 1."""
        return cls(list(samples), list(range(1, len(samples) + 1)), [])

    @property
    def notes(self) -> list[str]:
        """What is to be known of the reading, in sentences."""
        return [
            *skipped_rows(self.bad, len(self.bad)),
            *_repeated(self.repeated, len(self.repeated)),
        ]


class SampleStream(RowStream[Sample]):
    """The samples of a file, read when they are asked for: see `stream_samples`.

    Attributes:
        ids: What tells the ids apart.
        mapping: See there.
    """

    missing = NAN

    def __init__(
        self,
        source: Source,
        kind: Format | None,
        *,
        skip_bad: bool,
        mapping: Mapping[str, str],
        require: Callable[[Sample], object] | None,
        kept: int | None,
    ) -> None:
        """Open nothing yet; see `stream_samples`."""
        self.mapping, self._require = mapping, require
        super().__init__(source, kind, skip_bad=skip_bad, read=Sample.from_record, kept=kept)

    def _begin(self) -> None:
        super()._begin()
        self.ids = DistinctIds(kept=self._kept)
        self._reader = SampleReader(self.mapping)

    @property
    def notes(self) -> list[str]:
        """What is to be known of what was read so far, in sentences."""
        return [*self.said(), *_repeated(self.ids.repeated, self.ids.number)]

    def _item(self, record: dict[str, Any]) -> Sample:
        sample = self._reader(record)
        if self._require is not None:
            self._require(sample)
        return _unlike(self.ids, sample)

    def _ended(self, where: str = "") -> None:
        """Refuse a renamed column that no row has."""
        if self._reader.unseen:
            msg = (
                f"{name_of(self.source)} has no column {listed(self._reader.unseen)}{where}; "
                f"columns are {listed(self._reader.columns)}"
            )
            raise UnreadableInputError(msg)


def stream_samples(
    source: Source,
    *,
    skip_bad: bool = False,
    format: Format | None = None,  # noqa: A002  # what everyone calls it
    mapping: Mapping[str, str] | None = None,
    require: Callable[[Sample], object] | None = None,
    kept: int | None = KEPT,
) -> SampleStream:
    """Read samples one after the other from jsonl, json, csv or parquet, whatever their number.

    What is read and what is refused is said at `read_samples`, which is a list of these. Held is
    one row of jsonl or csv, and a part of a row group of parquet; a json file is held as a whole.
    Of each id stay eight bytes. `SampleStream.check` looks at the first rows before any is used.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        skip_bad: Go on after a bad row and count it; the first ones are kept in ``bad``.
        format: By default taken from the suffix; jsonl for streams.
        mapping: Your column name to the field it holds.
        require: Raises InvalidSampleError for a sample that cannot be used; its row is a bad one.
        kept: How many bad rows and repeated ids are kept for messages; None keeps all.

    Raises:
        InvalidValueError: An unknown format or suffix, or a mapping to no field. Errors of the
            rows come when they are read.

    >>> import io
    >>> stream = stream_samples(io.StringIO('{"answer": "Ada."}' + chr(10) + '{"answer": "Bob."}'))
    >>> [(stream.line, sample.response) for sample in stream]
    [(1, 'Ada.'), (2, 'Bob.')]
    """
    return SampleStream(
        source, format, skip_bad=skip_bad, mapping=mapping or {}, require=require, kept=kept
    )


def read_samples(
    source: Source,
    *,
    skip_bad: bool = False,
    format: Format | None = None,  # noqa: A002  # what everyone calls it
    mapping: Mapping[str, str] | None = None,
) -> SampleFile:
    """Read samples from jsonl, json, csv or parquet.

    Field names are those of `Sample.from_record`; other fields become metadata. A json file is a
    list, or an object with the list under ``samples`` or ``data``. A csv file has a header row;
    columns without a name are left out, NaN (nan, <NA>) is no value, and contexts are one passage
    or a list as JSON or Python print it. Separators may be commas, semicolons or tabs. An id that
    occurs again is numbered: a, a#2.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        skip_bad: Go on after a bad row and collect it in ``bad``.
        format: By default taken from the suffix; jsonl for streams.
        mapping: Your column name to the field it holds, e.g. ``{"my_answer": "response"}``; a
            path leads into objects and lists: ``{"choices.0.text": "response"}``.

    Raises:
        UnreadableInputError: The file is missing, a folder, empty, not UTF-8 or damaged; a row is
            no record (``line`` says which); or every row is bad.
        MissingDependencyError: A parquet file without pyarrow.
        InvalidValueError: An unknown format or suffix, or a mapping to no field.

    >>> import io
    >>> read = read_samples(io.StringIO('{"question": "Who?", "answer": "Ada."}'))
    >>> read.samples[0].response, read.lines
    ('Ada.', [1])
    """
    stream = stream_samples(source, skip_bad=skip_bad, format=format, mapping=mapping, kept=None)
    samples, lines = stream.collected()
    return SampleFile(samples, lines, stream.bad, tuple(stream.ids.repeated))


def numbered(samples: Sequence[Sample]) -> tuple[list[Sample], tuple[str, ...]]:
    """Samples whose ids differ, and the ids that several had: the later ones are numbered.

    >>> samples, repeated = numbered([Sample(id="a"), Sample(id="a"), Sample()])
    >>> [sample.id for sample in samples], repeated
    (['a', 'a#2', None], ('a',))
    """
    ids = DistinctIds()
    return [_unlike(ids, sample) for sample in samples], tuple(ids.repeated)


def _unlike(ids: DistinctIds, sample: Sample) -> Sample:
    if sample.id is None or (name := ids.unlike(sample.id)) == sample.id:
        return sample
    return sample.model_copy(update={"id": name})


def _repeated(names: Sequence[str], number: int) -> list[str]:
    """Which ids were numbered, in a sentence: the first ones, and how many there are."""
    more = f" and {number - _NAMED} more" if number > _NAMED else ""
    said = (
        f"several rows have the same id: {listed(names[:_NAMED])}{more}; from the second on they "
        f"were numbered: {f'{name}#2'!r}"
        for name in names[:1]
    )
    return [*said]


class SampleReader:
    """Makes a sample of one record, as files are read.

    Args:
        mapping: Your column name to the field it holds.

    Attributes:
        unseen: Columns of the mapping that no record had so far.
        columns: All that records had; none without a mapping.

    Raises:
        InvalidValueError: A mapping to no field, or of two columns to one.
    """

    def __init__(self, mapping: Mapping[str, str]) -> None:
        fields = {name: field for field, names in ALIASES.items() for name in names}
        for column, target in mapping.items():
            if target not in fields:
                msg = f"column {column!r} is mapped to {target!r}; fields are {listed(ALIASES)}"
                raise InvalidValueError(msg)
        self._fields = {column: fields[target] for column, target in mapping.items()}
        if len(set(self._fields.values())) < len(self._fields):
            msg = f"two columns are mapped to one field in {dict(mapping)!r}; leave one out"
            raise InvalidValueError(msg)
        self.unseen = set(mapping)
        self.columns: dict[str, None] = {}

    def __call__(self, record: dict[str, Any]) -> Sample:
        """The sample.

        Raises:
            InvalidSampleError: A field cannot be read, or there is nothing to judge.
        """
        renamed, rest = self._renamed(record) if self._fields else ({}, record)
        displaced = {name: rest[name] for name in renamed if name in rest}
        try:
            sample = Sample.from_record({**rest, **renamed})
        except InvalidSampleError as error:
            says = {f"field {field!r}": column for column, field in self._fields.items()}
            column = next((says[field] for field in says if str(error).startswith(field)), None)
            msg = f"column {column!r}: {error}" if column else str(error)
            raise InvalidSampleError(msg) from None
        if all(getattr(sample, field) is None for field in _TEXT_FIELDS):
            raise InvalidSampleError(_nothing_in(record))
        if displaced:
            return sample.model_copy(update={"metadata": {**sample.metadata, **displaced}})
        return sample

    def _renamed(self, record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields that columns are mapped to, and all other columns."""
        flat = dotted(record)
        for name, value in flat.items():
            inner = value if isinstance(value, Mapping) else ()
            self.columns.update(dict.fromkeys([f"{name}.{key}" for key in inner] or [name]))
        found = {column: values_at(flat, column) for column in self._fields}
        renamed = {self._fields[column]: values[0] for column, values in found.items() if values}
        self.unseen.difference_update(column for column, values in found.items() if values)
        return renamed, {n: value for n, value in flat.items() if n not in self._fields}


def _nothing_in(record: Mapping[str, Any]) -> str:
    if {"claims", "criterion"} <= record.keys():
        return (
            "a judgement, as 'tcva evaluate --out' writes it; sweep, calibrate and report read it"
        )
    known = "; ".join(f"{field} ({', '.join(ALIASES[field][1:])})" for field in _TEXT_FIELDS)
    return f"nothing to judge among the fields {listed(record) or '(none)'}; known are {known}"

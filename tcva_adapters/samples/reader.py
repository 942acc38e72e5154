"""Read samples from files.

Whatever the format, a file is a stream of rows (`read_records`) and of samples (`SampleStream`);
`read_samples` returns a list. Reading stops at the first bad row, or skips bad rows and reports
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.samples.conversation import (
    CONVERSATION,
    UNANSWERED,
    Conversation,
    conversation_of,
)
from tcva_adapters.samples.fields import ALIASES, FieldNames, Fields, parts_of
from tcva_adapters.samples.file_formats import ROW_WORDS, Format
from tcva_adapters.samples.messages import fields_in
from tcva_adapters.samples.row_stream import KEPT, RowStream, skipped_rows
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import Source, quoted_names
from tcva_adapters.samples.turns import turns_of
from tcva_adapters.tables import Record, counted

Name = TypeVar("Name", str, str | None)

_NAMED = 3
_TEXT_FIELDS = tuple(field for field in ALIASES if not field.endswith(("id", "ids")))


@dataclass(frozen=True, slots=True)
class SampleFile:
    """The samples of a file, with their lines and the bad rows.

    Attributes:
        samples: The samples, in the order of the file. Ids differ, and may be None.
        lines: The line (csv, jsonl), item (json) or row (parquet) of each sample, from 1.
        bad: Line and message of each row that is no sample; empty unless bad rows are skipped.
        repeated: Ids that several rows have. They are numbered: a, a#2, a#3.
    """

    samples: Sequence[Sample]
    lines: Sequence[int]
    bad: list[tuple[int, str]]
    repeated: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """Sentences on rows that were skipped and ids that were numbered."""
        return [*skipped_rows(self.bad, len(self.bad)), *_repeated(self.repeated)]


class SampleStream(RowStream[Sample]):
    """The samples of a file, read one by one.

    `read_samples` describes the formats, and returns a list. The stream holds one row of jsonl or
    csv, a part of a row group of parquet, or the whole of a json file in memory. `check` reads the
    first rows before any is used. Ids that repeat are not numbered.

    Attributes:
        mapping: Your column name to the field it holds.
        conversations: How many of the records that were read so far have several turns.

    >>> import io
    >>> stream = SampleStream(io.StringIO('{"answer": "Ada."}' + chr(10) + '{"answer": "Bob."}'))
    >>> [(stream.line, sample.response) for sample in stream]
    [(1, 'Ada.'), (2, 'Bob.')]
    """

    def __init__(
        self,
        source: Source,
        *,
        skip_bad: bool = False,
        format: Format | None = None,  # noqa: A002  # what everyone calls it
        mapping: FieldNames | None = None,
        require: Callable[[Sample], object] | None = None,
        kept: int | None = KEPT,
    ) -> None:
        """Prepare to read; no row is read yet.

        Args:
            source: A path, ``"-"`` for standard input, or an open text file.
            skip_bad: Go on after a bad row and count it; the first ones are in ``bad``.
            format: By default taken from the suffix; jsonl for streams.
            mapping: Your column name to the field it holds.
            require: Raises InvalidSampleError for a sample that cannot be used; its row is bad.
            kept: How many bad rows are listed; None lists all.

        Raises:
            InvalidValueError: An unknown format or suffix, or a mapping to no field. Errors of the
                rows come when they are read.
        """
        self.mapping = mapping or {}
        self._columns = columns_of(self.mapping)
        self._require = require
        super().__init__(
            source,
            format,
            skip_bad=skip_bad,
            read=Sample.from_record,
            kept=kept,
        )

    @property
    def notes(self) -> list[str]:
        """Sentences on the rows read so far: skipped ones, and conversations."""
        notes = super().notes
        if self.conversations:
            number = counted(self.conversations, "conversation")
            notes.append(
                f"each answer in a conversation of several turns is a sample ({number})"
            )
        return notes

    def _begin(self) -> None:
        super()._begin()
        self._records = self.conversations = 0
        self._lines: dict[str, int] = {}

    def _items_of(self, record: Record, line: int) -> Sequence[Sample]:
        name = f"row-{self._records + 1}"
        item = known_item(record, self._columns, name)
        samples = [item] if isinstance(item, Sample) else item.turns
        for sample in samples:
            if conversation_of(sample.id, sample.metadata) is None:
                continue
            before = self._lines.setdefault(str(sample.id), line)
            if before != line:
                raise InvalidSampleError(
                    f"{sample.id!r} is also in {ROW_WORDS[self.kind]} {before}, as the same turn of the same conversation; give each conversation an id of its own"
                )
        if self._require is not None:
            for sample in samples:
                self._require(sample)
        self._records += 1
        self.conversations += len(samples) > 1
        if self.conversations and not samples[0].id:
            # Other code names samples without an id by counting them, not the records.
            return with_names(samples, [name])
        return samples


def read_samples(
    source: Source,
    *,
    skip_bad: bool = False,
    format: Format | None = None,  # noqa: A002  # what everyone calls it
    mapping: FieldNames | None = None,
) -> SampleFile:
    """Read samples from jsonl, json, csv or parquet.

    Field names are those of `Sample.from_record`; other fields become metadata. A record whose
    messages are a conversation gives a sample for each answered question, see `read_item`. A json file is a
    list, or an object with the list under ``samples``, ``data`` or the like. A csv file has a header
    row; columns without a name are left out, NaN (nan, <NA>) is no value, and contexts are one text
    or a list as JSON or Python print it. Separators are commas, semicolons or tabs. An id that
    occurs again is numbered: a, a#2.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        skip_bad: Go on after a bad row and collect it in ``bad``.
        format: By default taken from the suffix; jsonl for streams.
        mapping: Your column name to the field it holds, e.g. ``{"my_answer": "response"}``; a
            path leads into objects: ``{"choice.text": "response"}``.

    Raises:
        UnreadableInputError: The file is missing, a folder, empty, not UTF-8 or damaged; a row is
            not a record (``line`` says which); or every row is bad.
        MissingDependencyError: A parquet file without pyarrow.
        InvalidValueError: An unknown format or suffix, or a mapping to no field.

    >>> import io
    >>> read = read_samples(io.StringIO('{"question": "Who?", "answer": "Ada."}'))
    >>> read.samples[0].response, read.lines
    ('Ada.', [1])
    """
    stream = SampleStream(
        source,
        skip_bad=skip_bad,
        format=format,
        mapping=mapping,
        kept=None,
    )
    lines = []
    samples = []
    for sample in stream:
        samples.append(sample)
        lines.append(stream.line)
    names, repeated = distinct_names(sample.id for sample in samples)
    return SampleFile(with_names(samples, names), lines, stream.bad, repeated)


def with_names(samples: Sequence[Sample], ids: Sequence[str | None]) -> list[Sample]:
    """Return the samples under these ids."""
    return [
        sample if sample.id == name else sample.model_copy(update={"id": name})
        for sample, name in zip(samples, ids, strict=True)
    ]


def with_ids(samples: Sequence[Sample]) -> tuple[list[Sample], list[str]]:
    """Give each sample an id of its own, and return a note on ids that repeat.

    A sample without an id is named by its row, and repeated ids are numbered.

    >>> samples, notes = with_ids([Sample(response="Yes."), Sample(response="No.", id="b")])
    >>> [sample.id for sample in samples], notes
    (['row-1', 'b'], [])
    """
    names, repeated = distinct_names(
        sample.id or f"row-{number}" for number, sample in enumerate(samples, start=1)
    )
    return with_names(samples, names), _repeated(repeated)


def distinct_names(names: Iterable[Name]) -> tuple[list[Name], tuple[str, ...]]:
    """Number repeated names so that all differ, and return also those that repeat.

    None stays None. A number that another name has already is left out.

    >>> distinct_names(["a", "b", "a", "a"])
    (['a', 'b', 'a#2', 'a#3'], ('a',))
    """
    counts: dict[str, int] = {}
    different = [name if name is None else numbered(name, counts) for name in names]
    return different, tuple(name for name, count in counts.items() if count > 1)


def numbered(name: str, counts: dict[str, int]) -> str:
    """Count a name, and return it, or ``NAME#2`` and so on where it came before.

    >>> names: dict[str, int] = {}
    >>> [numbered(name, names) for name in "aba"]
    ['a', 'b', 'a#2']
    """
    different = name
    while different in counts:
        counts[name] += 1
        different = f"{name}#{counts[name]}"
    counts[different] = 1
    return different


def _repeated(names: Sequence[str]) -> list[str]:
    """Say in a sentence which ids were numbered: the first ones, and how many more there are."""
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    repeated = f"{quoted_names(names[:_NAMED])}{more}"
    second = f"{names[0]}#2"
    return [
        f"several rows have the same id: {repeated}; the second one is now called {second!r}, and so on"
    ]


def columns_of(mapping: FieldNames) -> dict[str, str]:
    """Resolve a mapping of column names to fields, which it may name in any known way.

    Raises:
        InvalidValueError: A column is mapped to no field, or two columns to the same one.

    >>> columns_of({"mine": "answer"})
    {'mine': 'response'}
    """
    fields = {name: field for field, names in ALIASES.items() for name in names}
    columns = {}
    for column, target in mapping.items():
        if target not in fields:
            raise InvalidValueError(
                f"{column!r} must be mapped to one of {quoted_names(ALIASES)}, got {target!r}"
            )
        columns[column] = fields[target]
    if len(set(columns.values())) < len(columns):
        raise InvalidValueError(
            f"only one name can be mapped to a field, got {dict(mapping)!r}"
        )
    return columns


def known_item(
    record: Fields,
    columns: FieldNames,
    name: str | None = None,
) -> Sample | Conversation:
    """Read a record like `read_item`, and refuse one without any known field.

    Raises:
        InvalidSampleError: A field cannot be read, or there is nothing to judge.
    """
    item = read_item(record, columns, name)
    if isinstance(item, Sample) and all(
        getattr(item, field) is None for field in _TEXT_FIELDS
    ):
        known = "; ".join(
            f"{field} ({', '.join(ALIASES[field][1:])})" for field in _TEXT_FIELDS
        )
        there = quoted_names(record) or "(none)"
        msg = f"no known field among {there}; fields and other names: {known}; messages (turns); a command reads another name by --map NAME=FIELD"
        if "messages" in record:
            msg = f"messages must be a list of messages, got {record['messages']!r:.60}"
        if "claims" in record:
            msg = "these are results, which hold no answers; give the samples that were judged"
        raise InvalidSampleError(msg)
    return item


def read_item(
    record: Fields,
    columns: FieldNames,
    name: str | None = None,
) -> Sample | Conversation:
    """Read the conversation or the sample in a record.

    Messages are a conversation where several questions in them have an answer, and the record has
    no question and no answer outside of them (as a run has, with inputs and outputs). Anything else, a
    record with one answered question as well, is a sample under its own id, read by `Sample.from_record`.

    Args:
        record: The fields by name.
        columns: As for `Sample.from_record`.
        name: The id of a conversation whose record has none.

    Raises:
        InvalidSampleError: As for `Sample.from_record`.
    """
    dialogue, fields, rest = parts_of(record, columns)
    if dialogue is None:
        return Sample.of_parts(fields, rest)
    known = fields_in(dialogue) | fields
    sample = Sample.of_parts(known, rest)
    if not dialogue.is_whole:
        return sample
    turns = turns_of(
        dialogue.name,
        dialogue.messages,
        contexts=fields.get("contexts"),
        reference=fields.get("reference"),
    )
    if len(turns) > 1:
        metadata = sample.metadata
        called = sample.id or metadata.get(CONVERSATION) or name
        return Conversation(turns=turns, id=called and str(called), metadata=metadata)
    if known.keys().isdisjoint(("response", "contexts")):
        raise InvalidSampleError(f"{dialogue.name}: {UNANSWERED}")
    return sample

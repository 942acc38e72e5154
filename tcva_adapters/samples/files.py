"""Samples and assessments from files, and assessments into files.

Whatever the format, a file is a stream of rows (`records`). Reading stops at the first bad row, or
collects bad rows and goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TextIO, TypeVar
from uuid import uuid4

from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.judging.assessment import Assessment
from tcva_adapters.judging.sample import ALIASES, Sample
from tcva_adapters.records import (
    ROW_WORDS,
    Format,
    Source,
    format_of,
    listed,
    name_of,
    read_records,
)

__all__ = [
    "AssessmentFile",
    "Format",
    "Sample",
    "SampleFile",
    "read_assessments",
    "read_records",
    "read_samples",
    "write_assessments",
]

T = TypeVar("T")
_TEXT_FIELDS: Final = tuple(field for field in ALIASES if field != "id")


@dataclass(frozen=True, slots=True)
class SampleFile:
    """What was read from a file of samples.

    Attributes:
        samples: The samples, in the order of the file. Ids may repeat and may be None.
        lines: The line (csv, jsonl), item (json) or row (parquet) of each sample, from 1.
        bad: Line and message of each row that is no sample; empty unless bad rows are skipped.
    """

    samples: list[Sample]
    lines: list[int]
    bad: list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class AssessmentFile:
    """What was read from a file of assessments; attributes as those of `SampleFile`."""

    assessments: list[Assessment]
    lines: list[int]
    bad: list[tuple[int, str]]


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
    columns without a name are left out, and a contexts cell is a JSON list or one passage.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        skip_bad: Go on after a bad row and collect it in ``bad``.
        format: By default taken from the suffix; jsonl for streams.
        mapping: Your column name to the field it holds, e.g. ``{"my_answer": "response"}``.

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
    rename = _Renaming(mapping or {})
    samples, lines, bad = _collect(
        source, format, skip_bad=skip_bad, read=lambda record: _to_sample(rename, record)
    )
    if rename.unseen:
        msg = (
            f"{name_of(source)} has no column {listed(rename.unseen)}; "
            f"columns are {listed(rename.columns)}"
        )
        raise UnreadableInputError(msg)
    return SampleFile(samples, lines, bad)


def read_assessments(source: Source, *, skip_bad: bool = False) -> AssessmentFile:
    """Read what `write_assessments` wrote: jsonl, or json for a file of that suffix.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        skip_bad: Go on after a bad row and collect it in ``bad``.

    Raises:
        UnreadableInputError: As for `read_samples`.
        InvalidValueError: The suffix is that of another format.
    """
    kind = format_of(source)
    if kind not in ("jsonl", "json"):
        msg = f"assessments are read from jsonl or json, not from {kind} ({name_of(source)})"
        raise InvalidValueError(msg)
    return AssessmentFile(
        *_collect(
            source,
            kind,
            skip_bad=skip_bad,
            read=lambda record: Assessment.from_json(json.dumps(record)),
        )
    )


class OneLine(Protocol):
    """What can be written as a line: an `Assessment`, or a `CCRSResult`."""

    def to_json(self) -> str:
        """The line, without its end."""


def write_assessments(target: Source, assessments: Iterable[OneLine]) -> int:
    """Write one assessment (or CCRS result) per line, as they come, and return how many there were.

    A file appears under its name once it is complete, so an interrupted run leaves the former
    file as it was. Missing folders are made.

    Args:
        target: A path, ``"-"`` for standard output, or an open text file.
        assessments: May be an iterator.

    Raises:
        InvalidValueError: The file cannot be written.

    >>> import io
    >>> write_assessments(io.StringIO(), [Assessment.from_verdicts(["fully"])])
    1
    """
    if target == "-":
        return _write(sys.stdout, assessments)
    if not isinstance(target, str | Path):
        return _write(target, assessments)
    path = Path(target).expanduser().resolve()
    try:
        if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                return _write(stream, assessments)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _replacing(path) as stream:
            return _write(stream, assessments)
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}; give another path"
        raise InvalidValueError(msg) from error


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    draft = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _write(stream: TextIO, assessments: Iterable[OneLine]) -> int:
    number = 0
    for number, assessment in enumerate(assessments, start=1):  # noqa: B007  # the last is the count
        stream.write(assessment.to_json() + "\n")
    stream.flush()
    return number


def _collect(
    source: Source, kind: Format | None, *, skip_bad: bool, read: Callable[[dict[str, Any]], T]
) -> tuple[list[T], list[int], list[tuple[int, str]]]:
    kind = format_of(source, kind)
    items: list[T] = []
    lines: list[int] = []
    bad: list[tuple[int, str]] = []
    for row in read_records(source, kind):
        error = row.error
        if row.record is not None:
            try:
                item = read(row.record)
            except (InvalidSampleError, UnreadableInputError) as refusal:
                error = str(refusal)
            else:
                items.append(item)
                lines.append(row.line)
                continue
        if not skip_bad:
            msg = f"{name_of(source)}, {ROW_WORDS[kind]} {row.line}: {error}"
            raise UnreadableInputError(msg, line=row.line)
        bad.append((row.line, error))
    if not items:
        msg = f"{name_of(source)} is empty: it holds no record"
        if bad:
            first, error = bad[0]
            msg = (
                f"{name_of(source)} holds no readable record, {len(bad)} bad; "
                f"the first, {ROW_WORDS[kind]} {first}: {error}"
            )
        raise UnreadableInputError(msg, line=bad[0][0] if bad else None)
    return items, lines, bad


class _Renaming:
    """Column names of the user's own, and what was seen of them."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        fields = {name: field for field, names in ALIASES.items() for name in names}
        for column, target in mapping.items():
            if target not in fields:
                msg = f"column {column!r} is mapped to {target!r}; fields are {listed(ALIASES)}"
                raise InvalidValueError(msg)
        self.fields = {column: fields[target] for column, target in mapping.items()}
        if len(set(self.fields.values())) < len(self.fields):
            msg = f"two columns are mapped to one field in {dict(mapping)!r}; leave one out"
            raise InvalidValueError(msg)
        self.unseen = set(mapping)
        self.columns: dict[str, None] = {}

    def __call__(self, record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The record under its field names, and fields that a renamed column took the name of."""
        if not self.fields:
            return record, {}
        self.unseen.difference_update(record)
        self.columns.update(dict.fromkeys(record))
        renamed = {self.fields[name]: record[name] for name in self.fields if name in record}
        rest = {name: value for name, value in record.items() if name not in self.fields}
        displaced = {name: rest.pop(name) for name in renamed if name in rest}
        return {**renamed, **rest}, displaced


def _to_sample(rename: _Renaming, record: dict[str, Any]) -> Sample:
    fields, displaced = rename(record)
    sample = Sample.from_record(fields)
    if all(getattr(sample, field) is None for field in _TEXT_FIELDS):
        known = "; ".join(f"{field} ({', '.join(ALIASES[field][1:])})" for field in _TEXT_FIELDS)
        msg = f"nothing to judge among the fields {listed(record) or '(none)'}; known are {known}"
        raise InvalidSampleError(msg)
    if displaced:
        return sample.model_copy(update={"metadata": {**sample.metadata, **displaced}})
    return sample

"""Samples and assessments from files, and assessments into files.

Whatever the format, a file is a stream of rows: a record with its line, or a line with what is
wrong with it. Reading stops at the first bad row, or collects bad rows and goes on.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Any,
    BinaryIO,
    Final,
    Literal,
    NamedTuple,
    NoReturn,
    TextIO,
    TypeVar,
    cast,
    get_args,
)
from uuid import uuid4

from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    MissingDependencyError,
    UnreadableInputError,
)
from tcva_adapters.judging.assessment import Assessment
from tcva_adapters.judging.sample import ALIASES, Sample

__all__ = [
    "AssessmentFile",
    "Format",
    "Sample",
    "SampleFile",
    "read_assessments",
    "read_samples",
    "write_assessments",
]

T = TypeVar("T")
Source = str | Path | TextIO
Format = Literal["jsonl", "json", "csv", "parquet"]

_SUFFIXES: Final[dict[str, Format]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    "": "jsonl",  # a pipe has no suffix
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_ROW_WORDS: Final[dict[Format, str]] = {
    "jsonl": "line",
    "json": "item",
    "csv": "line",
    "parquet": "row",
}
_LIST_KEYS: Final = ("samples", "data", "assessments")
_TEXT_FIELDS: Final = tuple(field for field in ALIASES if field != "id")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_CSV_FIELD_LIMIT: Final = 2**31 - 1  # the largest that every platform takes


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
            f"{_name(source)} has no column {_listed(rename.unseen)}; "
            f"columns are {_listed(rename.columns)}"
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
    kind = _format_of(source, None)
    if kind not in ("jsonl", "json"):
        msg = f"assessments are read from jsonl or json, not from {kind} ({_name(source)})"
        raise InvalidValueError(msg)
    return AssessmentFile(
        *_collect(
            source,
            kind,
            skip_bad=skip_bad,
            read=lambda record: Assessment.from_json(json.dumps(record)),
        )
    )


def write_assessments(target: Source, assessments: Iterable[Assessment]) -> int:
    """Write one assessment per line, as they come, and return how many there were.

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


def _write(stream: TextIO, assessments: Iterable[Assessment]) -> int:
    number = 0
    for number, assessment in enumerate(assessments, start=1):  # noqa: B007  # the last is the count
        stream.write(assessment.to_json() + "\n")
    stream.flush()
    return number


class _Row(NamedTuple):
    """A record and its line, or what is wrong with that line."""

    line: int
    record: dict[str, Any] | None
    error: str = ""


def _collect(
    source: Source, kind: Format | None, *, skip_bad: bool, read: Callable[[dict[str, Any]], T]
) -> tuple[list[T], list[int], list[tuple[int, str]]]:
    kind = _format_of(source, kind)
    items: list[T] = []
    lines: list[int] = []
    bad: list[tuple[int, str]] = []
    for row in _rows(source, kind):
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
            msg = f"{_name(source)}, {_ROW_WORDS[kind]} {row.line}: {error}"
            raise UnreadableInputError(msg, line=row.line)
        bad.append((row.line, error))
    if not items:
        msg = f"{_name(source)} is empty: it holds no record"
        if bad:
            first, error = bad[0]
            msg = (
                f"{_name(source)} holds no readable record, {len(bad)} bad; "
                f"the first, {_ROW_WORDS[kind]} {first}: {error}"
            )
        raise UnreadableInputError(msg, line=bad[0][0] if bad else None)
    return items, lines, bad


class _Renaming:
    """Column names of the user's own, and what was seen of them."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        fields = {name: field for field, names in ALIASES.items() for name in names}
        for column, target in mapping.items():
            if target not in fields:
                msg = f"column {column!r} is mapped to {target!r}; fields are {_listed(ALIASES)}"
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
        msg = f"nothing to judge among the fields {_listed(record) or '(none)'}; known are {known}"
        raise InvalidSampleError(msg)
    if displaced:
        return sample.model_copy(update={"metadata": {**sample.metadata, **displaced}})
    return sample


def _format_of(source: Source, kind: Format | None) -> Format:
    if kind is None:
        if source == "-" or not isinstance(source, str | Path):
            return "jsonl"
        suffix = Path(source).suffix.lower()
        if suffix not in _SUFFIXES:
            msg = (
                f"the format of {source} is unknown: its suffix {suffix!r} is none of "
                f"{', '.join(filter(None, _SUFFIXES))}; rename it or name the format"
            )
            raise InvalidValueError(msg)
        return _SUFFIXES[suffix]
    if kind not in get_args(Format):
        msg = f"unknown format {kind!r}; formats are {', '.join(get_args(Format))}"
        raise InvalidValueError(msg)
    return kind


def _name(source: Source) -> str:
    if source == "-":
        return "standard input"
    return str(source) if isinstance(source, str | Path) else "the stream"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _rows(source: Source, kind: Format) -> Iterator[_Row]:
    if kind == "parquet":
        return _parquet_rows(source)
    readers = {"jsonl": _jsonl_rows, "json": _json_rows, "csv": _csv_rows}
    return readers[kind](_Lines(source))


class _Lines:
    """The lines of a source as text, broken at line feeds alone.

    Attributes:
        error: What is wrong with a line read since it was last set to "": bytes that are not
            UTF-8. Such a line is handed on with the bytes escaped, so that the reader decides.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.error = ""

    def __iter__(self) -> Iterator[str]:
        offset = 0
        for raw in self._raw():
            bare = raw.removeprefix(_BYTE_ORDER_MARK) if offset == 0 else raw
            try:
                text = bare.decode()
            except UnicodeDecodeError as error:
                at = offset + len(raw) - len(bare) + error.start
                looks = (
                    " (it looks like UTF-16)" if raw.startswith(_UTF16_MARKS) and not offset else ""
                )
                self.error = (
                    f"not UTF-8: byte {bare[error.start]:#04x} at offset {at} of the file{looks}; "
                    "save it as UTF-8"
                )
                text = bare.decode(errors="surrogateescape")
            yield text
            offset += len(raw)

    def whole(self) -> str:
        """The whole text.

        Raises:
            UnreadableInputError: It is not UTF-8.
        """
        text = "".join(self)
        if self.error:
            _refuse(self.source, self.error)
        return text

    def _raw(self) -> Iterator[bytes]:
        if isinstance(self.source, Path) or (isinstance(self.source, str) and self.source != "-"):
            with _opened(self.source) as file:
                yield from file
        elif self.source == "-" and hasattr(sys.stdin, "buffer"):
            yield from sys.stdin.buffer
        else:
            stream = sys.stdin if self.source == "-" else cast("TextIO", self.source)
            try:
                yield from (line.encode(errors="surrogatepass") for line in stream)
            except UnicodeDecodeError as error:
                _refuse(self.source, f"not {error.encoding}: byte {error.object[error.start]:#04x}")


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    try:
        with Path(path).expanduser().open("rb") as file:
            yield file
    except FileNotFoundError:
        _refuse(path, "there is no such file; check the path")
    except IsADirectoryError:
        _refuse(path, "this is a folder; name a file in it")
    except OSError as error:
        _refuse(path, f"cannot be read: {error.strerror or error}")


def _refuse(source: Source, error: str, *, line: int | None = None) -> NoReturn:
    where = "" if line is None else f", line {line}"
    msg = f"{_name(source)}{where}: {error}"
    raise UnreadableInputError(msg, line=line)


def _jsonl_rows(lines: _Lines) -> Iterator[_Row]:
    for number, text in enumerate(lines, start=1):
        if lines.error:
            yield _Row(number, None, lines.error)
            lines.error = ""
        elif text.strip():
            yield _jsonl_row(number, text)


def _jsonl_row(number: int, text: str) -> _Row:
    if text.lstrip().startswith("["):
        return _Row(number, None, "a JSON list, not a record; name the format json for such a file")
    try:
        return _record_row(number, _loads(text))
    except json.JSONDecodeError as error:
        if not text.endswith("\n"):
            return _Row(number, None, "half-written: the file ends in the middle of this record")
        return _Row(number, None, f"not JSON: {error.msg} at column {error.colno}")
    except ValueError as error:
        return _Row(number, None, str(error))


def _json_rows(lines: _Lines) -> Iterator[_Row]:
    text = lines.whole()
    if not text.strip():
        return
    try:
        content = _loads(text)
    except json.JSONDecodeError as error:
        hint = "; for one record per line name the format jsonl"
        hint = hint if error.msg == "Extra data" else ""
        _refuse(
            lines.source, f"not JSON: {error.msg} at column {error.colno}{hint}", line=error.lineno
        )
    except ValueError as error:
        _refuse(lines.source, str(error))
    if isinstance(content, dict):
        found = next(
            (content[key] for key in _LIST_KEYS if isinstance(content.get(key), list)), None
        )
        content = [content] if found is None else found
    if not isinstance(content, list):
        _refuse(lines.source, f"a JSON file holds a list of records, not {_kind(content)}")
    for number, value in enumerate(content, start=1):
        yield _record_row(number, value)


def _record_row(number: int, value: Any) -> _Row:
    if not isinstance(value, dict):
        return _Row(number, None, f"a record is a JSON object, not {_kind(value)}")
    return _Row(number, value)


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _loads(text: str) -> Any:
    """Strict JSON: no NaN, no infinities, no half of a surrogate pair.

    Raises:
        ValueError: With a sentence; a `json.JSONDecodeError` where the text is no JSON at all.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        msg = "nested too deeply to be a record"
        raise ValueError(msg) from None
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            msg = "an escape such as \\ud83d stands alone, which is half a character"
            raise ValueError(msg) from None
    return value


def _refuse_constant(word: str) -> NoReturn:
    msg = f"{word} is not a JSON value; write null or leave the field out"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        msg = f"the number {digits} is too large"
        raise ValueError(msg)
    return number


def _csv_rows(lines: _Lines) -> Iterator[_Row]:
    # The limit belongs to the csv module as a whole; it is raised and never lowered again,
    # because another thread may be in the middle of a file.
    csv.field_size_limit(max(csv.field_size_limit(), _CSV_FIELD_LIMIT))
    reader = csv.reader(iter(lines), strict=True)
    header: list[str] | None = None
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            cells = []
            lines.error = f"not csv: {error}; check the quotes of this row"
        if lines.error:
            if header is None:
                _refuse(lines.source, lines.error, line=start)
            yield _Row(start, None, lines.error)
            lines.error = ""
        elif cells is None:
            return
        elif not cells:
            continue
        elif header is None:
            header = _header(lines, start, cells)
        elif len(cells) != len(header):
            ragged = (
                f"{len(cells)} cells where the header has {len(header)}; check commas and quotes"
            )
            yield _Row(start, None, ragged)
        else:
            yield _Row(start, {n: c for n, c in zip(header, cells, strict=True) if n})


def _header(lines: _Lines, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        _refuse(lines.source, f"the header has {_listed(twice)} twice; rename one", line=line)
    return names


def _parquet_rows(source: Source) -> Iterator[_Row]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        msg = "reading parquet needs pyarrow: pip install 'tcva-adapters[parquet]'"
        raise MissingDependencyError(msg) from None
    if source == "-" or not isinstance(source, str | Path):
        msg = f"parquet is read from a file, not from {_name(source)}; give a path"
        raise InvalidValueError(msg)
    try:
        with _opened(source) as stream, pq.ParquetFile(stream) as file:
            number = 0
            for batch in file.iter_batches(batch_size=1024):
                for record in batch.to_pylist():
                    number += 1
                    yield _Row(number, {str(name): _plain(v) for name, v in record.items()})
    except pa.ArrowException as error:
        _refuse(source, f"not a readable parquet file: {error}")


def _plain(value: Any) -> Any:
    """A cell as JSON would have it; NaN is how data frames say that there is nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return str(value)

"""Files as records: jsonl, json, csv and parquet, row by row, with what is wrong with a bad row."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TextIO, get_args

from pydantic_core import from_json

from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    UnreadableInputError,
)
from tcva_adapters.samples.containers import records_in
from tcva_adapters.samples.output import usable_path

Source = str | Path | TextIO
Format = Literal["jsonl", "json", "csv", "parquet"]

_SUFFIXES: Final[dict[str, Format]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    "": "jsonl",  # a pipe has no suffix
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
ROW_WORDS: Final[dict[Format, str]] = {
    "jsonl": "line",
    "json": "item",
    "csv": "line",
    "parquet": "row",
}
"""What a row is called in messages."""

NAN: Final = frozenset({"NaN", "nan", "<NA>"})
"""Cells of csv files where data frames had nothing. NA and None are not among them: these answer questions."""

_NAMED_DELIMITER: Final = re.compile(r"sep=([,;\t])\s*")
"""The first line with which spreadsheets say it."""
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_BLOCK: Final = 2**16
"""Bytes of a parquet file that are read at once."""
_CSV_FIELD_LIMIT: Final = 2**31 - 1  # the largest that every platform takes


class FileRow(NamedTuple):
    """A record and its line (csv, jsonl), item (json) or row (parquet), from 1.

    Attributes:
        line: Where it is.
        record: By field name, or what was parsed of it; None for a row that is no record.
        error: What is wrong with such a row.
    """

    line: int
    record: Any
    error: str = ""


def read_records(
    source: Source,
    format: Format | None = None,  # noqa: A002  # what everyone calls it
    *,
    missing: Collection[str] = (),
    parse: Callable[[str], Any] | None = None,
) -> Iterator[FileRow]:
    """The rows of a file, bad ones included.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        format: By default taken from the suffix; jsonl for streams.
        missing: Cells of csv files that are no value.
        parse: Makes of a line of jsonl what stands in place of the record, in one go; where it
            raises a ValueError, the record is there.

    Raises:
        UnreadableInputError: The file is missing, a folder, or damaged as a whole.
        MissingDependencyError: A parquet file without pyarrow.
        InvalidValueError: An unknown format or suffix.

    >>> import io
    >>> [row.record for row in read_records(io.StringIO('{"a": 1}'))]
    [{'a': 1}]
    """
    kind = format_of(source, format)
    if kind == "csv":
        return _csv_rows(source, missing)
    if kind == "jsonl":
        return _jsonl_rows(source, parse)
    return _json_rows(source) if kind == "json" else _parquet_rows(source)


def whole_text(source: Source) -> str:
    """A file's text, without a mark of the byte order.

    Raises:
        UnreadableInputError: The file is missing, a folder, cannot be read, or is not UTF-8.
    """
    texts = []
    for number, text, error in _texts(source):
        if error:
            raise unreadable(source, error, line=number)
        texts.append(text)
    return "".join(texts)


def format_of(source: Source, kind: Format | None = None) -> Format:
    """The format that was named, or that of the suffix.

    Raises:
        InvalidValueError: There is no such format, or the suffix is of none.
    """
    if kind is None and (source == "-" or not isinstance(source, str | Path)):
        return "jsonl"
    if kind is None:
        suffix = Path(str(source)).suffix.lower()
        kind = _SUFFIXES.get(suffix)
        if kind is None:
            msg = (
                f"the format of {source} is unknown: its suffix {suffix!r} is none of "
                f"{', '.join(filter(None, _SUFFIXES))}; rename it or name the format"
            )
            raise InvalidValueError(msg)
    if kind not in get_args(Format):
        msg = f"unknown format {kind!r}; formats are {', '.join(get_args(Format))}"
        raise InvalidValueError(msg)
    return kind


def is_read_again(source: Source) -> bool:
    """Whether a second reading gives the same rows: of a file, not of a pipe or a stream."""
    return source != "-" and isinstance(source, str | Path) and os.path.isfile(usable_path(source))  # noqa: PTH113  # Path.is_file raises for names too long


def name_of(source: Source) -> str:
    """What a source is called in messages."""
    if source == "-":
        return "standard input"
    return str(source) if isinstance(source, str | Path) else "the stream"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas between."""
    return ", ".join(map(repr, names))


def unreadable(
    source: Source, error: str, *, line: int | None = None, word: str = "line"
) -> UnreadableInputError:
    """The error that names the file, and the row where it is one row's.

    Args:
        source: The file.
        error: What is wrong, and what can be done.
        line: The row's number.
        word: What a row is called there; see `ROW_WORDS`.
    """
    where = "" if line is None else f", {word} {line}"
    return UnreadableInputError(f"{name_of(source)}{where}: {error}", line=line)


def _texts(source: Source) -> Iterator[tuple[int, str, str]]:
    """All lines, broken at line feeds alone: number, text, and what is wrong with its bytes."""
    with _opened(source) as lines:
        try:
            for number, line in enumerate(lines, start=1):
                raw = line if isinstance(line, bytes) else line.encode(errors="surrogatepass")
                try:
                    text, error = raw.decode(), ""
                except UnicodeDecodeError as refusal:
                    is_utf16 = number == 1 and raw.startswith(_UTF16_MARKS)
                    looks = " (it looks like UTF-16)" if is_utf16 else ""
                    error = f"not UTF-8: byte {raw[refusal.start]:#04x}{looks}; save it as UTF-8"
                    text = raw.decode(errors="surrogateescape")
                yield number, text.removeprefix("\ufeff") if number == 1 else text, error
        except UnicodeDecodeError as refusal:  # of a text stream, by its own encoding
            wrong = f"not {refusal.encoding}: byte {refusal.object[refusal.start]:#04x}"
            raise unreadable(source, wrong) from None


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """The source's lines; of a path and of standard input as bytes."""
    if source == "-":
        yield getattr(sys.stdin, "buffer", sys.stdin)
    elif not isinstance(source, str | Path):
        yield source
    else:
        try:
            with usable_path(source).open("rb") as file:
                yield file
        except FileNotFoundError:
            raise unreadable(source, "there is no such file; check the path") from None
        except IsADirectoryError:
            raise unreadable(source, "this is a folder; name a file in it") from None
        except OSError as error:
            raise unreadable(source, f"cannot be read: {error.strerror or error}") from error


def loads(text: str | bytes) -> Any:
    """Strict JSON: no NaN, no infinities, no half of a surrogate pair.

    Raises:
        ValueError: With a sentence; a `json.JSONDecodeError` where the text is no JSON at all.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        pass
    else:
        if are_finite((value,)):
            return value
    try:  # slower, and says what is wrong
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        msg = "nested too deeply to be a record"
        raise ValueError(msg) from None
    except UnicodeEncodeError:
        msg = "an escape such as \\ud83d stands alone, which is half a character"
        raise ValueError(msg) from None
    return value


def are_finite(values: Iterable[Any]) -> bool:
    """Whether there is no infinite number among or in them, which 1e999 becomes."""
    for each in values:
        kind = type(each)
        if kind is float:
            if each - each != 0.0:
                return False
        elif kind is dict:
            if not are_finite(each.values()):
                return False
        elif kind is list and not are_finite(each):
            return False
    return True


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        msg = f"{digits}: NaN, Infinity or a number too large is no JSON value; write null"
        raise ValueError(msg)
    return number


def _jsonl_rows(source: Source, parse: Callable[[str], Any] | None) -> Iterator[FileRow]:
    for number, text, damage in _texts(source):
        if damage:
            yield FileRow(number, None, damage)
        elif text and not text.isspace():
            yield _jsonl_row(number, text, parse)


def _jsonl_row(number: int, text: str, parse: Callable[[str], Any] | None) -> FileRow:
    if parse is not None:
        with suppress(ValueError):
            return FileRow(number, parse(text))
    if text.startswith("["):
        wrong = "a JSON list, not a record; name the format json for such a file"
        return FileRow(number, None, wrong)
    try:
        return _record_row(number, loads(text))
    except json.JSONDecodeError as error:
        if not text.endswith("\n"):
            return FileRow(number, None, "half-written: the file ends in the middle of this record")
        return FileRow(number, None, f"not JSON: {error.msg} at column {error.colno}")
    except ValueError as error:
        return FileRow(number, None, str(error))


def _record_row(number: int, value: Any) -> FileRow:
    if not isinstance(value, dict):
        return FileRow(number, None, f"a record is a JSON object, not {json.dumps(value):.40}")
    return FileRow(number, value)


def _json_rows(source: Source) -> Iterator[FileRow]:
    text = whole_text(source)
    try:
        records = records_in(loads(text)) if text.strip() else []
    except json.JSONDecodeError as error:
        hint = "; for one record per line name the format jsonl" * (error.msg == "Extra data")
        wrong = f"not JSON: {error.msg} at column {error.colno}{hint}"
        raise unreadable(source, wrong, line=error.lineno) from None
    except ValueError as error:
        raise unreadable(source, str(error)) from None
    if not isinstance(records, list):
        wrong = f"a JSON file holds a list of records, not {json.dumps(records):.40}"
        raise unreadable(source, wrong)
    for number, value in enumerate(records, start=1):
        yield _record_row(number, value)


def _csv_rows(source: Source, missing: Collection[str]) -> Iterator[FileRow]:
    # The limit belongs to the csv module as a whole; it is raised and never lowered again,
    # because another thread may be in the middle of a file.
    csv.field_size_limit(max(csv.field_size_limit(), _CSV_FIELD_LIMIT))
    errors: list[str] = []  # of the row that is being read

    def texts() -> Iterator[str]:
        for _, text, error in _texts(source):
            errors.extend(filter(None, [error]))
            yield text

    lines, delimiter = _delimited(texts())
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line, cells = reader.line_num + 1, []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            errors.append(f"not csv: {error}; check the quotes of this row")
        wrong = "".join(errors[:1])
        errors.clear()
        if not header and (cells or wrong):
            header = _header(source, line, cells, wrong)
        elif wrong:
            yield FileRow(line, None, wrong)
        elif cells and (len(cells) < len(header) or any(cells[len(header) :])):
            # Those beyond the header may be empty: some programs end their rows with a comma.
            wrong = (
                f"{len(cells)} cells where the header has {len(header)}; check commas and quotes"
            )
            yield FileRow(line, None, wrong)
        elif cells:
            named = [each for each in zip(header, cells, strict=False) if not _is_index(each[0])]
            yield FileRow(line, {n: None if cell in missing else cell for n, cell in named})


def _header(source: Source, line: int, cells: list[str], wrong: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if wrong or twice:
        wrong = wrong or f"the header has {listed(twice)} twice; rename one"
        raise unreadable(source, wrong, line=line)
    return names


def _delimited(texts: Iterator[str]) -> tuple[Iterator[str], str]:
    """The lines, and the separator that the first one shows: spreadsheets write semicolons, too."""
    head = [""]
    for text in texts:
        head.append(text)
        if text.strip():
            break
    bare = re.sub(r'"[^"]*"', "", head[-1])
    delimiter = max((",", ";", "\t"), key=bare.count)
    if named := _NAMED_DELIMITER.fullmatch(head[-1]):
        head[-1], delimiter = "\n", named[1]
    return chain(head[1:], texts), delimiter


def _parquet_rows(source: Source) -> Iterator[FileRow]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra, untyped
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415  # as above
    except ImportError:
        msg = "reading parquet needs pyarrow: pip install 'tcva-adapters[parquet]'"
        raise MissingDependencyError(msg) from None
    if source == "-" or not isinstance(source, str | Path):
        msg = f"parquet is read from a file, not from {name_of(source)}; give a path"
        raise InvalidValueError(msg)
    try:
        # Pages are read as they are needed, not a row group in advance.
        options = {"pre_buffer": False, "buffer_size": _BLOCK}
        with _opened(source) as stream, pq.ParquetFile(stream, **options) as file:
            batches = (batch.to_pylist() for batch in file.iter_batches(batch_size=1024))
            for number, record in enumerate(chain.from_iterable(batches), start=1):
                cells = {str(n): plain(v) for n, v in record.items() if not _is_index(str(n))}
                yield FileRow(number, cells)
    except pa.ArrowException as error:
        raise unreadable(source, f"not a readable parquet file: {error}") from error


def _is_index(name: str) -> bool:
    """Whether pandas made this column up: it counts rows."""
    return name in ("", "__index_level_0__") or name.startswith("Unnamed: ")


def plain(value: Any) -> Any:
    """A cell as JSON would have it; NaN is how data frames say that there is nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)

"""Files as records: jsonl, json, csv and parquet, row by row, with what is wrong with a bad row."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import SEEK_END
from itertools import chain, islice
from pathlib import Path
from typing import (
    Any,
    BinaryIO,
    Final,
    Literal,
    NamedTuple,
    TextIO,
    cast,
    get_args,
)

from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    UnreadableInputError,
)
from tcva_adapters.samples.containers import records_in
from tcva_adapters.samples.json_items import EXTRA_DATA, JSONItems, loads
from tcva_adapters.samples.paths import usable_path

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

_DELIMITERS: Final = (",", ";", "\t")
_NAMED_DELIMITER: Final = re.compile(r"sep=([,;\t])")
"""The first line with which spreadsheets say it."""
_QUOTED: Final = re.compile(r'"[^"]*"')
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_BLOCK: Final = 2**16
"""Bytes of a json or parquet file that are read at once."""
_CSV_FIELD_LIMIT: Final = 2**31 - 1  # the largest that every platform takes


class FileRow(NamedTuple):
    """A record and its line (csv, jsonl), item (json) or row (parquet), from 1.

    Attributes:
        line: Where it is.
        record: By field name; None for a row that is no record.
        error: What is wrong with such a row.
    """

    line: int
    record: dict[str, Any] | None
    error: str = ""


def read_records(source: Source, format: Format | None = None) -> Iterator[FileRow]:  # noqa: A002  # what everyone calls it
    """The rows of a file, bad ones included.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        format: By default taken from the suffix; jsonl for streams.

    Raises:
        UnreadableInputError: The file is missing, a folder, or damaged as a whole.
        MissingDependencyError: A parquet file without pyarrow.
        InvalidValueError: An unknown format or suffix.

    >>> import io
    >>> [row.record for row in read_records(io.StringIO('{"a": 1}'))]
    [{'a': 1}]
    """
    kind = format_of(source, format)
    if kind == "parquet":
        return _parquet_rows(source)
    readers = {"jsonl": _jsonl_rows, "json": _json_rows, "csv": _csv_rows}
    return readers[kind](_Lines(source))


def whole_text(source: Source) -> str:
    """A file's text, without a mark of the byte order.

    Raises:
        UnreadableInputError: The file is missing, a folder, cannot be read, or is not UTF-8.
    """
    return _Lines(source).whole()


def format_of(source: Source, kind: Format | None = None) -> Format:
    """The format that was named, or that of the suffix.

    Raises:
        InvalidValueError: There is no such format, or the suffix is of none.
    """
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


def is_read_again(source: Source) -> bool:
    """Whether a second reading gives the same rows: of a file, not of a pipe or a stream."""
    return source != "-" and isinstance(source, str | Path) and usable_path(source).is_file()


def rows_expected(source: Source, kind: Format, line: int, number: int) -> int | None:
    """About how many rows a file has, by the size of its first ones; None where that says nothing.

    Args:
        source: The file; `is_read_again` holds of it.
        kind: Its format; items of json have no lines.
        line: Where the last of the first rows is.
        number: How many these are.
    """
    if kind == "parquet":
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra, untyped

        return int(pq.read_metadata(source).num_rows)
    if kind == "json":
        return None
    with _opened(cast("str | Path", source)) as file:
        read = sum(map(len, islice(file, line)))
        # Three digits, so that nobody takes it for a count.
        return int(float(f"{number * file.seek(0, SEEK_END) / read:.3g}"))


def name_of(source: Source) -> str:
    """What a source is called in messages."""
    if source == "-":
        return "standard input"
    return str(source) if isinstance(source, str | Path) else "the stream"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas between."""
    return ", ".join(map(repr, names))


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
            bare = raw if offset else raw.removeprefix(_BYTE_ORDER_MARK)
            try:
                text = bare.decode()
            except UnicodeDecodeError as error:
                at = offset + len(raw) - len(bare) + error.start
                self.error = _not_utf8(bare[error.start :], at)
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
            raise unreadable(self.source, self.error)
        return text

    def blocks(self) -> Iterator[str]:
        """The text in parts, whatever its lines are, without a mark of the byte order.

        Raises:
            UnreadableInputError: It is not UTF-8.
        """
        offset, rest = 0, b""
        for raw in self._raw(_BLOCK):
            data = rest + raw
            if offset == 0 and data.startswith(_BYTE_ORDER_MARK):
                offset, data = len(_BYTE_ORDER_MARK), data[len(_BYTE_ORDER_MARK) :]
            end = len(data)
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                end = error.start
                if error.reason != "unexpected end of data":
                    error_text = _not_utf8(data[end:], offset + end)
                    raise unreadable(self.source, error_text) from None
                text = data[:end].decode()
            if text:
                yield text
            offset, rest = offset + end, data[end:]
        if rest:
            raise unreadable(self.source, _not_utf8(rest, offset))

    def _raw(self, size: int | None = None) -> Iterator[bytes]:
        """Lines, or blocks of about so many bytes."""
        if isinstance(self.source, Path) or (isinstance(self.source, str) and self.source != "-"):
            with _opened(self.source) as file:
                yield from file if size is None else iter(partial(file.read, size), b"")
        elif self.source == "-" and hasattr(sys.stdin, "buffer"):
            file = sys.stdin.buffer
            yield from file if size is None else iter(partial(file.read, size), b"")
        else:
            stream = sys.stdin if self.source == "-" else cast("TextIO", self.source)
            texts = stream if size is None else iter(partial(stream.read, size), "")
            try:
                yield from (text.encode(errors="surrogatepass") for text in texts)
            except UnicodeDecodeError as error:
                raise unreadable(
                    self.source, f"not {error.encoding}: byte {error.object[error.start]:#04x}"
                ) from None


def _not_utf8(wrong: bytes, offset: int) -> str:
    looks = " (it looks like UTF-16)" if wrong.startswith(_UTF16_MARKS) and not offset else ""
    return (
        f"not UTF-8: byte {wrong[0]:#04x} at offset {offset} of the file{looks}; save it as UTF-8"
    )


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    try:
        with usable_path(path).open("rb") as file:
            yield file
    except FileNotFoundError:
        raise unreadable(path, "there is no such file; check the path") from None
    except IsADirectoryError:
        raise unreadable(path, "this is a folder; name a file in it") from None
    except OSError as error:
        raise unreadable(path, f"cannot be read: {error.strerror or error}") from error


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


def _jsonl_rows(lines: _Lines) -> Iterator[FileRow]:
    return (record_in(*line) for line in _read_lines(lines))


def read_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """The lines of a file of jsonl that are not empty: number, text, and what is wrong with its bytes.

    Raises:
        UnreadableInputError: As for `read_records`.
    """
    return _read_lines(_Lines(source))


def _read_lines(lines: _Lines) -> Iterator[tuple[int, str, str]]:
    for number, text in enumerate(lines, start=1):
        if lines.error:
            yield number, text, lines.error
            lines.error = ""
        elif not text.isspace() and text:
            yield number, text, ""


def record_in(number: int, text: str, damage: str = "") -> FileRow:
    """The row that a line of jsonl is.

    Args:
        number: Of the line.
        text: What stands in it.
        damage: What is wrong with its bytes, where something is.
    """
    if damage:
        return FileRow(number, None, damage)
    if text.lstrip().startswith("["):
        return FileRow(
            number, None, "a JSON list, not a record; name the format json for such a file"
        )
    try:
        return _record_row(number, loads(text))
    except json.JSONDecodeError as error:
        if not text.endswith("\n"):
            return FileRow(number, None, "half-written: the file ends in the middle of this record")
        return FileRow(number, None, f"not JSON: {error.msg} at column {error.colno}")
    except ValueError as error:
        return FileRow(number, None, str(error))


def _json_rows(lines: _Lines) -> Iterator[FileRow]:
    """The rows of a list, one after the other; of any other document, which is held as a whole."""
    items = JSONItems(lines.blocks())
    try:
        for number, value in enumerate(items if items.is_list else _listed(items, lines), start=1):
            yield _record_row(number, value)
    except json.JSONDecodeError as error:
        hint = "; for one record per line name the format jsonl"
        hint = hint if error.msg == EXTRA_DATA else ""
        raise unreadable(
            lines.source, f"not JSON: {error.msg} at column {error.colno}{hint}", line=error.lineno
        ) from None
    except ValueError as error:
        raise unreadable(lines.source, str(error)) from None


def _listed(document: JSONItems, lines: _Lines) -> list[Any]:
    """The records of a document that is no list."""
    text = document.whole()
    if not text.strip():
        return []
    records = records_in(loads(text))
    if not isinstance(records, list):
        raise unreadable(lines.source, f"a JSON file holds a list of records, not {_kind(records)}")
    return records


def _record_row(number: int, value: Any) -> FileRow:
    if not isinstance(value, dict):
        return FileRow(number, None, f"a record is a JSON object, not {_kind(value)}")
    return FileRow(number, value)


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _csv_rows(lines: _Lines) -> Iterator[FileRow]:
    # The limit belongs to the csv module as a whole; it is raised and never lowered again,
    # because another thread may be in the middle of a file.
    csv.field_size_limit(max(csv.field_size_limit(), _CSV_FIELD_LIMIT))
    texts, delimiter = _delimited(iter(lines))
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
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
                raise unreadable(lines.source, lines.error, line=start)
            yield FileRow(start, None, lines.error)
            lines.error = ""
        elif cells is None:
            return
        elif not cells:
            continue
        elif header is None:
            header = _header(lines, start, cells)
        elif len(cells) < len(header) or any(cells[len(header) :]):
            ragged = (
                f"{len(cells)} cells where the header has {len(header)}; check commas and quotes"
            )
            yield FileRow(start, None, ragged)
        else:
            # Cells beyond the header are empty: some programs end their rows with a comma.
            row = zip(header, cells, strict=False)
            yield FileRow(start, {name: cell for name, cell in row if not _is_index(name)})


def _delimited(texts: Iterator[str]) -> tuple[Iterator[str], str]:
    """The lines, and the separator that the first one shows: spreadsheets write semicolons, too."""
    head = [""]
    while not head[-1].strip() and (text := next(texts, None)) is not None:
        head.append(text)
    named = _NAMED_DELIMITER.fullmatch(head[-1].strip("\r\n"))
    bare = _QUOTED.sub("", head[-1])
    delimiter = named[1] if named else max(_DELIMITERS, key=bare.count)
    if named:
        head[-1] = "\n"
    return chain(head[1:], texts), delimiter


def _header(lines: _Lines, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise unreadable(
            lines.source, f"the header has {listed(twice)} twice; rename one", line=line
        )
    return names


def _parquet_rows(source: Source) -> Iterator[FileRow]:
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        import pyarrow.parquet as pq  # noqa: PLC0415  # an extra
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
            number = 0
            for batch in file.iter_batches(batch_size=1024):
                for record in batch.to_pylist():
                    number += 1
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
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(value)

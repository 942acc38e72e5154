"""Files row by row: records of jsonl, json, csv and parquet, and items made of them.

A bad row says what is wrong with it; a stream of items stops at the first one, or counts them.
"""

from __future__ import annotations

import codecs
import csv
import json
import math
import os
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import chain, islice, repeat
from pathlib import Path
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Self,
    TextIO,
    TypeVar,
    get_args,
)

from pydantic_core import from_json

from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    MissingDependencyError,
    UnreadableInputError,
    install_hint,
)
from tcva_adapters.samples.output import usable_path

Item = TypeVar("Item")
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
ROW_WORDS: Final = {
    "jsonl": "line",
    "json": "item",
    "csv": "line",
    "parquet": "row",
}
"""What a row is called in messages."""

_NOTHING: Final = ("NaN", "nan", "<NA>")
"""Cells of csv files where data frames had nothing. NA and None are not among them: these answer questions."""

_LIST_KEYS: Final = (
    *(
        "samples",
        "data",
        "assessments",
        "results",
        "examples",
        "runs",
        "rows",
        "records",
    ),
    *(
        "test_cases",
        "testCases",
        "test_results",
        "testResults",
        "conversationalTestCases",
    ),
)
_CASES: Final = ("testCases", "conversationalTestCases")
_RUN: Final = "testRunData"
"""Where DeepEval's ``.latest_test_run.json`` holds the run."""

_WHY: Final[dict[type[OSError], str]] = {
    FileNotFoundError: "the file does not exist; check the path",
    IsADirectoryError: "this is a folder; name a file in it",
}
_PACKED: Final = "a compressed file, which is not read; unpack it first"
_BINARY: Final = {
    b"PK\x03\x04": "an Excel file or a zip archive, which is not read; export the sheet as csv, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "an Excel file, which is not read; export the sheet as csv",
    b"\x1f\x8b": _PACKED,
    b"(\xb5/\xfd": _PACKED,
    b"\xfd7zXZ": _PACKED,
    b"BZh9": _PACKED,
    b"PAR1": "a parquet file; its name must end in .parquet, or its format be given",
    b"SQLite format 3": "a database, which is not read; give samples or results as jsonl",
}
"""By their first bytes: what files are that hold no text, and the way out."""

_BLOCK: Final = 2**16
"""Bytes of a parquet file that are read at once."""
_CSV_FIELD_LIMIT: Final = 2**31 - 1  # the largest that every platform takes

KEPT: Final = 20
"""Bad rows that are kept for messages; the rest are counted."""

CHECKED: Final = 10_000
"""Rows that are looked at before a model is paid for any of them."""


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


def record_of(text: str) -> dict[str, Any]:
    """A line of jsonl.

    Raises:
        ValueError: It is no JSON object.
    """
    return _checked(loads(text))


def read_records(
    source: Source,
    format: Format | None = None,  # noqa: A002  # what everyone calls it
    *,
    parse: Callable[[str], Any] = record_of,
) -> Iterator[FileRow]:
    """The rows of a file, bad ones included.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        format: By default taken from the suffix; jsonl for streams.
        parse: Makes of a line of jsonl what stands in place of the record; a ValueError says what
            is wrong with the line.

    Raises:
        UnreadableInputError: The file is missing, a folder, or damaged as a whole.
        MissingDependencyError: A parquet file without pyarrow.
        InvalidValueError: An unknown format or suffix.

    >>> import io
    >>> [row.record for row in read_records(io.StringIO('{"a": 1}'))]
    [{'a': 1}]
    """
    kind = format_of(source, format)
    if kind == "jsonl":
        return _jsonl_rows(source, parse)
    if kind == "csv":
        return _csv_rows(source)
    return _json_rows(source) if kind == "json" else _parquet_rows(source)


def whole_text(source: Source) -> str:
    """A file's text, without a mark of the byte order.

    Raises:
        UnreadableInputError: The file is missing, a folder, cannot be read, or is not UTF-8.
    """
    text = "".join(_lines(source))
    if wrong := _not_utf8(text):
        raise unreadable(source, wrong)
    return text


def format_of(source: Source, kind: Format | None = None) -> Format:
    """The format that was named, or that of the suffix, or under another suffix what is in the file.

    Raises:
        InvalidValueError: There is no such format, or the file is HTML.
        UnreadableInputError: There is no such file under a suffix that is of no format.
    """
    is_path = source != "-" and isinstance(source, str | Path)
    suffix = Path(str(source)).suffix.lower() if is_path else ""
    found = kind or _SUFFIXES.get(suffix) or _format_within(source)
    if found is None or found not in get_args(Format):
        msg = f"the format of {name_of(source)} must be one of {', '.join(get_args(Format))}, got {kind or 'HTML'!r}"
        raise InvalidValueError(msg)
    return found


def _format_within(source: Source) -> Format | None:
    """The format of a file by its first line: parquet's mark, a list, a record, or a header.

    Raises:
        UnreadableInputError: There is no such file.
    """
    if isinstance(source, str | Path) and Path(source).is_fifo():
        msg = f"{source} is a pipe, whose format is unknown; give '-' for jsonl from a pipe"
        raise InvalidValueError(msg)
    with _opened(source) as file:
        line = file.readline().removeprefix(codecs.BOM_UTF8).strip()
    if line.startswith(b"<"):
        return None
    if line.startswith(b"PAR1"):
        return "parquet"
    if line.startswith(b"{"):
        return "jsonl" if line.endswith(b"}") else "json"
    return "json" if line.startswith(b"[") else "csv"


def is_read_again(source: Source) -> bool:
    """Whether a second reading gives the same rows: of a file, not of a pipe or a stream."""
    if source == "-" or not isinstance(source, str | Path):
        return False
    return os.path.isfile(usable_path(source))  # noqa: PTH113  # Path.is_file raises for names too long


def name_of(source: Source) -> str:
    """What a source is called in messages."""
    if source == "-":
        return "standard input"
    return str(source) if isinstance(source, str | Path) else "the stream"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas between."""
    return ", ".join(map(repr, names))


def unreadable(
    source: Source,
    error: str,
    *,
    line: int | None = None,
    word: str = "line",
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


def loads(text: str | bytes) -> Any:
    """Strict JSON: no NaN, no infinities, no half of a surrogate pair, no key twice in one object.

    Raises:
        ValueError: With a sentence.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
        json.loads(
            text,
            object_pairs_hook=record_once,
            parse_float=lambda number: math.floor(float(number)),
        )
    except (ValueError, OverflowError) as error:  # 1e999 became an infinite number
        msg = f"not JSON: {error}"
        raise ValueError(msg) from None
    return value


def record_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        ValueError: A key occurs twice, so that one of its values would be lost.

    >>> json.loads('{"answer": "No.", "answer": "Yes."}', object_pairs_hook=record_once)
    Traceback (most recent call last):
        ...
    ValueError: the key 'answer' occurs twice in {'answer': 'Yes.'}; remove one
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        msg = f"the key {twice!r} occurs twice in {record!r:.200}; remove one"
        raise ValueError(msg)
    return record


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
        except OSError as error:
            why = _WHY.get(type(error), f"cannot be read: {error.strerror or error}")
            raise unreadable(source, why) from None


def _lines(source: Source) -> Iterator[str]:
    """All lines, broken only at line feeds; bytes that are not UTF-8 are halves of characters.

    Raises:
        UnreadableInputError: The file is known by its first bytes, and is no text.
    """
    with _opened(source) as lines:
        for number, line in enumerate(lines):
            for beginning, error in _BINARY.items() if number == 0 else ():
                if isinstance(line, bytes) and line.startswith(beginning):
                    raise unreadable(source, error)
            text = (
                line.decode(errors="surrogateescape")
                if isinstance(line, bytes)
                else line
            )
            yield text if number else text.removeprefix("\ufeff")


def _not_utf8(text: str) -> str:
    """What is wrong with the bytes of a text; nothing, usually."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"not UTF-8: byte {ord(text[error.start]) & 0xFF:#04x}; save it as UTF-8"
    return ""


def _checked(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        msg = f"a record must be a JSON object, got {json.dumps(value):.40}"
        raise ValueError(msg)  # noqa: TRY004  # said of a row of a file
    return value


def _row(number: int, parse: Callable[[Any], Any], value: Any) -> FileRow:
    try:
        return FileRow(number, parse(value))
    except ValueError as error:
        return FileRow(number, None, str(error))


def _jsonl_rows(source: Source, parse: Callable[[str], Any]) -> Iterator[FileRow]:
    for number, text in enumerate(_lines(source), start=1):
        if wrong := _not_utf8(text):
            yield FileRow(number, None, wrong)
        elif text and not text.isspace():
            yield _row(number, parse, text)


def _json_rows(source: Source) -> Iterator[FileRow]:
    text = whole_text(source)
    try:
        records = _records_in(loads(text)) if text.strip() else []
    except ValueError as error:
        raise unreadable(source, str(error)) from None
    for number, value in enumerate(records, start=1):
        yield _row(number, _checked, value)


def _records_in(content: Any) -> list[Any]:
    """The records of a document.

    A list is the records; of an object, the list under one of the usual names (DeepEval's
    ``testCases``, ...), its only entry if that is a list, or what pandas' ``to_json`` makes of
    columns. Any other object is one record.
    """
    if isinstance(content, list):
        return content
    content = _checked(content)
    if isinstance(content.get(_RUN), dict):
        content = content[_RUN]
    parts = list(content.values())
    both = [
        row
        for key in _CASES
        if isinstance(content.get(key), list)
        for row in content[key]
    ]
    places = [
        both or None,
        *map(content.get, _LIST_KEYS),
        *(parts if len(parts) == 1 else ()),
    ]
    if lists := [records for records in places if isinstance(records, list)]:
        return next(filter(None, lists), [])
    if parts and all(isinstance(part, dict) and "0" in part for part in parts):
        return [
            {name: column.get(at) for name, column in content.items()}
            for at in parts[0]
        ]
    return [content]


def _csv_rows(source: Source) -> Iterator[FileRow]:
    # The limit belongs to the csv module as a whole; it is raised and never lowered again,
    # because another thread may be in the middle of a file.
    csv.field_size_limit(max(csv.field_size_limit(), _CSV_FIELD_LIMIT))
    lines, head = _lines(source), [""]
    for text in lines:
        head.append(text)
        if text.strip():
            break
    # Spreadsheets write semicolons, too.
    delimiter = max(",;\t", key=re.sub(r'"[^"]*"', "", head[-1]).count)
    reader = csv.reader(chain(head[1:], lines), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line, cells, wrong = reader.line_num + 1, list[str](), ""
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            wrong = f"not csv: {error}; check the quotes of this row"
        wrong = _not_utf8("".join(cells)) or wrong
        if not header:
            header = [cell.strip() for cell in cells]
            names = list(filter(None, header))
            if wrong or len(set(names)) < len(names):
                wrong = (
                    wrong
                    or f"the header has the same name twice: {listed(names)}; rename one"
                )
                raise unreadable(source, wrong, line=line)
        # Cells beyond the header may be empty: some programs end their rows with a comma.
        elif wrong or (
            cells and (len(cells) < len(header) or any(cells[len(header) :]))
        ):
            counts = f"{len(cells)} cells where the header has {len(header)}"
            yield FileRow(line, None, wrong or f"{counts}; check commas and quotes")
        elif cells:
            named = zip(header, cells, strict=False)
            record = {
                n: None if c in _NOTHING else c for n, c in named if not _is_index(n)
            }
            yield FileRow(line, record)


def _parquet_rows(source: Source) -> Iterator[FileRow]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra, untyped
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415  # as above
    except ImportError:
        msg = f"reading parquet needs pyarrow: {install_hint('parquet')}"
        raise MissingDependencyError(msg) from None
    if source == "-" or not isinstance(source, str | Path):
        msg = f"parquet can only be read from a path, got {name_of(source)}"
        raise InvalidValueError(msg)
    try:
        # Pages are read as they are needed, not a row group in advance.
        options = {"pre_buffer": False, "buffer_size": _BLOCK}
        with _opened(source) as stream, pq.ParquetFile(stream, **options) as file:
            batches = (
                batch.to_pylist() for batch in file.iter_batches(batch_size=1024)
            )
            for number, record in enumerate(chain.from_iterable(batches), start=1):
                cells = {
                    n: _cell(cell) for n, cell in record.items() if not _is_index(n)
                }
                yield FileRow(number, cells)
    except pa.ArrowException as error:
        raise unreadable(source, f"not a readable parquet file: {error}") from error


def _is_index(name: str) -> bool:
    """Whether pandas made this column up: it counts rows."""
    return name in ("", "__index_level_0__") or name.startswith("Unnamed: ")


def _cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    is_plain = value is None or isinstance(value, str | int | float | list | dict)
    return value if is_plain else str(value)


class RowStream(Iterator[Item], Generic[Item]):
    """The items of a file, read when they are asked for. It is read once.

    Attributes:
        source: The file.
        kind: Its format.
        line: The line (csv, jsonl), item (json) or row (parquet) of the last item returned.
        number: How many items were returned.
        bad: Line and message of bad rows that were skipped, the first ones.
        skipped: How many those are.
        total: How many items there are, where `check` has seen them all; None otherwise.
    """

    def __init__(
        self,
        source: Source,
        kind: Format | None,
        *,
        skip_bad: bool | None,
        read: Callable[[dict[str, Any]], Item],
        kept: int | None = KEPT,
        parse: Callable[[str], Any] = record_of,
    ) -> None:
        """Prepare to read; nothing is opened yet.

        Args:
            source: As for `read_records`.
            kind: As for `read_records`.
            skip_bad: Go on after a bad row and count it; None where that is never offered.
            read: Makes an item of a record; raises InvalidSampleError or UnreadableInputError.
            kept: How many bad rows are kept; None keeps all.
            parse: Makes a record, or at once an item, of a line of jsonl.

        Raises:
            InvalidValueError: An unknown format or suffix.
        """
        self.source = source
        self.kind = format_of(source, kind)
        self._skip_bad, self._kept, self._read, self._parse = (
            skip_bad,
            kept,
            read,
            parse,
        )
        self._begin()

    def _begin(self) -> None:
        self.line = self.number = self.skipped = 0
        self.bad: list[tuple[int, str]] = []
        self.total: int | None = None
        self._ahead: deque[tuple[int, Item]] = deque()
        self._rows = self._items()

    def __next__(self) -> Item:
        """The next item.

        Raises:
            UnreadableInputError: A bad row where none is to be skipped, a file that cannot be read,
                or, at its end, one without any item.
        """
        self.line, item = self._ahead.popleft() if self._ahead else next(self._rows)
        self.number += 1
        return item

    def again(self) -> Self:
        """The same file from its beginning."""
        other = copy(self)
        other._begin()  # noqa: SLF001  # another one of this class
        return other

    def check(self, rows: int = CHECKED) -> None:
        """Read the first rows and hold them, so that what is wrong is known before any is used.

        Args:
            rows: How many items.

        Raises:
            UnreadableInputError: As when they are read.
        """
        self._ahead.extend(islice(self._rows, rows))
        self.total = len(self._ahead) if len(self._ahead) < rows else None

    @property
    def held(self) -> list[Item] | None:
        """What `check` has read, where that is all there is; else None."""
        return None if self.total is None else [item for _, item in self._ahead]

    def collected(self) -> tuple[list[Item], list[int]]:
        """All items that are left, and the line of each."""
        pairs = [(item, self.line) for item in self]
        return [item for item, _ in pairs], [line for _, line in pairs]

    @property
    def notes(self) -> list[str]:
        """What is to be known of what was read so far, in sentences."""
        return skipped_rows(self.bad, self.skipped)

    def _items_of(self, record: dict[str, Any], line: int) -> Iterable[Item]:  # noqa: ARG002  # others need it
        return [self._read(record)]

    def _items(self) -> Generator[tuple[int, Item], None, None]:
        found = False
        for line, record, wrong in read_records(
            self.source, self.kind, parse=self._parse
        ):
            error = wrong
            if not error:
                try:
                    items = (
                        self._items_of(record, line)
                        if isinstance(record, dict)
                        else [record]
                    )
                except (InvalidSampleError, UnreadableInputError) as refusal:
                    error = str(refusal)
                else:
                    found = True
                    yield from zip(repeat(line), items)
                    continue
            if not self._skip_bad:
                if self._skip_bad is False:
                    error += "; --skip-bad leaves such rows out"
                raise unreadable(
                    self.source, error, line=line, word=ROW_WORDS[self.kind]
                )
            self.skipped += 1
            if self._kept is None or len(self.bad) < self._kept:
                self.bad.append((line, error))
        if not found:
            msg = f"{name_of(self.source)} has no records"
            if self.bad:
                line, error = self.bad[0]
                msg = f"{name_of(self.source)} has no readable records (skipped: {self.skipped}); {ROW_WORDS[self.kind]} {line}: {error}"
            raise UnreadableInputError(msg)


def skipped_rows(
    bad: Sequence[tuple[int, str]], number: int, where: str = ""
) -> list[str]:
    """Bad rows in sentences, and how many are not among them.

    Args:
        bad: Line and message of the first ones.
        number: How many there are.
        where: Names the file where there are several.

    >>> skipped_rows([(3, "not JSON")], 2)
    ['skipped line 3: not JSON', 'skipped 1 more']
    """
    said = [f"skipped line {line}{where}: {message}" for line, message in bad]
    return (
        [*said, f"skipped {number - len(bad)} more{where}"]
        if number > len(bad)
        else said
    )

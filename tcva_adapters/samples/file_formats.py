"""The formats of files: jsonl, json, csv and parquet, each as a stream of rows.

A bad row carries a message that says what is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import (
    Any,
    Literal,
    NamedTuple,
    get_args,
)

from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.samples.json_values import loads, text_of
from tcva_adapters.samples.sources import (
    Source,
    encoding_fault,
    is_path,
    name_of,
    opened,
    quoted_names,
    text_lines,
    unreadable,
    whole_text,
)
from tcva_adapters.tables import Record

Format = Literal["jsonl", "json", "csv", "parquet"]

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    "": "jsonl",  # a pipe has no suffix
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
ROW_WORDS = {
    "jsonl": "line",
    "json": "item",
    "csv": "line",
    "parquet": "row",
}
"""What a row is called in messages."""

_NOTHING = ("NaN", "nan", "<NA>")
"""Cells of csv files that data frames write for a missing value. NA and None are not among them,
as they may answer a question."""

_LIST_NAMES = [
    "samples",
    "data",
    "assessments",
    "results",
    "examples",
    "runs",
    "rows",
    "records",
    "test_cases",
    "testCases",
    "test_results",
    "testResults",
    "conversationalTestCases",
]
"""Names under which an object holds its list of records; the first one that is not empty is read."""

_CASES = ("testCases", "conversationalTestCases")
_RUN = "testRunData"
"""Where DeepEval's ``.latest_test_run.json`` holds the run."""

_BLOCK = 2**16
"""Bytes of a parquet file that are read at once."""
_CSV_FIELD_LIMIT = 2**31 - 1  # the largest that every platform takes


class FileRow(NamedTuple):
    """A record and its line (csv, jsonl), item (json) or row (parquet), from 1.

    Attributes:
        line: The number of the line, item or row.
        record: The fields by name, or the object that was parsed from the line; None for a bad
            row.
        error: What is wrong with such a row.
    """

    line: int
    record: Any
    error: str = ""


def record_of(text: str) -> Record:
    """Parse a line of jsonl.

    Raises:
        ValueError: The line is not a JSON object.
    """
    return _checked(loads(text))


def read_records(
    source: Source,
    format: Format | None = None,  # noqa: A002  # what everyone calls it
    *,
    parse: Callable[[str], Any] = record_of,
) -> Iterator[FileRow]:
    """Read the rows of a file, bad ones included.

    Args:
        source: A path, ``"-"`` for standard input, or an open text file.
        format: By default taken from the suffix; jsonl for streams.
        parse: Turns a line of jsonl into the record, or into an object in its place; it raises a
            ValueError that says what is wrong with the line.

    Raises:
        UnreadableInputError: The file is missing, a folder, or damaged as a whole.
        MissingDependencyError: A parquet file without pyarrow.
        InvalidValueError: An unknown format or suffix.

    >>> import io
    >>> [row.record for row in read_records(io.StringIO('{"a": 1}'))]
    [{'a': 1}]
    """
    match format_of(source, format):
        case "jsonl":
            return _jsonl_rows(source, parse)
        case "csv":
            return _csv_rows(source)
        case "json":
            return _json_rows(source)
        case "parquet":
            return _parquet_rows(source)


def format_of(source: Source, kind: Format | None = None) -> Format:
    """Determine a format: the one that was named, that of the suffix, or that of the contents.

    Raises:
        InvalidValueError: There is no such format; or the suffix is unknown, and it is HTML or a
            pipe.
        UnreadableInputError: The suffix is unknown and the file does not exist.
    """
    suffix = Path(source).suffix.lower() if is_path(source) else ""
    chosen = kind or _SUFFIXES.get(suffix) or _format_within(source)
    if chosen is None or chosen not in get_args(Format):
        known = ", ".join(get_args(Format))
        raise InvalidValueError(
            f"the format of {name_of(source)} must be one of {known}, got {kind or 'HTML'!r}"
        )
    return chosen


def _format_within(source: Source) -> Format | None:
    """Determine a format by the first line: parquet's mark, list, record, header; None for HTML.

    Raises:
        UnreadableInputError: There is no such file.
    """
    if is_path(source) and Path(source).is_fifo():
        raise InvalidValueError(
            f"{source} is a pipe, whose format is unknown; give '-' for jsonl from a pipe"
        )
    with opened(source) as file:
        line = file.readline().removeprefix(codecs.BOM_UTF8).strip()
    match line[:1]:
        case b"<":
            return None
        case b"[":
            return "json"
        case b"{":
            return "jsonl" if line.endswith(b"}") else "json"
    return "parquet" if line.startswith(b"PAR1") else "csv"


def _checked(value: Any) -> Record:
    if not isinstance(value, dict):
        raise ValueError(f"a record must be a JSON object, got {json.dumps(value):.40}")  # noqa: TRY004  # said of a row of a file
    return value


def _row(number: int, parse: Callable[[Any], Any], value: Any) -> FileRow:
    try:
        return FileRow(number, parse(value))
    except ValueError as error:
        return FileRow(number, None, str(error))


def _jsonl_rows(source: Source, parse: Callable[[str], Any]) -> Iterator[FileRow]:
    for number, text in enumerate(text_lines(source), start=1):
        if fault := encoding_fault(text):
            yield FileRow(number, None, fault)
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
    """Find the records in a JSON document.

    A list holds the records. An object holds them in the list under one of the usual names
    (DeepEval's ``testCases``, ...), in its only entry if that is a list, or in columns as pandas'
    ``to_json`` writes them. Any other object is one record.
    """
    if isinstance(content, list):
        return content
    content = _checked(content)
    if isinstance(content.get(_RUN), dict):
        content = content[_RUN]
    columns = list(content.values())
    cases: list[Any] = []
    for name in _CASES:
        if isinstance(content.get(name), list):
            cases += content[name]
    places = [cases or None, *map(content.get, _LIST_NAMES)]
    if len(columns) == 1:
        places += columns
    lists = [records for records in places if isinstance(records, list)]
    if lists:
        return next(filter(None, lists), [])
    if columns and all(
        isinstance(column, dict) and "0" in column for column in columns
    ):
        return [
            {name: column.get(place) for name, column in content.items()}
            for place in columns[0]
        ]
    return [content]


def _csv_rows(source: Source) -> Iterator[FileRow]:
    header: list[str] = []
    for line, cells, error in _csv_cells(source):
        fault = error or encoding_fault("".join(cells))
        if not header:
            header = [cell.strip() for cell in cells]
            names = list(filter(None, header))
            if not fault and len(set(names)) < len(names):
                fault = f"the header has the same name twice: {quoted_names(names)}; rename one"
            if fault:
                raise unreadable(source, fault, line=line)
            continue
        # Cells beyond the header may be empty: some programs end their rows with a comma.
        fits = len(cells) >= len(header) and not any(cells[len(header) :])
        if cells and not fits and not fault:
            counts = f"{len(cells)} cells where the header has {len(header)}"
            fault = f"{counts}; check commas and quotes"
        if fault:
            yield FileRow(line, None, fault)
        elif cells:
            yield FileRow(
                line,
                {
                    name: None if cell in _NOTHING else cell
                    for name, cell in zip(header, cells, strict=False)
                    if not _is_index(name)
                },
            )


def _csv_cells(source: Source) -> Iterator[tuple[int, list[str], str]]:
    """Yield line, cells and fault of each row; commas, semicolons or tabs separate the cells."""
    # The limit belongs to the csv module as a whole; it is raised and never lowered again,
    # because another thread may be in the middle of a file.
    csv.field_size_limit(max(csv.field_size_limit(), _CSV_FIELD_LIMIT))
    lines = text_lines(source)
    head: list[str] = []
    for text in lines:
        head.append(text)
        if text.strip():
            break
    # Spreadsheets write semicolons, too.
    first = re.sub(r'"[^"]*"', "", head[-1]) if head else ""
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader), ""
        except StopIteration:
            return
        except csv.Error as error:
            yield line, [], f"not csv: {error}; check the quotes of this row"


def _parquet_rows(source: Source) -> Iterator[FileRow]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra, untyped
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415  # as above
    except ImportError:
        raise MissingDependencyError(
            f"reading parquet needs pyarrow: {install_hint('parquet')}"
        ) from None
    if not is_path(source):
        raise InvalidValueError(
            f"parquet can only be read from a path, got {name_of(source)}"
        )
    try:
        # Pages are read as they are needed, not a row group in advance.
        with (
            opened(source) as stream,
            pq.ParquetFile(stream, pre_buffer=False, buffer_size=_BLOCK) as file,
        ):
            batches = (
                batch.to_pylist() for batch in file.iter_batches(batch_size=1024)
            )
            for number, record in enumerate(chain.from_iterable(batches), start=1):
                yield FileRow(
                    number,
                    {
                        name: _cell(cell)
                        for name, cell in record.items()
                        if not _is_index(name)
                    },
                )
    except pa.ArrowException as error:
        raise unreadable(source, f"not a readable parquet file: {error}") from error


def _is_index(name: str) -> bool:
    """Whether this column is an index of pandas, which only numbers the rows."""
    return name in ("", "__index_level_0__") or name.startswith("Unnamed: ")


def _cell(value: Any) -> Any:
    is_plain = isinstance(value, str | int | float | list | dict | None)
    return value if is_plain else text_of(value)


# Leading apostrophes are included, so that a written text can be read back exactly.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Write a table as csv text: texts made harmless, numbers as they are, None as an empty cell.

    >>> csv_text(["id", "score"], [["=1+1", -0.5], ["a", None]])
    "id,score\r\n'=1+1,-0.5\r\na,\r\n"
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    for row in chain([header], rows):
        writer.writerow(
            [harmless(cell) if isinstance(cell, str) else cell for cell in row]
        )
    return stream.getvalue()


def harmless(text: str) -> str:
    """Put an apostrophe before the text of a cell that a spreadsheet would run as a formula.

    >>> harmless("@SUM(1)"), harmless("plain"), original(harmless("'=1"))
    ("'@SUM(1)", 'plain', "'=1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def original(text: str) -> str:
    """Undo `harmless`, for cells of tables that this package wrote."""
    return text.removeprefix("'") if _FORMULA.match(text) else text

"""The files of a comparison: one tidy table as csv and parquet, assessments, and a summary."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, astuple, fields
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.rows import Row
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.output import csv_text, original, replacing, write_table
from tcva_adapters.samples.records import RowStream

COLUMNS: Final = tuple(field.name for field in fields(Row))
"""The columns of the tidy table, in order."""

_AT_ONCE: Final = 8192
"""Rows that are objects at once when they are made columns of parquet."""

SCORES_BEGIN: Final = re.compile(",".join(COLUMNS[:3]).encode())
"""How the table begins as csv."""


def scores_csv(rows: Iterable[Row]) -> str:
    """The tidy table as csv; what there is not is an empty cell.

    >>> print(scores_csv([Row("a", "tcva T=0.5", 0.25, calls=1)]).replace(chr(13), ""), end="")
    sample,method,score,unscored,calls,input_tokens,output_tokens,seconds
    a,tcva T=0.5,0.25,,1,,,
    """
    return csv_text(COLUMNS, map(astuple, rows))


def read_back(record: dict[str, Any]) -> dict[str, Any]:
    """A record of a csv file, with its texts as they were where the tidy table is what it holds."""
    if record.keys() != set(COLUMNS):
        return record
    return {name: original(cell) for name, cell in record.items()}


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """Write the tidy table as csv.

    Raises:
        InvalidValueError: The file cannot be written.
    """
    with replacing(path) as binary:
        stream = TextIOWrapper(binary, encoding="utf-8", newline="")
        write_table(stream, COLUMNS, map(astuple, rows))
        stream.detach()


def stream_csv(path: Path) -> RowStream[Row]:
    """What `write_csv` wrote, row by row, scores on the methods' own scales.

    Raises:
        UnreadableInputError: The file cannot be read, or holds another table; while it is read.
    """
    return RowStream(path, "csv", skip_bad=False, read=_row)


def _row(record: dict[str, Any]) -> Row:
    cells = read_back(record)
    try:
        numbers = [None if cells[name] in ("", None) else cells[name] for name in COLUMNS[4:]]
        calls, tokens_in, tokens_out, seconds = numbers
        score = None if cells["score"] in ("", None) else float(cells["score"])
        return Row(
            *(cells["sample"], cells["method"], score, cells["unscored"] or ""),
            calls=None if calls is None else int(calls),
            input_tokens=None if tokens_in is None else int(tokens_in),
            output_tokens=None if tokens_out is None else int(tokens_out),
            seconds=None if seconds is None else float(seconds),
        )
    except (LookupError, TypeError, ValueError) as error:
        msg = f"no row of a comparison's scores: {type(error).__name__}: {error}"
        raise UnreadableInputError(msg) from None


def write_parquet(path: Path, rows: Iterable[Row]) -> bool:
    """Write the tidy table as parquet; False, and nothing written, without pyarrow.

    Raises:
        InvalidValueError: The file cannot be written.
    """
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415  # an extra
    except ImportError:
        return False
    text, whole, number = pa.string(), pa.int64(), pa.float64()
    kinds = (text, text, number, text, whole, whole, whole, number)
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    waiting = iter(rows)
    parts = [schema.empty_table()]
    while some := [asdict(row) for row in islice(waiting, _AT_ONCE)]:
        parts.append(pa.Table.from_pylist(some, schema=schema))
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.concat_tables(parts), buffer)
    with replacing(path) as stream:
        stream.write(buffer.getvalue())
    return True


def write_json(path: Path, figures: Any) -> None:
    """Write figures as JSON.

    Raises:
        InvalidValueError: The file cannot be written, or a figure is no JSON value.
    """
    encoder = json.JSONEncoder(indent=1, allow_nan=False)
    with replacing(path) as stream:
        try:
            stream.writelines(piece.encode() for piece in encoder.iterencode(figures))
        except (TypeError, ValueError) as error:
            msg = f"a figure for {path} is no JSON value: {error}"
            raise InvalidValueError(msg) from error
        stream.write(b"\n")

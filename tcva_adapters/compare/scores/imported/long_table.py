"""Tables with a row per sample and method."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tcva_adapters.compare.scores.imported.rows import (
    IDS,
    Imported,
    Importing,
    Records,
    Row,
    error_columns,
    sample_of,
)
from tcva_adapters.samples.file_formats import original
from tcva_adapters.samples.sources import unreadable

_METHOD = ("method", "metric")
_QUERIES = ("query", "query_id", "question_id")
_SCORE = "score"
_ERROR = "score_error"


def is_long_table(columns: Collection[str]) -> bool:
    """Whether these are the columns of such a table."""
    others = {*_METHOD, *_QUERIES, "system"}
    return _SCORE in columns and not others.isdisjoint(columns)


def read_long_table(
    path: str | Path, records: Records, importing: Importing
) -> Imported:
    """Read the rows of a table with a row per sample and method.

    Raises:
        UnreadableInputError: A score or a method's name is wrong, or no row is of the methods wanted.
    """
    columns = records[0][1]
    method = next((name for name in _METHOD if name in columns), "")
    errors = [_ERROR, *error_columns(columns, _SCORE)]
    wanted = importing.columns
    rows: list[Row] = []
    for line, cells in records:
        record = {
            name: original(cell) if isinstance(cell, str) else cell
            for name, cell in cells.items()
        }
        record[_ERROR] = record.pop("unscored", None)
        name = str(record.get(method) or "") if method else _SCORE
        if not name:
            raise unreadable(path, f"{method!r} is empty", line=line, word="row")
        if wanted is None or name in wanted:
            sample = sample_of(record, {method, _SCORE, _ERROR}, (*_QUERIES, *IDS))
            row = Row(line, sample)
            importing.put(row, name, record, column=_SCORE, errors=errors, path=path)
            rows.append(row)
    if not rows:
        raise unreadable(
            path, f"it has no rows of the methods {', '.join(wanted or ())}"
        )
    methods = dict.fromkeys(method for row in rows for method in row.scores)
    return Imported(str(path), "long", [*methods], rows)

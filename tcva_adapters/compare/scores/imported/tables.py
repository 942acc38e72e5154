"""Tables of scores: a column per method (RAGAS, LangSmith, any other), or a row per sample and method."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tcva_adapters.compare.scores.imported.rows import (
    IDS,
    Imported,
    ImportSettings,
    NumberedRecords,
    Row,
    error_columns,
    number_in,
    plain_name,
    sample_of,
)
from tcva_adapters.samples.fields import ALIASES
from tcva_adapters.samples.file_formats import original
from tcva_adapters.samples.sources import unreadable

_METHOD = ("method", "metric")
_QUERIES = ("query", "query_id", "question_id")
_SCORE = "score"
_ERROR = "score_error"

FEEDBACK = "feedback."
"""Prefix of the columns of scores in tables of LangSmith."""

_BESIDE = ("_error", "_reason")
"""Suffixes of columns that describe a score."""

_OF_SAMPLES = frozenset(
    {
        *IDS,
        *chain.from_iterable(ALIASES.values()),
        "error",
        "reference_context_ids",
        "multi_responses",
        "rubrics",
        "persona_name",
        "query_style",
        "query_length",
    }
)
"""Columns, most of them of RAGAS, that describe a sample and hold no scores."""


def read_wide_table(
    path: str | Path,
    records: NumberedRecords,
    columns: Sequence[str],
    importing: ImportSettings,
) -> Imported:
    """Read a table of RAGAS or LangSmith, or one with a column per method.

    Raises:
        UnreadableInputError: No column holds scores, or a score is wrong.
    """
    kind = "scores"
    known = {*_OF_SAMPLES, *importing.human}
    if {"user_input", "response"} <= {*columns}:
        kind = "ragas"
    elif any(name.startswith(FEEDBACK) for name in columns):
        kind = "langsmith"
        known = {name for name in columns if not name.startswith(FEEDBACK)}
    rest = [
        name
        for name in columns
        if name not in known and not f"_{plain_name(name)}".endswith(_BESIDE)
    ]
    methods = [
        name
        for name in rest
        if _are_scores(
            [number_in(record.get(name)) for _, record in records],
            may_be_empty=kind != "scores",
        )
    ]
    if not (methods or importing.columns or {*columns} & {*importing.human}):
        raise unreadable(
            path,
            (
                f"no column holds scores, only {', '.join(columns)}; "
                f"judge samples first: tcva evaluate {path} --out judged.jsonl"
            ),
        )
    imported = scores_in_columns(
        path,
        kind,
        records,
        methods,
        importing,
    )
    return replace(imported, left_out=[name for name in rest if name not in methods])


def _are_scores(numbers: Sequence[float | None], *, may_be_empty: bool) -> bool:
    """Whether the cells of a column are scores."""
    finite = (number is not None and math.isfinite(number) for number in numbers)
    return None not in numbers and (may_be_empty or any(finite))


def scores_in_columns(
    path: str | Path,
    kind: str,
    records: NumberedRecords,
    methods: Sequence[str],
    importing: ImportSettings,
) -> Imported:
    """Read the scores of these columns, or of those that ``importing`` names.

    Args:
        path: The file.
        kind: See `Imported`.
        records: Its rows.
        methods: The columns that hold scores.
        importing: How scores are read.

    Raises:
        UnreadableInputError: A column that is asked for does not exist, or a score is wrong.
    """
    chosen = methods if importing.columns is None else importing.columns
    columns = dict.fromkeys(name for _, record in records for name in record)
    if absent := [name for name in chosen if name not in columns]:
        raise unreadable(
            path, f"it has no {absent[0]!r}; there are {', '.join(sorted(columns))}"
        )
    names = {column: _method_name(column, kind) for column in chosen}
    errors = {column: error_columns(columns, column) for column in chosen}
    no_metadata = {*methods, *chosen}
    rows = []
    for line, record in records:
        row = Row(line, sample_of(record, no_metadata))
        for column, name in names.items():
            importing.add_score(
                row,
                name,
                record,
                column=column,
                errors=errors[column],
                path=path,
            )
        rows.append(row)
    return Imported(
        str(path),
        kind,
        [*names.values()],
        rows,
    )


def _method_name(column: str, kind: str) -> str:
    """Name a column's method; TCVA and CCRS in tables of RAGAS are not metrics of its own."""
    if kind == "scores":
        return column
    name = f"{kind} {column.removeprefix(FEEDBACK)}"
    return re.sub("^ragas (?=tcva_|ccrs_)", "imported ", name)


def is_long_table(columns: Collection[str]) -> bool:
    """Whether these are the columns of a table with a row per sample and method."""
    others = {*_METHOD, *_QUERIES, "system"}
    return _SCORE in columns and not others.isdisjoint(columns)


def read_long_table(
    path: str | Path,
    records: NumberedRecords,
    importing: ImportSettings,
) -> Imported:
    """Read the rows of a table with a row per sample and method.

    Raises:
        UnreadableInputError: A score or a method's name is wrong, or no row has a wanted method.
    """
    columns = records[0][1]
    method = next((name for name in _METHOD if name in columns), "")
    errors = [_ERROR, *error_columns(columns, _SCORE)]
    wanted = importing.columns
    rows = []
    for line, cells in records:
        record = {
            name: original(cell) if isinstance(cell, str) else cell
            for name, cell in cells.items()
        }
        record[_ERROR] = record.pop("unscored", None)
        name = str(record.get(method) or "") if method else _SCORE
        if not name:
            raise unreadable(
                path,
                f"{method!r} is empty",
                line=line,
                word="row",
            )
        if wanted is None or name in wanted:
            sample = sample_of(record, {method, _SCORE, _ERROR}, (*_QUERIES, *IDS))
            row = Row(line, sample)
            importing.add_score(
                row,
                name,
                record,
                column=_SCORE,
                errors=errors,
                path=path,
            )
            rows.append(row)
    if not rows:
        raise unreadable(
            path, f"it has no rows of the methods {', '.join(wanted or ())}"
        )
    methods = dict.fromkeys(method for row in rows for method in row.scores)
    return Imported(
        str(path),
        "long",
        [*methods],
        rows,
    )

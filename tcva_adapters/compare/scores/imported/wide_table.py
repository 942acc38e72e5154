"""Tables with a row per sample and a column per method: RAGAS, LangSmith, and any other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from tcva_adapters.compare.scores.imported.rows import (
    IDS,
    Imported,
    Importing,
    Records,
    Row,
    error_columns,
    number_in,
    plain_name,
    sample_of,
)
from tcva_adapters.samples.fields import ALIASES
from tcva_adapters.samples.sources import unreadable

FEEDBACK = "feedback."
"""Begins the columns of scores in tables of LangSmith."""

_BESIDE = ("_error", "_reason")
"""Ends of columns that say something of a score."""

_OF_SAMPLES = frozenset(
    {
        *IDS,
        *chain.from_iterable(ALIASES.values()),
        "error",
        "retrieved_context_ids",
        "reference_context_ids",
        "multi_responses",
        "rubrics",
        "persona_name",
        "query_style",
        "query_length",
    }
)
"""What tables, those of RAGAS above all, hold of a sample besides its scores."""


def read_wide_table(
    path: str | Path, records: Records, importing: Importing
) -> Imported:
    """Read a table of RAGAS or LangSmith, or one with a column per method.

    Raises:
        UnreadableInputError: No column holds scores, or a score is wrong.
    """
    columns = list(dict.fromkeys(name for _, record in records for name in record))
    kind, known = "scores", {*_OF_SAMPLES, *importing.human}
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
    return scores_in_columns(
        path,
        kind,
        records,
        methods,
        importing,
        left_out=[name for name in rest if name not in methods],
    )


def _are_scores(numbers: Sequence[float | None], *, may_be_empty: bool) -> bool:
    """Whether the cells of a column are scores."""
    finite = (number is not None and math.isfinite(number) for number in numbers)
    return None not in numbers and (may_be_empty or any(finite))


def scores_in_columns(
    path: str | Path,
    kind: str,
    records: Records,
    methods: Sequence[str],
    importing: Importing,
    *,
    thresholds: Mapping[str, float] | None = None,
    left_out: Sequence[str] = (),
) -> Imported:
    """Read the scores of these columns, or of those that are asked for.

    Args:
        path: The file.
        kind: See `Imported`.
        records: Its rows.
        methods: The columns that hold scores.
        importing: How they are read.
        thresholds: See `Imported`.
        left_out: See `Imported`.

    Raises:
        UnreadableInputError: A column that is asked for is not there, or a score is wrong.
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
            importing.put(
                row, name, record, column=column, errors=errors[column], path=path
            )
        rows.append(row)
    return Imported(
        source=str(path),
        kind=kind,
        methods=[*names.values()],
        rows=rows,
        thresholds=thresholds or {},
        left_out=left_out,
    )


def _method_name(column: str, kind: str) -> str:
    """A column's method; RAGAS runs TCVA and CCRS too, which are no metrics of its own."""
    if kind == "scores":
        return column
    name = f"{kind} {column.removeprefix(FEEDBACK)}"
    return re.sub("^ragas (?=tcva_|ccrs_)", "imported ", name)

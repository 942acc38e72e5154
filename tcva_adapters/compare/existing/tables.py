"""Tables with existing results: what RAGAS prints, a column per method, or a row per score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.existing.records import (
    Existing,
    Found,
    Reading,
    Record,
    count_of,
    finite_of,
    number_of,
    passages_of,
    refuse,
    text_of,
)
from tcva_adapters.compare.rows import Row
from tcva_adapters.compare.running.write import read_back
from tcva_adapters.errors import InvalidSampleError, UnreadableInputError
from tcva_adapters.samples.fields import ALIASES
from tcva_adapters.samples.records import Format, read_records
from tcva_adapters.samples.sample import Sample

HUMAN_COLUMNS: Final = ("human", "human_score")
_ID_COLUMNS: Final = ("sample", *ALIASES["id"])
_TIDY: Final = frozenset({"sample", "method", "score"})
_RAGAS_FIELDS: Final = frozenset(
    {
        *("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids"),
        *("reference_context_ids", "response", "multi_responses", "reference", "rubrics"),
        *("persona_name", "query_style", "query_length"),
        *("question", "answer", "contexts", "ground_truth", "ground_truths"),
    }
)
"""What `to_pandas` prints beside scores, in its present and its former names."""

_FEEDBACK: Final = "feedback."
_INDEX_COLUMNS: Final = frozenset({"Unnamed: 0", "__index_level_0__", "index"})


def read_table(path: str | Path, kind: Format, reading: Reading) -> Existing:
    """Read a table of whichever kind its columns show.

    - ``ragas``: what ``result.to_pandas()`` holds, as csv, parquet or jsonl. Every column that RAGAS
      does not use for the sample itself is a metric if there are numbers in it, or nothing at all
      (a metric that failed everywhere). Methods are named ``ragas COLUMN``.
    - ``langsmith``: runs or experiments with feedback, as ``to_pandas()`` or the client's runs have it:
      columns ``feedback.KEY``, or ``feedback_stats`` with an average. Methods are named
      ``langsmith KEY``.
    - ``tidy``: a row per sample and method, as ``tcva compare`` writes it.
    - ``scores``: a column per method; by default all with nothing but numbers in them that are
      neither a field of a sample nor human ratings.

    Raises:
        UnreadableInputError: It cannot be read, or holds no scores.
    """
    table = _table(path, kind)
    columns = {name for _, record in table for name in record}
    if columns >= _TIDY:
        return _tidy(path, table, reading)
    if columns >= {"user_input", "response"} or columns >= {"question", "answer", "contexts"}:
        return _wide(path, table, reading, "ragas", known={*_RAGAS_FIELDS, *_ID_COLUMNS})
    feedback = [name for name in columns if name.startswith(_FEEDBACK)]
    if feedback:
        own = [name for name in feedback if _is_score_column(table, name, empty_too=True)]
        chosen = reading if reading.methods is not None else replace(reading, methods=own)
        return _wide(path, _as_samples(table), chosen, "langsmith", known=columns)
    fields = (name for names in ALIASES.values() for name in names)
    return _wide(path, table, reading, "scores", known={*_ID_COLUMNS, *fields})


Table = list[tuple[int, dict[str, Any]]]


def _table(path: str | Path, kind: Format) -> Table:
    table: Table = []
    for line, record, error in read_records(path, kind):
        if record is None:
            msg = f"{path}, {line}: {error}"
            raise UnreadableInputError(msg, line=line)
        cells = read_back(record) if kind == "csv" else record
        cells = {name: cell for name, cell in cells.items() if name not in _INDEX_COLUMNS}
        table.append((line, _with_feedback(cells)))
    if not table:
        refuse(path, "it holds no results")
    return table


def _with_feedback(record: dict[str, Any]) -> dict[str, Any]:
    """A run of LangSmith's with a column for the average of each feedback."""
    stats = record.get("feedback_stats")
    if not isinstance(stats, dict):
        return record
    means = {f"{_FEEDBACK}{k}": v.get("avg") for k, v in stats.items() if isinstance(v, dict)}
    return {**record, **means}


def _as_samples(table: Table) -> Table:
    """Rows of LangSmith's under the field names of a sample, each with its feedback."""
    found: Table = []
    for line, record in table:
        fields: dict[str, Any] = {}
        with suppress(InvalidSampleError):  # then it matches none
            sample = Sample.from_record(record)
            texts = {"input": sample.input, "response": sample.response}
            fields = {**texts, "contexts": sample.contexts and list(sample.contexts)}
        feedback = {n: v for n, v in record.items() if n.startswith(_FEEDBACK) or n == "human"}
        found.append((line, {**fields, **feedback}))
    return found


def _wide(
    path: str | Path, table: Table, reading: Reading, kind: str, *, known: set[str]
) -> Existing:
    columns = list(dict.fromkeys(name for _, record in table for name in record))
    human = _human_column(path, columns, reading)
    numbers = {
        name
        for name in columns
        if name not in known
        and name != human
        and _is_score_column(table, name, empty_too=kind == "ragas")
    }
    methods = [n for n in columns if n in numbers] if reading.methods is None else reading.methods
    absent = [name for name in methods if name not in columns]
    if absent:
        refuse(path, f"it has no column {absent[0]!r}; columns are {', '.join(columns)}")
    if not methods and human is None:
        refuse(path, f"no column holds scores; columns are {', '.join(columns)}")
    prefix = f"{kind} " if kind in ("ragas", "langsmith") else ""
    found = []
    for line, record in table:
        rows = []
        for name in methods:
            cell = record.get(name)
            score = reading.score(cell, f"{path}, {line}: column {name!r}")
            why = "" if score is not None else _why_missing(cell)
            rows.append(Row("", f"{prefix}{name.removeprefix(_FEEDBACK)}", score, why))
        found.append(_found(line, tuple(rows), record, human, f"{path}, {line}"))
    rest = [n for n in columns if n not in known and n != human and n not in methods]
    names = tuple(f"{prefix}{name.removeprefix(_FEEDBACK)}" for name in methods)
    return Existing(str(path), kind, names, tuple(found), ignored=tuple(rest))


def _tidy(path: str | Path, table: Table, reading: Reading) -> Existing:
    """One row per sample and method, as ``tcva compare`` writes it."""
    columns = list(dict.fromkeys(name for _, record in table for name in record))
    human = _human_column(path, columns, reading)
    found = []
    methods: dict[str, None] = {}
    for line, record in table:
        method = str(record.get("method") or "")
        if not method:
            refuse(f"{path}, {line}", "the row names no method")
        if reading.methods is not None and method not in reading.methods:
            continue
        methods[method] = None
        score = reading.score(record.get("score"), f"{path}, {line}: column 'score'")
        said = record.get("unscored")
        why = "" if score is not None else str(said or _why_missing(record.get("score")))
        row = Row(
            "",
            method,
            score,
            why,
            calls=count_of(record.get("calls")),
            input_tokens=count_of(record.get("input_tokens")),
            output_tokens=count_of(record.get("output_tokens")),
            seconds=finite_of(record.get("seconds")),
        )
        found.append(_found(line, (row,), record, human, f"{path}, {line}"))
    if not found:
        refuse(path, f"it has no rows of the methods {', '.join(reading.methods or ())}")
    return Existing(str(path), "tidy", tuple(methods), tuple(found))


def _found(
    line: int, rows: tuple[Row, ...], record: Record, human: str | None, where: str
) -> Found:
    contexts = next((record[n] for n in ALIASES["contexts"] if record.get(n) is not None), None)
    score = None
    if human is not None:
        number = number_of(record.get(human))
        if number is None:
            refuse(where, f"column {human!r} holds {record[human]!r}, which is no number")
        score = None if math.isnan(number) else number
    return Found(
        line=line,
        rows=rows,
        id=text_of(record, _ID_COLUMNS),
        input=text_of(record, ALIASES["input"]),
        response=text_of(record, ALIASES["response"]),
        contexts=passages_of(contexts),
        human=score,
    )


def _human_column(path: str | Path, columns: Sequence[str], reading: Reading) -> str | None:
    if reading.human is None:
        return next((name for name in HUMAN_COLUMNS if name in columns), None)
    if reading.human not in columns:
        refuse(path, f"it has no column {reading.human!r}; columns are {', '.join(columns)}")
    return reading.human


def _is_score_column(table: Table, name: str, *, empty_too: bool) -> bool:
    numbers = [number_of(record.get(name)) for _, record in table]
    if any(number is None for number in numbers):
        return False
    return empty_too or any(number is not None and math.isfinite(number) for number in numbers)


def _why_missing(cell: Any) -> str:
    return "no score in the file" if cell is None or cell == "" else f"{cell} in the file"

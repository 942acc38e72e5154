"""Rows of a file of scores, and how their cells are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tcva_adapters.compare.scores.ratings import (
    MISSING,
    Scale,
    check_scale,
    on_unit_scale,
)
from tcva_adapters.errors import (
    InvalidSampleError,
    UnreadableInputError,
)
from tcva_adapters.samples.fields import ALIASES
from tcva_adapters.samples.file_formats import ROW_WORDS, format_of
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import unreadable
from tcva_adapters.tables import Record

IDS = ("sample", *ALIASES["id"])
"""Columns that name a sample."""

NumberedRecords = list[tuple[int, Record]]
"""The rows of a file, each with its line (csv, jsonl), row (parquet) or test case, from 1."""


@dataclass(slots=True)
class Row:
    """The content of a file on one sample.

    Attributes:
        line: Its line (csv, jsonl), row (parquet) or test case, from 1; 0 where no row is about it.
        sample: Id and texts, where the file has them; everything else is metadata.
        name: The sample's id in the table.
        scores: Scores by method; None where there is none.
        reasons: By method, why there is no score, or the method's reason for it.
    """

    line: int
    sample: Sample
    name: str = ""
    scores: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """The scores read from one file.

    Attributes:
        source: The path.
        kind: ``ragas``, ``deepeval``, ``langsmith``, ``scores`` (a column per method) or ``long``
            (a row per sample and method).
        methods: Names of the methods, in the order of the file.
        rows: One per sample; of a long table one per sample and method.
        thresholds: Thresholds by method, where the file has them.
        left_out: Columns that are neither scores nor known.
    """

    source: str
    kind: str
    methods: Sequence[str]
    rows: list[Row]
    thresholds: Mapping[str, float] = field(default_factory=dict)
    left_out: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """Settings for reading imported scores.

    Attributes:
        columns: The columns of methods; None takes those that hold only numbers.
        scale: The lowest and the highest possible score, which become 0 and 1.
        missing: A number that stands for no score.
        human: Columns with human ratings, which are no methods.

    Raises:
        InvalidValueError: A scale whose ends are not in order.
    """

    columns: Sequence[str] | None = None
    scale: Scale = (0.0, 1.0)
    missing: float | None = None
    human: Sequence[str] = ("human", "human_score")

    def __post_init__(self) -> None:
        check_scale("scale", self.scale)

    def add_score(
        self,
        row: Row,
        method: str,
        record: Record,
        *,
        column: str,
        errors: Sequence[str],
        path: str | Path,
    ) -> None:
        """Add a score to a row, or the reason why there is none.

        Args:
            row: The row that is changed.
            method: The method of the score.
            record: The cells of the row.
            column: The column of the score.
            errors: Columns of errors; where one is filled, there is no score.
            path: The file.

        Raises:
            UnreadableInputError: The cell holds no number, or one outside the scale.
        """
        value = record.get(column)
        low, high = self.scale
        error = _first_error(record, errors)
        number = math.nan if error else number_in(value)
        if number is None:
            raise row_error(
                path,
                row.line,
                f"column {column!r}: {value!r} is no number; leave the cell empty for no score",
            )
        is_none = math.isnan(number) or number == self.missing
        if not (is_none or low <= number <= high):
            raise row_error(
                path,
                row.line,
                (
                    f"column {column!r}: scores must be between {low:g} and {high:g}, got {number:g}; give "
                    f"another scale as --set scale=LOW,HIGH, a number for no score as --set missing={number:g}, "
                    "and the columns of scores as PATH::COLUMN,COLUMN"
                ),
            )
        row.scores[method] = None if is_none else on_unit_scale(number, self.scale)
        reason = error or record.get(f"{column}_reason")
        if isinstance(reason, str):
            row.reasons[method] = reason
        elif is_none:
            empty = "no score" if math.isnan(number) else str(value)
            row.reasons[method] = f"{empty} in the file"


def row_error(
    path: str | Path,
    line: int,
    error: str,
) -> UnreadableInputError:
    """Make the error that names a row of a file as its format calls it."""
    return unreadable(
        path,
        error,
        line=line,
        word=ROW_WORDS[format_of(path)],
    )


def number_in(value: object) -> float | None:
    """Read a cell as a float: nan where it is empty, None where it is not a number."""
    try:
        return math.nan if value is None else float(str(value).strip() or "nan")
    except ValueError:
        return None


def plain_name(column: str) -> str:
    """Write a column's name in lower case, with ``_`` for blanks."""
    return "_".join(column.lower().split())


def error_columns(columns: Iterable[str], method: str) -> list[str]:
    """The columns that name errors of a method, its own before those of whole rows."""
    plain = {column: plain_name(column) for column in columns}
    error = f"{method}_error"
    of_method = [name for name in plain if plain[name] == plain_name(error)]
    if error in plain:
        of_method = [error]
    return of_method + [name for name in plain if plain[name] == "error"]


def _first_error(record: Record, columns: Sequence[str]) -> str:
    """The error of a score; empty where there is none."""
    for text in (str(record[name]) for name in columns if record.get(name)):
        if text.strip().lower() not in {*MISSING, "false", "0"}:
            return text
    return ""


def sample_of(
    record: Record,
    scores: set[str],
    ids: Sequence[str] = IDS,
) -> Sample:
    """Make a sample of a row's texts that can be read; its other cells are metadata.

    Args:
        record: The cells of the row.
        scores: Columns that say nothing about the sample.
        ids: Columns that may name the sample; the first that does counts.
    """
    rest = {name: value for name, value in record.items() if name not in scores}
    name = _text(record, ids)
    with suppress(InvalidSampleError):
        return Sample.from_record(rest).model_copy(update={"id": name})
    return Sample(
        id=name,
        input=_text(record, ALIASES["input"]),
        response=_text(record, ALIASES["response"]),
        reference=_text(record, ALIASES["reference"]),
        metadata=rest,
    )


def _text(record: Record, names: Sequence[str]) -> str | None:
    """The first of these fields that holds text, or a whole number as ids may be."""
    for value in map(record.get, names):
        if isinstance(value, str) and value:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if value == value // 1:
            return str(int(value))
    return None

"""Judgements as parts of scores: results in memory, and files that ``tcva evaluate`` wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.reading_options import Reading
from tcva_adapters.compare.scores.table_part import TablePart, system_of
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.result import Result
from tcva_adapters.samples.conversation import CONVERSATION
from tcva_adapters.samples.file_formats import (
    format_of,
    read_records,
    record_of,
)
from tcva_adapters.samples.json_values import json_object
from tcva_adapters.samples.row_stream import RowStream, skipped_rows
from tcva_adapters.tables import Record

Judged = Assessment | Result | CCRSResult


def first_judgement(path: Path) -> Record:
    """Read the first record of a file of judgements; empty for any other file."""
    record: Record = {}
    kind = format_of(path)
    if kind in ("jsonl", "json"):
        with suppress(UnreadableInputError):  # a test run of DeepEval may hold NaN
            records = (row.record for row in read_records(path, kind))
            record = next(filter(None, records), record)
    fields = record.keys()
    if {"criterion", "judge"} <= fields or {"answers", "lambda_"} <= fields:
        return record
    return {}


def read_judgements(
    file: str,
    first: Record,
    reading: Reading,
    *,
    name: str,
    source: str,
) -> list[TablePart]:
    """Read a file of judgements.

    Args:
        file: Its path, or ``-`` for standard input.
        first: Its first judgement; empty for standard input.
        reading: How the file is read; notes and the count of skipped lines are added to it.
        name: The name given to the source.
        source: The file's name without its suffix.

    Raises:
        UnreadableInputError: It cannot be read.
        InvalidSampleError: Its judgements have no counts, or cannot be combined.
    """
    options = reading.options
    parse: Callable[[str], Record | Assessment] = record_of
    if options.hold == "counts":
        if "answers" in first:
            raise InvalidSampleError(
                f"{file} holds CCRS results, which have no verdicts: no temperature changes them"
            )
        parse = _parse_counts
        # The error is raised where the line is read.
        with suppress(UnreadableInputError):
            scoring = options.scoring or getattr(_item(first), "scoring", None)
            options = replace(options, scoring=scoring)
    rows = RowStream(
        file,
        None,
        skip_bad=options.skip_bad,
        read=_item,
        parse=parse,
    )
    parts = judged_parts(
        rows,
        replace(reading, options=options),
        name=name,
        source=source,
    )
    reading.notes += skipped_rows(rows.bad, rows.skipped, f" of {Path(file).name}")
    reading.skipped += rows.skipped
    return parts


def _item(record: Record) -> Judged:
    """Read a record as a result of any kind, or as a bare assessment."""
    is_result = "scoring" in record or "answers" in record
    return read_result(record) if is_result else Assessment.from_dict(record)


def _parse_counts(line: str) -> Record | Assessment:
    """Parse a line of jsonl; a bare answer is read faster, for its verdicts alone."""
    return json_object(line) if '"turns":' in line else Assessment.from_json(line)


def judged_parts(
    items: Iterable[object],
    reading: Reading,
    *,
    name: str = "",
    source: str = "results",
) -> list[TablePart]:
    """Make parts of judgements, one for each criterion, judge and system.

    Raises:
        InvalidValueError: An item is not a result.
        InvalidSampleError: There are no results, or counts would mix several judges.
    """
    options = reading.options
    parts: dict[tuple[str, str, str], TablePart] = {}
    for item, conversation in _turns(items):
        if not isinstance(item, Judged):
            raise InvalidValueError(
                f"{str(item)[:80]!r} is not a result; take only results: result_of or "
                "results_of of the framework's adapter finds them"
            )
        judged = item.assessment if isinstance(item, Result) else item
        system = system_of(judged.sample_id, judged.metadata, options.split)
        key = (judged.criterion, judged.judge, system)
        if key not in parts:
            parts[key] = TablePart(
                options=options,
                ratings=reading.ratings,
                name=name,
                source=source,
                kind="ccrs" if isinstance(item, CCRSResult) else "tcva",
                criterion=judged.criterion,
                judge=judged.judge,
                system=system,
            )
        if isinstance(item, CCRSResult):
            parts[key].add_rated(item)
        else:
            parts[key].add_judged(item, conversation)
    if not parts:
        raise InvalidSampleError(
            f"{name or source}: there are no results; give what 'tcva evaluate --out' wrote"
        )
    if options.hold == "counts" and len(parts) > 1:
        mixed = "; ".join(
            f"{criterion} by {judge}" for criterion, judge, _ in sorted(parts)
        )
        raise InvalidSampleError(
            f"{name or source} mixes judgements that cannot be averaged: {mixed}"
        )
    return [*parts.values()]


def _turns(items: Iterable[object]) -> Iterator[tuple[object, str | None]]:
    """Yield results in order; a conversation gives those of its turns, each with its name."""
    for place, item in enumerate(items, start=1):
        if not isinstance(item, ConversationResult):
            yield item, None
            continue
        conversation = item.sample_id or f"row-{place}"
        for number, turn in enumerate(item.turns, start=1):
            judged = turn.assessment
            if not turn.sample_id:
                turn_of = {CONVERSATION: conversation, "turn": number}
                update = {
                    "sample_id": f"{conversation}/{number}",
                    "metadata": {**judged.metadata, **turn_of},
                }
                judged = judged.model_copy(update=update)
            yield replace(turn, assessment=judged), conversation

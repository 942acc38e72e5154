"""Scores of systems from files: long tables, and what the other commands write.

The kind of a file shows in its first record: a table with a ``score``, assessments of ``tcva
evaluate``, or results of ``tcva ccrs``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.grouping import group_of
from tcva_adapters.compare.ratings import MISSING
from tcva_adapters.compare.running.write import read_back
from tcva_adapters.compare.systems.table import SystemRow, SystemTable
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.samples.records import ROW_WORDS, format_of, read_records, unreadable

TEMPERATURES: Final = (0.1, 0.5, 0.9)

SystemSources = (
    str
    | Path
    | Sequence[str | Path]
    | Mapping[str, str | Path | Iterable[Assessment | Result | CCRSResult]]
)
"""What `read_systems` takes."""

T = TypeVar("T")

_QUERY: Final = ("query", "query_id", "question_id", "sample", "sample_id", "id")
_METRIC: Final = ("metric", "method")
_TABLES: Final = ("scores.csv", "scores.parquet", "scores.jsonl")


class _Record(NamedTuple):
    """One record of a file; ``where`` says which, for messages."""

    values: dict[str, Any]
    where: str


class _Fields(NamedTuple):
    """Metadata fields that were named; None for those that were not."""

    system: str | None
    group: str | None

    def group_of(self, metadata: Mapping[str, Any], query: str) -> Hashable:
        return None if self.group is None else group_of(metadata, self.group, query)


def read_systems(
    sources: SystemSources,
    *,
    temperatures: Sequence[float | str] = TEMPERATURES,
    system_field: str | None = None,
    group: str | None = None,
) -> SystemTable:
    """Read one or several files, or take what was judged, into one table.

    * A long table (csv, parquet, jsonl, json) has the columns ``query`` (or ``sample``, ``id``),
      ``score``, and, where they apply, ``system`` and ``metric`` (or ``method``).
    * The table of ``tcva compare`` is one without ``system``: the file is the system. The folder
      that it writes may be given instead.
    * Assessments of ``tcva evaluate --out`` (jsonl): the metric is the criterion at each
      temperature; with additional judges the scores are fused, by the geometric mean. Results of
      ``tcva ccrs --out`` (jsonl): the metrics are its own.

    Where a record does not name its system, the file's name without its suffix does, or NAME of
    NAME=FILE. For what `TCVA` and `CCRS` judged it may be a metadata field.

    Args:
        sources: A path, several of them, each perhaps with a name in front; or by system's name a
            path, or its results (of `TCVA` or `CCRS`) or assessments.
        temperatures: For what `TCVA` judged.
        system_field: The metadata field that names the system.
        group: The column, or metadata field, of what queries belong to (a document).

    Raises:
        UnreadableInputError: A file cannot be read or is none of these; a score is no number.
        InvalidValueError: Two scores for one system, query and metric, an unknown suffix or a
            temperature out of range.
        InvalidSampleError: No scores at all, or a query belongs to no group.
    """
    dial = [check_temperature(temperature) for temperature in temperatures]
    if not sources:
        msg = "no file of scores is given; name at least one"
        raise InvalidValueError(msg)
    rows: list[SystemRow] = []
    judges: dict[str, set[str]] = {}
    for name, records in _by_name(sources):
        for row in _rows(records, name, dial, _Fields(system_field, group)):
            rows.append(row)
            if row.judge:
                judges.setdefault(row.system, set()).add(row.judge)
    notes: tuple[str, ...] = ()
    if len({frozenset(each) for each in judges.values()}) > 1:
        said = "; ".join(f"{system}: {', '.join(sorted(j))}" for system, j in judges.items())
        notes = (f"systems have different judges, so differences may be theirs ({said})",)
    return replace(SystemTable.of(rows), notes=notes)


def _by_name(sources: SystemSources) -> Iterator[tuple[str, list[_Record]]]:
    """A name for what each source is about, and its records: at least one."""
    if isinstance(sources, Mapping):
        for name, source in sources.items():
            if isinstance(source, str | Path):
                yield name, _records(Path(source))
            else:
                yield name, _of_results(name, source)
        return
    for name, path in _named([sources] if isinstance(sources, str | Path) else sources):
        yield name, _records(path)


def _of_results(name: str, results: Iterable[Assessment | CCRSResult | Result]) -> list[_Record]:
    """What was judged, as the records of a file."""
    judged = [each.assessment if isinstance(each, Result) else each for each in results]
    if not judged:
        msg = f"there are no results of {name!r}; leave it out, or judge its answers"
        raise InvalidSampleError(msg)
    return [
        _Record(json.loads(each.to_json()), f"{name}, item {number}")
        for number, each in enumerate(judged, 1)
    ]


def _named(sources: Sequence[str | Path]) -> Iterator[tuple[str, Path]]:
    """A name for what each file is about, and the file."""
    named: list[tuple[str, Path]] = []
    for source in sources:
        name, found, rest = str(source).partition("=")
        given = bool(found) and not Path(source).exists()
        path = Path(rest if given else source).expanduser()
        named.append((name if given else "", _table_in(path) if path.is_dir() else path))
    stems = [_stem(path) for name, path in named if not name]
    for given_name, path in named:
        stem = _stem(path)
        alike = stems.count(stem) > 1
        yield given_name or (f"{path.parent.name}/{stem}" if alike else stem), path


def _table_in(folder: Path) -> Path:
    for name in _TABLES:
        if (folder / name).is_file():
            return folder / name
    raise unreadable(folder, f"a folder without {', '.join(_TABLES)}; name a file")


def _stem(path: Path) -> str:
    """What a file is about: of the ``scores.csv`` of a comparison its folder says it."""
    return path.resolve().parent.name if path.name in _TABLES else path.stem


def _records(path: Path) -> list[_Record]:
    source = "-" if str(path) == "-" else path
    kind = format_of(source)
    records = []
    for line, record, error in read_records(source, kind):
        if record is None:
            raise unreadable(path, error, line=line, word=ROW_WORDS[kind])
        values = read_back(record) if kind == "csv" else record
        records.append(_Record(values, f"{path}, {ROW_WORDS[kind]} {line}"))
    if not records:
        raise unreadable(path, "it is empty: it holds no record")
    return records


def _rows(
    records: Sequence[_Record], name: str, dial: Sequence[float], fields: _Fields
) -> Iterator[SystemRow]:
    keys = records[0].values.keys()
    if {"answers", "lambda_"} <= keys:
        return _ccrs(records, name, fields)
    if {"criterion", "judge", "prompt_version"} <= keys:
        return _assessments(records, name, dial, fields)
    if "score" in keys and not keys.isdisjoint(_QUERY):
        return _table(records, name, fields)
    raise unreadable(
        records[0].where,
        f"no scores among the fields {', '.join(map(repr, keys))}; a table has 'query', 'score' "
        "and, where they apply, 'system' and 'metric'; assessments and CCRS results are read as "
        "'tcva evaluate' and 'tcva ccrs' write them",
    )


def _table(records: Sequence[_Record], name: str, fields: _Fields) -> Iterator[SystemRow]:
    keys = records[0].values.keys()
    query = next(key for key in _QUERY if key in keys)
    metric = next((key for key in _METRIC if key in keys), None)
    for record in records:
        values = record.values
        for key in filter(None, (query, metric, "system" if "system" in keys else None)):
            if values.get(key) in (None, ""):
                raise unreadable(record.where, f"{key!r} is empty")
        system = str(values.get("system", name))
        measured = "score" if metric is None else str(values[metric])
        group = fields.group_of(values, str(values[query]))
        yield SystemRow(system, str(values[query]), measured, _score(record), group=group)


def _score(record: _Record) -> float | None:
    value = record.values.get("score")
    if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
        return None
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = math.inf
    if math.isinf(score):
        why = f"score {value!r} is no number; leave it empty where there is none"
        raise unreadable(record.where, why)
    return None if math.isnan(score) else score


def _assessments(
    records: Sequence[_Record], name: str, dial: Sequence[float], fields: _Fields
) -> Iterator[SystemRow]:
    judged = [_parsed(record, Assessment.from_json) for record in records]
    several = len({(a.criterion, _judges(a)) for a in judged}) > len({a.criterion for a in judged})
    counts = judged_counts(judged)
    by_judge = [sweep(counts[:, j], dial) for j in range(counts.shape[1])]
    scores = ScoringConfig().joined(by_judge)
    seen: dict[str, int] = {}
    for record, assessment, at in zip(records, judged, scores.tolist(), strict=True):
        metric = assessment.criterion + (f" by {_judges(assessment)}" if several else "")
        seen[metric] = seen.get(metric, 0) + 1
        system = _system(record, assessment.metadata, name, fields.system)
        query = assessment.sample_id or f"#{seen[metric]}"
        group = fields.group_of(assessment.metadata, query)
        for temperature, score in zip(dial, at, strict=True):
            known = None if math.isnan(score) else score
            at_t = f"{metric} T={temperature:g}"
            yield SystemRow(system, query, at_t, known, _judges(assessment), group)


def _judges(assessment: Assessment) -> str:
    """The judge, and those whose scores are fused with its."""
    return " + ".join(each.judge for each in (assessment, *assessment.members))


def _ccrs(records: Sequence[_Record], name: str, fields: _Fields) -> Iterator[SystemRow]:
    for number, record in enumerate(records, 1):
        result = _parsed(record, CCRSResult.from_json)
        system = _system(record, result.metadata, name, fields.system)
        query = result.sample_id or f"#{number}"
        group = fields.group_of(result.metadata, query)
        for metric, score in result.scores.items():
            yield SystemRow(system, query, metric, score, result.judge, group)


def _parsed(record: _Record, read: Callable[[str], T]) -> T:
    try:
        return read(json.dumps(record.values))
    except UnreadableInputError as error:
        raise unreadable(record.where, str(error)) from None


def _system(record: _Record, metadata: Mapping[str, Any], name: str, field: str | None) -> str:
    if field is None:
        return name
    value = metadata.get(field)
    if value in (None, ""):
        known = ", ".join(map(repr, metadata)) or "none"
        why = f"no {field!r} in its metadata; fields are {known}"
        raise unreadable(record.where, why)
    return str(value)

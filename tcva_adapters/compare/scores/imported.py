"""Scores that were made elsewhere: tables of RAGAS and LangSmith, test runs of DeepEval, any table.

The kind of a file shows in its content. A row belongs to the sample with its id, or else with its
answer.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.scores.ratings import MISSING, Scale, names_in
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.samples.csv_cells import original
from tcva_adapters.samples.field_names import ALIASES
from tcva_adapters.samples.file_formats import ROW_WORDS, format_of, read_records
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import unreadable, whole_text
from tcva_adapters.samples.strict_json import record_once
from tcva_adapters.tables import counted, shortened

_NAMED: Final = 3
_IDS: Final = ("sample", *ALIASES["id"])
_QUERIES: Final = ("query", "query_id", "question_id")
_METHOD: Final = ("method", "metric")
_OF_SAMPLES: Final = frozenset(
    {
        *(*_IDS, *chain.from_iterable(ALIASES.values()), "error"),
        *(
            "retrieved_context_ids",
            "reference_context_ids",
            "multi_responses",
            "rubrics",
        ),
        *("persona_name", "query_style", "query_length"),
    }
)
"""What tables, those of RAGAS above all, hold of a sample besides its scores."""

_FEEDBACK: Final = "feedback."
_BESIDE: Final = ("_error", "_reason")
"""Ends of columns that say something of a score."""

_CASES: Final = ("testCases", "test_results")
_TALKS: Final = ("conversationalTestCases",)
Record = Mapping[str, Any]
_Table = list[tuple[int, dict[str, Any]]]


@dataclass(slots=True)
class Row:
    """What a file says of one sample.

    Attributes:
        line: Its line (csv, jsonl), row (parquet) or test case, from 1.
        sample: Id and texts, as far as the file has them; all else is its metadata.
        scores: By method; None where there is none.
        reasons: By method: why there is no score, or what the method said of it.
    """

    line: int
    sample: Sample
    scores: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Imported:
    """What was read from one file.

    Attributes:
        source: The path.
        kind: ``ragas``, ``deepeval``, ``langsmith``, ``scores`` (a column per method) or ``long``
            (a row per sample and method).
        methods: Names, in the order of the file.
        rows: One per sample; of a long table one per sample and method.
        thresholds: By method, where the file has them.
        left_out: Columns that are neither scores nor known.
    """

    source: str
    kind: str
    methods: list[str]
    rows: list[Row]
    thresholds: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Importing:
    """How imported scores are read.

    Attributes:
        columns: Those that are methods; None takes those with nothing but numbers in them.
        scale: Their lowest and highest possible score, which become 0 and 1.
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
        if not 0.0 < self.scale[1] - self.scale[0] < math.inf:
            msg = f"scale must be two finite numbers, the lower one first, got {self.scale!r}"
            raise InvalidValueError(msg)

    def put(
        self,
        row: Row,
        method: str,
        record: Record,
        column: str,
        errors: Sequence[str],
        path: str | Path,
    ) -> None:
        """One score of a row, or why there is none: one of these columns names an error.

        Raises:
            UnreadableInputError: No number, or one outside the scale.
        """
        value, error = record.get(column), _error(record, errors)
        number, (low, high) = math.nan if error else _number(value), self.scale
        is_none = number is not None and (math.isnan(number) or number == self.missing)
        wrong = ""
        if number is None:
            wrong = f"{value!r} is no number; leave the cell empty for no score"
        elif not (is_none or low <= number <= high):
            wrong = (
                f"scores must be between {low:g} and {high:g}, got {number:g}; give another scale as "
                f"--set scale=LOW,HIGH, a number for no score as --set missing={number:g}, and the "
                "columns of scores as PATH::COLUMN,COLUMN"
            )
        if number is None or wrong:
            word = ROW_WORDS[format_of(path)]
            raise unreadable(
                path, f"column {column!r}: {wrong}", line=row.line, word=word
            )
        row.scores[method] = None if is_none else self.scaled(number)
        said = error or record.get(f"{column}_reason")
        if isinstance(said, str):
            row.reasons[method] = said
        elif is_none:
            empty = "no score" if math.isnan(number) else str(value)
            row.reasons[method] = f"{empty} in the file"

    def scaled(self, number: float) -> float:
        """On [0, 1]; on the scale of scores it stays what it is to the last bit."""
        low, high = self.scale
        return (number - low) / (high - low)


def read_imported(path: str | Path, how: Importing | None = None) -> Imported:
    """Read scores of whatever kind the content shows.

    * ``deepeval``: a test run (``.latest_test_run.json``, a file in ``DEEPEVAL_RESULTS_FOLDER``, or
      the JSON of what ``evaluate`` returns). A metric that a test case lacks was skipped there.
    * ``ragas``: what ``result.to_pandas()`` holds, as csv, parquet or jsonl. Every column that RAGAS
      does not use for the sample itself is a metric if there are numbers in it, or nothing at all
      (a metric that failed everywhere).
    * ``langsmith``: runs with columns ``feedback.KEY``, or ``feedback_stats`` with an average.
    * ``long``: a row per sample and method, with the columns ``sample`` (or ``query``), ``score`` and,
      where they apply, ``method`` (or ``metric``) and ``system``.
    * ``scores``: a column per method; by default all with nothing but numbers in them that are
      neither fields of a sample nor human ratings.

    An error of a score (in a metric's data, or a column ``error`` or ``METHOD_error``, in any
    case and with blanks or ``_``) leaves no score, whatever number stands there.

    Raises:
        UnreadableInputError: It is missing, damaged, holds no scores, or one outside the scale.
        MissingDependencyError: A parquet file without pyarrow.
    """
    how = how or Importing()
    if format_of(path) == "json" and (run := _test_run(path)) is not None:
        return _deepeval(path, run, how)
    table = _records(path)
    columns = list(dict.fromkeys(name for _, record in table for name in record))
    if "score" in columns and not {*columns}.isdisjoint(
        {*_METHOD, *_QUERIES, "system"}
    ):
        return _long(path, table, how)
    kind, known = "scores", {*_OF_SAMPLES, *how.human}
    if {"user_input", "response"} <= {*columns}:
        kind = "ragas"
    elif any(name.startswith(_FEEDBACK) for name in columns):
        kind, known = (
            "langsmith",
            {name for name in columns if not name.startswith(_FEEDBACK)},
        )
    rest = [
        n for n in columns if n not in known and not f"_{_plain(n)}".endswith(_BESIDE)
    ]
    cells = {name: [_number(record.get(name)) for _, record in table] for name in rest}
    methods = [
        name for name in rest if _are_scores(cells[name], may_be_empty=kind != "scores")
    ]
    if not (methods or how.columns or {*columns} & {*how.human}):
        way = f"judge samples first: tcva evaluate {path} --out judged.jsonl"
        raise unreadable(
            path, f"no column holds scores, only {', '.join(columns)}; {way}"
        )
    found = _wide(path, kind, table, methods, how)
    found.left_out = [name for name in rest if name not in methods]
    return found


def matched(
    found: Imported, samples: Mapping[str, Sample]
) -> tuple[list[tuple[str, Row]], str]:
    """Give rows to the samples that they are about.

    A row with a known id belongs to that sample, unless its answer is another one: then it comes
    from another run, and belongs to none. A row without one belongs to the sample with the same
    answer and, where both have them, the same question and contexts; runs of white space count as
    one blank.

    Args:
        found: What was read.
        samples: By id.

    Returns:
        Pairs of id and row, and what was matched in a sentence.

    Raises:
        UnreadableInputError: A row fits several samples, or no row fits any.
    """
    by_answer: dict[str, list[str]] = defaultdict(list)
    for name, sample in samples.items():
        if sample.response is not None:
            by_answer[_flat(sample.response)].append(name)
    pairs, lost = list[tuple[str, Row]](), list[str]()
    for row in found.rows:
        own, name = row.sample, row.sample.id or ""
        text = "response" if name in samples else "input"
        names = [name] if name in samples else by_answer[_flat(own.response)]
        names = [each for each in names if _are_alike(own, samples[each], text)]
        if len(names) > 1:
            names = [
                n for n in names if _are_alike(own, samples[n], "contexts")
            ] or names
        called = shortened(own.id or own.response or own.input or "no name", 40)
        if len(names) > 1:
            msg = (
                f"{called!r} fits the samples {', '.join(names[:_NAMED])} alike; give the rows an "
                "id column with the samples' ids (in DeepEval: the name of the test case)"
            )
            raise unreadable(found.source, msg, line=row.line, word="row")
        if names:
            pairs.append((names[0], row))
        else:
            lost.append(f"{row.line}: {called}")
    first = "; ".join(lost[:_NAMED]) + ("; ..." if len(lost) > _NAMED else "")
    if not pairs:
        msg = (
            f"none of its {len(found.rows)} rows matches a sample ({first}); give the rows an id "
            "column with the samples' ids, or their question and answer"
        )
        raise unreadable(found.source, msg)
    number, methods = len({name for name, _ in pairs}), ", ".join(found.methods)
    said = f"{found.source} ({found.kind}): {methods} on {number} of {len(samples)} samples"
    if lost:
        said += f"; {counted(len(lost), 'row')} without a matching sample ({first})"
    if found.left_out:
        said += f"; columns left out: {', '.join(found.left_out)}"
    return pairs, said


def _are_alike(row: Sample, sample: Sample, field: str) -> bool:
    """Where one of the two has no such text, it cannot tell samples apart."""
    theirs, ours = getattr(row, field), getattr(sample, field)
    return not theirs or not ours or _flat(theirs) == _flat(ours)


def _flat(text: str | Sequence[str] | None) -> str:
    parts = [text or ""] if isinstance(text, str | None) else text
    return "\0".join(" ".join(part.split()) for part in parts)


def _test_run(path: str | Path) -> Record | None:
    """The test run in a JSON document, nan included: DeepEval writes it, which strict JSON has not."""
    text = whole_text(path)
    try:
        content = json.loads(text, object_pairs_hook=record_once)
    except (ValueError, RecursionError) as error:
        raise unreadable(path, f"not JSON: {error}") from None
    run = content.get("testRunData", content) if isinstance(content, dict) else None
    return run if isinstance(run, dict) and any(key in run for key in _CASES) else None


def _records(path: str | Path) -> _Table:
    table: _Table = []
    for line, record, error in read_records(path):
        if record is None:
            raise unreadable(path, error, line=line, word=ROW_WORDS[format_of(path)])
        # The index of a data frame is no method.
        cells = {
            n: cell
            for n, cell in record.items()
            if n not in ("", "Unnamed: 0", "index")
        }
        stats = cells.pop("feedback_stats", None)
        if isinstance(stats, dict):  # a run as LangSmith's client has it
            cells |= {
                f"{_FEEDBACK}{key}": _first(of, "avg") for key, of in stats.items()
            }
        table.append((line, cells))
    if not table:
        raise unreadable(path, "it holds no results")
    return table


def _wide(
    path: str | Path,
    kind: str,
    table: _Table,
    methods: Sequence[str],
    how: Importing,
) -> Imported:
    """A row per sample and a column per method."""
    chosen = methods if how.columns is None else how.columns
    columns = dict.fromkeys(name for _, record in table for name in record)
    if absent := [name for name in chosen if name not in columns]:
        raise unreadable(
            path, f"it has no {absent[0]!r}; there are {', '.join(sorted(columns))}"
        )
    prefix = "" if kind == "scores" else f"{kind} "
    names = {n: f"{prefix}{n.removeprefix(_FEEDBACK)}" for n in chosen}
    # RAGAS runs TCVA and CCRS too, which are no metrics of its own.
    names = {
        n: re.sub("^ragas (?=tcva_|ccrs_)", "imported ", name)
        for n, name in names.items()
    }
    errors = {column: _errors(columns, column) for column in names}
    rows = []
    for line, record in table:
        row = Row(line, _sample(record, {*methods, *chosen}))
        for column, name in names.items():
            how.put(row, name, record, column, errors[column], path)
        rows.append(row)
    return Imported(str(path), kind, [*names.values()], rows)


def _long(path: str | Path, table: _Table, how: Importing) -> Imported:
    """A row per sample and method."""
    method = next((name for name in _METHOD if name in table[0][1]), "")
    rows, methods = list[Row](), dict[str, None]()
    errors = ["score_error", *_errors(table[0][1], "score")]
    for line, cells in table:
        record = {n: original(c) if isinstance(c, str) else c for n, c in cells.items()}
        record["score_error"] = record.pop("unscored", None)
        name = str(record.get(method) or "") if method else "score"
        if not name:
            raise unreadable(path, f"{method!r} is empty", line=line, word="row")
        if how.columns is None or name in how.columns:
            methods[name] = None
            row = Row(
                line,
                _sample(record, {method, "score", "score_error"}, (*_QUERIES, *_IDS)),
            )
            how.put(row, name, record, "score", errors, path)
            rows.append(row)
    if not rows:
        raise unreadable(
            path, f"it has no rows of the methods {', '.join(how.columns or ())}"
        )
    return Imported(str(path), "long", [*methods], rows)


def _deepeval(path: str | Path, run: Record, how: Importing) -> Imported:
    """A test run: its test cases as a table, with the data of its metrics in columns."""
    table: _Table = []
    thresholds: dict[str, float] = {}
    metrics: dict[str, None] = {}
    cases = [case for names in (_CASES, _TALKS) for case in _first(run, *names) or []]
    for number, case in enumerate(cases, start=1):
        metadata = _first(case, "metadata", "additionalMetadata", "additional_metadata")
        listed = _first(case, "metricsData", "metrics_data") or []
        if not (
            isinstance(case, dict) and all(isinstance(data, dict) for data in listed)
        ):
            msg = f"test case {number} is no object with a list of metrics; the file may be incomplete"
            raise unreadable(path, msg)
        record = {**(metadata if isinstance(metadata, dict) else {}), **case}
        often = Counter[str]()
        for data in listed:
            name = str(data.get("name"))
            often[name] += 1
            if often[name] > 1:
                name = f"{name} #{often[name]}"
            metrics[name] = None
            record |= {
                name: data.get("score"),
                f"{name}_error": data.get("error"),
                f"{name}_reason": data.get("reason"),
                f"{name}_log": _first(data, "verboseLogs", "verbose_logs"),
            }
            least = _number(data.get("threshold"))
            if least is not None and math.isfinite(least):
                thresholds[f"deepeval {name}"] = how.scaled(least)
        table.append((number, record))
    if not metrics:
        raise unreadable(path, "it holds no metric")
    found = _wide(path, "deepeval", table, [*metrics], how)
    found.thresholds = thresholds
    return found


def _sample(record: Record, scores: set[str], ids: Sequence[str] = _IDS) -> Sample:
    """The texts of a row, as far as they can be read; what else it has is metadata."""
    rest = {n: v for n, v in record.items() if n not in scores}
    name = _text(record, ids)
    with suppress(InvalidSampleError):
        return Sample.from_record(rest).model_copy(update={"id": name})
    texts = {
        field: _text(record, ALIASES[field])
        for field in ("input", "response", "reference")
    }
    return Sample(
        id=name,
        metadata=rest,
        **texts,
    )


def _plain(name: str) -> str:
    """A column's name as ``error`` and ``METHOD_error`` are written."""
    return "_".join(name.lower().split())


def _errors(columns: Iterable[str], method: str) -> list[str]:
    """The columns that name errors of a method, its own before those of whole rows."""
    own = f"{method}_error"
    names = (
        [own] if own in columns else [n for n in columns if _plain(n) == _plain(own)]
    )
    return names + [name for name in columns if _plain(name) == "error"]


def _error(record: Record, columns: Sequence[str]) -> str:
    """The error of a score; empty where there is none."""
    said = (str(record[name]) for name in columns if record.get(name))
    return next(
        (e for e in said if e.strip().lower() not in MISSING | {"false", "0"}), ""
    )


def _number(value: Any) -> float | None:
    """A cell as a float, nan where it is empty; None where it is no number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (OverflowError, ValueError):
        return None


def _are_scores(numbers: Sequence[float | None], *, may_be_empty: bool) -> bool:
    finite = (number is not None and math.isfinite(number) for number in numbers)
    return None not in numbers and (may_be_empty or any(finite))


def _text(record: Record, names: Sequence[str]) -> str | None:
    """The first of these fields that holds text, or a whole number as ids may be."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and value == value // 1
        ):
            return str(int(value))
    return None


def _first(record: Any, *names: str) -> Any:
    found = (record.get(name) for name in names) if isinstance(record, dict) else ()
    return next((value for value in found if value is not None), None)


def parse_spec(spec: str) -> tuple[str, str, tuple[str, ...] | None]:
    """The parts of ``[NAME=]PATH[::COLUMN,...]``; an existing path with an = in it is a path.

    Raises:
        InvalidValueError: No path, or an empty name.

    >>> parse_spec("ours=scores.csv::a,b"), parse_spec("scores.csv")
    (('ours', 'scores.csv', ('a', 'b')), ('', 'scores.csv', None))
    """
    rest, _, listed = spec.partition("::")
    columns = tuple(names_in(listed)) or None
    name, equals, path = rest.partition("=")
    if not equals or Path(rest).expanduser().exists():
        name, path = "", rest
    if not path.strip() or (equals and path != rest and not name.strip()):
        msg = f"{spec!r} names no file; write PATH, NAME=PATH or PATH::COLUMN,COLUMN"
        raise InvalidValueError(msg)
    return name.strip(), path, columns

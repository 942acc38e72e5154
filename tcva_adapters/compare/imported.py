"""Scores that were made elsewhere: tables of RAGAS and LangSmith, test runs of DeepEval, any table.

The kind of a file shows in its content. A row belongs to the sample with its id, or else with its
answer.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.ratings import MISSING
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.samples.fields import ALIASES
from tcva_adapters.samples.output import original
from tcva_adapters.samples.records import ROW_WORDS, Format, read_records, unreadable
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import counted, shortened

SCALE: Final = (0.0, 1.0)
_NAMED: Final = 3
_SHOWN: Final = 40

_IDS: Final = ("sample", *ALIASES["id"])
_QUERIES: Final = ("query", "query_id", "question_id")
_METHOD: Final = ("method", "metric")
_RAGAS_FIELDS: Final = frozenset(
    {
        *("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids"),
        *("reference_context_ids", "response", "multi_responses", "reference", "rubrics"),
        *("persona_name", "query_style", "query_length"),
        *("question", "answer", "contexts", "ground_truth", "ground_truths"),
    }
)
"""What RAGAS' ``to_pandas`` prints beside scores, in its present and its former names."""

_FEEDBACK: Final = "feedback."
_HUMAN: Final = ("human", "human_score")
_BESIDE: Final = ("_error", "_reason")
"""Ends of columns that say something of a score."""

_CASES: Final = ("testCases", "test_results", "testResults")
_MADE_UP: Final = r"test_case_\d+"
"""How DeepEval calls test cases without a name: it counts those of one run."""

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

    @property
    def name(self) -> str:
        """Its id, or the start of its text."""
        found = self.sample
        return shortened(found.id or found.response or found.input or "no name", _SHOWN)


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
    scale: tuple[float, float] = SCALE
    missing: float | None = None
    human: Sequence[str] = _HUMAN

    def __post_init__(self) -> None:
        low, high = self.scale
        if not 0.0 < high - low < math.inf:
            msg = f"scale={self.scale!r}; give two finite numbers, the lower one first"
            raise InvalidValueError(msg)

    def score(self, value: Any, where: str) -> float | None:
        """A cell as a score in [0, 1]; None where it is empty, nan, or the number for that.

        Raises:
            UnreadableInputError: No number, or one outside the scale.
        """
        number = _number(value)
        if number is None:
            msg = f"{where} holds {value!r}, which is no number; leave the cell empty for no score"
            raise UnreadableInputError(msg)
        if math.isnan(number) or number == self.missing:
            return None
        low, high = self.scale
        if not low <= number <= high:
            msg = (
                f"{where} holds {number!r}, outside [{low:g}, {high:g}]; if it stands for no score, "
                f"say missing={number:g}; if the scale is another, scale=(LOW, HIGH); if the column "
                "holds no scores, name those that do: PATH::COLUMN,COLUMN"
            )
            raise UnreadableInputError(msg)
        # A score on [0, 1] already stays what it is to the last bit.
        return number if self.scale == SCALE else (number - low) / (high - low)


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

    An error beside a score (in a metric's data, or a column ``error`` or ``METHOD_error``) leaves
    no score, whatever number stands there.

    Raises:
        UnreadableInputError: It is missing, damaged, holds no scores, or one outside the scale.
        MissingDependencyError: A parquet file without pyarrow.
    """
    how = how or Importing()
    form = format_of(path)
    if form == "json" and (run := _test_run(path)) is not None:
        return _deepeval(path, run, how)
    table = _records(path, form)
    columns = list(dict.fromkeys(name for _, record in table for name in record))
    if "score" in columns and not {*columns}.isdisjoint({*_METHOD, *_QUERIES, "system"}):
        return _long(path, table, how)
    feedback = [name for name in columns if name.startswith(_FEEDBACK)]
    if {"user_input", "response"} <= {*columns} or {"question", "answer", "contexts"} <= {*columns}:
        kind, known = "ragas", {*_RAGAS_FIELDS, *_IDS}
    elif feedback:
        kind, known = "langsmith", {*columns} - {*feedback}
    else:
        kind, known = "scores", {*_IDS, *chain.from_iterable(ALIASES.values())}
    known |= {"error", *how.human}
    rest = [name for name in columns if name not in known and not name.endswith(_BESIDE)]
    cells = {name: [record.get(name) for _, record in table] for name in rest}
    methods = [name for name in rest if _is_numeric(cells[name], may_be_empty=kind != "scores")]
    if not (methods or how.columns or {*columns} & {*how.human}):
        raise unreadable(path, f"no column holds scores; columns are {', '.join(columns)}")
    found = _wide(path, kind, table, methods, how)
    found.left_out = [name for name in rest if name not in methods]
    return found


def matched(found: Imported, samples: Sequence[Sample]) -> tuple[list[tuple[str, Row]], str]:
    """Give rows to the samples that they are about.

    A row with a known id belongs to that sample, unless its answer is another one: then it comes
    from another run, and belongs to none. A row without one belongs to the sample with the same
    answer and, where both have them, the same question and contexts; runs of white space count as
    one blank.

    Args:
        found: What was read.
        samples: With ids that differ.

    Returns:
        Pairs of id and row, and what was matched in a sentence.

    Raises:
        UnreadableInputError: A row fits several samples, or no row fits any.
    """
    by_id = {sample.id or f"row-{place}": sample for place, sample in enumerate(samples, start=1)}
    by_answer: dict[str, list[str]] = defaultdict(list)
    for name, sample in by_id.items():
        if sample.response is not None:
            by_answer[_flat(sample.response)].append(name)
    pairs, lost = list[tuple[str, Row]](), list[str]()
    for row in found.rows:
        names, why = _candidates(row, by_id, by_answer)
        if f"{row.sample.id}#2" in by_id:
            names = [row.sample.id or "", f"{row.sample.id}#2"]
        if len(names) > 1:
            msg = (
                f"{row.name!r} fits the samples {', '.join(names[:_NAMED])} alike; give the rows an "
                "id column with the samples' ids (in DeepEval: the name of the test case)"
            )
            raise unreadable(found.source, msg, line=row.line, word="row")
        if names:
            pairs.append((names[0], row))
        else:
            lost.append(f"{row.line}: {row.name}: {why}")
    first = "; ".join(lost[:_NAMED]) + ("; ..." if len(lost) > _NAMED else "")
    if not pairs:
        msg = (
            f"none of its {len(found.rows)} rows matches a sample ({first}); give the rows an id "
            "column with the samples' ids, or their question and answer"
        )
        raise unreadable(found.source, msg)
    number, methods = len({name for name, _ in pairs}), ", ".join(found.methods)
    text = f"{found.source} ({found.kind}): {methods} on {number} of {len(by_id)} samples"
    if lost:
        text += f"; {counted(len(lost), 'row')} of no sample ({first})"
    if found.left_out:
        text += f"; columns left out: {', '.join(found.left_out)}"
    return pairs, text


def _candidates(
    row: Row, by_id: Mapping[str, Sample], by_answer: Mapping[str, Sequence[str]]
) -> tuple[Sequence[str], str]:
    """The names of the samples that a row may be about, or why there is none."""
    theirs = row.sample
    if theirs.id is not None and theirs.id in by_id:
        ours = by_id[theirs.id].response
        if theirs.response is None or ours is None or _flat(theirs.response) == _flat(ours):
            return [theirs.id], ""
        return [], "its id is known, but its answer is another one"
    if theirs.response is None:
        return [], "no answer to match by" if theirs.id is None else "no sample has this id"
    fitting = by_answer.get(_flat(theirs.response), ())
    if not fitting:
        return [], "no sample has this answer"
    same = [name for name in fitting if _alike(theirs.input, by_id[name].input)]
    if len(same) > 1:
        contexts = theirs.contexts
        same = [name for name in same if _alike(contexts, by_id[name].contexts)] or same
    return same, "a sample has this answer, but to another question"


def _alike(theirs: Any, ours: Any) -> bool:
    """Where one of the two has no such text, it cannot tell samples apart."""
    return not theirs or not ours or _flat(theirs) == _flat(ours)


def _flat(text: str | Sequence[str]) -> str:
    parts = [text] if isinstance(text, str) else text
    return "\0".join(" ".join(part.split()) for part in parts)


def format_of(path: str | Path) -> Format:
    """By the content: most names of saved results say little."""
    try:
        with Path(path).expanduser().open("rb") as file:
            lines = (line.removeprefix(b"\xef\xbb\xbf").strip() for line in file)
            filled = filter(None, lines)
            first, is_longer = next(filled, b""), next(filled, None) is not None
    except (OSError, ValueError) as error:  # a name with a null in it is the latter
        why = getattr(error, "strerror", None) or error
        raise unreadable(path, f"cannot be read: {why}") from None
    if Path(path).suffix in (".jsonl", ".ndjson"):
        return "jsonl"  # whatever its first line is
    if first.startswith(b"PAR1"):
        return "parquet"
    if not first.startswith((b"{", b"[")):
        return "csv"
    with suppress(ValueError, RecursionError):
        json.loads(first)
        if is_longer and first.startswith(b"{"):
            return "jsonl"
    return "json"


def _test_run(path: str | Path) -> Record | None:
    """The test run in a JSON document, nan included: DeepEval writes it, which strict JSON has not."""
    try:
        content = json.loads(Path(path).expanduser().read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise unreadable(path, f"not JSON: {error}") from None
    run = content.get("testRunData", content) if isinstance(content, dict) else None
    return run if isinstance(run, dict) and any(key in run for key in _CASES) else None


def _records(path: str | Path, kind: Format) -> _Table:
    table: _Table = []
    for line, record, error in read_records(path, kind):
        if record is None:
            raise unreadable(path, error, line=line, word=ROW_WORDS[kind])
        cells = {n: cell for n, cell in record.items() if n not in ("", "Unnamed: 0", "index")}
        stats = cells.get("feedback_stats")
        if isinstance(stats, dict):  # a run as LangSmith's client has it
            cells |= {f"{_FEEDBACK}{k}": v.get("avg") for k, v in stats.items() if _is_record(v)}
        table.append((line, cells))
    if not table:
        raise unreadable(path, "it holds no results")
    return table


def _is_record(value: Any) -> bool:
    return isinstance(value, dict)


def _wide(
    path: str | Path, kind: str, table: _Table, methods: Sequence[str], how: Importing
) -> Imported:
    """A row per sample and a column per method."""
    chosen = methods if how.columns is None else how.columns
    columns = {name for _, record in table for name in record}
    if absent := [name for name in chosen if name not in columns]:
        raise unreadable(path, f"it has no {absent[0]!r}; there are {', '.join(sorted(columns))}")
    prefix = "" if kind == "scores" else f"{kind} "
    names = {name: f"{prefix}{name.removeprefix(_FEEDBACK)}" for name in chosen}
    rows = []
    for line, record in table:
        row = Row(line, _sample(record, {*methods, *chosen, "feedback_stats"}))
        for column, name in names.items():
            where = f"{path}, {line}: column {column!r}"
            _put(row, name, record.get(column), _error(record, column), how, where)
            said, error = record.get(f"{column}_reason"), _error(record, column)
            if isinstance(said, str) and not error:
                row.reasons[name] = said
        rows.append(row)
    return Imported(str(path), kind, [*names.values()], rows)


def _long(path: str | Path, table: _Table, how: Importing) -> Imported:
    """A row per sample and method."""
    method = next((name for name in _METHOD if name in table[0][1]), "")
    rows, methods = list[Row](), dict[str, None]()
    for line, cells in table:
        record = {n: original(c) if isinstance(c, str) else c for n, c in cells.items()}
        name = str(record.get(method) or "") if method else "score"
        if not name:
            raise unreadable(path, f"{method!r} is empty", line=line, word="row")
        if how.columns is not None and name not in how.columns:
            continue
        methods[name] = None
        row = Row(line, _sample(record, {method, "score", "unscored"}, (*_QUERIES, *_IDS)))
        error = str(record.get("unscored") or "") or _error(record, "score")
        _put(row, name, record.get("score"), error, how, f"{path}, {line}: column 'score'")
        rows.append(row)
    if not rows:
        raise unreadable(path, f"it has no rows of the methods {', '.join(how.columns or ())}")
    return Imported(str(path), "long", [*methods], rows)


def _deepeval(path: str | Path, run: Record, how: Importing) -> Imported:
    """A test run: its test cases as a table, with the data of its metrics in columns."""
    cases: list[Any] = next((run[key] for key in _CASES if isinstance(run.get(key), list)), [])
    table: _Table = []
    thresholds: dict[str, float] = {}
    metrics: dict[str, None] = {}
    for number, case in enumerate(cases, start=1):
        metadata = _first(case, "metadata", "additionalMetadata", "additional_metadata")
        record = {**metadata, **case} if _is_record(metadata) else dict(case or {})
        if re.fullmatch(_MADE_UP, str(record.get("name"))):
            del record["name"]
        listed = _first(record, "metricsData", "metrics_data") or []
        if not (_is_record(case) and isinstance(listed, list) and all(map(_is_record, listed))):
            msg = f"test case {number} is no object with a list of metrics; is the file complete?"
            raise unreadable(path, msg)
        for data in listed:
            base = str(data.get("name"))
            again = sum(name == base or name.startswith(f"{base} #") for name in record)
            name = f"{base} #{again + 1}" if again else base
            metrics[name] = None
            record |= {name: data.get("score"), f"{name}_error": data.get("error")}
            record[f"{name}_reason"] = data.get("reason")
            least = _number(data.get("threshold"))
            if least is not None and math.isfinite(least):
                thresholds[f"deepeval {name}"] = least
        table.append((number, record))
    if not metrics:
        raise unreadable(path, "it holds no metric of a single answer")
    found = _wide(path, "deepeval", table, [*metrics], how)
    low, high = how.scale
    found.thresholds = {name: (least - low) / (high - low) for name, least in thresholds.items()}
    talks = run.get("conversationalTestCases")
    if isinstance(talks, list) and talks:
        found.left_out.append(counted(len(talks), "conversation"))
    return found


def _sample(record: Record, scores: set[str], ids: Sequence[str] = _IDS) -> Sample:
    """The texts of a row, as far as they can be read; what else it has is metadata."""
    rest = {n: v for n, v in record.items() if n not in scores}
    name = _text(record, ids)
    with suppress(InvalidSampleError):
        found = Sample.from_record(rest)
        return found.model_copy(update={"id": name})
    texts = {field: _text(record, ALIASES[field]) for field in ("input", "response", "reference")}
    return Sample(id=name, metadata=rest, **texts)


def _put(row: Row, name: str, value: Any, error: str, how: Importing, where: str) -> None:
    """One score of a row, or why there is none."""
    score = None if error else how.score(value, where)
    row.scores[name] = score
    if score is None:
        absent = value is None or value == "" or value != value  # noqa: PLR0124  # nan
        row.reasons[name] = error or ("no score in the file" if absent else f"{value} in the file")


def _error(record: Record, column: str) -> str:
    """What stands beside a score as its error; empty where nothing does."""
    for name in (f"{column}_error", "error"):
        value = record.get(name)
        if isinstance(value, str) and value.strip().lower() not in MISSING | {"false", "0"}:
            return value
    return ""


def _number(value: Any) -> float | None:
    """A cell as a float, nan where it is empty; None where it is no number."""
    cell = value.strip() if isinstance(value, str) else value
    if cell is None or cell == "":
        return math.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        return float(cell)
    except OverflowError:
        return math.inf
    except ValueError:
        return None


def _is_numeric(cells: Sequence[Any], *, may_be_empty: bool) -> bool:
    numbers = [_number(cell) for cell in cells]
    if any(number is None for number in numbers):
        return False
    return may_be_empty or any(number is not None and math.isfinite(number) for number in numbers)


def _text(record: Record, names: Sequence[str]) -> str | None:
    """The first of these fields that holds text, or a whole number as ids may be."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
            return str(int(value))
    return None


def _first(record: Any, *names: str) -> Any:
    found = (record.get(name) for name in names) if _is_record(record) else ()
    return next((value for value in found if value is not None), None)


def parse_spec(spec: str) -> tuple[str, str, tuple[str, ...] | None]:
    """The parts of ``[NAME=]PATH[::COLUMN,...]``; an existing path with an = in it is a path.

    Raises:
        InvalidValueError: No path, or an empty name.

    >>> parse_spec("ours=scores.csv::a,b"), parse_spec("scores.csv")
    (('ours', 'scores.csv', ('a', 'b')), ('', 'scores.csv', None))
    """
    rest, _, listed = spec.partition("::")
    columns = tuple(column.strip() for column in listed.split(",") if column.strip()) or None
    name, equals, path = rest.partition("=")
    if not equals or Path(rest).expanduser().exists():
        name, path = "", rest
    if not path.strip() or (equals and path != rest and not name.strip()):
        msg = f"{spec!r} names no file; write PATH, NAME=PATH or PATH::COLUMN,COLUMN"
        raise InvalidValueError(msg)
    return name.strip(), path, columns


def own_rows(found: Imported) -> Iterator[tuple[str, Row]]:
    """Rows under their own ids, ``row-N`` without one, for a file that stands alone.

    >>> rows = [Row(1, Sample(id="a")), Row(2, Sample())]
    >>> [name for name, _ in own_rows(Imported("x.csv", "scores", [], rows))]
    ['a', 'row-2']
    """
    for place, row in enumerate(found.rows, start=1):
        yield row.sample.id or f"row-{place}", row

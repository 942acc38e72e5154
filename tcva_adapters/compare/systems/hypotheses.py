"""Hypotheses about systems, written down before the test: a small JSON or CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from tcva_adapters.compare.systems.table import SystemTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.records import ROW_WORDS, format_of, read_records, unreadable
from tcva_adapters.stats.holm import all_of, any_of, holm
from tcva_adapters.stats.randomisation import TukeyHSD

Direction = Literal["greater", "less", "different"]
Join = Literal["all", "any"]
Chances = Literal["comparisons", "metrics"]

_FIELDS: Final = {"name", "pairs", "metrics", "direction", "join", "chances"}
_COLUMNS: Final = {"hypothesis", "first", "second", "metric", "direction", "join", "chances"}


@dataclass(frozen=True, slots=True)
class Expectation:
    """Two systems under one metric.

    Attributes:
        metric: Its name.
        first: One system.
        second: The other.
        direction: What is expected of the first one's mean.
    """

    metric: str
    first: str
    second: str
    direction: Direction


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One or several comparisons with one answer.

    Attributes:
        name: In tables.
        comparisons: At least one.
        join: ``all`` holds where every comparison does, ``any`` where at least one does.
        chances: For ``any``: what the smallest p is multiplied by: the number of comparisons, or
            that of metrics (Tukey's test has corrected the pairs of a metric already).
    """

    name: str
    comparisons: tuple[Expectation, ...]
    join: Join = "all"
    chances: Chances = "comparisons"


@dataclass(frozen=True, slots=True)
class HypothesisResult:
    """A hypothesis after its test.

    Attributes:
        hypothesis: What was tested.
        differences: ``first - second`` of each comparison.
        ps: The p of each comparison, one-sided where a direction was expected.
        p: Joined.
        adjusted: By Holm, over all hypotheses.
        supported: Whether it is at most alpha.
    """

    hypothesis: Hypothesis
    differences: tuple[float, ...]
    ps: tuple[float, ...]
    p: float
    adjusted: float
    supported: bool


def read_hypotheses(path: str | Path, table: SystemTable) -> list[Hypothesis]:
    """Read hypotheses and check that the table has their systems and metrics.

    JSON is a list of objects: ``name``, ``pairs`` (a list of two systems each), and optionally
    ``metrics`` (all of the table), ``direction`` (``greater``, ``less``, or ``different``, the
    default), ``join`` (``all`` or ``any``; needed where there are several comparisons) and
    ``chances``. CSV has a row for each comparison, with the columns ``hypothesis``, ``first`` and
    ``second``, and optionally ``metric``, ``direction``, ``join`` and ``chances``; rows of one name
    belong together.

    Raises:
        UnreadableInputError: The file cannot be read, or an entry is not as above.
        InvalidValueError: A system or metric that the table does not have, or an unknown suffix.
    """
    kind = format_of(path)
    entries: list[tuple[str, dict[str, Any]]] = []
    for line, record, error in read_records(path, kind):
        where = f"{path}, {ROW_WORDS[kind]} {line}"
        if record is None:
            raise unreadable(where, error)
        entries.append((where, record))
    if not entries:
        raise unreadable(str(path), "it holds no hypothesis")
    tabular = kind in ("csv", "parquet")
    found = _of_rows(entries, table) if tabular else [_of_object(w, e, table) for w, e in entries]
    names = [hypothesis.name for hypothesis in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise unreadable(str(path), f"two hypotheses are named {twice!r}")
    return found


def check_hypotheses(
    hypotheses: Sequence[Hypothesis],
    tests: Mapping[str, TukeyHSD],
    systems: Sequence[str],
    *,
    alpha: float,
) -> list[HypothesisResult]:
    """Join each hypothesis' comparisons and correct for the number of hypotheses.

    Args:
        hypotheses: All that are tested together.
        tests: Tukey's test of each metric.
        systems: The columns of these tests.
        alpha: A hypothesis is supported where its adjusted p is at most this.
    """
    single = [[_of_pair(c, tests[c.metric], systems) for c in h.comparisons] for h in hypotheses]
    joined = []
    for hypothesis, pairs in zip(hypotheses, single, strict=True):
        ps = [p for _, p in pairs]
        metrics = len({c.metric for c in hypothesis.comparisons})
        chances = metrics if hypothesis.chances == "metrics" else len(ps)
        joined.append(all_of(ps) if hypothesis.join == "all" else any_of(ps, chances=chances))
    adjusted = holm(joined).tolist()
    return [
        HypothesisResult(
            hypothesis,
            tuple(difference for difference, _ in pairs),
            tuple(p for _, p in pairs),
            p,
            corrected,
            corrected <= alpha,
        )
        for hypothesis, pairs, p, corrected in zip(
            hypotheses, single, joined, adjusted, strict=True
        )
    ]


def _of_pair(
    comparison: Expectation, test: TukeyHSD, systems: Sequence[str]
) -> tuple[float, float]:
    i, j = systems.index(comparison.first), systems.index(comparison.second)
    difference = float(test.differences[i, j])
    if comparison.direction == "different":
        return difference, float(test.p[i, j])
    better, worse = (i, j) if comparison.direction == "greater" else (j, i)
    return difference, test.one_sided(better, worse)


def _of_object(where: str, entry: Mapping[str, Any], table: SystemTable) -> Hypothesis:
    _check_fields(where, entry, _FIELDS)
    name, pairs = entry.get("name"), entry.get("pairs")
    if not isinstance(name, str) or not name.strip():
        raise unreadable(where, f"name is {name!r}; give the hypothesis a name")
    if not isinstance(pairs, list) or not pairs:
        raise unreadable(where, f'pairs is {pairs!r}; give a list such as [["a", "b"]]')
    metrics = entry.get("metrics", list(table.metrics))
    metrics = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(metrics, list) or not metrics:
        raise unreadable(where, f"metrics is {metrics!r}; give a list, or leave it out for all")
    comparisons = []
    for metric in metrics:
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise unreadable(where, f"a pair is {pair!r}; it is a list of two systems")
            first, second = map(str, pair)
            direction = entry.get("direction", "different")
            comparisons.append(_comparison(where, str(metric), first, second, direction, table))
    return _hypothesis(where, name, comparisons, entry.get("join"), entry.get("chances"))


def _of_rows(
    entries: Sequence[tuple[str, Mapping[str, Any]]], table: SystemTable
) -> list[Hypothesis]:
    together: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for where, row in entries:
        _check_fields(where, row, _COLUMNS)
        for column in ("hypothesis", "first", "second"):
            if not row.get(column):
                raise unreadable(where, f"{column!r} is empty")
        together.setdefault(str(row["hypothesis"]), []).append((where, row))
    found = []
    for name, rows in together.items():
        comparisons = [
            _comparison(
                where,
                metric,
                str(row["first"]),
                str(row["second"]),
                row.get("direction") or "different",
                table,
            )
            for where, row in rows
            for metric in ([str(row["metric"])] if row.get("metric") else table.metrics)
        ]
        settings = []
        for column in ("join", "chances"):
            values = {str(row[column]) for _, row in rows if row.get(column)}
            if len(values) > 1:
                raise unreadable(
                    rows[0][0], f"{name!r} has several values of {column}: {sorted(values)}"
                )
            settings.append(next(iter(values), None))
        found.append(_hypothesis(rows[0][0], name, comparisons, *settings))
    return found


def _comparison(
    where: str, metric: str, first: str, second: str, direction: Any, table: SystemTable
) -> Expectation:
    if direction not in get_args(Direction):
        raise unreadable(
            where, f"direction is {direction!r}; there are {', '.join(get_args(Direction))}"
        )
    if first == second:
        raise unreadable(where, f"{first!r} is compared with itself")
    for kind, name, known in (
        ("metric", metric, table.metrics),
        ("system", first, table.systems),
        ("system", second, table.systems),
    ):
        if name not in known:
            msg = f"{where}: no {kind} {name!r} in the scores; there are {', '.join(known)}"
            raise InvalidValueError(msg)
    return Expectation(metric, first, second, direction)


def _hypothesis(
    where: str, name: str, comparisons: Sequence[Expectation], join: Any, chances: Any
) -> Hypothesis:
    if join is None and len(comparisons) > 1:
        raise unreadable(
            where, f"{name!r} joins {len(comparisons)} comparisons; say join: all, or join: any"
        )
    chosen: dict[str, Any] = {"join": join or "all", "chances": chances or "comparisons"}
    for field, allowed in (("join", get_args(Join)), ("chances", get_args(Chances))):
        if chosen[field] not in allowed:
            raise unreadable(where, f"{field} is {chosen[field]!r}; there are {', '.join(allowed)}")
    if len(set(comparisons)) < len(comparisons):
        raise unreadable(where, f"{name!r} has the same comparison twice")
    return Hypothesis(name, tuple(comparisons), **chosen)


def _check_fields(where: str, entry: Mapping[str, Any], known: set[str]) -> None:
    unknown = entry.keys() - known
    if unknown:
        raise unreadable(
            where, f"unknown field {min(unknown)!r}; fields are {', '.join(sorted(known))}"
        )

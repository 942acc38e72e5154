"""Hypotheses about systems, written down before the test: a small JSON or CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, get_args

from tcva_adapters.compare.systems.table import SystemTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.records import ROW_WORDS, format_of, read_records, unreadable
from tcva_adapters.stats.holm import all_of, any_of, holm
from tcva_adapters.stats.pairwise import PairwiseTest

Direction = Literal["greater", "less", "different"]
Join = Literal["all", "any"]
Chances = Literal["comparisons", "metrics"]

_FIELDS: Final = {"name", "pairs", "metrics", "direction", "join", "chances"}
_NEEDED: Final = ("hypothesis", "first", "second")
_COLUMNS: Final = {*_NEEDED, "metric", "direction", "join", "chances"}

_Rows = list[tuple[str, Mapping[str, Any]]]


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
            that of metrics (the test has corrected the pairs of a metric already).
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
    tabular = kind in ("csv", "parquet")
    together: dict[str, _Rows] = {}
    for line, record, error in read_records(path, kind):
        if record is None:
            raise unreadable(path, error, line=line, word=ROW_WORDS[kind])
        where = f"{path}, {ROW_WORDS[kind]} {line}"
        unknown = record.keys() - (_COLUMNS if tabular else _FIELDS)
        if unknown:
            known = ", ".join(sorted(_COLUMNS if tabular else _FIELDS))
            raise unreadable(where, f"unknown field {min(unknown)!r}; fields are {known}")
        rows = [record] if tabular else list(_expanded(where, record, table.metrics))
        lacking = [name for name in _NEEDED if not rows[0].get(name)]
        if lacking:
            raise unreadable(where, f"{lacking[0]!r} is empty")
        name = str(rows[0]["hypothesis"])
        if name in together and not tabular:
            raise unreadable(path, f"two hypotheses are named {name!r}")
        together.setdefault(name, []).extend((where, row) for row in rows)
    if not together:
        raise unreadable(path, "it holds no hypothesis")
    return [_hypothesis(name, rows, table) for name, rows in together.items()]


def check_hypotheses(
    hypotheses: Sequence[Hypothesis],
    tests: Mapping[str, PairwiseTest],
    systems: Sequence[str],
    *,
    alpha: float,
) -> list[HypothesisResult]:
    """Join each hypothesis' comparisons and correct for the number of hypotheses.

    Args:
        hypotheses: All that are tested together.
        tests: That of all pairs, of each metric.
        systems: The columns of these tests.
        alpha: A hypothesis is supported where its adjusted p is at most this.
    """
    found = []
    for hypothesis in hypotheses:
        pairs = [_of_pair(c, tests[c.metric], systems) for c in hypothesis.comparisons]
        differences, ps = zip(*pairs, strict=True)
        metrics = len({c.metric for c in hypothesis.comparisons})
        chances = metrics if hypothesis.chances == "metrics" else len(ps)
        p = all_of(ps) if hypothesis.join == "all" else any_of(ps, chances=chances)
        found.append(HypothesisResult(hypothesis, differences, ps, p, p, supported=False))
    adjusted = holm([each.p for each in found]).tolist()
    return [
        replace(each, adjusted=corrected, supported=corrected <= alpha)
        for each, corrected in zip(found, adjusted, strict=True)
    ]


def _of_pair(
    comparison: Expectation, test: PairwiseTest, systems: Sequence[str]
) -> tuple[float, float]:
    i, j = systems.index(comparison.first), systems.index(comparison.second)
    difference = float(test.differences[i, j])
    if comparison.direction == "different":
        return difference, float(test.p[i, j])
    better, worse = (i, j) if comparison.direction == "greater" else (j, i)
    return difference, test.one_sided(better, worse)


def _expanded(
    where: str, entry: Mapping[str, Any], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """An object of a JSON file as the rows that say the same."""
    name, pairs, chosen = entry.get("name"), entry.get("pairs"), entry.get("metrics", metrics)
    chosen = [chosen] if isinstance(chosen, str) else chosen
    if not isinstance(name, str) or not name.strip():
        raise unreadable(where, f"name is {name!r}; give the hypothesis a name")
    if not isinstance(pairs, list) or not pairs:
        raise unreadable(where, f'pairs is {pairs!r}; give a list such as [["a", "b"]]')
    if not isinstance(chosen, list | tuple) or not chosen:
        raise unreadable(where, f"metrics is {chosen!r}; give a list, or leave it out for all")
    settings = {key: entry[key] for key in ("direction", "join", "chances") if key in entry}
    for metric, pair in product(chosen, pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise unreadable(where, f"a pair is {pair!r}; it is a list of two systems")
        sides = {"first": str(pair[0]), "second": str(pair[1])}
        yield {"hypothesis": name, **sides, "metric": str(metric), **settings}


def _hypothesis(name: str, rows: _Rows, table: SystemTable) -> Hypothesis:
    where = rows[0][0]
    comparisons = [
        _comparison(place, str(metric), row, table)
        for place, row in rows
        for metric in ([row["metric"]] if row.get("metric") else table.metrics)
    ]
    chosen: dict[str, Any] = {}
    for field, allowed in (("join", get_args(Join)), ("chances", get_args(Chances))):
        given = [row[field] for _, row in rows if row.get(field)]
        if any(value != given[0] for value in given):
            said = sorted(set(map(str, given)))
            raise unreadable(where, f"{name!r} has several values of {field}: {said}")
        if given and given[0] not in allowed:
            raise unreadable(where, f"{field} is {given[0]!r}; there are {', '.join(allowed)}")
        chosen |= {field: given[0]} if given else {}
    if "join" not in chosen and len(comparisons) > 1:
        why = f"{name!r} joins {len(comparisons)} comparisons; say join: all, or join: any"
        raise unreadable(where, why)
    if len(set(comparisons)) < len(comparisons):
        raise unreadable(where, f"{name!r} has the same comparison twice")
    return Hypothesis(name, tuple(comparisons), **chosen)


def _comparison(where: str, metric: str, row: Mapping[str, Any], table: SystemTable) -> Expectation:
    first, second = str(row["first"]), str(row["second"])
    direction: Any = row.get("direction") or "different"
    directions = get_args(Direction)
    if direction not in directions:
        raise unreadable(where, f"direction is {direction!r}; there are {', '.join(directions)}")
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

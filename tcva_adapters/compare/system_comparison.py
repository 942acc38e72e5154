"""Several systems on the same queries: means, tests of all pairs, discriminative power."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final, cast, get_args

import numpy as np

from tcva_adapters.compare.agreement.method_tables import mean
from tcva_adapters.compare.scores.block import Block
from tcva_adapters.compare.scores.readers import read_blocks
from tcva_adapters.compare.scores.reading import Reading
from tcva_adapters.compare.scores.table import ScoreTable, check_groups
from tcva_adapters.core.temperature import Temperatures, check_temperature
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.samples.sources import unreadable
from tcva_adapters.stats.checks import FloatArray, check_level, group_codes, one_of
from tcva_adapters.stats.correlation import Measure, agreement, fisher_average
from tcva_adapters.stats.describe import TIES, as_shown, describe
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.inference import DETECTABLE
from tcva_adapters.stats.pairs import Pairs, PairsTest, asl_curve, studentised, tukey
from tcva_adapters.tables import (
    Column,
    Record,
    Records,
    Report,
    Table,
    cell,
    counted,
    named_columns,
    p_text,
)

Hypotheses = str | Path | Sequence[Mapping[str, Any]]
"""A JSON file of a list, or the list; see `systems`."""

_Tables = dict[str, ScoreTable]
"""By metric, with a method per system."""

_Tests = dict[str, Pairs]
"""Of all pairs of systems, by metric or by the name of the test."""

TEMPERATURES: Final = (0.1, 0.5, 0.9)
_CORRELATIONS: Final[tuple[Measure, ...]] = ("pearson", "spearman", "kendall")
_DIRECTIONS: Final = ("different", "greater", "less")
_METRICS: Final = named_columns(
    metric="text",
    queries="int",
    significant="int",
    pairs="int",
    discriminative_power="share",
)
_SCORES: Final = (
    *named_columns(
        metric="text",
        system="text",
        n="int",
        mean="score",
        median="score",
        variance="score",
        minimum="score",
        maximum="score",
    ),
    Column("ties", "share", "share of pairs of answers with equal scores"),
)
_PAIRS: Final = (
    *named_columns(
        metric="text",
        higher="text",
        lower="text",
        difference="score",
    ),
    Column("p", "p", "corrected for all pairs of the metric"),
    Column("p_tukey", "p", "assumes equal variances"),
    Column("detectable", "score", DETECTABLE),
)


def systems(
    source: Any,
    *,
    metrics: Sequence[str] = (),
    temperatures: Temperatures = TEMPERATURES,
    system: str | None = None,
    group: str | None = None,
    hypotheses: Hypotheses = (),
    test: PairsTest = "studentised",
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Describe every metric, test all pairs of systems under it, and test hypotheses. No call.

    Two tests of all pairs are made, both corrected for the number of pairs:
    ``studentised``, which lets systems spread differently (`stats.pairs`), and ``tukey``, as
    the CCRS paper has it. By group, systems change places in all queries of a group
    at once; a query that some system has no score for is left out then.

    Args:
        source: By metric, a table of queries with a method per system; or what `read_systems` takes.
        metrics: These alone; ``faithfulness`` takes it at every temperature.
        temperatures: For judgements.
        system: The metadata field, or column, that names the system.
        group: The same of what queries belong to (a document).
        hypotheses: A JSON file of a list, or the list: ``name``, ``pairs`` (two systems each), and
            optionally ``metrics`` (all), ``direction`` (``greater``, ``less`` or ``different``, the
            default), ``join`` (``all`` or ``any``; needed for several comparisons) and ``chances``
            (of ``any``: what the smallest p is multiplied by, ``comparisons`` or ``metrics``).
        test: Which p is read for what is significant, for hypotheses and discriminative power.
        alpha: Level of the tests, for each metric over all its pairs.
        resamples: Draws of either test per metric.
        seed: Of the draws.

    Returns:
        The tables ``means`` (a system in each row), ``metrics`` (``discriminative_power``: the share
        of pairs that differ significantly; ``asl``: the p of all pairs, ascending), ``hypotheses`` (corrected by
        Holm), ``scores`` (of each system and metric, with ``ties``), ``pairs``, and
        ``correlations`` of metrics, averaged over systems by Fisher's z.

    Raises:
        InvalidSampleError: Fewer than two systems, or no metric under which a query has scores of
            two of them (with groups, of all). Such a metric is left out where there are others.
        InvalidValueError: A setting out of range; a hypothesis about what is not there.
        MissingDependencyError: scipy is not installed.
        UnreadableInputError: As for `read_systems`.

    >>> scores = np.array([[0.9, 0.1]] * 8)
    >>> table = ScoreTable(tuple("abcdefgh"), ("new", "old"), scores)
    >>> round(systems({"qr": table}, test="tukey").records("pairs")[0]["p"], 3)
    0.008
    """
    one_of("test", test, get_args(PairsTest))
    check_level(alpha)
    tables, notes = _comparable(_read(source, metrics, temperatures, system, group))
    drawn: dict[str, Any] = {
        "alpha": alpha,
        "permutations": resamples,
        "seed": seed,
    }
    found: _Tests = {}
    rows, pairs, scores = list[Record](), list[Record](), list[Record]()
    for metric, table in tables.items():
        tested = _by_group(table)
        both = {
            "studentised": studentised(tested, **drawn),
            "tukey": tukey(tested, **drawn),
        }
        read = found[metric] = both[test]
        of_metric = _pairs(metric, table.methods, both, read)
        pairs += sorted(of_metric, key=lambda pair: -pair["difference"])
        rows.append(
            {
                "metric": metric,
                "queries": len(table),
                **_significant(read, alpha),
            }
        )
        scores += [
            {
                "metric": metric,
                "system": s,
                **describe(of),
            }
            for s, of in table.columns
        ]
        if why := both["studentised"].reason:
            notes.append(f"{metric}: some pairs have no studentised p: {why}.")
    means = {(row["metric"], row["system"]): row["mean"] for row in scores}
    made = [
        Table(
            "means",
            [Column("system"), *(Column(m, "score") for m in tables)],
            _wide(means),
        ),
        Table("metrics", _METRICS, rows),
        _hypotheses(hypotheses, found, tables, alpha),
        Table("scores", _SCORES, scores, detail=True, notes=[TIES]),
        Table("pairs", _PAIRS, pairs, detail=True),
        _correlations(tables),
    ]
    return Report(
        _sentence(rows, means, pairs, alpha), made, notes, {"test": test, **drawn}
    )


def _significant(tested: Pairs, alpha: float) -> Record:
    """How many pairs of systems differ significantly under a metric."""
    asl = asl_curve(tested)
    return {
        "significant": int((asl < alpha).sum()),
        "pairs": len(asl),
        "discriminative_power": mean(asl < alpha),
        "asl": asl,
    }


def _wide(means: Mapping[tuple[str, str], float]) -> list[Record]:
    """A row for each system, with a column for each metric."""
    rows: dict[str, Record] = {}
    for (metric, system), value in means.items():
        rows.setdefault(system, {"system": system})[metric] = value
    return list(rows.values())


def _read(
    source: Any,
    metrics: Sequence[str],
    temperatures: Temperatures,
    system: str | None,
    group: str | None,
) -> _Tables:
    if isinstance(source, Mapping) and all(
        isinstance(t, ScoreTable) for t in source.values()
    ):
        tables = dict(source)
    else:
        at = [check_temperature(temperature) for temperature in temperatures]
        tables = read_systems(
            source,
            temperatures=at,
            system=system,
            group=group,
        )
    names = {metric: {metric, metric.rpartition(" T=")[0]} for metric in tables}
    for wanted in metrics:
        if not any(wanted in own for own in names.values()):
            msg = f"no metric {wanted!r}; the metrics are {', '.join(tables)}"
            raise InvalidValueError(msg)
    return {
        m: table for m, table in tables.items() if not metrics or names[m] & {*metrics}
    }


def _comparable(tables: _Tables) -> tuple[_Tables, list[str]]:
    """The metrics that can be compared, without queries that nobody has, and what is to be said."""
    used: _Tables = {}
    notes = list(
        dict.fromkeys(note for table in tables.values() for note in table.notes)
    )
    for metric, table in tables.items():
        known = np.isfinite(table.scores).sum(axis=1)
        needed = max(2, len(table.methods) if table.groups else 2)
        if not (known >= needed).any():
            few = counted(needed, "system")
            notes.append(f"{metric} is left out: no query has scores of {few}.")
            continue
        compared = used[metric] = table.select(known > 0)
        missing = {
            name: int(np.isnan(scores).sum()) for name, scores in compared.columns
        }
        gaps = [f"{name} {number}" for name, number in missing.items() if number]
        if gaps:
            of = counted(len(compared), "query", "queries")
            notes.append(f"{metric}: some of {of} have no score ({', '.join(gaps)}).")
        if table.groups:
            groups = counted(len(set(table.groups)), "group")
            notes.append(
                f"{metric}: tests count {groups}, over queries that all systems have scored."
            )
    if not used:
        names = sorted({name for table in tables.values() for name in table.methods})
        msg = (
            f"got one system, {', '.join(names)}; give two or more: NAME=FILE NAME=FILE"
        )
        if len(names) > 1:
            msg = f"no query has scores of two systems ({', '.join(names)}); give the same ids in each"
        raise InvalidSampleError(msg)
    return used, notes


def _by_group(table: ScoreTable) -> FloatArray:
    """What is tested: a row for each query, or the scaled sum of each group of queries.

    If systems do not differ, they might as well have changed places in all queries of a group at
    once; the differences of these rows are those of the means.
    """
    if not table.groups:
        return table.scores
    whole = np.asarray(np.isfinite(table.scores).all(axis=1))
    codes = group_codes(table.groups, whole)
    sums = np.zeros((codes.max() + 1, len(table.methods)))
    np.add.at(sums, codes, table.scores[whole])
    return sums * (len(sums) / np.count_nonzero(whole))


def _pairs(
    metric: str,
    systems: Sequence[str],
    tests: _Tests,
    read: Pairs,
) -> Iterator[Record]:
    """Every pair of systems, the higher mean less the lower, with the p of both tests."""
    for i, j in combinations(range(len(systems)), 2):
        apart = float(read.differences[i, j])
        higher, lower = (i, j) if apart >= 0.0 else (j, i)
        yield {
            "metric": metric,
            "higher": systems[higher],
            "lower": systems[lower],
            "difference": abs(apart),
            "p": read.p[i, j],
            "detectable": read.smallest[i, j],
            **{f"p_{name}": found.p[i, j] for name, found in tests.items()},
        }


def _correlations(tables: _Tables) -> Table:
    """Of every two metrics, averaged over systems."""
    records = []
    for first, second in combinations(tables, 2):
        one, other = tables[first], tables[second]
        places = {sample: place for place, sample in enumerate(other.samples)}
        both = [place for place, sample in enumerate(one.samples) if sample in places]
        theirs = [places[sample] for sample in one.samples if sample in places]
        common = [name for name in one.methods if name in other.methods]
        record: Record = {"metric": first, "other_metric": second}
        for measure in _CORRELATIONS if common else ():
            sides = [(one.column(s)[both], other.column(s)[theirs]) for s in common]
            found = np.array(
                [agreement(measure, *as_shown(measure, each)).value for each in sides]
            )
            record |= {
                measure: fisher_average(found),
                "systems": int(np.isfinite(found).sum()),
            }
        records.append(record)
    columns = named_columns(
        metric="text",
        other_metric="text",
        pearson="score",
        spearman="score",
        kendall="score",
        systems="int",
    )
    note = "averaged over systems by Fisher's z, without systems whose scores are all equal"
    return Table("correlations", columns, records, detail=True, notes=[note, TIES])


def _hypotheses(
    given: Hypotheses,
    tests: _Tests,
    tables: _Tables,
    alpha: float,
) -> Table:
    """Each hypothesis with the p of its comparisons joined, corrected by Holm over all of them."""
    where, entries = "hypotheses", cast("Any", given)
    if isinstance(given, str | Path):
        where = str(given)
        try:
            entries = json.loads(Path(given).expanduser().read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise unreadable(
                where, f"it is no JSON list of hypotheses: {error}"
            ) from None
    records = []
    for number, entry in enumerate(entries, start=1):
        try:
            records.append(_hypothesis(entry, tests, tables))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            wanted = "a hypothesis is {'name': 'a beats b', 'pairs': [['a', 'b']], ...}"
            raise unreadable(
                where, f"{what}; {wanted}", line=number, word="item"
            ) from None
    correct_p(records)
    for record in records:
        record["supported"] = "yes" if record["p_corrected"] <= alpha else "no"
    columns = named_columns(
        hypothesis="text",
        joins="text",
        p="p",
        p_corrected="p",
        supported="text",
    )
    return Table("hypotheses", columns, records)


def _hypothesis(entry: Mapping[str, Any], tests: _Tests, tables: _Tables) -> Record:
    if unknown := entry.keys() - {
        "name",
        "pairs",
        "metrics",
        "direction",
        "join",
        "chances",
    }:
        msg = f"unknown field {min(unknown)!r}"
        raise ValueError(msg)
    name, metrics = entry["name"], entry.get("metrics", list(tables))
    direction = entry.get("direction", "different")
    join, chances = entry.get("join", ""), entry.get("chances", "comparisons")
    one_of("direction", direction, _DIRECTIONS)
    one_of("chances", chances, ("comparisons", "metrics"))
    ps = []
    for metric, (first, second) in product(metrics, entry["pairs"]):
        one_of("metric", metric, list(tables))
        names = tables[metric].methods
        one_of("system", first, names)
        one_of("system", second, names)
        i, j = names.index(first), names.index(second)
        i, j = (j, i) if direction == "less" else (i, j)
        test = tests[metric]
        ps.append(
            float(test.p[i, j]) if direction == "different" else test.one_sided(i, j)
        )
    if len(ps) > 1:
        one_of("join", join, ("all", "any"))
    p = (
        float(np.max(ps))  # every one of them has to be significant on its own
        if join != "any"
        else min(
            1.0,
            len(metrics if chances == "metrics" else ps) * float(np.fmin.reduce(ps)),
        )
    )
    joins = f"{join} of {len(ps)} comparisons" if len(ps) > 1 else "1 comparison"
    return {
        "hypothesis": name,
        "joins": joins,
        "p": p,
    }


def _sentence(
    rows: Records,
    means: Mapping[tuple[str, str], float],
    pairs: Records,
    alpha: float,
) -> str:
    """Which system has the highest mean, and whether the difference to the next is significant."""
    row = max(rows, key=lambda row: row["significant"])
    metric = row["metric"]
    own = {
        name: m for (of, name), m in means.items() if of == metric and not math.isnan(m)
    }
    first, second = sorted(own, key=lambda name: -own[name])[:2]
    apart = (p for p in pairs if {p["higher"], p["lower"]} == {first, second})
    pair = next(p for p in apart if p["metric"] == metric)
    most = (
        ", which finds most differences,"
        if len(rows) > 1 and row["significant"]
        else ""
    )
    names = [f"{name} ({cell(own[name], 'score')})" for name in (first, second)]
    if own[first] == own[second]:
        return f"By {metric}{most} {first} and {second} have the same mean, {cell(own[first], 'score')}."
    said = f"By {metric}{most} {names[0]} is best, {names[1]} next."
    queries = counted(row["queries"], "query", "queries")
    of = f" {row['significant']} of {row['pairs']} pairs differ significantly."
    of = of if row["pairs"] > 1 else ""
    if math.isnan(pair["p"]):
        return f"{said} There are too few queries for a test."
    if pair["p"] < alpha:
        return f"{said} The difference is significant ({p_text(pair['p'])}, {queries}).{of}"
    shows = cell(pair["detectable"], "score")
    shown = (
        f"; {queries} detect one of {shows}"
        if pair["detectable"] > 0.0
        else f", {queries}"
    )
    return f"{said} The difference is not significant ({p_text(pair['p'])}{shown}).{of}"


def read_systems(
    source: Any,
    *,
    temperatures: Sequence[float] = TEMPERATURES,
    system: str | None = None,
    group: str | None = None,
) -> _Tables:
    """Scores of several systems on the same queries: by metric, a table with a method per system.

    Args:
        source: See `read_scores`. A system is named by NAME of NAME=PATH, by the file's name, or by
            ``system``; tables may have a column ``system``.
        temperatures: For judgements, whose metric is the criterion at each of them.
        system: The metadata field, or column, of the system.
        group: What queries belong to.

    Raises:
        InvalidValueError: Two scores of one system for one query under one metric.
        UnreadableInputError: See `read_scores`, as for further errors.
    """
    how = Reading(
        group=group,
        split=system,
        of_systems=True,
        skip_bad=None,
    )
    blocks = read_blocks(source, how)
    judges: dict[str, set[str]] = {}
    cells: dict[str, dict[str, dict[str, float]]] = {}
    groups: dict[str, Hashable] = {}
    for block in blocks:
        judges.setdefault(block.called, set()).add(block.judge)
        groups |= zip(block.rows.names, block.rows.groups, strict=False)
        if not (found := list(_metrics(block, temperatures))):
            msg = f"no scores in {block.called}; judge its samples first: tcva evaluate --out FILE"
            raise InvalidSampleError(msg)
        for metric, scores in found:
            column = cells.setdefault(metric, {}).setdefault(block.called, {})
            if twice := column.keys() & block.rows.names.keys():
                msg = (
                    f"system {block.called!r} has two scores for query {min(twice)!r} under "
                    f"{metric!r}; give each system a name (NAME=FILE)"
                )
                raise InvalidValueError(msg)
            column |= zip(block.rows.names, scores.tolist(), strict=True)
    if len(set(map(frozenset, judges.values()))) > 1:
        said = "; ".join(
            f"{name}: {', '.join(sorted(of))}" for name, of in judges.items()
        )
        how.notes.append(
            f"The systems have different judges, which may explain differences: {said}."
        )
    tables = {}
    for metric, columns in cells.items():
        names = tuple(
            dict.fromkeys(name for column in columns.values() for name in column)
        )
        scores = np.array(
            [[c.get(name, math.nan) for c in columns.values()] for name in names]
        )
        own = tuple(groups.get(name, name) for name in names) if groups else ()
        notes = tuple(how.notes)
        tables[metric] = ScoreTable(
            names, tuple(columns), scores, groups=own, notes=notes
        )
        if group is not None:
            check_groups(tables[metric], group)
    return tables


def _metrics(
    block: Block, temperatures: Sequence[float]
) -> Iterator[tuple[str, FloatArray]]:
    """Scores by metric; of judgements one at each temperature."""
    table = block.table()
    if table.counts is None:
        yield from table.columns
    else:
        for temperature in temperatures:
            yield f"{block.criterion} T={temperature:g}", table.at(temperature)

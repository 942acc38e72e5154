"""Scores of several systems on the same queries: a table by metric, with a method per system."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tcva_adapters.compare.scores.imported.rows import ImportSettings
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.compare.scores.ratings import (
    NEEDS_HUMAN,
    Ratings,
    Scale,
    check_unused,
)
from tcva_adapters.compare.scores.reading_options import Reading, ReadingOptions
from tcva_adapters.compare.scores.score_reader import read_parts
from tcva_adapters.compare.scores.table import ScoreTable, check_groups
from tcva_adapters.compare.scores.table_part import TablePart
from tcva_adapters.core.checks import as_list
from tcva_adapters.core.temperature import Temperatures, check_temperature
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.tables import counted

SystemTables = dict[str, ScoreTable]
"""Tables by metric, with a method per system."""

HUMAN = "human"
"""The table of human ratings among those of metrics."""

TEMPERATURES = (0.1, 0.5, 0.9)


def read_systems(
    source: Any,
    *,
    temperatures: Temperatures = TEMPERATURES,
    system: str | None = None,
    group: str | None = None,
    human: str | Path | None = None,
    human_scale: Scale | None = None,
) -> SystemTables:
    """Read scores of several systems on the same queries: a table by metric, a method per system.

    Args:
        source: See `read_scores`. A system is named by NAME of NAME=PATH, by the file's name, or by
            ``system``; tables may have a column ``system``.
        temperatures: Temperatures for judgements, whose metrics are the criterion at each of them.
        system: The metadata field, or column, of the system.
        group: The metadata field, or column, of the queries' groups.
        human: Ratings of the systems' answers, of all or some: fields of the samples' metadata,
            columns, or a file of labels (see `Ratings.find`) with the ids ``SYSTEM/ID``. They make
            another table, ``human``.
        human_scale: The lowest and the highest rating that could be given: these become 0 and 1.

    Raises:
        InvalidValueError: A system has two scores for one query under one metric, no sample has a
            rating, or one lies outside the scale.
        UnreadableInputError: See `read_scores`, also for further errors.
    """
    grid = [
        check_temperature(temperature)
        for temperature in as_list("temperatures", temperatures)
    ]
    scale = human_scale or (0.0, 1.0)
    ratings = None
    importing = ImportSettings()
    if human is not None:
        ratings = Ratings.find(human, scale)
        importing = ImportSettings(human=ratings.raters)
    options = ReadingOptions(
        group=group,
        importing=importing,
        human_scale=scale,
        split=system,
        of_systems=True,
        skip_bad=None,
    )
    reading = Reading(options, ratings)
    judges: dict[str, set[str]] = {}
    cells: dict[str, dict[str, dict[str, float]]] = {}
    groups: dict[str, Hashable] = {}
    for part in read_parts(source, reading):
        name = part.label
        queries = part.names
        judges.setdefault(name, set()).add(part.judge)
        groups |= zip(queries, part.groups, strict=False)
        metrics = _metrics(part, grid)
        if not metrics:
            raise InvalidSampleError(
                f"no scores in {name}; judge its samples first: tcva evaluate --out FILE"
            )
        for metric, scores in metrics.items():
            column = cells.setdefault(metric, {}).setdefault(name, {})
            twice = column.keys() & queries.keys()
            if twice and metric != HUMAN:
                raise InvalidValueError(
                    f"system {name!r} has two scores for query {min(twice)!r} under "
                    f"{metric!r}; give each system a name (NAME=FILE)"
                )
            column |= zip(queries, scores, strict=True)
    different = set(map(frozenset, judges.values()))
    if len(different) > 1:
        by_system = [f"{name}: {', '.join(sorted(j))}" for name, j in judges.items()]
        reading.notes.append(
            "The systems have different judges, which may explain differences: "
            f"{'; '.join(by_system)}."
        )
    judged = JudgedBy(judge=", ".join(sorted(frozenset().union(*different))))
    if reading.ratings is None:
        check_unused(NEEDS_HUMAN, human_scale=human_scale)
    else:
        reading.notes += reading.ratings.notes(sum(map(len, cells[HUMAN].values())))

    tables = {}
    for metric, columns in cells.items():
        names = dict.fromkeys(name for column in columns.values() for name in column)
        rows = [[c.get(name, math.nan) for c in columns.values()] for name in names]
        tables[metric] = table = ScoreTable(
            samples=tuple(names),
            methods=tuple(columns),
            scores=np.array(rows),
            groups=tuple(groups.get(name, name) for name in names) if groups else (),
            notes=tuple(reading.notes),
            judged=judged,
        )
        check_groups(table, group)
    return tables


def _metrics(part: TablePart, temperatures: Sequence[float]) -> dict[str, FloatArray]:
    """Return scores, and ratings, by metric; judgements give one metric per temperature."""
    table = part.table()
    metrics = dict(table.columns)
    if table.counts is not None:
        metrics = {f"{part.criterion} T={t:g}": table.at(t) for t in temperatures}
    if metrics and part.human:
        metrics[HUMAN] = table.rating
    return metrics


def select_metrics(tables: SystemTables, metrics: Sequence[str]) -> SystemTables:
    """Select the tables of some metrics, and that of ratings; ``f`` is ``f`` at every temperature.

    Raises:
        InvalidValueError: An unknown metric.
    """
    names = {
        metric: {metric, metric.rpartition(" T=")[0]}
        for metric in tables
        if metric != HUMAN
    }
    if unknown := {*metrics}.difference(*names.values()):
        raise InvalidValueError(
            f"no metric {min(unknown)!r}; the metrics are {', '.join(names)}"
        )
    return {
        m: t for m, t in tables.items() if names.get(m, {HUMAN}) & {*metrics, HUMAN}
    }


def comparable(tables: SystemTables) -> tuple[SystemTables, list[str]]:
    """Select the metrics that can be compared, without queries that nobody has, with notes.

    Raises:
        InvalidSampleError: No metric can be compared.
    """
    compared = {}
    notes = list(
        dict.fromkeys(note for table in tables.values() for note in table.notes)
    )
    for metric, table in tables.items():
        known = np.isfinite(table.scores).sum(axis=1)
        needed = max(2, len(table.methods)) if table.groups else 2
        if not (known >= needed).any():
            few = counted(needed, "system")
            notes.append(f"{metric} is left out: no query has scores of {few}.")
            continue
        used = compared[metric] = table.select(known > 0)
        missing = np.isnan(used.scores).sum(axis=0)
        gaps = [
            f"{name} {n}" for name, n in zip(used.methods, missing, strict=True) if n
        ]
        if gaps:
            queries = counted(len(used), "query", "queries")
            notes.append(
                f"{metric}: some of {queries} have no score ({', '.join(gaps)})."
            )
        if table.groups:
            groups = counted(len(set(table.groups)), "group")
            notes.append(
                f"{metric}: tests count {groups}, over queries that all systems have scored."
            )
    if not compared:
        names = sorted({name for table in tables.values() for name in table.methods})
        listed = ", ".join(names)
        msg = f"got fewer than two systems ({listed or 'none'}); give two or more: NAME=FILE NAME=FILE"
        if len(names) > 1:
            msg = f"no query has scores of two systems ({listed}); give the same ids in each"
        raise InvalidSampleError(msg)
    return compared, notes

"""What a command prints, as data of the page: its sentence, texts, and tables of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcva_adapters import tables
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.compare.validation import validate
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.printing import Part, Report, Table
from tcva_adapters.report.content import Content

Section = list[Any]
"""A sentence, and parts: texts, and tables with ``head``, ``rows`` and ``kinds``."""

_LEAST = 10
"""Ratings from which on a page says something of them."""


def section_of(report: Report | tables.Report) -> Section:
    """A report as its command prints it.

    >>> from tcva_adapters.compare import sweep
    >>> section_of(sweep([[1, 0, 0, 0, 0]], [0.5]))[2]
    {'head': ['T', 'default'], 'rows': [['0.5', '1.000']], 'kinds': 'rr'}
    """
    if isinstance(report, tables.Report):
        parts = [part for table in report.tables if table.records for part in _of_table(table)]
        return [report.sentence, *parts, *report.notes]
    return [report.sentence, *(part for each in report.parts() for part in _part(each))]


def _of_table(table: tables.Table) -> list[Any]:
    head = [column.heading for column in table.columns]
    kinds = "".join("l" if column.kind in {"text", "prose"} else "r" for column in table.columns)
    return [table.title, {"head": head, "rows": table.cells(), "kinds": kinds}, *table.notes]


def _part(part: Part) -> list[Any]:
    if isinstance(part, Table):
        kinds = "".join(map(part.kind, range(len(part.header))))
        head = [name.replace("\n", " ") for name in part.header]
        return [{"head": head, "rows": [list(row) for row in part.rows], "kinds": kinds}]
    text = (part if isinstance(part, str) else part.text).strip()
    return [text] if text else []


def rated_sections(content: Content) -> dict[str, Section]:
    """What the human ratings say of the first run at its settings, by the name of the view.

    Nothing for fewer than ten samples with a score and a rating, and without scipy.
    """
    human = content.human
    if human is None or not content.runs:
        return {}
    run = content.runs[0]
    places = [i for i, s in enumerate(content.samples) if s.id in run.assessments]
    names = [content.samples[i].id or "" for i in places]
    results = [run.result(run.assessments[name]) for name in names]
    low, high = human.ends
    scores = [np.nan if result.score is None else result.score for result in results]
    table = ScoreTable(
        tuple(names),
        (run.name,),
        np.array(scores, dtype=np.float64)[:, None],
        (np.array([human.ratings.get(name, np.nan) for name in names]) - low) / (high - low),
        groups=() if content.groups is None else tuple(content.groups[i] for i in places),
        thresholds={run.name: run.scoring.threshold},
        results={run.name: results},
    )
    if int((np.isfinite(table.scores[:, 0]) & np.isfinite(table.rating)).sum()) < _LEAST:
        return {}
    try:
        return {"errors": section_of(validate(table, resamples=2000))}
    except (InvalidValueError, MissingDependencyError):
        return {}

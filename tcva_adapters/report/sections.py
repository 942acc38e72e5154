"""What a command prints, as data of the page: its sentence, texts, and tables of texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tcva_adapters.compare.errors.analysis import errors_of
from tcva_adapters.printing import Part, Report, Table
from tcva_adapters.report.content import Content

Section = list[Any]
"""A sentence, and parts: texts, and tables with ``head``, ``rows`` and ``kinds``."""


def section_of(report: Report, parts: Iterable[Part] | None = None) -> Section:
    """A report as its command prints it.

    Args:
        report: It.
        parts: What of it is shown; by default all.

    >>> from tcva_adapters.compare import sweep
    >>> section_of(sweep([[1, 0, 0, 0, 0]], [0.5]))[2]
    {'head': ['T', 'default'], 'rows': [['0.5', '1.000']], 'kinds': 'rr'}
    """
    shown = report.parts() if parts is None else parts
    return [report.sentence, *(part for each in shown for part in _part(each))]


def _part(part: Part) -> list[Any]:
    if isinstance(part, Table):
        kinds = "".join(map(part.kind, range(len(part.header))))
        head = [name.replace("\n", " ") for name in part.header]
        return [{"head": head, "rows": [list(row) for row in part.rows], "kinds": kinds}]
    text = (part if isinstance(part, str) else part.text).strip()
    return [text] if text else []


def errors_section(content: Content) -> Section | None:
    """Where the first run's scores are wrong, at its settings; None without enough human ratings."""
    human = content.human
    if human is None or not content.runs:
        return None
    run = content.runs[0]
    samples = [sample for sample in content.samples if sample.id in run.assessments]
    results = (run.result(run.assessments[sample.id or ""]) for sample in samples)
    found = errors_of(results, samples, human.ratings, run.scoring, human.ends)
    return None if found is None else section_of(found, found.figures())

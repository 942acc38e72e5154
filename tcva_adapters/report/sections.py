"""What a command prints, as data of the page: its sentence, texts, and tables of texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tcva_adapters.compare.errors.analysis import errors_of
from tcva_adapters.compare.estimate_samples import RatedSamples
from tcva_adapters.compare.estimating import estimated
from tcva_adapters.printing import Part, Report, Table
from tcva_adapters.report.content import Content
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import numbers

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


def rated_sections(content: Content) -> dict[str, Section]:
    """What the human ratings say of the first run at its settings, by the name of the view.

    Where its scores are wrong, and, where only some samples are rated, what humans would say of all
    of them; neither without enough ratings.
    """
    human = content.human
    if human is None or not content.runs:
        return {}
    run = content.runs[0]
    samples = [sample for sample in content.samples if sample.id in run.assessments]
    results = [run.result(run.assessments[sample.id or ""]) for sample in samples]
    groups = content.groups
    known = None if groups is None else dict(zip(_ids(content.samples), groups, strict=True))
    errors = errors_of(results, samples, human.ratings, run.scoring, human.ends, known)
    if errors is None:
        return {}
    sections = {"errors": section_of(errors, errors.figures())}
    ratings = [human.ratings.get(sample.id or "", math.nan) for sample in samples]
    if any(map(math.isnan, ratings)):
        scores = [math.nan if result.score is None else result.score for result in results]
        own = None if known is None else [known[name] for name in _ids(samples)]
        assessments = [result.assessment for result in results]
        judged = RatedSamples.of(assessments, ratings, group=own)
        rated = replace(
            judged,
            scoring=run.scoring,
            scores=numbers("scores", scores),
            human=human.name or judged.human,
        )
        sections["estimate"] = section_of(estimated(rated, human_scale=human.ends))
    return sections


def _ids(samples: Iterable[Sample]) -> Iterator[str]:
    return (sample.id or "" for sample in samples)

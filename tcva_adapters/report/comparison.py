"""A comparison as the content of a report, from the object or from the folder that it was saved in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.rows import Row
from tcva_adapters.compare.running.details import SampleDetails, stream_details
from tcva_adapters.compare.running.folder import ASSESSMENTS, DETAILS, SCORES, SETTINGS, SUMMARY
from tcva_adapters.compare.running.run import tcva_name
from tcva_adapters.compare.running.write import stream_csv
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.printing import counted
from tcva_adapters.report.content import SCALE, Content, FixedMethod, Human, Run, Said
from tcva_adapters.report.existing import unmatched_text
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.files import stream_assessments
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.samples.output import usable_path


def of_comparison(found: Comparison, title: str) -> Content:
    """What a comparison shows."""
    judged = [result.assessment for result in found.results]
    return _content(title, found.to_dict(), found.rows, judged, [*found.details()])


def is_folder_of_comparison(path: str | Path) -> bool:
    """Whether this is a folder that `Comparison.save` wrote."""
    return (usable_path(path) / SUMMARY).is_file()


def of_folder(folder: str | Path, title: str) -> Content:
    """What a comparison shows, read from its folder.

    Raises:
        UnreadableInputError: A file is missing, damaged, or another version's.
    """
    where = usable_path(folder)
    try:
        figures = json.loads((where / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        msg = f"{where / SUMMARY} cannot be read: {error}; run the comparison again"
        raise UnreadableInputError(msg) from None
    rows = stream_csv(where / SCORES)
    judged = list(stream_assessments(where / ASSESSMENTS))
    details = list(stream_details(where / DETAILS))
    try:
        return _content(title, figures, rows, judged, details)
    except (LookupError, TypeError, AttributeError, ValidationError, InvalidValueError) as error:
        msg = f"{folder} is no comparison's of this version ({error}); run the comparison again"
        raise UnreadableInputError(msg) from None


def _content(
    title: str,
    figures: Mapping[str, Any],
    rows: Iterable[Row],
    judged: Sequence[Assessment],
    details: Sequence[SampleDetails],
) -> Content:
    settings = figures[SETTINGS]
    temperatures = tuple(figures["temperatures"])
    dial = {name: settings[name] for name in ScoringConfig.model_fields if name in settings}
    middle = temperatures[len(temperatures) // 2]
    run = Run(
        name=f"{figures['criterion']} by {figures['judge']}",
        assessments={each.sample_id or "": each for each in judged},
        scoring=ScoringConfig(**{**dial, "temperature": middle}),
        temperatures=temperatures,
        profiles=settings["profiles"],
    )
    ratings = {each.sample.id or "": each.human for each in details if each.human is not None}
    return Content(
        title=title,
        sentence=figures["sentence"],
        samples=[each.sample for each in details],
        runs=(run,),
        methods=tuple(_methods(figures, rows, partial(_said, details))),
        human=Human(ratings, settings["human"]) if ratings else None,
        notes=tuple(_notes(figures)),
    ).by_group(settings["group"])


def _said(details: Sequence[SampleDetails], method: str) -> Mapping[str, Said]:
    """What a method said of each sample."""
    said = {
        each.sample.id or "": Said(each.verdicts.get(method, ()), each.reasons.get(method, ""))
        for each in details
    }
    return {name: each for name, each in said.items() if each != Said()}


def _methods(
    figures: Mapping[str, Any], rows: Iterable[Row], said: Callable[[str], Mapping[str, Said]]
) -> Iterator[FixedMethod]:
    scores: dict[str, dict[str, float | None]] = {}
    unscored: dict[str, dict[str, str]] = {}
    for row in rows:
        scores.setdefault(row.method, {})[row.sample] = row.score
        if row.score is None:
            unscored.setdefault(row.method, {})[row.sample] = row.unscored
    ours = set(map(tcva_name, figures["temperatures"]))
    versions = figures[SETTINGS]["metrics"]
    limits = {one["method"]: one["threshold"] for one in figures["methods"]}
    for name, own in scores.items():
        if name in ours:
            continue
        framework, _, metric = name.partition(" ")
        if name in versions:
            known = FRAMEWORKS[framework].metrics.get(metric)
            scale = SCALE if known is None else known.scale
        else:
            scale, framework = SCALE, _kind(name, figures)
        yield FixedMethod(
            name=name,
            scores=own,
            framework=framework,
            version=versions.get(name),
            scale=scale,
            threshold=limits[name],
            unscored=unscored.get(name, {}),
            said=said(name),
        )


def _kind(name: str, figures: Mapping[str, Any]) -> str:
    if name in figures["fused"]:
        return "fused"
    imported = any(name in one["methods"] for one in figures["imported"])
    return "imported" if imported else "tcva"


def _notes(figures: Mapping[str, Any]) -> Iterator[str]:
    run = figures["run"]
    if run["skipped"]:
        yield f"{counted(run['skipped'], 'line')} of the samples' file left out"
    yield from run["left_out"]
    for one in figures["imported"]:
        names = ", ".join(one["methods"])
        source, on = Path(one["source"]).name, counted(one["matched"], "sample")
        said = f"{source} ({one['kind']}): {names} on {on}"
        yield "; ".join(filter(None, (said, unmatched_text(len(one["unmatched"])))))
    if figures.get("repeats"):  # as `repeat_report` tells it; folders of earlier runs have none
        yield figures["repeats"]["sentence"]
    if figures.get("panel"):
        yield figures["panel"]["sentence"]
        yield figures["panel"]["best_judge"]["sentence"]
    yield from figures["notes"]

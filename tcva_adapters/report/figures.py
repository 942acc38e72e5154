"""The figures of a report: what the page needs to score every sample at every setting of the dial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from operator import add
from typing import Any, Final

from tcva_adapters import __version__
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS, SCHEMES
from tcva_adapters.printing import shortened
from tcva_adapters.report.content import Content, FixedMethod, Run
from tcva_adapters.report.details import Draw
from tcva_adapters.report.judged import is_lexical
from tcva_adapters.report.plain import plain
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.result import judged_counts
from tcva_adapters.results.scoring import Scoring
from tcva_adapters.samples.sample import Sample

FORMAT: Final = 1
"""Version of the figures' layout, which the page checks."""

UNSCORED, ABSENT = -1, -2
"""In the place of a row: the sample has no score; it is not in this run."""

_QUESTION: Final = 80
_FEWEST, _MOST = 2, 30
_MOST_GROUPS: Final = 12
_Z: Final = 1.959963984540054


def figures_of(content: Content, draw: Draw) -> dict[str, Any]:
    """All figures, as JSON values.

    Args:
        content: What is shown.
        draw: Which samples have their texts in the page.
    """
    places = {sample.id: place for place, sample in enumerate(content.samples)}
    return {
        "format": FORMAT,
        "made_by": f"tcva-adapters {__version__}",
        "title": content.title,
        "sentence": content.sentence,
        "notes": [*content.notes, *draw.notes],
        "levels": [level.value for level in LEVELS],
        "schemes": {name: list(scheme.weights) for name, scheme in SCHEMES.items()},
        "penalties": list(PENALTIES),
        "presets": dict(PRESETS),
        "samples": _samples(content, draw),
        "runs": [_run(run, content.samples, places) for run in content.runs],
        "methods": [_method(method, content.samples, places) for method in content.methods],
        "systems": plain(content.systems),
        "interval": {"level": 0.95, "z": _Z},
    }


def _samples(content: Content, draw: Draw) -> dict[str, Any]:
    samples, human = content.samples, content.human
    return {
        "ids": [sample.id for sample in samples],
        "human": None if human is None else [plain(human.ratings.get(s.id or "")) for s in samples],
        "human_name": None if human is None else human.name,
        "human_scale": None if human is None else list(human.ends),
        "questions": [_shortened(sample.input or "") for sample in samples],
        "groups": _groups(samples, None if human is None else human.name),
        "total": len(samples),
        "drawn": draw.stated,
        "line": draw.lines,
    }


def _shortened(text: str) -> str:
    return shortened(text[: 4 * _QUESTION], _QUESTION)


def _groups(samples: Sequence[Sample], human: str | None) -> dict[str, list[str]]:
    """Metadata fields that part the samples into a few groups, for filters."""
    fields = dict.fromkeys(name for sample in samples for name in sample.metadata)
    found: dict[str, list[str]] = {}
    for name in fields:
        values = [sample.metadata.get(name) for sample in samples]
        if name == human or not all(isinstance(v, str | bool | int | None) for v in values):
            continue
        texts = ["" if value is None else _shortened(str(plain(value))) for value in values]
        different = set(texts) - {""}
        if _FEWEST <= len(different) <= min(_MOST, len(samples) // 2):
            found[name] = texts
        if len(found) == _MOST_GROUPS:
            break
    return found


def _run(run: Run, samples: Sequence[Sample], places: Mapping[str | None, int]) -> dict[str, Any]:
    judged = list(run.assessments.values())
    first = judged[0]
    members = next((each.members for each in judged if each.members), ())
    rows: dict[bytes, int] = {}
    shown: list[list[list[float] | None]] = []
    row = [ABSENT] * len(samples)
    unscored = []
    for name, assessment, counts in zip(
        run.assessments, judged, judged_counts(judged), strict=True
    ):
        place = places[name]
        why = assessment.unscored
        if why is not None:
            row[place] = UNSCORED
            unscored.append([place, why.text, why.reason.is_failure])
            continue
        key = counts.tobytes()
        if key not in rows:
            rows[key] = len(shown)
            shown.append([_counts(each) if any(each) else None for each in counts.tolist()])
        row[place] = rows[key]
    return {
        "name": run.name,
        "criterion": first.criterion,
        "judge": first.judge,
        "prompt_version": first.prompt_version,
        "local": is_lexical(first.judge),
        "settings": settings_of(run.scoring),
        "profiles": None
        if run.profiles is None
        else {"by": run.profiles.by, "values": plain(run.profiles.values)},
        "members": [f"{member.criterion} by {member.judge}" for member in members],
        "rows": shown,
        "row": row,
        "unscored": unscored,
        "temperatures": list(run.temperatures),
        "evidence": EvidenceCounts.of(judged).to_dict(),
        "usage": plain(reduce(add, (each.usage for each in judged), Usage()).model_dump()),
    }


def _counts(counts: list[float]) -> list[float]:
    """Whole numbers as such: they are shorter."""
    return [int(count) if count.is_integer() else count for count in counts]


def settings_of(scoring: Scoring) -> dict[str, Any]:
    """The settings of the dial as JSON values."""
    fusion, mapping = scoring.fusion, scoring.mapping
    published = SCHEMES.get(scoring.scheme.name)
    return {
        "temperature": scoring.temperature,
        "threshold": scoring.threshold,
        "scheme": scoring.scheme.name if published == scoring.scheme else None,
        "weights": list(scoring.scheme.weights),
        "penalty": scoring.penalty,
        "eps": scoring.eps,
        "floor": scoring.floor,
        "on_unscored": scoring.on_unscored,
        "bounds": asdict(scoring.bounds),
        "fusion": {
            "temperature": fusion.temperature,
            "weights": None if fusion.weights is None else list(fusion.weights),
        },
        "mapping": None if mapping is None else {"x": list(mapping.x), "y": list(mapping.y)},
    }


def _method(
    method: FixedMethod, samples: Sequence[Sample], places: Mapping[str | None, int]
) -> dict[str, Any]:
    return {
        "name": method.name,
        "framework": method.framework,
        "version": method.version,
        "scale": list(method.scale),
        "threshold": method.threshold,
        "higher_is_better": True,
        "scores": [plain(method.scores.get(sample.id or "")) for sample in samples],
        "unscored": [[places[name], why] for name, why in method.unscored.items()],
    }

"""The figures of a report: what the page needs to score every sample at every setting of the dial."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

from tcva_adapters import __version__
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS, SCHEMES
from tcva_adapters.printing import shortened
from tcva_adapters.report.content import Content, FixedMethod, Run
from tcva_adapters.report.details import Draw
from tcva_adapters.report.plain import plain
from tcva_adapters.results.assessment import Assessment, Usage
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.settings import Profiles, ScoringConfig

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
        "runs": [_run(run, places) for run in content.runs],
        "methods": [_method(method, places) for method in content.methods],
        "sections": plain(content.sections),
        # Intervals of the normal distribution are of single samples.
        "interval": {"level": 0.95, "z": _Z if content.groups is None else None},
    }


def _samples(content: Content, draw: Draw) -> dict[str, Any]:
    human = content.human
    groups = Groups(None if human is None else human.name)
    ids, ratings, questions = [], [], []
    for sample in content.samples:
        ids.append(sample.id)
        questions.append(_shortened(sample.input or ""))
        groups.add(sample.metadata)
        if human is not None:
            ratings.append(plain(human.ratings.get(sample.id or "")))
    return {
        "ids": ids,
        "human": None if human is None else ratings,
        "human_name": None if human is None else human.name,
        "human_scale": None if human is None else list(human.ends),
        "questions": questions,
        "groups": groups.found,
        "clusters": None if content.groups is None else _numbered(content.groups),
        "total": len(ids),
        "drawn": draw.stated,
        "line": draw.lines,
    }


def _numbered(groups: Sequence[Hashable]) -> list[int]:
    """Groups as numbers from 0 up, in the order in which they come."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(group, len(numbers)) for group in groups]


def _shortened(text: str) -> str:
    return shortened(text[: 4 * _QUESTION], _QUESTION)


class Groups:
    """Metadata fields that part samples, which come one after the other, into a few groups.

    >>> groups = Groups(None)
    >>> for number in range(4):
    ...     groups.add({"domain": "law" if number % 2 else "art", "number": number})
    >>> groups.found
    {'domain': ['art', 'law', 'art', 'law']}
    """

    def __init__(self, human: str | None) -> None:
        """Begin without a sample.

        Args:
            human: The field of the human ratings, which makes no groups.
        """
        self._number = 0
        self._values: dict[str, list[str] | None] = {} if human is None else {human: None}
        self._different: dict[str, dict[str, str]] = {}

    def add(self, metadata: Mapping[str, Any]) -> None:
        """One sample more."""
        for name, value in metadata.items():
            texts = self._values.setdefault(name, [])
            if texts is None:
                continue
            if not isinstance(value, str | bool | int | None):
                self._values[name] = None
                continue
            text = "" if value is None else _shortened(str(plain(value)))
            known = self._different.setdefault(name, {"": ""})
            texts.extend([""] * (self._number - len(texts)))
            texts.append(known.setdefault(text, text))
            if len(known) - 1 > _MOST:
                self._values[name] = None
        self._number += 1

    @property
    def found(self) -> dict[str, list[str]]:
        """The first of these fields, a text for each sample."""
        fit = (
            (name, texts)
            for name, texts in self._values.items()
            if texts is not None
            and _FEWEST <= len(self._different[name]) - 1 <= min(_MOST, self._number // 2)
        )
        return {
            name: [*texts, *[""] * (self._number - len(texts))]
            for name, texts in islice(fit, _MOST_GROUPS)
        }


def _run(run: Run, places: Mapping[str | None, int]) -> dict[str, Any]:
    rows: dict[bytes, int] = {}
    shown: list[list[list[float] | None]] = []
    row = [ABSENT] * len(places)
    unscored = []
    evidence, usage = EvidenceCounts.of(()), Usage()
    members: Sequence[Assessment] = ()
    first = next(iter(run.assessments.values()))
    for name, assessment in run.assessments.items():
        evidence += EvidenceCounts.of((assessment,), run.scoring.evidence)
        usage += assessment.usage
        members = members or assessment.members
        place = places[name]
        why = assessment.unscored
        if why is not None:
            row[place] = UNSCORED
            unscored.append([place, why.text, why.reason.is_failure])
            continue
        counts = judged_counts([run.seen(name)])[0]
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
        "local": first.is_lexical,
        "settings": settings_of(run.scoring),
        "profiles": _profiles(run.profiles),
        "members": [f"{member.criterion} by {member.judge}" for member in members],
        "rows": shown,
        "row": row,
        "unscored": unscored,
        "temperatures": list(run.temperatures),
        "evidence": evidence.to_dict(),
        "usage": plain(usage.model_dump()),
    }


def _profiles(profiles: Profiles | None) -> dict[str, Any] | None:
    """As the page has them: the field, and what differs for each of its values."""
    for field, values in (profiles or {}).items():
        return {"by": field, "values": {each: {"temperature": t} for each, t in values.items()}}
    return None


def _counts(counts: list[float]) -> list[float]:
    """Whole numbers as such: they are shorter."""
    return [int(count) if count.is_integer() else count for count in counts]


def settings_of(scoring: ScoringConfig) -> dict[str, Any]:
    """The settings of the dial as JSON values."""
    published = SCHEMES.get(scoring.scheme.name)
    return {
        "temperature": scoring.temperature,
        "threshold": scoring.threshold,
        "scheme": scoring.scheme.name if published == scoring.scheme else None,
        "weights": list(scoring.scheme.weights),
        "penalty": scoring.penalty,
        "eps": scoring.eps,
        "floor": scoring.floor,
        "evidence": scoring.evidence,
        "on_unscored": scoring.on_unscored,
        "bounds": asdict(scoring.bounds),
        "fuse_weights": scoring.fuse_weights,
    }


def _method(method: FixedMethod, places: Mapping[str | None, int]) -> dict[str, Any]:
    return {
        "name": method.name,
        "framework": method.framework,
        "version": method.version,
        "scale": list(method.scale),
        "threshold": method.threshold,
        "higher_is_better": True,
        "scores": [plain(method.scores.get(name or "")) for name in places],
        "unscored": [[places[name], why] for name, why in method.unscored.items()],
    }

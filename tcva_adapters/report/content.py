"""What a page shows, as JSON: figures of all samples, and the texts of those that there is room for."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, TypeGuard

import numpy as np

from tcva_adapters import __version__
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS, SCHEMES
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.json_values import written_out
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.conversation import conversation_of
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Report, cell, plain, shortened

FORMAT: Final = 4
"""Version of the layout."""

UNSCORED, ABSENT = -1, -2
"""In the place of a row: the sample has no score; it is not in this run."""

SEED: Final = 0
MOST: Final = 10_000
"""Samples whose texts are in a page, unless more are asked for."""

MOST_BYTES: Final = 16_000_000
_LONGEST: Final = {
    "id": 200,
    "question": 80,
    "reason": 300,
}
"""Characters of what the list of samples shows of each."""

_MOST_VALUES: Final = 30
_MOST_GROUPS: Final = 12
_FRAMEWORK: Final = "framework"
_DIGITS: Final = 15
"""Of whole numbers that a browser has, too."""

Json = dict[str, Any]
"""An object of the page, with JSON values."""

_ESCAPED: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Run:
    """Judgements of TCVA that the page shows at any temperature.

    Attributes:
        name: Unlike those of the table's other methods.
        method: Of the table: the one at the settings that the page begins with.
        results: One per sample, None where the sample is not in this run.
        scoring: The settings that the page begins with: those of most results.
    """

    name: str
    method: str
    results: Sequence[Result | None]
    scoring: ScoringConfig


@dataclass(frozen=True)
class Content:
    """Everything that a page shows.

    Attributes:
        title: Of the page.
        table: All scores; its results are the runs.
        samples: The texts, one per row of the table.
        reports: By the view that shows them; the first one's sentence says what came out.
    """

    title: str
    table: ScoreTable
    samples: Sequence[Sample]
    reports: Sequence[tuple[str, Report]] = ()

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The judgements of TCVA, once for all methods that are views of the same."""
        views: dict[tuple[int, ...], list[str]] = {}
        for method in self.table.methods:
            results = self.table.results.get(method, ())
            if any(map(_is_judged, results)):
                judged = (getattr(each, "assessment", None) for each in results)
                views.setdefault(tuple(map(id, judged)), []).append(method)
        runs = []
        for methods in views.values():
            method = methods[len(methods) // 2]
            used = [
                each if _is_judged(each) else None
                for each in self.table.results[method]
            ]
            found = [each for each in used if each is not None]
            ((scoring, _),) = Counter(each.scoring for each in found).most_common(1)
            first = found[0]
            name = (
                method if len(methods) == 1 else f"{first.criterion} by {first.judge}"
            )
            runs.append(Run(name, method, used, scoring))
        return tuple(runs)

    @cached_property
    def fixed(self) -> list[str]:
        """The methods whose scores no temperature changes."""
        of = self.table.results
        return [
            m for m in self.table.methods if not any(map(_is_judged, of.get(m, ())))
        ]

    def only(self, run: Run) -> ScoreTable:
        """The scores of one run, on the samples that it judged."""
        judged = [each is not None for each in run.results]
        table = self.table.select(judged, [run.method])
        return replace(
            table, methods=("score",), thresholds={"score": run.scoring.threshold}
        )


def _is_judged(result: Any) -> TypeGuard[Result]:
    return isinstance(result, Result) and result.prompt_version != _FRAMEWORK


def figures_of(content: Content, lines: Sequence[int], notes: Iterable[str]) -> Json:
    """All figures, as JSON values.

    Args:
        content: What is shown.
        lines: Of each sample, the number of its line of texts; -1 where it has none.
        notes: What else a reader must know.
    """
    table = content.table
    mixed = (
        f"{run.name} has results with several settings; the page shows them all at the most frequent ones"
        for run in content.runs
        if any(each and each.scoring != run.scoring for each in run.results)
    )
    figures = {
        "format": FORMAT,
        "made_by": f"tcva-adapters {__version__}",
        "title": content.title,
        "notes": [*table.notes, *mixed, *notes],
        "levels": [level.value for level in LEVELS],
        "schemes": {name: list(scheme.weights) for name, scheme in SCHEMES.items()},
        "penalties": list(PENALTIES),
        "presets": dict(PRESETS),
        "samples": _samples(content, lines),
        "runs": [
            _run(run, content.table.conversations.values()) for run in content.runs
        ],
        "methods": [_method(table, name) for name in content.fixed],
        "reports": [
            {
                "view": view,
                "sentence": report.sentence,
                "tables": [asdict(table) for table in report.tables],
                "notes": report.notes,
                "gate": _gate(report),
            }
            for view, report in content.reports
        ],
    }
    found: Json = plain(figures)
    return found


def _gate(report: Report) -> Json:
    """The limits that a gate was to keep, and the threshold that keeps them; None where none does."""
    found = report.settings.get("guarantee")
    names = {"at most": "max_false_pass", "at least": "min_true_pass"}
    limits = {word: report.settings.get(name) for word, name in names.items()}
    return {
        "threshold": found and found["setting"]["threshold"],
        "limits": [limit for limit in limits.items() if limit[1] is not None],
    }


def _samples(content: Content, lines: Sequence[int]) -> Json:
    table = content.table
    ratings = table.rating
    rated = ratings[np.isfinite(ratings)]
    return {
        "ids": [_short_id(*each) for each in enumerate(table.samples, start=1)],
        "human": ratings if len(rated) else None,
        "human_scale": scale_of(rated) if len(rated) else None,
        "questions": [_short(each.input or "", "question") for each in content.samples],
        "conversations": [*table.conversations.items()],
        "groups": _groups(
            [written_out(s.metadata) for s in content.samples], table.raters
        ),
        "drawn": -1 in lines,
        "line": list(lines),
    }


def _short(text: str, kind: str) -> str:
    most = _LONGEST[kind]
    return shortened(text[: 4 * most], most)


def _short_id(number: int, name: str) -> str:
    """As it is; what is too long is cut, and numbered so that it stays one of its own."""
    most = _LONGEST["id"]
    return name if len(name) <= most else f"{name[:most]}… #{number}"


def scale_of(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Lowest and highest value that there may be: [0, 1], or what holds values outside of it.

    >>> scale_of(np.array([0.2, 0.9])), scale_of(np.array([1.0, 4.5]))
    ((0.0, 1.0), (1, 5))
    """
    if not len(values) or (values.min() >= 0.0 and values.max() <= 1.0):
        return 0.0, 1.0
    low, high = math.floor(values.min()), math.ceil(values.max())
    return (low, high) if low < high else (min(0, low), max(1, high))


def _groups(metadata: Sequence[Json], raters: Sequence[str]) -> dict[str, list[str]]:
    """Metadata fields that part samples into a few groups: the first of them, a text for each sample."""
    found = {}
    for name in dict.fromkeys(chain.from_iterable(metadata)):
        values = [each.get(name) for each in metadata]
        if name in raters or not all(
            isinstance(v, str | bool | int | None) for v in values
        ):
            continue
        texts = ["" if v is None else _short(str(v), "question") for v in values]
        if 2 <= len({*texts} - {""}) <= min(_MOST_VALUES, len(texts) // 2):
            found[name] = texts
    return dict(islice(found.items(), _MOST_GROUPS))


def _run(run: Run, conversations: Iterable[Sequence[int]]) -> Json:
    """Its judgements as the page shows them: those of the samples, then those of whole conversations."""
    results = [*run.results]
    for turns in conversations:
        judged = [each for place in turns if (each := run.results[place])]
        results.append(ConversationResult(judged) if judged else None)
    there = [(i, each) for i, each in enumerate(results) if each is not None]
    scored = [(i, each) for i, each in there if each.unscored is None]
    views = (Result(each.assessment, run.scoring).seen for _, each in scored)
    rows, numbers = np.unique(judged_counts(views), axis=0, return_inverse=True)
    row = [ABSENT if each is None else UNSCORED for each in results]
    for (i, _), number in zip(scored, numbers.ravel().tolist(), strict=True):
        row[i] = number
    members = next((each.members for _, each in there if each.members), ())
    judges = (there[0][1].assessment, *members)
    return {
        "name": run.name,
        "judges": [f"{each.criterion} by {each.judge}" for each in judges],
        "settings": settings_of(run.scoring),
        "rows": [
            [each if any(each) else None for each in counts] for counts in rows.tolist()
        ],
        "row": row,
        "levels": ["" if each is None else _levels(each) for each in run.results],
        "unscored": [
            [i, _short(why.text, "reason"), run.scoring.for_unscored(why.reason)]
            for i, each in there
            if (why := each.unscored) is not None
        ],
    }


def _levels(result: Result) -> str:
    """The level of each claim as a digit, 0 for fully; nothing of what has no score."""
    verdicts = result.seen.verdicts if result.unscored is None else ()
    return "".join(str(LEVELS.index(verdict)) for verdict in verdicts)


def settings_of(scoring: ScoringConfig) -> Json:
    """The settings of a run as JSON values."""
    found = scoring.model_dump(mode="json", exclude={"scheme", "evidence"})
    return {**found, "weights": list(scoring.scheme.weights)}


def _method(table: ScoreTable, name: str) -> Json:
    scores = table.column(name)
    missing = np.flatnonzero(np.isnan(scores)).tolist()
    metrics = table.run.metrics if table.run else {}
    judged = table.judged_methods.get(name)
    return {
        "name": name,
        "about": metrics.get(name, judged.kind if judged else ""),
        "scale": scale_of(scores[np.isfinite(scores)]),
        "threshold": table.threshold(name),
        "scores": scores,
        "unscored": [
            [i, _short(table.reason(table.samples[i], name), "reason")] for i in missing
        ],
    }


def drawn(content: Content, most: int | None) -> tuple[list[int], list[str], list[str]]:
    """The texts that there is room for: of each sample its line or -1, the lines, and notes.

    Where not all fit, it is in turn the worst sample of the first run (of the first method without
    one; the unscored are worst) and one at random, with seed 0.

    Args:
        content: What is shown.
        most: How many samples; by default 10 000, and 16 MB of text.
    """
    table = content.table
    total = len(table)
    first = [run.method for run in content.runs] or table.methods
    scores = table.column(first[0]) if first else np.zeros(total)
    worst = np.argsort(np.nan_to_num(scores, nan=-math.inf), kind="stable").tolist()
    others = random.Random(SEED).sample(range(total), total)  # noqa: S311  # a draw, no secret
    turns = dict.fromkeys(chain.from_iterable(zip(worst, others, strict=True)))
    room = MOST_BYTES if most is None else math.inf
    texts: dict[int, str] = {}
    for place in turns:
        if len(texts) == (MOST if most is None else most):
            break
        line = inert_json(plain(_detail(content, place)))
        if len(line.encode()) <= room:
            room -= len(line.encode())
            texts[place] = line
    numbers = {place: number for number, place in enumerate(sorted(texts))}
    lines = [numbers.get(place, -1) for place in range(total)]
    notes = [
        f"the texts of {len(texts)} of {total} samples are in this page: in turn those of the worst and of "
        f"one drawn at random (seed {SEED})"
        if texts
        else "the texts of the samples are not in this page"
    ]
    return (
        lines,
        [texts[place] for place in numbers],
        notes if len(texts) < total else [],
    )


def _detail(content: Content, place: int) -> Json:
    """What the page shows of a sample; what there is not is left out."""
    sample, table = content.samples[place], content.table
    methods = {}
    for name in content.fixed:
        result = table.result(name, place)
        said: Json = {}
        if math.isnan(table.column(name)[place]):
            said["reason"] = table.reason(table.samples[place], name)
        elif isinstance(result, CCRSResult):
            said["reason"] = next(
                why for m, why in result.reasons.items() if name.startswith(m)
            )
        elif result is not None:
            said["verdicts"] = [_claim(claim) for claim in result.claims]
        if said:
            methods[name] = said
    metadata = json.dumps(written_out(sample.metadata))
    fields = {"input", "response", "contexts", "reference"}
    if (
        conversation_of(sample.id, sample.metadata) is None
    ):  # else earlier turns say the same
        fields.add("history")
    runs = ((run.name, run.results[place]) for run in content.runs)
    found = {
        **sample.model_dump(include=fields),
        "metadata": json.loads(metadata, parse_int=_whole),
        "runs": {name: _judged_at(result) for name, result in runs if result},
        "methods": methods,
    }
    return {
        name: value
        for name, value in found.items()
        if value is not None and value != {}
    }


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else digits


def _judged_at(result: Result) -> Json:
    """A judgement, and where its score may lie at the setting that the text names."""
    found = _judged(result.seen)
    if result.interval is not None:
        at = f"At T = {result.scoring.temperature:g}, with the 95% interval of its verdicts"
        found["interval"] = f"{at}: {cell(result.score, 'interval', *result.interval)}"
    return found


def _judged(assessment: Assessment) -> Json:
    why = assessment.unscored
    found: Json = {"claims": [_claim(claim) for claim in assessment.claims]}
    if why is not None:
        found["unscored"] = {"reason": why.reason.value, "detail": why.detail}
    panel = "repeats" if assessment.repeats else "panel"
    others = {
        "members": assessment.members,
        panel: assessment.repeats or assessment.panel,
    }
    for kind, judges in others.items():
        for number, each in enumerate(judges, start=1):
            name = f"repeat {number}" if kind == "repeats" else each.judge
            said = {
                "judge": name,
                "criterion": each.criterion,
                **_judged(each),
            }
            found.setdefault(kind, []).append(said)
    return found


def _claim(claim: ClaimVerdict) -> Json:
    return claim.model_dump(
        mode="json",
        exclude_defaults=True,
        exclude={"original_probabilities"},
    )


def inert_json(value: Any) -> str:
    r"""One line of JSON without a character that HTML or a text file could take for something else.

    >>> print(inert_json("</script>&"))
    "\u003c/script\u003e\u0026"
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

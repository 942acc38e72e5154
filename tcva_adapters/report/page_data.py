"""The JSON of a page: figures of all samples, and the texts that there is room for."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import (
    asdict,
    dataclass,
    replace,
)
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from tcva_adapters import __version__
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import (
    LEVELS,
    SCHEMES,
    FloatArray,
)
from tcva_adapters.criteria import CRITERIA, FAITHFULNESS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.served import as_served, removal_text, served_json
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import judged_counts
from tcva_adapters.samples.conversation import conversation_of
from tcva_adapters.samples.json_values import written_out
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import (
    Report,
    Table,
    cell,
    plain,
    shortened,
)

FORMAT = 4
"""Version of the layout."""

UNSCORED = -1
"""The row number of a sample without a score."""

ABSENT = -2
"""The row number of a sample that is not in this run."""

SEED = 0
MAX_SAMPLES = 10_000
"""The most samples whose texts are in a page, unless more are asked for."""

MAX_BYTES = 16_000_000
# The list of samples shows at most so many characters of each text.
_ID = 200
_QUESTION = 80
_REASON = 300

_MAX_VALUES = 30
_MAX_GROUPS = 12
_FRAMEWORK = "framework"
_DIGITS = 15
"""The most digits of whole numbers that a browser represents exactly."""

Json = dict[str, Any]
"""An object of the page, with JSON values."""

_ESCAPED = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PageRun:
    """Judgements of TCVA that the page shows at any temperature.

    Attributes:
        name: A name that no other method of the table has.
        method: The middle one of the table's methods that are views of these judgements.
        criterion: The criterion of the judgements.
        results: One per sample, None where the sample is not in this run.
        scoring: The settings that the page begins with: those of most results.
    """

    name: str
    method: str
    criterion: str
    results: Sequence[Result | None]
    scoring: ScoringConfig


@dataclass(frozen=True)
class Content:
    """Everything that a page shows.

    Attributes:
        title: The title of the page.
        table: All scores; its results are the runs.
        samples: The texts, one per row of the table.
        reports: Each with the view that shows it; the first one's sentence states the outcome.
    """

    title: str
    table: ScoreTable
    samples: Sequence[Sample]
    reports: Sequence[tuple[str, Report]] = ()

    @cached_property
    def runs(self) -> tuple[PageRun, ...]:
        """The runs of TCVA; methods that are views of the same judgements are one run."""
        views: dict[tuple[int, ...], list[str]] = {}
        for method, results in self._judged.items():
            if any(results):
                assessments = [result and result.assessment for result in results]
                views.setdefault(tuple(map(id, assessments)), []).append(method)
        return tuple(map(self._run, views.values()))

    @cached_property
    def fixed(self) -> list[str]:
        """The methods whose scores no temperature changes."""
        return [name for name, results in self._judged.items() if not any(results)]

    @cached_property
    def _judged(self) -> dict[str, list[Result | None]]:
        """The results of TCVA by method; None for other results."""
        return {
            method: [
                result
                if isinstance(result, Result) and result.prompt_version != _FRAMEWORK
                else None
                for result in self.table.results.get(method, ())
            ]
            for method in self.table.methods
        }

    def _run(self, methods: Sequence[str]) -> PageRun:
        """Make the run that these methods are views of."""
        method = methods[len(methods) // 2]
        results = self._judged[method]
        judged = [result for result in results if result]
        ((scoring, _),) = Counter(result.scoring for result in judged).most_common(1)
        criterion = judged[0].criterion
        return PageRun(
            method if len(methods) == 1 else f"{criterion} by {judged[0].judge}",
            method,
            criterion,
            results,
            scoring,
        )

    def only(self, run: PageRun) -> ScoreTable:
        """Return the scores of one run, on the samples that it judged."""
        judged = [result is not None for result in run.results]
        table = self.table.select(judged, [run.method])
        return replace(
            table, methods=("score",), thresholds={"score": run.scoring.threshold}
        )


def page_figures(
    content: Content,
    line_of: Sequence[int],
    notes: Iterable[str],
) -> Json:
    """Return all figures as JSON values.

    Args:
        content: The content of the page.
        line_of: See `Texts`.
        notes: Further notes for the reader.
    """
    table = content.table
    has_texts = max(line_of, default=-1) >= 0
    mixed = [
        f"{run.name} has results with several settings; the page shows them all at the most frequent ones"
        for run in content.runs
        if any(result and result.scoring != run.scoring for result in run.results)
    ]
    figures: Json = plain(
        {
            "format": FORMAT,
            "made_by": f"tcva-adapters {__version__}",
            "title": content.title,
            "notes": [
                *table.notes,
                *mixed,
                *notes,
            ],
            "levels": [level.value for level in LEVELS],
            "schemes": {name: scheme.weights for name, scheme in SCHEMES.items()},
            "penalties": PENALTIES,
            "presets": PRESETS,
            "samples": _samples(content, line_of),
            "runs": [_run(run, content) for run in content.runs],
            "methods": [_method(table, name) for name in content.fixed],
            "faults": [
                [claim[name] for name in ("row", "of", "place", "cause", "passages")]
                for view, report in content.reports
                if view == "diagnosis"
                for claim in report.table("claims").records
            ],
            "reports": [
                {
                    "view": view,
                    "sentence": report.sentence,
                    "tables": [
                        asdict(table)
                        for table in report.tables
                        if _is_shown(table, has_texts=has_texts)
                    ],
                    "notes": report.notes,
                    "gate": _gate(report),
                }
                for view, report in content.reports
            ],
        }
    )
    return figures


def _is_shown(table: Table, *, has_texts: bool) -> bool:
    """Whether the page shows a table: texts of claims only beside other texts, and those with causes in a view."""
    names = {column.name for column in table.columns}
    return "claim" not in names or (has_texts and "cause" not in names)


def _gate(report: Report) -> Json:
    """Return the limits of a guarantee, and the threshold that keeps them (None if none does)."""
    settings = report.settings
    guarantee = settings.get("guarantee")
    names = {"at most": "max_false_pass", "at least": "min_true_pass"}
    return {
        "threshold": guarantee and guarantee["setting"]["threshold"],
        "isRecommended": settings.get("recommended") is not None,
        "limits": [
            (word, settings[name])
            for word, name in names.items()
            if settings.get(name) is not None
        ],
    }


def _samples(content: Content, line_of: Sequence[int]) -> Json:
    table = content.table
    ratings = table.rating
    rated = ratings[np.isfinite(ratings)]
    return {
        "ids": [
            # A name that is too long is cut, and numbered so that it stays unique.
            name if len(name) <= _ID else f"{name[:_ID]}… #{number}"
            for number, name in enumerate(table.samples, start=1)
        ],
        "human": ratings if len(rated) else None,
        "human_scale": scale_of(rated) if len(rated) else None,
        "questions": [_short(s.input or "", _QUESTION) for s in content.samples],
        "conversations": [*table.conversations.items()],
        "groups": _groups(
            [written_out(s.metadata) for s in content.samples], table.raters
        ),
        "drawn": -1 in line_of,
        "line": line_of,
    }


def _short(text: str, most: int) -> str:
    return shortened(text[: 4 * most], most)


def scale_of(values: FloatArray) -> tuple[float, float]:
    """Return the ends of the scale: 0 and 1, or whole numbers around values outside of [0, 1].

    >>> scale_of(np.array([0.2, 0.9])), scale_of(np.array([1.0, 4.5]))
    ((0.0, 1.0), (1, 5))
    """
    if not len(values) or (values.min() >= 0.0 and values.max() <= 1.0):
        return 0.0, 1.0
    low = math.floor(values.min())
    high = math.ceil(values.max())
    return (low, high) if low < high else (min(0, low), max(1, high))


def _groups(metadata: Sequence[Json], raters: Sequence[str]) -> dict[str, list[str]]:
    """Return the first metadata fields that split samples into a few groups, a text per sample."""
    groups = {}
    for name in dict.fromkeys(chain.from_iterable(metadata)):
        values = [fields.get(name) for fields in metadata]
        are_plain = all(isinstance(v, str | bool | int | None) for v in values)
        if name in raters or not are_plain:
            continue
        texts = ["" if v is None else _short(str(v), _QUESTION) for v in values]
        if 2 <= len({*texts} - {""}) <= min(_MAX_VALUES, len(texts) // 2):
            groups[name] = texts
    return dict(islice(groups.items(), _MAX_GROUPS))


def _run(run: PageRun, content: Content) -> Json:
    """Return a run as JSON: the judgements of the samples, then those of whole conversations."""
    results: list[Result | ConversationResult | None] = [*run.results]
    for rows in content.table.conversations.values():
        turns = [result for row in rows if (result := run.results[row])]
        results.append(ConversationResult(turns) if turns else None)
    judged = [(place, result) for place, result in enumerate(results) if result]
    scored = [(place, result) for place, result in judged if not result.unscored]
    views = (Result(result.assessment, run.scoring).seen for _, result in scored)
    counts, numbers = np.unique(judged_counts(views), axis=0, return_inverse=True)
    row_of = [UNSCORED if result else ABSENT for result in results]
    for (place, _), number in zip(scored, numbers.ravel().tolist(), strict=True):
        row_of[place] = number
    members = next((result.members for _, result in judged if result.members), ())
    criterion = CRITERIA.get(run.criterion, FAITHFULNESS)
    return {
        "name": run.name,
        "criterion": run.criterion,
        "claims": criterion.claims,
        "against": criterion.against,
        "judges": [
            f"{judgement.criterion} by {judgement.judge}"
            for judgement in (judged[0][1].assessment, *members)
        ],
        "settings": settings_of(run.scoring),
        "served": removal_text(
            [
                as_served(result, sample)
                for result, sample in zip(run.results, content.samples, strict=True)
                if result
            ]
        ),
        "rows": [
            [levels if any(levels) else None for levels in row]
            for row in counts.tolist()
        ],
        "row": row_of,
        "levels": [_levels(result) if result else "" for result in run.results],
        "unscored": [
            [place, _short(why.text, _REASON), run.scoring.for_unscored(why.reason)]
            for place, result in judged
            if (why := result.unscored)
        ],
    }


def _levels(result: Result) -> str:
    """Return the level of each claim as a digit, 0 for ``fully``; empty without a score."""
    verdicts = () if result.unscored else result.seen.verdicts
    return "".join(str(LEVELS.index(verdict)) for verdict in verdicts)


def settings_of(scoring: ScoringConfig) -> Json:
    """Return the settings of a run as JSON values."""
    return {
        **scoring.model_dump(mode="json", exclude={"scheme", "evidence"}),
        "weights": list(scoring.scheme.weights),
    }


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
            [row, _short(table.reason(table.samples[row], name), _REASON)]
            for row in missing
        ],
    }


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that a page has room for.

    Attributes:
        lines: A line of JSON for each sample with texts.
        line_of: The number of each sample's line; -1 if it has none.
        notes: Notes for the reader.
    """

    lines: Sequence[str]
    line_of: Sequence[int]
    notes: Sequence[str]


def texts_of(content: Content, most: int | None) -> Texts:
    """Choose the texts that there is room for.

    If not all fit, samples are chosen in turn: the worst of the first run (of the first method if
    there is no run; unscored samples are the worst), and one at random, with seed 0.

    Args:
        content: The content of the page.
        most: The most samples; by default 10 000, and 16 MB of text.
    """
    table = content.table
    total = len(table)
    first = [run.method for run in content.runs] or table.methods
    scores = table.column(first[0]) if first else np.zeros(total)
    worst = np.argsort(np.nan_to_num(scores, nan=-math.inf), kind="stable").tolist()
    others = random.Random(SEED).sample(range(total), total)  # noqa: S311  # a draw, no secret
    turns = dict.fromkeys(chain.from_iterable(zip(worst, others, strict=True)))

    limit = MAX_SAMPLES if most is None else most
    room = MAX_BYTES if most is None else math.inf
    line_by_row: dict[int, str] = {}
    for row in turns:
        if len(line_by_row) == limit:
            break
        sample = content.samples[row]
        if sum(map(len, (sample.response or "", *(sample.contexts or ())))) > room:
            continue
        line = inert_json(plain(_detail(content, row)))
        size = len(line.encode())
        if size <= room:
            room -= size
            line_by_row[row] = line
    rows = sorted(line_by_row)
    numbers = {row: number for number, row in enumerate(rows)}
    note = "the texts of the samples are not in this page"
    if rows:
        note = (
            f"the texts of {len(rows)} of {total} samples are in this page: in turn those of the worst and of "
            f"one drawn at random (seed {SEED})"
        )
    return Texts(
        lines=[line_by_row[row] for row in rows],
        line_of=[numbers.get(row, -1) for row in range(total)],
        notes=[note] if len(rows) < total else [],
    )


def _detail(content: Content, row: int) -> Json:
    """Return what the page shows of a sample; empty fields are left out."""
    sample = content.samples[row]
    methods = {
        name: shown
        for name in content.fixed
        if (shown := _method_at(content.table, name, row))
    }
    metadata = json.dumps(written_out(sample.metadata))
    fields = {"input", "response", "contexts", "reference"}
    if conversation_of(sample.id, sample.metadata) is None:
        fields.add("history")  # in a conversation, earlier turns contain it
    runs = ((run.name, run.results[row]) for run in content.runs)
    detail = {
        **sample.model_dump(include=fields),
        "metadata": json.loads(metadata, parse_int=_whole),
        "runs": {name: _judgement(result, sample) for name, result in runs if result},
        "methods": methods,
    }
    return {name: value for name, value in detail.items() if value not in (None, {})}


def _method_at(
    table: ScoreTable,
    method: str,
    row: int,
) -> Json:
    """Return a method's verdicts on a sample, or the reason for its score or for no score."""
    result = table.result(method, row)
    if math.isnan(table.column(method)[row]):
        return {"reason": table.reason(table.samples[row], method)}
    if isinstance(result, CCRSResult):
        reasons = result.reasons.items()
        return {"reason": next(why for m, why in reasons if method.startswith(m))}
    return {} if result is None else {"verdicts": [*map(_claim, result.claims)]}


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else digits


def _judgement(result: Result, sample: Sample) -> Json:
    """Return a judgement, with the interval of its score at the setting that the text names."""
    values = _verdicts(result.seen)
    values["served"] = served_json(result, sample)
    with suppress(InvalidValueError):  # only claims judged against contexts rest on any
        values["passages"] = [(use.id, use.claims) for use in result.passages(sample)]
        values["citations"] = [
            (part.place, part.marks, part.cited, part.found, part.outcome)
            for part in result.citations(sample).parts
        ]
    if result.interval is not None:
        place = f"At T = {result.scoring.temperature:g}, with the 95% interval of its verdicts"
        interval = cell(result.score, "interval", *result.interval)
        values["interval"] = f"{place}: {interval}"
    return values


def _verdicts(assessment: Assessment) -> Json:
    """Return the claims of a judgement, and those of its members, repeats or panel."""
    values: Json = {"claims": [*map(_claim, assessment.claims)]}
    if why := assessment.unscored:
        values["unscored"] = {
            "reason": why.reason.value,
            "detail": why.detail,
        }
    repeats = assessment.repeats
    parts = {
        "members": assessment.members,
        "repeats": repeats,
        "panel": () if repeats else assessment.panel,
    }
    for kind, judgements in parts.items():
        if judgements:
            values[kind] = [
                {
                    "judge": f"repeat {number}" if kind == "repeats" else part.judge,
                    "criterion": part.criterion,
                    **_verdicts(part),
                }
                for number, part in enumerate(judgements, start=1)
            ]
    return values


def _claim(claim: ClaimVerdict) -> Json:
    return claim.model_dump(
        mode="json",
        exclude_defaults=True,
        exclude={"original_probabilities"},
    )


def inert_json(value: object) -> str:
    r"""Write a line of JSON without characters that HTML or a text file would interpret.

    >>> print(inert_json("</script>&"))
    "\u003c/script\u003e\u0026"
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

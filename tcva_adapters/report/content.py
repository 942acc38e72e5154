"""What a page shows, as JSON: figures of all samples, and the texts of those that there is room for."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final

import numpy as np

from tcva_adapters import __version__
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.core.verdicts import LEVELS, SCHEMES
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, written_out
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Report, cell, plain, shortened

FORMAT: Final = 2
"""Version of the layout."""

UNSCORED, ABSENT = -1, -2
"""In the place of a row: the sample has no score; it is not in this run."""

SEED: Final = 0
MOST: Final = 10_000
"""Samples whose texts are in a page, unless more are asked for."""

MOST_BYTES: Final = 16_000_000
_LONGEST: Final = {"id": 200, "question": 80, "reason": 300}
"""Characters of what the list of samples shows of each."""

_GROUP: Final = 80
_MOST_VALUES: Final = 30
_MOST_GROUPS: Final = 12
_FRAMEWORK: Final = "framework"
_LARGEST_WHOLE: Final = 2**53
_ESCAPED: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Run:
    """Judgements of TCVA that the page shows at any temperature.

    Attributes:
        name: Unlike those of the table's other methods.
        method: Of the table: the one at the settings that the page begins with.
        results: One per sample, None where the sample is not in this run.
        scoring: The settings that the page begins with.
        is_mixed: Whether some results have other settings.
    """

    name: str
    method: str
    results: Sequence[Result | None]
    scoring: ScoringConfig
    is_mixed: bool

    @property
    def judged(self) -> list[Result]:
        """Those that there are."""
        return [result for result in self.results if result is not None]


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
            results = self.table.results[method]
            found = [each for each in results if isinstance(each, Result)]
            scorings = Counter(each.scoring for each in found)
            first = found[0].assessment
            name = methods[0] if len(methods) == 1 else f"{first.criterion} by {first.judge}"
            scoring = scorings.most_common(1)[0][0]
            kept = [each if isinstance(each, Result) else None for each in results]
            runs.append(Run(name, method, kept, scoring, len(scorings) > 1))
        return tuple(runs)

    @cached_property
    def fixed(self) -> list[str]:
        """The methods whose scores no temperature changes."""
        of = self.table.results
        return [m for m in self.table.methods if not any(map(_is_judged, of.get(m, ())))]


def _is_judged(result: Any) -> bool:
    return isinstance(result, Result) and result.assessment.prompt_version != _FRAMEWORK


def figures_of(content: Content, lines: Sequence[int], notes: Iterable[str]) -> dict[str, Any]:
    """All figures, as JSON values.

    Args:
        content: What is shown.
        lines: Of each sample, the number of its line of texts; -1 where it has none.
        notes: What else a reader must know.
    """
    table = content.table
    runs = content.runs
    mixed = (
        f"{run.name} has several settings; here all of it stands at those of most of its results"
        for run in runs
        if run.is_mixed
    )
    figures = {
        "format": FORMAT,
        "made_by": f"tcva-adapters {__version__}",
        "title": content.title,
        "sentence": content.reports[0][1].sentence if content.reports else "",
        "notes": [*table.notes, *mixed, *notes],
        "levels": [level.value for level in LEVELS],
        "schemes": {name: list(scheme.weights) for name, scheme in SCHEMES.items()},
        "penalties": list(PENALTIES),
        "presets": dict(PRESETS),
        "samples": _samples(content, lines),
        "runs": [_run(run) for run in runs],
        "methods": [_method(table, name) for name in content.fixed],
        "reports": [_report(*each) for each in content.reports],
    }
    found: dict[str, Any] = _exact(plain(figures))
    return found


def _samples(content: Content, lines: Sequence[int]) -> dict[str, Any]:
    table = content.table
    ratings = table.rating
    rated = ratings[np.isfinite(ratings)]
    return {
        "ids": _short_ids(table.samples),
        "human": ratings if len(rated) else None,
        "human_name": ", ".join(table.raters) or "human rating",
        "human_scale": scale_of(rated) if len(rated) else None,
        "questions": [_short(each.input or "", "question") for each in content.samples],
        "groups": _groups([written_out(s.metadata) for s in content.samples], table.raters),
        "drawn": -1 in lines,
        "line": list(lines),
    }


def _short(text: str, kind: str) -> str:
    most = _LONGEST[kind]
    return shortened(text[: 4 * most], most)


def _short_ids(names: Sequence[str]) -> list[str]:
    """Ids as they are; what is too long is cut, and numbered so that each stays one of its own."""
    most = _LONGEST["id"]
    return [n if len(n) <= most else f"{n[:most]}… #{at}" for at, n in enumerate(names, start=1)]


def scale_of(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Lowest and highest value that there may be: [0, 1], or what holds values outside of it.

    >>> scale_of(np.array([0.2, 0.9])), scale_of(np.array([1.0, 4.5]))
    ((0.0, 1.0), (1.0, 5.0))
    """
    low, high = float(values.min(initial=0.0)), float(values.max(initial=1.0))
    if low >= 0.0 and high <= 1.0:
        return 0.0, 1.0
    low = float(values.min())
    return (math.floor(low), math.ceil(high)) if low < high else (min(0.0, low), max(1.0, high))


def _groups(metadata: Sequence[Mapping[str, Any]], raters: Sequence[str]) -> dict[str, list[str]]:
    """Metadata fields that part samples into a few groups: the first of them, a text for each sample."""
    found = {}
    for name in dict.fromkeys(chain.from_iterable(metadata)):
        values = [each.get(name) for each in metadata]
        if name in raters or not all(isinstance(v, str | bool | int | None) for v in values):
            continue
        texts = ["" if v is None else shortened(str(v)[: 4 * _GROUP], _GROUP) for v in values]
        if 2 <= len({*texts} - {""}) <= min(_MOST_VALUES, len(texts) // 2):
            found[name] = texts
    return dict(islice(found.items(), _MOST_GROUPS))


def _run(run: Run) -> dict[str, Any]:
    rows: dict[bytes, int] = {}
    shown: list[list[list[float] | None]] = []
    row = [ABSENT] * len(run.results)
    unscored = []
    for place, result in enumerate(run.results):
        if result is None:
            continue
        why = result.unscored
        if why is not None:
            row[place] = UNSCORED
            unscored.append([place, _short(why.text, "reason"), why.reason.is_failure])
            continue
        counts = judged_counts([Result(result.assessment, run.scoring).seen])[0]
        key = counts.tobytes()
        if key not in rows:
            rows[key] = len(shown)
            shown.append([_counts(each) if any(each) else None for each in counts.tolist()])
        row[place] = rows[key]
    judged = run.judged
    first = judged[0].assessment
    members = next((each.assessment.members for each in judged if each.assessment.members), ())
    return {
        "name": run.name,
        "criterion": first.criterion,
        "judge": first.judge,
        "settings": settings_of(run.scoring),
        "members": [f"{member.criterion} by {member.judge}" for member in members],
        "rows": shown,
        "row": row,
        "unscored": unscored,
    }


def _counts(counts: list[float]) -> list[float]:
    """Whole numbers as such: they are shorter."""
    return [int(count) if count.is_integer() else count for count in counts]


def settings_of(scoring: ScoringConfig) -> dict[str, Any]:
    """The settings of a run as JSON values."""
    return {
        "temperature": scoring.temperature,
        "threshold": scoring.threshold,
        "weights": list(scoring.scheme.weights),
        "penalty": scoring.penalty,
        "eps": scoring.eps,
        "floor": scoring.floor,
        "on_unscored": scoring.on_unscored,
        "bounds": asdict(scoring.bounds),
        "fuse_weights": scoring.fuse_weights,
    }


def _method(table: ScoreTable, name: str) -> dict[str, Any]:
    scores = table.column(name)
    missing = np.flatnonzero(np.isnan(scores)).tolist()
    version = table.about.get("metrics", {}).get(name)
    kind = table.about.get("methods", {}).get(name, {}).get("kind", "")
    return {
        "name": name,
        "about": version or kind,
        "scale": scale_of(scores[np.isfinite(scores)]),
        "threshold": table.threshold(name),
        "scores": scores,
        "unscored": [[i, _short(table.reason(table.samples[i], name), "reason")] for i in missing],
    }


def _report(view: str, report: Report) -> dict[str, Any]:
    tables = [
        {
            "title": table.title,
            "columns": [asdict(column) for column in table.columns],
            "records": table.records,
            "notes": table.notes,
        }
        for table in report.tables
        if table.records
    ]
    return {"view": view, "sentence": report.sentence, "tables": tables, "notes": report.notes}


def drawn(content: Content, most: int | None) -> tuple[list[int], list[str], list[str]]:
    """The texts that there is room for: of each sample its line or -1, the lines, and notes.

    Where not all fit, it is in turn the worst sample of the first run (of the first method without
    one; the unscored are worst) and one at random, with seed 0.

    Args:
        content: What is shown.
        most: How many samples; by default 10 000, and 16 MB of text.
    """
    total = len(content.table)
    runs = content.runs
    least = [-math.inf] * total
    if runs:
        scores = [math.nan if r is None or r.score is None else r.score for r in runs[0].results]
    else:
        scores = content.table.scores[:, 0].tolist() if content.table.methods else least
    worst = sorted(range(total), key=lambda n: -math.inf if math.isnan(scores[n]) else scores[n])
    others = random.Random(SEED).sample(range(total), total)  # noqa: S311  # a draw, no secret
    turns = dict.fromkeys(chain.from_iterable(zip(worst, others, strict=True)))
    room = MOST_BYTES if most is None else math.inf
    texts: dict[int, str] = {}
    for place in turns:
        if len(texts) == (MOST if most is None else most):
            break
        line = inert_json(_exact(plain(_detail(content, place))))
        if len(line.encode()) <= room:
            room -= len(line.encode())
            texts[place] = line
    chosen = sorted(texts)
    lines = [-1] * total
    for line_number, place in enumerate(chosen):
        lines[place] = line_number
    if len(chosen) == total:
        notes = []
    elif not chosen:
        notes = ["the texts of the samples are not in this page"]
    else:
        some = f"the texts of {len(chosen)} of {total} samples are in this page"
        notes = [f"{some}: in turn of the worst and of one drawn with seed {SEED}"]
    return lines, [texts[place] for place in chosen], notes


def _detail(content: Content, place: int) -> dict[str, Any]:
    """What the page shows of a sample; what there is not is left out."""
    sample, table = content.samples[place], content.table
    own = {run.name: run.results[place] for run in content.runs}
    judged = {name: {**_judged(each.seen), **_interval(each)} for name, each in own.items() if each}
    methods = {}
    for name in content.fixed:
        result = table.results[name][place] if table.results.get(name) else None
        said: dict[str, Any] = {}
        if isinstance(result, CCRSResult):
            metric = next((m for m in result.answers if name.startswith(m)), "")
            said = {"reason": result.reasons.get(metric) or None}
        elif result is not None:
            said = {"verdicts": [_claim(claim) for claim in result.claims]}
        if math.isnan(table.column(name)[place]):
            said["reason"] = table.reason(table.samples[place], name)
        methods[name] = _present(said)
    return _present(
        {
            "input": sample.input,
            "response": sample.response,
            "contexts": None if sample.contexts is None else list(sample.contexts),
            "reference": sample.reference,
            "metadata": written_out(sample.metadata),
            "runs": judged,
            "methods": _present(methods),
        }
    )


def _present(found: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is None or an empty object."""
    return {name: value for name, value in found.items() if value is not None and value != {}}


def _judged(assessment: Assessment) -> dict[str, Any]:
    why = assessment.unscored
    found: dict[str, Any] = {"claims": [_claim(claim) for claim in assessment.claims]}
    if why is not None:
        found["unscored"] = {"reason": why.reason.value, "detail": why.detail}
    kinds = {"members": assessment.members, "panel": assessment.panel}
    if assessment.repeats:
        kinds = {"members": assessment.members, "repeats": assessment.repeats}
    for kind, others in kinds.items():
        if others:
            found[kind] = [
                {
                    "judge": each.judge if kind != "repeats" else f"repeat {number}",
                    "criterion": each.criterion,
                    **_judged(each),
                }
                for number, each in enumerate(others, start=1)
            ]
    return found


def _interval(result: Result) -> dict[str, str]:
    """Where the score may lie, at the setting that the text names."""
    if result.interval is None:
        return {}
    shown = cell(result.score, "interval", *result.interval)
    text = f"At T = {result.scoring.temperature:g}, with the 95% interval of its verdicts: {shown}"
    return {"interval": text}


def _claim(claim: ClaimVerdict) -> dict[str, Any]:
    found = claim.model_dump(mode="json", exclude_none=True, exclude={"original_probabilities"})
    always = {"claim": claim.claim, "verdict": found.get("verdict")}
    return {**{name: value for name, value in found.items() if value != ""}, **always}


def _exact(value: Any) -> Any:
    """The same with numbers that a browser has, too; whole numbers beyond them are text."""
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        return str(value)
    return value


def inert_json(value: Any) -> str:
    r"""One line of JSON without a character that HTML or a text file could take for something else.

    >>> print(inert_json("</script>&"))
    "\u003c/script\u003e\u0026"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

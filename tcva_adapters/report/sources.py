"""What a report can be made of, and how each kind is told and read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tcva_adapters.ccrs.summary import CCRSSummary
from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.existing.records import SCALE, format_of
from tcva_adapters.compare.existing.records import Reading as ScoreReading
from tcva_adapters.compare.existing.tables import HUMAN_COLUMNS
from tcva_adapters.compare.labels import Labels
from tcva_adapters.compare.running.run import human_scores, named, read_named
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.printing import counted
from tcva_adapters.report.comparison import is_folder_of_comparison, of_comparison, of_folder
from tcva_adapters.report.content import Content, FixedMethod, Human, Run
from tcva_adapters.report.existing import ExistingScores, read_scores
from tcva_adapters.report.judged import JudgedSamples, read_judged
from tcva_adapters.report.sections import rated_sections, section_of
from tcva_adapters.samples.files import SampleFile, SampleStream
from tcva_adapters.samples.records import read_records
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Report

_MOST_SHOWN: Final = 60
_MOST_NAMED: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How sources are read.

    Attributes:
        title: Of the page; by default the name of the file or folder.
        samples: A file of samples, or samples, whose texts are joined by id.
        human: The metadata field with human ratings, or `Labels`; by default ``human`` or
            ``human_score`` where there is one.
        human_scale: Lowest and highest rating that could be given; by default [0, 1], or the
            lowest and highest that were given where one lies outside.
        missing: The number that stands for no score in existing results.
        scale: Their lowest and highest possible score.
        skip_bad: Leave out unreadable lines.
        group: The metadata field of what samples belong to; a comparison's own where it has one.
    """

    title: str | None = None
    samples: str | Path | SampleStream | Sequence[Sample] | None = None
    human: str | Labels | None = None
    human_scale: tuple[float, float] | None = None
    missing: float | None = None
    scale: tuple[float, float] = SCALE
    skip_bad: bool = False
    group: str | None = None

    def __post_init__(self) -> None:
        if self.human_scale is not None:
            low, high = self.human_scale
            if not 0.0 < high - low < math.inf:
                msg = f"human_scale={self.human_scale!r}; give two finite numbers, the lower one first"
                raise InvalidValueError(msg)


def content_of(source: Any, reading: Reading) -> Content:
    """What a report shows.

    Args:
        source: See `write`.
        reading: How it is read.

    Raises:
        InvalidValueError: It is nothing that a report can be made of.
        InvalidSampleError: There are no results, or several kinds of them in one file.
        UnreadableInputError: A file cannot be read.
    """
    if isinstance(source, Report):
        sections = {"errors": section_of(source)}
        return Content(reading.title or "Errors", source.sentence, sections=sections)
    if isinstance(source, Comparison):
        return _rated(of_comparison(source, reading.title or "Comparison"), reading)
    if isinstance(source, list | tuple) and len(source) == 1 and isinstance(source[0], str | Path):
        source = source[0]
    if isinstance(source, str | Path) and is_folder_of_comparison(source):
        title = reading.title or Path(source).resolve().name
        return _rated(of_folder(source, title), reading)
    return _rated(_joined(_parts(source, reading), reading), reading)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What stands beside each other in one page."""

    title: str
    judged: Sequence[JudgedSamples]
    scores: Sequence[str | Path] = ()
    samples: Sequence[Sample] = ()
    methods: tuple[FixedMethod, ...] = ()
    sentence: str = ""


def _parts(source: Any, reading: Reading) -> _Parts:
    if isinstance(source, ScoreTable):
        results = [result for of in source.results.values() for result in of if result is not None]
        methods = tuple(
            FixedMethod(
                name=name,
                scores={
                    sample: None if math.isnan(score) else float(score)
                    for sample, score in zip(source.samples, source.column(name), strict=True)
                },
                framework=name.partition(" ")[0],
            )
            for name in source.methods
            if name not in source.results
        )
        return _Parts("Scores", [JudgedSamples.of("these results", results)], methods=methods)
    if isinstance(source, Evaluation | CCRSSummary):
        own = JudgedSamples.of("these results", source.results)
        return _Parts("Evaluation", [own], sentence=source.sentence)
    if isinstance(source, Mapping):
        return _Parts(
            ", ".join(map(str, source)),
            [JudgedSamples.of(str(name), items) for name, items in source.items()],
        )
    if isinstance(source, str | Path):
        source = [source]
    if not isinstance(source, Iterable) or not (items := list(source)):
        msg = (
            f"no report can be made of {str(source)[:_MOST_SHOWN]!r}; give files, the folder of a "
            "comparison, results, or the object that a function of tcva_adapters.compare returned"
        )
        raise InvalidValueError(msg)
    if not all(isinstance(each, str | Path) for each in items):
        return _Parts("Results", [JudgedSamples.of("this list", items)])
    if folder := next(filter(is_folder_of_comparison, items), None):
        msg = (
            f"{folder} is a comparison's folder; it makes a report of its own, without other files"
        )
        raise InvalidValueError(msg)
    judged = [path for path in items if _is_judged(path)]
    return _Parts(
        ", ".join(_name(path) for path in items),
        [read_judged(path, skip_bad=reading.skip_bad) for path in judged],
        [path for path in items if path not in judged],
    )


def _name(path: str | Path) -> str:
    return "standard input" if path == "-" else Path(path).name


def _is_judged(path: str | Path) -> bool:
    """Whether a file holds assessments or ratings, by its first readable record."""
    if path == "-":
        return True
    kind = format_of(path)
    if kind not in ("jsonl", "json"):
        return False
    first: Any = next(
        (row.record for row in read_records(path, kind) if row.record is not None), {}
    )
    return ("criterion" in first and "claims" in first) or "answers" in first


def _joined(parts: _Parts, reading: Reading) -> Content:
    """Runs and fixed scores on the same samples, the texts of these where they are known."""
    samples = _of_all(parts.judged)
    notes = [note for judged in parts.judged for note in judged.notes]
    given = reading.samples if reading.samples is not None else parts.samples
    texts = _texts(given, reading)
    if samples and texts:
        samples = _with_texts(samples, texts, notes)
    read: list[ExistingScores] = []
    how = ScoreReading(missing=reading.missing, scale=reading.scale)
    for path in parts.scores:
        read.append(read_scores(path, how, samples or texts))
        samples = samples or read[-1].samples
        notes += read[-1].notes
    methods = [method for one in read for method in one.methods]
    for judged in parts.judged:
        if judged.ratings:
            several = sum(bool(one.ratings) for one in parts.judged) > 1
            methods += judged.methods(f"{Path(judged.name).stem} " if several else "")
    ratings = next((one.human for one in read if one.human), None)
    return Content(
        title=reading.title or parts.title,
        sentence=parts.sentence or _sentence(parts.judged, samples, read),
        samples=samples,
        runs=_runs([judged for judged in parts.judged if judged.judgements]),
        methods=tuple(_unlike([*parts.methods, *methods])),
        human=None if ratings is None else Human(ratings),
        notes=tuple(notes),
    )


def _of_all(judged: Sequence[JudgedSamples]) -> Sequence[Sample]:
    """The samples of several files, each id once."""
    if len(judged) == 1:
        return judged[0].samples
    by_id: dict[str | None, Sample] = {}
    for sample in (sample for one in judged for sample in one.samples):
        by_id.setdefault(sample.id, sample)
    return [*by_id.values()]


def _texts(
    given: str | Path | SampleStream | Sequence[Sample], reading: Reading
) -> Sequence[Sample]:
    if isinstance(given, str | Path):
        given = SampleStream(given, skip_bad=reading.skip_bad)
    if isinstance(given, SampleStream):
        return read_named(given).samples
    return named(SampleFile.of(given)).samples


def _with_texts(
    samples: Sequence[Sample], texts: Sequence[Sample], notes: list[str]
) -> Sequence[Sample]:
    if len(texts) == len(samples) and all(
        sample.id == f"row-{number}" for number, sample in enumerate(samples, start=1)
    ):  # the frameworks give their evaluators no ids
        return [_filled(*pair) for pair in zip(samples, texts, strict=True)]
    by_id = {sample.id: sample for sample in texts}
    lacking = sum(sample.id not in by_id for sample in samples)
    if lacking == len(samples):
        msg = (
            f"none of the {len(samples)} judged samples is among those that were given for their "
            f"texts; ids there are {', '.join(repr(s.id) for s in texts[:3])}, here "
            f"{', '.join(repr(s.id) for s in samples[:3])}"
        )
        raise InvalidValueError(msg)
    if lacking:
        notes.append(f"the texts of {counted(lacking, 'sample')} of {len(samples)} were not given")
    return [_filled(sample, by_id.get(sample.id)) for sample in samples]


def _filled(judged: Sample, texts: Sample | None) -> Sample:
    """A judged sample with its texts; its metadata may be newer than theirs."""
    if texts is None:
        return judged
    metadata = {**texts.metadata, **judged.metadata}
    return texts.model_copy(update={"id": judged.id, "metadata": metadata})


def _sentence(
    judged: Sequence[JudgedSamples], samples: Sequence[Sample], read: Sequence[ExistingScores]
) -> str:
    if judged:
        several = len(judged) > 1
        return "; ".join(
            f"{one.name}: {one.sentence}" if several else one.sentence for one in judged
        )
    methods = [method for one in read for method in one.methods]
    said = [f"{method.name} {_mean(method)}" for method in methods[:_MOST_NAMED]]
    if len(methods) > _MOST_NAMED:
        said.append(f"and {len(methods) - _MOST_NAMED} more")
    return f"Mean scores of {counted(len(samples), 'sample')}: {', '.join(said)}"


def _mean(method: FixedMethod) -> str:
    scores = [score for score in method.scores.values() if score is not None]
    return f"{math.fsum(scores) / len(scores):.3f}" if scores else "unscored"


def _runs(judged: Sequence[JudgedSamples]) -> tuple[Run, ...]:
    names = [
        Path(one.name).stem
        if len(judged) > 1
        else f"{one.judgements[0].criterion} by {one.judgements[0].judge}"
        for one in judged
    ]
    found, taken = [], set[str]()
    for one, name in zip(judged, names, strict=True):
        unlike, number = name, 1
        while unlike in taken:
            number += 1
            unlike = f"{name}#{number}"
        taken.add(unlike)
        found.append(one.run(unlike))
    return tuple(found)


def _unlike(methods: Iterable[FixedMethod]) -> list[FixedMethod]:
    """The same methods.

    Raises:
        InvalidValueError: Two have one name.
    """
    found = {}
    for method in methods:
        if method.name in found:
            msg = f"two methods are named {method.name!r}; give the files one at a time"
            raise InvalidValueError(msg)
        found[method.name] = method
    return list(found.values())


def _rated(content: Content, reading: Reading) -> Content:
    """The same with the human ratings that were asked for, or else those that are there."""
    human, notes = content.human, content.notes
    if isinstance(reading.human, Labels):
        names = [sample.id or "" for sample in content.samples]
        human = Human(reading.human.of(names), reading.human.source)
        notes = (*notes, *reading.human.notes(names))
    elif reading.human is not None:
        human = Human(human_scores(content.samples, reading.human), reading.human)
    elif human is None:
        human = _found_ratings(content.samples)
    if human is not None:
        human = replace(human, scale=reading.human_scale)
        human.check()
    content = replace(content, human=human, notes=notes).by_group(reading.group)
    return replace(content, sections=rated_sections(content))


def _found_ratings(samples: Sequence[Sample]) -> Human | None:
    """Ratings under one of the usual names, where all of it can be read as such."""
    for field in HUMAN_COLUMNS:
        try:
            return Human(human_scores(samples, field), field)
        except InvalidSampleError:  # no such field, or it means something else
            continue
    return None

"""What a report can be made of, and how each kind is told and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tcva_adapters.ccrs.summary import CCRSSummary
from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.existing.imports import ImportedScores, import_scores, match
from tcva_adapters.compare.existing.records import Existing, format_of
from tcva_adapters.compare.ratings import parse_rating
from tcva_adapters.compare.running.run import human_scores, named
from tcva_adapters.compare.systems.report import SystemsReport
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.comparison import is_folder_of_comparison, of_comparison, of_folder
from tcva_adapters.report.content import Content, Human
from tcva_adapters.report.judged import JudgedSamples, read_judged
from tcva_adapters.samples.files import read_samples
from tcva_adapters.samples.sample import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a source is read.

    Attributes:
        title: Of the page; by default the name of the file or folder.
        samples: A file of samples, or samples, whose texts are joined by id.
        human: The metadata field with human ratings; by default ``human`` or ``human_score``.
        skip_bad: Leave out unreadable lines.
    """

    title: str | None = None
    samples: str | Path | Sequence[Sample] | None = None
    human: str | None = None
    skip_bad: bool = False


def content_of(source: Any, reading: Reading) -> Content:
    """What a report shows.

    Args:
        source: A path or several, results or assessments, or a report object.
        reading: How it is read.

    Raises:
        InvalidValueError: It is nothing that a report can be made of.
        UnreadableInputError: A file cannot be read.
    """
    if isinstance(source, Comparison):
        return of_comparison(source, reading.title or "Comparison")
    if isinstance(source, SystemsReport):
        title = reading.title or "Systems"
        return Content(title, source.sentence, notes=source.notes, systems=source.to_dict())
    if isinstance(source, str | Path):
        source = [source]
    if isinstance(source, Evaluation | CCRSSummary):
        source = source.results
    if not isinstance(source, Sequence) or not source:
        msg = f"a report of {source!r}; give files, a comparison's folder, results, or a report"
        raise InvalidValueError(msg)
    if all(isinstance(each, str | Path) for each in source):
        first = source[0]
        if len(source) == 1 and is_folder_of_comparison(first):
            return of_folder(first, reading.title or Path(first).resolve().name)
        files = [read_judged(path, skip_bad=reading.skip_bad) for path in source]
    else:
        files = [JudgedSamples.of("this list", source)]
    return _joined(files, reading)


def _joined(files: Sequence[JudgedSamples], reading: Reading) -> Content:
    samples: dict[str, Sample] = {}
    for file in files:
        for sample in file.samples:
            samples.setdefault(sample.id or "", sample)
    notes = [note for file in files for note in file.notes]
    names = [file.name for file in files]
    runs = [file.run(_run_name(file, names)) for file in files if file.results]
    methods = [m for file in files for m in (file.methods() if file.ratings else ())]
    found = list(samples.values())
    if reading.samples is not None:
        found = _with_texts(found, reading, notes)
    return Content(
        title=reading.title or ", ".join(names),
        sentence=files[0].sentence,
        samples=found,
        runs=tuple(runs),
        methods=tuple(methods),
        human=_human(found, reading),
        notes=tuple(notes),
    )


def _run_name(file: JudgedSamples, names: Sequence[str]) -> str:
    if len(names) > 1:
        return Path(file.name).stem
    first = file.results[0].assessment
    return f"{first.criterion} by {first.judge}"


def _with_texts(samples: list[Sample], reading: Reading, notes: list[str]) -> list[Sample]:
    given: Any = reading.samples
    read = read_samples(given, skip_bad=reading.skip_bad)
    texts = {sample.id: sample for sample in named(read).samples}
    lacking = sum(sample.id not in texts for sample in samples)
    if lacking:
        notes.append(f"{lacking} of {len(samples)} samples are not in the file of samples")
    return [texts.get(sample.id, sample) for sample in samples]


def _human(samples: Sequence[Sample], reading: Reading) -> Human | None:
    if reading.human is None:
        return None
    return Human(human_scores(samples, reading.human), reading.human)

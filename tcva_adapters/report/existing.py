"""Results of RAGAS, DeepEval or LangSmith as the content of a report: scores that no dial changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tcva_adapters.compare.existing.imports import match, read_existing
from tcva_adapters.compare.existing.records import Existing, Found, Reading
from tcva_adapters.compare.rows import Row
from tcva_adapters.compare.running.run import named
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.printing import counted
from tcva_adapters.report.content import FixedMethod, Said
from tcva_adapters.samples.files import SampleFile, read_samples
from tcva_adapters.samples.sample import Sample

_FRAMEWORKS: Final = ("ragas", "deepeval", "langsmith")
_NO_METADATA: Final = ("metricsData", "metrics_data", "feedback_stats")
"""Where files hold their scores, beside columns of the metrics' names."""


@dataclass(frozen=True, slots=True)
class ExistingScores:
    """Scores of one file on samples.

    Attributes:
        samples: Those that they are of.
        methods: By the file's names.
        human: Human ratings by sample id, where the file has them.
        notes: What was left out, in sentences.
    """

    samples: Sequence[Sample]
    methods: tuple[FixedMethod, ...]
    human: Mapping[str, float]
    notes: tuple[str, ...]


def read_scores(
    path: str | Path, reading: Reading, samples: Sequence[Sample] = ()
) -> ExistingScores:
    """Read existing results, on given samples or on those that the file holds itself.

    Args:
        path: The file.
        reading: How it is read.
        samples: Those to match, with ids of their own.

    Raises:
        UnreadableInputError: It cannot be read, holds no scores, or matches no sample.
    """
    existing = read_existing(path, reading)
    if samples:
        found = match(existing, samples)
        rows, human, reasons = found.rows, found.human, found.reasons
        name = Path(path).name
        notes = tuple(f"{name}: {text}" for text in [unmatched_text(len(found.unmatched))] if text)
    else:
        samples, records = _own(path, existing)
        names = [sample.id or "" for sample in samples]
        pairs = [
            (name, found) for name, several in zip(names, records, strict=True) for found in several
        ]
        rows = tuple(replace(row, sample=name) for name, found in pairs for row in found.rows)
        human = {name: found.human for name, found in pairs if found.human is not None}
        reasons = {name: found.reasons for name, found in pairs}
        notes = ()
    kind = existing.kind if existing.kind in _FRAMEWORKS else "imported"
    methods = tuple(_methods(existing, rows, reasons, kind))
    return ExistingScores(samples, methods, human, notes)


def unmatched_text(rows: int) -> str:
    """How many rows belong to none of the samples; empty for none.

    >>> unmatched_text(1), unmatched_text(2)
    ('1 row matches no sample', '2 rows match no sample')
    """
    return f"{counted(rows, 'row')} {'matches' if rows == 1 else 'match'} no sample" if rows else ""


def _own(path: str | Path, existing: Existing) -> tuple[Sequence[Sample], list[list[Found]]]:
    """The samples of a file with scores, and what it says of each."""
    usable = [found for found in existing.records if not found.unusable]
    if existing.kind == "tidy":  # a row per sample and method
        by_id: dict[str, list[Found]] = {}
        for found in usable:
            by_id.setdefault(found.id or "", []).append(found)
        return [Sample(id=name) for name in by_id], list(by_id.values())
    try:
        read = read_samples(path, skip_bad=True)
        texts = dict(zip(read.lines, read.samples, strict=True))
    except (UnreadableInputError, InvalidValueError):  # it holds ids and scores alone
        texts = {}
    columns = {name.partition(" ")[2] for name in existing.methods} | set(existing.methods)
    samples = []
    for found in usable:
        sample = texts.get(found.line) or Sample(
            id=found.id, input=found.input, response=found.response, contexts=found.contexts
        )
        metadata = {
            name: value
            for name, value in sample.metadata.items()
            if name not in columns and name not in _NO_METADATA and not name.startswith("feedback.")
        }
        samples.append(sample.model_copy(update={"metadata": metadata}))
    lines = [found.line for found in usable]
    return named(SampleFile(samples, lines, [])).samples, [[found] for found in usable]


def _methods(
    existing: Existing,
    rows: Iterable[Row],
    reasons: Mapping[str, Mapping[str, str]],
    framework: str,
) -> Iterator[FixedMethod]:
    by_method: dict[str, list[Row]] = {name: [] for name in existing.methods}
    for row in rows:
        by_method[row.method].append(row)
    for name, own in by_method.items():
        yield FixedMethod(
            name=name,
            scores={row.sample: row.score for row in own},
            framework=framework,
            threshold=existing.thresholds.get(name, 0.5),
            unscored={row.sample: row.unscored for row in own if row.score is None},
            said={s: Said(reason=said[name]) for s, said in reasons.items() if said.get(name)},
        )

"""Make parts of imported scores from the rows of a file, sample by sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from tcva_adapters.compare.scores.imported.rows import Imported, Row
from tcva_adapters.compare.scores.ratings import Ratings
from tcva_adapters.compare.scores.reading_options import Reading
from tcva_adapters.compare.scores.table_part import TablePart, system_of
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import unreadable
from tcva_adapters.tables import counted, shortened

_NO_ROW = "no row"
"""The reason why a sample without a row has no imported score."""

_NAMED = 3
"""The most rows or samples that a message names."""


def imported_parts(
    imported: Imported,
    reading: Reading,
    *,
    name: str,
    source: str,
) -> list[TablePart]:
    """Make parts of imported scores, one per system; notes and ratings are added to ``reading``.

    Raises:
        UnreadableInputError: Rows fit no sample or several, or two score one sample by one method.
    """
    options = reading.options
    rows = imported.rows
    samples = options.samples or {}
    if options.samples is None:
        for number, row in enumerate(rows, start=1):
            row.name = row.sample.id or f"row-{number}"
    else:
        rows, note = match_rows(imported, samples)
        reading.notes.append(note)
    columns = {column for row in rows for column in row.sample.metadata}
    human = [column for column in options.importing.human if column in columns]
    if reading.ratings is None and human:
        reading.ratings = Ratings(human[0], (human[0],), options.human_scale)
    split = options.split
    if split is None and options.of_systems and "system" in columns:
        split = "system"

    by_sample = {("", name): Row(0, sample, name) for name, sample in samples.items()}
    for row in rows:
        key = system_of(row.name, row.sample.metadata, split), row.name
        before = by_sample.setdefault(key, row)
        if before is not row:
            _merge_row(before, row, imported.source)

    parts = {}
    for (system, sample), row in by_sample.items():
        if system not in parts:
            parts[system] = TablePart(
                options=options,
                ratings=reading.ratings,
                name=name,
                source=source,
                kind=imported.kind,
                system=system,
                thresholds=dict(imported.thresholds),
            )
        part = parts[system]
        scores = dict.fromkeys(imported.methods) | row.scores
        lacking = dict.fromkeys(scores.keys() - row.scores.keys(), _NO_ROW)
        row_name = part.add_sample(sample, row.sample.metadata)
        part.add_scores(row_name, scores, lacking | row.reasons)
        part.judged_samples.append(row.sample.model_copy(update={"id": sample}))
    return [*parts.values()]


def _merge_row(
    before: Row,
    row: Row,
    source: str,
) -> None:
    """Merge another row about the same sample into the first."""
    if both := row.scores.keys() & before.scores.keys():
        raise UnreadableInputError(
            (
                f"{source}, {before.line} and {row.line}: both score sample {row.name!r} by {min(both)!r}; "
                "leave one out, or give the rows ids of their own"
            ),
            line=row.line,
        )
    if not before.line:
        before.line = row.line
        before.sample = row.sample
    before.scores |= row.scores
    before.reasons |= row.reasons


def match_rows(
    imported: Imported, samples: Mapping[str, Sample]
) -> tuple[list[Row], str]:
    """Name rows by the samples that they are about.

    A row with a known id belongs to that sample, unless its answer differs: then it comes from
    another run and belongs to no sample. A row without a known id belongs to the sample with the
    same answer and, where both have them, the same question and contexts; runs of white space count
    as one blank.

    Args:
        imported: The imported scores.
        samples: The samples by id.

    Returns:
        The rows that belong to a sample, and a sentence on what was matched.

    Raises:
        UnreadableInputError: A row fits several samples, or no row fits any.
    """
    by_answer = defaultdict(list)
    for name, sample in samples.items():
        if sample.response is not None:
            by_answer[_flat(sample.response)].append(name)
    rows = []
    unmatched = []
    for row in imported.rows:
        sample = row.sample
        names = _ids_that_fit(sample, samples, by_answer)
        label = shortened(sample.id or sample.response or sample.input or "no name", 40)
        if not names:
            unmatched.append(f"{row.line}: {label}")
            continue
        if len(names) > 1:
            raise unreadable(
                imported.source,
                (
                    f"{label!r} fits the samples {', '.join(names[:_NAMED])} alike; give the rows an "
                    "id column with the samples' ids (in DeepEval: the name of the test case)"
                ),
                line=row.line,
                word="row",
            )
        (row.name,) = names
        rows.append(row)

    more = ["..."] if len(unmatched) > _NAMED else []
    first = "; ".join(unmatched[:_NAMED] + more)
    if not rows:
        raise unreadable(
            imported.source,
            (
                f"none of its {len(imported.rows)} rows matches a sample ({first}); give the rows an id "
                "column with the samples' ids, or their question and answer"
            ),
        )
    number = len({row.name for row in rows})
    note = (
        f"{imported.source} ({imported.kind}): {', '.join(imported.methods)} "
        f"on {number} of {len(samples)} samples"
    )
    if unmatched:
        note += (
            f"; {counted(len(unmatched), 'row')} without a matching sample ({first})"
        )
    if imported.left_out:
        note += f"; columns left out: {', '.join(imported.left_out)}"
    return rows, note


def _ids_that_fit(
    row: Sample,
    samples: Mapping[str, Sample],
    by_answer: Mapping[str, list[str]],
) -> list[str]:
    """The ids of the samples that a row may be about."""
    if row.id is not None and row.id in samples:
        return [row.id] if _agree(row, samples[row.id], "response") else []
    names = [
        name
        for name in by_answer.get(_flat(row.response), ())
        if _agree(row, samples[name], "input")
    ]
    if len(names) > 1:
        same = [name for name in names if _agree(row, samples[name], "contexts")]
        names = same or names
    return names


def _agree(
    row: Sample,
    sample: Sample,
    field: Literal["input", "response", "contexts"],
) -> bool:
    """Whether a row and a sample have the same text, or one of them has none to compare."""
    of_row = getattr(row, field)
    of_sample = getattr(sample, field)
    return not of_row or not of_sample or _flat(of_row) == _flat(of_sample)


def _flat(text: str | Sequence[str] | None) -> str:
    parts = [text or ""] if isinstance(text, str | None) else text
    return "\0".join(" ".join(part.split()) for part in parts)

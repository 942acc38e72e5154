"""Imported scores as blocks: the rows of a file, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable

from tcva_adapters.compare.scores.block import Block
from tcva_adapters.compare.scores.imported.matching import match_rows
from tcva_adapters.compare.scores.imported.rows import Imported, Row
from tcva_adapters.compare.scores.ratings import Ratings
from tcva_adapters.compare.scores.reading import Reading, system_of
from tcva_adapters.errors import UnreadableInputError

_NO_ROW = "no row"
"""Why a sample has no imported score that no row is about."""


def imported_blocks(
    imported: Imported, reading: Reading, *, name: str, source: str
) -> list[Block]:
    """Make blocks of imported scores; those of another system are another block.

    Raises:
        UnreadableInputError: Rows fit no sample or several, or two score one sample by one method.
    """
    pairs: Iterable[tuple[str, Row]]
    if reading.samples is None:
        rows = enumerate(imported.rows, start=1)
        pairs = [(row.sample.id or f"row-{number}", row) for number, row in rows]
    else:
        pairs, note = match_rows(imported, reading.samples)
        reading.notes.append(note)
    columns = {column for _, row in pairs for column in row.sample.metadata}
    human = [column for column in reading.importing.human if column in columns]
    if reading.ratings is None and human:
        reading.ratings = Ratings(human[0], (human[0],), reading.human_scale)
    split = reading.split
    if split is None and reading.of_systems and "system" in columns:
        split = "system"

    blocks: dict[str, Block] = {}
    for (system, called), row in _by_sample(imported, pairs, reading, split).items():
        if system not in blocks:
            blocks[system] = Block(
                reading=reading,
                name=name,
                source=source,
                kind=imported.kind,
                system=system,
                thresholds=dict(imported.thresholds),
            )
        block = blocks[system]
        scores = dict.fromkeys(imported.methods) | row.scores
        lacking = dict.fromkeys(scores.keys() - row.scores.keys(), _NO_ROW)
        place = block.add_sample(called, row.sample.metadata)
        block.add_scores(place, scores, lacking | row.reasons)
        block.texts.append(row.sample.model_copy(update={"id": called}))
    return [*blocks.values()]


def _by_sample(
    imported: Imported,
    pairs: Iterable[tuple[str, Row]],
    reading: Reading,
    split: str | None,
) -> dict[tuple[str, str], Row]:
    """What all rows say of one sample, by its system and its id."""
    samples = reading.samples or {}
    rows = {("", called): Row(0, sample) for called, sample in samples.items()}
    for called, row in pairs:
        key = system_of(called, row.sample.metadata, split), called
        before = rows.setdefault(key, row)
        if before is row:
            continue
        for method in row.scores.keys() & before.scores.keys():
            raise UnreadableInputError(
                (
                    f"{imported.source}, {before.line} and {row.line}: both score sample {called!r} by {method!r}; "
                    "leave one out, or give the rows ids of their own"
                ),
                line=row.line,
            )
        if not before.line:
            before.line, before.sample = row.line, row.sample
        before.scores |= row.scores
        before.reasons |= row.reasons
    return rows

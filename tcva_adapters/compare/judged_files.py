"""Judgements from files of any size: counts in a table, names and metadata where they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tcva_adapters.compare.kinds import Kinds
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.counted import level_tables
from tcva_adapters.results.evidence import Checked, Evidence, EvidenceCounts
from tcva_adapters.results.files import stream_assessments
from tcva_adapters.samples.records import is_read_again, skipped_rows

Named = tuple[str | None, Mapping[str, Any]]
"""The id and the metadata of a sample."""


class Brought(Protocol):
    """What samples brought along."""

    def samples(self) -> Iterator[Named]:
        """Ids and metadata, in order."""


@dataclass(frozen=True, slots=True)
class Held:
    """The same in memory."""

    named: Sequence[Named]

    def samples(self) -> Iterator[Named]:
        """Ids and metadata, in order."""
        return iter(self.named)


@dataclass(frozen=True, slots=True)
class InFiles:
    """The same in the files, which are read once more.

    Attributes:
        files: Of assessments.
        skip_bad: Leave out unreadable lines.
        number: How many samples they had at the first reading.
    """

    files: Sequence[str | Path]
    skip_bad: bool
    number: int

    def samples(self) -> Iterator[Named]:
        """Ids and metadata, in order.

        Raises:
            UnreadableInputError: The files are no longer what they were.
        """
        number = 0
        for file in self.files:
            for row in stream_assessments(file, skip_bad=self.skip_bad):
                number += 1
                yield _named(row)
        if number != self.number:
            files = ", ".join(map(str, self.files))
            msg = f"{files}: {self.number} assessments at first and {number} now; it was changed while it was read, run it again"
            raise UnreadableInputError(msg)


@dataclass(slots=True)
class JudgedFiles:
    """What was read from files of assessments.

    Attributes:
        source: Their names.
        tables: Level counts of each judge, lowered and as judged.
        kinds: Who judged.
        checks: How many verdicts each check of a quote saw, and whether it lowered them.
        brought: Ids and metadata.
        notes: Which lines were left out, and why.
        skipped: How many those are.
    """

    source: str
    tables: Mapping[Evidence, FloatArray]
    kinds: Kinds
    checks: Counter[Checked]
    brought: Brought
    notes: list[str]
    skipped: int


def read_judged(files: Sequence[str | Path], *, skip_bad: bool) -> JudgedFiles:
    """Read files of assessments, row by row.

    What comes by a pipe cannot be read twice: its ids and metadata are held.

    Args:
        files: ``"-"`` is standard input.
        skip_bad: Leave out unreadable lines.

    Raises:
        UnreadableInputError: As for `read_assessments`.
        InvalidValueError: Likewise.
    """
    is_held = not all(map(is_read_again, files))
    kinds, checks = Kinds(), Counter[Checked]()
    held: list[Named] = []
    notes: list[str] = []
    skipped = 0

    def rows() -> Iterator[Assessment]:
        nonlocal skipped
        for file in files:
            stream = stream_assessments(file, skip_bad=skip_bad)
            for row in stream:
                kinds.add_assessment(row)
                checks.update(EvidenceCounts.of([row]).found)
                if is_held:
                    held.append(_named(row))
                yield row
            where = f" of {file}" if len(files) > 1 else ""
            notes.extend(skipped_rows(stream.bad, stream.skipped, where))
            skipped += stream.skipped

    return JudgedFiles(
        source=", ".join(map(str, files)),
        tables=level_tables(rows()),
        kinds=kinds,
        checks=checks,
        brought=Held(held) if is_held else InFiles(tuple(files), skip_bad, kinds.number),
        notes=notes,
        skipped=skipped,
    )


def _named(row: Assessment) -> Named:
    return row.sample_id, row.metadata

"""Judgements from files of any size: counts in a table, names and metadata where they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tcva_adapters.compare.kinds import Kinds
from tcva_adapters.core.evidence import Evidence
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.columns import NamedColumns, check_of, claims_of, stream_columns
from tcva_adapters.results.evidence import Checked, EvidenceCounts
from tcva_adapters.results.level_table import LevelRows, LevelTable
from tcva_adapters.samples.records import is_read_again

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
            for row in stream_columns(file, skip_bad=self.skip_bad, metadata=True):
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
        tables: Level counts of each judge, under each view of the evidence.
        kinds: Who judged.
        evidence: What became of the quotes.
        brought: Ids and metadata.
        notes: Which lines were left out, and why.
        skipped: How many those are.
    """

    source: str
    tables: Mapping[Evidence, LevelTable]
    kinds: Kinds
    evidence: EvidenceCounts
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
    tally = _Tally()
    held: list[Named] = []
    notes: list[str] = []
    skipped = 0
    for file in files:
        stream = stream_columns(file, skip_bad=skip_bad, metadata=is_held)
        for row in stream:
            tally.add(row)
            if is_held:
                held.append(_named(row))
        where = f" of {file}" if len(files) > 1 else ""
        notes += stream.said(where)
        skipped += stream.skipped
    return JudgedFiles(
        source=", ".join(map(str, files)),
        tables=tally.rows.finish(),
        kinds=tally.kinds,
        evidence=EvidenceCounts.counted(tally.checks),
        brought=Held(held) if is_held else InFiles(tuple(files), skip_bad, tally.kinds.number),
        notes=notes,
        skipped=skipped,
    )


def _named(row: NamedColumns) -> Named:
    return row.get("sample_id"), row.get("metadata", {})


@dataclass(slots=True)
class _Tally:
    """What is counted row by row."""

    rows: LevelRows = field(default_factory=LevelRows)
    kinds: Kinds = field(default_factory=Kinds)
    checks: Counter[Checked] = field(default_factory=Counter)

    def add(self, row: NamedColumns) -> None:
        members = row.get("members", ())
        self.kinds.add(
            (row["criterion"], row["judge"]),
            [(member["criterion"], member["judge"]) for member in members] if members else (),
            row.get("form", ""),
            is_scored=row.get("unscored") is None,
        )
        plain, has_faults = 0, False
        for claims in claims_of(row):
            for claim in claims:
                if claim["verdict"] is None:
                    continue
                check = check_of(claim)
                if check is None:
                    plain += 1
                    continue
                self.checks[check, claim.get("original_verdict") is not None] += 1
                has_faults = has_faults or check != EvidenceCheck.UNCHECKED
        self.checks[None, False] += plain
        self.rows.add(row, has_faults=has_faults)

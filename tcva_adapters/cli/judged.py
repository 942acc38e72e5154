"""Stored assessments as the commands read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import Config
from tcva_adapters.results.files import read_assessments
from tcva_adapters.results.result import judged_counts

File = Annotated[str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")]


@dataclass(frozen=True, slots=True)
class Judged:
    """Assessments of one judge under one criterion.

    Attributes:
        criterion: Its name.
        judge: Its name.
        fused: The further judges, each with its criterion.
        assessments: In the order of the file, unscored ones included.
        skipped: Lines left out.
    """

    criterion: str
    judge: str
    fused: tuple[str, ...]
    assessments: list[Assessment]
    skipped: int

    @property
    def about(self) -> dict[str, Any]:
        """What was judged and by whom, as plain values."""
        return {"criterion": self.criterion, "judge": self.judge, "fused": list(self.fused)}

    @property
    def title(self) -> str:
        """The same in a few words."""
        fused = f", fused with {', '.join(self.fused)}" if self.fused else ""
        return f"{self.criterion} by {self.judge}{fused}"

    @property
    def counts(self) -> FloatArray:
        """Level counts of each judge, shape (N, J, 5); zeros where one has no verdicts."""
        return judged_counts(self.assessments)


def read_judged(source: str, *, skip_bad: bool) -> Judged:
    """Read assessments that can be looked at together; says on stderr which lines were skipped.

    Raises:
        InvalidSampleError: Several judges or criteria, further judges on a part of the samples
            alone, or no score at all.
        UnreadableInputError: As for `read_assessments`.
    """
    read = read_assessments(source, skip_bad=skip_bad)
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    for line, message in read.bad:
        notes.print(f"skipped line {line}: {message}")
    judged = sorted({(a.criterion, a.judge) for a in read.assessments})
    if len(judged) > 1:
        mixed = "; ".join(f"{criterion} by {judge}" for criterion, judge in judged)
        msg = f"{source} mixes judgements that have no common mean: {mixed}"
        raise InvalidSampleError(msg)
    scored = [a for a in read.assessments if a.unscored is None]
    if not scored:
        msg = f"none of the {len(read.assessments)} assessments in {source} has a score"
        raise InvalidSampleError(msg)
    # Without a score of the first judge the others are not asked.
    fused = sorted({tuple(f"{m.criterion} by {m.judge}" for m in a.members) for a in scored})
    if len(fused) > 1:
        mixed = "; ".join(", ".join(names) or "nothing" for names in fused)
        msg = f"{source} mixes scores that are fused with different judges: {mixed}"
        raise InvalidSampleError(msg)
    return Judged(*judged[0], fused[0], read.assessments, len(read.bad))


def note_unused(config: Path | None, read: Judged) -> None:
    """Say on stderr what of a configuration does not apply to a view of all samples at once.

    Raises:
        UnreadableInputError: As for `Config.load`.
    """
    if config is None:
        return
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    found = Config.load(config)
    if found.profiles is not None:
        notes.print(
            f"note: {config} has profiles by {found.profiles.by!r}; its settings for all samples "
            "are used here"
        )
    if found.criterion not in {None, read.criterion}:
        notes.print(f"note: {config} is for {found.criterion}, these are of {read.criterion}")

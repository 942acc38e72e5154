"""Stored assessments as the commands read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from tcva_adapters import io
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.judging.assessment import Assessment

File = Annotated[str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave unusable lines out, and count them.")
]


@dataclass(frozen=True, slots=True)
class Judged:
    """Assessments of one judge under one criterion.

    Attributes:
        criterion: Its name.
        judge: Its name.
        assessments: In the order of the file, unscored ones included.
        skipped: Lines left out.
    """

    criterion: str
    judge: str
    assessments: list[Assessment]
    skipped: int

    @property
    def counts(self) -> FloatArray:
        """Level counts, shape (N, 5); zeros where there is no score."""
        return np.array([a.counts for a in self.assessments])


def read_judged(source: str, *, skip_bad: bool) -> Judged:
    """Read assessments that can be looked at together; says on stderr which lines were skipped.

    Raises:
        InvalidSampleError: Several judges or criteria, or no score at all.
        UnreadableInputError: As for `io.read_assessments`.
    """
    read = io.read_assessments(source, skip_bad=skip_bad)
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    for line, message in read.bad:
        notes.print(f"skipped line {line}: {message}")
    judged = sorted({(a.criterion, a.judge) for a in read.assessments})
    if len(judged) > 1:
        mixed = "; ".join(f"{criterion} by {judge}" for criterion, judge in judged)
        msg = f"{source} mixes judgements that have no common mean: {mixed}"
        raise InvalidSampleError(msg)
    if all(a.unscored is not None for a in read.assessments):
        msg = f"none of the {len(read.assessments)} assessments in {source} has a score"
        raise InvalidSampleError(msg)
    return Judged(*judged[0], read.assessments, len(read.bad))

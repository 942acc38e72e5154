"""What several commands look at, and the options that they share."""

from __future__ import annotations

from typing import Annotated

import typer

from tcva_adapters.compare.judged import Judged
from tcva_adapters.printing import notes

File = Annotated[str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")]
Resamples = Annotated[int, typer.Option("--bootstrap", "-B", help="Resamples for each interval.")]


def read_judged(source: str, *, skip_bad: bool) -> Judged:
    """What a command looks at; says on stderr which lines were skipped, whatever comes of it."""
    judged = Judged.of(source, skip_bad=skip_bad)
    for note in judged.notes:
        notes().print(note)
    return judged

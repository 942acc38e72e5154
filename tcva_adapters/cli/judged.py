"""The file of judgements that several commands look at."""

from __future__ import annotations

from typing import Annotated

import typer

from tcva_adapters.compare.judged import Judged
from tcva_adapters.printing import notes

File = Annotated[str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")]


def read_judged(source: str, *, skip_bad: bool) -> Judged:
    """What a command looks at; says on stderr which lines were skipped, whatever comes of it."""
    judged = Judged.of(source, skip_bad=skip_bad)
    for note in judged.notes:
        notes().print(note)
    return judged

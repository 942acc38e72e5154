"""What several commands look at, the options that they share, and how they print."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

import typer

from tcva_adapters.cli.options import ratings_of
from tcva_adapters.compare.judged import Judged
from tcva_adapters.compare.labels import Labels
from tcva_adapters.printing import Tabular, notes

File = Annotated[str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")]
Resamples = Annotated[int, typer.Option("--bootstrap", "-B", help="Resamples for each interval.")]


def read_judged(source: str, *, skip_bad: bool) -> Judged:
    """What a command looks at; says on stderr which lines were skipped, whatever comes of it."""
    judged = Judged.of(source, skip_bad=skip_bad)
    for note in judged.notes:
        notes().print(note)
    return judged


def read_ratings(judged: Judged, human: str | None, labels: str | None) -> str | Labels | None:
    """Where the human ratings of what was judged are; says on stderr which labels fit no sample.

    Raises:
        InvalidValueError: See `options.ratings_of`.
        UnreadableInputError: See there.
    """
    found = ratings_of(human, labels)
    if isinstance(found, Labels):
        for note in found.notes(judged.names):
            notes().print(f"note: {note}")
    return found


def print_figures(
    found: Tabular, *, as_json: bool, everything: bool, said: Iterable[str] = ()
) -> None:
    """The figures on stdout, as JSON or as tables; before them, on stderr, what is said of them."""
    for note in said:
        notes().print(note)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), allow_nan=False))
    else:
        found.show(full=everything)

"""What several commands look at, the options that they share, and how they print and draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Optional, TextIO

import typer

from tcva_adapters.cli.old_options import ratings_of
from tcva_adapters.compare.labels import Labels
from tcva_adapters.printing import Tabular, json_line, notes

if TYPE_CHECKING:
    from tcva_adapters.compare.evaluation import Evaluation
    from tcva_adapters.compare.judged import Judged
    from tcva_adapters.tables import Report

File = Annotated[str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")]
Beside = Annotated[
    Optional[list[str]],
    typer.Option(
        "--beside",
        help="Judgements of the same samples in another form or by another judge, joined by id; may "
        "be given several times.",
    ),
]
Resamples = Annotated[int, typer.Option("--bootstrap", "-B", help="Resamples for each interval.")]


def read_judged(source: str, *, skip_bad: bool) -> Judged:
    """What a command looks at; says on stderr which lines were skipped, whatever comes of it."""
    # Here: most commands judge, and read no judgements.
    from tcva_adapters.compare.judged import Judged  # noqa: PLC0415  # see above

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
    found: Tabular | Evaluation | Report,
    *,
    as_json: bool,
    everything: bool = False,
    said: Iterable[str] = (),
    file: TextIO | None = None,
    **more: Any,
) -> None:
    """Print figures as JSON or as tables.

    Args:
        found: What a command found.
        as_json: As one line of JSON on standard output.
        everything: All lines of the tables.
        said: What is said of them before, on standard error.
        file: Where tables go; by default standard output.
        more: Further entries of the JSON.
    """
    for note in said:
        notes().print(note)
    if as_json:
        typer.echo(json_line({**found.to_dict(), **more}))
    else:
        found.show(file, full=everything)

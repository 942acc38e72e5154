"""``tcva collect``: put what batches answered into the store, and ask for what is lacking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.submitted import FOLDER, Submission, scorer_of
from tcva_adapters.cli.written import say_written
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import notes
from tcva_adapters.results.store import VerdictStore

# typer reads them at run time, so what is optional is spelt out.
_Store = Annotated[
    Optional[Path], typer.Option(help="Verdict store; by default that of 'tcva submit'.")
]
_Again = Annotated[
    bool,
    typer.Option("--again", help="Also ask once more for what failed, or stopped before the end."),
]
_Wait = Annotated[
    Optional[float],
    typer.Option(help="Look again after so many seconds, until nothing is under way."),
]
_Cancel = Annotated[
    bool,
    typer.Option("--cancel", help="Have the provider stop what is under way, and collect nothing."),
]


def collect(
    folder: Submission = FOLDER,
    *,
    store: _Store = None,
    wait: _Wait = None,
    again: _Again = False,
    cancel: _Cancel = False,
    as_json: options.AsJson = False,
) -> None:
    """Put what was answered into the store, and submit the next round for what is lacking.

    Then 'tcva evaluate' or 'tcva ccrs' with the same store makes no further call for it.

    Example: tcva collect july --wait 300
    """
    from tcva_adapters import batches  # noqa: PLC0415  # they import openai

    if cancel and (again or wait is not None):
        msg = "--cancel collects nothing; leave --again and --wait out"
        raise InvalidValueError(msg)
    recipe, said = batches.recipe_of(folder), notes()
    if cancel:
        found = batches.cancel(scorer_of(recipe), folder)
    else:
        opened = VerdictStore(store or recipe["store"])
        with options.interruptible(said, "the same command goes on, and asks nothing twice"):
            found = batches.collect(
                scorer_of(recipe, opened),
                folder,
                again=again,
                wait=wait,
                progress=True,
                told=lambda report: said.print(report.sentence),
            )
    print_figures(found, as_json=as_json)
    if not cancel:
        say_written({Path(opened.path): "what the judge said, cached"})

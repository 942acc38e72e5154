"""``tcva reproduce``: the paper's tables from a folder of stored verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcva_adapters.cli import options
from tcva_adapters.cli.judged import Resamples
from tcva_adapters.compare import reproduce as reproduced
from tcva_adapters.compare.paper.reproduction import RESAMPLES
from tcva_adapters.printing import json_line
from tcva_adapters.progress import progress_of


def reproduce(
    folder: Annotated[
        Path, typer.Argument(help="Folder of NAME_tcva_scores.json, NAME_prepared.json and so on.")
    ],
    *,
    bootstrap: Resamples = RESAMPLES,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    best: Annotated[
        bool,
        typer.Option("--best", help="Pick each set's T afterwards, for the highest rho."),
    ] = False,
    count_empty: Annotated[
        bool,
        typer.Option(
            "--count-empty",
            help="Count samples without verdicts with the score stored for them, as the paper does.",
        ),
    ] = False,
    no_lexical: Annotated[
        bool, typer.Option("--no-lexical", help="Do not judge the samples with the lexical judge.")
    ] = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """Tables 5 to 9 of the TCVA paper beside its own digits, and fused scores. No call.

    Example: tcva reproduce tcva_paper --all
    """
    with progress_of("resampling", None, wanted=True):
        found = reproduced(
            folder,
            resamples=bootstrap,
            seed=seed,
            best=best,
            count_empty=count_empty,
            lexical=not no_lexical,
        )
    if as_json:
        typer.echo(json_line(found.to_dict()))
    else:
        found.show(full=everything)

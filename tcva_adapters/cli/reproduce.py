"""``tcva reproduce``: the paper's tables from a folder of stored verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.compare.drawing import check_drawing
from tcva_adapters.compare.paper.data import read_folder
from tcva_adapters.compare.paper.figures import draw_figures
from tcva_adapters.compare.paper.reproduction import RESAMPLES, Reproduction, reproduce_set
from tcva_adapters.compare.paper.text import FOOTNOTES, Block, blocks, match, title

_WIDTH = 120


def reproduce(
    folder: Annotated[
        Path, typer.Argument(help="Folder of NAME_tcva_scores.json, NAME_prepared.json and so on.")
    ],
    *,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", "-B", help="Resamples for each interval.")
    ] = RESAMPLES,
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
    figures: Annotated[
        Optional[Path],  # typer reads it at run time
        typer.Option("--figures", help="Draw figures 4 to 9 as png into this folder."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Tables 5 to 9 of the TCVA paper beside its own digits, and fused scores. No call.

    Example: tcva reproduce tcva_paper --figures pictures
    """
    check_drawing(figures)
    sets = read_folder(folder)
    found = [
        reproduce_set(
            one,
            n_boot=bootstrap,
            seed=seed,
            best=best,
            count_empty=count_empty,
            lexical=not no_lexical,
        )
        for one in sets
    ]
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    if as_json:
        for one in found:
            notes.print(title(one))
            for note in one.notes:
                notes.print(f"{one.name}: {note}")
        typer.echo(json.dumps({one.name: one.as_dict() for one in found}, allow_nan=False))
    else:
        _print_tables(found)
    if figures is not None:
        drawn = draw_figures(found, sets, figures)
        notes.print(f"figures: {', '.join(map(str, drawn))}")


def _print_tables(found: Sequence[Reproduction]) -> None:
    # As wide as the widest table, since a narrower console would cut figures short.
    console = Console(highlight=False, markup=False, soft_wrap=True, width=_WIDTH)
    for one in found:
        console.print(title(one))
        for block in blocks(one):
            console.print(f"\n{block.title}")
            _print_block(console, block)
        agreed = match(one)
        console.print()
        if agreed is not None:
            console.print(agreed.text)
        for note in one.notes:
            console.print(f"note: {note}")
        console.print()
    wrapped = Console(highlight=False, markup=False)
    for number, footnote in enumerate(FOOTNOTES, start=1):
        wrapped.print(f"{number}. {footnote}")


def _print_block(console: Console, block: Block) -> None:
    table = Table(box=None, pad_edge=False)
    for i, heading in enumerate(block.header):
        table.add_column(heading, justify="right" if i else "left", no_wrap=True)
    for row in block.rows:
        table.add_row(*row)
    console.print(table)

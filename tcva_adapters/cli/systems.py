"""``tcva systems``: which system is better, and whether that can be told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.compare.drawing import check_drawing
from tcva_adapters.compare.systems.analysis import Progress as OnProgress
from tcva_adapters.compare.systems.analysis import compare_systems
from tcva_adapters.compare.systems.figures import draw_systems
from tcva_adapters.compare.systems.hypotheses import read_hypotheses
from tcva_adapters.compare.systems.read import read_systems
from tcva_adapters.compare.systems.text import Block, blocks, title
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.randomisation import PERMUTATIONS

_WIDTH = 160


def systems(
    scores: Annotated[
        list[str],
        typer.Argument(
            help="Files, or NAME=FILE: long tables (system, query, metric, score; csv, parquet, "
            "jsonl, json), or outputs of tcva evaluate, compare and ccrs, one per system."
        ),
    ],
    *,
    metrics: Annotated[
        Optional[list[str]],  # typer reads it at run time
        typer.Option("--metric", help="Only this metric; may be given several times."),
    ] = None,
    temperatures: Annotated[
        str,
        typer.Option("--temperatures", "-T", help="For outputs of tcva evaluate."),
    ] = "0.1,0.5,0.9",
    system_field: Annotated[
        Optional[str],
        typer.Option(
            "--system-field",
            help="Metadata field that names the system, in outputs of tcva evaluate and ccrs.",
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Level of the tests, over all pairs of a metric together.")
    ] = 0.05,
    permutations: Annotated[
        int, typer.Option("--permutations", "-B", help="Shuffled tables for each metric.")
    ] = PERMUTATIONS,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 0,
    count: Annotated[
        bool, typer.Option("--count", help="p as count / B, as the paper's code has it.")
    ] = False,
    hypotheses: Annotated[
        Optional[Path],
        typer.Option("--hypotheses", help="JSON or csv file of hypotheses; see docs/systems.md."),
    ] = None,
    power: Annotated[
        Optional[float],
        typer.Option("--power", help="A difference: how many queries would show it?"),
    ] = None,
    queries: Annotated[
        Optional[int],
        typer.Option("--queries", help="With --power: the power at so many queries."),
    ] = None,
    bounds: Annotated[
        str, typer.Option(help="Lowest and highest possible score, e.g. 0,100.")
    ] = "0,1",
    figures: Annotated[
        Optional[Path],
        typer.Option("--figures", help="Draw ASL curves and box plots as png into this folder."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare systems on the same queries: means, ties, Tukey's HSD, discriminative power. No call.

    Example: tcva systems plain.jsonl reranked.jsonl -T 0.1,0.5,0.9 --power 0.05
    """
    ends = options.parse_numbers(bounds, "--bounds")
    if len(ends) != 2:
        msg = f"--bounds {bounds!r}; it is two numbers, e.g. 0,100"
        raise InvalidValueError(msg)
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    check_drawing(figures)
    read = read_systems(
        scores,
        temperatures=[part.strip() for part in temperatures.split(",")],
        system_field=system_field,
    )
    table = read.table if not metrics else read.table.only(metrics)
    expected = [] if hypotheses is None else read_hypotheses(hypotheses, table)
    with _progress(notes) as progress:
        report = compare_systems(
            table,
            hypotheses=expected,
            alpha=alpha,
            permutations=permutations,
            seed=seed,
            estimate="count" if count else "add_one",
            bounds=(ends[0], ends[1]),
            difference=power,
            queries=queries,
            notes=read.notes,
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(report.as_dict(), allow_nan=False))
    else:
        console = Console(width=_WIDTH, highlight=False, markup=False, soft_wrap=True)
        console.print(title(report))
        for block in blocks(report):
            console.print()
            _print_block(console, block)
    for note in report.notes:
        notes.print(f"note: {note}")
    if figures is not None:
        drawn = draw_systems(report, figures)
        notes.print(f"figures: {', '.join(map(str, drawn))}")


@contextmanager
def _progress(notes: Console) -> Iterator[OnProgress]:
    """A bar on a terminal, and nothing anywhere else."""
    bar = Progress(console=notes, transient=True)
    # A bar that is switched off prints an empty line before rich 14.3.
    with bar if notes.is_terminal else nullcontext():
        task = bar.add_task("randomisation", total=None)

        def on_progress(metric: str, done: int, total: int) -> None:
            bar.update(task, description=metric, completed=done, total=total)

        yield on_progress


def _print_block(console: Console, block: Block) -> None:
    console.print(block.title)
    table = Table(box=None, pad_edge=False)
    numeric = [all(_is_figure(row[i]) for row in block.rows) for i in range(len(block.header))]
    for heading, right in zip(block.header, numeric, strict=True):
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    for row in block.rows:
        table.add_row(*row)
    console.print(table)
    for line in block.lines:
        console.print(line)


def _is_figure(cell: str) -> bool:
    return cell == "-" or cell.replace(".", "", 1).lstrip("-").rstrip("%").isdigit()

"""``tcva sweep``: stored assessments at many settings of the dial."""

from __future__ import annotations

import json
from itertools import product
from typing import Annotated, Optional

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters import io
from tcva_adapters.cli import options
from tcva_adapters.core.aggregation import sweep as sweep_counts
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidSampleError


def sweep(
    assessments: Annotated[
        str, typer.Argument(help="jsonl written by 'tcva evaluate --out'; '-' for stdin.")
    ],
    *,
    temperatures: Annotated[
        str,
        typer.Option("--temperatures", "-T", help="Temperatures or presets with commas between."),
    ] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0",
    schemes: Annotated[
        Optional[list[str]],  # typer reads it at run time
        typer.Option("--scheme", help="A weight scheme; may be given several times."),
    ] = None,
    penalties: Annotated[
        Optional[list[str]],
        typer.Option("--penalty", help="A penalty dialect; may be given several times."),
    ] = None,
    eps: options.Eps = 1e-9,
    floor: options.Floor = "paper",
    as_json: options.AsJson = False,
) -> None:
    """Mean scores of stored assessments over temperatures, schemes and penalties. No call.

    Example: tcva sweep judged.jsonl --scheme default --scheme linear --penalty paper --penalty off
    """
    grid = [check_temperature(part.strip()) for part in temperatures.split(",")]
    kept = io.read_assessments(assessments).assessments
    judged = sorted({(a.criterion, a.judge) for a in kept})
    if len(judged) > 1:
        mixed = "; ".join(f"{criterion} by {judge}" for criterion, judge in judged)
        msg = f"{assessments} mixes judgements that have no common mean: {mixed}"
        raise InvalidSampleError(msg)
    counts = np.array([a.counts for a in kept if a.unscored is None]).reshape(-1, 5)
    if not len(counts):
        msg = f"none of the {len(kept)} assessments in {assessments} has a score"
        raise InvalidSampleError(msg)
    criterion, judge = judged[0]
    rows = []
    for scheme_name, penalty in product(schemes or ["default"], penalties or ["paper"]):
        scheme = WeightScheme.resolve(options.parse_scheme(scheme_name))
        scores = sweep_counts(counts, grid, scheme=scheme, penalty=penalty, eps=eps, floor=floor)  # type: ignore[arg-type]  # both are checked there
        means = scores.mean(axis=0)
        rows.append((scheme_name, penalty, means.tolist()))

    if as_json:
        records = [
            {"temperature": t, "scheme": s, "penalty": p, "mean_score": m, "scored": len(counts)}
            for s, p, means in rows
            for t, m in zip(grid, means, strict=True)
        ]
        typer.echo(
            json.dumps(
                {"criterion": criterion, "judge": judge, "samples": len(kept), "rows": records}
            )
        )
        return
    console = Console(highlight=False)
    console.print(
        f"{criterion} by {judge}: mean score over {len(counts)} of {len(kept)} assessments",
        markup=False,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("scheme")
    table.add_column("penalty")
    for temperature in grid:
        table.add_column(f"T={temperature:g}", justify="right")
    for scheme_name, penalty, means in rows:
        table.add_row(scheme_name, penalty, *(f"{mean:.3f}" for mean in means))
    console.print(table)

"""``tcva sweep``: stored assessments at many settings of the dial."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Optional

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.cli.judged import File, Judged, note_unused, read_judged
from tcva_adapters.compare.labels import human_labels
from tcva_adapters.core.aggregation import sweep as sweep_counts
from tcva_adapters.core.collapse import ablation as ablation_of
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.scoring import GEOMETRIC
from tcva_adapters.stats.bootstrap import Interval, intervals

# Attribute of `core.collapse.Ablation`, and what the tables say.
_VARIANTS = {
    "full": "A full",
    "without_penalty": "B no penalty",
    "arithmetic": "C arithmetic",
    "binary": "D binary",
}


@dataclass(frozen=True, slots=True)
class _Row:
    """One way to score, at every temperature.

    Attributes:
        name: In tables.
        setting: Variant, scheme and penalty, as in the JSON.
        scores: Shape (N, temperatures); nan where there is no score.
        agreement: With people, one per temperature; empty where it was not asked for.
    """

    name: str
    setting: dict[str, str]
    scores: FloatArray
    agreement: Sequence[Interval]

    @property
    def means(self) -> list[float]:
        """Of the samples with a score, one per temperature."""
        means: list[float] = np.nanmean(self.scores, axis=0).tolist()
        return means


def sweep(
    context: typer.Context,
    assessments: File,
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
    config: options.ConfigFile = None,
    ablation: Annotated[
        bool,
        typer.Option(
            "--ablation",
            help="Parts of the method taken out (A to D), and the four weight schemes.",
        ),
    ] = False,
    human: Annotated[
        Optional[str],
        typer.Option("--human", help="Metadata field of people's labels: Spearman with them."),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", "-B", help="Resamples for each interval.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
) -> None:
    """Mean scores of stored assessments over temperatures, schemes and penalties. No call.

    Where several judges were fused, every figure is of the geometric mean of their scores.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    if ablation and penalties:
        msg = "--ablation has the penalty paper and none of its own; leave --penalty out"
        raise InvalidValueError(msg)
    grid = [check_temperature(part.strip()) for part in temperatures.split(",")]
    dial = options.under_config(context, config, {"eps": eps, "floor": floor})
    floored = {"eps": dial["eps"], "floor": dial["floor"]}
    weights = {s: WeightScheme.resolve(options.parse_scheme(s)) for s in schemes or []}
    if not weights:
        chosen = dial.get("scheme", WeightScheme.DEFAULT)
        weights = SCHEMES if ablation and config is None else {chosen.name: chosen}
    read = read_judged(assessments, skip_bad=skip_bad)
    note_unused(config, read)
    judges = list(read.counts.swapaxes(0, 1))
    labels = None if human is None else human_labels(read.assessments, human)

    def row(name: str, variant: str, scheme: str, penalty: str, scores: FloatArray) -> _Row:
        setting = {"variant": variant, "scheme": scheme, "penalty": penalty}
        agreement = (
            []
            if labels is None
            else intervals("spearman", scores, labels, n_boot=bootstrap, seed=seed)
        )
        return _Row(name, setting, scores, agreement)

    tables: dict[str, list[_Row]] = {}
    if ablation:
        first, scheme = next(iter(weights.items()))
        at = [[ablation_of(rows, t, scheme=scheme, **floored) for rows in judges] for t in grid]
        tables["variant"] = [
            row(
                name,
                variant,
                "default" if variant == "binary" else first,
                "off" if variant == "without_penalty" else "paper",
                np.stack(
                    [GEOMETRIC.joined([getattr(part, variant) for part in parts]) for parts in at],
                    axis=1,
                ),
            )
            for variant, name in _VARIANTS.items()
        ]
        penalties = ["paper"]
    tables["scheme"] = [
        row(
            name,
            "full",
            name,
            penalty,
            GEOMETRIC.joined(
                [
                    sweep_counts(rows, grid, scheme=scheme, penalty=penalty, **floored)
                    for rows in judges
                ]
            ),
        )
        for (name, scheme), penalty in product(
            weights.items(), penalties or [dial.get("penalty", "paper")]
        )
    ]
    if as_json:
        _print_json(read, grid, tables, human)
        return
    _print_tables(read, grid, tables, human)


def _print_json(
    read: Judged, grid: list[float], tables: dict[str, list[_Row]], human: str | None
) -> None:
    scored = sum(a.unscored is None for a in read.assessments)
    records = []
    for row in [row for rows in tables.values() for row in rows]:
        for i, temperature in enumerate(grid):
            record = {"temperature": temperature, **row.setting}
            record |= {"mean_score": row.means[i], "scored": scored}
            if row.agreement:
                record["spearman"] = _figures(row.agreement[i])
            records.append(record)
    about = {**read.about, "samples": len(read.assessments)}
    typer.echo(json.dumps({**about, "skipped": read.skipped, "human": human, "rows": records}))


def _figures(found: Interval) -> dict[str, Any]:
    ends = {"value": found.value, "low": found.low, "high": found.high}
    known = {name: value if np.isfinite(value) else None for name, value in ends.items()}
    return {**known, "n": found.n, "n_boot": found.n_boot, "level": found.level}


def _print_tables(
    read: Judged, grid: list[float], tables: dict[str, list[_Row]], human: str | None
) -> None:
    # A table with many temperatures is wider than a pipe's 80 columns; it must not be cut.
    width = max(Console().width, 30 + 8 * len(grid))
    console = Console(width=width, highlight=False, markup=False)
    scored = sum(a.unscored is None for a in read.assessments)
    console.print(
        f"{read.title}: mean score over {scored} of {len(read.assessments)} assessments",
        soft_wrap=True,
    )
    if list(tables) == ["scheme"]:
        table = Table(box=None, pad_edge=False)
        table.add_column("scheme")
        table.add_column("penalty")
        for temperature in grid:
            table.add_column(f"T={temperature:g}", justify="right")
        for row in tables["scheme"]:
            means = [f"{mean:.3f}" for mean in row.means]
            table.add_row(row.setting["scheme"], row.setting["penalty"], *means)
        console.print(table)
    else:
        for rows in tables.values():
            console.print(_by_temperature(grid, rows, lambda row, i: f"{row.means[i]:.3f}"))
    if human is None:
        return
    first = tables["scheme"][0].agreement[0]
    console.print(
        f"\nSpearman with {human!r} over {first.n} assessments that have a score and a label, "
        f"{first.level:.0%} intervals from {first.n_boot} resamples",
        soft_wrap=True,
    )
    for rows in tables.values():
        console.print(_by_temperature(grid, rows, lambda row, i: _shown(row.agreement[i])))


def _by_temperature(grid: list[float], rows: list[_Row], cell: Callable[[_Row, int], str]) -> Table:
    penalties = len({row.setting["penalty"] for row in rows}) > 1 and rows[0].name not in (
        _VARIANTS.values()
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("T", justify="right")
    for row in rows:
        name = f"{row.name}, {row.setting['penalty']}" if penalties else row.name
        table.add_column(name, justify="right")
    for i, temperature in enumerate(grid):
        table.add_row(f"{temperature:g}", *(cell(row, i) for row in rows))
    return table


def _shown(found: Interval) -> str:
    if np.isnan(found.value):
        return "not defined"
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]".replace("0.", ".")

"""``tcva calibrate``: which setting agrees best with people, and whether that can be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.cli.judged import File, note_unused, read_judged
from tcva_adapters.compare.calibration.calibrate import Calibration
from tcva_adapters.compare.calibration.calibrate import calibrate as calibrate_counts
from tcva_adapters.compare.calibration.candidates import DEFAULT, describe, temperature_grid
from tcva_adapters.compare.calibration.profiles import Profile, calibrate_profiles, to_config
from tcva_adapters.compare.labels import human_labels, metadata_values
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config
from tcva_adapters.results.scoring import Scoring, changed

_SHOWN_PICKS = 6


def calibrate(
    assessments: File,
    *,
    human: Annotated[
        str, typer.Option("--human", help="Metadata field of the labels: numbers, or pass/fail.")
    ],
    objective: Annotated[
        str, typer.Option("--objective", help="spearman, kendall, mae, f1 or kappa.")
    ] = "spearman",
    temperatures: Annotated[
        Optional[str],  # typer reads it at run time
        typer.Option("--temperatures", "-T", help="To choose from, with commas between."),
    ] = None,
    step: Annotated[
        float, typer.Option(help="Distance of the temperatures where none are given.")
    ] = 0.05,
    schemes: Annotated[
        Optional[list[str]],
        typer.Option("--scheme", help="A weight scheme to choose from; several times."),
    ] = None,
    penalties: Annotated[
        Optional[list[str]],
        typer.Option("--penalty", help="A penalty dialect to choose from; several times."),
    ] = None,
    floors: Annotated[
        Optional[list[str]], typer.Option("--floor", help="A floor to choose from; several times.")
    ] = None,
    eps: Annotated[
        Optional[list[float]],
        typer.Option("--eps", help="A least weight to choose from; several times."),
    ] = None,
    thresholds: Annotated[
        Optional[list[float]],
        typer.Option("--threshold", help="A threshold to choose from (f1, kappa); several times."),
    ] = None,
    human_threshold: Annotated[
        Optional[float],
        typer.Option(help="A label passes from here on; by default the middle of the scale."),
    ] = None,
    human_scale: Annotated[
        str, typer.Option(help="Lowest and highest label that people could give.")
    ] = "0,1",
    by: Annotated[
        Optional[str], typer.Option("--by", help="Metadata field: a profile for each value.")
    ] = None,
    group: Annotated[
        Optional[str],
        typer.Option("--group", help="Metadata field: samples that belong together (a document)."),
    ] = None,
    mapping: Annotated[
        Optional[str],
        typer.Option("--mapping", help="isotonic: a rising line from scores to the human scale."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of a division.")] = 5,
    repeats: Annotated[int, typer.Option(help="Divisions.")] = 50,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", "-B", help="Resamples for each interval.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of divisions and resamples.")] = 0,
    config: Annotated[
        Optional[Path],
        typer.Option(
            "--config",
            help="The settings in use now, which a choice has to beat; by default T=0.5.",
        ),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option("--out", "-o", help="Write the recommended settings here, for --config."),
    ] = None,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
) -> None:
    """Which temperature agrees best with people, and whether that can be told. No call.

    Where several judges were fused, every score is the geometric mean of theirs.

    Example: tcva calibrate judged.jsonl --human human_score --out tcva.json
    """
    if mapping not in {None, "isotonic"}:
        msg = f"unknown mapping {mapping!r}; there is isotonic"
        raise InvalidValueError(msg)
    if mapping is not None and by is not None:
        msg = "--mapping belongs to one setting and --by makes several; use one of them at a time"
        raise InvalidValueError(msg)
    scale = options.parse_numbers(human_scale, "--human-scale")
    if len(scale) != 2:
        msg = f"--human-scale {human_scale!r}; it is two numbers, e.g. 1,5"
        raise InvalidValueError(msg)
    if out is not None:
        options.check_target(out, assessments)
    baseline = _in_use(config)
    read = read_judged(assessments, skip_bad=skip_bad)
    note_unused(config, read)
    labels = human_labels(read.assessments, human)
    settings: dict[str, Any] = {
        "objective": objective,
        "temperatures": [t.strip() for t in temperatures.split(",")]
        if temperatures is not None
        else temperature_grid(step),
        "schemes": [options.parse_scheme(scheme) for scheme in schemes or []] or [baseline.scheme],
        "penalties": penalties or [baseline.penalty],
        "floors": floors or [baseline.floor],
        "eps": eps or [baseline.eps],
        "thresholds": thresholds or None,
        "human_scale": tuple(scale),
        "human_threshold": human_threshold,
        "folds": folds,
        "repeats": repeats,
        "n_boot": bootstrap,
        "seed": seed,
        "groups": metadata_values(read.assessments, group) if group else None,
    }
    found = calibrate_counts(
        read.counts, labels, baseline=baseline, mapping=mapping is not None, **settings
    )
    profiles = None
    if by is not None:
        parts = metadata_values(read.assessments, by)
        profiles = calibrate_profiles(
            read.counts, labels, parts, baseline=found.recommended, **settings
        )
    about = {**read.about, "human": human}
    if out is not None:
        to_config(found, criterion=read.criterion, by=by, profiles=profiles, provenance=about).dump(
            out
        )
    if as_json:
        parts_found = {part: profile.as_dict() for part, profile in (profiles or {}).items()}
        figures = {"samples": len(read.assessments), "skipped": read.skipped, **found.as_dict()}
        typer.echo(json.dumps({**about, **figures, "by": by, "profiles": parts_found or None}))
        return
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"{read.title}: {objective} with {human!r}, {_used(found)}")
    _print_figures(console, found)
    if profiles is not None:
        _print_profiles(console, str(by), profiles)
    if out is not None:
        console.print(f"written to {out}; read with --config {out}")


def _in_use(config: Path | None) -> Scoring:
    """The settings that a file has for all samples; the defaults without one."""
    given = {} if config is None else Config.load(config).settings.given()
    return changed(DEFAULT, given)


def _used(found: Calibration) -> str:
    left_out = [
        f"{number} {why}"
        for number, why in ((found.unscored, "unscored"), (found.unlabelled, "without a label"))
        if number
    ]
    return f"{found.n} samples" + (f" ({', '.join(left_out)} left out)" if left_out else "")


def _print_figures(console: Console, found: Calibration) -> None:
    gain = found.gain
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    before = "the default" if found.baseline == DEFAULT else "in use now"
    table.add_row(describe(found.baseline), f"{found.before:.3f}", before)
    table.add_row(
        describe(found.chosen),
        f"{found.in_sample:.3f}",
        f"best of {found.candidates}, on the samples it was chosen on",
    )
    table.add_row(
        "chosen out of fold",
        f"{found.out_of_fold:.3f}",
        f"on samples it has not seen, {found.folds} folds, {found.repeats} times",
    )
    table.add_row(
        "gain of choosing",
        f"{gain.value:.3f}",
        f"{gain.level:.0%} interval {gain.low:.3f} to {gain.high:.3f}",
    )
    mapped = found.mapping
    if mapped is not None:
        table.add_row("mae of the scores", f"{mapped.mae_raw:.3f}", "stretched to the human scale")
        table.add_row(
            "mae when mapped",
            f"{mapped.mae_in_sample:.3f}",
            "isotonic, on the samples it was fitted on",
        )
        table.add_row(
            "mae out of fold", f"{mapped.mae:.3f}", "isotonic, on samples it has not seen"
        )
        table.add_row(
            "gain of the mapping",
            f"{mapped.gain.value:.3f}",
            f"{mapped.gain.level:.0%} interval {mapped.gain.low:.3f} to {mapped.gain.high:.3f}",
        )
    console.print(table)
    picks = [f"{describe(setting)} {share:.0%}" for setting, share in found.picks]
    often = [text for text in picks[:_SHOWN_PICKS] if not text.endswith(" 0%")]
    more = f"; {len(picks) - len(often)} more" if len(picks) > len(often) else ""
    console.print(f"chosen in the folds: {'; '.join(often)}{more}")
    for note in found.notes:
        console.print(f"warning: {note}")
    console.print(found.recommendation)
    if mapped is not None:
        says = "use the mapping" if mapped.gain.detectable else "no detectable gain: use none"
        console.print(f"mapping: {says}")


def _print_profiles(console: Console, by: str, profiles: dict[str, Profile]) -> None:
    console.print(f"\nby {by!r}, each on its own samples:")
    for part, profile in profiles.items():
        found = profile.calibration
        if found is None:
            console.print(f"  {part}: {profile.recommendation}")
            continue
        gain = found.gain
        console.print(
            f"  {part}: {profile.recommendation} ({found.n} samples; best {describe(found.chosen)}; "
            f"gain {gain.value:.3f}, {gain.level:.1%} interval {gain.low:.3f} to {gain.high:.3f})"
        )

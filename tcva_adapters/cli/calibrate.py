"""``tcva calibrate``: which settings agree best with human ratings, if that can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import stat_options, texts
from tcva_adapters.cli.judged import File, Resamples, print_figures
from tcva_adapters.cli.validate import scoring_of
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare.calibration import calibrate as calibrated
from tcva_adapters.compare.calibration import recommended
from tcva_adapters.progress import progress_of
from tcva_adapters.results.config import OURS
from tcva_adapters.results.settings import ScoringConfig


def calibrate(
    judged: File,
    *,
    human: Annotated[
        str,
        typer.Option(help="The field of human ratings, several with commas, or a file of labels."),
    ],
    human_scale: stat_options.GivenScale = None,
    human_threshold: stat_options.HumanThreshold = None,
    objective: Annotated[str, typer.Option(help="spearman, mae or kappa.")] = "spearman",
    temperatures: Annotated[
        Optional[str], typer.Option("--temperatures", "-T", help="To choose from, by commas.")
    ] = None,
    schemes: Annotated[
        Optional[list[str]],
        typer.Option("--scheme", help="A weight scheme to choose from; several times."),
    ] = None,
    penalties: Annotated[
        Optional[list[str]],
        typer.Option("--penalty", help="A penalty to choose from; several times."),
    ] = None,
    by: Annotated[
        Optional[str], typer.Option("--by", help="A field: a temperature for each value.")
    ] = None,
    group: stat_options.Group = None,
    bootstrap: Resamples = 2000,
    level: stat_options.Level = 0.95,
    seed: Annotated[int, typer.Option(help="Of divisions and resamples.")] = 0,
    config: Annotated[
        Optional[Path],
        typer.Option("--config", help="The settings in use, to be beaten; by default T=0.5."),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option("--out", "-o", help="Write the recommended settings here, for --config."),
    ] = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """Which settings agree best with human ratings, and whether that can be told. No call.

    Example: tcva calibrate judged.jsonl --human human_score --out tcva.json
    """
    if out is not None:
        options.check_target(out, judged, OURS, overwrite=overwrite)
    with progress_of("calibrating", None, wanted=True):
        found = calibrated(
            judged,
            human,
            objective=objective,  # type: ignore[arg-type]  # checked there, as are penalties
            temperatures=texts.parse_names(temperatures) if temperatures else (),
            schemes=[texts.parse_scheme(scheme) for scheme in schemes or []],
            penalties=penalties or (),  # type: ignore[arg-type]  # see above
            by=by,
            group=group,
            scoring=scoring_of(config) or ScoringConfig(),
            human_scale=None
            if human_scale is None
            else texts.parse_pair(human_scale, "--human-scale"),
            human_threshold=human_threshold,
            resamples=bootstrap,
            level=level,
            seed=seed,
            skip_bad=skip_bad,
        )
    if out is not None:
        recommended(found).dump(out, overwrite=overwrite)
    print_figures(found, as_json=as_json, everything=everything)
    if out is not None:
        say_written({out: f"the recommended settings, for --config {out}"})

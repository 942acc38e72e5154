"""``tcva calibrate``: which setting agrees best with human ratings, if that can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import stat_options, texts
from tcva_adapters.cli.judged import File, Resamples, print_figures, read_judged, read_ratings
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare import calibrate as calibrated
from tcva_adapters.compare.calibration.candidates import temperature_grid
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.progress import progress_of
from tcva_adapters.results.config import OURS
from tcva_adapters.results.settings import ScoringConfig

# typer reads them at run time, so what is optional is spelt out.
_Objective = Annotated[
    str, typer.Option("--objective", help="spearman, kendall, mae, f1 or kappa.")
]
_Temperatures = Annotated[
    Optional[str], typer.Option("--temperatures", "-T", help="To choose from, with commas between.")
]
_Step = Annotated[float, typer.Option(help="Distance of the temperatures where none are given.")]
_Schemes = Annotated[
    Optional[list[str]],
    typer.Option("--scheme", help="A weight scheme to choose from; several times."),
]
_Penalties = Annotated[
    Optional[list[str]],
    typer.Option("--penalty", help="A penalty dialect to choose from; several times."),
]
_Floors = Annotated[
    Optional[list[str]], typer.Option("--floor", help="A floor to choose from; several times.")
]
_Eps = Annotated[
    Optional[list[float]],
    typer.Option("--eps", help="A least weight to choose from; several times."),
]
_Thresholds = Annotated[
    Optional[list[float]],
    typer.Option("--threshold", help="A threshold to choose from (f1, kappa); several times."),
]
_By = Annotated[
    Optional[str], typer.Option("--by", help="Metadata field: a profile for each value.")
]
_Folds = Annotated[int, typer.Option(help="Parts of a division.")]
_Repeats = Annotated[int, typer.Option(help="Divisions.")]
_Seed = Annotated[int, typer.Option(help="Seed of divisions and resamples.")]
_Config = Annotated[
    Optional[Path],
    typer.Option(
        "--config", help="The settings in use now, which a choice has to beat; by default T=0.5."
    ),
]
_Evidence = Annotated[
    Optional[str],
    typer.Option(
        "--evidence",
        help="Verdicts without a supporting quote: lower or off; by default as in use.",
    ),
]
_Out = Annotated[
    Optional[Path],
    typer.Option("--out", "-o", help="Write the recommended settings here, for --config."),
]


@options.takes(ScoringConfig, options.BOUNDS)
def calibrate(
    context: typer.Context,
    assessments: File,
    *,
    human: options.Human = None,
    labels: options.LabelFile = None,
    objective: _Objective = "spearman",
    temperatures: _Temperatures = None,
    step: _Step = 0.05,
    schemes: _Schemes = None,
    penalties: _Penalties = None,
    floors: _Floors = None,
    eps: _Eps = None,
    thresholds: _Thresholds = None,
    human_threshold: stat_options.HumanThreshold = None,
    human_scale: stat_options.HumanScale = "0,1",
    by: _By = None,
    group: stat_options.Group = None,
    folds: _Folds = 5,
    repeats: _Repeats = 50,
    bootstrap: Resamples = 2000,
    seed: _Seed = 0,
    config: _Config = None,
    evidence: _Evidence = None,
    out: _Out = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    **dial: Any,
) -> None:
    """Which temperature agrees best with human ratings, and whether that can be told. No call.

    Where several judges were fused, every score is the geometric mean of theirs.

    Example: tcva calibrate judged.jsonl --human human_score --out tcva.json
    """
    scale = texts.parse_pair(human_scale, "--human-scale")
    if out is not None:
        options.check_target(out, assessments, OURS, overwrite=overwrite)
    judged = read_judged(assessments, skip_bad=skip_bad)
    ratings = read_ratings(judged, human, labels)
    if ratings is None:
        msg = "no human ratings to calibrate by; name their field with --human, or a file with --labels"
        raise InvalidValueError(msg)
    grid = texts.parse_names(temperatures) if temperatures else temperature_grid(step)
    with progress_of("calibrating", None, wanted=True):
        found = calibrated(
            judged,
            ratings,
            objective=objective,  # type: ignore[arg-type]  # checked there, as are penalties and floors
            temperatures=grid,
            schemes=[texts.parse_scheme(scheme) for scheme in schemes or []],
            penalties=penalties,  # type: ignore[arg-type]  # see above
            floors=floors,  # type: ignore[arg-type]  # see above
            eps=eps,
            thresholds=thresholds or None,
            human_scale=scale,
            human_threshold=human_threshold,
            by=by,
            group=group,
            config=config,
            bounds=options.under_config(context, config, dial).get(options.BOUNDS),
            evidence=evidence,  # type: ignore[arg-type]  # see above
            folds=folds,
            repeats=repeats,
            n_boot=bootstrap,
            seed=seed,
        )
    if out is not None:
        found.save(out, overwrite=overwrite)
    unused = (f"note: {note}" for note in found.unused)
    print_figures(found, as_json=as_json, everything=everything, said=unused)
    if out is not None:
        say_written({out: f"the recommended settings, for --config {out}"})

"""``tcva sweep``: stored judgements at many settings of the dial."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import scaled, stat_options, texts
from tcva_adapters.cli.judged import (
    Beside,
    File,
    check_figures,
    draw_figures,
    print_figures,
    read_judged,
    read_ratings,
)
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare import sweep as swept
from tcva_adapters.results.settings import ScoringConfig


@options.takes(ScoringConfig, "eps", "floor", options.BOUNDS, "evidence")
def sweep(
    context: typer.Context,
    assessments: File,
    *,
    temperatures: Annotated[
        str,
        typer.Option("--temperatures", "-T", help="Temperatures or presets with commas between."),
    ] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0",
    # typer reads them at run time, so what is optional is spelt out.
    schemes: Annotated[
        Optional[list[str]],
        typer.Option("--scheme", help="A weight scheme; may be given several times."),
    ] = None,
    penalties: Annotated[
        Optional[list[str]],
        typer.Option("--penalty", help="A penalty dialect; may be given several times."),
    ] = None,
    config: options.ConfigFile = None,
    ablation: Annotated[
        bool,
        typer.Option(
            "--ablation",
            help="Parts of the method taken out (A to D), and the four weight schemes.",
        ),
    ] = False,
    beside: Beside = None,
    human: options.Human = None,
    labels: options.LabelFile = None,
    group: stat_options.Group = None,
    skip_bad: options.SkipBad = False,
    ray: scaled.Ray = None,
    figures: options.Figures = None,
    figure_format: options.FigureFormat = "png",
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    **dial: Any,
) -> None:
    """Mean scores of stored judgements over temperatures, schemes and penalties. No call.

    Where several judges were fused, every figure is of the geometric mean of their scores.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    check_figures(figures, figure_format)
    dial = options.under_config(context, config, dial)
    with scaled.judgements(assessments, ray) as file:
        judged = read_judged(str(file), skip_bad=skip_bad)
        found = swept(
            judged,
            texts.parse_names(temperatures),
            schemes={scheme: texts.parse_scheme(scheme) for scheme in schemes or []},
            penalties=penalties,  # type: ignore[arg-type]  # checked there
            eps=dial["eps"],
            floor=dial["floor"],
            bounds=dial.get(options.BOUNDS),
            evidence=dial["evidence"],
            config=config,
            ablation=ablation,
            beside=beside or (),
            human=read_ratings(judged, human, labels),
            group=group,
        )
    unused = (f"note: {note}" for note in found.unused)
    print_figures(found, as_json=as_json, everything=everything, said=unused)
    say_written(draw_figures(found, figures, figure_format, overwrite=overwrite))

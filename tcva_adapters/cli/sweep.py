"""``tcva sweep``: stored judgements at many settings of the dial."""

from __future__ import annotations

import json
from typing import Annotated, Optional

import typer

from tcva_adapters.cli import options
from tcva_adapters.cli.judged import File, Resamples, read_judged
from tcva_adapters.compare import sweep as swept
from tcva_adapters.printing import notes

# typer reads them at run time, so what is optional is spelt out.
_Temperatures = Annotated[
    str, typer.Option("--temperatures", "-T", help="Temperatures or presets with commas between.")
]
_Schemes = Annotated[
    Optional[list[str]],
    typer.Option("--scheme", help="A weight scheme; may be given several times."),
]
_Penalties = Annotated[
    Optional[list[str]],
    typer.Option("--penalty", help="A penalty dialect; may be given several times."),
]
_Ablation = Annotated[
    bool,
    typer.Option(
        "--ablation", help="Parts of the method taken out (A to D), and the four weight schemes."
    ),
]
_Human = Annotated[
    Optional[str],
    typer.Option("--human", help="Metadata field of human ratings: Spearman with them."),
]
_Seed = Annotated[int, typer.Option(help="Seed of the resamples.")]


def sweep(
    context: typer.Context,
    assessments: File,
    *,
    temperatures: _Temperatures = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0",
    schemes: _Schemes = None,
    penalties: _Penalties = None,
    eps: options.Eps = 1e-9,
    floor: options.Floor = "paper",
    config: options.ConfigFile = None,
    ablation: _Ablation = False,
    human: _Human = None,
    bootstrap: Resamples = 2000,
    seed: _Seed = 0,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
) -> None:
    """Mean scores of stored judgements over temperatures, schemes and penalties. No call.

    Where several judges were fused, every figure is of the geometric mean of their scores.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    dial = options.under_config(context, config, {"eps": eps, "floor": floor})
    found = swept(
        read_judged(assessments, skip_bad=skip_bad),
        options.parse_names(temperatures),
        schemes={scheme: options.parse_scheme(scheme) for scheme in schemes or []},
        penalties=penalties,  # type: ignore[arg-type]  # checked there
        eps=dial["eps"],
        floor=dial["floor"],
        config=config,
        ablation=ablation,
        human=human,
        n_boot=bootstrap,
        seed=seed,
    )
    for note in found.unused:
        notes().print(f"note: {note}")
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        found.show()

"""``tcva sweep``: stored judgements at many temperatures."""

from __future__ import annotations

from typing import Annotated, Optional

from tcva_adapters.cli import options
from tcva_adapters.cli.options import SCORING, option
from tcva_adapters.cli.output import draw, print_report
from tcva_adapters.cli.settings import (
    names_of,
    numbers,
    parse_settings,
    scoring_of,
    taken,
    weights_of,
)
from tcva_adapters.compare.temperature import sweep as swept
from tcva_adapters.results.settings import AnalysisConfig, ScoringConfig

_Schemes = Annotated[
    Optional[list[str]],
    option(
        SCORING,
        "A weight scheme by name, or five numbers with commas between; several times.",
        "--scheme",
        metavar="SCHEME",
    ),
]
_Ablation = Annotated[
    bool,
    option(
        SCORING,
        "Parts of the method taken out (A to D), and the four weight schemes.",
        "--ablation",
    ),
]


def sweep(
    judged: options.Judged,
    *,
    skip_bad: options.SkipBad = False,
    temperatures: options.Temperatures = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0",
    schemes: _Schemes = None,
    ablation: _Ablation = False,
    config: options.ConfigFile = None,
    set_: options.Set = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    figures: options.Figures = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """Scores of stored judgements over temperatures, and the ablation. No call.

    Settings: those of a score, resamples, seed. Of fused judges every score is the geometric mean.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    settings = parse_settings(set_, ScoringConfig, AnalysisConfig)
    drawn = taken(settings, AnalysisConfig)
    found = swept(
        judged,
        names_of(temperatures or ""),
        scoring=scoring_of(config, settings),
        schemes=[weights_of(scheme) for scheme in schemes or ()],
        ablation=ablation,
        human=human,
        human_scale=None if human_scale is None else numbers(human_scale, "--human-scale"),
        group=group,
        skip_bad=skip_bad,
        **drawn,
    )
    print_report(found, as_json=as_json, everything=everything)
    draw(found, figures, overwrite=overwrite)

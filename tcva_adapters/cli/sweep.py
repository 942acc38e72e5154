"""``tcva sweep``: stored judgements at many temperatures."""

from __future__ import annotations

from typing import Annotated, Any, Optional

from tcva_adapters import report as reports
from tcva_adapters.cli import options
from tcva_adapters.cli.options import SCORING, option
from tcva_adapters.cli.output import print_report, say_written
from tcva_adapters.cli.settings import names_of, numbers, parse_settings, under_config
from tcva_adapters.compare.temperature import TEMPERATURES
from tcva_adapters.compare.temperature import sweep as swept
from tcva_adapters.results.settings import AnalysisConfig, ScoringConfig

_Schemes = Annotated[
    Optional[list[str]], option(SCORING, "A weight scheme by its name; several times.", "--scheme")
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
    temperatures: options.Temperatures = None,
    schemes: _Schemes = None,
    ablation: _Ablation = False,
    config: options.ConfigFile = None,
    set_: options.Set = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    skip_bad: options.SkipBad = False,
    figures: options.Figures = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """Mean scores and pass rates of stored judgements over temperatures. No call.

    Settings: threshold, scheme, penalty, eps, floor, bounds, evidence, resamples, seed.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    drawn = parse_settings(set_, AnalysisConfig, ScoringConfig)
    scoring = {name: drawn.pop(name) for name in [*drawn] if name in ScoringConfig.model_fields}
    given: dict[str, Any] = under_config(config, scoring)
    known = {name: value for name, value in given.items() if name in ScoringConfig.model_fields}
    found = swept(
        judged,
        TEMPERATURES if temperatures is None else names_of(temperatures),
        scoring=ScoringConfig(**known) if known else None,
        schemes=schemes or (),
        ablation=ablation,
        human=human,
        human_scale=None if human_scale is None else _scale(human_scale),
        group=group,
        skip_bad=skip_bad,
        **drawn,
    )
    print_report(found, as_json=as_json, everything=everything)
    if figures is not None:
        say_written(dict.fromkeys(reports.save_figures(found, figures), "figure"))


def _scale(text: str) -> tuple[float, float]:
    low, high = numbers(text, "--human-scale")
    return low, high

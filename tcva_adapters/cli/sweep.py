"""``tcva sweep``: stored judgements at many temperatures."""

from __future__ import annotations

from pathlib import Path

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
from tcva_adapters.compare.temperature import TEMPERATURES
from tcva_adapters.compare.temperature import sweep as swept
from tcva_adapters.results.settings import AnalysisConfig, ScoringConfig


def sweep(
    judged: str = options.JUDGED,
    *,
    skip_bad: bool = options.SKIP_BAD,
    temperatures: str | None = options.TEMPERATURES,
    schemes: list[str] | None = options.SCHEMES,
    ablation: bool = option(
        SCORING, "--ablation", "Parts taken out (A to D), and four schemes.", default=False
    ),
    config: Path | None = options.CONFIG,
    set_: list[str] | None = options.SET,
    human: str | None = options.HUMAN,
    human_scale: str | None = options.HUMAN_SCALE,
    group: str | None = options.GROUP,
    figures: Path | None = options.FIGURES,
    overwrite: bool = options.OVERWRITE,
    everything: bool = options.ALL,
    as_json: bool = options.JSON,
) -> None:
    """Scores of stored judgements over temperatures, and the ablation. No call.

    Settings: those of a score, resamples, seed. Of fused judges every score is the geometric mean.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    settings = parse_settings(set_, ScoringConfig, AnalysisConfig)
    drawn = taken(settings, AnalysisConfig)
    found = swept(
        judged,
        names_of(temperatures) if temperatures else TEMPERATURES,
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

"""``tcva calibrate``: which temperature agrees best with human ratings, if that can be told."""

from __future__ import annotations

from pathlib import Path

from tcva_adapters.cli import options
from tcva_adapters.cli.options import OUTPUT, RATINGS, SCORING, option
from tcva_adapters.cli.output import check_targets, print_report, say_written
from tcva_adapters.cli.settings import (
    names_of,
    numbers,
    parse_settings,
    scoring_of,
    taken,
    weights_of,
)
from tcva_adapters.compare.calibration import calibrate as calibrated
from tcva_adapters.compare.calibration import recommended
from tcva_adapters.progress import progress_of
from tcva_adapters.results.config import OURS
from tcva_adapters.results.settings import AnalysisConfig, ScoringConfig


def calibrate(
    judged: str = options.JUDGED,
    *,
    skip_bad: bool = options.SKIP_BAD,
    human: str | None = options.HUMAN,
    human_scale: str | None = options.HUMAN_SCALE,
    human_threshold: float | None = options.HUMAN_THRESHOLD,
    objective: str = option(
        RATINGS, "--objective", "What is to be best: spearman, mae or kappa.", default="spearman"
    ),
    by: str | None = option(RATINGS, "--by", "A temperature for each value of a field.", "FIELD"),
    group: str | None = options.GROUP,
    temperatures: str | None = options.TEMPERATURES,
    schemes: list[str] | None = options.SCHEMES,
    penalties: list[str] | None = option(
        SCORING, "--penalty", "A penalty to choose from; repeatable."
    ),
    config: Path | None = options.CONFIG,
    set_: list[str] | None = options.SET,
    out: Path | None = option(
        OUTPUT, "--out -o", "Write the recommended settings, for --config.", "FILE"
    ),
    overwrite: bool = options.OVERWRITE,
    everything: bool = options.ALL,
    as_json: bool = options.JSON,
) -> None:
    """Choose the temperature that agrees best with human ratings, and say whether that can be told.

    --config and --set say what is in use now, which a choice has to beat; level, resamples and seed
    are settings, too. No call.

    Example: tcva calibrate judged.jsonl --human human_score --out tcva.json
    """
    check_targets({"--out": (out, OURS)}, [judged], overwrite=overwrite)
    settings = parse_settings(set_, ScoringConfig, AnalysisConfig)
    drawn = taken(settings, AnalysisConfig)
    with progress_of("calibrating", None, wanted=True):
        found = calibrated(
            judged,
            human,
            objective=objective,  # type: ignore[arg-type]  # checked there, as are penalties
            temperatures=names_of(temperatures) if temperatures else (),
            schemes=[weights_of(scheme) for scheme in schemes or ()],
            penalties=penalties or (),  # type: ignore[arg-type]  # as above
            by=by,
            group=group,
            scoring=scoring_of(config, settings) or ScoringConfig(),
            human_scale=None if human_scale is None else numbers(human_scale, "--human-scale"),
            human_threshold=human_threshold,
            skip_bad=skip_bad,
            **drawn,
        )
    print_report(found, as_json=as_json, everything=everything)
    if out is not None:
        recommended(found).dump(out, overwrite=overwrite)
        say_written({out: f"the recommended settings, for --config {out}"})

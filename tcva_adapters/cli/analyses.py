"""The commands that look at stored judgements and scores: no call of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tcva_adapters import compare  # its names are imported when they are used
from tcva_adapters.cli import options, output
from tcva_adapters.cli.configs import AnalysisConfig, DrawsConfig
from tcva_adapters.cli.options import (
    GATES,
    INPUT,
    OUTPUT,
    RATINGS,
    SCORING,
    argument,
    flag,
    option,
)
from tcva_adapters.cli.report import PAGE, write_page
from tcva_adapters.cli.settings import (
    names_of,
    pair_of,
    parse_settings,
    scoring_of,
    take,
    value_of,
)
from tcva_adapters.compare.agreement.labels import OURS as LABELS
from tcva_adapters.compare.agreement.labels import write_labels
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.console import note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.progress import progress_of
from tcva_adapters.report.markdown import BEGINS as MARKDOWN
from tcva_adapters.results.config import OURS as CONFIG
from tcva_adapters.results.scoring import ScoringConfig


def sweep(
    judged: options.Results,
    *,
    skip_bad: options.SkipBad = False,
    temperatures: options.Temperatures = None,
    schemes: options.Schemes = None,
    ablation: Annotated[
        bool,
        flag(
            SCORING, "--ablation", "Also without parts of the method, and four schemes."
        ),
    ] = False,
    config: options.Config = None,
    set_: options.Settings = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    figures: options.Figures = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Score stored judgements at many temperatures. Makes no model call.

    --set takes the settings of a score, resamples and seed. With fused judges every score is the
    geometric mean.

    Example: tcva sweep judged.jsonl --ablation --human human_score
    """
    settings = parse_settings(set_, ScoringConfig, AnalysisConfig)
    drawn = take(settings, AnalysisConfig)
    if temperatures is not None:
        drawn["temperatures"] = names_of(temperatures)
    found = compare.sweep(
        judged,
        scoring=scoring_of(config, settings),
        schemes=[value_of(scheme) for scheme in schemes or ()],
        ablation=ablation,
        human=human,
        human_scale=pair_of(human_scale, "--human-scale"),
        group=group,
        skip_bad=skip_bad,
        **drawn,
    )
    output.print_report(found, as_json=as_json, everything=everything)
    output.draw(found, figures, overwrite=overwrite)


def calibrate(
    judged: options.Results,
    *,
    skip_bad: options.SkipBad = False,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    human_threshold: options.HumanThreshold = None,
    objective: Annotated[
        str, option(RATINGS, "--objective", "What to optimise: spearman, mae or kappa.")
    ] = "spearman",
    by: Annotated[
        str | None,
        option(RATINGS, "--by", "A temperature per value of a field.", "FIELD"),
    ] = None,
    group: options.Group = None,
    temperatures: options.Temperatures = None,
    schemes: options.Schemes = None,
    penalties: Annotated[
        list[str] | None,
        option(SCORING, "--penalty", "Penalty to try; repeatable.", "NAME"),
    ] = None,
    config: options.Config = None,
    set_: options.Settings = None,
    max_false_pass: options.MaxFalsePass = None,
    min_true_pass: Annotated[
        float | None,
        option(
            GATES,
            "--min-true-pass",
            "Smallest share of good answers that must pass.",
            "SHARE",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        option(GATES, "--confidence", "Confidence of the limits (default: 0.95)."),
    ] = None,
    out: Annotated[
        Path | None, option(OUTPUT, "--out -o", "Write settings for --config.", "FILE")
    ] = None,
    report: options.Page = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Choose the temperature that agrees best with human ratings, and test the gain.

    Makes no model call. --config and --set give the settings in use, which a choice must beat.
    --set also takes level, resamples and seed. With --max-false-pass or --min-true-pass it chooses
    the threshold instead, and exits with 1 if no threshold is certified to keep the limits.

    Example: tcva calibrate judged.jsonl --human human_score --max-false-pass 0.1 --out tcva.json
    """
    targets = {"--out": (out, CONFIG), "--report": (report, PAGE)}
    output.check_targets(targets, overwrite=overwrite, as_json=as_json)
    settings = parse_settings(
        set_, ScoringConfig, AnalysisConfig, options=["objective"]
    )
    unused = settings.keys() & {"threshold", *AnalysisConfig.model_fields}
    if unused and not max_false_pass is min_true_pass is None:
        msg = f"--set {min(unused)} is not used with a limit; leave it out"
        raise InvalidValueError(msg)
    drawn = take(settings, AnalysisConfig)
    scale, scoring = pair_of(human_scale, "--human-scale"), scoring_of(config, settings)
    scoring = scoring or ScoringConfig()
    how: Any = {
        "human": human,
        "human_scale": scale,
        "group": group,
        "skip_bad": skip_bad,
    }
    table = compare.read_scores(judged, **how, scoring=scoring)
    with progress_of("calibrating", None, wanted=True):
        found = compare.calibrate(
            table,
            objective=objective,  # type: ignore[arg-type]  # checked there, as are penalties
            temperatures=names_of(temperatures) if temperatures else (),
            schemes=[value_of(scheme) for scheme in schemes or ()],
            penalties=penalties or (),  # type: ignore[arg-type]  # as above
            by=by,
            scoring=scoring,
            human_scale=scale,
            human_threshold=human_threshold,
            max_false_pass=max_false_pass,
            min_true_pass=min_true_pass,
            confidence=confidence,
            **drawn,
        )
    output.print_report(found, as_json=as_json, everything=everything)
    if (
        report
        and judged != output.STDOUT
        and (chosen := found.settings.get("guarantee"))
    ):
        table = compare.read_scores(
            judged, **how, scoring=ScoringConfig(**chosen["setting"])
        )
    has_found = found.settings["recommended"] is not None
    if out is not None and has_found:
        recommended(found).dump(out, overwrite=overwrite)
        output.say_written({out: f"recommended settings, for --config {out}"})
    write_page([table, found], report, overwrite=overwrite, title=Path(judged).name)
    if not has_found:
        if out is not None:
            note(f"not written: {out}: no threshold is certified")
        raise typer.Exit(output.GATE_FAILED)


def validate(
    judged: options.Results,
    *,
    skip_bad: options.SkipBad = False,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    human_threshold: options.HumanThreshold = None,
    by: Annotated[
        list[str] | None,
        option(RATINGS, "--by", "Errors by this field; repeatable.", "FIELD"),
    ] = None,
    group: options.Group = None,
    width: Annotated[
        float | None, option(RATINGS, "--width", "Print ratings needed for this width.")
    ] = None,
    rate_next: Annotated[
        int, option(RATINGS, "--next", "Draw samples to rate, into --out.")
    ] = 0,
    method: Annotated[
        str | None,
        option(SCORING, "--method", "Method to check; by default the first."),
    ] = None,
    temperature: options.Temperature = None,
    config: options.Config = None,
    set_: options.Settings = None,
    out: Annotated[
        Path | None,
        option(OUTPUT, "--out -o", "File of --next: .jsonl or .csv.", "FILE"),
    ] = None,
    report: options.Page = None,
    tables: Annotated[
        str | None, option(OUTPUT, "--tables", "Write all tables as Markdown.", "FILE")
    ] = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Compare a judge's scores with human ratings. Makes no model call.

    Prints the agreement, the errors and what they depend on, and an estimate of the mean rating of
    all samples. --next draws samples to rate. --set takes the settings of a score, level, resamples
    and seed.

    Example: tcva validate judged.jsonl --human human_score --by domain
    """
    if bool(rate_next) != (out is not None):
        msg = "--next NUMBER and --out FILE need each other: --out is the file for the samples to rate"
        raise InvalidValueError(msg)
    targets = {
        "--out": (out, LABELS),
        "--report": (report, PAGE),
        "--tables": (tables, MARKDOWN),
    }
    output.check_targets(targets, overwrite=overwrite, as_json=as_json)
    settings = parse_settings(set_, ScoringConfig, AnalysisConfig)
    drawn = take(settings, AnalysisConfig)
    if temperature is not None:
        settings["temperature"] = temperature
    scale = pair_of(human_scale, "--human-scale")
    table = compare.read_scores(
        judged,
        human=human,
        human_scale=scale,
        group=group,
        scoring=scoring_of(config, settings),
        skip_bad=skip_bad,
    )
    found = compare.validate(
        table,
        human_scale=scale,
        human_threshold=human_threshold,
        by=by or (),
        method=method,
        width=width,
        rate_next=rate_next,
        **drawn,
    )
    output.print_report(
        found,
        as_json=as_json,
        everything=everything,
        file=output.side(tables),
    )
    output.write_text(tables, found.markdown(full=True), MARKDOWN, overwrite=overwrite)
    if out is not None:
        write_labels(out, table, found.table("next"), overwrite=overwrite)
    what = "samples to rate: fill in 'human', then use the file with --human"
    output.say_written({out: what, tables: "Markdown: all tables"})
    write_page([table, found], report, overwrite=overwrite, title=Path(judged).name)


def systems(
    scores: Annotated[
        list[str],
        argument(
            "[NAME=]FILE per system: results of evaluate or compare, or long tables.",
            "SCORES",
        ),
    ],
    *,
    system: Annotated[
        str | None, option(INPUT, "--system", "Field that names the system.", "FIELD")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        option(SCORING, "--metric", "Only this metric; repeatable.", "NAME"),
    ] = None,
    temperatures: options.Temperatures = None,
    test: Annotated[
        str, option(SCORING, "--test", "studentised or tukey.")
    ] = "studentised",
    alpha: Annotated[
        float, option(SCORING, "--alpha", "Significance level of the tests.")
    ] = 0.05,
    hypotheses: Annotated[
        Path | None, option(SCORING, "--hypotheses", "JSON with hypotheses.", "FILE")
    ] = None,
    group: options.Group = None,
    set_: Annotated[list[str] | None, options.setting("resamples=2000, seed=1")] = None,
    report: options.Page = None,
    figures: options.Figures = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Compare systems on the same queries: means and tests of all pairs. Makes no model call.

    SCORES are results of evaluate and compare, one file per system, or long tables with the columns
    system, query, metric and score. --set takes resamples (permutations of a test) and seed.

    Example: tcva systems plain.jsonl reranked.jsonl -T 0.1,0.5,0.9
    """
    output.check_targets(
        {"--report": (report, PAGE)}, overwrite=overwrite, as_json=as_json
    )
    drawn = parse_settings(set_, DrawsConfig)
    if temperatures is not None:
        drawn["temperatures"] = names_of(temperatures)
    with progress_of("randomisation", None, wanted=True):
        found = compare.systems(
            scores,
            metrics=metrics or (),
            system=system,
            group=group,
            hypotheses=hypotheses or (),
            test=test,  # type: ignore[arg-type]  # checked there
            alpha=alpha,
            **drawn,
        )
    output.print_report(found, as_json=as_json, everything=everything)
    output.draw(found, figures, overwrite=overwrite)
    write_page(found, report, overwrite=overwrite, title="systems")

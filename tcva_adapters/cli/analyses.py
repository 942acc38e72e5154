"""The commands that look at stored judgements and scores: no call of a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tcva_adapters import compare  # its names are imported when they are used
from tcva_adapters.cli import options
from tcva_adapters.cli.configs import (
    CalibrationConfig,
    DrawsConfig,
    ValidationConfig,
)
from tcva_adapters.cli.options import (
    INPUT,
    OUTPUT,
    RATINGS,
    SCORING,
    File,
    Number,
    Text,
    Texts,
    argument,
    flag,
    option,
)
from tcva_adapters.cli.output import (
    GATE_FAILED,
    STDOUT,
    check_targets,
    print_report,
    say_written,
    side,
    write_figures,
    write_text,
)
from tcva_adapters.cli.report import PAGE_BEGINNING, write_page
from tcva_adapters.cli.settings import (
    names_of,
    parse_settings,
    scale_of,
    scoring_of,
    take,
    value_of,
)
from tcva_adapters.compare.agreement.labels import LABELS_BEGINNING, write_labels
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.console import note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.progress import progress_of
from tcva_adapters.report.markdown import MARKDOWN_BEGINNING
from tcva_adapters.results.config import CONFIG_BEGINNING
from tcva_adapters.results.scoring import SERVING, ScoringConfig

_TENTHS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"


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
    settings = parse_settings(set_, ScoringConfig, DrawsConfig)
    draws = take(settings, DrawsConfig)
    report = compare.sweep(
        judged,
        names_of(temperatures or _TENTHS),
        scoring=scoring_of(config, settings),
        schemes=[value_of(scheme) for scheme in schemes or ()],
        ablation=ablation,
        human=human,
        human_scale=scale_of(human_scale),
        group=group,
        skip_bad=skip_bad,
        **dict(draws),
    )
    print_report(report, as_json=as_json, everything=everything)
    write_figures(report, figures, overwrite=overwrite)


def calibrate(
    judged: options.Results,
    *,
    skip_bad: options.SkipBad = False,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    human_threshold: options.HumanThreshold = None,
    objective: options.Objective = "spearman",
    cost_false_pass: options.CostFalsePass = None,
    by: options.TemperatureBy = None,
    group: options.Group = None,
    temperatures: options.Temperatures = None,
    schemes: options.Schemes = None,
    penalties: options.Penalties = None,
    config: options.Config = None,
    set_: options.Settings = None,
    max_false_pass: options.MaxFalsePass = None,
    min_true_pass: options.MinTruePass = None,
    max_unsupported: options.MaxUnsupported = None,
    rejected_below: options.RejectedBelow = None,
    of: options.Of = None,
    confidence: options.Confidence = None,
    per: options.Per = None,
    largest_group: options.LargestGroup = None,
    out: options.ConfigOut = None,
    report: options.Page = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Choose the temperature that agrees best with human ratings, and test the gain.

    Makes no model call. For decisions (--objective kappa, --cost-false-pass) it also tries thresholds
    alone and both together, and recommends the simplest that does as well as the best. --config and --set give the settings in use, which a choice must beat.
    --set also takes level, resamples and seed. With --max-false-pass or --min-true-pass it chooses
    the threshold instead, with --max-unsupported the one below which claims are cut, and exits with 1 if
    none is certified and recommended.

    Example: tcva calibrate judged.jsonl --human human_score --max-false-pass 0.1 --out tcva.json
    """
    check_targets(
        {"--out": (out, CONFIG_BEGINNING), "--report": (report, PAGE_BEGINNING)},
        overwrite=overwrite,
        as_json=as_json,
    )
    settings = parse_settings(
        set_, ScoringConfig, CalibrationConfig, options=["objective"]
    )
    cuts = () if max_unsupported is None else SERVING
    unused = settings.keys() & {"threshold", *cuts, *CalibrationConfig.model_fields}
    if unused and not max_false_pass is min_true_pass is max_unsupported is None:
        raise InvalidValueError(
            f"--set {min(unused)} is not used with a limit; leave it out"
        )
    analysis = take(settings, CalibrationConfig)
    scale = scale_of(human_scale)
    scoring = scoring_of(config, settings) or ScoringConfig()
    read_table = partial(
        compare.read_scores,
        judged,
        human=human if max_unsupported is None else None,
        human_scale=scale,
        group=group,
        skip_bad=skip_bad,
    )
    table = read_table(scoring=scoring)
    with progress_of("calibrating", None, wanted=True):
        calibration = compare.calibrate(
            table,
            None if max_unsupported is None else human,
            objective=objective,  # type: ignore[arg-type]  # checked there, as are penalties
            temperatures=names_of(temperatures) if temperatures else (),
            schemes=[value_of(scheme) for scheme in schemes or ()],
            penalties=penalties or (),  # type: ignore[arg-type]  # as above
            by=by,
            scoring=scoring,
            human_scale=scale,
            human_threshold=human_threshold,
            cost_false_pass=cost_false_pass,
            max_false_pass=max_false_pass,
            min_true_pass=min_true_pass,
            confidence=confidence,
            per=per,  # type: ignore[arg-type]  # as above
            largest_group=largest_group,
            max_unsupported=max_unsupported,
            rejected_below=value_of(rejected_below) if rejected_below else None,
            of=of,  # type: ignore[arg-type]  # as above
            **dict(analysis),
        )
    print_report(calibration, as_json=as_json, everything=everything)

    chosen = calibration.settings.get("guarantee")
    if report and chosen and judged != STDOUT:
        table = read_table(scoring=ScoringConfig(**chosen["setting"]))
    is_recommended = calibration.settings["recommended"] is not None
    if out is not None and is_recommended:
        recommended(calibration).dump(out, overwrite=overwrite)
        say_written({out: f"recommended settings, for --config {out}"})
    write_page(
        [table, calibration], report, overwrite=overwrite, title=Path(judged).name
    )
    if not is_recommended:
        if out is not None:
            note(f"not written: {out}: no threshold is recommended")
        raise typer.Exit(GATE_FAILED)


def validate(
    judged: options.Results,
    *,
    skip_bad: options.SkipBad = False,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    human_threshold: options.HumanThreshold = None,
    by: Annotated[
        Texts,
        option(RATINGS, "--by", "Errors by this field; repeatable.", "FIELD"),
    ] = None,
    group: options.Group = None,
    width: Annotated[
        Number, option(RATINGS, "--width", "Print ratings needed for this width.")
    ] = None,
    rate_next: options.RateNext = 0,
    method: Annotated[
        Text,
        option(SCORING, "--method", "Method to check; by default the first."),
    ] = None,
    temperature: options.Temperature = None,
    config: options.Config = None,
    set_: options.Settings = None,
    out: Annotated[
        File,
        option(OUTPUT, "--out -o", "File of --next: .jsonl or .csv.", "FILE"),
    ] = None,
    report: options.Page = None,
    tables: Annotated[
        Text, option(OUTPUT, "--tables", "Write all tables as Markdown.", "FILE")
    ] = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Compare a judge's scores with human ratings. Makes no model call.

    Prints the agreement, the errors and what they depend on, and an estimate of the mean rating of
    all samples. --next draws samples to rate. --set takes the settings of a score, level, resamples,
    seed, and epsilon for three raters or more.

    Example: tcva validate judged.jsonl --human human_score --by domain
    """
    if bool(rate_next) != (out is not None):
        raise InvalidValueError(
            "--next NUMBER and --out FILE need each other: --out is the file for the samples to rate"
        )
    targets = {
        "--out": (out, LABELS_BEGINNING),
        "--report": (report, PAGE_BEGINNING),
        "--tables": (tables, MARKDOWN_BEGINNING),
    }
    check_targets(targets, overwrite=overwrite, as_json=as_json)
    settings = parse_settings(set_, ScoringConfig, ValidationConfig)
    analysis = take(settings, ValidationConfig)
    if temperature is not None:
        settings["temperature"] = temperature
    scale = scale_of(human_scale)
    table = compare.read_scores(
        judged,
        human=human,
        human_scale=scale,
        group=group,
        scoring=scoring_of(config, settings),
        skip_bad=skip_bad,
    )
    validation = compare.validate(
        table,
        human_scale=scale,
        human_threshold=human_threshold,
        by=by or (),
        method=method,
        width=width,
        rate_next=rate_next,
        **dict(analysis),
    )
    print_report(validation, as_json=as_json, everything=everything, file=side(tables))

    if tables is not None:
        write_text(
            tables,
            validation.markdown(full=True),
            MARKDOWN_BEGINNING,
            overwrite=overwrite,
        )
    if out is not None:
        write_labels(out, table, validation.table("next"), overwrite=overwrite)
    say_written(
        {
            out: "samples to rate: fill in 'human', then use the file with --human",
            tables: "Markdown: all tables",
        }
    )
    write_page(
        [table, validation], report, overwrite=overwrite, title=Path(judged).name
    )


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
        Text, option(INPUT, "--system", "Field that names the system.", "FIELD")
    ] = None,
    metrics: Annotated[
        Texts,
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
        File, option(SCORING, "--hypotheses", "JSON with hypotheses.", "FILE")
    ] = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    set_: Annotated[Texts, options.setting("resamples=2000, seed=1")] = None,
    report: options.Page = None,
    figures: options.Figures = None,
    overwrite: options.Overwrite = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Compare systems on the same queries: means and tests of all pairs. Makes no model call.

    SCORES are results of evaluate and compare, one file per system, or long tables with the columns
    system, query, metric and score. --human corrects differences by ratings of some answers; in a
    file of them an id is SYSTEM/ID. --set takes resamples (permutations of a test) and seed.

    Example: tcva systems plain.jsonl reranked.jsonl -T 0.1,0.5,0.9
    """
    check_targets(
        {"--report": (report, PAGE_BEGINNING)}, overwrite=overwrite, as_json=as_json
    )
    draws = DrawsConfig(**parse_settings(set_, DrawsConfig))
    with progress_of("randomisation", None, wanted=True):
        comparison = compare.systems(
            scores,
            metrics=metrics or (),
            temperatures=names_of(temperatures or options.THREE_TEMPERATURES),
            system=system,
            group=group,
            human=human,
            human_scale=scale_of(human_scale),
            hypotheses=hypotheses or (),
            test=test,  # type: ignore[arg-type]  # checked there
            alpha=alpha,
            **dict(draws),
        )
    print_report(comparison, as_json=as_json, everything=everything)
    write_figures(comparison, figures, overwrite=overwrite)
    write_page(comparison, report, overwrite=overwrite, title="systems")


def diagnose(
    judged: Annotated[
        list[str],
        argument("Results of 'tcva evaluate --out': a file per criterion.", "RESULTS"),
    ],
    *,
    samples: options.SampleTexts = None,
    skip_bad: options.SkipBad = False,
    set_: Annotated[Texts, options.setting("claim_threshold=mostly")] = None,
    group: options.Group = None,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Find out why answers are wrong: what was not retrieved, not used, or made up. Makes no model call.

    Joins judgements of correctness, faithfulness, completeness and context_recall on the same samples,
    claim by claim, into causes and the measures of RAGChecker. With fewer criteria it says what can be
    said. --samples adds how the passages were used. --set takes the settings of a score; claim_threshold is the line between right and wrong.

    Example: tcva diagnose judged.*.jsonl --group document
    """
    print_report(
        compare.diagnose(
            judged,
            scoring=scoring_of(None, parse_settings(set_, ScoringConfig)),
            group=group,
            samples=samples,
            skip_bad=skip_bad,
        ),
        as_json=as_json,
        everything=everything,
    )

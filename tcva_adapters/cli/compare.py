"""``tcva compare``: the frameworks' own metrics and TCVA on the same samples, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from tcva_adapters.cli import options
from tcva_adapters.cli.configs import ComparisonConfig, ImportConfig, PanelConfig
from tcva_adapters.cli.options import (
    INPUT,
    JUDGING,
    RATINGS,
    SCORING,
    Text,
    Texts,
    option,
)
from tcva_adapters.cli.output import (
    check_targets,
    interruptible,
    print_report,
    say_written,
    side,
)
from tcva_adapters.cli.report import PAGE_BEGINNING, write_page
from tcva_adapters.cli.reviews import Reviews
from tcva_adapters.cli.settings import (
    names_of,
    plain_settings,
    renames,
    scale_of,
    silence_frameworks,
    take,
    with_store,
)
from tcva_adapters.compare.runs.folder import FILES, save
from tcva_adapters.compare.runs.run import Run
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.console import note
from tcva_adapters.errors import TCVAWarning
from tcva_adapters.report.evaluating import evaluation, failure_sentence
from tcva_adapters.report.gates import Gates, records_of
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.scale.settings import make_scorer


# Over 80 lines, as each of its options and of the arguments that they become has a line.
def compare(
    file: options.Samples,
    *,
    rename: options.Renames = None,
    skip_bad: options.SkipBad = False,
    scores: Annotated[
        Texts,
        option(
            INPUT,
            "--scores",
            "Imported scores of RAGAS and others; repeatable.",
            "[NAME=]FILE",
        ),
    ] = None,
    criterion: options.Criterion = None,
    judge: options.Judge = None,
    panel: options.Panel = None,
    frameworks: Annotated[
        str, option(JUDGING, "--with", "Use ragas,deepeval... or none.")
    ] = "all",
    metrics: Annotated[
        Text, option(JUDGING, "--metrics", "Use faithfulness,... or all.")
    ] = None,
    store: options.Store = None,
    dry_run: options.DryRun = False,
    temperatures: options.Temperatures = None,
    mean_of: Annotated[
        Texts,
        option(SCORING, "--mean-of", "Mean of 'a + b'; repeatable.", "METHODS"),
    ] = None,
    config: options.Config = None,
    set_: options.Settings = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    reference: Annotated[
        Text,
        option(RATINGS, "--reference", "Test others against this.", "METHOD"),
    ] = None,
    max_false_pass: options.MaxFalsePass = None,
    gate: options.Gates = None,
    junit: options.Junit = None,
    markdown: options.Markdown = None,
    out: options.Folder = None,
    overwrite: options.Overwrite = False,
    report: options.Page = None,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Run the frameworks' own metrics and TCVA on the same samples, each judged once.

    By default all installed frameworks run their metrics for the criterion. --mean-of takes method
    names as the table shows them: 'tcva T=0.5 + ragas faithfulness'. --set takes the settings of
    judge and score, objective, margin, pass_from ("ragas faithfulness=0.8"), metric_timeout,
    human_threshold, epsilon (three raters or more), resamples, seed, missing and scale of --scores,
    confidence of --max-false-pass.

    Example: tcva compare samples.jsonl --with ragas,deepeval --judge openai:gpt-4.1-mini --out side
    """
    silence_frameworks()
    gates = Gates.of(gate or ())
    reviews = Reviews(junit, markdown, overwrite)
    check_targets(
        {"--report": (report, PAGE_BEGINNING), **reviews.targets},
        overwrite=overwrite,
        as_json=as_json,
    )

    plain = plain_settings(
        judge,
        set_,
        ComparisonConfig,
        ImportConfig,
        TCVASettings,
        PanelConfig,
        is_dry=dry_run,
        criterion=criterion,
        panel=panel,
        config=config,
    )
    tests = take(plain, ComparisonConfig)
    importing = take(plain, ImportConfig)
    scale = scale_of(human_scale)
    grid = names_of(temperatures or options.THREE_TEMPERATURES)
    settings = plain if config else {"temperature": grid[0], **plain}
    tcva: Any = with_store(make_scorer(**settings), store)
    stream = SampleStream(file, skip_bad=skip_bad, mapping=renames(rename), kept=None)
    samples = [*stream]
    for text in stream.notes:
        note(text)
    with (
        interruptible("judgements so far are stored, and the same command continues"),
        _without_deprecations(),
    ):
        run = Run(
            samples,
            tcva,
            imported=[
                read_scores(
                    source,
                    samples=samples,
                    human_scale=scale,
                    missing=importing.missing,
                    scale=importing.scale,
                )
                for source in scores or ()
            ],
            frameworks=frameworks,
            metrics=metrics,
            temperatures=grid,
            mean_of=mean_of or (),
            human=human,
            human_scale=scale,
            group=group,
            human_threshold=tests.human_threshold,
            pass_from=tests.pass_from,
            objective=tests.objective,
            reference=reference,
            margin=tests.margin,
            max_false_pass=max_false_pass,
            confidence=tests.confidence,
            folder=out,
            overwrite=overwrite,
            timeout=tests.metric_timeout,
            progress=True,
        )
        gates.check(run.names)
        if dry_run:
            print_report(run.cost(plain["model"].get("prices")), as_json=as_json)
            return
        table = run.table()

    table = replace(table, skipped=stream.skipped, can_continue=bool(out or tcva.store))
    figures = evaluation(table, gates)
    compared = run.comparison(
        table,
        epsilon=tests.epsilon,
        resamples=tests.resamples,
        seed=tests.seed,
    )
    failures = failure_sentence(table, records_of(figures, "unscored"))
    compared = replace(
        compared,
        sentence=f"{failures} {compared.sentence}".lstrip(),
        tables=[*compared.tables, *(t for t in figures.tables if t.title == "gates")],
    )
    paths = save(out, table, compared, overwrite=overwrite) if out else []
    reviews.write(figures, table)
    print_report(compared, as_json=as_json, everything=everything, file=side(markdown))
    say_written({path: FILES.get(path.name, "") for path in paths})
    say_written(reviews.written)
    write_page(
        [table, compared], report, overwrite=overwrite, title=Path(out or file).name
    )
    reviews.conclude(figures, table)


@contextmanager
def _without_deprecations() -> Iterator[None]:
    """Ignore the frameworks' deprecation warnings, which a user of the command cannot fix."""
    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("always", TCVAWarning)
        yield

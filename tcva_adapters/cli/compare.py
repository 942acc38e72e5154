"""``tcva compare``: the frameworks' own metrics and TCVA on the same samples, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

from tcva_adapters.cli import options, settings
from tcva_adapters.cli.configs import ComparisonConfig, ImportConfig, PanelConfig
from tcva_adapters.cli.options import INPUT, JUDGING, RATINGS, SCORING, option
from tcva_adapters.cli.output import (
    check_targets,
    interruptible,
    print_report,
    say_written,
    side,
)
from tcva_adapters.cli.report import PAGE, write_page
from tcva_adapters.cli.reviews import Reviews
from tcva_adapters.compare.agreement.comparison import check_tests, comparison
from tcva_adapters.compare.calibration.guarantee import limits_of
from tcva_adapters.compare.runs.run import FILES, Run, save
from tcva_adapters.compare.scores.readers import read_scores
from tcva_adapters.console import note
from tcva_adapters.errors import TCVAWarning
from tcva_adapters.report.evaluating import evaluation, failure_sentence
from tcva_adapters.report.gates import Gates, records_of
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.samples.sample import Sample
from tcva_adapters.scale.settings import made_of

DRAWS: Final = ("resamples", "seed")


def compare(
    file: options.Samples,
    *,
    rename: options.Renames = None,
    skip_bad: options.SkipBad = False,
    scores: Annotated[
        list[str] | None,
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
        str | None, option(JUDGING, "--metrics", "Use faithfulness,... or all.")
    ] = None,
    store: options.Store = None,
    dry_run: options.DryRun = False,
    temperatures: options.Temperatures = None,
    mean_of: Annotated[
        list[str] | None,
        option(SCORING, "--mean-of", "Mean of 'a + b'; repeatable.", "METHODS"),
    ] = None,
    config: options.Config = None,
    set_: options.Settings = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    reference: Annotated[
        str | None,
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
    resamples, seed, missing and scale of --scores, human_threshold and confidence of
    --max-false-pass.

    Example: tcva compare samples.jsonl --with ragas,deepeval --judge openai:gpt-4.1-mini --out side
    """
    settings.silence_frameworks()
    gates, reviews = Gates.of(gate or ()), Reviews(junit, markdown, overwrite=overwrite)
    targets = {"--report": (report, PAGE), **reviews.targets}
    check_targets(targets, overwrite=overwrite, as_json=as_json)
    grid = settings.names_of(temperatures or "0.1,0.5,0.9")
    given = {
        "criterion": criterion,
        "panel": panel,
        "config": config,
    }
    asked: Any = {
        "human": human,
        "human_scale": settings.pair_of(human_scale, "--human-scale"),
    }
    asked |= {
        "frameworks": frameworks,
        "metrics": metrics,
        "mean_of": mean_of or (),
        "folder": out,
    }
    asked |= {
        "temperatures": grid,
        "group": group,
        "overwrite": overwrite,
        "progress": True,
    }
    tests: Any = {"reference": reference, "max_false_pass": max_false_pass}
    plain, reading = _settings(judge, set_, tests, asked, is_dry=dry_run, **given)
    tcva: Any = made_of(plain if config else {"temperature": grid[0], **plain})
    tcva = settings.with_store(tcva, store)
    samples, skipped = _given(file, rename, skip_bad=skip_bad)
    with (
        interruptible("judgements so far are stored, and the same command continues"),
        _quiet(),
    ):
        imported = [
            read_scores(each, samples=samples, **reading) for each in scores or ()
        ]
        run = Run(samples, tcva, imported=imported, **asked)
        gates.check(run.names)
        checked = {k: v for k, v in tests.items() if k not in DRAWS}
        check_tests(run.names, **checked, is_rated=run.is_rated)
        if dry_run:
            print_report(run.cost(plain["model"].get("prices")), as_json=as_json)
            return
        table = run.table()
    can_continue = bool(out or tcva.store)
    table = replace(table, skipped=skipped, can_continue=can_continue)
    gated = evaluation(table, gates)
    found = comparison(table, **tests)
    failed = failure_sentence(table, records_of(gated, "unscored"))
    found = replace(found, sentence=f"{failed} {found.sentence}".lstrip())
    found = replace(
        found, tables=[*found.tables, *(t for t in gated.tables if t.title == "gates")]
    )
    saved = save(out, table, found, overwrite=overwrite) if out else []
    reviews.write(gated, table)
    print_report(
        found,
        as_json=as_json,
        everything=everything,
        file=side(markdown),
    )
    say_written(
        {path: FILES.get(path.name, "") for path in saved} | dict(reviews.written)
    )
    write_page(
        [table, found], report, overwrite=overwrite, title=Path(out or file).name
    )
    reviews.conclude(gated, table)


def _given(
    file: str, rename: Sequence[str] | None, *, skip_bad: bool
) -> tuple[list[Sample], int]:
    """The samples of a file, and how many lines were left out, which is said."""
    read = SampleStream(
        file,
        skip_bad=skip_bad,
        mapping=settings.renames(rename),
        kept=None,
    )
    samples = [*read]
    for text in read.notes:
        note(text)
    return samples, read.skipped


def _settings(
    judge: str | None,
    pairs: Sequence[str] | None,
    tests: dict[str, Any],
    asked: dict[str, Any],
    *,
    is_dry: bool,
    **given: Any,
) -> tuple[dict[str, Any], ...]:
    """The settings of the judge, and of imported scores; those of tests and of the run are added."""
    models = (ComparisonConfig, ImportConfig, TCVASettings, PanelConfig)
    plain = settings.plain_settings(judge, pairs, *models, is_dry=is_dry, **given)
    tests |= settings.take(plain, ComparisonConfig)
    limits = ("max_false_pass", "confidence", "human_threshold")
    tests["limits"] = limits_of(
        human_scale=asked["human_scale"],
        **{name: tests.pop(name, None) for name in limits},
    )
    names = {"pass_from": "pass_from", "metric_timeout": "timeout"}
    asked |= {n: tests.pop(k) for k, n in names.items() if k in tests}
    return plain, settings.take(plain, ImportConfig)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the frameworks' own deprecations, which are nothing that a reader could act on."""
    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("always", TCVAWarning)
        yield

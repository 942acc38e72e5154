"""``tcva compare``: the frameworks' own metrics and TCVA on the same samples, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcva_adapters.cli import options
from tcva_adapters.cli.options import INPUT, JUDGING, RATINGS, SCORING, option
from tcva_adapters.cli.output import check_targets, interruptible, print_report, say_written, side
from tcva_adapters.cli.report import PAGE, write_page
from tcva_adapters.cli.reviews import Reviews
from tcva_adapters.cli.settings import (
    names_of,
    numbers,
    plain_settings,
    renames,
    silence_frameworks,
    taken,
    thresholds_of,
    with_store,
)
from tcva_adapters.compare.comparing import comparison
from tcva_adapters.compare.readers import read_scores
from tcva_adapters.compare.run import FILES, Run, save
from tcva_adapters.console import note
from tcva_adapters.errors import InvalidSampleError, TCVAWarning
from tcva_adapters.report.evaluated import evaluation
from tcva_adapters.report.gates import Gates
from tcva_adapters.results.settings import (
    AnalysisConfig,
    ComparisonConfig,
    ImportConfig,
    PanelConfig,
    TCVASettings,
)
from tcva_adapters.samples.files import SampleStream
from tcva_adapters.scale.settings import made_of


def compare(
    file: str = options.SAMPLES,
    *,
    rename: list[str] | None = options.RENAME,
    skip_bad: bool = options.SKIP_BAD,
    scores: list[str] | None = option(
        INPUT,
        "--scores",
        "Imported scores: of RAGAS, DeepEval, or a table with a column per method; --set takes "
        "missing=-1, scale=1,5. Repeatable.",
        "[NAME=]FILE",
    ),
    criterion: str | None = options.CRITERION,
    judge: str | None = options.JUDGE,
    panel: list[str] | None = options.PANEL,
    frameworks: str = option(
        JUDGING, "--with", "ragas,deepeval,llamaindex,langchain; all or none.", default="all"
    ),
    metrics: str | None = option(
        JUDGING,
        "--metrics",
        "Of frameworks: faithfulness, ragas.faithfulness, or all; by default the criterion's.",
    ),
    dry_run: bool = options.DRY_RUN,
    temperatures: str | None = options.TEMPERATURES,
    fuse: list[str] | None = option(
        SCORING,
        "--fuse",
        "The geometric mean of others: 'tcva T=0.5 + ragas faithfulness'; repeatable.",
        "METHODS",
    ),
    threshold: list[str] | None = option(
        SCORING, "--threshold", "A score passes from here on; repeatable.", "[METHOD=]NUMBER"
    ),
    config: Path | None = options.CONFIG,
    set_: list[str] | None = options.SET,
    human: str | None = options.HUMAN,
    human_scale: str | None = options.HUMAN_SCALE,
    group: str | None = options.GROUP,
    reference: str | None = option(
        RATINGS, "--reference", "The method that others are tested against.", "METHOD"
    ),
    gate: list[str] | None = options.GATE,
    junit: str | None = options.JUNIT,
    markdown: str | None = options.MARKDOWN,
    out: Path | None = options.FOLDER,
    overwrite: bool = options.OVERWRITE,
    report: Path | None = options.PAGE,
    everything: bool = options.ALL,
    as_json: bool = options.JSON,
) -> None:
    """Run the frameworks' own metrics and TCVA on the same samples, each judged once.

    Of frameworks the metrics of the chosen criterion run. --dry-run says the calls and the cost.

    Example: tcva compare samples.jsonl --with ragas,deepeval --judge openai:gpt-4.1-mini --out side
    """
    silence_frameworks()
    gates, reviews = Gates.of(gate or ()), Reviews(junit, markdown, overwrite=overwrite)
    targets = {"--report": (report, PAGE), **reviews.targets}
    check_targets(targets, [file, *(scores or ())], overwrite=overwrite, as_json=as_json)
    own, others = thresholds_of(threshold)
    grid = names_of(temperatures or "0.1,0.5,0.9")
    given = {"criterion": criterion, "panel": panel, "config": config, "threshold": own}
    models = (ComparisonConfig, AnalysisConfig, ImportConfig, TCVASettings, PanelConfig)
    plain = plain_settings(judge, set_, *models, is_dry=dry_run, **given)
    tests, drawn = taken(plain, ComparisonConfig), taken(plain, AnalysisConfig)
    importing = taken(plain, ImportConfig)
    patience = {"timeout": tests.pop("metric_timeout")} if "metric_timeout" in tests else {}
    tcva: Any = made_of({"temperature": grid[0], **plain} if config is None else plain)
    read = SampleStream(file, skip_bad=skip_bad, mapping=renames(rename), kept=None)
    samples = [*read]
    for text in read.notes:
        note(text)
    with interruptible(f"what is done is in {out}; the same command goes on"), _quiet():
        run = Run(
            samples,
            with_store(tcva, None) if out is None else tcva,
            frameworks=frameworks,
            metrics=metrics,
            temperatures=grid,
            imported=[read_scores(each, samples=samples, **importing) for each in scores or ()],
            fuse=fuse or (),
            human=human,
            human_scale=None if human_scale is None else numbers(human_scale, "--human-scale"),
            group=group,
            pass_from=others,
            folder=out,
            progress=True,
            **patience,
        )
        gates.check(run.names)
        if dry_run:
            print_report(run.cost(), as_json=as_json)
            return
        table = run.table()
    table = replace(table, about={**table.about, "skipped": read.skipped})
    found = comparison(table, reference=reference, **tests, **drawn)
    files = {}
    if out is not None:
        written = save(out, table, found, overwrite=overwrite)
        files = {path: FILES.get(path.name, "") for path in written}
    gated = evaluation(table, gates)
    reviews.write(gated, table)
    found = replace(found, tables=[*found.tables, *(t for t in gated.tables if t.title == "gates")])
    print_report(found, as_json=as_json, everything=everything, file=side(markdown))
    say_written({**files, **reviews.written})
    write_page([table, found], report, overwrite=overwrite, title=Path(out or file).name)
    if table.about.get("fatal"):
        raise InvalidSampleError(table.about["fatal"])
    reviews.conclude(gated, table)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the frameworks' own deprecations, which are nothing that a reader could act on."""
    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("always", TCVAWarning)
        yield

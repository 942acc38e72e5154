"""``tcva errors``: where scores are wrong, against human ratings."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Final, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import stat_options, texts
from tcva_adapters.cli.judged import File, print_figures
from tcva_adapters.cli.old_report import Report, check_report, report_written
from tcva_adapters.cli.tables import STDOUT, Markdown, check_markdown, markdown_written
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare import analyse_errors
from tcva_adapters.compare.errors.analysis import BINS, MOST
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.dependence import DRAWS

# typer reads them at run time, so what is optional is spelt out.
_By = Annotated[
    Optional[list[str]],
    typer.Option(
        "--by", help="Metadata field that errors may depend on; may be given several times."
    ),
]
_Samples = Annotated[
    Optional[str],
    typer.Option("--samples", help="File of samples, whose responses are measured; joined by id."),
]
_Bins = Annotated[int, typer.Option(help="Of the scores, at most.")]
_Most = Annotated[int, typer.Option("--most", help="Largest errors that are listed.")]
_Draws = Annotated[int, typer.Option(help="Permutations of each test.")]
_Seed = Annotated[int, typer.Option(help="Seed of the permutations.")]
_DIAL: Final = ("temperature", "threshold", "scheme", "penalty", "eps", "floor", "evidence")


@options.takes(ScoringConfig, *_DIAL)
def errors(
    context: typer.Context,
    assessments: File,
    *,
    human: options.Human = None,
    labels: options.LabelFile = None,
    by: _By = None,
    group: stat_options.Group = None,
    human_scale: stat_options.HumanScale = "0,1",
    human_threshold: stat_options.HumanThreshold = None,
    samples: _Samples = None,
    config: options.ConfigFile = None,
    bins: _Bins = BINS,
    most: _Most = MOST,
    draws: _Draws = DRAWS,
    level: stat_options.Level = 0.95,
    seed: _Seed = 0,
    report: Report = None,
    markdown: Markdown = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    **dial: Any,
) -> None:
    """Where scores are wrong: what their distance from human ratings depends on. No call.

    Example: tcva errors judged.jsonl --human human_score --by domain --all
    """
    scale = texts.parse_pair(human_scale, "--human-scale")
    check_report(report, assessments, overwrite=overwrite)
    check_markdown(markdown, assessments, as_json=as_json, overwrite=overwrite)
    settings = options.under_config(context, config, dial)
    ratings = options.ratings_of(human, labels)
    if ratings is None:
        msg = "no human ratings to compare with; name their field with --human, or a file with --labels"
        raise InvalidValueError(msg)
    found = analyse_errors(
        assessments,
        ratings,
        scoring=ScoringConfig(**{name: settings[name] for name in _DIAL if name in settings}),
        config=config,
        by=by or (),
        group=group,
        human_scale=scale,
        human_threshold=human_threshold,
        samples=samples,
        bins=bins,
        most=most,
        draws=draws,
        level=level,
        seed=seed,
        skip_bad=skip_bad,
    )
    side = sys.stderr if markdown == STDOUT else sys.stdout
    print_figures(found, as_json=as_json, everything=everything, file=side)
    page = report_written(found, report, of=assessments, overwrite=overwrite)
    say_written({**page, **markdown_written(found, markdown, overwrite=overwrite)})

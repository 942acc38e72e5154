"""``tcva validate``: a judge held against people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tcva_adapters.cli import options
from tcva_adapters.cli.options import OUTPUT, RATINGS, SCORING, option
from tcva_adapters.cli.output import check_targets, print_report, say_written, side, write_text
from tcva_adapters.cli.report import PAGE, write_page
from tcva_adapters.cli.settings import numbers, parse_settings, scoring_of, taken
from tcva_adapters.compare.estimating import OURS, write_labels
from tcva_adapters.compare.readers import read_scores
from tcva_adapters.compare.validation import validate as validated
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.markdown import BEGINS as MARKDOWN
from tcva_adapters.results.settings import AnalysisConfig, ScoringConfig


def validate(
    judged: str = options.JUDGED,
    *,
    skip_bad: bool = options.SKIP_BAD,
    human: str | None = options.HUMAN,
    human_scale: str | None = options.HUMAN_SCALE,
    human_threshold: float | None = options.HUMAN_THRESHOLD,
    by: list[str] | None = option(
        RATINGS, "--by", "A field that errors may depend on; repeatable.", "FIELD"
    ),
    group: str | None = options.GROUP,
    width: float | None = option(
        RATINGS, "--width", "How many labels does an interval so wide take?", "NUMBER"
    ),
    rate_next: int = option(
        RATINGS, "--next", "Draw so many samples to rate next; with --out.", "NUMBER", default=0
    ),
    method: str | None = option(
        SCORING, "--method", "Whose errors are looked at; by default the first."
    ),
    temperature: str | None = options.TEMPERATURE,
    config: Path | None = options.CONFIG,
    set_: list[str] | None = options.SET,
    out: Path | None = option(OUTPUT, "--out -o", "The samples to rate: .jsonl or .csv.", "FILE"),
    report: Path | None = options.PAGE,
    markdown: str | None = options.TABLES,
    overwrite: bool = options.OVERWRITE,
    everything: bool = options.ALL,
    as_json: bool = options.JSON,
) -> None:
    """Hold a judge against human ratings. No call.

    Agreement; where and how scores are wrong; what people would say of all samples, from the few
    that are rated; how many labels an interval takes; what to rate next. Level, resamples and seed
    are settings, as are those of a score.

    Example: tcva validate judged.jsonl --human human_score --by domain
    """
    if bool(rate_next) != (out is not None):
        msg = "--next and --out go together: how many samples to rate, and where they are written"
        raise InvalidValueError(msg)
    targets = {"--out": (out, OURS), "--report": (report, PAGE), "--markdown": (markdown, MARKDOWN)}
    check_targets(targets, [judged], overwrite=overwrite, as_json=as_json)
    scale = None if human_scale is None else numbers(human_scale, "--human-scale")
    settings = parse_settings(set_, ScoringConfig, AnalysisConfig)
    drawn = taken(settings, AnalysisConfig)
    if temperature is not None:
        settings["temperature"] = temperature
    how: dict[str, Any] = {
        "human": human,
        "human_scale": scale,
        "group": group,
        "skip_bad": skip_bad,
    }
    table = read_scores(judged, scoring=scoring_of(config, settings), with_results=True, **how)
    found = validated(
        table,
        method=method,
        by=by or (),
        human_scale=scale,
        human_threshold=human_threshold,
        width=width,
        rate_next=rate_next,
        **drawn,
    )
    print_report(found, as_json=as_json, everything=everything, file=side(markdown))
    if markdown is not None:
        write_text(markdown, found.markdown(full=True), MARKDOWN, overwrite=overwrite)
    if out is not None:
        write_labels(out, table, found.table("next"), overwrite=overwrite)
    what = "samples to rate: fill in 'human', and give it back with --human"
    say_written({out: what, markdown: "Markdown: all tables"})
    write_page([table, found], report, overwrite=overwrite, title=Path(judged).name)

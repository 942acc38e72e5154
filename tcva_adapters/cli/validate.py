"""``tcva validate``: a judge held against people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import stat_options, texts
from tcva_adapters.cli.judged import File, print_figures
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare.estimating import OURS, write_labels
from tcva_adapters.compare.readers import read_scores
from tcva_adapters.compare.validation import validate as validated
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config
from tcva_adapters.results.settings import ScoringConfig


def validate(
    judged: File,
    *,
    human: Annotated[
        Optional[str],
        typer.Option(help="The field of human ratings, several with commas, or a file of labels."),
    ] = None,
    human_scale: stat_options.GivenScale = None,
    human_threshold: stat_options.HumanThreshold = None,
    method: Annotated[
        Optional[str], typer.Option(help="Whose errors are looked at; by default the first.")
    ] = None,
    by: Annotated[
        Optional[list[str]],
        typer.Option("--by", help="A field that errors may depend on; several times."),
    ] = None,
    group: stat_options.Group = None,
    temperature: Annotated[
        Optional[str], typer.Option("--temperature", "-T", help="Of the scores.")
    ] = None,
    config: options.ConfigFile = None,
    width: Annotated[
        Optional[float], typer.Option(help="How many labels does an interval so wide take?")
    ] = None,
    rate_next: Annotated[
        int, typer.Option("--next", help="Draw so many samples to rate next; with --out.")
    ] = 0,
    out: Annotated[
        Optional[Path], typer.Option("--out", "-o", help="The drawn samples, jsonl or csv.")
    ] = None,
    level: stat_options.Level = 0.95,
    seed: Annotated[int, typer.Option(help="Of draws and permutations.")] = 0,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """Hold a judge against people: agreement, errors, what people would say of all samples. No call.

    Example: tcva validate judged.jsonl --human human_score
    """
    if bool(rate_next) != (out is not None):
        msg = "--next and --out go together: how many samples to rate, and where they are written"
        raise InvalidValueError(msg)
    if out is not None:
        options.check_target(out, judged, OURS, overwrite=overwrite)
    scale = None if human_scale is None else texts.parse_pair(human_scale, "--human-scale")
    scoring = scoring_of(config, temperature)
    table = read_scores(
        judged,
        human=human,
        human_scale=scale,
        group=group,
        scoring=scoring,
        skip_bad=skip_bad,
        with_results=True,
    )
    found = validated(
        table,
        method=method,
        by=by or (),
        human_scale=scale,
        human_threshold=human_threshold,
        width=width,
        rate_next=rate_next,
        level=level,
        seed=seed,
    )
    print_figures(found, as_json=as_json, everything=everything)
    if out is not None:
        write_labels(out, table, found.table("next"), overwrite=overwrite)
        say_written({out: "samples to rate: fill in 'human', and give it back with --human"})


def scoring_of(config: Path | None, temperature: str | None = None) -> ScoringConfig | None:
    """The settings of a file, at another temperature where one is given; None for those in use."""
    if config is None and temperature is None:
        return None
    found = ScoringConfig(**({} if config is None else Config.load(config).given()))
    return (
        found
        if temperature is None
        else found.changed(temperature=texts.parse_names(temperature)[0])
    )

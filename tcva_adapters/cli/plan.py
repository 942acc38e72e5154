"""``tcva plan``: how many labels show what, and what so many labels can show."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import stat_options, texts
from tcva_adapters.cli.judged import print_figures, read_judged, read_ratings
from tcva_adapters.compare import plan as planned

# typer reads them at run time, so what is optional is spelt out.
_Number = Optional[float]


def plan(
    assessments: Annotated[
        Optional[str],
        typer.Argument(help="A pilot: jsonl written by 'tcva evaluate --out'; none to assume."),
    ] = None,
    *,
    objective: Annotated[
        str, typer.Option("--objective", help="spearman, kendall, pearson, mae or mean.")
    ] = "spearman",
    human: options.Human = None,
    labels: options.LabelFile = None,
    against: Annotated[
        Optional[str],
        typer.Option("--against", help="Another method on the same samples: plan the difference."),
    ] = None,
    difference: Annotated[
        _Number, typer.Option("--difference", help="The difference that should be found.")
    ] = None,
    width: Annotated[
        _Number, typer.Option("--width", help="The width that the interval should have.")
    ] = None,
    number: Annotated[
        Optional[int], typer.Option("--number", "-n", help="A number of labels to look at.")
    ] = None,
    power: Annotated[float, typer.Option("--power", help="To find the difference.")] = 0.8,
    level: Annotated[
        float, typer.Option("--level", help="Of the interval; the test has what is left of 1.")
    ] = 0.95,
    correlation: Annotated[
        _Number,
        typer.Option("--correlation", help="Without a pilot: with human ratings, by this measure."),
    ] = None,
    spread: Annotated[
        _Number,
        typer.Option("--spread", help="Without a pilot, mae or mean: the standard deviation."),
    ] = None,
    between: Annotated[
        _Number,
        typer.Option("--between", help="Without a pilot: the correlation of the two methods."),
    ] = None,
    group: stat_options.Group = None,
    temperature: Annotated[
        Optional[str], typer.Option("--temperature", "-T", help="Of the dial, by default in use.")
    ] = None,
    config: options.ConfigFile = None,
    seed: Annotated[int, typer.Option(help="Of what is simulated.")] = 0,
    skip_bad: options.SkipBad = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """How many labels an interval or a difference takes, from a pilot or from assumptions. No call.

    Example: tcva plan judged.jsonl --human human_score --difference 0.05 --against other.jsonl
    """
    pilot = None if assessments is None else read_judged(assessments, skip_bad=skip_bad)
    found = planned(
        pilot,
        objective=objective,  # type: ignore[arg-type]  # checked there
        human=None if pilot is None else read_ratings(pilot, human, labels),
        against=None if against is None else read_judged(against, skip_bad=skip_bad),
        correlation=correlation,
        spread=spread,
        between=between,
        difference=difference,
        width=width,
        labels=number,
        power=power,
        level=level,
        group=group,
        temperature=None if temperature is None else texts.parse_names(temperature)[0],
        config=config,
        skip_bad=skip_bad,
        seed=seed,
    )
    print_figures(found, as_json=as_json, everything=everything)

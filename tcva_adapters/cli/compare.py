"""``tcva compare``: the frameworks' own metrics and TCVA on the same samples, side by side."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Optional

import typer
from rich.console import Console
from rich.progress import Progress

from tcva_adapters.cli import options
from tcva_adapters.cli.evaluate import INTERRUPTED
from tcva_adapters.compare.existing.bring import Brought, bring
from tcva_adapters.compare.fused import FusedMethod, FusedRow, fused_rows, gains
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.running.judges import native_models
from tcva_adapters.compare.running.kept import NativeLog
from tcva_adapters.compare.running.methods import Method, choose
from tcva_adapters.compare.running.run import (
    OnRow,
    Outcome,
    human_scores,
    named,
    profile_name,
    tcva_name,
)
from tcva_adapters.compare.running.run import compare as run_compare
from tcva_adapters.compare.running.write import write_csv, write_json, write_parquet
from tcva_adapters.compare.table import Row, ScoreTable
from tcva_adapters.compare.views.decisions import DecisionView, decision_view
from tcva_adapters.compare.views.render import print_comparison, print_decisions, report_dict
from tcva_adapters.compare.views.summary import Comparison, summarise_table
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import NO_TELEMETRY
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.stats.checks import whole
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.tcva import TCVA

NOBODY: Final = "none"
PATIENCE: Final = 900.0  # above what a metric's calls may take with all their retries
WIDTH: Final = 100
PAIRS: Final = 25
"""Room for TCVA beside each native metric."""


def compare(
    context: typer.Context,
    samples: Annotated[
        str, typer.Argument(help="jsonl, json, csv or parquet file; '-' reads jsonl from stdin.")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder of the results; a second run goes on from it."),
    ],
    frameworks: Annotated[
        str,
        typer.Option(
            "--with",
            help="ragas, deepeval, llamaindex, langchain, with commas between; all takes those "
            "that are installed, none runs TCVA alone.",
        ),
    ] = "all",
    judge: options.Judge = "lexical",
    criterion: options.Criterion = "faithfulness",
    config: options.ConfigFile = None,
    temperatures: Annotated[
        str,
        typer.Option("--temperatures", "-T", help="TCVA's, with commas between; all of one call."),
    ] = "0.1,0.5,0.9",
    metrics: Annotated[
        Optional[str],  # typer reads it at run time
        typer.Option(
            help="Native metrics, with commas between: faithfulness (of every framework that has "
            "it) or ragas.faithfulness. By default all."
        ),
    ] = None,
    results: Annotated[
        Optional[list[str]],
        typer.Option(
            "--results",
            help="Existing scores instead of a run, NAME=FILE: RAGAS' to_pandas() as csv, a DeepEval "
            "test run, or a table with a column per method. May be given several times.",
        ),
    ] = None,
    missing: Annotated[
        Optional[float],
        typer.Option(
            "--missing", help="The number that stands for no score in --results, e.g. -1."
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option("--scale", help="Lowest and highest possible score in --results.")
    ] = "0,1",
    fuse: Annotated[
        Optional[list[str]],
        typer.Option(
            "--fuse",
            help="A further method: the geometric mean of others, e.g. 'tcva T=0.5 + ragas "
            "faithfulness'. May be given several times; costs no call.",
        ),
    ] = None,
    human: Annotated[
        Optional[str],
        typer.Option(help="The samples' field with the scores of people."),
    ] = None,
    reference: Annotated[
        Optional[str],
        typer.Option(help="With scores of people: the method that others are tested against."),
    ] = None,
    threshold: options.Threshold = 0.5,
    pass_from: Annotated[
        Optional[list[str]],
        typer.Option(
            "--pass-from",
            help="Threshold of another method, e.g. 'ragas faithfulness=0.8'; by default 0.5.",
        ),
    ] = None,
    scheme: options.Scheme = "default",
    penalty: options.Penalty = "paper",
    max_concurrency: options.MaxConcurrency = 8,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds after which a native metric is given up on a sample."),
    ] = PATIENCE,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", "-B", help="Resamples per interval, with --human.")
    ] = 10_000,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
) -> None:
    """Run the frameworks' own metrics and TCVA on the same samples, each judged once.

    Example: tcva compare samples.jsonl --with ragas,deepeval --judge openai:gpt-4.1-mini --out side
    """
    for name, value in NO_TELEMETRY.items():  # before a framework is imported
        os.environ.setdefault(name, value)
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    grid = _temperatures(temperatures)
    dial = {
        "criterion": criterion,
        "threshold": threshold,
        "scheme": options.parse_scheme(scheme),
        "penalty": penalty,
    }
    tcva = TCVA(
        **{"temperature": grid[0], **options.under_config(context, config, dial)},
        judge=judge,
        max_concurrency=max_concurrency,
    )
    threshold = tcva.scoring.threshold
    if tcva.scoring.temperature not in grid:  # the file's
        grid.append(tcva.scoring.temperature)
    thresholds = _thresholds(pass_from or [])
    # Read and check everything before the first call is paid for.
    read = options.read_samples(
        samples, skip_bad=skip_bad, input_format=input_format, rename=rename
    )
    for line, message in read.bad:
        notes.print(f"skipped line {line}: {message}")
    judged = named(read.samples, read.lines)
    brought = [bring(spec, judged, missing=missing, scale=_scale(scale)) for spec in results or []]
    people = _brought_labels(brought) if human is None else human_scores(judged, human)
    ours = [tcva_name(t) for t in grid]
    if tcva.profiles is not None:
        ours.append(profile_name(tcva.profiles))
    with warnings.catch_warnings(action="ignore"):  # the frameworks' own deprecations
        methods, left_out = ([], []) if frameworks == NOBODY else _chosen(frameworks, metrics)
        for note in [*left_out, *(one.summary for one in brought)]:
            notes.print(note)
        names = [*ours, *(m.name for m in methods), *(m for one in brought for m in one.methods)]
        fused = [_fused(text, names) for text in fuse or []]
        _check_names([*names, *(method.name for method in fused)], thresholds)
        _check_means(bootstrap, timeout, has_people=people is not None)
        models = native_models(judge, tcva.judge, max_concurrency=max_concurrency)
        with NativeLog(out / "natives.jsonl") as log, VerdictStore(out / "verdicts.sqlite") as kept:
            tcva = tcva.changed(store=kept)
            try:
                with _progress(notes, len(judged), methods) as on_row:
                    outcome = run_compare(
                        judged,
                        tcva,
                        methods,
                        temperatures=grid,
                        log=log,
                        models=models,
                        seconds=timeout,
                        on_row=on_row,
                    )
            except KeyboardInterrupt:
                notes.print(f"interrupted: what is done is in {out}; the same command goes on")
                raise typer.Exit(INTERRUPTED) from None
    rows = outcome.rows + [row for one in brought for row in one.rows]
    fused, shares = _add_fused(fused, rows, notes)
    table = ScoreTable.of(rows, people)
    gained = gains(fused, table, n_boot=bootstrap)
    limits = _limits(methods, brought, table) | thresholds
    summary = summarise_table(
        table,
        rows=rows,
        thresholds=limits | dict.fromkeys(ours, threshold),
        views=ours,
        reference=reference,
        n_boot=bootstrap,
    )
    view = decision_view(
        [result.assessment for result in outcome.results],
        table,
        ours=ours,
        scoring=tcva.scoring,
        temperatures=grid,
        thresholds=limits,
    )
    figures = {
        "criterion": tcva.criterion.name,
        "judge": tcva.judge.name,
        "temperatures": grid,
        "run": {
            "judged": outcome.judged,
            "kept": outcome.kept,
            "spent": outcome.spent.model_dump(),
            "left_out": left_out,
            "skipped": len(read.bad),
        },
        "fused": {
            name: {"members": jsonable(counts), "gain": jsonable(gained.get(name))}
            for name, counts in shares.items()
        },
        **report_dict(summary, view, brought),
    }
    _write(out, rows, outcome, figures, notes)
    if as_json:
        typer.echo(json.dumps(figures))
    else:
        _print(tcva, outcome, summary, view)
        _print_fused(shares, gained)
    if outcome.fatal is not None:
        raise outcome.fatal


def _chosen(frameworks: str, metrics: str | None) -> tuple[list[Method], list[str]]:
    return choose(_parts(frameworks), None if metrics is None else _parts(metrics))


def _scale(text: str) -> tuple[float, float]:
    ends = options.parse_numbers(text, "--scale")
    if len(ends) != 2:
        msg = f"--scale {text!r} is not two numbers, e.g. 0,5"
        raise InvalidValueError(msg)
    return ends[0], ends[1]


def _temperatures(text: str) -> list[float]:
    grid = [check_temperature(part.strip()) for part in text.split(",")]
    if len(set(grid)) < len(grid):
        msg = f"--temperatures {text!r} names one twice"
        raise InvalidValueError(msg)
    return grid


def _check_names(names: Sequence[str], thresholds: Mapping[str, float]) -> None:
    """Refuse, before anything is paid for, what could not be put into one table afterwards."""
    twice = next((name for name, number in Counter(names).items() if number > 1), None)
    if twice is not None:
        msg = f"two methods are named {twice!r}; name existing scores with --results NAME=FILE"
        raise InvalidValueError(msg)
    for name, limit in thresholds.items():
        if name not in names or not math.isfinite(limit):
            msg = f"--pass-from {name!r}={limit:g}; give a finite number for one of {', '.join(names)}"
            raise InvalidValueError(msg)


def _check_means(bootstrap: int, timeout: float, *, has_people: bool) -> None:
    """The same for what statistics and metrics need."""
    whole("--bootstrap", bootstrap, least=1)
    if not timeout > 0.0:
        msg = f"--timeout {timeout:g}; give a number of seconds above 0"
        raise InvalidValueError(msg)
    if has_people:
        scipy_module("stats")


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _fused(text: str, names: Sequence[str]) -> FusedMethod:
    method = FusedMethod.parse(text)
    for name in method.members:
        if name not in names:
            msg = f"--fuse {text!r}: no method {name!r}; there are {', '.join(names)}"
            raise InvalidValueError(msg)
    return method


def _add_fused(
    methods: Sequence[FusedMethod], rows: list[Row], notes: Console
) -> tuple[list[FusedMethod], dict[str, dict[int, int]]]:
    """Add the rows of fused methods; returns the methods, and how many members stood behind each.

    What cannot be fused (a member on a scale of its own) is left out and said: by then all the
    judgements are paid for.
    """
    members = ScoreTable.of(rows)
    shares = {}
    for method in methods:
        try:
            more, shares[method.name] = fused_rows(method, members)
        except InvalidValueError as error:
            notes.print(f"left out {method.name}: {error}")
        else:
            rows += more
    return [method for method in methods if method.name in shares], shares


def _brought_labels(brought: Sequence[Brought]) -> dict[str, float] | None:
    """The scores of people that a brought file holds; the first file that has some."""
    return next((dict(one.human) for one in brought if one.human), None)


def _thresholds(pairs: Sequence[str]) -> dict[str, float]:
    found = {}
    for pair in pairs:
        name, equals, number = pair.rpartition("=")
        if not equals or not name.strip():
            msg = f"--pass-from {pair!r} is not of the form METHOD=NUMBER"
            raise InvalidValueError(msg)
        found[name.strip()] = options.parse_numbers(number, "--pass-from")[0]
    return found


def _limits(
    methods: Sequence[Method], brought: Sequence[Brought], table: ScoreTable
) -> dict[str, float]:
    limits = {method.name: method.threshold for method in methods}
    for one in brought:
        limits |= one.thresholds
    return {name: limit for name, limit in limits.items() if name in table.methods}


@contextmanager
def _progress(notes: Console, samples: int, methods: Sequence[Method]) -> Iterator[OnRow]:
    """A bar on a terminal, and anywhere a line on standard error for each method that is done."""
    names = {method.name for method in methods}
    done: Counter[str] = Counter()
    scored: Counter[str] = Counter()
    bar = Progress(console=notes, transient=True)
    task = bar.add_task("native metrics", total=samples * len(methods))

    def on_row(row: Row) -> None:
        if row.method not in names:
            return
        if not done and notes.is_terminal:
            bar.start()  # not before TCVA's own bar is gone
        done[row.method] += 1
        scored[row.method] += row.score is not None
        bar.advance(task)
        if done[row.method] == samples:
            notes.print(f"{row.method}: {scored[row.method]} of {samples} scored")

    try:
        yield on_row
    finally:
        if bar.live.is_started:
            bar.stop()


def _write(
    out: Path,
    rows: Sequence[Row],
    outcome: Outcome,
    figures: Mapping[str, Any],
    notes: Console,
) -> None:
    write_csv(out / "scores.csv", rows)
    if not write_parquet(out / "scores.parquet", rows):
        notes.print("no scores.parquet: it needs pyarrow, pip install 'tcva-adapters[parquet]'")
    write_assessments(out / "assessments.jsonl", [result.assessment for result in outcome.results])
    write_json(out / "summary.json", figures)
    notes.print(f"written to {out}: scores, assessments.jsonl, natives.jsonl, summary.json")


def _print(tcva: TCVA, outcome: Outcome, summary: Comparison, view: DecisionView) -> None:
    console = Console(width=WIDTH, highlight=False, markup=False)
    lexical = ", a lexical judge: it compares words" if tcva.judge.is_local else ""
    console.print(f"{tcva.criterion.name} by {tcva.judge.name}{lexical}", soft_wrap=True)
    made, kept = sum(outcome.judged.values()), sum(outcome.kept.values())
    spent = outcome.spent
    console.print(
        f"{made} judgements made now, {kept} from an earlier run; {spent.calls} calls, "
        f"{spent.input_tokens} + {spent.output_tokens} tokens",
        soft_wrap=True,
    )
    middle = tcva_name(view.temperatures[len(view.temperatures) // 2])
    print_comparison(console, summary, pairs=PAIRS, lead=middle)
    print_decisions(console, view)


def _print_fused(shares: Mapping[str, Mapping[int, int]], gained: Mapping[str, FusedRow]) -> None:
    console = Console(width=WIDTH, highlight=False, markup=False)
    for name, counts in shares.items():
        made_of = ", ".join(f"{n} samples of {size}" for size, n in sorted(counts.items())[::-1])
        console.print(f"\n{name}: {made_of} members")
        gain = gained.get(name)
        if gain is None:
            console.print(
                "its gain shows on ten samples or more with the scores of people: --human"
            )
            continue
        console.print(
            f"rho {gain.rho:.3f} ({gain.low:.3f} to {gain.high:.3f}) with people on {gain.n} "
            f"samples; gain over {gain.best} ({gain.best_rho:.3f}): {gain.gain:+.3f} "
            f"({gain.gain_low:+.3f} to {gain.gain_high:+.3f})"
        )

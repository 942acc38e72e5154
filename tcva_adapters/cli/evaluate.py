"""``tcva evaluate``: judge a file of samples."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters.cli import options
from tcva_adapters.cli.panel import panel_figures, print_panel
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.judging.panel import Panel
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.result import Result
from tcva_adapters.results.summary import Summary, summarise
from tcva_adapters.samples.files import SampleFile
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

GATE_FAILED = 1
INTERRUPTED = 130  # what shells report for Ctrl-C


def evaluate(
    context: typer.Context,
    samples: Annotated[
        str, typer.Argument(help="jsonl, json, csv or parquet file; '-' reads jsonl from stdin.")
    ],
    *,
    criterion: options.Criterion = "faithfulness",
    judge: options.Judge = "lexical",
    fuse: options.Fuse = None,
    panel: options.PanelJudges = None,
    combine: options.Combine = "median",
    config: options.ConfigFile = None,
    temperature: options.Temperature = "0.5",
    threshold: options.Threshold = 0.5,
    scheme: options.Scheme = "default",
    penalty: options.Penalty = "paper",
    eps: options.Eps = 1e-9,
    floor: options.Floor = "paper",
    claims: Annotated[
        str, typer.Option(help="split (sentences, 1 call) or llm (asked of the judge, 2 calls).")
    ] = "split",
    max_claims: Annotated[int, typer.Option(help="Most claims per sample.")] = 8,
    max_concurrency: options.MaxConcurrency = 8,
    store: options.Store = None,
    no_store: options.NoStore = False,
    out: Annotated[
        Optional[str],
        typer.Option("--out", "-o", help="Write the assessments here as jsonl; '-' for stdout."),
    ] = None,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    on_unscored: Annotated[
        Optional[float],
        typer.Option(help="Score for samples without one (refusals, empty contexts)."),
    ] = None,
    min_score: Annotated[
        Optional[float],
        typer.Option(help="Gate: exit with 1 when the mean score is below."),
    ] = None,
    min_pass_rate: Annotated[
        Optional[float],
        typer.Option(help="Gate: exit with 1 when fewer of the scored samples pass."),
    ] = None,
    min_coverage: Annotated[
        Optional[float],
        typer.Option(help="Gate: exit with 1 when fewer of the samples have a score."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Judge a file of samples and write their assessments.

    Example: tcva evaluate samples.jsonl --judge openai:gpt-4.1-mini -T strict -o judged.jsonl
    """
    if as_json and out == "-":
        msg = "--json and --out - both write to standard output; give --out a file"
        raise InvalidValueError(msg)
    if out is not None and out != "-":
        options.check_target(Path(out), samples)
    dial = {
        "criterion": criterion,
        "temperature": temperature,
        "threshold": threshold,
        "scheme": options.parse_scheme(scheme),
        "penalty": penalty,
        "eps": eps,
        "floor": floor,
    }
    tcva = TCVA(
        **options.under_config(context, config, dial),
        **_judges(judge, panel or [], combine, claims=claims, max_claims=max_claims),
        fuse=fuse,
        on_unscored=on_unscored,
        max_concurrency=max_concurrency,
    )
    gates = {"mean score": min_score, "pass rate": min_pass_rate, "coverage": min_coverage}
    options.check_gates(gates)
    # Read and check everything before the first call is paid for.
    read = options.read_samples(
        samples, skip_bad=skip_bad, input_format=input_format, rename=rename
    )
    usable, lacking = _with_needed_fields(tcva, read, skip_bad=skip_bad)
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    for line, message in [*read.bad, *lacking]:
        notes.print(f"skipped line {line}: {message}")

    opened = options.open_store(
        store, no_store=no_store, is_local=tcva.judge.is_local, what="verdicts", notes=notes
    )
    tcva = tcva.changed(store=opened)
    try:
        results = tcva.evaluate_many(usable)
    except KeyboardInterrupt:
        notes.print(
            "interrupted: calls under way may still end and reach the store; Ctrl-C again to leave "
            "at once"
        )
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        raise typer.Exit(INTERRUPTED) from None
    if out is not None:
        write_assessments(out, results)

    summary = summarise(results)
    if as_json:
        skipped = len(read.bad) + len(lacking)
        typer.echo(json.dumps(_figures(tcva, results, summary, skipped=skipped)))
    else:
        stream = sys.stderr if out == "-" else sys.stdout
        _print_summary(Console(file=stream, highlight=False, markup=False), tcva, results, summary)
    _raise_if_nothing_scored(results, summary)
    _gate(gates, summary, notes)


def _with_needed_fields(
    tcva: TCVA, read: SampleFile, *, skip_bad: bool
) -> tuple[list[Sample], list[tuple[int, str]]]:
    usable, lacking = [], []
    for line, sample in zip(read.lines, read.samples, strict=True):
        try:
            tcva.require(sample)
        except InvalidSampleError as error:
            if not skip_bad:
                msg = f"line {line}: {error}; name it with --map, or leave it out with --skip-bad"
                raise InvalidSampleError(msg) from None
            lacking.append((line, str(error)))
        else:
            usable.append(sample)
    return usable, lacking


def _judges(
    judge: str, panel: Sequence[str], combine: str, *, claims: str, max_claims: int
) -> dict[str, Any]:
    """The arguments of `TCVA` that say who judges which claims."""
    if not panel:
        return {"judge": judge, "claims": claims, "max_claims": max_claims}
    if claims != "split":
        msg = f"--claims {claims} gives each judge claims of its own; a --panel needs 'split'"
        raise InvalidValueError(msg)
    return {"judge": Panel([judge, *panel], combine=combine, max_claims=max_claims)}  # type: ignore[arg-type]  # checked when built


def _figures(
    tcva: TCVA, results: Sequence[Result], summary: Summary, *, skipped: int
) -> dict[str, Any]:
    figures = {
        "criterion": tcva.criterion.name,
        "judge": tcva.judge.name,
        "temperature": tcva.scoring.temperature,
        "scheme": tcva.scoring.scheme.name,
        "penalty": tcva.scoring.penalty,
        "threshold": tcva.scoring.threshold,
        "skipped": skipped,
        **summary.as_dict(),
    }
    if tcva.members:
        figures["fused"] = _lacking(tcva, results)
    if tcva.profiles is not None:
        figures["profiles"] = {"by": tcva.profiles.by, "values": list(tcva.profiles.values)}
    if tcva.panel_judges:
        figures["panel"] = panel_figures([result.assessment for result in results])
    return figures


def _lacking(tcva: TCVA, results: Sequence[Result]) -> list[dict[str, Any]]:
    """The further judges, and on how many of the scored samples each was left out."""
    fused = [result.assessment.members for result in results if result.assessment.members]
    return [
        {
            "judge": member.judge.name,
            "criterion": member.criterion.name,
            "left_out": sum(judged[place].unscored is not None for judged in fused),
        }
        for place, member in enumerate(tcva.members)
    ]


def _print_summary(
    console: Console, tcva: TCVA, results: Sequence[Result], summary: Summary
) -> None:
    dial = tcva.scoring
    lexical = ", a lexical judge: it compares words" if tcva.judge.is_local else ""
    console.print(
        f"{tcva.criterion.name} by {tcva.judge.name}{lexical}; T={dial.temperature:g}, "
        f"{dial.scheme.name} weights, {dial.penalty} penalty, threshold {dial.threshold:g}",
        soft_wrap=True,
    )
    for member in _lacking(tcva, results):
        left_out = f"; left out on {n} samples" if (n := member["left_out"]) else ""
        console.print(f"fused with {member['criterion']} by {member['judge']}{left_out}")
    if tcva.profiles is not None:
        names = ", ".join(tcva.profiles.values)
        console.print(f"other settings by {tcva.profiles.by!r}: {names}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in ("mean", "passed", "scored", *summary.levels):
        table.add_column(heading, justify="right")
    mean = "-" if summary.mean is None else f"{summary.mean:.3f}"
    scored = f"{summary.scored}/{summary.samples}"
    passed = f"{summary.passed}/{summary.scored}"
    table.add_row(mean, passed, scored, *map(str, summary.levels.values()))
    console.print(table)
    for reason, number in summary.unscored.items():
        first = next(r for r in results if r.unscored and r.unscored.reason == reason)
        detail = first.unscored.detail if first.unscored else ""
        console.print(f"unscored: {number} {reason} ({detail})", soft_wrap=True)
    used = summary.usage
    if used.calls or summary.served:
        console.print(
            f"{used.calls} calls, {used.input_tokens} + {used.output_tokens} tokens; "
            f"{summary.served} samples from the store"
        )
    if tcva.panel_judges:
        print_panel(console, [result.assessment for result in results])


def _raise_if_nothing_scored(results: Sequence[Result], summary: Summary) -> None:
    for result in results:
        if result.unscored is not None and result.unscored.fatal:
            raise JudgeError(result.unscored.detail, fatal=True)
    if results and summary.scored == 0:
        reasons = ", ".join(f"{number} {reason}" for reason, number in summary.unscored.items())
        first = next(result.unscored.detail for result in results if result.unscored)
        msg = f"no sample has a score: {reasons}; the first: {first}"
        raise InvalidSampleError(msg)


def _gate(gates: dict[str, float | None], summary: Summary, notes: Console) -> None:
    reached = {
        "mean score": summary.mean,
        "pass rate": summary.pass_rate,
        "coverage": summary.coverage,
    }
    failed = []
    lost = [r for r in summary.unscored if Reason(r).is_failure]
    if lost and any(gates.values()) and gates["coverage"] is None:
        number = sum(summary.unscored[reason] for reason in lost)
        lacking = f"{number} of {summary.samples} samples have no score because the judge failed"
        failed = [f"{lacking} (--min-coverage says how many may)"]
    failed += [
        f"{name} {reached[name] or 0.0:.3f} < {least:g}"
        for name, least in gates.items()
        if least is not None and (reached[name] or 0.0) < least
    ]
    for text in failed:
        notes.print(f"gate failed: {text}")
    if failed:
        raise typer.Exit(GATE_FAILED)

"""``tcva ccrs``: rate a file of samples by the five direct metrics."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters.ccrs import CCRS, CCRSResult, Composite, composite
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, METRICS, resolve_metrics
from tcva_adapters.ccrs.summary import CCRSSummary, summarise_ccrs
from tcva_adapters.cli import options
from tcva_adapters.cli.options import INTERRUPTED
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.results.files import write_assessments
from tcva_adapters.samples.sample import Sample


def ccrs(
    samples: Annotated[
        str, typer.Argument(help="jsonl, json, csv or parquet file; '-' reads jsonl from stdin.")
    ],
    *,
    metrics: Annotated[
        str, typer.Option("--metrics", "-m", help="Which, with commas: cc,qr,id,ac,ir.")
    ] = ",".join(METRICS),
    judge: options.Judge = "lexical",
    suite: Annotated[
        bool,
        typer.Option(
            "--suite", help="One call of a model for all metrics; not the source's protocol."
        ),
    ] = False,
    em: Annotated[
        str, typer.Option(help="Exact match of answer correctness: strict or normalised.")
    ] = "strict",
    lambda_: Annotated[
        float, typer.Option("--lambda", help="What the exact match weighs, in [0, 1].")
    ] = DEFAULT_LAMBDA,
    weights: Annotated[
        Optional[str],
        typer.Option(help="Composite of metrics: cc=0.5,ir=0.5; the weights sum to 1."),
    ] = None,
    threshold: Annotated[
        Optional[float],
        typer.Option(help="A composite passes from here on; with equal weights unless given."),
    ] = None,
    renormalise: Annotated[
        bool,
        typer.Option(
            "--renormalise", help="Let other metrics stand in for a missing one in a composite."
        ),
    ] = False,
    max_concurrency: options.MaxConcurrency = 8,
    store: options.Store = None,
    no_store: options.NoStore = False,
    out: Annotated[
        Optional[str],
        typer.Option("--out", "-o", help="Write the results here as jsonl; '-' for stdout."),
    ] = None,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
) -> None:
    """Rate a file of samples by direct metrics: a number from 0 to 100 for the whole answer.

    Example: tcva ccrs samples.jsonl --metrics qr,ir --judge openai:gpt-4.1-mini -o rated.jsonl
    """
    if as_json and out == "-":
        msg = "--json and --out - both write to standard output; give --out a file"
        raise InvalidValueError(msg)
    if out is not None and out != "-":
        options.check_target(Path(out), samples)
    rater = CCRS(
        [name.strip() for name in metrics.split(",")],
        judge=judge,
        lambda_=lambda_,
        em=em,  # type: ignore[arg-type]  # checked when built
        suite=suite,
        max_concurrency=max_concurrency,
    )
    has_composite = weights is not None or threshold is not None
    shares = None if weights is None else _parse_weights(weights)
    # Read and check everything before the first call is paid for.
    read = options.read_samples(
        samples, skip_bad=skip_bad, input_format=input_format, rename=rename
    )

    def composites(results: Sequence[CCRSResult]) -> list[Composite] | None:
        if not has_composite:
            return None
        least = 0.5 if threshold is None else threshold
        return [
            composite(r, weights=shares, threshold=least, renormalise=renormalise) for r in results
        ]

    composites(CCRS(rater.metrics).evaluate_many([Sample()]))  # refuses wrong weights now
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    for line, message in read.bad:
        notes.print(f"skipped line {line}: {message}")
    rater.store = options.open_store(
        store, no_store=no_store, is_local=rater.rater.is_local, what="ratings", notes=notes
    )
    results = _rated(rater, read.samples, notes)
    if out is not None:
        write_assessments(out, results)
    summary = summarise_ccrs(results, composites(results))
    if as_json:
        setting = {
            "judge": rater.rater.name,
            "protocol": rater.rater.protocol,
            "em": rater.em,
            "lambda": rater.lambda_,
            "skipped": len(read.bad),
        }
        typer.echo(json.dumps({**setting, **summary.as_dict()}))
    else:
        stream = sys.stderr if out == "-" else sys.stdout
        _print_summary(Console(file=stream, highlight=False, markup=False), rater, summary)
    _raise_if_nothing_scored(results)


def _rated(rater: CCRS, samples: Sequence[Sample], notes: Console) -> list[CCRSResult]:
    try:
        return rater.evaluate_many(samples)
    except KeyboardInterrupt:
        notes.print(
            "interrupted: calls under way may still end and reach the store; Ctrl-C again to leave "
            "at once"
        )
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        raise typer.Exit(INTERRUPTED) from None


def _parse_weights(text: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for pair in text.split(","):
        name, _, number = pair.partition("=")
        try:
            (metric,) = resolve_metrics(name)
            share = float(number)
        except ValueError:  # InvalidValueError is one
            msg = f"--weights {text!r}: {pair!r} is not of the form metric=number, e.g. cc=0.5"
            raise InvalidValueError(msg) from None
        if metric.name in shares:
            msg = f"--weights {text!r} names {metric.name} twice"
            raise InvalidValueError(msg)
        shares[metric.name] = share
    return shares


def _print_summary(console: Console, rater: CCRS, summary: CCRSSummary) -> None:
    how = {
        "single": "one call per metric",
        "suite": "one call for all metrics, which is not the source's protocol",
        "lexical": "a lexical judge: it counts words",
    }
    console.print(f"CCRS by {rater.rater.name}, {how[rater.rater.protocol]}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("metric")
    for heading in ("mean", "scored"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for name, metric in summary.metrics.items():
        said = [f"{number} {reason}" for reason, number in metric.unscored.items()]
        if metric.exact is not None and metric.judged is not None:
            said.insert(
                0,
                f"exact match {metric.exact:.3f} ({rater.em}, weight {rater.lambda_:g}), "
                f"judged {metric.judged:.3f}",
            )
        table.add_row(
            f"{name} {metric.title}",
            _shown(metric.mean),
            f"{metric.scored}/{summary.samples}",
            "; ".join(said),
        )
    if summary.composite is not None:
        whole = summary.composite
        table.add_row(
            "composite",
            _shown(whole.mean),
            f"{whole.scored}/{summary.samples}",
            f"passed {whole.passed}/{whole.scored}",
        )
    console.print(table)
    used = summary.usage
    if used.calls or summary.served:
        console.print(
            f"{used.calls} calls, {used.input_tokens} + {used.output_tokens} tokens; "
            f"{summary.served} ratings from the store"
        )


def _shown(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.3f}"


def _raise_if_nothing_scored(results: Sequence[CCRSResult]) -> None:
    reasons = [why for result in results for why in result.unscored_by.values()]
    for why in reasons:
        if why.fatal:
            raise JudgeError(why.detail, fatal=True)
    if reasons and all(score is None for r in results for score in r.scores.values()):
        msg = f"no sample has a score; the first: {reasons[0].reason.value}: {reasons[0].detail}"
        raise InvalidSampleError(msg)

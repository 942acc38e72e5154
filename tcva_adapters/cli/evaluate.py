"""``tcva evaluate``: judge a file of samples."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import typer

from tcva_adapters import printing
from tcva_adapters.cli import options
from tcva_adapters.compare.evaluation import check_gates, evaluation, with_needed_fields
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.panel import Panel
from tcva_adapters.results.files import write_assessments
from tcva_adapters.tcva import TCVA

GATE_FAILED = 1


def evaluate(
    context: typer.Context,
    samples: options.SampleFile,
    *,
    criterion: options.Criterion = "faithfulness",
    judge: options.Judge = "lexical",
    fuse: options.AdditionalJudges = None,
    panel: options.PanelJudges = None,
    combine: options.Combine = "median",
    config: options.ConfigFile = None,
    temperature: options.Temperature = "0.5",
    threshold: options.Threshold = 0.5,
    scheme: options.Scheme = "default",
    penalty: options.Penalty = "paper",
    eps: options.Eps = 1e-9,
    floor: options.Floor = "paper",
    claims: options.Claims = "split",
    max_claims: options.MaxClaims = 8,
    max_concurrency: options.MaxConcurrency = 8,
    store: options.Store = None,
    no_store: options.NoStore = False,
    out: options.Out = None,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    on_unscored: options.OnUnscored = None,
    min_score: options.MinScore = None,
    min_pass_rate: options.MinPassRate = None,
    min_coverage: options.MinCoverage = None,
    as_json: options.AsJson = False,
) -> None:
    """Judge a file of samples and write their assessments.

    Example: tcva evaluate samples.jsonl --judge openai:gpt-4.1-mini -T strict -o judged.jsonl
    """
    options.check_out(out, samples, as_json=as_json)
    dial = {"criterion": criterion, "temperature": temperature, "threshold": threshold}
    dial |= {"scheme": options.parse_scheme(scheme), "penalty": penalty, "eps": eps, "floor": floor}
    tcva = TCVA(
        **options.under_config(context, config, dial),
        **_judges(judge, panel or [], combine, claims=claims, max_claims=max_claims),
        fuse=fuse,
        on_unscored=on_unscored,
        max_concurrency=max_concurrency,
    )
    gates = {"mean score": min_score, "pass rate": min_pass_rate, "coverage": min_coverage}
    check_gates(gates)
    # Read and check everything before the first call is paid for.
    read = options.read_samples(
        samples, skip_bad=skip_bad, input_format=input_format, rename=rename
    )
    usable, lacking = with_needed_fields(tcva, read, skip_bad=skip_bad)
    notes = printing.notes()
    for line, message in [*read.bad, *lacking]:
        notes.print(f"skipped line {line}: {message}")
    tcva.store = options.open_store(
        store, no_store=no_store, is_local=tcva.judge.is_local, what="verdicts", notes=notes
    )
    with options.interruptible(notes):
        results = tcva.evaluate_many(usable)
    if out is not None:
        write_assessments(out, [result.assessment for result in results])
    found = evaluation(tcva, results, skipped=len(read.bad) + len(lacking))
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        found.show(sys.stderr if out == "-" else sys.stdout)
    found.check()
    failed = found.failed_gates(gates)
    for text in failed:
        notes.print(f"gate failed: {text}")
    if failed:
        raise typer.Exit(GATE_FAILED)


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

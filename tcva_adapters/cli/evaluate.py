"""``tcva evaluate``: judge a file of samples."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import typer

from tcva_adapters import printing
from tcva_adapters.cli import machines, options
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.report import Report, check_report, report_written
from tcva_adapters.cli.written import results_written, say_written
from tcva_adapters.compare.changes import changed_since, read_baseline
from tcva_adapters.compare.claim_view import check_wanted, claim_views
from tcva_adapters.compare.evaluation import Evaluation, check_gates, with_needed_fields
from tcva_adapters.compare.gates import Gates
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.panel import Panel
from tcva_adapters.results.files import write_assessments
from tcva_adapters.tcva import TCVA, TCVASettings


@machines.hands_over("min_score", "min_pass_rate", "min_coverage")
@options.takes_model_settings
@options.takes(
    TCVASettings,
    *("temperature", "threshold", "scheme", "penalty", "eps", "floor", "on_unscored"),
    *("claims", "max_claims", "max_concurrency"),
)
def evaluate(
    context: typer.Context,
    samples: options.SampleFile,
    *,
    criterion: options.Criterion = "faithfulness",
    judge: options.Judge = None,
    fuse: options.AdditionalJudges = None,
    panel: options.PanelJudges = None,
    combine: options.Combine = "median",
    config: options.ConfigFile = None,
    store: options.Store = None,
    no_store: options.NoStore = False,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    baseline: machines.Baseline = None,
    report: Report = None,
    show: machines.Show = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    gates: Gates,
    handed: machines.Handed,
    model_settings: Mapping[str, Any],
    **settings: Any,
) -> None:
    """Judge a file of samples and write their assessments.

    Example: tcva evaluate samples.jsonl --judge openai:gpt-4.1-mini -T strict -o judged.jsonl
    """
    options.check_out(out, samples, as_json=as_json, overwrite=overwrite)
    read_from = [samples, *([] if baseline is None else [baseline])]
    handed.check(read_from, as_json=as_json, out=out, report=report)
    check_report(report, samples, overwrite=overwrite)
    notes = printing.notes()
    voices = [options.named_judge(judge, notes), *(panel or ())]
    asked = options.asked_judges(
        [*voices, *(fuse or ())], model_settings, settings["max_concurrency"]
    )
    first, fused = asked[0], asked[len(voices) :]
    if panel:
        first, settings = panel_of(asked[: len(voices)], combine, settings)
    settings = options.under_config(context, config, {"criterion": criterion, **settings})
    tcva = TCVA(judge=first, fuse=fused, **settings)
    check_gates(gates, tcva)
    before = None if baseline is None else read_baseline(baseline, tcva)
    # Read and check everything before the first call is paid for.
    read = options.read_samples(
        samples, skip_bad=skip_bad, input_format=input_format, rename=rename
    )
    usable, lacking = with_needed_fields(tcva, read, skip_bad=skip_bad)
    check_wanted(show or (), usable)
    for note in replace(read, bad=[*read.bad, *lacking]).notes:
        notes.print(note)
    opened = options.open_store(
        store, no_store=no_store, is_local=tcva.judge.is_local, what="verdicts", notes=notes
    )
    tcva = tcva.changed(store=opened)
    with options.interruptible(notes):
        results = tcva.evaluate_many(usable, progress=True)
    if out is not None:
        write_assessments(out, results, overwrite=overwrite)
    found = Evaluation.of(tcva, results, skipped=len(read.bad) + len(lacking), gates=gates)
    changes = changed_since(before, found.gated.graded)
    handed.write(found.sentence, found.gated, changes)
    since = {} if changes is None else {"since_baseline": changes.to_dict()}
    side = sys.stderr if as_json else handed.side(out)
    print_figures(found, as_json=as_json, everything=everything, file=side, **since)
    if changes is not None and not as_json:
        printing.show([printing.Wrapped(f"since the baseline: {changes.sentence}")], file=side)
    printing.show(claim_views(results, usable, show or ()), file=side)
    results_file = results_written(out, opened, "assessments: for sweep and calibrate")
    shown = report if found.summary.scored else None
    page = report_written(found, shown, of=samples, overwrite=overwrite, samples=usable)
    say_written({**results_file, **page, **handed.written})
    found.check()
    handed.conclude(found.gated)


def panel_of(
    judges: Sequence[Any], combine: str, settings: dict[str, Any]
) -> tuple[Panel, dict[str, Any]]:
    """The judges of a panel as one, and the settings without those that it takes itself.

    Raises:
        InvalidValueError: Each is to be asked for claims of its own.
    """
    if settings["claims"] != "split":
        msg = (
            f"--claims {settings['claims']} gives each judge claims of its own; a --panel needs "
            "'split'"
        )
        raise InvalidValueError(msg)
    panel = Panel(judges, combine=combine, max_claims=settings["max_claims"])  # type: ignore[arg-type]  # checked when built
    taken = ("claims", "max_claims")
    return panel, {name: value for name, value in settings.items() if name not in taken}

"""``tcva evaluate``: judge a file of samples."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

import typer

from tcva_adapters import printing
from tcva_adapters.cli import machines, scaled, stat_options
from tcva_adapters.cli import old_options as options
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.judges import judging_arguments, named_judge
from tcva_adapters.cli.old_report import Report, check_report, report_written
from tcva_adapters.cli.running import Reading, judging
from tcva_adapters.cli.since import Since, takes_baseline
from tcva_adapters.cli.written import results_written, say_written
from tcva_adapters.compare.claim_view import check_wanted, claim_views
from tcva_adapters.compare.evaluation import Evaluation, Running
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.grouping import required
from tcva_adapters.compare.labels import Labels
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.long_run import run_fingerprint, run_results
from tcva_adapters.results.files import Writing
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.tcva import TCVA

_SETTINGS: Final = (
    *("temperature", "threshold", "scheme", "penalty", "eps", "floor", "bounds", "evidence"),
    "on_unscored",
    *("claims", "max_claims", "verdicts", "repeats", "max_concurrency"),
)


_LOOKS: Final = scaled.LOOKS - {"threshold"}
_USES_GROUPS: Final = "--confidence, --baseline, --panel or --report"


@machines.hands_over("min_score", "min_pass_rate", "min_coverage")
@takes_baseline
@options.takes_model_settings
@options.takes(TCVASettings, *_SETTINGS)
def evaluate(
    context: typer.Context,
    file: options.SampleFile,
    *,
    criterion: options.Criterion = "faithfulness",
    judge: options.Judge = None,
    fuse: options.AdditionalJudges = None,
    panel: options.PanelJudges = None,
    combine: options.Combine = "median",
    human: options.Human = None,
    labels: options.LabelFile = None,
    config: options.ConfigFile = None,
    store: options.Store = None,
    no_store: options.NoStore = False,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    group: stat_options.Group = None,
    report: Report = None,
    show: machines.Show = None,
    workers: scaled.Workers = 1,
    ray: scaled.Ray = None,
    estimate: scaled.EstimateOnly = False,
    latency: scaled.Latency = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    gates: Gates,
    handed: machines.Handed,
    since: Since,
    model_settings: Mapping[str, Any],
    **settings: Any,
) -> None:
    """Judge a file of samples and write their assessments.

    Example: tcva evaluate samples.jsonl --judge openai:gpt-4.1-mini -T strict -o judged.jsonl
    """
    notes = printing.notes()
    settings = options.under_config(context, config, {"criterion": criterion, **settings})
    all_judges = [named_judge(judge, notes), *(panel or ())]
    if ray is not None and not estimate:
        judges = {"judge": all_judges[0], "panel": panel, "combine": combine, "fuse": fuse}
        plain = {**settings, "model": model_settings, **judges}
        scaled.on_ray(context, ray, plain, looks=_LOOKS, notes=notes)
        return
    ratings = _ratings(human, labels, panel)
    _check_written(file, since, out, report, handed, as_json=as_json, overwrite=overwrite)
    looks: tuple[object, ...] = (gates.confidence, since.baseline, panel, report)
    stat_options.check_group(group, *looks, ways=_USES_GROUPS)
    share, model = scaled.share_of(settings, model_settings, workers, estimate=estimate)
    tcva = TCVA(**judging_arguments(all_judges, fuse or (), combine, model, share))
    running = Running(tcva, gates, group=group)
    since.begin(tcva)
    layout: dict[str, Any] = {"input_format": input_format, "rename": rename, "skip_bad": skip_bad}
    read = options.stream_samples(file, require=required(group, tcva.require), **layout)
    reading = Reading(read, is_shown=bool(show or report))
    check_wanted(show or (), reading.again)  # before the first call is paid for
    if estimate:
        scaled.show_estimate(context, tcva, reading.samples, model_settings, latency=latency)
        return
    tcva = options.with_store(tcva, store, no_store=no_store, what="verdicts", notes=notes)
    looks += (gates.are_asked, handed.names_samples, show, tcva.settings["repeats"] > 1)
    judge_all = scaled.evaluate_with(tcva, workers, settings["max_concurrency"])
    fingerprint = run_fingerprint(tcva, reading.samples, group)
    how: dict[str, Any] = {"overwrite": overwrite, "fingerprint": fingerprint}
    with Writing(out, Result.from_json, is_held=any(looks), **how) as written:
        with judging(notes, out, reading):
            for result in run_results(written, reading.samples, judge_all, notes.print):
                running.add(result)
        found = running.ended(written.results, skipped=read.skipped, human=ratings)
        handed.write(found.sentence, found.gated, since.looked_at(found))
        views = claim_views(found.results, reading.again, show or ())
        _print(found, since, views, handed.side(out), as_json=as_json, everything=everything)
        files = results_written(out, tcva.store, "assessments: for sweep and calibrate")
        files |= _page(found, report, reading, of=file, overwrite=overwrite)
        say_written({**files, **handed.written})
        found.check()
        handed.conclude(found.gated)


def _print(
    found: Evaluation,
    since: Since,
    views: Iterable[printing.Part],
    side: TextIO,
    *,
    as_json: bool,
    everything: bool,
) -> None:
    """The figures, what changed since the baseline, and the samples that were asked for."""
    print_figures(found, as_json=as_json, everything=everything, file=side, **since.to_dict())
    if not as_json:
        printing.show(since.parts(), file=side)
    printing.show(views, file=sys.stderr if as_json else side)


def _page(
    found: Evaluation, report: Path | None, reading: Reading, *, of: str, overwrite: bool
) -> dict[Path, str]:
    """The page, where it was asked for and there is a score to show."""
    shown = report if found.summary.scored else None
    how: dict[str, Any] = {"samples": reading.again(), "group": found.group}
    return report_written(found, shown, of=of, overwrite=overwrite, **how)


def _check_written(
    file: str,
    since: Since,
    out: str | None,
    report: Path | None,
    handed: machines.Handed,
    *,
    as_json: bool,
    overwrite: bool,
) -> None:
    """Refuse, before anything is paid for, to write where it will fail or destroy something."""
    options.check_out(out, file, as_json=as_json, overwrite=overwrite)
    read_from = [file] if since.baseline is None else [file, since.baseline]
    handed.check(read_from, as_json=as_json, out=out, report=report)
    check_report(report, file, overwrite=overwrite)


def _ratings(
    human: str | None, labels: str | None, panel: Sequence[str] | None
) -> str | Labels | None:
    """Where human ratings are.

    Raises:
        InvalidValueError: They are in two places, or there is no panel to hold against them.
    """
    if (human or labels) and not panel:
        msg = (
            f"{'--human' if human else '--labels'} is for a --panel here: whether its best judge alone "
            "would do; tcva compare and tcva sweep hold any judge against human ratings"
        )
        raise InvalidValueError(msg)
    return options.ratings_of(human, labels)

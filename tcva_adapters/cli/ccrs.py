"""``tcva ccrs``: rate a file of samples by the five direct metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Optional

import typer

from tcva_adapters.ccrs import CCRS
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.ccrs.scorer import CCRSSettings
from tcva_adapters.ccrs.summary import CCRSSummary, summarise_ccrs
from tcva_adapters.cli import machines, scaled, stat_options, texts
from tcva_adapters.cli import old_options as options
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.judges import asked_judges, named_judge
from tcva_adapters.cli.old_report import Report, check_report, report_written
from tcva_adapters.cli.running import Reading, judging
from tcva_adapters.cli.written import results_written, say_written
from tcva_adapters.compare.ccrs_ratings import rated_ccrs
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.graded import COMPOSITE, grade_ccrs
from tcva_adapters.compare.grouping import required
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.long_run import run_fingerprint, run_results
from tcva_adapters.printing import notes
from tcva_adapters.results.files import Writing
from tcva_adapters.samples.sample import Sample

_ALL: Final = ",".join(METRICS)
_USES_GROUPS: Final = "--confidence, --human, --labels or --report"

# typer reads them at run time, so what is optional is spelt out.
_Metrics = Annotated[
    str, typer.Option("--metrics", "-m", help="Which, with commas: cc,qr,id,ac,ir.")
]
_Weights = Annotated[
    Optional[str], typer.Option(help="Composite of metrics: cc=0.5,ir=0.5; the weights sum to 1.")
]
_Threshold = Annotated[
    Optional[float],
    typer.Option(help="A composite passes from here on; with equal weights unless given."),
]
_Out = Annotated[
    Optional[str],
    typer.Option("--out", "-o", help="Write the results here: .jsonl or .json; '-' for stdout."),
]


@machines.hands_over("min_score", "min_pass_rate", "min_coverage")
@options.takes_model_settings
@options.takes(CCRSSettings, "em", "lambda_", "max_concurrency")
def ccrs(
    context: typer.Context,
    file: options.SampleFile,
    *,
    metrics: _Metrics = _ALL,
    judge: options.Judge = None,
    weights: _Weights = None,
    threshold: _Threshold = None,
    human: options.Human = None,
    labels: options.LabelFile = None,
    store: options.Store = None,
    no_store: options.NoStore = False,
    out: _Out = None,
    overwrite: options.Overwrite = False,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    report: Report = None,
    group: stat_options.Group = None,
    workers: scaled.Workers = 1,
    ray: scaled.Ray = None,
    estimate: scaled.EstimateOnly = False,
    latency: scaled.Latency = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    gates: Gates,
    handed: machines.Handed,
    model_settings: Mapping[str, Any],
    **settings: Any,
) -> None:
    """Rate a file of samples by direct metrics: a number from 0 to 100 for the whole answer.

    Example: tcva ccrs samples.jsonl --metrics qr,ir --judge openai:gpt-4.1-mini -o rated.jsonl
    """
    said = notes()
    names, named = texts.parse_names(metrics), named_judge(judge, said)
    if ray is not None and not estimate:
        plain = {"metrics": names, "judge": named, "model": model_settings, **settings}
        scaled.on_ray(context, ray, plain, looks=scaled.LOOKS, notes=said)
        return
    stat_options.check_group(group, gates.confidence, human, labels, report, ways=_USES_GROUPS)
    options.check_out(out, file, as_json=as_json, overwrite=overwrite)
    handed.check([file], as_json=as_json, out=out, report=report)
    check_report(report, file, overwrite=overwrite)
    share, model = scaled.share_of(settings, model_settings, workers, estimate=estimate)
    (asked,) = asked_judges([named], model, share["max_concurrency"])
    rater = CCRS(names, judge=asked, **share)
    summary = _composite(rater, gates, weights, threshold)
    layout: dict[str, Any] = {"input_format": input_format, "rename": rename}
    read = options.stream_samples(file, skip_bad=skip_bad, require=required(group), **layout)
    reading = Reading(read, is_shown=report is not None)
    if estimate:
        scaled.show_estimate(context, rater, reading.samples, model_settings, latency=latency)
        return
    rater = options.with_store(rater, store, no_store=no_store, what="ratings", notes=said)
    ratings = options.ratings_of(human, labels)
    looked_at = bool(gates.are_asked or handed.names_samples or report or ratings)
    how: dict[str, Any] = {"overwrite": overwrite, "is_held": looked_at}
    how["fingerprint"] = run_fingerprint(rater, reading.samples, group)
    judge_all = scaled.evaluate_with(rater, workers, settings["max_concurrency"])
    with Writing(out, CCRSResult.from_json, **how) as written:
        with judging(said, out, reading):
            for result in run_results(written, reading.samples, judge_all, said.print):
                summary.add(result)
        summary.results = written.results
        gated = gates.judge(grade_ccrs(summary, group=group))
        found = summary if ratings is None else rated_ccrs(summary, ratings, group)
        handed.write(found.sentence, gated)
        more: dict[str, Any] = {"skipped": read.skipped, "gates": gated.to_dict()}
        print_figures(found, as_json=as_json, everything=everything, file=handed.side(out), **more)
        files = results_written(out, rater.store, "ratings: a line for each sample")
        about: dict[str, Any] = {"of": file, "samples": reading.again(), "group": group}
        files |= report_written(summary, report, overwrite=overwrite, **about)
        say_written({**files, **handed.written})
        summary.check()
        handed.conclude(gated)


def _composite(
    rater: CCRS, gates: Gates, weights: str | None, threshold: float | None
) -> CCRSSummary:
    """A summary with a composite whose settings, and the gates on it, are known to fit.

    So wrong ones are seen before the first call is paid for.

    Raises:
        InvalidValueError: A weight, the threshold or a gate does not.
    """
    shares = None if weights is None else _parse_weights(weights)
    whole: dict[str, Any] = {"weights": shares, "threshold": threshold}
    names = [metric.name for metric in rater.metrics]
    gates.check_names(names if weights is None and threshold is None else [*names, COMPOSITE])
    summarise_ccrs(CCRS(rater.metrics, judge="lexical").evaluate_many([Sample()]), **whole)
    return CCRSSummary(**whole)


def _parse_weights(text: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for pair in text.split(","):
        name, _, number = pair.partition("=")
        try:
            share = float(number)
        except ValueError:
            msg = f"--weights {text!r}: {pair!r} is not of the form metric=number, e.g. cc=0.5"
            raise InvalidValueError(msg) from None
        if name in shares:
            msg = f"--weights {text!r} names {name} twice"
            raise InvalidValueError(msg)
        shares[name] = share
    return shares

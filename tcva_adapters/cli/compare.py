"""``tcva compare``: the frameworks' own metrics and TCVA on the same samples, side by side."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import typer

from tcva_adapters import printing
from tcva_adapters.cli import options
from tcva_adapters.cli.report import Report, check_report, report_written
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare.pipeline import PATIENCE
from tcva_adapters.compare.pipeline import compare as run_compare
from tcva_adapters.compare.running.folder import CONTENTS, PARQUET
from tcva_adapters.errors import TCVAWarning
from tcva_adapters.tcva import TCVASettings


@options.takes_model_settings
@options.takes(TCVASettings, "threshold", "scheme", "penalty", "max_concurrency")
def compare(
    context: typer.Context,
    samples: options.SampleFile,
    *,
    out: options.OutFolder,
    overwrite: options.Overwrite = False,
    frameworks: options.Frameworks = "all",
    judge: options.Judge = None,
    criterion: options.Criterion = "faithfulness",
    config: options.ConfigFile = None,
    temperatures: options.Temperatures = "0.1,0.5,0.9",
    metrics: options.Metrics = None,
    results: options.Results = None,
    missing: options.Missing = None,
    scale: options.Scale = "0,1",
    fuse: options.FusedMethods = None,
    human: options.Human = None,
    labels: options.LabelFile = None,
    reference: options.Reference = None,
    pass_from: options.PassFrom = None,
    timeout: options.Timeout = PATIENCE,
    bootstrap: options.Bootstrap = 10_000,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    report: Report = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    model_settings: Mapping[str, Any],
    **given: Any,
) -> None:
    """Run the frameworks' own metrics and TCVA on the same samples, each judged once.

    Example: tcva compare samples.jsonl --with ragas,deepeval --judge openai:gpt-4.1-mini --out side
    """
    options.silence_frameworks()
    check_report(report, samples, overwrite=overwrite)
    notes = printing.notes()
    store = out / "verdicts.sqlite"
    settings = options.under_config(context, config, {"criterion": criterion, **given})
    (settings["judge"],) = options.asked_judges(
        [options.named_judge(judge, notes)], model_settings, settings["max_concurrency"]
    )
    try:
        with warnings.catch_warnings(action="ignore"):  # the frameworks' own deprecations
            warnings.simplefilter("always", TCVAWarning)
            found = run_compare(
                options.read_samples(
                    samples, skip_bad=skip_bad, input_format=input_format, rename=rename
                ),
                settings,
                frameworks=frameworks,
                metrics=metrics,
                temperatures=temperatures,
                imported=results or (),
                missing=missing,
                scale=options.parse_pair(scale, "--scale"),
                fuse=fuse or (),
                human=options.ratings_of(human, labels),
                reference=reference,
                pass_from=options.parse_thresholds(pass_from or ()),
                store=store,
                folder=out,
                overwrite=overwrite,
                timeout=timeout,
                n_boot=bootstrap,
                say=notes.print,
                progress=True,
            )
    except KeyboardInterrupt:
        notes.print(f"interrupted: what is done is in {out}; the same command goes on")
        raise typer.Exit(options.INTERRUPTED) from None
    written = {path: CONTENTS.get(path.name, "") for path in found.save(out, overwrite=overwrite)}
    if out / PARQUET not in written:
        notes.print(f"no {PARQUET}: it needs pyarrow, pip install 'tcva-adapters[parquet]'")
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        found.show(full=everything)
    written[store] = "cached judgements"
    written |= report_written(found, report, of=out, overwrite=overwrite)
    say_written(written)
    if found.outcome.fatal is not None:
        raise found.outcome.fatal

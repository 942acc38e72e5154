"""``tcva compare``: the frameworks' own metrics and TCVA on the same samples, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from tcva_adapters import printing
from tcva_adapters.cli import machines, stat_options, texts
from tcva_adapters.cli import old_options as options
from tcva_adapters.cli.judged import Beside, print_figures
from tcva_adapters.cli.judges import judging_arguments, named_judge
from tcva_adapters.cli.old_report import Report, check_report, report_written
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.old_comparison import Comparison
from tcva_adapters.compare.pipeline import PATIENCE
from tcva_adapters.compare.pipeline import compare as run_compare
from tcva_adapters.compare.running.folder import CONTENTS, PARQUET
from tcva_adapters.errors import TCVAWarning
from tcva_adapters.results.settings import TCVASettings

STORE: Final = "verdicts.sqlite"
_GOING_ON: Final = "what is done is in {}; the same command goes on"


@machines.hands_over("min_score", "min_pass_rate", "min_coverage")
@stat_options.takes_tests
@options.takes_model_settings
@options.takes(
    *(TCVASettings, "threshold", "scheme", "penalty", "bounds", "evidence"),
    *("verdicts", "repeats", "max_concurrency"),
)
def compare(
    context: typer.Context,
    file: options.SampleFile,
    *,
    out: options.OutFolder,
    overwrite: options.Overwrite = False,
    frameworks: options.Frameworks = "all",
    judge: options.Judge = None,
    panel: options.PanelJudges = None,
    combine: options.Combine = "median",
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
    pass_from: options.PassFrom = None,
    beside: Beside = None,
    timeout: options.Timeout = PATIENCE,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    report: Report = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    gates: Gates,
    handed: machines.Handed,
    tested: Mapping[str, Any],
    model_settings: Mapping[str, Any],
    **given: Any,
) -> None:
    """Run the frameworks' own metrics and TCVA on the same samples, each judged once.

    Example: tcva compare samples.jsonl --with ragas,deepeval --judge openai:gpt-4.1-mini --out side
    """
    options.silence_frameworks()
    check_report(report, file, overwrite=overwrite)
    notes = printing.notes()
    handed.check([file], as_json=as_json, report=report)
    settings = options.under_config(context, config, {"criterion": criterion, **given})
    all_judges = [named_judge(judge, notes), *(panel or ())]
    settings = judging_arguments(all_judges, (), combine, model_settings, settings)
    read = options.stream_samples(
        file, skip_bad=skip_bad, input_format=input_format, rename=rename, is_read_first=True
    )
    with options.interruptible(notes, _GOING_ON.format(out)), _quiet():
        found = run_compare(
            read,
            settings,
            frameworks=frameworks,
            metrics=metrics,
            temperatures=temperatures,
            imported=results or (),
            missing=missing,
            scale=texts.parse_pair(scale, "--scale"),
            fuse=fuse or (),
            human=options.ratings_of(human, labels),
            pass_from=texts.parse_thresholds(pass_from or ()),
            beside=beside or (),
            gates=gates,
            store=out / STORE,
            folder=out,
            overwrite=overwrite,
            timeout=timeout,
            say=notes.print,
            progress=True,
            **tested,
        )
    files = _saved(found, out, overwrite=overwrite)
    files |= report_written(found, report, of=out, overwrite=overwrite)
    _say(found, files, handed, everything=everything, as_json=as_json)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the frameworks' own deprecations, which are nothing that a reader could act on."""
    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("always", TCVAWarning)
        yield


def _saved(found: Comparison, out: Path, *, overwrite: bool) -> dict[Path, str]:
    """Write the folder; returns what was written, as `say_written` takes it."""
    saved = {path: CONTENTS.get(path.name, "") for path in found.save(out, overwrite=overwrite)}
    if out / PARQUET not in saved:
        printing.notes().print(
            f"no {PARQUET}: it needs pyarrow, pip install 'tcva-adapters[parquet]'"
        )
    return {**saved, out / STORE: "cached judgements"}


def _say(
    found: Comparison,
    written: Mapping[Path, str],
    handed: machines.Handed,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Print it, say what was written, and leave with its gates."""
    gated = found.gated
    handed.write(found.sentence, gated)
    print_figures(found, as_json=as_json, everything=everything, file=handed.side())
    say_written({**written, **handed.written})
    if found.outcome.fatal is not None:
        raise found.outcome.fatal
    handed.conclude(gated)

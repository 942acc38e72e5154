"""``tcva evaluate``: judge a file of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.ccrs.scorer import CCRSSettings
from tcva_adapters.cli import options
from tcva_adapters.cli.configs import CompositeConfig, PanelConfig
from tcva_adapters.cli.options import GATES, OUTPUT, SCORING, option
from tcva_adapters.cli.output import (
    JUDGEMENTS_FAILED,
    STDOUT,
    check_targets,
    interruptible,
    print_report,
    say_written,
    side,
)
from tcva_adapters.cli.report import PAGE, write_page
from tcva_adapters.cli.reviews import Reviews
from tcva_adapters.cli.settings import (
    names_of,
    pair_of,
    plain_settings,
    renames,
    with_store,
)
from tcva_adapters.compare.agreement.panel import panel_report, repeat_report
from tcva_adapters.compare.calibration.fused import COMPOSITE, with_composite
from tcva_adapters.compare.scores.readers import read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.compare.validation import validate
from tcva_adapters.console import note
from tcva_adapters.cost import cost
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.long_run import run_fingerprint, run_results
from tcva_adapters.report.claims import claim_tables
from tcva_adapters.report.evaluating import check_samples, evaluation
from tcva_adapters.report.gates import Gates
from tcva_adapters.results.reasons import FAILURES
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.writer import OURS as RESULTS
from tcva_adapters.results.writer import Writing, beginning
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.samples.sources import is_read_again
from tcva_adapters.scale import judge_files
from tcva_adapters.scale.settings import made_of
from tcva_adapters.tables import Report
from tcva_adapters.tcva import TCVA


def evaluate(
    file: options.Samples,
    *,
    rename: options.Renames = None,
    skip_bad: options.SkipBad = False,
    criterion: options.Criterion = None,
    ccrs: options.Ccrs = None,
    judge: options.Judge = None,
    panel: options.Panel = None,
    fuse: options.Fuse = None,
    store: options.Store = None,
    dry_run: options.DryRun = False,
    temperature: options.Temperature = None,
    threshold: Annotated[
        float | None, option(SCORING, "--threshold", "Lowest score that passes; 0.5.")
    ] = None,
    config: options.Config = None,
    set_: options.Settings = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    gate: options.Gates = None,
    baseline: Annotated[
        str | None,
        option(GATES, "--baseline", "Compare with this earlier --out.", "FILE"),
    ] = None,
    junit: options.Junit = None,
    markdown: options.Markdown = None,
    show: Annotated[
        list[str] | None,
        option(OUTPUT, "--show", "Show claims: worst, all or an id.", "ID"),
    ] = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    report: options.Page = None,
    ray: Annotated[
        str | None,
        option(OUTPUT, "--ray", "Use Ray: host:port, auto or local.", "ADDRESS"),
    ] = None,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Judge a file of samples; write results, a report, and check gates.

    --ccrs rates whole answers by direct metrics instead of claims; --set then takes weights,
    threshold, em and lambda. --ray judges on a cluster and writes a folder of parts.

    Example: tcva evaluate samples.jsonl --judge openai:gpt-4.1-mini -T strict -o judged.jsonl
    """
    claims: dict[str, Any] = {
        "criterion": criterion,
        "panel": panel,
        "fuse": fuse,
    }
    claims |= {"temperature": temperature, "config": config}
    plain = _plain(judge, set_, ccrs, claims, threshold, is_dry=dry_run)
    reading: dict[str, Any] = {
        "human": human,
        "group": group,
        "human_scale": pair_of(human_scale, "--human-scale"),
    }
    if ray is not None and not dry_run:
        refused: dict[str, Any] = {
            "gate": gate,
            "baseline": baseline,
            "report": report,
        }
        refused |= {
            "show": show,
            "junit": junit,
            "markdown": markdown,
            "store": store,
        }
        refused |= {
            "skip-bad": skip_bad,
            "overwrite": overwrite,
            "human": human,
            "human-scale": human_scale,
            "group": group,
        }
        _on_ray(ray, file, out, plain, refused, renames(rename), as_json=as_json)
        return
    gates, reviews = Gates.of(gate or ()), Reviews(junit, markdown, overwrite=overwrite)
    targets = {
        "--out": (out, RESULTS),
        "--report": (report, PAGE),
        **reviews.targets,
    }
    check_targets(targets, overwrite=overwrite, as_json=as_json)
    begins = beginning(out or STDOUT, file, overwrite=overwrite)
    whole = _whole(plain)
    scorer: Any = with_store(made_of(plain), store)
    if isinstance(scorer, TCVA):
        reading["scoring"] = scorer.scoring
    before = None if baseline is None else read_scores(baseline, **reading)
    names = [m.name for m in scorer.metrics] if ccrs else [scorer.criterion.name]
    gates.check(
        names + [COMPOSITE] * (whole is not None), has_baseline=before is not None
    )
    require = scorer.require if isinstance(scorer, TCVA) else None
    read = SampleStream(
        file,
        require=require,
        skip_bad=skip_bad,
        mapping=renames(rename),
    )
    _check(read, reading, before)
    if dry_run:
        _print_cost(scorer, read, plain, as_json=as_json)
        return
    samples: Any = [*read] if report and not is_read_again(file) else read
    views = [panel_report] * bool(panel) + [repeat_report] * (
        scorer.settings.get("repeats", 1) > 1
    )
    looks = any((gate, baseline, junit, markdown, show, report, human, group, views))
    reading["hold"] = (
        "all" if looks or (read.total and read.conversations) else "scores"
    )
    with _judged(
        scorer, samples, read, out, reading, whole, begins=begins, overwrite=overwrite
    ) as table:
        found = _looked_at(table, gates, before, views, show or ())
        reviews.write(found, table)
        print_report(
            found,
            as_json=as_json,
            everything=everything,
            file=side(out, markdown),
        )
        say_written({out: "results, a line for each sample", **reviews.written})
        again = read.again() if samples is read else samples
        title = "standard input" if file == STDOUT else Path(file).name
        write_page(
            [table, found],
            report,
            samples=again,
            title=title,
            overwrite=overwrite,
        )
        reviews.conclude(found, table)


def _print_cost(
    scorer: Any,
    read: SampleStream,
    plain: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Print what judging the samples would cost, without a call."""
    name = "tcva" if isinstance(scorer, TCVA) else "ccrs"
    print_report(
        cost({name: scorer}, [*read], prices=plain["model"].get("prices")),
        as_json=as_json,
    )


def _check(
    read: SampleStream, reading: Mapping[str, Any], before: ScoreTable | None
) -> None:
    """Refuse, before any call, samples without the ratings, groups and ids that are asked for.

    Raises:
        InvalidValueError: They are not there.
    """
    read.check()
    human, group = reading["human"], reading["group"]
    if human or group or before:
        known = read.again() if is_read_again(read.source) else read.held
        if known is not None:
            check_samples(known, human, reading["human_scale"], group, before)


def _whole(plain: dict[str, Any]) -> tuple[Mapping[str, float], float | None] | None:
    """The weights and the threshold of a composite, where weights are given; these are taken out.

    Raises:
        InvalidValueError: One is for a metric that is not rated.
    """
    weights: Mapping[str, float] | None = plain.pop("weights", None)
    for metric in weights or ():
        if metric not in plain["metrics"]:
            msg = f"weights: no metric {metric!r}; --ccrs rates {', '.join(plain['metrics'])}"
            raise InvalidValueError(msg)
    return (weights, plain.get("threshold")) if weights else None


def _plain(
    judge: str | None,
    pairs: Sequence[str] | None,
    ccrs: str | None,
    claims: dict[str, Any],
    threshold: float | None,
    *,
    is_dry: bool,
) -> dict[str, Any]:
    """The scorer's settings; with ``--ccrs`` refuses what is about claims."""
    if ccrs is None:
        claims["threshold"] = threshold
        return plain_settings(
            judge,
            pairs,
            TCVASettings,
            PanelConfig,
            is_dry=is_dry,
            **claims,
        )
    for name, value in claims.items():
        if value:
            msg = f"--{name} is for claims; --ccrs rates whole answers, so leave it out"
            raise InvalidValueError(msg)
    return plain_settings(
        judge,
        pairs,
        CCRSSettings,
        CompositeConfig,
        is_dry=is_dry,
        metrics=names_of(ccrs),
        threshold=threshold,
    )


def _on_ray(
    address: str,
    file: str,
    out: str | None,
    plain: dict[str, Any],
    refused: Mapping[str, Any],
    mapping: dict[str, str],
    *,
    as_json: bool,
) -> None:
    """Judge a file on a cluster, into a folder of parts."""
    if asked := [name for name, value in refused.items() if value]:
        msg = f"--{asked[0]} does not work with --ray; leave it out"
        raise InvalidValueError(msg)
    if out in (None, STDOUT):
        msg = "--ray writes a folder of parts; name it with --out FOLDER"
        raise InvalidValueError(msg)
    with interruptible("the same command continues after the parts that are written"):
        found = judge_files(file, str(out), plain, address=address, mapping=mapping)
    print_report(found, as_json=as_json)
    if not found.records("rows")[0]["scored"]:
        raise InvalidSampleError(found.sentence)
    if not FAILURES.isdisjoint(found.records("rows")[0]):
        raise typer.Exit(JUDGEMENTS_FAILED)


@contextmanager
def _judged(
    scorer: Any,
    samples: Any,
    read: SampleStream,
    out: str | None,
    reading: dict[str, Any],
    whole: tuple[Mapping[str, float], float | None] | None,
    *,
    begins: str,
    overwrite: bool,
) -> Iterator[ScoreTable]:
    """Judge the samples, and write the results; the file is there once the block has ended."""
    parse: Any = Result.from_json if isinstance(scorer, TCVA) else CCRSResult.from_json
    fingerprint = run_fingerprint(scorer, samples, reading["group"])
    with Writing(
        out,
        parse,
        fingerprint=fingerprint,
        overwrite=overwrite,
        begins=begins,
    ) as written:
        with _reading(
            read, has_draft=out not in (None, STDOUT) and is_read_again(read.source)
        ):
            is_stored = scorer.store is not None
            results = run_results(
                written, samples, scorer.iter_evaluate, note, is_stored=is_stored
            )
            table = read_scores(results, **reading)
        if whole is not None:
            table = with_composite(table, *whole)
        notes = [*table.notes, *read.notes]
        if scorer.settings.get("guarantee") and read.conversations:
            notes.append("The guarantee is not about scores of conversations.")
        yield replace(
            table,
            notes=tuple(notes),
            skipped=read.skipped,
            can_continue=is_stored,
        )


def _looked_at(
    table: ScoreTable,
    gates: Gates,
    before: ScoreTable | None,
    views: Sequence[Callable[[ScoreTable], Report]],
    show: Sequence[str],
) -> Report:
    """The figures and gates, of a panel and of repeats what they show, and single samples."""
    found = evaluation(table, gates, before)
    tables, notes = [*found.tables], [*found.notes]
    for each in views:
        report = each(table)
        tables += report.tables
        notes += [report.sentence, *report.notes]
    if table.human.size and np.isfinite(table.rating).any():
        report = validate(table)
        tables.append(report.table("agreement"))
        notes += [report.sentence]
    try:
        tables += claim_tables(table, show) if show else []
    except InvalidValueError as error:
        notes.append(str(error))  # what was judged is written all the same
    return replace(found, tables=tables, notes=tuple(notes))


@contextmanager
def _reading(read: SampleStream, *, has_draft: bool) -> Iterator[None]:
    """Say what was left out of a file, and how to go on after an early end."""
    draft = "; results so far are saved, and the same command continues"
    then = (
        f"calls in progress may still finish and be stored{draft if has_draft else ''}"
    )
    try:
        with interruptible(f"{then}; Ctrl-C again quits at once"):
            yield
    except UnreadableInputError:
        if has_draft and read.number:
            note(
                "the results before that line are saved; --skip-bad continues after it"
            )
        raise
    finally:
        for text in read.notes:
            note(text)

"""``tcva evaluate``: judge a file of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tcva_adapters.ccrs.scorer import CCRSSettings
from tcva_adapters.cli import options
from tcva_adapters.cli.configs import CompositeConfig, PanelConfig
from tcva_adapters.cli.options import (
    GATES,
    OUTPUT,
    SCORING,
    Number,
    Text,
    Texts,
    option,
)
from tcva_adapters.cli.output import (
    JUDGEMENTS_FAILED,
    STDOUT,
    check_apart,
    check_targets,
    interruptible,
    print_report,
    say_written,
    side,
)
from tcva_adapters.cli.report import PAGE_BEGINNING, write_page
from tcva_adapters.cli.reviews import Reviews
from tcva_adapters.cli.settings import (
    PlainSettings,
    names_of,
    plain_settings,
    renames,
    scale_of,
    with_store,
)
from tcva_adapters.compare.agreement.panels import panel_report
from tcva_adapters.compare.agreement.repeats import repeat_report
from tcva_adapters.compare.combined_methods import COMPOSITE, with_composite
from tcva_adapters.compare.scores.passages import passage_tables
from tcva_adapters.compare.scores.ratings import NEEDS_HUMAN, check_unused
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.compare.validation import validate
from tcva_adapters.console import note
from tcva_adapters.cost_estimate import estimate_cost
from tcva_adapters.criteria import CRITERIA, FAITHFULNESS
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.evaluator import AnyScorer
from tcva_adapters.long_run import run_fingerprint, run_results
from tcva_adapters.report.claims import claim_tables
from tcva_adapters.report.evaluating import check_samples, evaluation
from tcva_adapters.report.gates import Gates
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.judgement import FAILURES
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.writer import RESULTS_BEGINNING, Writing, beginning
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import is_rereadable
from tcva_adapters.scale import judge_files
from tcva_adapters.scale.settings import make_scorer
from tcva_adapters.tables import Report, counted
from tcva_adapters.tcva import TCVA


# Over 80 lines, as each of its options and of the arguments that they become has a line.
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
        Number, option(SCORING, "--threshold", "Lowest score that passes; 0.5.")
    ] = None,
    config: options.Config = None,
    set_: options.Settings = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    gate: options.Gates = None,
    baseline: Annotated[
        Text,
        option(GATES, "--baseline", "Compare with this earlier --out.", "FILE"),
    ] = None,
    junit: options.Junit = None,
    markdown: options.Markdown = None,
    show: Annotated[
        Texts,
        option(OUTPUT, "--show", "Show claims: worst, all or an id.", "ID"),
    ] = None,
    out: options.Out = None,
    supported: Annotated[
        Text,
        option(OUTPUT, "--supported", "Answers less unsupported claims.", "FILE"),
    ] = None,
    overwrite: options.Overwrite = False,
    report: options.Page = None,
    ray: Annotated[
        Text,
        option(OUTPUT, "--ray", "Use Ray: host:port, auto or local.", "ADDRESS"),
    ] = None,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Judge a file of samples; write results, a report, and check gates.

    Several criteria (-c a,b) write a file each, judged.a.jsonl and judged.b.jsonl, for tcva diagnose.
    --ccrs rates whole answers by direct metrics instead of claims; --set then takes weights,
    threshold, em and lambda. --ray judges on a cluster and writes a folder of parts.

    Example: tcva evaluate samples.jsonl --judge openai:gpt-4.1-mini -T strict -o judged.jsonl
    """
    criteria = [None] if criterion is None else [*dict.fromkeys(names_of(criterion))]
    plain = plain_settings(
        judge,
        set_,
        *(
            (TCVASettings, PanelConfig)
            if ccrs is None
            else (CCRSSettings, CompositeConfig)
        ),
        is_dry=dry_run,
        metrics=None if ccrs is None else names_of(ccrs),
        criterion=criteria[0],
        panel=panel,
        fuse=fuse,
        temperature=temperature,
        config=config,
        threshold=threshold,
    )
    _check_claims(plain, criteria, supported)
    scale = scale_of(human_scale)
    if ray is not None and not dry_run:
        _judge_on_ray(
            ray,
            file,
            out,
            plain,
            {
                "criterion with several names": criteria[1:],
                "gate": gate,
                "baseline": baseline,
                "report": report,
                "supported": supported,
                "show": show,
                "junit": junit,
                "markdown": markdown,
                "store": store,
                "skip-bad": skip_bad,
                "overwrite": overwrite,
                "human": human,
                "human-scale": human_scale,
                "group": group,
            },
            renames(rename),
            as_json=as_json,
        )
        return

    check_unused(NEEDS_HUMAN, **{} if human else {"human_scale": scale})
    gates = Gates.of(gate or ())
    outs = _result_files(out, criteria)
    earlier = [*_result_files(baseline, criteria).values()]
    check_apart({"": [file, human, *earlier], "out": [*outs.values()]})
    reviews = Reviews(junit, markdown, overwrite, supported)
    check_targets(
        {
            **{option: (path, RESULTS_BEGINNING) for option, path in outs.items()},
            "--report": (report, PAGE_BEGINNING),
            **reviews.targets,
        },
        overwrite=overwrite,
        as_json=as_json,
    )
    begins = {
        option: beginning(path or STDOUT, file, overwrite=overwrite)
        for option, path in outs.items()
    }

    weights: Mapping[str, float] | None = plain.pop("weights", None)
    scorer = with_store(make_scorer(**plain), store)
    scorers = [scorer, *(scorer.changed(criterion=name) for name in criteria[1:])]
    tcva = scorer if isinstance(scorer, TCVA) else None
    read_table = partial(
        read_scores,
        human=human,
        human_scale=scale,
        group=group,
        scoring=tcva.scoring if tcva else None,
    )
    before = read_table(earlier if criteria[1:] else baseline) if baseline else None
    names = plain.get("metrics") or [scorer.subject for scorer in scorers]
    gates.check(
        [*names, COMPOSITE] if weights else names, has_baseline=before is not None
    )

    is_file = is_rereadable(file)
    stream = _checked_stream(
        SampleStream(
            file,
            require=(lambda sample: [scorer.require(sample) for scorer in scorers])
            if tcva
            else None,
            skip_bad=skip_bad,
            mapping=renames(rename),
        ),
        partial(
            check_samples,
            human=human,
            human_scale=scale,
            group=group,
            baseline=before,
        )
        if human or group or before
        else None,
    )
    if dry_run:
        figures = estimate_cost(
            {scorer.subject: scorer for scorer in scorers},
            [*stream],
            prices=plain["model"].get("prices"),
        )
        print_report(figures, as_json=as_json)
        return

    is_read_again = report or supported or everything or criteria[1:]
    samples = [*stream] if is_read_again and not is_file else stream
    again = stream.again if samples is stream else partial(iter, samples)
    views = [panel_report] if panel else []
    views += [repeat_report] if scorer.arguments.get("repeats", 1) > 1 else []
    holds_all = any(
        [
            *(gate, baseline, junit, markdown, show, report, supported),
            *(everything, human, group, views),
            stream.total and stream.conversations,
        ]
    )
    fingerprint = run_fingerprint(scorers, samples, group)
    files = [
        Writing[Any](
            path,
            read_result,
            fingerprint=fingerprint,
            overwrite=overwrite,
            begins=begins[option],
        )
        for option, path in outs.items()
    ]
    with _written(files, stream, has_draft=is_file and out not in {None, STDOUT}):
        results = run_results(files, samples, scorers)
        table = read_table(results, hold="all" if holds_all else "scores")
    if weights:
        table = with_composite(table, weights, plain.get("threshold"))
    table = _with_notes(table, stream, scorers)
    figures = _evaluation(
        table,
        gates,
        before,
        views,
        show,
        samples=[*again()] if is_read_again and holds_all else [],
    )

    reviews.write(figures, table, again())
    print_report(
        figures,
        as_json=as_json,
        everything=everything,
        file=side(out, markdown, supported),
    )
    of_samples = dict.fromkeys(outs.values(), "results, a line for each sample")
    say_written({**of_samples, **reviews.written})
    write_page(
        [table, figures],
        report,
        samples=again(),
        title="standard input" if file == STDOUT else Path(file).name,
        overwrite=overwrite,
    )
    reviews.conclude(figures, table)


def _result_files(
    out: str | None, criteria: Sequence[str | None]
) -> dict[str, str | None]:
    """The file of each criterion's results: among several its name stands before the suffix.

    >>> _result_files("runs/judged.jsonl", ["faithfulness", "correctness"])["--out of correctness"]
    'runs/judged.correctness.jsonl'
    """
    if len(criteria) == 1:
        return {"--out": out}
    path = Path(out or STDOUT)
    has_file = str(path) != STDOUT
    return {
        f"--out of {name}": f"{path.with_suffix('')}.{name}{path.suffix or '.jsonl'}"
        if has_file
        else out
        for name in criteria
    }


def _checked_stream(
    stream: SampleStream, check: Callable[[Iterable[Sample]], None] | None
) -> SampleStream:
    """Read the first samples, and check all of them where these can be read before they are judged."""
    stream.check()
    known = stream.again() if is_rereadable(stream.source) else stream.held
    if known is not None and check:
        check(known)
    return stream


def _with_notes(
    table: ScoreTable, stream: SampleStream, scorers: Sequence[AnyScorer]
) -> ScoreTable:
    """Add to a table the notes on its file, the skipped lines, and whether the run can continue."""
    notes = [*table.notes, *stream.notes]
    scorer = scorers[0]
    if stream.skipped and scorers[1:]:
        number = counted(stream.skipped, "line")
        notes.append(
            f"{number} left out of all criteria, also where one alone needs what is missing"
        )
    if scorer.arguments.get("guarantee") and stream.conversations:
        notes.append("The guarantee is not about scores of conversations.")
    return replace(
        table,
        notes=tuple(notes),
        skipped=stream.skipped,
        can_continue=scorer.store is not None,
    )


def _check_claims(
    plain: PlainSettings, criteria: Iterable[str | None], supported: str | None
) -> None:
    """Refuse ``--supported`` where claims stand in no response, and with ``--ccrs`` what it does not use.

    Raises:
        InvalidValueError: There is such a setting.
    """
    judged = [CRITERIA.get(name or "", FAITHFULNESS).claims for name in criteria]
    is_other = "response" not in judged or plain.get("claims") == "llm"
    if supported is not None and (is_other or "metrics" in plain):
        raise InvalidValueError(
            "--supported cuts sentences out of responses, so it needs a criterion that judges these, "
            "with claims=split; leave it out"
        )
    if "metrics" not in plain:
        return
    for name in ("criterion", "panel", "fuse", "temperature", "config"):
        if name in plain:
            raise InvalidValueError(
                f"--{name} is for claims; --ccrs rates whole answers, so leave it out"
            )
    for metric in plain.get("weights", ()):
        if metric not in plain["metrics"]:
            raise InvalidValueError(
                f"weights: no metric {metric!r}; --ccrs rates {', '.join(plain['metrics'])}"
            )


def _judge_on_ray(
    address: str,
    file: str,
    out: str | None,
    plain: PlainSettings,
    refused: Mapping[str, object],
    mapping: dict[str, str],
    *,
    as_json: bool,
) -> None:
    """Judge a file on a cluster, write a folder of parts, and print the counts."""
    for name, value in refused.items():
        if value:
            raise InvalidValueError(f"--{name} does not work with --ray; leave it out")
    if out in (None, STDOUT):
        raise InvalidValueError(
            "--ray writes a folder of parts; name it with --out FOLDER"
        )
    with interruptible("the same command continues after the parts that are written"):
        report = judge_files(file, str(out), plain, address=address, mapping=mapping)
    print_report(report, as_json=as_json)
    (counts,) = report.records("rows")
    if not counts["scored"]:
        raise InvalidSampleError(report.sentence)
    if not FAILURES.isdisjoint(counts):
        raise typer.Exit(JUDGEMENTS_FAILED)


def _evaluation(
    table: ScoreTable,
    gates: Gates,
    before: ScoreTable | None,
    views: Iterable[Callable[[ScoreTable], Report]],
    show: Texts,
    *,
    samples: Sequence[Sample],
) -> Report:
    """Report figures and gates, then the views, the agreement with ratings, and the use of passages."""
    figures = evaluation(table, gates, before)
    tables = [*figures.tables]
    notes = [*figures.notes]
    for method in table.results:
        alone = table.select(methods=[method])
        reports = [view(alone) for view in views]
        try:
            reports += [Report("", claim_tables(alone, show))] if show else []
        except InvalidValueError as error:
            notes.append(str(error))  # the results are written all the same
        of = f"{method}: " if len(table.methods) > 1 else ""
        for report in reports:
            tables += [replace(part, title=of + part.title) for part in report.tables]
            notes += [*filter(None, [report.sentence, *report.notes])]
    if table.human.size and np.isfinite(table.rating).any():
        report = validate(table)
        tables.append(report.table("agreement"))
        notes.append(report.sentence)
    if samples:
        tables += passage_tables(table, samples)
    return replace(figures, tables=tables, notes=[*dict.fromkeys(notes)])


@contextmanager
def _written(
    files: Iterable[Writing[Any]], stream: SampleStream, *, has_draft: bool
) -> Iterator[None]:
    """Open files of results; print what was left out, and how to continue after an early end."""
    rest = ""
    if has_draft:
        rest = "; results so far are saved, and the same command continues"
    try:
        with (
            ExitStack() as stack,
            interruptible(
                f"calls in progress may still finish and be stored{rest}; "
                "Ctrl-C again quits at once"
            ),
        ):
            for file in files:
                stack.enter_context(file)
            yield
    except UnreadableInputError:
        if has_draft and stream.number:
            note(
                "the results before that line are saved; --skip-bad continues after it"
            )
        raise
    finally:
        for text in stream.notes:
            note(text)

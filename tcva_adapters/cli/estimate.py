"""``tcva estimate``: what humans would say of all samples, from the ratings of a few."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import stat_options, texts
from tcva_adapters.cli.judged import File, print_figures, read_judged
from tcva_adapters.cli.old_report import Report, check_report, report_written
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare.choosing import OURS, chosen
from tcva_adapters.compare.estimate_samples import RatedSamples
from tcva_adapters.compare.estimating import estimated
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import notes
from tcva_adapters.results.settings import ScoringConfig

# typer reads them at run time, so what is optional is spelt out.
_LabelFiles = Annotated[
    Optional[list[str]],
    typer.Option(
        "--labels",
        help="File of human ratings, joined by id: csv or jsonl, as --next and the "
        "report's page write them; several times.",
    ),
]
_System = Annotated[
    Optional[str],
    typer.Option("--system", help="Metadata field: an estimate for each value, and differences."),
]
_Threshold = Annotated[
    Optional[float],
    typer.Option("--threshold", help="Pass rates in place of means: a rating passes from here on."),
]
_Next = Annotated[
    Optional[int], typer.Option("--next", help="Choose so many samples to rate next; with --out.")
]
_By = Annotated[
    Optional[str],
    typer.Option(
        "--by",
        help="How --next chooses: stratum (all alike), variance (where ratings should tell most), "
        "or disagreement (of methods).",
    ),
]
_Scores = Annotated[
    Optional[list[str]],
    typer.Option(
        "--scores",
        help="For --by disagreement: scores of other methods, as tcva systems reads them; several "
        "times.",
    ),
]
_Out = Annotated[
    Optional[Path],
    typer.Option("--out", "-o", help="Write the chosen samples here, for raters and --labels."),
]
_Seed = Annotated[int, typer.Option(help="Seed of the draw of --next.")]


@options.takes(ScoringConfig, "temperature", "evidence")
def estimate(
    context: typer.Context,
    assessments: File,
    *,
    human: options.Human = None,
    labels: _LabelFiles = None,
    system: _System = None,
    group: stat_options.Group = None,
    threshold: _Threshold = None,
    human_scale: stat_options.HumanScale = "0,1",
    level: stat_options.Level = 0.95,
    next_: _Next = None,
    by: _By = None,
    scores: _Scores = None,
    seed: _Seed = 0,
    out: _Out = None,
    report: Report = None,
    config: options.ConfigFile = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    **dial: Any,
) -> None:
    """Mean human rating of all samples from the ratings of a few; which to rate next. No call.

    The ratings correct the judge's bias, the judge narrows the interval.

    Example: tcva estimate judged.jsonl --labels labels.jsonl --next 100 --out more.jsonl
    """
    _check(human, labels, next_, out)
    if report is not None and human is None and not labels:
        msg = f"--report {report} shows an estimate, which needs human ratings; give --human or --labels"
        raise InvalidValueError(msg)
    check_report(report, assessments, overwrite=overwrite)
    scale = texts.parse_pair(human_scale, "--human-scale")
    sources = [assessments, *(labels or []), *(scores or [])]
    if out is not None:
        for source in sources:
            options.check_target(out, source, OURS, overwrite=overwrite)
    judged = read_judged(assessments, skip_bad=skip_bad)
    samples = RatedSamples.of(
        judged,
        options.ratings_of(human, *(labels or ())),
        system=system,
        group=group,
        config=config,
        **options.under_config(context, config, dial),
    )
    choice = None
    if next_ is not None:
        choice = chosen(samples, next_, by=by, methods=scores, seed=seed)  # type: ignore[arg-type]  # checked there
        choice.save(out, overwrite=overwrite)  # type: ignore[arg-type]  # checked above
    said = [f"note: {note}" for note in samples.unused]
    if samples.human:
        found = estimated(samples, threshold=threshold, human_scale=scale, level=level)
        more: dict[str, Any] = {"next": choice.to_dict()} if choice else {}
        print_figures(found, as_json=as_json, everything=everything, said=said, **more)
        if choice and not as_json:
            notes().print(choice.sentence)
        say_written(report_written(found, report, of=assessments, overwrite=overwrite))
    elif choice:
        print_figures(choice, as_json=as_json, everything=everything, said=said)
    if choice and out is not None:
        say_written({out: "samples to rate; fill in 'human', and give it back with --labels"})


def _check(
    human: str | None, labels: list[str] | None, next_: int | None, out: Path | None
) -> None:
    """Refuse options that do not go together.

    Raises:
        InvalidValueError: They do not.
    """
    if human is None and not labels and next_ is None:
        msg = "no human ratings; name their field with --human, a file with --labels, or choose samples to rate with --next"
        raise InvalidValueError(msg)
    if (next_ is None) != (out is None):
        msg = "--next and --out go together: how many samples to rate next, and where they are written"
        raise InvalidValueError(msg)

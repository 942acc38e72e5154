"""Options of the commands that judge, for what one process is too small for, and for its cost."""

# ruff: noqa: PLC0415  # processes, Ray and estimates are loaded where they are asked for

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import texts
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.ray_address import UNNAMED
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.printing import Notes
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

Workers = Annotated[
    int,
    typer.Option(
        "--workers", help="Processes of this machine that judge; worth it with the lexical judge."
    ),
]
Ray = Annotated[
    Optional[str],
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Work on Ray, with a folder of parts: a cluster at host:port, auto or local (started "
        "here); by default RAY_ADDRESS, else local. Needs the extra ray.",
    ),
]
EstimateOnly = Annotated[
    bool,
    typer.Option("--estimate", help="Only say what it will cost: calls, tokens, money, time."),
]
Latency = Annotated[
    Optional[float],
    typer.Option(help="With --estimate: seconds that a call takes, for the time."),
]


def share_of(
    settings: Mapping[str, Any],
    model_settings: Mapping[str, Any],
    workers: int,  # noqa: ARG001  # refused below
    *,
    estimate: bool,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The limits of calls of one of several processes: so many at once, and so many a minute.

    Args:
        settings: Of the scorer.
        model_settings: Of models.
        workers: How many processes there are.
        estimate: Nothing is asked, so that models need no key.
    """
    if estimate:
        from tcva_adapters.models.openai_model import PLACEHOLDER_KEY

        return dict(settings), {"api_key": PLACEHOLDER_KEY, **model_settings}
    return dict(settings), dict(model_settings)


def evaluate_with(
    scorer: Scorer[Any],
    workers: int,
    max_concurrency: int,  # noqa: ARG001  # of this process
) -> Callable[..., Iterator[Any]]:
    """What judges: this process, or several.

    Args:
        scorer: Who judges, with the limits of one of them.
        workers: How many processes.
        max_concurrency: Calls under way at once in all of them.

    Raises:
        InvalidValueError: There are more processes than calls, or less than one.
    """
    if workers == 1:
        return scorer.iter_evaluate
    msg = f"--workers {workers}: one process judges; --ray takes all cores, or a cluster"
    raise InvalidValueError(msg)


def show_estimate(
    context: typer.Context,
    scorer: Scorer[Any],
    samples: Iterable[Sample],
    model_settings: Mapping[str, Any],
    *,
    latency: float | None,  # noqa: ARG001  # a rate alone tells the time
) -> None:
    """Print what judging will cost; nothing is asked, and no store is made.

    Args:
        context: Of the command, with its options of stores and printing.
        scorer: Who would judge.
        samples: What would be judged.
        model_settings: Of models.
        latency: Seconds that a call takes; None says no time.
    """
    from tcva_adapters.cost import cost

    given = context.params
    path = Path(given["store"] or options.DEFAULT_STORE)
    # On Ray no store is shared.
    if path.is_file() and not given["no_store"] and given["ray"] is None:
        scorer = scorer.changed(store=VerdictStore(path))
    found = cost({scorer.name: scorer}, list(samples), prices=model_settings.get("prices"))
    print_figures(found, as_json=given["as_json"])


def on_ray(
    context: typer.Context,
    address: str,
    settings: Mapping[str, Any],
    *,
    looks: Collection[str],
    notes: Notes,
) -> None:
    """Judge files on Ray, and print what is in the folder of parts.

    Args:
        context: Of the command, with its samples and the options of reading and writing.
        address: What ``--ray`` names.
        settings: See `scorer_of`.
        looks: Parameters of the command that there are for results in this process alone.
        notes: Where it is said what is written.

    Raises:
        InvalidValueError: No folder, or an option that Ray has no place for.
        InvalidSampleError: No row has a score.
    """
    from tcva_adapters.scale import judge_files

    refused = list(_typed(context, looks))
    if "--store" in refused:
        msg = (
            "--store: SQLite files are not shared between nodes; leave it out with --ray (rows that "
            "were written are not judged again), or from Python give node_store=PATH on their disks"
        )
        raise InvalidValueError(msg)
    if refused:
        msg = (
            f"{', '.join(refused)}: not with --ray, which writes a folder of parts; look at results "
            "with 'tcva sweep --ray FOLDER', or at the parts' column tcva_result"
        )
        raise InvalidValueError(msg)
    given = context.params
    out = given["out"]
    if out is None or out == "-":
        msg = "--ray writes a folder of parts; name it with --out"
        raise InvalidValueError(msg)
    with options.interruptible(notes, "the same command goes on from the parts that are written"):
        found = judge_files(
            given["file"],
            out,
            settings,
            address=None if address == UNNAMED else address,
            mapping=texts.parse_renames(given["rename"] or []),
        )
    print_figures(found, as_json=given["as_json"])
    notes.print(f"written: {out}: parts in jsonl")
    (rows,) = found.records("rows")
    if not rows["scored"]:
        msg = f"no row has a score: {found.records('without a score')}"
        raise InvalidSampleError(msg)


def _typed(context: typer.Context, names: Collection[str]) -> Iterator[str]:
    """The flags of these parameters that stand on the command line."""
    for parameter in context.command.params:
        if parameter.name in names:
            source = context.get_parameter_source(parameter.name)
            if source is not None and source.name != "DEFAULT":
                yield parameter.opts[0]


LOOKS: Final = frozenset(
    {
        *("store", "skip_bad", "workers", "report", "show", "figures", "figure_format", "group"),
        "baseline",
        *("human", "labels"),
        *("min_score", "min_pass_rate", "min_coverage", "confidence"),
        *("junit", "markdown", "annotations"),
        *("weights", "threshold"),
    }
)
"""What is for results in this process alone."""

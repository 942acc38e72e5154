"""Judge with a provider's batch API: half the price, within a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from tcva_adapters import batches  # its names are imported when they are used
from tcva_adapters.ccrs import CCRS
from tcva_adapters.cli import options
from tcva_adapters.cli.configs import PanelConfig
from tcva_adapters.cli.options import (
    INPUT,
    JUDGING,
    OUTPUT,
    Number,
    Text,
    Texts,
    flag,
    option,
)
from tcva_adapters.cli.output import JUDGEMENTS_FAILED, interruptible, print_report
from tcva_adapters.cli.settings import (
    DEFAULT_STORE,
    NONE,
    names_of,
    plain_settings,
    renames,
)
from tcva_adapters.console import note
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import AnyScorer
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.reader import SampleStream
from tcva_adapters.scale.settings import make_scorer

_DEFAULT = Path("tcva-batch")
_GOES_ON = "the same command continues and repeats no request"


Folder = Annotated[
    Path, options.argument("Folder of 'tcva batch submit --out'.", "FOLDER")
]


def submit(
    samples: options.Samples,
    *,
    judge: Annotated[
        Text, option(JUDGING, "--judge -j", "Required: openai:MODEL.", "JUDGE")
    ] = None,
    criterion: options.Criterion = None,
    panel: options.Panel = None,
    fuse: options.Fuse = None,
    ccrs: options.Ccrs = None,
    set_: Annotated[Texts, options.setting("claims=llm, max-tokens=2000")] = None,
    store: options.Store = None,
    out: Annotated[
        Path,
        option(OUTPUT, "--out -o", "Folder of the submission.", "FOLDER"),
    ] = _DEFAULT,
    batch_size: Annotated[
        int, option(OUTPUT, "--batch-size", "Most requests in one batch.")
    ] = 50_000,
    tries: Annotated[int, option(OUTPUT, "--tries", "Attempts per request.")] = 3,
    rename: options.Renames = None,
    skip_bad: options.SkipBad = False,
    as_json: options.Json = False,
) -> None:
    """Submit requests for all judgements that the store does not hold.

    After an interruption, the same command continues.

    Example: tcva batch submit samples.jsonl --judge openai:gpt-4.1-mini -o july
    """
    if store == NONE:
        raise InvalidValueError(
            "a batch needs a store for its answers; give a file with --store"
        )
    recipe = plain_settings(
        judge,
        set_,
        TCVASettings,
        PanelConfig,
        criterion=criterion,
        panel=panel,
        fuse=fuse,
        metrics=None if ccrs is None else names_of(ccrs),
    )
    verdicts = VerdictStore(store or DEFAULT_STORE)
    scorer = make_scorer(**recipe).changed(store=verdicts)
    note(f"judgements are stored in {verdicts.path}")
    stream = SampleStream(
        samples,
        skip_bad=skip_bad,
        mapping=renames(rename),
        require=None if isinstance(scorer, CCRS) else scorer.require,
        kept=None,
    )
    with interruptible(_GOES_ON):
        report = batches.submit(
            scorer,
            stream,
            out,
            batch_size=batch_size,
            tries=tries,
            recipe={**recipe, "store": str(Path(verdicts.path).absolute())},
        )
    for text in stream.notes:
        note(text)
    print_report(report, as_json=as_json)


def status(folder: Folder = _DEFAULT, *, as_json: options.Json = False) -> None:
    """Show the progress of the batches; collects nothing.

    Example: tcva batch status july
    """
    print_report(batches.status(_submitted(folder), folder), as_json=as_json)


def collect(
    folder: Folder = _DEFAULT,
    *,
    wait: Annotated[
        Number, option(INPUT, "--wait", "Poll until all has arrived.", "SECONDS")
    ] = None,
    again: Annotated[
        bool, flag(INPUT, "--again", "Submit failed requests once more.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Store the answers that have arrived, and submit the next round of requests.

    Afterwards 'tcva evaluate' with the same store needs no further call for them.

    Example: tcva batch collect july --wait 300
    """
    scorer = _submitted(folder)
    with interruptible(_GOES_ON):
        report = batches.collect(
            scorer,
            folder,
            again=again,
            wait=wait,
            say=note,
        )
    print_report(report, as_json=as_json)
    (counts,) = report.records("samples")
    if not counts["scored"] and not counts["requests_under_way"]:
        raise InvalidSampleError(
            f"no sample has a score: {counts['failed']} failed, {counts['waiting']} unanswered"
        )
    if counts["failed"] and not counts["requests_under_way"]:
        raise typer.Exit(JUDGEMENTS_FAILED)


def cancel(folder: Folder = _DEFAULT, *, as_json: options.Json = False) -> None:
    """Cancel the batches in progress; 'collect' still stores the answers that have arrived.

    Example: tcva batch cancel july
    """
    print_report(batches.cancel(_submitted(folder), folder), as_json=as_json)


COMMANDS: Mapping[str, Callable[..., None]] = {
    "submit": submit,
    "status": status,
    "collect": collect,
    "cancel": cancel,
}


def _submitted(folder: Path) -> AnyScorer:
    """Build the scorer of a submission from its recipe."""
    from tcva_adapters.batches.commands import recipe_of  # noqa: PLC0415  # loads openai

    recipe = recipe_of(folder)
    store = VerdictStore(recipe.pop("store"))
    return make_scorer(**recipe).changed(store=store)

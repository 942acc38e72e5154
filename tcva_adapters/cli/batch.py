"""Judge with a provider's batch API: half the price, within a day."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import typer

from tcva_adapters import batches  # its names are imported when they are used
from tcva_adapters.ccrs import CCRS
from tcva_adapters.cli import options
from tcva_adapters.cli.configs import PanelConfig
from tcva_adapters.cli.options import INPUT, JUDGING, OUTPUT, option
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
from tcva_adapters.evaluator import Scorer
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.files import SampleStream

_DEFAULT: Final = Path("tcva-batch")
_GOES_ON: Final = "the same command continues and repeats no request"


SET: Final = options.setting("claims=llm, max-tokens=2000")
_FOLDER: Final = options.argument(
    "Folder of 'tcva batch submit --out'.", "FOLDER", _DEFAULT
)


def submit(
    samples: str = options.SAMPLES,
    *,
    judge: str | None = option(
        JUDGING, "--judge -j", "Required: openai:MODEL.", "JUDGE"
    ),
    criterion: str | None = options.CRITERION,
    panel: list[str] | None = options.PANEL,
    fuse: list[str] | None = options.FUSE,
    ccrs: str | None = option(
        JUDGING, "--ccrs", "Rate answers by cc,qr,id,ac,ir.", "METRICS"
    ),
    set_: list[str] | None = SET,
    store: str | None = options.STORE,
    out: Path = option(
        OUTPUT, "--out -o", "Folder of the submission.", "FOLDER", _DEFAULT
    ),
    batch_size: int = option(
        OUTPUT, "--batch-size", "Most requests in one batch.", default=50_000
    ),
    tries: int = option(OUTPUT, "--tries", "Attempts per request.", default=3),
    rename: list[str] | None = options.RENAME,
    skip_bad: bool = options.SKIP_BAD,
    as_json: bool = options.JSON,
) -> None:
    """Submit requests for all judgements that the store does not hold.

    After an interruption, the same command continues.

    Example: tcva batch submit samples.jsonl --judge openai:gpt-4.1-mini -o july
    """
    if store == NONE:
        msg = "a batch needs a store for its answers; give a file with --store"
        raise InvalidValueError(msg)
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
    opened = VerdictStore(store or DEFAULT_STORE)
    scorer = _scorer(recipe, opened)
    note(f"judgements are stored in {opened.path}")
    require = None if isinstance(scorer, CCRS) else scorer.require
    read = SampleStream(
        samples,
        skip_bad=skip_bad,
        mapping=renames(rename),
        require=require,
        kept=None,
    )
    with interruptible(_GOES_ON):
        found = batches.submit(
            scorer,
            read,
            out,
            batch_size=batch_size,
            tries=tries,
            recipe={**recipe, "store": str(Path(opened.path).absolute())},
        )
    for text in read.notes:
        note(text)
    print_report(found, as_json=as_json)


def status(folder: Path = _FOLDER, *, as_json: bool = options.JSON) -> None:
    """Show the progress of the batches; collects nothing.

    Example: tcva batch status july
    """
    print_report(batches.status(_submitted(folder), folder), as_json=as_json)


def collect(
    folder: Path = _FOLDER,
    *,
    wait: float | None = option(
        INPUT, "--wait", "Poll until all has arrived.", "SECONDS"
    ),
    again: bool = option(
        INPUT, "--again", "Submit failed requests once more.", default=False
    ),
    as_json: bool = options.JSON,
) -> None:
    """Store the answers that have arrived, and submit the next round of requests.

    Afterwards 'tcva evaluate' with the same store needs no further call for them.

    Example: tcva batch collect july --wait 300
    """
    scorer = _submitted(folder)
    with interruptible(_GOES_ON):
        found = batches.collect(
            scorer,
            folder,
            again=again,
            wait=wait,
            say=note,
        )
    print_report(found, as_json=as_json)
    (counts,) = found.records("samples")
    if not counts["scored"] and not counts["requests_under_way"]:
        msg = f"no sample has a score: {counts['failed']} failed, {counts['waiting']} unanswered"
        raise InvalidSampleError(msg)
    if counts["failed"] and not counts["requests_under_way"]:
        raise typer.Exit(JUDGEMENTS_FAILED)


def cancel(folder: Path = _FOLDER, *, as_json: bool = options.JSON) -> None:
    """Cancel the batches in progress; 'collect' still stores the answers that have arrived.

    Example: tcva batch cancel july
    """
    print_report(batches.cancel(_submitted(folder), folder), as_json=as_json)


COMMANDS: Final = {
    "submit": submit,
    "status": status,
    "collect": collect,
    "cancel": cancel,
}


def _submitted(folder: Path) -> Scorer[Any]:
    """The scorer of a submission."""
    from tcva_adapters.batches.submission import recipe_of  # noqa: PLC0415  # they import openai

    recipe = dict(recipe_of(folder))
    return _scorer(recipe, VerdictStore(recipe.pop("store")))


def _scorer(recipe: dict[str, Any], store: VerdictStore) -> Scorer[Any]:
    from tcva_adapters.scale.settings import made_of  # noqa: PLC0415  # no other command needs it

    return made_of(recipe).changed(store=store)

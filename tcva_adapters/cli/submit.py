"""``tcva submit``: ask for judgements by the batches of a provider."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from tcva_adapters.ccrs import CCRS
from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import texts
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.submitted import FOLDER, scorer_of
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import notes
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.store import VerdictStore

# typer reads them at run time, so what is optional is spelt out.
_Judge = Annotated[
    str,
    typer.Option(
        "--judge",
        "-j",
        help="openai:MODEL, of OpenAI or any server with files and batches (OPENAI_BASE_URL, "
        "OPENAI_API_KEY).",
    ),
]
_Metrics = Annotated[
    Optional[str],
    typer.Option("--metrics", "-m", help="Rate by these metrics of 'tcva ccrs' instead: cc,qr,ir."),
]
_Prices = Annotated[
    Optional[str],
    typer.Option(
        help="Of the batch: per million input tokens and per million output tokens, e.g. 0.5,2.5."
    ),
]
_Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder of the submission.")]
_Tokens = Annotated[
    Optional[int],
    typer.Option(
        "--enqueued-tokens", help="The account's limit of prompt tokens under way for the model."
    ),
]
_Size = Annotated[int, typer.Option("--batch-size", help="Most requests in one batch.")]
_Tries = Annotated[
    int, typer.Option(help="How often a request is asked that expires or that the server fails on.")
]
_Window = Annotated[str, typer.Option(help="Within what time a batch is to be answered.")]
_NoTrial = Annotated[
    bool,
    typer.Option(
        "--no-trial",
        help="Do not ask the model one live question first, which finds out what it refuses.",
    ),
]


@options.takes(TCVASettings, "claims", "max_claims", "repeats")
def submit(
    samples: options.SampleFile,
    *,
    judge: _Judge,
    criterion: options.Criterion = "faithfulness",
    fuse: options.AdditionalJudges = None,
    panel: options.PanelJudges = None,
    combine: options.Combine = "median",
    metrics: _Metrics = None,
    store: options.Store = None,
    out: _Folder = FOLDER,
    prices: _Prices = None,
    enqueued_tokens: _Tokens = None,
    batch_size: _Size = 50_000,
    tries: _Tries = 3,
    window: _Window = "24h",
    no_trial: _NoTrial = False,
    input_format: options.InputFormat = None,
    rename: options.Rename = None,
    skip_bad: options.SkipBad = False,
    as_json: options.AsJson = False,
    **settings: Any,
) -> None:
    """Ask for judgements by a provider's batches: half the price, within a day.

    What the store knows is not asked. The same command again goes on where it was interrupted.
    Verdicts are asked for as written, all in one request: yes_no asks claim after claim,
    and each would wait for a batch.

    Example: tcva submit samples.jsonl --judge openai:gpt-4.1-mini -o july
    """
    from tcva_adapters.batches import Limits  # noqa: PLC0415  # they import openai
    from tcva_adapters.batches import submit as submitted  # noqa: PLC0415  # as above

    if metrics is not None and (fuse or panel):
        msg = "--metrics asks one judge for numbers; leave --fuse and --panel out"
        raise InvalidValueError(msg)
    recipe = {
        "judges": [judge, *(panel or ())],
        "fuse": list(fuse or ()),
        "combine": combine,
        "criterion": criterion,
        "metrics": None if metrics is None else texts.parse_names(metrics),
        "settings": settings,
        "prices": None if prices is None else texts.parse_pair(prices, "--prices"),
    }
    limits = Limits(requests=batch_size, tokens=enqueued_tokens)
    scorer = scorer_of(recipe)
    said = notes()
    opened = VerdictStore(store or options.DEFAULT_STORE)
    said.print(f"judgements will go into {opened.path}")
    read = options.stream_samples(
        samples,
        skip_bad=skip_bad,
        input_format=input_format,
        rename=rename,
        require=None if isinstance(scorer, CCRS) else scorer.require,
        is_read_first=True,
    )
    recipe["store"] = str(Path(opened.path).absolute())
    with options.interruptible(said, "the same command goes on, and asks nothing twice"):
        found = submitted(
            scorer.changed(store=opened),
            read,
            out,
            limits=limits,
            tries=tries,
            window=window,
            trial=not no_trial,
            recipe=recipe,
            progress=True,
        )
    print_figures(found, as_json=as_json, said=read.notes)

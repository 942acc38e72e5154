"""What the commands about provider batches share: the folder, and the scorer of its submission."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from tcva_adapters.ccrs import CCRS
from tcva_adapters.cli.options import asked_judges
from tcva_adapters.judging.panel import panel_of
from tcva_adapters.judging.resolve import MAX_CONCURRENCY
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.tcva import TCVA

FOLDER: Final = Path("tcva-batch")

Submission = Annotated[Path, typer.Argument(help="Folder of 'tcva submit --out'.")]


def scorer_of(recipe: Mapping[str, Any], store: VerdictStore | None = None) -> TCVA | CCRS:
    """The scorer of a submission.

    Args:
        recipe: The options of ``tcva submit`` that say how is judged.
        store: Where judgements go; None where none are made.
    """
    voices = recipe["judges"]
    prices = {} if recipe["prices"] is None else {"prices": recipe["prices"]}
    asked = asked_judges([*voices, *recipe["fuse"]], prices, MAX_CONCURRENCY)
    first, fused = asked[0], asked[len(voices) :]
    if recipe["metrics"] is not None:
        return CCRS(recipe["metrics"], judge=first, suite=recipe["suite"], store=store)
    settings = dict(recipe["settings"])
    if len(voices) > 1:
        first, settings = panel_of(asked[: len(voices)], recipe["combine"], settings)
    return TCVA(recipe["criterion"], judge=first, fuse=fused, store=store, **settings)

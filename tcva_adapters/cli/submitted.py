"""What the commands about provider batches share: the folder, and the scorer of its submission."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from tcva_adapters.ccrs import CCRS
from tcva_adapters.cli.judges import asked_judges, judging_arguments
from tcva_adapters.judges.resolve import MAX_CONCURRENCY
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
    prices = {} if recipe["prices"] is None else {"prices": recipe["prices"]}
    if recipe["metrics"] is not None:
        (judge,) = asked_judges(recipe["judges"], prices, MAX_CONCURRENCY)
        return CCRS(recipe["metrics"], judge=judge, store=store)
    names, fuse, combine = recipe["judges"], recipe["fuse"], recipe["combine"]
    settings = judging_arguments(names, fuse, combine, prices, recipe["settings"])
    return TCVA(recipe["criterion"], store=store, **settings)

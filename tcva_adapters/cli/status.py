"""``tcva status``: how far the batches of a submission are."""

from __future__ import annotations

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.submitted import FOLDER, Submission, scorer_of


def status(folder: Submission = FOLDER, *, as_json: options.AsJson = False) -> None:
    """Ask the provider how far the batches of a submission are; nothing is collected.

    Example: tcva status july
    """
    from tcva_adapters.batches import recipe_of  # noqa: PLC0415  # they import openai
    from tcva_adapters.batches import status as found  # noqa: PLC0415  # as above

    print_figures(found(scorer_of(recipe_of(folder)), folder), as_json=as_json)

"""``tcva reproduce``: the paper's tables from a folder of stored verdicts."""

from __future__ import annotations

from pathlib import Path

from tcva_adapters.cli import options
from tcva_adapters.cli.options import SCORING, option
from tcva_adapters.cli.output import print_report
from tcva_adapters.cli.settings import parse_settings
from tcva_adapters.compare import reproduce as reproduced
from tcva_adapters.progress import progress_of
from tcva_adapters.results.settings import AnalysisConfig


def reproduce(
    folder: Path = options.argument("Folder of NAME_tcva_scores.json, NAME_prepared.json, ..."),
    *,
    best: bool = option(SCORING, "--best", "Each set's T by its highest rho.", default=False),
    count_empty: bool = option(
        SCORING, "--count-empty", "Samples without verdicts count, as in the paper.", default=False
    ),
    no_lexical: bool = option(
        SCORING, "--no-lexical", "Do not judge by the lexical judge.", default=False
    ),
    set_: list[str] | None = options.SET,
    everything: bool = options.ALL,
    as_json: bool = options.JSON,
) -> None:
    """Tables 5 to 9 of the TCVA paper beside its own digits, and fused scores. No call.

    Settings: resamples, seed.

    Example: tcva reproduce tcva_paper --all
    """
    drawn = parse_settings(set_, AnalysisConfig, only=("resamples", "seed"))
    with progress_of("resampling", None, wanted=True):
        found = reproduced(
            folder, best=best, count_empty=count_empty, lexical=not no_lexical, **drawn
        )
    print_report(found, as_json=as_json, everything=everything)

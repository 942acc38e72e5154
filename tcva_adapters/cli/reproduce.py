"""``tcva reproduce``: the paper's tables from a folder of stored verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tcva_adapters.cli import options
from tcva_adapters.cli.options import SCORING, option
from tcva_adapters.cli.output import print_report
from tcva_adapters.cli.settings import parse_settings
from tcva_adapters.compare import reproduce as reproduced
from tcva_adapters.progress import progress_of
from tcva_adapters.results.settings import AnalysisConfig

_Folder = Annotated[
    Path, options.argument("Folder of NAME_tcva_scores.json, NAME_prepared.json and so on.")
]
_Best = Annotated[
    bool, option(SCORING, "Pick each set's T afterwards, for the highest rho.", "--best")
]
_CountEmpty = Annotated[
    bool,
    option(
        SCORING,
        "Count samples without verdicts with the score stored for them, as the paper does.",
        "--count-empty",
    ),
]
_NoLexical = Annotated[
    bool, option(SCORING, "Do not judge the samples with the lexical judge.", "--no-lexical")
]


def reproduce(
    folder: _Folder,
    *,
    best: _Best = False,
    count_empty: _CountEmpty = False,
    no_lexical: _NoLexical = False,
    set_: options.Set = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
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

"""``tcva systems``: which system is better, and whether that can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

from tcva_adapters import report as reports
from tcva_adapters.cli import options
from tcva_adapters.cli.options import INPUT, SCORING, option
from tcva_adapters.cli.output import print_report, say_written
from tcva_adapters.cli.settings import names_of, parse_settings
from tcva_adapters.compare.system_pairs import TEMPERATURES
from tcva_adapters.compare.system_pairs import systems as compared
from tcva_adapters.progress import progress_of
from tcva_adapters.results.settings import AnalysisConfig

_Scores = Annotated[
    list[str],
    options.argument(
        "Files, or NAME=FILE: long tables (system, query, metric, score), or outputs of tcva "
        "evaluate and compare, one per system.",
        "SCORES",
    ),
]
_Metrics = Annotated[
    Optional[list[str]], option(SCORING, "Only this metric; several times.", "--metric")
]
_System = Annotated[
    Optional[str],
    option(INPUT, "Metadata field, or column, that names the system.", "--system", metavar="FIELD"),
]
_Test = Annotated[
    str,
    option(
        SCORING,
        "Which p is read: studentised (any spreads), or tukey (as the CCRS paper has it).",
        "--test",
    ),
]
_Alpha = Annotated[
    float, option(SCORING, "Level of the tests, over all pairs of a metric together.", "--alpha")
]
_Hypotheses = Annotated[
    Optional[Path],
    option(SCORING, "JSON file of hypotheses, which are tested alone.", "--hypotheses"),
]


def systems(
    scores: _Scores,
    *,
    metrics: _Metrics = None,
    temperatures: options.Temperatures = None,
    system: _System = None,
    group: options.Group = None,
    test: _Test = "studentised",
    alpha: _Alpha = 0.05,
    hypotheses: _Hypotheses = None,
    set_: options.Set = None,
    figures: options.Figures = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare systems on the same queries: means, tests of all pairs, discriminative power. No call.

    Settings: resamples (permutations of each test), seed.

    Example: tcva systems plain.jsonl reranked.jsonl -T 0.1,0.5,0.9
    """
    drawn = parse_settings(set_, AnalysisConfig, only=("resamples", "seed"))
    at = TEMPERATURES if temperatures is None else names_of(temperatures)
    with progress_of("randomisation", None, wanted=True):
        found = compared(
            scores,
            metrics=metrics or (),
            temperatures=at,
            system=system,
            group=group,
            hypotheses=hypotheses or (),
            test=test,  # type: ignore[arg-type]  # checked there
            alpha=alpha,
            **drawn,
        )
    print_report(found, as_json=as_json, everything=everything)
    if figures is not None:
        say_written(dict.fromkeys(reports.save_figures(found, figures), "figure"))

"""``tcva systems``: which system is better, and whether that can be told."""

from __future__ import annotations

from pathlib import Path

from tcva_adapters.cli import options
from tcva_adapters.cli.options import INPUT, SCORING, option
from tcva_adapters.cli.output import draw, print_report
from tcva_adapters.cli.settings import names_of, parse_settings
from tcva_adapters.compare.system_pairs import TEMPERATURES
from tcva_adapters.compare.system_pairs import systems as compared
from tcva_adapters.progress import progress_of
from tcva_adapters.results.settings import AnalysisConfig


def systems(
    scores: list[str] = options.argument(
        "[NAME=]FILE: long tables (system, query, metric, score), or outputs of tcva evaluate and "
        "compare, one per system.",
        "SCORES",
    ),
    *,
    metrics: list[str] | None = option(SCORING, "--metric", "Only this metric; repeatable."),
    temperatures: str | None = options.TEMPERATURES,
    system: str | None = option(INPUT, "--system", "Field that names the system.", "FIELD"),
    group: str | None = options.GROUP,
    test: str = option(
        SCORING, "--test", "Which p is read: studentised, or tukey.", default="studentised"
    ),
    alpha: float = option(
        SCORING, "--alpha", "Of the tests, over all pairs of a metric together.", default=0.05
    ),
    hypotheses: Path | None = option(
        SCORING, "--hypotheses", "JSON file of hypotheses, which are tested alone."
    ),
    set_: list[str] | None = options.SET,
    figures: Path | None = options.FIGURES,
    overwrite: bool = options.OVERWRITE,
    everything: bool = options.ALL,
    as_json: bool = options.JSON,
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
    draw(found, figures, overwrite=overwrite)

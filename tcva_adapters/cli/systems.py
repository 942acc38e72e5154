"""``tcva systems``: which system is better, and whether that can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional, cast

import typer

from tcva_adapters.cli import machines, stat_options, texts
from tcva_adapters.cli import old_options as options
from tcva_adapters.cli.judged import check_figures, draw_figures, print_figures
from tcva_adapters.cli.old_report import Report, check_report, report_written
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare import compare_systems
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.graded import grade_systems
from tcva_adapters.printing import notes
from tcva_adapters.progress import progress_of
from tcva_adapters.stats.pairwise import PERMUTATIONS, Test

# typer reads them at run time, so what is optional is spelt out.
_Scores = Annotated[
    list[str],
    typer.Argument(
        help="Files, or NAME=FILE: long tables (system, query, metric, score; csv, parquet, "
        "jsonl, json), or outputs of tcva evaluate, compare and ccrs, one per system."
    ),
]
_Metrics = Annotated[
    Optional[list[str]],
    typer.Option("--metric", help="Only this metric; may be given several times."),
]
_Temperatures = Annotated[
    str, typer.Option("--temperatures", "-T", help="For outputs of tcva evaluate.")
]
_SystemField = Annotated[
    Optional[str],
    typer.Option(
        "--system-field",
        help="Metadata field that names the system, in outputs of tcva evaluate and ccrs.",
    ),
]
_Alpha = Annotated[
    float, typer.Option(help="Level of the tests, over all pairs of a metric together.")
]
_Test = Annotated[
    str,
    typer.Option(
        "--test",
        help="Which p is read: studentised (any spreads), or tukey (as the CCRS paper has it).",
    ),
]
_Permutations = Annotated[
    int, typer.Option("--permutations", "-B", help="Sign flips and shuffles for each metric.")
]
_Seed = Annotated[int, typer.Option(help="Seed of these draws.")]
_Count = Annotated[
    bool, typer.Option("--count", help="p as count / B, as the paper's code has it.")
]
_Hypotheses = Annotated[
    Optional[Path],
    typer.Option("--hypotheses", help="JSON or csv file of hypotheses; see docs/systems.md."),
]
_Power = Annotated[
    Optional[float],
    typer.Option("--power", help="A difference: how many queries would show it?"),
]
_Queries = Annotated[
    Optional[int], typer.Option("--queries", help="With --power: the power at so many queries.")
]
_Bounds = Annotated[str, typer.Option(help="Lowest and highest possible score, e.g. 0,100.")]


@machines.hands_over("min_score", "min_coverage")
def systems(
    scores: _Scores,
    *,
    metrics: _Metrics = None,
    temperatures: _Temperatures = "0.1,0.5,0.9",
    system_field: _SystemField = None,
    test: _Test = "studentised",
    alpha: _Alpha = 0.05,
    permutations: _Permutations = PERMUTATIONS,
    seed: _Seed = 0,
    count: _Count = False,
    hypotheses: _Hypotheses = None,
    power: _Power = None,
    queries: _Queries = None,
    bounds: _Bounds = "0,1",
    group: stat_options.Group = None,
    figures: options.Figures = None,
    figure_format: options.FigureFormat = "png",
    overwrite: options.Overwrite = False,
    report: Report = None,
    everything: options.Everything = False,
    as_json: options.AsJson = False,
    gates: Gates,
    handed: machines.Handed,
) -> None:
    """Compare systems on the same queries: means, ties, tests of all pairs, discriminative power. No call.

    Example: tcva systems plain.jsonl reranked.jsonl -T 0.1,0.5,0.9 --power 0.05
    """
    ends = texts.parse_pair(bounds, "--bounds")
    check_figures(figures, figure_format)
    check_report(report, "-", overwrite=overwrite)
    files = [source.rpartition("=")[2] for source in scores]
    handed.check(files, as_json=as_json, report=report)
    said = notes()
    with progress_of("randomisation", None, wanted=True) as shown:
        found = compare_systems(
            scores,
            metrics=metrics,
            temperatures=texts.parse_names(temperatures),
            system_field=system_field,
            group=group,
            hypotheses=hypotheses or (),
            test=cast("Test", test),  # compare_systems refuses any other
            alpha=alpha,
            permutations=permutations,
            seed=seed,
            estimate="count" if count else "add_one",
            bounds=ends,
            difference=power,
            queries=queries,
            progress=shown.reached,
        )
    graded = grade_systems(found.table, bounds=ends)
    gates.check_names([each.name for each in graded])
    gated = gates.judge(graded)
    handed.write(found.sentence, gated)
    print_figures(
        found, as_json=as_json, everything=everything, file=handed.side(), gates=gated.to_dict()
    )
    for note in found.notes:
        said.print(f"note: {note}")
    drawn = draw_figures(found, figures, figure_format, overwrite=overwrite)
    page = report_written(found, report, overwrite=overwrite)
    say_written({**drawn, **page, **handed.written})
    handed.conclude(gated)

"""``tcva report``: one HTML file about results, and ``--report`` of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

from tcva_adapters import report as reports  # its names are imported when a report is written
from tcva_adapters.cli import options
from tcva_adapters.cli.output import say_written
from tcva_adapters.cli.settings import numbers, ratings_of
from tcva_adapters.console import note

_Sources = Annotated[
    list[str],
    options.argument(
        "A comparison's folder, or files: outputs of tcva evaluate and compare, results of RAGAS, "
        "DeepEval or LangSmith. Two outputs of tcva evaluate show what changed.",
        "SOURCES",
    ),
]
_Out = Annotated[Path, options.option(options.OUTPUT, "The HTML file.", "--out", "-o")]
_Samples = Annotated[
    Optional[str],
    options.option(
        options.INPUT, "File of samples, whose texts are joined by id.", "--samples", metavar="FILE"
    ),
]
_Title = Annotated[
    Optional[str],
    options.option(options.OUTPUT, "Of the page; by default the file's name.", "--title"),
]


def report(
    sources: _Sources,
    *,
    out: _Out = Path("report.html"),
    samples: _Samples = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    title: _Title = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
) -> None:
    """Write one HTML file with a live temperature; it opens from disk and asks nothing of a network.

    Example: tcva report judged.jsonl --samples samples.jsonl --out report.html
    """
    write_page(
        sources,
        out,
        overwrite=overwrite,
        title=title,
        samples=samples,
        human=ratings_of(human),
        human_scale=None if human_scale is None else numbers(human_scale, "--human-scale"),
        skip_bad=skip_bad,
        group=group,
    )


def write_page(found: Any, path: Path | None, **how: Any) -> None:
    """Write a page, and say so; None writes nothing.

    Args:
        found: See `reports.write`.
        path: The file.
        how: See there.
    """
    if path is None:
        return
    written = reports.write(found, path, **how)
    for text in written.notes:
        note(f"note: {text}")
    say_written({written.path: written.contents})

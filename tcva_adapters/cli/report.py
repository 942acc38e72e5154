"""``tcva report``: one HTML file about results, and ``--report`` of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from tcva_adapters import (
    report as reports,
)  # its names are imported when a report is written
from tcva_adapters.cli import options
from tcva_adapters.cli.configs import ImportConfig, PageConfig
from tcva_adapters.cli.options import OUTPUT, Texts, option
from tcva_adapters.cli.output import say_written
from tcva_adapters.cli.settings import parse_settings, scale_of
from tcva_adapters.console import note
from tcva_adapters.report.page import PAGE_BEGINNING

__all__ = ["PAGE_BEGINNING", "report", "write_page"]


def report(
    sources: Annotated[
        list[str],
        options.argument("Results: files, or the folder of a comparison.", "SOURCES"),
    ],
    *,
    out: Annotated[Path, option(OUTPUT, "--out -o", "The HTML file.", "FILE")] = Path(
        "report.html"
    ),
    samples: options.SampleTexts = None,
    human: options.Human = None,
    human_scale: options.HumanScale = None,
    group: options.Group = None,
    title: Annotated[
        str, option(OUTPUT, "--title", "Title; by default the file's name.")
    ] = "",
    set_: Annotated[Texts, options.setting("max-details=500, missing=-1")] = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
) -> None:
    """Write a report on results as one HTML file, which needs no network.

    SOURCES are outputs of tcva evaluate and compare, or results of RAGAS, DeepEval or LangSmith.
    With two outputs of tcva evaluate the report shows what changed. --set takes missing and scale
    of imported scores, and max_details, the number of samples whose texts the report holds.

    Example: tcva report judged.jsonl --samples samples.jsonl --out report.html
    """
    write_page(
        sources,
        out,
        overwrite=overwrite,
        title=title,
        samples=samples,
        human=human,
        human_scale=scale_of(human_scale),
        skip_bad=skip_bad,
        group=group,
        **parse_settings(set_, ImportConfig, PageConfig),
    )


def write_page(source: Any, path: Path | None, **options: Any) -> None:
    """Write a page and name it on standard error; None writes nothing.

    Args:
        source: See `reports.write`.
        path: The file.
        options: See `reports.write`.
    """
    if path is None:
        return
    page = reports.write(source, path, **options)
    for text in page.notes:
        note(f"note: {text}")
    say_written({page.path: page.contents})

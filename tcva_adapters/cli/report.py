"""``tcva report``: what was judged as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from tcva_adapters import report as reports  # its names are imported when a report is written
from tcva_adapters.cli import options, stat_options, texts
from tcva_adapters.cli.written import say_written
from tcva_adapters.printing import notes
from tcva_adapters.report.page import OURS

# typer reads them at run time, so what is optional is spelt out.
_Sources = Annotated[
    list[str],
    typer.Argument(
        help="A comparison's folder, or files: outputs of tcva evaluate, compare and ccrs, results "
        "of RAGAS, DeepEval or LangSmith. Two outputs of tcva evaluate show what changed."
    ),
]
_Out = Annotated[Path, typer.Option("--out", "-o", help="The HTML file.")]
_Samples = Annotated[
    Optional[str],
    typer.Option("--samples", help="File of samples, whose texts are joined by id."),
]
Report = Annotated[
    Optional[Path],
    typer.Option("--report", help="Also write an HTML report with a live dial to this file."),
]
_Group = Annotated[
    Optional[str],
    typer.Option(
        "--group",
        help="Metadata field of what samples belong to (a document): intervals are about other such "
        "groups; a comparison has its own.",
    ),
]
_Title = Annotated[Optional[str], typer.Option(help="Of the page; by default the file's name.")]
_MaxDetails = Annotated[
    Optional[int],
    typer.Option(
        help="Samples whose texts are in the page; of more it has a draw. By default 10 000, and "
        "as many as have about 16 MB of text."
    ),
]


def report(
    sources: _Sources,
    *,
    out: _Out = Path("report.html"),
    samples: _Samples = None,
    human: options.Human = None,
    labels: options.LabelFile = None,
    human_scale: stat_options.GivenScale = None,
    missing: options.Missing = None,
    scale: options.Scale = "0,1",
    group: _Group = None,
    title: _Title = None,
    max_details: _MaxDetails = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
) -> None:
    """Write one HTML file with a live dial; it opens from disk and asks nothing of a network.

    Example: tcva report judged.jsonl --samples samples.jsonl --out report.html
    """
    written = reports.write(
        sources,
        out,
        overwrite=overwrite,
        max_details=max_details,
        title=title,
        samples=samples,
        human=options.ratings_of(human, labels),
        human_scale=None if human_scale is None else texts.parse_pair(human_scale, "--human-scale"),
        missing=missing,
        scale=texts.parse_pair(scale, "--scale"),
        skip_bad=skip_bad,
        group=group,
    )
    said = notes()
    for note in written.notes:
        said.print(f"note: {note}")
    say_written({written.path: written.contents})


def check_report(path: Path | None, source: str, *, overwrite: bool) -> None:
    """Refuse, before anything is paid for, a ``--report`` that cannot be written.

    Raises:
        InvalidValueError: See `check_target`.
    """
    if path is not None:
        options.check_target(path, source, OURS, overwrite=overwrite, option="--report")


def report_written(
    found: Any,
    path: Path | None,
    *,
    of: str | Path = "",
    overwrite: bool = False,
    **reading: Any,
) -> dict[Path, str]:
    """Write what ``--report`` asks for; returns what was written, as `say_written` takes it.

    Args:
        found: See `write`.
        path: None writes nothing.
        of: The file or folder whose name is the title.
        overwrite: See there.
        reading: See there.
    """
    if path is None:
        return {}
    if of:
        reading["title"] = "standard input" if of == "-" else Path(of).resolve().name
    written = reports.write(found, path, overwrite=overwrite, **reading)
    return {written.path: written.contents}

"""``tcva report``: what was judged as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from tcva_adapters.cli import options
from tcva_adapters.printing import notes
from tcva_adapters.report import write
from tcva_adapters.report.writing import MOST_DETAILS

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
_Title = Annotated[Optional[str], typer.Option(help="Of the page; by default the file's name.")]
_MaxDetails = Annotated[
    int, typer.Option(help="Samples whose texts are in the page; of more it has a draw.")
]


def report(
    sources: _Sources,
    *,
    out: _Out = Path("report.html"),
    samples: _Samples = None,
    human: options.Human = None,
    title: _Title = None,
    max_details: _MaxDetails = MOST_DETAILS,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
) -> None:
    """Write one HTML file with a live dial; it opens from disk and asks nothing of a network.

    Example: tcva report judged.jsonl --samples samples.jsonl --out report.html
    """
    written = write(
        sources,
        out,
        overwrite=overwrite,
        max_details=max_details,
        title=title,
        samples=samples,
        human=human,
        skip_bad=skip_bad,
    )
    said = notes()
    for note in written.notes:
        said.print(f"note: {note}")
    said.print(f"written to {written}")

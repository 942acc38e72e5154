"""``tcva report``: what was judged as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from tcva_adapters import report as reports  # its names are imported when a report is written
from tcva_adapters import tables
from tcva_adapters.cli import old_options as options
from tcva_adapters.report.page import OURS

# typer reads them at run time, so what is optional is spelt out.
Report = Annotated[
    Optional[Path],
    typer.Option("--report", help="Also write an HTML report with a live dial to this file."),
]


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
    source = [*found.results] if hasattr(found, "results") else tables.Report(found.sentence)
    written = reports.write(source, path, overwrite=overwrite, **reading)
    return {written.path: written.contents}

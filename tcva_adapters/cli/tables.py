"""``--markdown`` of commands without gates: their tables as Markdown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final, Optional

import typer

from tcva_adapters import printing
from tcva_adapters.cli import old_options as options
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.markdown import BEGINS
from tcva_adapters.samples.output import replacing
from tcva_adapters.tables import markdown_text

STDOUT: Final = "-"

# typer reads it at run time, so what is optional is spelt out.
Markdown = Annotated[
    Optional[str],
    typer.Option("--markdown", help="Write all tables as Markdown here; '-' for stdout."),
]


def check_markdown(file: str | None, source: str, *, as_json: bool, overwrite: bool) -> None:
    """Refuse, before any work is done, what could not be written.

    Raises:
        InvalidValueError: See `options.check_target`; or two things for standard output.
    """
    if file == STDOUT and as_json:
        msg = "--json and --markdown - both write to standard output; give one a file"
        raise InvalidValueError(msg)
    if file is not None and file != STDOUT:
        options.check_target(file, source, BEGINS, overwrite=overwrite, option="--markdown")


def markdown_written(
    found: printing.Report, file: str | None, *, overwrite: bool
) -> dict[Path, str]:
    """Write what was asked for; returns what was written, as `say_written` takes it."""
    if file is None:
        return {}
    printed = printing.text_of(found.parts(), 80)
    text = f"**TCVA**: {markdown_text(found.sentence)}\n\n```\n{printed}\n```\n"
    if file == STDOUT:
        sys.stdout.write(printing.encodable(text, sys.stdout))
        return {}
    with replacing(file, ours=BEGINS, overwrite=overwrite) as stream:
        stream.write(text.encode())
    return {Path(file): "Markdown: all tables"}

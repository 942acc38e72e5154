"""Check and write the files of commands, print their figures, and exit after Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import typer

from tcva_adapters import report as reports  # its names are imported when they are used
from tcva_adapters.cli.settings import DEFAULT_STORE
from tcva_adapters.console import encodable, json_line, note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.file_writing import (
    check_replaceable,
    make_folder,
    replacing,
    usable_path,
)
from tcva_adapters.tables import Report

STDOUT = "-"
GATE_FAILED = 1
JUDGEMENTS_FAILED = 3  # the exit code if no gate says whether that is too many
INTERRUPTED = 130  # what shells report for Ctrl-C
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

_WRITTEN = ("out", "report", "markdown", "tables", "junit", "figures", "supported")
"""Arguments that name an output; all others may name an input."""

_COMPARISON = (
    "/scores.csv",
    "/assessments.jsonl",
    "/samples.jsonl",
    "/summary.json",
)
"""Files of a comparison's folder, which is read and written."""

Targets = Mapping[str, tuple[str | Path | None, re.Pattern[bytes] | None]]
"""The file that each option names, with the pattern that files of its kind begin with."""


def check_apart(arguments: Mapping[str, object]) -> None:
    """Refuse, before anything is read, to write over a file that a command reads.

    Links and other spellings of a path count as the same file. A folder counts as the files of
    a comparison in it.

    Args:
        arguments: The arguments of any command, by name.

    Raises:
        InvalidValueError: An existing file is both read and written.
    """
    read = set[tuple[int, ...]]()
    named = {"": DEFAULT_STORE, **arguments}
    for argument in sorted(named, key=_WRITTEN.__contains__):  # inputs come first
        value = named[argument]
        paths = [
            os.path.expanduser(part) + name  # noqa: PTH111  # raises for no text, unlike Path's
            for source in (value if isinstance(value, list | tuple) else [value])
            for part in (
                str(source),
                *re.split("=|::", str(source)),
            )  # NAME=FILE, FILE::COLUMN
            for name in ("", *_COMPARISON)
        ]
        # By inode and device, as two paths may lead to one file.
        files = {os.stat(path)[1:3] for path in paths if os.path.isfile(path)}  # noqa: PTH113, PTH116  # as above
        if argument not in _WRITTEN:
            read |= files
        elif files & read or (value and value == arguments.get("store")):
            raise InvalidValueError(
                f"--{argument} {value} is also what is read; give each a file of its own"
            )


def check_targets(targets: Targets, *, overwrite: bool, as_json: bool = False) -> None:
    """Refuse outputs that cannot be written, or would destroy something, before any paid call.

    Args:
        targets: The file of each option; None and standard output are not checked.
        overwrite: See `check_replaceable`.
        as_json: Whether the figures go to standard output.

    Raises:
        InvalidValueError: A target is a folder, named twice, a file of something else, or cannot
            be written; or two outputs go to standard output.
    """
    printed = [f"{option} -" for option, (name, _) in targets.items() if name == STDOUT]
    if as_json:
        printed.insert(0, "--json")
    if len(printed) > 1:
        raise InvalidValueError(
            f"{printed[0]} and {printed[1]} both write to standard output; give one a file"
        )
    taken: dict[Path, str] = {}
    for option, (name, beginning) in targets.items():
        if name is None or name == STDOUT or _is_step_summary(name):
            continue
        path = usable_path(name)
        other = taken.setdefault(path.resolve(), option)
        if other != option:
            raise InvalidValueError(
                f"{option} {name} is also {other}; give each a file of its own"
            )
        if path.is_dir():
            raise InvalidValueError(f"{option} {name} is a folder; name a file")
        check_replaceable(path, beginning, overwrite=overwrite)
        if path.is_file():
            note(f"note: {name} will be replaced")
        try:
            make_folder(path.parent)
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            raise InvalidValueError(
                f"{option} {name} cannot be written: {error.strerror or error}; give another path"
            ) from error


def side(*names: str | None) -> TextIO:
    """The stream for figures: standard error if one of the outputs goes to standard output."""
    return sys.stderr if STDOUT in names else sys.stdout


def print_report(
    report: Report,
    *,
    as_json: bool,
    everything: bool = False,
    file: TextIO | None = None,
) -> None:
    """Print a report as tables, or as one line of JSON on standard output.

    Args:
        report: The report.
        as_json: Print JSON instead of tables.
        everything: Print all tables and rows.
        file: Where tables go; by default standard output.
    """
    if as_json:
        typer.echo(json_line(report.to_dict()))
    else:
        report.show(file, full=everything, more="--all")


def write_figures(report: Report, folder: Path | None, *, overwrite: bool) -> None:
    """Draw all figures of a report into a folder and name them; None draws nothing."""
    if folder is not None:
        paths = reports.save_figures(report, folder, overwrite=overwrite)
        say_written(dict.fromkeys(paths, "figure"))


def write_text(
    name: str,
    text: str | bytes,
    beginning: re.Pattern[bytes] | None,
    *,
    overwrite: bool,
) -> None:
    """Write a file, or to standard output, or append to GitHub's step summary.

    Raises:
        InvalidValueError: It cannot be written.
    """
    data = text if isinstance(text, bytes) else text.encode()
    if name == STDOUT:
        sys.stdout.write(encodable(data.decode(), sys.stdout))
        sys.stdout.flush()
    elif _is_step_summary(name):
        with Path(name).open("ab") as summary:
            summary.write(data + b"\n")
    else:
        with replacing(name, beginning=beginning, overwrite=overwrite) as stream:
            stream.write(data)


def _is_step_summary(name: str | Path) -> bool:
    return str(name) == os.environ.get(STEP_SUMMARY, "")


def say_written(files: Mapping[Any, str]) -> None:
    """Name the files on standard error, each with what is in it.

    Args:
        files: The content of each, in words; None, standard output and missing files are left out.
    """
    for name, what in files.items():
        if name not in {None, STDOUT} and usable_path(name).is_file():
            note(f"written: {name}: {what}")


@contextmanager
def interruptible(then: str) -> Iterator[None]:
    """Exit after Ctrl-C with the code that shells know; a second Ctrl-C exits at once.

    Args:
        then: The message about the work so far.
    """
    try:
        yield
    except KeyboardInterrupt:
        note(f"interrupted: {then}")
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        raise typer.Exit(INTERRUPTED) from None

"""The command line's frame: one app, one place where errors become exit codes."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from typing import Annotated

import typer

from tcva_adapters import __version__, printing
from tcva_adapters.cli.calibrate import calibrate
from tcva_adapters.cli.ccrs import ccrs
from tcva_adapters.cli.collect import collect
from tcva_adapters.cli.compare import compare
from tcva_adapters.cli.demo import demo
from tcva_adapters.cli.doctor import doctor
from tcva_adapters.cli.evaluate import evaluate
from tcva_adapters.cli.report import report
from tcva_adapters.cli.reproduce import reproduce
from tcva_adapters.cli.scaled import with_address
from tcva_adapters.cli.status import status
from tcva_adapters.cli.submit import submit
from tcva_adapters.cli.sweep import sweep
from tcva_adapters.cli.systems import systems
from tcva_adapters.errors import TCVAError

DONE, WRONG_USE = 0, 2
CLOSED_PIPE = 141  # what shells report for SIGPIPE

app = typer.Typer(
    name="tcva",
    help="Five-level verdicts and a strictness dial for LLM evaluation suites.",
    epilog="Exit codes: 0 done, 1 a gate failed, 2 wrong usage or unreadable input.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere.")
    ] = False,
) -> None:
    """Five-level verdicts and a strictness dial for LLM evaluation suites."""


app.command()(evaluate)
app.command()(sweep)
app.command()(demo)
app.command()(doctor)
app.command()(compare)
app.command()(reproduce)
app.command()(calibrate)
app.command()(ccrs)
app.command()(systems)
app.command()(report)
app.command()(submit)
app.command()(status)
app.command()(collect)


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run with these arguments; returns the exit code instead of leaving the process."""
    debug = "--debug" in arguments
    arguments = with_address([argument for argument in arguments if argument != "--debug"])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _note(f"warning: {message}")
            code = app(arguments, standalone_mode=False)
    except SystemExit as done:
        if _came_of(done, BrokenPipeError):
            return CLOSED_PIPE  # typer and rich leave with 1, which says that a gate failed
        return done.code if isinstance(done.code, int) else DONE
    except Exception as error:  # noqa: BLE001  # the last place before a traceback
        if debug:
            _note(traceback.format_exc())
        _note(_said(error))
        return WRONG_USE
    return code if isinstance(code, int) else DONE


def _note(text: str) -> None:
    printing.notes().print(text)


def _said(error: Exception) -> str:
    """What is printed of an error."""
    if isinstance(error, TCVAError | OSError):
        return f"error: {error}"
    # Wrong options: typer has a class for these in a private copy of click, or in click itself.
    show = getattr(error, "show", None)
    if show is None:
        return f"error: {type(error).__name__}: {error} (--debug shows where)"
    usage = io.StringIO()
    show(file=usage)
    return usage.getvalue().rstrip("\n")


def _came_of(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an error was raised while one of this kind was handled."""
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__context__
    return False

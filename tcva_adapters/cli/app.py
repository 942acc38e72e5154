"""The command line's frame: one app, one place where errors become exit codes."""

from __future__ import annotations

import gc
import inspect
import io
import re
import sys
import traceback
import warnings
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from tcva_adapters import __version__, console
from tcva_adapters.errors import InvalidValueError, TCVAError, TCVAWarning, of_percent

DONE, WRONG_USE = 0, 2
CLOSED_PIPE = 141  # what shells report for SIGPIPE

COMMANDS: Final = {
    "demo": "Judge 57 bundled samples offline; compare with a reader's verdicts.",
    "doctor": "Show what is installed or broken, and test a judge.",
    "evaluate": "Judge a file of samples; write results, a report, gates.",
    "sweep": "Score stored judgements at many temperatures (no model call).",
    "compare": "Run the frameworks' own metrics and TCVA on the same samples.",
    "calibrate": "Choose the temperature that agrees best with human ratings (no model call).",
    "validate": "Compare a judge with human ratings: agreement and errors (no model call).",
    "systems": "Compare systems on the same queries (no model call).",
    "report": "Write a report on results as one HTML file.",
    "batch": "Judge with a provider's batch API: half the price, within a day.",
}
"""Each command with what the list of commands says of it; its module is imported when it runs."""

_MODULES: Final = dict.fromkeys(
    ("sweep", "calibrate", "validate", "systems"), "analyses"
)

_FRAME: Final[dict[str, Any]] = {
    "add_completion": False,
    "rich_markup_mode": "rich",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """The commands: those of `COMMANDS` by name, to be listed, and the one that is run."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, text in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=text)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that arguments begin with, imported."""
        name, _command, rest = super().resolve_command(ctx, args)
        return name, name and imported(name), rest


class _Command(TyperCommand):
    """A command that refuses an option given twice, and refuses to write over what it reads."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; click alone would take the last of two equal options.

        Raises:
            InvalidValueError: An option is given twice, or a file is both read and written.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=[*args])
        for each in given:
            if given.count(each) > 1 and not (
                each.multiple or getattr(each, "is_flag", False)
            ):
                way = (
                    "join two fields with a comma"
                    if each.name == "human"
                    else "remove one"
                )
                msg = f"{each.opts[0]} is given twice; {way}"
                raise InvalidValueError(msg)
        rest = super().parse_args(ctx, args)
        import_module("tcva_adapters.cli.output").check_apart(
            ctx.params
        )  # which takes time that --help does not need
        return rest


def imported(name: str) -> Any:
    """A command with its options, from the module of its name; a group where it has several."""
    # Modules make many objects that stay; looking for garbage among them takes a fifth of the start.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        module = import_module(f"tcva_adapters.cli.{_MODULES.get(name, name)}")
        made = typer.Typer(
            name=name,
            help=module.__doc__,
            no_args_is_help=True,
            **_FRAME,
        )
        functions = getattr(module, "COMMANDS", None) or {name: getattr(module, name)}
        for own, function in functions.items():
            text, _, example = inspect.cleandoc(function.__doc__ or "").partition(
                "Example: "
            )
            text = re.sub(
                r"(?<!\n)\n(?!\n)", " ", text
            )  # a terminal may be wider than the source
            made.command(
                own,
                help=text,
                epilog=f"Example: {example}",
                **_OF_COMMANDS,
            )(function)
        return typer.main.get_command(made)
    finally:
        if was_enabled:
            gc.enable()


_OF_COMMANDS: Final = {"cls": _Command, "context_settings": _FRAME["context_settings"]}

app = typer.Typer(
    name="tcva",
    cls=_Commands,
    help="Five-level verdicts and a temperature for LLM evaluation suites.",
    epilog="Exit codes: 0 done, 1 a gate failed, 2 wrong usage, unreadable input, or no sample "
    "could be judged, 3 judgements failed and there is no gate, 130 interrupted.",
    no_args_is_help=True,
    **_FRAME,
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
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", help="Print the traceback of an error; may stand anywhere."
        ),
    ] = False,
) -> None:
    """Five-level verdicts and a temperature for LLM evaluation suites."""


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run with these arguments; returns the exit code instead of leaving the process."""
    debug = "--debug" in arguments
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TCVAWarning)
            warnings.showwarning = lambda message, *_, **__: console.note(
                f"warning: {message}"
            )
            plain = [each for each in arguments if each != "--debug"]
            code = app(plain, prog_name="tcva", standalone_mode=False)
    except SystemExit as done:
        if _came_of(done, BrokenPipeError):
            return CLOSED_PIPE  # typer and rich leave with 1, which says that a gate failed
        return done.code if isinstance(done.code, int) else DONE
    except Exception as error:  # noqa: BLE001  # the last place before a traceback
        if debug:
            console.note(traceback.format_exc())
        console.note(_message(error, arguments))
        return WRONG_USE
    return code if isinstance(code, int) else DONE


def _message(error: Exception, arguments: list[str]) -> str:
    """What is printed of an error of a command with these arguments."""
    if isinstance(error, TCVAError | OSError):
        return f"error: {error}"
    # Wrong options: typer has a class for these in a private copy of click, or in click itself.
    show = getattr(error, "show", None)
    if show is None:
        return f"error: {type(error).__name__}: {error} (--debug shows where)"
    usage = io.StringIO()
    show(file=usage)
    # Older versions of click say the second.
    number = r"Invalid value for '(.+?)': (?:Input should be|'.*' is not) a valid (\w+)[,.].*"
    # The error does not hold what was typed.
    values = (each.rpartition("=")[2] for each in arguments if each.endswith("%"))
    hint = next(filter(None, map(of_percent, values)), "")
    return re.sub(
        number, rf"\1 must be a valid \2{hint}.", usage.getvalue().rstrip("\n")
    )


def _came_of(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an error was raised while one of this kind was handled."""
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__context__
    return False

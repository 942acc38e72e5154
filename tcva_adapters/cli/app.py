"""The command line's frame: one app, one place where errors become exit codes."""

from __future__ import annotations

import gc
import inspect
import io
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from tcva_adapters import __version__, console
from tcva_adapters.errors import InvalidValueError, TCVAError, TCVAWarning, percent_hint

DONE, WRONG_USE = 0, 2
CLOSED_PIPE = 141  # what shells report for SIGPIPE

COMMANDS = {
    "demo": "Judge 57 bundled samples offline; compare with a reader's verdicts.",
    "doctor": "Show what is installed or broken, and test a judge.",
    "evaluate": "Judge a file of samples; write results, a report, gates.",
    "sweep": "Score stored judgements at many temperatures (no model call).",
    "compare": "Run the frameworks' own metrics and TCVA on the same samples.",
    "calibrate": "Choose the temperature that agrees best with human ratings (no model call).",
    "validate": "Compare a judge with human ratings: agreement and errors (no model call).",
    "systems": "Compare systems on the same queries (no model call).",
    "diagnose": "Find out why answers are wrong: retriever or generator (no model call).",
    "report": "Write a report on results as one HTML file.",
    "batch": "Judge with a provider's batch API: half the price, within a day.",
}
"""Every command and its line in the list of commands; its module is imported when it runs."""

_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


class _Commands(TyperGroup):
    """A group that lists all of `COMMANDS` and imports only the command that runs."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, text in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=text)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Import the command that the arguments begin with."""
        name, _command, rest = super().resolve_command(ctx, args)
        return name, name and imported_command(name), rest


class _Command(TyperCommand):
    """A command that refuses a repeated option, and an output that is also an input."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse and check the arguments; click alone takes the last of two equal options.

        Raises:
            InvalidValueError: An option is given twice or stands in another command, or a file
                is both read and written.
        """
        # The import takes time, and `--help` does not need it.
        from tcva_adapters.cli.output import check_apart  # noqa: PLC0415  # as above

        is_fusing = any(text.partition("=")[0] == "--fuse" for text in args)
        if is_fusing and self.name == "compare":
            raise InvalidValueError(
                "compare has no --fuse; average methods by --mean-of 'A + B'"
            )
        _, _, parameters = self.make_parser(ctx).parse_args(args=[*args])
        for parameter in parameters:
            may_repeat = parameter.multiple or getattr(parameter, "is_flag", False)
            if parameters.count(parameter) > 1 and not may_repeat:
                is_human = parameter.name == "human"
                way = "join two fields with a comma" if is_human else "remove one"
                raise InvalidValueError(f"{parameter.opts[0]} is given twice; {way}")
        rest = super().parse_args(ctx, args)
        check_apart(ctx.params)
        return rest


def _functions(  # noqa: PLR0911  # a return for each import
    name: str,
) -> Mapping[str, Callable[..., None]]:
    """Import the function of a command, or those of a group of commands."""
    match name:
        case "demo":
            from tcva_adapters.cli.demo import demo  # noqa: PLC0415  # no other command needs it

            return {name: demo}
        case "doctor":
            from tcva_adapters.cli.doctor import doctor  # noqa: PLC0415  # no other command needs it

            return {name: doctor}
        case "evaluate":
            from tcva_adapters.cli.evaluate import evaluate  # noqa: PLC0415  # no other command needs it

            return {name: evaluate}
        case "compare":
            from tcva_adapters.cli.compare import compare  # noqa: PLC0415  # no other command needs it

            return {name: compare}
        case "report":
            from tcva_adapters.cli.report import report  # noqa: PLC0415  # no other command needs it

            return {name: report}
        case "batch":
            from tcva_adapters.cli import batch  # noqa: PLC0415  # no other command needs it

            return batch.COMMANDS
    from tcva_adapters.cli import analyses  # noqa: PLC0415  # as above

    return {name: getattr(analyses, name)}


def imported_command(name: str) -> Any:
    """Build a command with its options, or a group of commands, from its functions."""
    # Modules make many objects that stay: looking for garbage among them takes a
    # fifth of the start.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        functions = _functions(name)
    finally:
        if was_enabled:
            gc.enable()
    group = _typer(name, COMMANDS[name])
    for command, function in functions.items():
        text, _, example = inspect.cleandoc(function.__doc__ or "").partition(
            "Example: "
        )
        group.command(
            command,
            cls=_Command,
            # A terminal may be wider than the source.
            help=re.sub(r"(?<!\n)\n(?!\n)", " ", text),
            epilog=f"Example: {example}",
            context_settings=_HELP_OPTIONS,
        )(function)
    return typer.main.get_command(group)


def _typer(
    name: str,
    text: str,
    epilog: str | None = None,
    cls: type[TyperGroup] = TyperGroup,
) -> typer.Typer:
    return typer.Typer(
        name=name,
        cls=cls,
        help=text,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings=_HELP_OPTIONS,
    )


app = _typer(
    "tcva",
    "Five-level verdicts and a temperature for LLM evaluation suites.",
    "Exit codes: 0 done, 1 a gate failed, 2 wrong usage, unreadable input, or no sample "
    "could be judged, 3 judgements failed and there is no gate, 130 interrupted.",
    _Commands,
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
    """Run the command line with these arguments and return the exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TCVAWarning)
            warnings.showwarning = lambda message, *_, **__: console.note(
                f"warning: {message}"
            )
            rest = [argument for argument in arguments if argument != "--debug"]
            code = app(rest, prog_name="tcva", standalone_mode=False)
    except SystemExit as done:
        if _is_of_closed_pipe(done):
            # Typer and rich would exit with 1, which says that a gate failed.
            return CLOSED_PIPE
        return done.code if isinstance(done.code, int) else DONE
    except Exception as error:  # noqa: BLE001  # the last place before a traceback
        if "--debug" in arguments:
            console.note(traceback.format_exc())
        console.note(_message(error, arguments))
        return WRONG_USE
    return code if isinstance(code, int) else DONE


def _message(error: Exception, arguments: list[str]) -> str:
    """Return the message for an error of a command with these arguments."""
    if isinstance(error, TCVAError | OSError):
        return f"error: {error}"
    # Errors of options have a class in typer's private copy of click, or in click.
    show = getattr(error, "show", None)
    if show is None:
        return f"error: {type(error).__name__}: {error} (--debug shows where)"
    usage = io.StringIO()
    show(file=usage)
    # The second form is that of older versions of click.
    number = r"Invalid value for '(.+?)': (?:Input should be|'.*' is not) a valid (\w+)[,.].*"
    # The error does not contain the typed value.
    values = (text.rpartition("=")[2] for text in arguments if text.endswith("%"))
    hint = next(filter(None, map(percent_hint, values)), "")
    return re.sub(
        number, rf"\1 must be a valid \2{hint}.", usage.getvalue().rstrip("\n")
    )


def _is_of_closed_pipe(error: BaseException | None) -> bool:
    """Whether an error was raised while a `BrokenPipeError` was handled."""
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__context__
    return False

"""The options of the commands.

They are `Optional[...]` instead of ``... | None`` because typer reads them at run time.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Optional, TypeVar, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from tcva_adapters.cli import texts
from tcva_adapters.compare.labels import Labels
from tcva_adapters.core.temperature import PAPER_BOUNDS
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.frameworks import NO_TELEMETRY
from tcva_adapters.printing import Notes
from tcva_adapters.results.config import Config, configured
from tcva_adapters.results.files import OURS as RESULTS
from tcva_adapters.results.files import check_suffix
from tcva_adapters.results.settings import ModelConfig, SettingsModel, check, shown
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples import files
from tcva_adapters.samples.output import check_ours, make_folder, usable_path
from tcva_adapters.samples.records import KEPT
from tcva_adapters.samples.sample import Sample

Command = TypeVar("Command", bound=Callable[..., None])
AnyScorer = TypeVar("AnyScorer", bound=Scorer[Any])

INTERRUPTED: Final = 130  # what shells report for Ctrl-C

SampleFile = Annotated[
    str,
    typer.Argument(
        metavar="SAMPLES", help="jsonl, json, csv or parquet file; '-' reads jsonl from stdin."
    ),
]
Criterion = Annotated[
    str,
    typer.Option(
        "--criterion",
        "-c",
        help=", ".join(CRITERIA) + ".",
    ),
]
Judge = Annotated[
    Optional[str],
    typer.Option(
        "--judge",
        "-j",
        help="lexical (offline; by default), or openai:MODEL for any OpenAI-compatible server "
        "(OPENAI_BASE_URL, OPENAI_API_KEY).",
    ),
]
ProbedJudge = Annotated[
    Optional[str],
    typer.Option("--judge", "-j", help="Also try this judge, e.g. openai:MODEL (15 to 55 calls)."),
]
AdditionalJudges = Annotated[
    Optional[list[str]],
    typer.Option(
        "--fuse",
        help="An additional judge whose score is fused with the first one's; may be given several "
        "times. lexical costs no call.",
    ),
]
PanelJudges = Annotated[
    Optional[list[str]],
    typer.Option(
        "--panel",
        help="Another judge of the same claims; may be given several times. Each claim gets the "
        "judges' median level.",
    ),
]
Combine = Annotated[str, typer.Option(help="How a panel decides: median, or fused (shares).")]
ConfigFile = Annotated[
    Optional[Path],
    typer.Option(
        "--config", help="Settings from 'tcva calibrate --out'; options given here win over it."
    ),
]
Temperatures = Annotated[
    str,
    typer.Option("--temperatures", "-T", help="TCVA's, with commas between; all of one call."),
]
DEFAULT_STORE: Final = Path(".tcva/verdicts.sqlite")
Store = Annotated[
    Optional[Path],
    typer.Option(help=f"Verdict store; for a model judge by default {DEFAULT_STORE}."),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Cache nothing that was judged.")]
Out = Annotated[
    Optional[str],
    typer.Option(
        "--out", "-o", help="Write the assessments here: .jsonl or .json; '-' for stdout."
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace what other settings or other programs wrote, too."),
]
Figures = Annotated[
    Optional[Path],
    typer.Option("--figures", help="Draw figures into this folder (extra plots)."),
]
FigureFormat = Annotated[
    str, typer.Option("--figure-format", help="Of --figures: png, svg or pdf.")
]
OutFolder = Annotated[
    Path,
    typer.Option("--out", "-o", help="Folder of the results; a second run goes on from it."),
]
InputFormat = Annotated[
    Optional[str],
    typer.Option(
        "--format",
        help="jsonl, json, csv (also with ; or tabs) or parquet; by default by the name.",
    ),
]
Rename = Annotated[
    Optional[list[str]],
    typer.Option(
        "--map",
        help="Read your field as one of ours, e.g. my_answer=response or choices.0.text=response.",
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave unusable lines out, and count them.")
]
Everything = Annotated[
    bool, typer.Option("--all", help="Print all figures; by default the first 40 lines.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
Frameworks = Annotated[
    str,
    typer.Option(
        "--with",
        help="ragas, deepeval, llamaindex, langchain, with commas between; all takes those "
        "that are installed, none runs TCVA alone.",
    ),
]
Metrics = Annotated[
    Optional[str],
    typer.Option(
        help="Framework metrics, with commas between: faithfulness (of every framework that has "
        "it) or ragas.faithfulness. By default all."
    ),
]
Results = Annotated[
    Optional[list[str]],
    typer.Option(
        "--results",
        help="Imported scores beside those of the run, NAME=FILE: RAGAS' to_pandas() as csv, a "
        "DeepEval test run, or a table with a column per method. May be given several times.",
    ),
]
Missing = Annotated[
    Optional[float],
    typer.Option("--missing", help="The number that stands for no score in --results, e.g. -1."),
]
Scale = Annotated[
    str, typer.Option("--scale", help="Lowest and highest possible score in --results.")
]
FusedMethods = Annotated[
    Optional[list[str]],
    typer.Option(
        "--fuse",
        help="Another method: the geometric mean of others, e.g. 'tcva T=0.5 + ragas "
        "faithfulness'. May be given several times; costs no call.",
    ),
]
Human = Annotated[
    Optional[str],
    typer.Option(
        help="The samples' field with human ratings (numbers, or pass/fail); several raters with "
        "commas between, e.g. anna,ben: their mean counts. With --labels, the file's columns."
    ),
]
LabelFile = Annotated[
    Optional[str],
    typer.Option(
        "--labels",
        help="File of human ratings instead, joined by id: csv id,human, or jsonl, as the report's "
        "page exports it.",
    ),
]
Reference = Annotated[
    Optional[str],
    typer.Option(help="With human ratings: the method that others are tested against."),
]
PassFrom = Annotated[
    Optional[list[str]],
    typer.Option(
        "--pass-from",
        help="Threshold of another method, e.g. 'ragas faithfulness=0.8'; by default 0.5.",
    ),
]
Timeout = Annotated[
    float, typer.Option(help="Seconds after which a framework metric is given up on a sample.")
]
Bootstrap = Annotated[
    int, typer.Option("--bootstrap", "-B", help="Resamples per interval, with --human.")
]


_FLAGS: Final = {
    "temperature": ("--temperature", "-T"),
    "lambda_": ("--lambda",),
}
_AS_TEXT: Final = ("temperature", "scheme")
"""Settings that take names as well as numbers."""


BOUNDS: Final = "bounds"
ENDS: Final = {
    "p_min": f"Exponent at the strict end of the scale, T=0.1; by default {PAPER_BOUNDS.p_min:g}.",
    "p_max": f"Exponent at the lenient end, T=1.0; by default {PAPER_BOUNDS.p_max:g}.",
}
"""The setting that is two options. A command gets what is typed of it, as a mapping, and nothing where
nothing is: an end that is not typed is the configuration file's, or the paper's."""


def takes(model: type[SettingsModel], *names: str) -> Callable[[Command], Command]:
    """Gives a command the options of settings, which it gets as keyword arguments.

    Args:
        model: Where the settings' defaults and meanings stand.
        names: The settings, in the order of the help.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> None:
            if "scheme" in given:
                given["scheme"] = texts.parse_scheme(given["scheme"])
            if BOUNDS in names:
                ends = {end: given.pop(end) for end in ENDS}
                typed = {end: at for end, at in ends.items() if at is not None}
                given |= {BOUNDS: typed} if typed else {}
            command(*arguments, **given)

        settings = [_option(name, model.model_fields[name]) for name in names if name != BOUNDS]
        settings += [_end(*end) for end in ENDS.items()] if BOUNDS in names else []
        return with_options(run, command, settings)

    return decorate


def with_options(
    run: Callable[..., None],
    command: Command,
    more: Iterable[inspect.Parameter],
    *,
    without: Collection[str] = (),
) -> Command:
    """A wrapped command with the signature that typer reads.

    Args:
        run: What is run.
        command: What it wraps.
        more: The options that it has besides the command's own.
        without: Those of the command's parameters that are no options, beside ``**given``.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [
        p
        for p in signature.parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.name not in without
    ]
    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]  # typer reads it
    return run  # type: ignore[return-value]  # of the same kind


def plain_options(kinds: Mapping[str, tuple[Any, Any]]) -> list[inspect.Parameter]:
    """Options from what they are annotated with and their defaults, by name."""
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in kinds.items()
    ]


def _end(name: str, meaning: str) -> inspect.Parameter:
    annotation = Annotated[Optional[float], typer.Option(help=meaning)]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


MODEL_FLAGS: Final = {
    "timeout": "--judge-timeout",
    "max_retries": "--retries",
    "requests_per_minute": "--rate",
    "prices": "--prices",
}


def takes_model_settings(command: Command) -> Command:
    """Gives a command the options of how a model is asked, which it gets as ``model_settings``."""
    known = {name: ModelConfig.model_fields[name] for name in MODEL_FLAGS}

    @wraps(command)
    def run(*arguments: Any, **given: Any) -> None:
        asked = {name: given.pop(f"judge_{name}") for name in known}
        if asked["prices"] is not None:
            asked["prices"] = texts.parse_pair(asked["prices"], "--prices")
        changed = {
            name: check(
                ModelConfig.type_of(name), MODEL_FLAGS[name], value
            )  # named as it was typed
            for name, value in asked.items()
            if value != known[name].default
        }
        command(*arguments, model_settings=changed, **given)

    more = [_model_option(name, field) for name, field in known.items()]
    return with_options(run, command, more, without={"model_settings"})


def _model_option(name: str, field: FieldInfo) -> inspect.Parameter:
    return _option(name, field, f"judge_{name}", MODEL_FLAGS[name])


def _option(name: str, field: FieldInfo, parameter: str = "", *flags: str) -> inspect.Parameter:
    kind: Any = str if name in _AS_TEXT else field.annotation
    meaning = field.description or ""
    if name == "prices":
        kind, meaning = Optional[str], f"{meaning[:-1]}, e.g. 1,5."
    if get_origin(kind) is Literal:
        kind = str
    if type(None) in get_args(kind):
        some = get_args(kind)[0]
        kind = Optional[get_args(some)[0] if get_origin(some) is Annotated else some]
    flags = flags or _FLAGS.get(name, ())
    return inspect.Parameter(
        parameter or name,
        inspect.Parameter.KEYWORD_ONLY,
        default=shown(field.default) if name in _AS_TEXT else field.default,
        annotation=Annotated[kind, typer.Option(*flags, help=meaning)],
    )


def silence_frameworks() -> None:
    """Keep the frameworks from phoning home and from reading .env files, before their import."""
    for name, value in NO_TELEMETRY.items():
        os.environ.setdefault(name, value)


def under_config(
    context: typer.Context, config: Path | None, dial: Mapping[str, Any]
) -> dict[str, Any]:
    """The dial's options: those typed on the command line, then the file's, then the defaults.

    Args:
        context: Of the command: it knows what was typed.
        config: The file; None where there is none.
        dial: The command's options of the dial, by name.
    """
    if config is None:
        return dict(dial)
    sources = {name: context.get_parameter_source(name) for name in dial}
    # Compared by name: typer carries the enumeration in a private copy of click.
    typed = {
        name: dial[name]
        for name, source in sources.items()
        if source is not None and source.name != "DEFAULT"
    }
    if BOUNDS in dial:
        of_file = Config.load(config).given().get(BOUNDS, PAPER_BOUNDS)
        typed[BOUNDS] = replace(of_file, **dial[BOUNDS])
    return {**dial, **configured(config, typed)}


def check_out(out: str | None, source: str, *, as_json: bool, overwrite: bool) -> None:
    """The same as `check_target` for results, and an ``--out`` that may be standard output, or nothing.

    Raises:
        InvalidValueError: As there; the name is that of another format; or standard output has
            something else to print.
    """
    if as_json and out == "-":
        msg = "--json and --out - both write to standard output; give --out a file"
        raise InvalidValueError(msg)
    if out is not None and out != "-":
        check_suffix(out)
        check_target(out, source, RESULTS, overwrite=overwrite)


def check_target(
    out: str | Path,
    source: str,
    ours: re.Pattern[bytes],
    *,
    overwrite: bool,
    option: str = "--out",
) -> None:
    """Refuse, before anything is paid for, to write where it will fail or destroy something.

    Args:
        out: What the option names.
        source: The file that is read.
        ours: See `check_ours`.
        overwrite: See `check_ours`.
        option: For messages.

    Raises:
        InvalidValueError: It is a folder, the file that is read, a file of something else, or
            cannot be written.
    """
    target = usable_path(out)
    given = usable_path(source)
    if source != "-" and given.exists() and target.exists() and target.samefile(given):
        msg = f"{option} {target} is the file that the samples come from; choose another"
        raise InvalidValueError(msg)
    if target.is_dir():
        msg = f"{option} {target} is a folder; name a file"
        raise InvalidValueError(msg)
    check_ours(target, ours, overwrite=overwrite)
    try:
        make_folder(target.parent)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        msg = f"{option} {target} cannot be written: {error.strerror or error}; give another path"
        raise InvalidValueError(msg) from error


def with_store(
    scorer: AnyScorer, store: Path | None, *, no_store: bool, what: str, notes: Notes
) -> AnyScorer:
    """The scorer of a command with its store; what a model was paid for is cached by default.

    Args:
        scorer: Where its judge costs nothing, only a store that was asked for is used.
        store: What was asked for.
        no_store: Cache nothing.
        what: What is cached, in the plural.
        notes: Where the default is announced.

    Raises:
        InvalidValueError: A store, and none.
    """
    if store is not None and no_store:
        msg = "--store and --no-store exclude each other"
        raise InvalidValueError(msg)
    if store is None and not scorer.is_local and not no_store:
        store = DEFAULT_STORE
        notes.print(f"{what} are cached in {store} (--no-store caches none)")
    return scorer if store is None else scorer.changed(store=VerdictStore(store))


@contextmanager
def interruptible(
    notes: Notes,
    then: str = "calls under way may still end and reach the store; Ctrl-C again to leave at once",
) -> Iterator[None]:
    """Make Ctrl-C the exit code that shells know; a second one leaves at once.

    Args:
        notes: Where it is said.
        then: What comes of what was done.
    """
    try:
        yield
    except KeyboardInterrupt:
        notes.print(f"interrupted: {then}")
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        raise typer.Exit(INTERRUPTED) from None


def stream_samples(
    source: str,
    *,
    skip_bad: bool,
    input_format: str | None,
    rename: Iterable[str] | None,
    require: Callable[[Sample], object] | None = None,
    is_read_first: bool = False,
) -> files.SampleStream:
    """The samples of a file, by the options that all commands have for it.

    The first ones are checked here, before a model is paid for any.

    Args:
        source: See `files.SampleStream`.
        skip_bad: See there.
        input_format: See there.
        rename: See there.
        require: See there.
        is_read_first: All of them are read before a model is paid for any: nothing is checked here,
            and what is said of all bad rows is kept.
    """

    def required(sample: Sample) -> None:
        try:
            if require is not None:
                require(sample)
        except InvalidSampleError as error:
            way = "; a field of ours is named with --map, a sample left out with --skip-bad"
            way = "" if skip_bad else way
            msg = f"{error}{way}"
            raise InvalidSampleError(msg) from None

    stream = files.SampleStream(
        source,
        skip_bad=skip_bad,
        format=input_format,  # type: ignore[arg-type]  # checked by the reader
        mapping=texts.parse_renames(rename or []),
        require=required,
        kept=None if is_read_first else KEPT,
    )
    if not is_read_first:
        stream.check()
    return stream


def ratings_of(human: str | None, *labels: str | None) -> str | Labels | None:
    """Where human ratings are: a field of the samples, or files of labels; None for nowhere.

    With a file, ``human`` names its columns; several fields or columns are several raters.

    Raises:
        UnreadableInputError: See `Labels.read`.
    """
    files = [file for file in labels if file is not None]
    return Labels.read(*files, columns=human or "human") if files else human

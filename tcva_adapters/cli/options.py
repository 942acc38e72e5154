"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Optional

import typer
from rich.console import Console

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import configured
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples import files

Criterion = Annotated[
    str,
    typer.Option(
        "--criterion",
        "-c",
        help="faithfulness, answer_relevancy, correctness, completeness or context_recall.",
    ),
]
Judge = Annotated[
    str,
    typer.Option(
        "--judge",
        "-j",
        help="lexical (offline), or openai:MODEL for any OpenAI-compatible server "
        "(OPENAI_BASE_URL, OPENAI_API_KEY).",
    ),
]
Fuse = Annotated[
    Optional[list[str]],  # typer reads it at run time
    typer.Option(
        help="A further judge whose score is fused with the first one's; may be given several "
        "times. lexical costs no call."
    ),
]
PanelJudges = Annotated[
    Optional[list[str]],  # typer reads it at run time
    typer.Option(
        "--panel",
        help="A further judge of the same claims; may be given several times. Each claim gets the "
        "judges' median level.",
    ),
]
Combine = Annotated[str, typer.Option(help="How a panel decides: median, or fused (shares).")]
ConfigFile = Annotated[
    Optional[Path],  # typer reads it at run time
    typer.Option(
        "--config", help="Settings from 'tcva calibrate --out'; options given here win over it."
    ),
]
Temperature = Annotated[
    str,
    typer.Option(
        "--temperature",
        "-T",
        help="Strictness from 0.1 (strict) to 1.0 (lenient), or strict, balanced, lenient.",
    ),
]
Threshold = Annotated[float, typer.Option(help="A score passes from here on.")]
Scheme = Annotated[
    str,
    typer.Option(
        help="Weights: default, linear, aggressive, conservative, or five numbers with commas."
    ),
]
Penalty = Annotated[
    str, typer.Option(help="Penalty for `none` verdicts: paper, ramped, absolute or off.")
]
Eps = Annotated[float, typer.Option(help="Floor under the weights for exponents <= 0.")]
Floor = Annotated[str, typer.Option(help="paper, or always (the floor at every exponent).")]
DEFAULT_STORE: Final = Path(".tcva/verdicts.sqlite")
Store = Annotated[
    Optional[Path],  # typer reads it at run time
    typer.Option(help=f"Verdict store; for a model judge by default {DEFAULT_STORE}."),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Keep nothing that was judged.")]
InputFormat = Annotated[
    Optional[str],  # typer reads it at run time
    typer.Option("--format", help="jsonl, json, csv or parquet; by default from the file's name."),
]
Rename = Annotated[
    Optional[list[str]],  # typer reads it at run time
    typer.Option("--map", help="Read your field as one of ours, e.g. my_answer=response."),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave unusable lines out, and count them.")
]
MaxConcurrency = Annotated[int, typer.Option(help="Judgements under way at once.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


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
    return {**dial, **configured(config, typed)}


def check_target(target: Path, source: str) -> None:
    """Refuse, before anything is paid for, to write where it will fail or destroy the input.

    Args:
        target: What ``--out`` names.
        source: The file that is read.

    Raises:
        InvalidValueError: It is a folder, or the file that is read.
        OSError: It cannot be written.
    """
    if source != "-" and target.exists() and target.samefile(source):
        msg = f"--out {target} is the file that the samples come from; choose another"
        raise InvalidValueError(msg)
    if target.is_dir():
        msg = f"--out {target} is a folder; name a file"
        raise InvalidValueError(msg)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=target.parent):
        pass


def open_store(
    store: Path | None, *, no_store: bool, is_local: bool, what: str, notes: Console
) -> VerdictStore | None:
    """The store that a command keeps judgements in; what a model was paid for is kept by default.

    Args:
        store: What was asked for.
        no_store: Keep nothing.
        is_local: Whether the judge costs nothing; then only a store that was asked for is used.
        what: What is kept, in the plural.
        notes: Where the default is announced.

    Raises:
        InvalidValueError: A store, and none.
    """
    if store is not None and no_store:
        msg = "--store and --no-store exclude each other"
        raise InvalidValueError(msg)
    if store is None and not is_local and not no_store:
        store = DEFAULT_STORE
        notes.print(f"{what} are kept in {store} (--no-store keeps none)")
    return None if store is None else VerdictStore(store)


def read_samples(
    source: str, *, skip_bad: bool, input_format: str | None, rename: Iterable[str] | None
) -> files.SampleFile:
    """The samples of a file, by the options that all commands have for it."""
    return files.read_samples(
        source,
        skip_bad=skip_bad,
        format=input_format,  # type: ignore[arg-type]  # checked by the reader
        mapping=parse_renames(rename or []),
    )


def parse_scheme(text: str) -> str | list[float]:
    """A scheme's name, or its five numbers."""
    return text if "," not in text else parse_numbers(text, "--scheme")


def parse_numbers(text: str, option: str) -> list[float]:
    """Numbers with commas between them.

    Raises:
        InvalidValueError: One of them is no number.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        msg = f"{option} {text!r} is not a list of numbers with commas between them"
        raise InvalidValueError(msg) from None


def parse_renames(pairs: Iterable[str]) -> dict[str, str]:
    """``mine=ours`` pairs as a mapping.

    Raises:
        InvalidValueError: A pair without an equals sign.
    """
    renames = {}
    for pair in pairs:
        mine, found, ours = pair.partition("=")
        if not (found and mine and ours):
            msg = f"--map {pair!r} is not of the form yours=ours, e.g. my_answer=response"
            raise InvalidValueError(msg)
        renames[mine] = ours
    return renames


def check_gates(gates: Mapping[str, float | None]) -> None:
    """Refuse gates outside [0, 1] before any work is done.

    Raises:
        InvalidValueError: A gate lies outside.
    """
    for name, least in gates.items():
        if least is not None and not 0.0 <= least <= 1.0:
            msg = f"the gate on the {name} is {least!r}; it lies in [0, 1]"
            raise InvalidValueError(msg)


def parse_pair(text: str, option: str) -> tuple[float, float]:
    """Two numbers with a comma between them.

    Raises:
        InvalidValueError: It is something else.
    """
    numbers = parse_numbers(text, option)
    if len(numbers) != 2:
        msg = f"{option} {text!r}; it is two numbers, e.g. 1,5"
        raise InvalidValueError(msg)
    return numbers[0], numbers[1]


def parse_names(text: str) -> list[str]:
    """Names with commas between them, without the blanks around them."""
    return [part.strip() for part in text.split(",")]

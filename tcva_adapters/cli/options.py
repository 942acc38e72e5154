"""The options that several commands share, in the groups that ``--help`` shows."""

from __future__ import annotations

from typing import Any, Final

import typer

from tcva_adapters.criteria import CRITERIA

INPUT: Final = "Input"
JUDGING: Final = "Judge"
SCORING: Final = "Scores"
RATINGS: Final = "Human ratings and groups"
GATES: Final = "Gates"
OUTPUT: Final = "Output"


def option(
    panel: str,
    flags: str,
    meaning: str,
    metavar: str | None = None,
    default: Any = None,
) -> Any:
    """An option of a group; its help is shown as it is, brackets and all."""
    text = meaning.replace("[", r"\[")
    metavar = (
        " " if default is False else metavar
    )  # otherwise typer prints <bool> after a flag
    return typer.Option(
        default,
        *flags.split(),
        help=text,
        metavar=metavar,
        rich_help_panel=panel,
    )


def argument(meaning: str, metavar: str | None = None, default: Any = ...) -> Any:
    """What a command is about."""
    return typer.Argument(default, help=meaning.replace("[", r"\["), metavar=metavar)


SAMPLES: Final = argument(
    "A jsonl, json, csv or parquet file; '-' for jsonl from a pipe.", "SAMPLES"
)
JUDGED: Final = argument(
    "Results of 'tcva evaluate --out', or '-' for a pipe.", "RESULTS"
)
RENAME: Final = option(
    INPUT, "--map", "Read your field as FIELD; repeatable.", "YOURS=FIELD"
)
SKIP_BAD: Final = option(
    INPUT, "--skip-bad", "Leave out unreadable lines.", default=False
)

CRITERION: Final = option(
    JUDGING, "--criterion -c", f"{', '.join(CRITERIA)} (default: the first)."
)
JUDGE: Final = option(
    JUDGING,
    "--judge -j",
    "'lexical' (default: offline, only compares words), 'openai:MODEL' for any OpenAI-compatible "
    "server (OPENAI_API_KEY, OPENAI_BASE_URL), or 'nli:FOLDER' for a cross-encoder in ONNX.",
)
PANEL: Final = option(
    JUDGING, "--panel", "Another judge; the median level counts. Repeatable.", "JUDGE"
)
FUSE: Final = option(
    JUDGING, "--fuse", "Another judge; scores are fused. Repeatable.", "JUDGE"
)
STORE: Final = option(
    JUDGING, "--store", "Cached judgements (.tcva/verdicts.sqlite), or none.", "FILE"
)
DRY_RUN: Final = option(
    JUDGING, "--dry-run", "Only print calls, tokens and cost.", default=False
)

_STRICTNESS: Final = "Strictness of the score: 0.1 to 1.0, strict, balanced or lenient"
TEMPERATURE: Final = option(
    SCORING, "--temperature -T", f"{_STRICTNESS} (default: 0.5)."
)
TEMPERATURES: Final = option(
    SCORING, "--temperatures -T", f"{_STRICTNESS}; several: 0.1,0.5,0.9."
)
SCHEMES: Final = option(
    SCORING, "--scheme", "Weights: a name or five numbers; repeatable.", "SCHEME"
)
CONFIG: Final = option(
    SCORING, "--config", "Settings written by 'tcva calibrate --out'.", "FILE"
)


def setting(examples: str, more: str = "") -> Any:
    """``--set`` with examples that the command takes."""
    text = f"Another setting, e.g. {examples}; repeatable. A wrong name lists all settings."
    return option(SCORING, "--set", f"{text}{more}", "NAME=VALUE")


SET: Final = setting(
    "penalty=off, bounds=-4,12", " Options win over --set, and --set over --config."
)
DRAWS: Final = setting("resamples=2000, seed=1")

HUMAN: Final = option(
    RATINGS,
    "--human",
    "Human ratings: a field of the samples, several fields with commas, or a file with id and human "
    "(FILE::COLUMN for another column).",
    "FIELD|FILE",
)
HUMAN_SCALE: Final = option(
    RATINGS, "--human-scale", "Scale of ratings (default: 0,1).", "LOW,HIGH"
)
HUMAN_THRESHOLD: Final = option(
    RATINGS, "--human-threshold", "Lowest rating that passes."
)
GROUP: Final = option(
    RATINGS,
    "--group",
    "Samples with the same value of this field are dependent.",
    "FIELD",
)

MAX_FALSE_PASS: Final = option(
    GATES,
    "--max-false-pass",
    "Largest share of rejected answers that may pass, e.g. 0.1.",
    "SHARE",
)
GATE: Final = option(
    GATES,
    "--gate",
    "Exit with 1 if a figure is lower: mean>=0.8, pass_rate>=0.9, coverage>=0.95. Of one method: "
    "'ragas faithfulness:mean>=0.7'. Its lower bound: pass_rate>=0.9@95%. Repeatable.",
    "GATE",
)
JUNIT: Final = option(
    GATES, "--junit", "Write JUnit XML: a test per sample and gate.", "FILE"
)
MARKDOWN: Final = option(
    GATES, "--markdown", "Write a comment for a pull request.", "FILE"
)

OUT: Final = option(
    OUTPUT, "--out -o", "Write the results as jsonl; '-' for a pipe.", "FILE"
)
FOLDER: Final = option(
    OUTPUT, "--out -o", "Folder for results; a run continues in it.", "FOLDER"
)
OVERWRITE: Final = option(
    OUTPUT, "--overwrite", "Replace any existing file.", default=False
)
PAGE: Final = option(OUTPUT, "--report", "Write an HTML report.", "FILE")
FIGURES: Final = option(
    OUTPUT, "--figures", "Write figures (needs the extra 'plots').", "FOLDER"
)
ALL: Final = option(OUTPUT, "--all", "Print all tables and all rows.", default=False)
JSON: Final = option(OUTPUT, "--json", "Print the figures as JSON.", default=False)

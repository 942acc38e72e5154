"""The options that several commands share, in the groups that ``--help`` shows."""

from __future__ import annotations

from typing import Any, Final

import typer

from tcva_adapters.criteria import CRITERIA

INPUT: Final = "Reading"
JUDGING: Final = "Judge"
SCORING: Final = "Scores"
RATINGS: Final = "Ratings and groups"
GATES: Final = "Gates and reviews"
OUTPUT: Final = "Output"


def option(
    panel: str, flags: str, meaning: str, metavar: str | None = None, default: Any = None
) -> Any:
    """An option of a group; its help is shown as it is, brackets and all."""
    text = meaning.replace("[", r"\[")
    return typer.Option(default, *flags.split(), help=text, metavar=metavar, rich_help_panel=panel)


def argument(meaning: str, metavar: str | None = None, default: Any = ...) -> Any:
    """What a command is about."""
    return typer.Argument(default, help=meaning.replace("[", r"\["), metavar=metavar)


SAMPLES: Final = argument("jsonl, json, csv or parquet; '-' reads jsonl from a pipe.", "SAMPLES")
JUDGED: Final = argument("What 'tcva evaluate --out' wrote; '-' reads a pipe.", "JUDGED")
RENAME: Final = option(INPUT, "--map", "Your field (or a.b) as another.", "YOURS=FIELD")
SKIP_BAD: Final = option(INPUT, "--skip-bad", "Leave out unusable lines.", default=False)

CRITERION: Final = option(JUDGING, "--criterion -c", f"{', '.join(CRITERIA)}.")
JUDGE: Final = option(
    JUDGING,
    "--judge -j",
    "lexical (offline; by default), or openai:MODEL for any OpenAI-compatible server "
    "(OPENAI_BASE_URL, OPENAI_API_KEY).",
)
PANEL: Final = option(JUDGING, "--panel", "Another judge of the same claims: a median.", "JUDGE")
FUSE: Final = option(JUDGING, "--fuse", "An additional judge: scores are fused.", "JUDGE")
STORE: Final = option(JUDGING, "--store", "Cached judgements (.tcva/...), or none.", "FILE")
DRY_RUN: Final = option(JUDGING, "--dry-run", "Only say calls, tokens, cost.", default=False)

TEMPERATURE: Final = option(SCORING, "--temperature -T", "0.1 to 1.0, strict, balanced, lenient.")
TEMPERATURES: Final = option(SCORING, "--temperatures -T", "Several, with commas between.")
SCHEMES: Final = option(SCORING, "--scheme", "A weight scheme, or five numbers; repeatable.")
CONFIG: Final = option(SCORING, "--config", "Settings from 'tcva calibrate --out'.", "FILE")


def setting(examples: str, more: str = "") -> Any:
    """``--set`` with examples that the command takes."""
    text = f"A setting, e.g. {examples}; repeatable. A wrong name is answered with all there are"
    return option(SCORING, "--set", f"{text}{more}.", "NAME=VALUE")


SET: Final = setting(
    "penalty=off, bounds=-4,12", "; an option of its own wins over it, and it over --config"
)
DRAWS: Final = setting("resamples=2000, seed=1")

HUMAN: Final = option(
    RATINGS,
    "--human",
    "Human ratings: a field of the samples, several raters with commas, or a file with id and "
    "human (FILE::COLUMN for another).",
    "FIELD|FILE",
)
HUMAN_SCALE: Final = option(RATINGS, "--human-scale", "Of ratings; by default 0,1.", "LOW,HIGH")
HUMAN_THRESHOLD: Final = option(RATINGS, "--human-threshold", "A rating passes from here on.")
GROUP: Final = option(RATINGS, "--group", "What samples belong to: intervals count it.", "FIELD")

GATE: Final = option(
    GATES,
    "--gate",
    "Exit with 1 below it: mean>=0.8, pass_rate>=0.9@95% (its lower bound), coverage>=0.95; for "
    "one method 'ragas faithfulness:mean>=0.7'; repeatable.",
    "[METHOD:]FIGURE>=NUMBER[@95%]",
)
JUNIT: Final = option(GATES, "--junit", "Write JUnit XML: a test per sample and gate.", "FILE")
MARKDOWN: Final = option(GATES, "--markdown", "Write a comment for a pull request.", "FILE")

TABLES: Final = option(OUTPUT, "--markdown", "Write all tables as Markdown.", "FILE")
OUT: Final = option(OUTPUT, "--out -o", "Write the results: .jsonl, or '-' for a pipe.", "FILE")
FOLDER: Final = option(OUTPUT, "--out -o", "Of the results; a run goes on from it.", "FOLDER")
OVERWRITE: Final = option(OUTPUT, "--overwrite", "Replace other files.", default=False)
PAGE: Final = option(OUTPUT, "--report", "Write an HTML report with a live temperature.", "FILE")
FIGURES: Final = option(OUTPUT, "--figures", "Draw figures (extra plots).", "FOLDER")
ALL: Final = option(OUTPUT, "--all", "Print all tables, and all rows.", default=False)
JSON: Final = option(OUTPUT, "--json", "Print the figures as JSON.", default=False)

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
RENAME: Final = option(
    INPUT, "--map", "Read your field (a.b leads into one) as one of ours; repeatable.", "YOURS=OURS"
)
SKIP_BAD: Final = option(
    INPUT, "--skip-bad", "Leave unusable lines out, and count them.", default=False
)

CRITERION: Final = option(JUDGING, "--criterion -c", f"{', '.join(CRITERIA)}; or the first.")
JUDGE: Final = option(
    JUDGING,
    "--judge -j",
    "lexical (offline; by default), or openai:MODEL for any OpenAI-compatible server "
    "(OPENAI_BASE_URL, OPENAI_API_KEY).",
)
PANEL: Final = option(
    JUDGING,
    "--panel",
    "Another judge of the same claims, which get the median level (or --set combine=fused); "
    "repeatable.",
    "JUDGE",
)
FUSE: Final = option(
    JUDGING, "--fuse", "An additional judge, whose score is fused; repeatable.", "JUDGE"
)
STORE: Final = option(
    JUDGING,
    "--store",
    "Cached judgements, or none; for a model by default .tcva/verdicts.sqlite.",
    "FILE",
)
DRY_RUN: Final = option(
    JUDGING, "--dry-run", "Only say what it will cost: calls, tokens, money.", default=False
)

TEMPERATURE: Final = option(
    SCORING, "--temperature -T", "0.1 to 1.0, or strict, balanced, lenient; by default 0.5."
)
TEMPERATURES: Final = option(
    SCORING, "--temperatures -T", "Temperatures or presets, with commas between."
)
SCHEMES: Final = option(
    SCORING, "--scheme", "A weight scheme, or five numbers with commas; repeatable."
)
CONFIG: Final = option(
    SCORING, "--config", "Settings from 'tcva calibrate --out'; others win over them.", "FILE"
)
SET: Final = option(
    SCORING,
    "--set",
    "A setting, e.g. penalty=off or bounds=-4,12; repeatable. A wrong name is answered with all "
    "there are.",
    "NAME=VALUE",
)

HUMAN: Final = option(
    RATINGS,
    "--human",
    "Human ratings: a field of the samples, several raters with commas, or a file with id and "
    "human (FILE::COLUMN for another).",
    "FIELD|FILE",
)
HUMAN_SCALE: Final = option(
    RATINGS, "--human-scale", "Lowest and highest rating, e.g. 1,5; by default 0,1.", "LOW,HIGH"
)
HUMAN_THRESHOLD: Final = option(
    RATINGS, "--human-threshold", "A rating passes from here on; by default the middle.", "NUMBER"
)
GROUP: Final = option(
    RATINGS, "--group", "Field of what samples belong to: intervals are about others.", "FIELD"
)

GATE: Final = option(
    GATES,
    "--gate",
    "Exit with 1 below it: mean>=0.8, pass_rate>=0.9@95% (its lower bound), coverage>=0.95; for "
    "one method 'ragas faithfulness:mean>=0.7'; repeatable.",
    "[METHOD:]FIGURE>=NUMBER[@95%]",
)
JUNIT: Final = option(GATES, "--junit", "Write JUnit XML: a test per sample and gate.", "FILE")
MARKDOWN: Final = option(
    GATES, "--markdown", "Write a comment for a pull request; '-' for a pipe.", "FILE"
)

TABLES: Final = option(OUTPUT, "--markdown", "Write all tables as Markdown.", "FILE")
OUT: Final = option(OUTPUT, "--out -o", "Write the results: .jsonl, or '-' for a pipe.", "FILE")
FOLDER: Final = option(
    OUTPUT, "--out -o", "Folder of the results; a second run goes on from it.", "FOLDER"
)
OVERWRITE: Final = option(
    OUTPUT, "--overwrite", "Replace what other settings or programs wrote.", default=False
)
PAGE: Final = option(OUTPUT, "--report", "Write an HTML report with a live temperature.", "FILE")
FIGURES: Final = option(OUTPUT, "--figures", "Draw figures (extra plots).", "FOLDER")
ALL: Final = option(OUTPUT, "--all", "Print all tables, and all rows.", default=False)
JSON: Final = option(OUTPUT, "--json", "Print the figures as JSON.", default=False)

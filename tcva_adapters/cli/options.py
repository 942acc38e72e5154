"""The options that several commands share, in the groups that ``--help`` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcva_adapters.criteria import CRITERIA

INPUT = "Input"
JUDGING = "Judge"
SCORING = "Scores"
RATINGS = "Human ratings and groups"
GATES = "Gates"
OUTPUT = "Output"


def option(panel: str, flags: str, meaning: str, metavar: str | None = None) -> object:
    """Describe an option; ``--help`` shows its meaning as it is, brackets and all."""
    return typer.Option(
        *flags.split(),
        help=meaning.replace("[", r"\["),
        metavar=metavar,
        rich_help_panel=panel,
    )


def flag(panel: str, flags: str, meaning: str) -> object:
    """Describe an option without a value."""
    return option(panel, flags, meaning, " ")  # typer would print <bool>


def argument(meaning: str, metavar: str) -> object:
    """Describe a positional argument of a command."""
    return typer.Argument(help=meaning.replace("[", r"\["), metavar=metavar)


Text = str | None
Texts = list[str] | None
File = Path | None
Number = float | None
"""Values of options that may be left out; texts may be given several times."""

Samples = Annotated[
    str,
    argument(
        "A jsonl, json, csv or parquet file; '-' for jsonl from a pipe.", "SAMPLES"
    ),
]
Results = Annotated[
    str, argument("Results of 'tcva evaluate --out', or '-' for a pipe.", "RESULTS")
]
SampleTexts = Annotated[
    Text, option(INPUT, "--samples", "Texts of the samples, by id.", "FILE")
]
Renames = Annotated[
    Texts,
    option(INPUT, "--map", "Read your field as FIELD; repeatable.", "YOURS=FIELD"),
]
SkipBad = Annotated[bool, flag(INPUT, "--skip-bad", "Leave out unreadable lines.")]

Criterion = Annotated[
    Text,
    option(JUDGING, "--criterion -c", f"{', '.join(CRITERIA)} (default: the first)."),
]
Ccrs = Annotated[
    Text,
    option(JUDGING, "--ccrs", "Rate answers by cc,qr,id,ac,ir.", "METRICS"),
]
Judge = Annotated[
    Text,
    option(
        JUDGING,
        "--judge -j",
        "'lexical' (default: offline, only compares words), 'openai:MODEL' for any OpenAI-compatible "
        "server (OPENAI_API_KEY, OPENAI_BASE_URL), or 'nli:FOLDER' for a cross-encoder in ONNX.",
    ),
]
Panel = Annotated[
    Texts,
    option(
        JUDGING,
        "--panel",
        "Another judge; the median level counts. Repeatable.",
        "JUDGE",
    ),
]
Fuse = Annotated[
    Texts,
    option(JUDGING, "--fuse", "Another judge; scores are fused. Repeatable.", "JUDGE"),
]
Store = Annotated[
    Text,
    option(
        JUDGING,
        "--store",
        "Cached judgements (.tcva/verdicts.sqlite), or none.",
        "FILE",
    ),
]
DryRun = Annotated[
    bool, flag(JUDGING, "--dry-run", "Only print calls, tokens and cost.")
]

_STRICTNESS = "Strictness of the score: 0.1 to 1.0, strict, balanced or lenient"
Temperature = Annotated[
    Text, option(SCORING, "--temperature -T", f"{_STRICTNESS} (default: 0.5).")
]
Temperatures = Annotated[
    Text,
    option(SCORING, "--temperatures -T", f"{_STRICTNESS}; several: 0.1,0.5,0.9."),
]
THREE_TEMPERATURES = "0.1,0.5,0.9"
"""The temperatures that commands show by default."""

Schemes = Annotated[
    Texts,
    option(
        SCORING, "--scheme", "Weights: a name or five numbers; repeatable.", "SCHEME"
    ),
]
Penalties = Annotated[
    Texts, option(SCORING, "--penalty", "Penalty to try; repeatable.", "NAME")
]
Config = Annotated[
    File,
    option(SCORING, "--config", "Settings written by 'tcva calibrate --out'.", "FILE"),
]


def setting(examples: str, more: str = "") -> object:
    """Describe ``--set`` with examples of settings that the command takes."""
    return option(
        SCORING,
        "--set",
        f"Another setting, e.g. {examples}; repeatable. A wrong name lists all settings.{more}",
        "NAME=VALUE",
    )


Settings = Annotated[
    Texts,
    setting(
        "penalty=off, bounds=-4,12", " Options win over --set, and --set over --config."
    ),
]

Human = Annotated[
    Text,
    option(
        RATINGS,
        "--human",
        "Human ratings: a field of the samples, several fields with commas, or a file with id and human "
        "(FILE::COLUMN for another column).",
        "FIELD|FILE",
    ),
]
HumanScale = Annotated[
    Text,
    option(RATINGS, "--human-scale", "Scale of ratings (default: 0,1).", "LOW,HIGH"),
]
HumanThreshold = Annotated[
    Number, option(RATINGS, "--human-threshold", "Lowest rating that passes.")
]
Group = Annotated[
    Text,
    option(
        RATINGS,
        "--group",
        "Samples with the same value of this field are dependent.",
        "FIELD",
    ),
]

Objective = Annotated[
    str,
    option(RATINGS, "--objective", "What to optimise: spearman, mae, kappa or cost."),
]
CostFalsePass = Annotated[
    Number,
    option(
        RATINGS,
        "--cost-false-pass",
        "Optimise cost: what a bad answer that passes costs, if a good one that fails costs 1.",
        "COST",
    ),
]
TemperatureBy = Annotated[
    Text,
    option(
        RATINGS,
        "--by",
        "A temperature, or limits at one threshold, for each value of a field.",
        "FIELD",
    ),
]
RateNext = Annotated[
    int, option(RATINGS, "--next", "Draw samples to rate, into --out.")
]

MaxFalsePass = Annotated[
    Number,
    option(
        GATES,
        "--max-false-pass",
        "Largest share of rejected answers that may pass, e.g. 0.1.",
        "SHARE",
    ),
]
MinTruePass = Annotated[
    Number,
    option(
        GATES,
        "--min-true-pass",
        "Smallest share of good answers that must pass.",
        "SHARE",
    ),
]
MaxUnsupported = Annotated[
    Number,
    option(
        GATES,
        "--max-unsupported",
        "Largest share of questions whose answer may hold a claim people reject, e.g. 0.1; --human names "
        "labels of claims.",
        "SHARE",
    ),
]
RejectedBelow = Annotated[
    Text,
    option(
        GATES,
        "--rejected-below",
        "Labels below this reject a claim (default: partial).",
        "LEVEL",
    ),
]
Of = Annotated[
    Text,
    option(
        GATES,
        "--of",
        "Limit the share of all questions (default), or of served answers (served).",
        "NAME",
    ),
]
Confidence = Annotated[
    Number,
    option(GATES, "--confidence", "Confidence of the limits (default: 0.95)."),
]
Per = Annotated[
    Text,
    option(
        GATES,
        "--per",
        "What limits hold for with --group: the mean over groups (group) or answers (answer).",
        "NAME",
    ),
]
LargestGroup = Annotated[
    int | None,
    option(
        GATES,
        "--largest-group",
        "Most answers of a group, for --per answer (default: 50).",
        "N",
    ),
]
Gates = Annotated[
    Texts,
    option(
        GATES,
        "--gate",
        "Exit with 1 if a figure is lower: mean>=0.8, pass_rate>=0.9, coverage>=0.95. Of one method: "
        "'ragas faithfulness:mean>=0.7'. Its lower bound: pass_rate>=0.9@95%. Repeatable.",
        "GATE",
    ),
]
Junit = Annotated[
    Text,
    option(GATES, "--junit", "Write JUnit XML: a test per sample and gate.", "FILE"),
]
Markdown = Annotated[
    Text,
    option(GATES, "--markdown", "Write a comment for a pull request.", "FILE"),
]

Out = Annotated[
    Text,
    option(OUTPUT, "--out -o", "Write the results as jsonl; '-' for a pipe.", "FILE"),
]
ConfigOut = Annotated[
    File, option(OUTPUT, "--out -o", "Write settings for --config.", "FILE")
]
Folder = Annotated[
    File,
    option(OUTPUT, "--out -o", "Folder for results; a run continues in it.", "FOLDER"),
]
Overwrite = Annotated[bool, flag(OUTPUT, "--overwrite", "Replace any existing file.")]
Page = Annotated[File, option(OUTPUT, "--report", "Write an HTML report.", "FILE")]
Figures = Annotated[
    File,
    option(OUTPUT, "--figures", "Write figures (needs the extra 'plots').", "FOLDER"),
]
Everything = Annotated[bool, flag(OUTPUT, "--all", "Print all tables and all rows.")]
Json = Annotated[bool, flag(OUTPUT, "--json", "Print the figures as JSON.")]

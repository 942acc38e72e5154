"""The options that several commands share, in the groups that ``--help`` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Optional

import typer

from tcva_adapters.criteria import CRITERIA

INPUT: Final = "Reading"
JUDGING: Final = "Judge"
SCORING: Final = "Scores"
RATINGS: Final = "Ratings and groups"
GATES: Final = "Gates and reviews"
OUTPUT: Final = "Output"


def option(panel: str, meaning: str, *flags: str, metavar: str | None = None) -> Any:
    """An option of a group; its help is shown as it is, brackets and all."""
    text = meaning.replace("[", r"\[")
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel)


def argument(meaning: str, metavar: str | None = None) -> Any:
    """What a command is about."""
    return typer.Argument(help=meaning.replace("[", r"\["), metavar=metavar)


# typer reads them at run time, so what is optional is spelt out.
Samples = Annotated[
    str, argument("jsonl, json, csv or parquet; '-' reads jsonl from standard input.", "SAMPLES")
]
Judged = Annotated[
    str, argument("What 'tcva evaluate --out' wrote; '-' for standard input.", "JUDGED")
]
Rename = Annotated[
    Optional[list[str]],
    option(
        INPUT,
        "Read your field as one of ours, e.g. my_answer=response or choices.0.text=response; "
        "several times.",
        "--map",
        metavar="YOURS=OURS",
    ),
]
SkipBad = Annotated[bool, option(INPUT, "Leave unusable lines out, and count them.", "--skip-bad")]
Criterion = Annotated[
    Optional[str],
    option(JUDGING, f"{', '.join(CRITERIA)}; by default faithfulness.", "--criterion", "-c"),
]
Judge = Annotated[
    Optional[str],
    option(
        JUDGING,
        "lexical (offline; by default), or openai:MODEL for any OpenAI-compatible server "
        "(OPENAI_BASE_URL, OPENAI_API_KEY).",
        "--judge",
        "-j",
    ),
]
Panel = Annotated[
    Optional[list[str]],
    option(
        JUDGING,
        "Another judge of the same claims, each of which gets the median level (or "
        "--set combine=fused); several times.",
        "--panel",
        metavar="JUDGE",
    ),
]
Fuse = Annotated[
    Optional[list[str]],
    option(
        JUDGING,
        "An additional judge whose score is fused with the first one's; several times. lexical "
        "costs no call.",
        "--fuse",
        metavar="JUDGE",
    ),
]
Store = Annotated[
    Optional[str],
    option(
        JUDGING,
        "File of cached judgements, or none; for a model by default .tcva/verdicts.sqlite.",
        "--store",
        metavar="FILE",
    ),
]
DryRun = Annotated[
    bool,
    option(JUDGING, "Only say what it will cost: calls, tokens, money, time.", "--dry-run"),
]
Temperature = Annotated[
    Optional[str],
    option(
        SCORING,
        "0.1 (strict) to 1.0 (lenient), or strict, balanced, lenient; by default 0.5.",
        "--temperature",
        "-T",
    ),
]
Temperatures = Annotated[
    Optional[str],
    option(SCORING, "Temperatures or presets, with commas between.", "--temperatures", "-T"),
]
ConfigFile = Annotated[
    Optional[Path],
    option(
        SCORING,
        "Settings from 'tcva calibrate --out'; what is given here wins over them.",
        "--config",
        metavar="FILE",
    ),
]
Set = Annotated[
    Optional[list[str]],
    option(
        SCORING,
        "A setting by its name, e.g. penalty=off, bounds=-4,12 or requests_per_minute=60; several "
        "times. A wrong name is answered with all there are.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
Human = Annotated[
    Optional[str],
    option(
        RATINGS,
        "Human ratings: a field of the samples (several raters with commas between), or a file "
        "with the columns id and human (FILE::COLUMN,COLUMN for others).",
        "--human",
        metavar="FIELD|FILE",
    ),
]
HumanScale = Annotated[
    Optional[str],
    option(
        RATINGS,
        "Lowest and highest rating that could be given, e.g. 1,5; by default 0,1.",
        "--human-scale",
        metavar="LOW,HIGH",
    ),
]
HumanThreshold = Annotated[
    Optional[float],
    option(
        RATINGS,
        "A rating passes from here on; by default the middle of the scale.",
        "--human-threshold",
        metavar="NUMBER",
    ),
]
Group = Annotated[
    Optional[str],
    option(
        RATINGS,
        "Metadata field of what samples belong to (a document, a user): intervals are about other "
        "such groups.",
        "--group",
        metavar="FIELD",
    ),
]
Gate = Annotated[
    Optional[list[str]],
    option(
        GATES,
        "Exit with 1 where a figure is below: mean>=0.8, pass_rate>=0.9@95% (its lower bound), "
        "coverage>=0.95, for one method 'ragas faithfulness:mean>=0.7'; several times.",
        "--gate",
        metavar="[METHOD:]FIGURE>=NUMBER[@95%]",
    ),
]
Junit = Annotated[
    Optional[str],
    option(GATES, "Write JUnit XML: a test per sample and gate.", "--junit", metavar="FILE"),
]
Markdown = Annotated[
    Optional[str],
    option(
        GATES,
        "Write a comment for a pull request; '-' for standard output. GitHub's step summary is "
        "added to.",
        "--markdown",
        metavar="FILE",
    ),
]
Tables = Annotated[
    Optional[str],
    option(
        OUTPUT,
        "Write all tables as Markdown; '-' for standard output.",
        "--markdown",
        metavar="FILE",
    ),
]
Out = Annotated[
    Optional[str],
    option(
        OUTPUT,
        "Write the results: .jsonl, or '-' for standard output.",
        "--out",
        "-o",
        metavar="FILE",
    ),
]
Folder = Annotated[
    Path,
    option(
        OUTPUT,
        "Folder of the results; a second run goes on from it.",
        "--out",
        "-o",
        metavar="FOLDER",
    ),
]
Overwrite = Annotated[
    bool, option(OUTPUT, "Replace what other settings or programs wrote, too.", "--overwrite")
]
Page = Annotated[
    Optional[Path],
    option(
        OUTPUT,
        "Also write an HTML report with a live temperature.",
        "--report",
        metavar="FILE",
    ),
]
Figures = Annotated[
    Optional[Path],
    option(OUTPUT, "Draw figures into this folder (extra plots).", "--figures", metavar="FOLDER"),
]
Everything = Annotated[bool, option(OUTPUT, "Print all tables, and all rows.", "--all")]
AsJson = Annotated[bool, option(OUTPUT, "Print the figures as JSON.", "--json")]
Ray = Annotated[
    Optional[str],
    option(
        OUTPUT,
        "Work on Ray, with a folder of parts: host:port, auto, or local (started here).",
        "--ray",
        metavar="ADDRESS",
    ),
]

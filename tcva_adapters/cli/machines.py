"""What commands hand to reviewers and CI servers: a comment, JUnit, annotations, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Optional, TextIO

import numpy as np
import typer

from tcva_adapters import printing
from tcva_adapters.cli import old_options as options
from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.gates import COVERAGE, PASS_RATE, SCORE, Gated, Gates
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.annotations import asked_for, to_annotations
from tcva_adapters.report.evaluated import evaluation
from tcva_adapters.report.junit import BEGINS as JUNIT_BEGINS
from tcva_adapters.report.junit import to_junit
from tcva_adapters.report.markdown import BEGINS as MARKDOWN_BEGINS
from tcva_adapters.report.markdown import to_markdown
from tcva_adapters.samples.output import replacing, usable_path
from tcva_adapters.tables import Column, Report, Table

GATE_FAILED: Final = 1
STDOUT: Final = "-"
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"

# typer reads them at run time, so what is optional is spelt out.
_MinScore = Annotated[
    Optional[list[str]],
    typer.Option(
        help="Gate: exit with 1 when the mean score is below. A number for all methods, or "
        "NAME=NUMBER for one; may be given several times.",
        metavar="[NAME=]NUMBER",
    ),
]
_MinPassRate = Annotated[
    Optional[list[str]],
    typer.Option(
        help="Gate: exit with 1 when fewer of the scored samples pass; like --min-score.",
        metavar="[NAME=]NUMBER",
    ),
]
_MinCoverage = Annotated[
    Optional[list[str]],
    typer.Option(
        help="Gate: exit with 1 when fewer of the samples have a score; like --min-score.",
        metavar="[NAME=]NUMBER",
    ),
]
_Confidence = Annotated[
    Optional[float],
    typer.Option(
        help="Of the gates: mean score and pass rate have to reach theirs with the lower bound at "
        "this confidence, e.g. 0.95.",
    ),
]
_Markdown = Annotated[
    Optional[str],
    typer.Option(
        "--markdown",
        help="Write a comment for a pull request here; '-' for stdout. GitHub's step summary is "
        "added to.",
    ),
]
_Junit = Annotated[
    Optional[str], typer.Option("--junit", help="Write JUnit XML here: a test per sample and gate.")
]
_Annotations = Annotated[
    Optional[bool],
    typer.Option(
        "--annotations/--no-annotations",
        help="Print failed gates as annotations of GitHub Actions; by default where it runs.",
    ),
]
Show = Annotated[
    Optional[list[str]],
    typer.Option(
        "--show",
        help="Print claims with their verdicts: worst (ten samples), all, or a sample's id; may be "
        "given several times.",
    ),
]


_FILES: Final = {"markdown": _Markdown, "junit": _Junit, "annotations": _Annotations}
_GATES: Final = {
    "min_score": _MinScore,
    "min_pass_rate": _MinPassRate,
    "min_coverage": _MinCoverage,
}


@dataclass(frozen=True, slots=True)
class Handed:
    """What was asked for.

    Attributes:
        markdown: Where the comment goes; None for none.
        junit: Where the XML goes; None for none.
        annotations: See `asked_for`.
        overwrite: Replace other files, too.
    """

    markdown: str | None
    junit: str | None
    annotations: bool | None
    overwrite: bool = False

    def check(
        self,
        sources: Sequence[str],
        *,
        as_json: bool,
        out: str | None = None,
        report: Path | None = None,
    ) -> None:
        """Refuse, before anything is paid for, what could not be written.

        Args:
            sources: Files that are read.
            as_json: Whether the figures are for standard output.
            out: Where the results go; None for nowhere.
            report: Where the page goes; None for nowhere.

        Raises:
            InvalidValueError: See `options.check_target`; or two things for standard output, or for
                one file.
        """
        stdout = "--json" if as_json else "--out -" if out == STDOUT else ""
        if self.takes_stdout and stdout:
            msg = f"{stdout} and --markdown - both write to standard output; give one a file"
            raise InvalidValueError(msg)
        beside = {"--out": out, "--report": report}
        taken = {usable_path(file).resolve(): option for option, file in beside.items() if file}
        for option, file, ours in (
            ("--markdown", self._file, MARKDOWN_BEGINS),
            ("--junit", self.junit, JUNIT_BEGINS),
        ):
            if file is None:
                continue
            other = taken.setdefault(usable_path(file).resolve(), option)
            if other != option:
                msg = f"{other} and {option} both name {file}; give each a file of its own"
                raise InvalidValueError(msg)
            for source in sources:
                options.check_target(file, source, ours, overwrite=self.overwrite, option=option)

    @property
    def written(self) -> dict[Path, str]:
        """The files, with what is in them."""
        found = {} if self.junit is None else {Path(self.junit): "JUnit: a test for each sample"}
        if self.markdown not in {None, STDOUT}:
            found[Path(self.markdown or "")] = "Markdown: for a pull request"
        return found

    @property
    def names_samples(self) -> bool:
        """Whether single samples are written."""
        return bool(self.markdown or self.junit)

    @property
    def takes_stdout(self) -> bool:
        """Whether the comment is what standard output is for."""
        return self.markdown == STDOUT

    def side(self, out: str | None = None) -> TextIO:
        """Where a command prints its figures: not between results or a comment on standard output.

        Args:
            out: As for `check`.
        """
        return sys.stderr if out == STDOUT or self.takes_stdout else sys.stdout

    @property
    def _file(self) -> str | None:
        """The comment's file where there is one that may be replaced."""
        is_file = self.markdown not in {None, STDOUT} and not self._is_step_summary
        return self.markdown if is_file else None

    @property
    def _is_step_summary(self) -> bool:
        return bool(self.markdown) and self.markdown == os.environ.get(STEP_SUMMARY)

    def write(self, sentence: str, gated: Gated, changes: Changes | None = None) -> None:
        """Write the files.

        Raises:
            InvalidValueError: One cannot be written.
        """
        if self.junit is not None:
            with replacing(self.junit, ours=JUNIT_BEGINS, overwrite=self.overwrite) as stream:
                stream.write(to_junit(*_reported(sentence, gated, changes)))
        if self.markdown is None:
            return
        comment = to_markdown(*_reported(sentence, gated, changes))
        if self._file is not None:
            ours, overwrite = MARKDOWN_BEGINS, self.overwrite
            with replacing(self._file, ours=ours, overwrite=overwrite) as stream:
                stream.write(comment.encode())
        elif self._is_step_summary:
            try:
                with Path(self.markdown).open("a", encoding="utf-8") as summary:
                    summary.write(f"{comment}\n")
            except OSError as error:
                msg = f"--markdown {self.markdown} cannot be written: {error.strerror or error}"
                raise InvalidValueError(msg) from error
        else:
            sys.stdout.write(printing.encodable(comment, sys.stdout))
            sys.stdout.flush()  # before what is said of failed gates

    def conclude(self, gated: Gated) -> None:
        """Say which gates failed and on which samples, as a reader and as GitHub have it.

        Raises:
            typer.Exit: One failed.
        """
        printing.show(gated.parts(), file=sys.stderr)
        if asked_for(self.annotations, os.environ):
            for line in to_annotations(*_reported("", gated)):
                # Past `printing`, which lets no line be a command.
                sys.stderr.write(f"{line}\n")
        if gated.failed:
            raise typer.Exit(GATE_FAILED)


_FIGURES: Final = {SCORE: "mean", PASS_RATE: "pass_rate", COVERAGE: COVERAGE}


def _reported(
    sentence: str, gated: Gated, changes: Changes | None = None
) -> tuple[Report, ScoreTable]:
    """What was graded as a report and the table that it is of."""
    graded = [each for each in gated.graded if not each.is_part]
    cases = [[*each.cases] for each in graded]
    table = ScoreTable(
        tuple(case.sample for case in cases[0]),
        tuple(each.name for each in graded),
        np.array([[np.nan if c.score is None else c.score for c in of] for of in cases]).T,
        thresholds={each.name: each.threshold or 0.0 for each in graded},
        reasons={
            (case.sample, each.name): case.why
            for each, of in zip(graded, cases, strict=True)
            for case in of
            if case.score is None
        },
        results={each.name: of for each, of in zip(graded, cases, strict=True)},  # type: ignore[misc]  # they have claims
    )
    records = [
        {**gate.to_dict(), "figure": _FIGURES.get(gate.figure, "failures"), "value": gate.reached}
        | {"passed": not gate.failed}
        for gate in gated.gates
    ]
    found = evaluation(table)
    tables = [*found.tables]
    if gated.gates:
        tables.append(Table("gates", [Column("text")], records))
    if changes is not None:
        rows = [
            {"method": changes.now.name, "sample": n.sample, "before": b.score, "now": n.score}
            for b, n in changes.broken
        ]
        tables.append(Table("no longer pass", [Column("sample")], rows))
    return Report(sentence, tables), table


def hands_over(*figures: str) -> Callable[[options.Command], options.Command]:
    """Gives a command the options of gates and of this module, which it gets as ``gates``, ``handed``.

    Args:
        figures: The gates that it has: ``min_score``, ``min_pass_rate``, ``min_coverage``.
    """
    kinds = {**{name: _GATES[name] for name in figures}, "confidence": _Confidence, **_FILES}

    def decorate(command: options.Command) -> options.Command:
        @wraps(command)
        def run(*arguments: Any, **given: Any) -> None:
            asked = {name: given.pop(name) for name in (*figures, "confidence")}
            files = {name: given.pop(name) for name in _FILES}
            handed = Handed(**files, overwrite=given["overwrite"])
            command(*arguments, gates=Gates.of(**asked), handed=handed, **given)

        more = options.plain_options({name: (kind, None) for name, kind in kinds.items()})
        return options.with_options(run, command, more, without={"gates", "handed"})

    return decorate

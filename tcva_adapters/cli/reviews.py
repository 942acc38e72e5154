"""Output for reviewers and CI servers: a comment, JUnit, annotations, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import typer

from tcva_adapters.cli.output import GATE_FAILED, JUDGEMENTS_FAILED, Targets, write_text
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import note
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.report.annotations import to_annotations
from tcva_adapters.report.evaluating import incomplete
from tcva_adapters.report.failing_samples import gate_lines
from tcva_adapters.report.gates import exit_code, gate_records, records_of
from tcva_adapters.report.junit import JUNIT_BEGINNING, to_junit
from tcva_adapters.report.markdown import MARKDOWN_BEGINNING, to_markdown
from tcva_adapters.report.served import SUPPORTED_BEGINNING, supported_lines
from tcva_adapters.results.judgement import FAILURES
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Report

NOTHING = 2
"""The exit code of a run in which nothing could be judged."""


@dataclass(frozen=True, slots=True)
class Reviews:
    """The outputs for reviewers that a command was asked for.

    Attributes:
        junit: The file for the XML; None writes none.
        markdown: The file for the comment; None writes none.
        overwrite: Replace other files, too.
        supported: The file for answers without their unsupported claims.
    """

    junit: str | None
    markdown: str | None
    overwrite: bool
    supported: str | None = None

    @property
    def targets(self) -> Targets:
        """The files, for `check_targets`."""
        return {
            "--junit": (self.junit, JUNIT_BEGINNING),
            "--markdown": (self.markdown, MARKDOWN_BEGINNING),
            "--supported": (self.supported, SUPPORTED_BEGINNING),
        }

    @property
    def written(self) -> Mapping[str | None, str]:
        """The files, for `say_written`."""
        return {
            self.junit: "JUnit: a test for each sample",
            self.markdown: "Markdown: for a pull request",
            self.supported: "answers without unsupported claims, with the cuts",
        }

    def write(
        self, report: Report, table: ScoreTable, samples: Iterable[Sample] = ()
    ) -> None:
        """Write the files, the one of answers from the samples that were judged.

        Raises:
            InvalidValueError: One cannot be written.
        """
        if self.supported:
            write_text(
                self.supported,
                supported_lines(table, samples),
                SUPPORTED_BEGINNING,
                overwrite=self.overwrite,
            )
        if self.junit:
            write_text(
                self.junit,
                to_junit(report, table),
                JUNIT_BEGINNING,
                overwrite=self.overwrite,
            )
        if self.markdown:
            write_text(
                self.markdown,
                to_markdown(report, table),
                MARKDOWN_BEGINNING,
                overwrite=self.overwrite,
            )

    def conclude(self, report: Report, table: ScoreTable) -> None:
        """Print the gates and their worst samples, annotate on GitHub, and exit if a gate failed.

        Raises:
            InvalidSampleError: Nothing could be judged.
            typer.Exit: A gate failed, or judgements failed and there is no gate.
        """
        if table.run and table.run.fatal:
            raise InvalidSampleError(table.run.fatal)
        for line in gate_lines(report, table):
            note(line)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            # `note` would write out the marks that make a line a command.
            sys.stderr.writelines(f"{line}\n" for line in to_annotations(report, table))
        gates = gate_records(report)
        code = exit_code(table, gates)
        if code == NOTHING:
            raise InvalidSampleError(
                "no sample has a score; the table 'unscored' gives the reasons"
            )
        if code:
            raise typer.Exit(GATE_FAILED)
        reasons = {record["reason"] for record in records_of(report, "unscored")}
        has_failed = not FAILURES.isdisjoint(reasons) or any(
            incomplete(table, method) for method in table.methods
        )
        if has_failed and not gates:
            raise typer.Exit(JUDGEMENTS_FAILED)

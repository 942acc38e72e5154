"""Failed gates as annotations of GitHub Actions: lines that its runner takes for commands."""

from __future__ import annotations

from collections.abc import Mapping

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import visible
from tcva_adapters.report.failing_samples import worst
from tcva_adapters.report.gates import gate_records
from tcva_adapters.tables import Report

MAX_ANNOTATIONS = 10
"""Annotations of one kind that GitHub shows for a step."""

_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def to_annotations(report: Report, table: ScoreTable) -> list[str]:
    """Return a line per failed gate and per sample behind it, at most ten lines in all.

    Args:
        report: The report of `evaluation`.
        table: The table that it is about; with results, claims are named.

    Returns:
        Lines for standard output or standard error; none if no gate failed.
    """
    failed = [record["text"] for record in gate_records(report) if not record["passed"]]
    lines = [_error("TCVA gate failed", text) for text in failed][:MAX_ANNOTATIONS]
    if failed:
        samples, _ = worst(report, table, MAX_ANNOTATIONS - len(lines))
        for sample in samples:
            lines.append(
                _error(
                    f"TCVA {sample.method}: {sample.name}",
                    "\n".join([sample.verdict, *sample.claim_lines()]),
                )
            )
    return lines


def _error(title: str, message: str) -> str:
    return f"::error title={_escaped(title, _IN_PROPERTY)}::{_escaped(message, _IN_MESSAGE)}"


def _escaped(text: str, codes: Mapping[int, str]) -> str:
    return visible(text).translate(codes)

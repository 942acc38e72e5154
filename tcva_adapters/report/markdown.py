"""A comment for a pull request: what came out, what newly fails, the samples folded away.

Texts of samples, judges and files stand in code spans, where GitHub and GitLab see no link, mention,
picture or tag. All other text comes from this package.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import visible
from tcva_adapters.inert_markdown import markdown_code, markdown_text
from tcva_adapters.report.baseline import REGRESSIONS, change_of_mean
from tcva_adapters.report.failing_samples import (
    MAX_FAILING,
    SampleScore,
    worst,
)
from tcva_adapters.report.gates import (
    FAILED_SAMPLES,
    gate_records,
    records_of,
)
from tcva_adapters.report.served import level_or_removed
from tcva_adapters.results.result import Result
from tcva_adapters.tables import (
    Record,
    Records,
    Report,
    cell,
    shortened,
)

LONGEST = 65_536
"""The most characters that a comment on GitHub may have."""

MARKDOWN_BEGINNING = re.compile(rb"\*\*(Gates passed|Gates failed|TCVA)\*\*")
"""The pattern that these comments begin with."""

_TEXT = 300
_NAME = 80
_CLAIMS = 8
_LISTED = 20
_ROOM = 300  # for the sentence that says what was left out


def to_markdown(
    report: Report,
    table: ScoreTable,
    most: int = MAX_FAILING,
) -> str:
    r"""Write a comment of at most 65 536 characters; its end says what was cut.

    Args:
        report: The report of `evaluation`.
        table: The table that it is about; with results, claims are named.
        most: The most samples that are shown with their claims: those that newly fail since a baseline
            first, then those behind failed gates, or else the lowest scores.

    >>> from tcva_adapters import Assessment
    >>> from tcva_adapters.compare import read_scores
    >>> from tcva_adapters.report import Gates, evaluation
    >>> table = read_scores([Assessment.from_verdicts(["none"])])
    >>> report = evaluation(table, Gates.of("mean>=0.8"))
    >>> print(to_markdown(report, table).partition("\n\n")[2].partition("\n\n<details>")[0])
    - failed: `faithfulness: mean 0.000 < 0.8`
    <BLANKLINE>
    | method | scored | mean | pass rate | gates |
    |---|--:|--:|--:|---|
    | `faithfulness` | 1/1 | 0.000 | 0 % | **mean below 0.8** |
    <BLANKLINE>
    1 of 1 samples shown:
    """
    records = gate_records(report)
    failed = [record for record in records if not record["passed"]]
    title = "TCVA"
    if records:
        title = "Gates failed" if failed else "Gates passed"
    text = f"**{title}**: {markdown_text(report.sentence)}\n"
    blocks = [f"- failed: {_code(record['text'], _TEXT)}" for record in failed]
    blocks += ["", *_methods(report, records), ""]
    blocks += [
        f"{markdown_text(note)}\n"
        for note in report.notes
        if note.startswith(("Guarantee of", "The guarantee"))
    ]
    blocks += [
        f"The mean of {_code(change['method'])} {markdown_text(change_of_mean(change))} "
        f"Newly fail: {change['newly_fail']}, newly pass: {change['newly_pass']}.\n"
        for change in records_of(report, "changes")
    ]
    shown, behind = worst(report, table, most)
    if not shown and table.methods:
        method = table.methods[0]
        order = np.argsort(table.column(method), kind="stable")
        shown = [SampleScore(table, method, place) for place in order[:most].tolist()]
        behind = len(table)
    blocks += _lists(report)
    samples = ["\n".join(_sample(sample)) for sample in shown]
    if samples:
        samples[0] = f"{len(shown)} of {behind} samples shown:\n\n{samples[0]}"
    blocks += samples

    for number, block in enumerate(blocks):
        if len(text) + len(block) > LONGEST - _ROOM:
            cut = f"{len(blocks) - number} of {len(blocks)} parts are left out"
            return f"{text}\n\nCut here: {cut}.\n"
        text = f"{text}\n{block}"
    return text


def _methods(report: Report, records: Records) -> Iterator[str]:
    yield "| method | scored | mean | pass rate | gates |"
    yield "|---|--:|--:|--:|---|"
    for row in records_of(report, "methods"):
        gates = [record for record in records if record["method"] == row["method"]]
        missed = [f"**{_missed(gate)}**" for gate in gates if not gate["passed"]]
        outcome = ", ".join(missed) or ("passed" if gates else "")
        yield (
            f"| {_code(row['method'], in_table=True)} | {row['scored']}/{row['samples']} | "
            f"{cell(row['mean'], 'score')} | {cell(row['pass_rate'], 'share')} | {outcome} |"
        )


def _missed(record: Record) -> str:
    figure = record["figure"].replace("_", " ")
    if figure == FAILED_SAMPLES:
        return "samples failed"
    if record["reached"] is None:
        return f"no {figure}"
    return f"{figure} below {record['least']:g}"


def _lists(report: Report) -> Iterator[str]:
    for title in (REGRESSIONS, "newly pass"):
        records = records_of(report, title)
        lines = [
            f"- {_code(record['sample'])}: {cell(record['before'], 'score')} before, "
            f"{cell(record['now'], 'score')} now"
            for record in records[:_LISTED]
        ]
        if len(records) > _LISTED:
            lines.append(f"- and {len(records) - _LISTED} more samples")
        if lines:
            yield "\n".join(_folded(f"{title.capitalize()}: {len(records)}", lines))


def _sample(sample: SampleScore) -> list[str]:
    # The reason for no score stands below.
    score = html.escape(sample.verdict.partition(": ")[0])
    title = f"{_html(sample.name)}: {score} ({_html(sample.method)})"
    return _folded(title, _claims(sample))


def _claims(sample: SampleScore) -> Iterator[str]:
    result = sample.result
    claims = sample.claims
    for claim in claims[:_CLAIMS]:
        level = claim.level_text()
        if isinstance(result, Result):
            level = level_or_removed(result, claim)
        yield f"- **{level}**: {_code(claim.claim, _TEXT)}"
        if claim.reason:
            yield f"  - why: {_code(claim.reason, _TEXT)}"
        if claim.evidence:
            where = f" (context {claim.context})" if claim.context else ""
            yield f"  - evidence{where}: {_code(claim.evidence, _TEXT)}"
    if len(claims) > _CLAIMS:
        yield f"- and {len(claims) - _CLAIMS} more claims"
    if why := sample.table.reasons.get((sample.name, sample.method)):
        yield f"- {_code(why, _TEXT)}"


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    """Fold lines away behind a title; the empty lines end the HTML around them."""
    return [
        "<details>",
        f"<summary>{title}</summary>",
        "",
        *lines,
        "",
        "</details>",
        "",
    ]


def _code(
    text: str,
    most: int = _NAME,
    *,
    in_table: bool = False,
) -> str:
    return markdown_code(shortened(visible(text), most), in_table=in_table)


def _html(text: str) -> str:
    """Write a text as code inside HTML, where Markdown is not read."""
    return f"<code>{html.escape(shortened(visible(text), _NAME)) or '(empty)'}</code>"

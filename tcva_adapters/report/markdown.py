"""A comment for a pull request: what came out, the table, the worst samples folded away.

Texts of samples, judges and files stand in code spans, where GitHub and GitLab take nothing for a
link, a mention, a picture or a tag. The rest is ours.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final

from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.gates import JUDGED, MOST, Gate, Gated, clipped, verdict_of
from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.printing import Report, Table, figure, share, visible

LONGEST: Final = 65_536
"""Characters that a comment on GitHub may have."""

BEGINS: Final = re.compile(rb"\*\*(Gates passed|Gates failed|TCVA)\*\*")
"""How these comments begin."""

_RUN: Final = re.compile("`+")
# Marks that mean something, and what GitHub links wherever it stands outside of code.
_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~$&])")
_LINKED: Final = re.compile(r"[@#]|://|www\.|gh-\d|\b[0-9a-f]{7,}\b|:[\w+-]+:|\[\[", re.IGNORECASE)
_BARS: Final = re.compile(r"\\*\|")
_TEXT: Final = 300
_NAME: Final = 80
_CLAIMS: Final = 8
_LISTED: Final = 20
_ROOM: Final = 300  # for the sentence that says what was left out


def code(text: str, most: int = _NAME, *, cell: bool = False) -> str:
    r"""Any text as a code span in one line.

    Args:
        text: The text.
        most: Characters, after which it is cut.
        cell: In a table, where a bar needs a backslash even in code.

    >>> print(code("a ``b`` @you"), code("a|b", cell=True), code(" "))
    ```a ``b`` @you``` `a\|b` (empty)
    """
    line = clipped(visible(text), most).replace("\N{ZERO WIDTH SPACE}", " ").strip()
    if not line:
        return "(empty)"
    longest = max((len(run) for run in _RUN.findall(line)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if line[0] == "`" or line[-1] == "`" else ""
    if cell:
        # A backslash in front of a bar would take the bar's own away.
        line = _BARS.sub(r"\\|", line)
    return f"{fence}{gap}{line}{gap}{fence}"


def prose(text: str) -> str:
    r"""A sentence of ours that may hold names of others: as it reads, or else as code.

    >>> print(prose("mean 0.5 (a_b)"), prose("by @you"))
    mean 0.5 (a\_b) `by @you`
    """
    line = clipped(visible(text), 1000)
    return code(line, 1000) if _LINKED.search(line) else _MARKS.sub(r"\\\1", line)


def to_markdown(
    sentence: str, gated: Gated, *, changes: Changes | None = None, most: int = MOST
) -> str:
    r"""A comment of at most 65 536 characters; what was cut is said at its end.

    Args:
        sentence: What came out.
        gated: The methods and their gates.
        changes: Since an earlier run.
        most: Samples that are shown with their claims.

    >>> from tcva_adapters import Assessment, Result
    >>> from tcva_adapters.compare.gates import Gates
    >>> from tcva_adapters.compare.graded import grade
    >>> found = [grade("faithfulness", [Result(Assessment.from_verdicts(["none"]))], threshold=0.5)]
    >>> print(to_markdown("0 of 1 samples pass", Gates.of(0.8).judge(found)).partition("\n\n<details>")[0])
    **Gates failed**: 0 of 1 samples pass
    <BLANKLINE>
    - failed: `faithfulness: mean score 0.000 < 0.8`
    <BLANKLINE>
    | method | scored | mean | pass rate | gates |
    |---|--:|--:|--:|---|
    | `faithfulness` | 1/1 | 0.000 | 0% | **mean score below 0.8** |
    <BLANKLINE>
    """
    head = [f"{_verdict(gated)}: {prose(sentence)}", ""]
    failed = gated.failed
    head += [f"- failed: {code(gate.text, _TEXT)}" for gate in failed[:_LISTED]]
    head += [*_more(len(failed), "failed gates"), ""] if failed else []
    head += [*_table(gated), ""]
    blocks = [*_changed(changes), *_samples(gated, most)]
    text, left = "\n".join(head), LONGEST - _ROOM
    shown = 0
    for block in blocks:
        if len(text) + len(block) > left:
            break
        text, shown = f"{text}\n{block}", shown + 1
    if shown < len(blocks):
        text += f"\nCut here: {len(blocks) - shown} of {len(blocks)} folded parts did not fit.\n"
    return text


def tables_markdown(report: Report) -> str:
    r"""Everything that a report prints, as Markdown: its sentence, and each part below the other.

    Args:
        report: Of a command, e.g. ``tcva errors``.

    >>> from tcva_adapters.compare import sweep
    >>> print(tables_markdown(sweep([[1, 0, 0, 0, 0]], [0.5])), end="")
    **TCVA**: The mean score is 1.000 at T=0.5, over 1 of 1 samples
    <BLANKLINE>
    level counts: mean score over 1 of 1 assessments; penalty paper
    <BLANKLINE>
    | T | default |
    |--:|--:|
    | 0.5 | 1.000 |
    """
    lines = [f"**TCVA**: {prose(report.sentence)}", ""]
    for part in report.parts():
        if isinstance(part, Table):
            lines += [*_cells(part), ""]
            continue
        text = part if isinstance(part, str) else part.text
        said = [prose(line.strip()) for line in text.split("\n") if line.strip()]
        lines += ["  \n".join(said), ""] if said else []
    return "\n".join(lines)


def _cells(table: Table) -> Iterator[str]:
    """A table; names and sentences of others stand in code spans."""
    marks = {"r": "--:", "p": "---", "l": "---"}
    kinds = [table.kind(place) for place in range(len(table.header))]
    yield f"| {' | '.join(prose(name.replace(chr(10), ' ')) for name in table.header)} |"
    yield f"|{'|'.join(marks[kind] for kind in kinds)}|"
    for row in table.rows:
        shown = [
            prose(cell) if kind == "r" else code(cell, _TEXT, cell=True) if cell else ""
            for cell, kind in zip(row, kinds, strict=True)
        ]
        yield f"| {' | '.join(shown)} |"


def _verdict(gated: Gated) -> str:
    if not gated.gates:
        return "**TCVA**"
    return "**Gates failed**" if gated.failed else "**Gates passed**"


def _table(gated: Gated) -> Iterator[str]:
    yield "| method | scored | mean | pass rate | gates |"
    yield "|---|--:|--:|--:|---|"
    for method in gated.graded[:_LISTED]:
        gates = [gate for gate in gated.gates if gate.method == method.name]
        said = [f"**{_missed(g)}**" for g in gates if g.failed] or (["passed"] if gates else [])
        yield (
            f"| {code(method.name, cell=True)} | {len(method.scored)}/{len(method.cases)} | "
            f"{figure(method.mean)} | {share(method.pass_rate)} | {', '.join(said)} |"
        )
    yield from ("", *_more(len(gated.graded), "methods"))


def _missed(gate: Gate) -> str:
    if gate.figure == JUDGED:
        return "samples lost"
    return f"no {gate.figure}" if gate.reached is None else f"{gate.figure} below {gate.least:g}"


def _more(number: int, what: str) -> list[str]:
    return [f"- and {number - _LISTED} more {what}"] if number > _LISTED else []


def _changed(changes: Changes | None) -> Iterator[str]:
    if changes is None:
        return
    lines = [f"Since the baseline: {prose(changes.sentence)}", ""]
    for pairs, what in ((changes.broken, "No longer pass"), (changes.repaired, "Pass now")):
        if pairs:
            rows = [
                f"- {code(now.sample)}: {figure(before.score)} before, {figure(now.score)} now"
                for before, now in pairs[:_LISTED]
            ]
            rows += _more(len(pairs), "samples")
            lines += _folded(f"{what}: {len(pairs)}", rows)
    yield "\n".join(lines)


def _samples(gated: Gated, most: int) -> Iterator[str]:
    """The samples behind failed gates; where none failed, the lowest scores of the first method."""
    worst = gated.worst(most)
    if not worst and gated.graded:
        first = gated.graded[0]
        worst = [(first, case) for case in [*first.scored, *first.unscored][:most]]
    for method, case in worst:
        title = f"{_html(case.sample)}: {html.escape(_score(method, case))} ({_html(method.name)})"
        yield "\n".join(_folded(title, _claims(case)))


def _score(method: Graded, case: Case) -> str:
    return "no score" if case.score is None else verdict_of(case, method)


def _claims(case: Case) -> Iterator[str]:
    # Those that fully hold say least: last.
    below = case.worst_claims
    rest = [claim for claim in case.claims if claim not in below]
    for claim in [*below, *rest][:_CLAIMS]:
        level = "no claim" if claim.verdict is None else claim.level_text(case.scheme)
        yield f"- **{level}**: {code(claim.claim, _TEXT)}"
        if claim.reason:
            yield f"  - why: {code(claim.reason, _TEXT)}"
        if claim.evidence:
            where = f" (passage {claim.passage})" if claim.passage else ""
            yield f"  - evidence{where}: {code(claim.evidence, _TEXT)}"
    if len(case.claims) > _CLAIMS:
        yield f"- and {len(case.claims) - _CLAIMS} more claims"
    if case.why:
        yield f"- {code(case.why, _TEXT)}"


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    """Lines behind a title; the empty lines end the HTML around them."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _html(text: str) -> str:
    """A text as code inside HTML, where Markdown is not read."""
    return f"<code>{html.escape(clipped(visible(text), _NAME)) or '(empty)'}</code>"

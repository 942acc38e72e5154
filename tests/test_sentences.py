"""What the pages say was measured names the command that prints it, or is printed on the page.

A figure is a number with decimals, a percentage, a time, a size, a count from 100 up, "27 of 681", "50 times".
It is accounted for where

- its paragraph, list item or table row names a command of the developers, `tcva reproduce`, `tcva demo`, a test, or
  a table or an equation of a paper. Other commands are there to be used, and print figures of the reader's data. For
  tables, lists and output that is not executed the paragraph right before or after may name it;
- a block that is executed, or a table or output that is accounted for, has it on the same page, digit for digit;
- it is no measurement: by its form (`SETTINGS`), or by name (`GIVEN`).

Not seen: small counts and numbers in words ("in one of five cases"), figures in code, headings and pictures, and
whether the command that is named still prints the figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from tcva_adapters.cli.app import COMMANDS
from tests.test_docs import FENCE, PAGES, ROOT

COUNT: Final = r"\d{1,3}(?:[ ,]\d{3})+|\d+"
UNIT: Final = r"(?:%|[mu]?s|seconds?|minutes|hours|[kMG]B|bytes|tokens|times)(?!\w)"
FIGURE: Final = re.compile(
    rf"(?<![\w.,/^-])[-+]?(?:(?:{COUNT})(?:\.\d+)?\s?{UNIT}|(?:{COUNT}) of (?:the )?(?:{COUNT})"
    r"|\d*\.\d+|\d{1,3}(?:[ ,]\d{3})+|\d{3,})(?![\w/]|[.,]\d)"
)
PACKAGES: Final = re.findall(
    r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE
)
SETTINGS: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"`[^`]*`",  # code
        r"!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)",  # pictures, and what links lead to
        r"\d+(?:\.\d+){2,}",  # versions
        rf"\b(?:Python|GPT|BY|arXiv|library|{'|'.join(PACKAGES)})[ -][\d.]+\d(?:(?:,| or|, or| and) \d\.\d+)*",
        r"\bT ?= ?[\d.]*\d|\b0\.4556\b",  # temperatures, and that at which the exponent is 0
        r"(?<![\d.,])[01]?\.\d(?!\d)(?!\s?%)",  # thresholds, weights, margins: one decimal, from 0 up
        r"(?<![\d.])(?:95 ?%|5 ?%|0?\.05(?!\d))",  # levels
        rf"(?:{COUNT})(?: \w+)? by default",
        r"\b0 to 100\b",  # the scale of CCRS
        r"\b[A-Z][A-Za-z]+ \(?(?:19|20)\d\d(?=[).,;]| \|)",  # years of papers
    )
)
COMMAND: Final = re.compile(
    r"(?<![\w.])(?:python -m (?P<module>(?:benchmarks|tests)\.[\w.]+)|make (?P<target>[a-z][\w-]*)"
    r"|tcva (?:reproduce|demo)\b|(?P<file>tests/[a-z0-9_/]+\.py))"
)
# What a paper says, and what `make bench` writes into a page.
SOURCE: Final = re.compile(r"\b[Tt]ables? \d|\beqs?\. \d|<!-- bench: \w+ -->")

PROSE: Final = {"paragraph", "list", "table"}
# What is no measurement, though it looks like one: limits, resamples and examples.
GIVEN: Final[dict[str, tuple[str, ...]]] = {
    "CHANGELOG.md": ("300 seconds", "16 MB", "2.10", "3.3", "10 000"),
    "architecture.md": ("4096",),
    "batches.md": ("50 000", "200 MB"),
    "calibrate.md": ("2000",),
    "ci.md": ("65 536",),
    "compare.md": ("128 000 tokens",),
    "contract.md": ("401", "429"),
    "judging.md": ("4096", "10 000", "16 MB"),
    "plots.md": ("3.3",),
    "privacy.md": ("600",),
    "ragas.md": ("60 seconds", "1024 tokens"),
    "repeats.md": ("0.01",),
    "report.md": ("10,000", "16 MB"),
    "scale.md": ("10 000", "2 seconds", "40 minutes"),
    "statistics.md": ("10,000", "100", "15 %"),
    "sure.md": ("55 %", "45 %", "99 %", "20 000", "10 000", "2.5 %", ".25"),
    "systems.md": ("10,000 times",),
}


@dataclass(frozen=True)
class Block:
    """A paragraph, a list item, a row of a table, or a fence; pieces of one list or table share `group`."""

    kind: str
    text: str
    line: int
    group: int

    def is_sourced(self) -> bool:
        """Whether it names a command, a test or a paper's table."""
        return bool(COMMAND.search(self.code()) or SOURCE.search(self.text))

    def code(self) -> str:
        """What stands in it as code, in a line."""
        code = self.text if self.kind == "sh" else " ".join(re.findall(r"`[^`]*`", self.text))
        return " ".join(code.split())

    def figures(self) -> list[str]:
        """The numbers in it that may have been measured."""
        text = self.text
        for setting in SETTINGS:
            text = setting.sub(" ", text)
        return [" ".join(figure.split()) for figure in FIGURE.findall(text)]


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page in order."""
    line, group, last = 1, 0, 0
    for fence in [*FENCE.finditer(page), None]:
        for part in re.split(r"(?<=\n)(\s*\n)", page[last : fence.start() if fence else None]):
            kind = {"|": "table", "#": "heading", "<": "mark"}.get(part[:1], "paragraph")
            if re.match(r"(?:[-*]|\d+\.) ", part):
                kind = "list"
            cut = {"table": r"(?<=\n)", "list": r"(?<=\n)(?=(?:[-*]|\d+\.) )"}.get(kind)
            for piece in re.split(cut, part) if cut else [part]:
                if piece.strip():
                    yield Block(kind, piece, line, group)
                line += piece.count("\n")
            group += 1
        if fence:
            yield Block(fence["kind"], fence["body"], line, group)
            line, group, last = line + fence[0].count("\n"), group + 1, fence.end()


def unaccounted(name: str, page: str) -> list[str]:
    """The figures of a page that nothing accounts for, each with its line."""
    every = list(blocks(page))
    runs = {"python", "console", *(["text"] if name == "README.md" else [])}
    seen, open_ones = [block.text for block in every if block.kind in runs], []
    for block in every:
        if block.kind not in (PROSE | {"text"}) - runs:
            continue
        beside = [block]
        if block.kind != "paragraph":
            beside += [each for each in every if each.group < block.group][-1:]
            beside += [each for each in every if each.group > block.group][:1]
        if not any(each.is_sourced() for each in beside):
            open_ones.append(block)
        elif block.kind != "paragraph":
            seen.append(block.text)
    shown = re.sub(r"(?<=\d)[ ,](?=\d{3}\b)", "", " ".join(seen))
    found = []
    for block in open_ones:
        for figure in block.figures():
            plain = re.sub(r"(?<=\d)[ ,](?=\d{3}\b)", "", figure.lstrip("+-").lstrip("0"))
            pattern = re.escape(plain).replace(r"\ ", r"\s?")
            if figure not in GIVEN.get(name, ()) and not re.search(
                rf"(?<![\d.])0?{pattern}(?!\d)", shown
            ):
                found.append(f"{name}:{block.line}: {figure}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_name_what_prints_them(page: Path) -> None:
    assert unaccounted(page.name, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_named_is_there(page: Path) -> None:
    targets = re.findall(
        r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    prose = [each for each in blocks(page.read_text(encoding="utf-8")) if each.kind in PROSE]
    code = "\n".join(block.code() for block in prose)
    assert set(re.findall(r"\btcva ([a-z]+)", code)) <= set(COMMANDS)
    for named in COMMAND.finditer(code):
        if named["module"]:
            assert find_spec(named["module"].rstrip(".")), named[0]
        elif named["target"]:
            assert named["target"] in targets or named["target"].startswith("test-"), named[0]
        elif named["file"]:
            assert (ROOT / named["file"]).exists(), named[0]


def test_no_given_figure_is_left_over() -> None:
    for name, figures in GIVEN.items():
        [page] = [page for page in PAGES if page.name == name]
        there = {
            figure
            for block in blocks(page.read_text(encoding="utf-8"))
            for figure in block.figures()
        }
        assert set(figures) <= there, name


PAGE: Final = """\
# A page

The judge agrees in 28 % of cases (`python -m benchmarks.lexical`).

```python
>>> 0.25 + 0.5
0.75

```

The sum is 0.75, at T = 0.5 and a level of 95 %.

| set | rho |
|---|---|
| one | .613 |

That took `make bench` a while.
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("28 %", "28 %", []),
        ("`python -m benchmarks.lexical`", "by a command", ["page.md:3: 28 %"]),
        ("The sum is 0.75", "The sum is 0.76", ["page.md:11: 0.76"]),
        ("`make bench`", "the machine", ["page.md:15: .613"]),
        (
            "`make bench` a while",
            "6 s, and 50 times",
            ["page.md:15: .613", "page.md:17: 6 s", "page.md:17: 50 times"],
        ),
        ("That took", "## Time\n\n613 samples took", ["page.md:15: .613"]),
        ("The judge", "By Table 7 of the paper, .123. It", []),
    ],
)
def test_a_figure_from_nowhere_is_found(old: str, new: str, found: list[str]) -> None:
    assert unaccounted("page.md", PAGE.replace(old, new)) == found

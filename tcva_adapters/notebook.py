"""Small HTML forms for notebooks: static, with all text escaped; nothing in them runs or is loaded."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

# Colours that differ in lightness, too; the word stands beside them in any case.
_COLOURS: Final = {
    "fully": "#1b7837",
    "mostly": "#5aae61",
    "partial": "#e0b000",
    "minor": "#d6604d",
    "none": "#8e0152",
}
_CELL: Final = "padding: 0.15em 0.6em; vertical-align: top; text-align: "


def page(sentence: str, rest: Sequence[str]) -> str:
    """A sentence, and below it what `paragraph` and `table` made."""
    head = f"<p><strong>{_escaped(sentence)}</strong></p>"
    return f'<div style="overflow-x: auto">{head}{"".join(rest)}</div>'


def paragraph(text: str) -> str:
    """A text of anybody's.

    >>> paragraph("<b>&")
    '<p>&lt;b&gt;&amp;</p>'
    """
    return f"<p>{_escaped(text)}</p>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], kinds: Sequence[str]) -> str:
    """Cells in columns; one that is a level's word has its colour, too.

    Args:
        header: Headings; empty for none.
        rows: Cells.
        kinds: By column, ``r`` for figures.
    """
    styles = [f"{_CELL}{'right' if kind == 'r' else 'left'}" for kind in kinds]
    names = zip(header, styles, strict=False)
    head = "".join(f'<th style="{style}">{_escaped(name)}</th>' for name, style in names)
    lines = ["".join(map(_cell, row, styles)) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: str, style: str) -> str:
    colour = _COLOURS.get(cell)
    mark = "" if colour is None else f"; border-left: 0.5em solid {colour}"
    return f'<td style="{style}{mark}">{_escaped(cell)}</td>'


def _escaped(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")

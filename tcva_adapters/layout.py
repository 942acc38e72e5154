"""How text and tables fit the columns of a console; widths are those of a terminal's cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = 2
"""Blanks between two columns."""

_LEAST_PROSE: Final = 20
"""Columns that a column of sentences takes at least, where it has so much to say."""


def cells(text: str) -> int:
    r"""The columns that a line takes in a terminal.

    >>> cells("abc"), cells("\u65e5\u672c")
    (3, 4)
    """
    from rich.cells import cell_len  # noqa: PLC0415  # not before something is shown

    return cell_len(text)


def wrapped(text: str, width: int, indent: int = 0) -> Iterator[str]:
    """A line as lines of at most this width, cut at blanks.

    A longer word stays whole where a reader copies it (a path, a name); scripts that are written
    without blanks are cut anywhere.

    Args:
        text: One line; blanks at its beginning stay.
        width: Columns.
        indent: Blanks before the lines that follow the first.

    >>> list(wrapped("one two three", 8, indent=2))
    ['one two', '  three']
    """
    if cells(text) <= width:
        yield text
        return
    line = text[: len(text) - len(text.lstrip(" "))]
    following = line + " " * indent
    is_empty = True
    for word in text.split():
        for piece in _pieces(word, max(1, width - cells(following))):
            joined = f"{line}{'' if is_empty else ' '}{piece}"
            if not is_empty and cells(joined) > width:
                yield line
                joined = f"{following}{piece}"
            line, is_empty = joined, False
    yield line


def _pieces(word: str, room: int) -> list[str]:
    from rich.cells import cell_len, chop_cells  # noqa: PLC0415  # see above

    is_wide = cell_len(word) > len(word)
    return chop_cells(word, room) if is_wide and cell_len(word) > room else [word]


@dataclass(frozen=True, slots=True)
class Column:
    """What a column of a table needs.

    Attributes:
        natural: Its width where nothing is folded.
        least: The width that it can be folded to.
    """

    natural: int
    least: int

    @classmethod
    def of(cls, texts: Sequence[str], *, is_prose: bool, most: int = 0) -> Column:
        """The column of a heading and its cells.

        Args:
            texts: All of them; each may have several lines.
            is_prose: Whether its cells may be folded at blanks.
            most: The width at which cells are folded anyway; 0 for none.
        """
        natural = max((cells(line) for text in texts for line in text.split("\n")), default=0)
        natural = min(natural, most or natural)
        return cls(natural, min(natural, _LEAST_PROSE) if is_prose else natural)


def blocks(
    columns: Sequence[Column], width: int, spare: Sequence[int] = (), keys: int = 1
) -> list[list[int]]:
    """The columns that stand beside each other: one block, or several that begin with the same.

    Args:
        columns: Of the table.
        width: Columns of the console.
        spare: Columns that may be left out, the first of them first.
        keys: Leading columns that every block begins with.

    >>> blocks([Column(6, 6), Column(5, 5), Column(5, 5)], 14)
    [[0, 1], [0, 2]]
    >>> blocks([Column(6, 6), Column(5, 5), Column(5, 5)], 14, spare=[1])
    [[0, 2]]
    """
    shown = list(range(len(columns)))
    for place in spare:
        if needed([columns[i] for i in shown]) <= width:
            break
        shown.remove(place)
    if needed([columns[i] for i in shown]) <= width:
        return [shown]
    found: list[list[int]] = []
    for place in shown[keys:]:
        if found and needed([columns[i] for i in (*found[-1], place)]) <= width:
            found[-1].append(place)
        else:
            found.append([*shown[:keys], place])
    return found or [shown]


def needed(columns: Sequence[Column]) -> int:
    """The columns of a console that these need beside each other."""
    return sum(column.least for column in columns) + GAP * (len(columns) - 1)

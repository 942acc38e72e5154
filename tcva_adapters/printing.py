"""Text and tables of reports: one place that needs rich, which is imported when something is shown.

A report is a sequence of parts: lines as they are, `Wrapped` text, and `Table`. `show` prints them,
`text_of` makes a text of them, and a class that derives from `Report` has both and its form in a
notebook. What a terminal would obey (`visible`) and rich's own markup are shown as they are.
"""

from __future__ import annotations

import html
import io
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TextIO

from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
    from rich.console import Console
    from rich.text import Text

# Control characters but line feed and tab, what ends a line elsewhere, half characters, and what
# turns the direction of the text that follows.
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
)


def visible(text: str) -> str:
    r"""A text with everything that a terminal would obey written out.

    >>> print(visible("a\x1b[2Jb\rc\u202e"))
    a\x1b[2Jb\x0dc\u202e
    """

    def escaped(found: re.Match[str]) -> str:
        code = ord(found[0])
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    return _OBEYED.sub(escaped, text)


def visible_in_json(text: str) -> str:
    """The same for JSON, where it still means the same."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in columns.

    Attributes:
        header: Headings of the columns; lines of one are separated by a line feed.
        rows: Cells, as many in each row as there are headings.
        align: ``l`` for a column of text and ``r`` for one of figures, which are never wrapped; the
            last letter goes for the columns that follow. Empty: a column is one of figures when
            all its cells are.
        most: Widths at which columns of text are folded, 0 for none; the last goes for the
            columns that follow.
        headless: Leave the headings out.

    >>> print(text_of([Table(("name", "n"), [("first", "1"), ("second", "20")])]), end="")
    name     n
    first    1
    second  20
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str = ""
    most: Sequence[int] = (0,)
    headless: bool = False

    def column(self, number: int) -> dict[str, Any]:
        """How rich is to set a column."""
        if self.align:
            right = self.align[min(number, len(self.align) - 1)] == "r"
        else:
            right = all(_is_figure(row[number]) for row in self.rows)
        if right:
            return {"justify": "right", "no_wrap": True}
        most = self.most[min(number, len(self.most) - 1)]
        return {"overflow": "fold", "max_width": most or None}


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Text that goes on in the next line where the console ends.

    Attributes:
        text: In one line.
        indent: Blanks before the lines that follow the first.
    """

    text: str
    indent: int = 0


Part = str | Wrapped | Table


class Report:
    """Figures with a printed form, which begins with one sentence that says what came out.

    Attributes:
        width: Columns of that form; None takes the terminal's.
    """

    __slots__ = ()

    width: ClassVar[int | None] = 100

    @property
    def sentence(self) -> str:
        """What came out, with the figures and the reservation that matter, and no full stop."""
        raise NotImplementedError

    def parts(self) -> Iterable[Part]:
        """What is printed under the sentence, from top to bottom."""
        raise NotImplementedError

    def _printed(self) -> Iterator[Part]:
        yield Wrapped(self.sentence)
        yield from self.parts()

    def text(self, width: int | None = None) -> str:
        """The printed form, ending with a line feed.

        Args:
            width: Columns; by default those that fit the report.
        """
        return text_of(self._printed(), width or self.width)

    def show(self, file: TextIO | None = None) -> None:
        """Print it; with headings in bold where that is a terminal.

        Args:
            file: Where to; by default standard output.
        """
        show(self._printed(), file=file, width=self.width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The printed form in a notebook: escaped text, nothing that runs or is loaded."""
        style = "line-height: 1.2; overflow-x: auto; white-space: pre"
        return f'<pre style="{style}">{html.escape(self.text())}</pre>'


class Tabular(Report):
    """A report whose main figures are one table."""

    __slots__ = ()

    def records(self) -> Sequence[dict[str, Any]]:
        """The rows of that table, as plain values."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, for JSON."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame; what is nested has dots in its column's name.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415  # not among the requirements
        except ImportError:
            msg = "a data frame needs pandas: pip install pandas"
            raise MissingDependencyError(msg) from None
        return pd.json_normalize(self.records())


def show(parts: Iterable[Part], *, file: TextIO | None = None, width: int | None = None) -> None:
    """Print parts from top to bottom.

    Args:
        parts: Lines, wrapped texts and tables.
        file: Where to; by default standard output.
        width: Columns for tables and wrapped text; by default the terminal's.
    """
    _print(parts, _console(file=file, width=width))


def text_of(parts: Iterable[Part], width: int | None = None) -> str:
    """The same as text; lines have no blanks at their ends."""
    stream = io.StringIO()
    _print(parts, _console(file=stream, width=width, force_terminal=False))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def notes() -> Console:
    """Standard error for whole lines: what is said beside the figures."""
    return _console(stderr=True, soft_wrap=True)


def _console(**options: Any) -> Console:
    from rich.console import Console  # noqa: PLC0415  # not before something is shown

    class Inert(Console):
        """Shows every text as it is, also in the cells of tables."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text), **options)

    # In a notebook rich would show HTML of its own, whatever the file is.
    return Inert(highlight=False, markup=False, emoji=False, force_jupyter=False, **options)


def _print(parts: Iterable[Part], console: Console) -> None:
    from rich.table import Table as RichTable  # noqa: PLC0415  # not before something is shown

    for part in parts:
        if isinstance(part, Table):
            table = RichTable(box=None, pad_edge=False, show_header=not part.headless)
            for number, heading in enumerate(part.header):
                table.add_column(heading, **part.column(number))
            for row in part.rows:
                table.add_row(*(cell.replace("\t", " ") for cell in row))
            console.print(table)
        elif isinstance(part, Wrapped):
            lines = textwrap.wrap(
                visible(part.text),
                console.width,
                subsequent_indent=" " * part.indent,
                break_on_hyphens=False,
            )
            console.print("\n".join(lines), soft_wrap=True)
        else:
            console.print(part, soft_wrap=True)


def figure(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """A number with so many digits behind the point; a dash where there is none.

    >>> figure(0.12345), figure(-0.0001), figure(None), figure(0.5, 2, signed=True)
    ('0.123', '0.000', '-', '+0.50')
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value:{'+' if signed else ''}z.{digits}f}"


def short(value: float, digits: int) -> str:
    """A number without the 0 before the point: four with their intervals fit a line.

    >>> short(0.25, 2), short(-0.5, 1), short(1.25, 2)
    ('.25', '-.5', '1.25')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and "0." in text[:3] else text


def share(value: float | None, digits: int = 0) -> str:
    """A share in percent; a dash where there is none.

    >>> share(0.125, 1), share(float("nan"))
    ('12.5%', '-')
    """
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}%}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """So many of something; the plural is with s unless given.

    >>> counted(1, "sample"), counted(3, "sample"), counted(2, "query", "queries")
    ('1 sample', '3 samples', '2 queries')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def _is_figure(cell: str) -> bool:
    return cell == "-" or cell.replace(".", "", 1).lstrip("-").rstrip("%").isdigit()

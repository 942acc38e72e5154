"""Text and tables of reports: one place that needs rich, which is imported when something is shown.

A report is a sequence of parts: text, which is wrapped, and `Table`. `show` prints them, `text_of`
makes a text of them, and a class that derives from `Report` has both and its form in a notebook.
Everything fits the console, whatever its width, but for single words that are longer. What a
terminal would obey (`visible`) and rich's own markup are shown as they are.
"""

from __future__ import annotations

import html
import io
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, TextIO

from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
    from rich.console import Console
    from rich.text import Text

WIDTH: Final = 80
"""Columns of a report as text."""

LINES: Final = 40
"""Lines of a report that are printed by default."""

GAP: Final = 2
"""Blanks between two columns of a table."""

LEAST_PROSE: Final = 20
"""Columns that a column of sentences takes at least, where it has so much to say."""

READABLE: Final = 100
"""Columns beyond which lines of text are hard to read; tables take more where they need it."""

# Control characters but line feed and tab, what ends a line elsewhere, half characters, and what
# turns the direction of the text that follows.
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
    # What GitHub's, Azure's and TeamCity's runners obey anywhere in a line of a log.
    r"|#(?=#(?:|vso|teamcity)\[)"
)
_COMMAND: Final = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_CELL: Final = "padding: 0.15em 0.6em; vertical-align: top; text-align: "
# As wide as what they stand for; bars become their heights.
_STAND_INS: Final = str.maketrans("▁▂▃▄▅▆▇█…", "12345678~")


def visible(text: str) -> str:
    r"""A text with everything that a terminal or a CI server would obey written out.

    >>> print(visible("a\x1b[2Jb\rc\u202e"), visible("##[error]y"))
    a\x1b[2Jb\x0dc\u202e \x23#[error]y
    """

    def escaped(found: re.Match[str]) -> str:
        code = ord(found[0])
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    return _OBEYED.sub(escaped, text)


def encodable(text: str, stream: TextIO) -> str:
    r"""A text with what a stream's encoding lacks written out: a Windows pipe, a log in ASCII.

    >>> from io import BytesIO, TextIOWrapper
    >>> print(encodable("▁█ über", TextIOWrapper(BytesIO(), encoding="ascii")))
    18 \xfcber
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        standing = text.translate(_STAND_INS)
        return standing.encode(encoding, "backslashreplace").decode(encoding)
    return text


def ascii_json(text: str) -> str:
    r"""JSON that any stream has the characters for, and nobody obeys; it still means the same.

    >>> print(ascii_json('"##[error]é"'))
    "\u0023#[error]\u00e9"
    """
    safe = _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return "".join(c if c < "\x80" else json.dumps(c)[1:-1] for c in safe)


def json_line(figures: Any) -> str:
    """Figures as one line of JSON that is safe to print.

    Raises:
        ValueError: A figure is not finite.
    """
    return ascii_json(json.dumps(figures, allow_nan=False))


class _InertLines:
    """A stream that gets no line that GitHub takes for a command, and characters it can encode.

    Commands begin with two colons, whoever prints them.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(encodable(_COMMAND.sub(r"\1\\x3a", text), self._stream))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in columns.

    Where the console is too narrow, columns that may be are left out (`spare`), and sentences are
    folded. What still does not fit stands below, in a table that begins with the same column.
    Names and figures are never broken but where such a column alone is too wide.

    Attributes:
        header: Headings of the columns, all empty for none; lines of one are separated by a line
            feed.
        rows: Cells, as many in each row as there are headings.
        align: ``l`` for a column of names, ``p`` for one of sentences and ``r`` for one of figures;
            the last letter goes for the columns that follow. Empty: a column is one of figures
            when all its cells are, otherwise one of names.
        spare: Columns that may be left out, the first to go first.
        keys: Leading columns that every table below begins with.

    >>> print(text_of([Table(("name", "n"), [("first", "1"), ("second", "20")])]), end="")
    name     n
    first    1
    second  20
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str = ""
    spare: Sequence[int] = ()
    keys: int = 1

    def kind(self, number: int) -> str:
        """Of a column, its letter."""
        if self.align:
            return self.align[min(number, len(self.align) - 1)]
        return "r" if all(_is_figure(row[number]) for row in self.rows) else "l"

    def blocks(self, width: int) -> list[tuple[list[int], bool]]:
        """The columns of each table that this is printed as, and whether they have room."""
        least = list(map(self._least, range(len(self.header))))

        def fits(shown: Sequence[int]) -> bool:
            return sum(least[i] for i in shown) + GAP * (len(shown) - 1) <= width

        shown = list(range(len(least)))
        for place in self.spare:
            if not fits(shown):
                shown.remove(place)
        found = [shown[: self.keys]]
        for place in shown[self.keys :]:
            if len(found[-1]) > self.keys and not fits([*found[-1], place]):
                found.append(shown[: self.keys])
            found[-1].append(place)
        return [(block, fits(block)) for block in found]

    def _least(self, number: int) -> int:
        """The columns of a console that one of these needs at least."""
        from rich.cells import cell_len  # noqa: PLC0415  # not before something is shown

        texts = [self.header[number], *(row[number] for row in self.rows)]
        natural = max(cell_len(line) for text in texts for line in visible(text).split("\n"))
        return min(natural, LEAST_PROSE) if self.kind(number) == "p" else natural


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

    By default that form is cut to `LINES` lines, and says so.
    """

    __slots__ = ()

    @property
    def sentence(self) -> str:
        """What came out, with the figures and the reservation that matter, and no full stop."""
        raise NotImplementedError

    def parts(self) -> Iterable[Part]:
        """All that can be printed under the sentence, from top to bottom."""
        raise NotImplementedError

    def brief(self) -> Iterable[Part]:
        """What is printed of it by default."""
        return self.parts()

    def text(self, width: int = WIDTH, *, full: bool = False) -> str:
        """The printed form, ending with a line feed.

        Args:
            width: Columns.
            full: All of it, however long.
        """
        return text_of(self._printed(full=full), width, most=None if full else LINES)

    def show(self, file: TextIO | None = None, *, full: bool = False) -> None:
        """Print it; with headings in bold where that is a terminal.

        Args:
            file: Where to; by default standard output.
            full: All of it, however long.
        """
        show(self._printed(full=full), file=file, most=None if full else LINES)

    def _printed(self, *, full: bool) -> Iterator[Part]:
        yield self.sentence
        yield from self.parts() if full else self.brief()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The printed form in a notebook: escaped text, nothing that runs or is loaded."""
        return _page(self.sentence, self.brief())


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


def html_table(sentence: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A sentence and a table of texts for a notebook: static, with all text escaped."""
    return _page(sentence, [Table(header, rows, "l")] if rows else [])


def _page(sentence: str, parts: Iterable[Part]) -> str:
    body = "".join(map(_html_of, parts))
    return f'<div style="overflow-x: auto"><p><strong>{_escaped(sentence)}</strong></p>{body}</div>'


def _html_of(part: Part) -> str:
    if not isinstance(part, Table):
        text = part.text if isinstance(part, Wrapped) else part
        return f"<p>{_escaped(text.strip(chr(10)))}</p>"
    kinds = map(part.kind, range(len(part.header)))
    styles = [f"{_CELL}{'right' if kind == 'r' else 'left'}" for kind in kinds]
    lines = [
        "".join(f'<{tag} style="{style}">{_escaped(cell)}</{tag}>' for cell, style in cells)
        for tag, row in [("th", part.header), *(("td", row) for row in part.rows)]
        for cells in [zip(row, styles, strict=True)]
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines[1:])
    return f"<table><thead><tr>{lines[0]}</tr></thead><tbody>{body}</tbody></table>"


def _escaped(text: str) -> str:
    return html.escape(visible(text)).replace("\n", "<br>")


def show(
    parts: Iterable[Part],
    *,
    file: TextIO | None = None,
    width: int | None = None,
    most: int | None = None,
) -> None:
    """Print parts from top to bottom.

    Args:
        parts: Texts and tables.
        file: Where to; by default standard output.
        width: Columns; by default the terminal's.
        most: At most so many lines; what is cut is counted in the last one.
    """
    _print(parts, _console(file or sys.stdout, width=width), most)


def text_of(parts: Iterable[Part], width: int = WIDTH, *, most: int | None = None) -> str:
    """The same as text; lines have no blanks at their ends."""
    stream = io.StringIO()
    _print(parts, _console(stream, width=width, force_terminal=False), most)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


class Notes:
    """Standard error: what is said beside the figures."""

    def print(self, text: str) -> None:
        """Say something.

        It is wrapped where somebody reads it: on a terminal, or where COLUMNS is set. In a log or a
        pipe a line stays whole, and can be searched for.
        """
        console = _console(sys.stderr)
        if console.is_terminal or "COLUMNS" in os.environ:
            _print([text], console)
        else:
            console.print(visible(text), soft_wrap=True)


def notes() -> Notes:
    """Where to say what a reader of the figures must know, but a program that reads them must not."""
    return Notes()


def _console(stream: TextIO, **options: Any) -> Console:
    from rich.console import Console  # noqa: PLC0415  # not before something is shown

    # In a notebook rich would show HTML of its own, whatever the file is.
    lines: Any = _InertLines(stream)
    plain: Any = {"highlight": False, "markup": False, "emoji": False, "force_jupyter": False}
    return Console(file=lines, **plain, **options)


def _print(parts: Iterable[Part], console: Console, most: int | None = None) -> None:
    lines = (line for part in parts for line in _lines(part, console))
    shown = list(islice(lines, most))
    rest = sum(1 for _ in lines)
    if rest:
        # The last line says what is cut, so one more goes.
        del shown[-1]
        shown.append(f"... {counted(rest + 1, 'more line')}: --all, or show(full=True)")
    for line in shown:
        console.print(line, soft_wrap=True)


def _lines(part: Part, console: Console) -> Iterator[str | Text]:
    """What is printed of a part; figures and headings as rich sets them."""
    if isinstance(part, Table):
        for number, (shown, fits) in enumerate(part.blocks(console.width)):
            if number:
                yield ""
            yield from _table_lines(part, shown, console, fits=fits)
        return
    text, indent = (part, 0) if isinstance(part, str) else (part.text, part.indent)
    for line in visible(text).split("\n"):
        yield from _wrapped(line, console, indent)


def _wrapped(line: str, console: Console, indent: int) -> Iterator[str]:
    """A line cut at blanks; those at its beginning stay.

    A longer word stays whole where a reader copies it (a path, a name); scripts that are written
    without blanks are cut anywhere.
    """
    from rich.cells import cell_len  # noqa: PLC0415  # not before something is shown
    from rich.text import Text  # noqa: PLC0415  # see above

    width = min(console.width, READABLE)
    if cell_len(line) <= width:
        yield line
    elif cell_len(line) > len(line):
        pieces = Text(line).wrap(console, width, overflow="fold")
        yield from (piece.plain.rstrip() for piece in pieces)
    else:
        words = line.lstrip(" ")
        margin = " " * (len(line) - len(words))
        yield from wrap(
            words,
            width,
            initial_indent=margin,
            subsequent_indent=margin + " " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _table_lines(
    part: Table, shown: Sequence[int], console: Console, *, fits: bool
) -> Iterator[Text]:
    from rich.segment import Segment  # noqa: PLC0415  # not before something is shown
    from rich.table import Table as RichTable  # noqa: PLC0415  # see above
    from rich.text import Text  # noqa: PLC0415  # see above

    table = RichTable(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=any(part.header)
    )
    for number in shown:
        kind = part.kind(number)
        table.add_column(
            visible(part.header[number]),
            justify="right" if kind == "r" else "left",
            overflow="fold",
            no_wrap=kind != "p" and fits,
        )
    for row in part.rows:
        table.add_row(*(visible(row[number]).replace("\t", " ") for number in shown))
    for line in Segment.split_lines(console.render(table)):
        text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
        text.rstrip()
        yield text


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
    """A share in percent; a dash where there is none. Only none is 0%, and only all is 100%.

    >>> share(0.125, 1), share(float("nan")), share(0.999), share(0.0004, 1), share(1.0), share(0.0)
    ('12.5%', '-', '>99%', '<0.1%', '100%', '0%')
    """
    if value is None or math.isnan(value):
        return "-"
    least = 10.0**-digits
    if 0.0 < value < 1.0 and round(100 * value, digits) in {0.0, 100.0}:
        return f"<{least:.{digits}f}%" if value < 0.5 else f">{100 - least:.{digits}f}%"
    return f"{value:.{digits}%}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """So many of something; the plural is with s unless given.

    >>> counted(1, "sample"), counted(3, "sample"), counted(2, "query", "queries")
    ('1 sample', '3 samples', '2 queries')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def shortened(text: str, most: int) -> str:
    r"""A text in one line of at most so many characters.

    >>> shortened("one\n two three", 8)
    'one two…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _is_figure(cell: str) -> bool:
    return cell == "-" or cell.replace(".", "", 1).lstrip("-").rstrip("%").isdigit()

"""Reports: a sentence, tables of plain records, notes. They are shown as text and as Markdown.

A table's records hold raw values. Only this module formats cells, by the kind of their column; JSON and
pandas take the records unchanged.
"""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TextIO

from tcva_adapters.console import (
    WIDTH,
    columns_of,
    folded,
    terminal_width,
    visible,
    write,
)
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.inert_markdown import markdown_text

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements

Kind = Literal["text", "prose", "int", "score", "share", "p", "interval", "signed"]
"""How the values of a column are shown, as names and sentences, counts, numbers with three digits, shares
in percent, p values, a value with its interval, a difference with its sign."""

Record = dict[str, Any]
"""A row of a table, with raw values by column name; a missing value is None or nan."""

Records = Sequence[Record]
"""The rows of a table, for reading."""

ROWS = 20
"""Rows of a table that are shown by default."""

GAP = "  "
_MORE = "full=True"
_MIN_PROSE = 20
_LEFT = ("text", "prose")
_CELL = "padding: 0.15em 0.6em; vertical-align: top; text-align: "


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: The key of its values in the records; the heading is the same with blanks for
            underscores. An interval's ends stand under ``NAME_low`` and ``NAME_high``.
        kind: How the values are shown.
        help: What they mean, if the name does not say it.
    """

    name: str
    kind: Kind = "text"
    help: str = ""

    @property
    def heading(self) -> str:
        """The heading of the column."""
        return self.name.replace("_", " ")

    def cell(self, record: Record) -> str:
        """Write a record's value as text."""
        ends = (record.get(f"{self.name}_low"), record.get(f"{self.name}_high"))
        return cell(record.get(self.name), self.kind, *ends)


def named_columns(*texts: str, **kinds: Kind) -> list[Column]:
    """Make columns by name, in this order: those of texts, and others each with its kind.

    >>> [column.kind for column in named_columns("method", rho="interval")]
    ['text', 'interval']
    """
    return [*map(Column, texts), *(Column(name, kind) for name, kind in kinds.items())]


@dataclass(frozen=True, slots=True)
class Table:
    """Records under columns.

    Attributes:
        title: A short noun, and the table's key in JSON.
        columns: The columns that are shown; records may hold more.
        records: Raw values by column name; a missing value is None or nan.
        detail: Whether only the full text shows the table.
        notes: Notes for the reader of this table, a sentence each.
        most: The most rows that the full text shows.
    """

    title: str
    columns: Sequence[Column]
    records: Records
    detail: bool = False
    notes: Sequence[str] = ()
    most: int = sys.maxsize

    def cells(self, most: int | None = None) -> list[list[str]]:
        """Return the rows as texts; at most ``most`` of them."""
        return [
            [column.cell(record) for column in self.columns]
            for record in self.records[:most]
        ]


@dataclass(
    frozen=True,
    slots=True,
    repr=False,
)
class Report:
    """The outcome of an analysis.

    Attributes:
        sentence: The outcome, with the figures and the reservation that matter.
        tables: The figures, the most important first.
        notes: Notes for the reader on how the figures were obtained, a sentence each.
        settings: The settings of the analysis, as plain values.

    >>> columns = named_columns(method="text", mean="score", rho="interval")
    >>> rows = [{"method": "a", "mean": 0.5, "rho": 0.61, "rho_low": 0.4, "rho_high": 0.75}]
    >>> print(Report("a is best", [Table("methods", columns, rows)]).text(), end="")
    a is best
    <BLANKLINE>
    methods
    method   mean                 rho
    a       0.500  0.610 [0.40, 0.75]
    """

    sentence: str
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def table(self, title: str) -> Table:
        """Return one of the tables.

        Raises:
            InvalidValueError: There is none of that title.
        """
        for table in self.tables:
            if table.title == title:
                return table
        titles = ", ".join(table.title for table in self.tables)
        raise InvalidValueError(f"no table {title!r}; there are {titles or 'none'}")

    def records(self, title: str) -> list[Record]:
        """Return the records of one table, as plain values.

        Raises:
            InvalidValueError: There is none of that title.
        """
        return [plain(record) for record in self.table(title).records]

    def to_dict(self) -> Record:
        """Return everything as plain values for JSON; numbers that are not finite become None."""
        values: Record = plain(
            {
                "sentence": self.sentence,
                "tables": {table.title: table.records for table in self.tables},
                "notes": self.notes,
                "settings": self.settings,
            }
        )
        return values

    def to_pandas(self, title: str | None = None) -> pd.DataFrame:
        """Return the records of a table (by default the first) as a data frame.

        Raises:
            MissingDependencyError: pandas is not installed.
            InvalidValueError: There is no such table.
        """
        try:
            import pandas as pd  # noqa: PLC0415  # not among the requirements
        except ImportError:
            raise MissingDependencyError(
                "a data frame needs pandas: pip install pandas"
            ) from None
        if title is None and not self.tables:
            return pd.DataFrame()
        return pd.json_normalize(self.records(title or self.tables[0].title))

    def text(
        self,
        width: int = WIDTH,
        *,
        full: bool = False,
        more: str = _MORE,
    ) -> str:
        """Write the report as text, ending with a line feed.

        Args:
            width: Columns.
            full: With all tables and all rows.
            more: What the reader adds to see the rest, as the text names it.
        """
        lines = folded(visible(self.sentence), width)
        for table in self._shown(full=full):
            lines += ["", visible(table.title)]
            lines += _table_lines(table, width, table.most if full else ROWS)
            lines += _indented(_below(table, more, full=full), width)
        if ending := [*self._ending(more, full=full)]:
            lines += ["", *_indented(ending, width)]
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def show(
        self,
        file: TextIO | None = None,
        *,
        full: bool = False,
        more: str = _MORE,
    ) -> None:
        """Print the report, as wide as the terminal.

        Args:
            file: Where to; by default standard output.
            full: With all tables and all rows.
            more: What the reader adds to see the rest, as the text names it.
        """
        write(
            self.text(terminal_width(), full=full, more=more).removesuffix("\n"), file
        )

    def markdown(self, *, full: bool = False) -> str:
        """Write the report as Markdown, in which texts of samples and models are inert.

        Args:
            full: With all tables and all rows.
        """
        lines = [markdown_text(self.sentence)]
        for table in self._shown(full=full):
            titles = [markdown_text(column.heading) for column in table.columns]
            marks = [
                "---" if column.kind in _LEFT else "---:" for column in table.columns
            ]
            rows = [
                [markdown_text(text, in_table=True) for text in row]
                for row in table.cells(table.most if full else ROWS)
            ]
            lines += ["", f"**{markdown_text(table.title)}**", ""]
            lines += [f"| {' | '.join(row)} |" for row in (titles, marks, *rows)]
            lines += [
                "",
                *map(markdown_text, _below(table, full=full)),
            ]
        lines += [
            "",
            *(f"- {markdown_text(text)}" for text in self._ending(full=full)),
        ]
        return "\n".join(lines).rstrip() + "\n"

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Write the report as HTML for a notebook: static, and with every text escaped."""
        parts = [f"<p><strong>{_escaped(self.sentence)}</strong></p>"]
        for table in self._shown(full=False):
            columns = table.columns
            heads = [column.heading for column in columns]
            parts += [_html_paragraph(table.title), "<table>"]
            parts += [_html_row("th", columns, heads)]
            parts += [_html_row("td", columns, row) for row in table.cells(ROWS)]
            parts += ["</table>", *map(_html_paragraph, _below(table))]
        parts += map(_html_paragraph, self._ending(full=False))
        return f'<div style="overflow-x: auto">{"".join(parts)}</div>'

    def _shown(self, *, full: bool) -> list[Table]:
        return [t for t in self.tables if t.records and (full or not t.detail)]

    def _ending(self, more: str = _MORE, *, full: bool) -> Iterator[str]:
        yield from self.notes
        left = [t for t in self.tables if t.records and t.detail and not full]
        if left:
            names = ", ".join(
                f"{t.title} ({counted(len(t.records), 'row')})" for t in left
            )
            yield f"{more} also shows {names}."


def cell(
    value: Any,
    kind: Kind,
    low: float | None = None,
    high: float | None = None,
) -> str:
    """Write a value as tables and sentences show it; a dash if it is missing.

    Args:
        value: The raw value.
        kind: How it is shown.
        low: Lower end of its interval, if it has one.
        high: Upper end.

    >>> cell(0.12345, "score"), cell(0.25, "share"), cell(0.0004, "p"), cell(None, "score")
    ('0.123', '25 %', '<0.001', '-')
    >>> cell(0.031, "signed", 0.01, 0.05), cell(0.61, "interval")
    ('+0.031 [+0.01, +0.05]', '0.610')
    >>> cell(0.016, "interval", 0.003, 0.03), cell(-0.016, "interval", -0.03, 0.003)
    ('0.016 [0.003, 0.030]', '-0.016 [-0.03, 0.00]')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if kind == "share":
        return _share(value)
    if kind == "p":
        return "<0.001" if value < 0.0005 else f"{value:.3f}"
    if kind in {"score", "interval", "signed"}:
        sign = "+" if kind == "signed" else ""
        text = f"{value:{sign}z.3f}"
        if low is not None and high is not None and not math.isnan(low):
            # An end beside 0 shows on which side it lies.
            is_near = 0.0 < low < 0.005 or -0.005 < high < 0.0
            digits = ".3f" if is_near else "z.2f"
            text = f"{text} [{low:{sign}{digits}}, {high:{sign}{digits}}]"
        return text
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def p_text(p: float) -> str:
    """Write a p-value for a sentence.

    >>> p_text(0.031), p_text(0.0001)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.0005 else f"p = {cell(p, 'p')}"


def counted(
    number: int,
    noun: str,
    plural: str = "",
) -> str:
    """Write a number of things; the plural ends in s unless it is given.

    >>> counted(1, "sample"), counted(3, "sample"), counted(2, "query", "queries")
    ('1 sample', '3 samples', '2 queries')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def shortened(text: str, most: int) -> str:
    r"""Shorten a text to one line of at most so many characters.

    >>> shortened("one\n two three", 8)
    'one two…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def plain(value: Any) -> Any:
    """Convert to plain values: dicts, lists, Python's numbers, and None for nan.

    >>> plain({"rho": float("nan"), "n": 3, "ends": (0.1, 0.5)})
    {'rho': None, 'n': 3, 'ends': [0.1, 0.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _share(value: float) -> str:
    """Write a share in percent, in which only none is 0 % and only all is 100 %."""
    if 0.0 < value < 1.0 and round(100 * value) in {0, 100}:
        return "<1 %" if value < 0.5 else ">99 %"
    return f"{100 * value:.0f} %"


def _escaped(text: str) -> str:
    return html.escape(visible(text)).replace("\n", "<br>")


def _html_paragraph(text: str) -> str:
    return f"<p>{_escaped(text)}</p>"


def _html_row(tag: str, columns: Sequence[Column], texts: Sequence[str]) -> str:
    cells = []
    for column, text in zip(columns, texts, strict=True):
        style = _CELL + ("left" if column.kind in _LEFT else "right")
        cells.append(f'<{tag} style="{style}">{_escaped(text)}</{tag}>')
    return f"<tr>{''.join(cells)}</tr>"


def _below(
    table: Table,
    more: str = _MORE,
    *,
    full: bool = False,
) -> list[str]:
    """Return the lines below a table: how many rows are left out, and its notes."""
    rest = len(table.records[table.most if full else ROWS :])
    where = "JSON" if full else more
    cut = [f"... {counted(rest, 'more row')}; {where} shows all"] if rest else []
    return [*cut, *table.notes]


def _indented(texts: Iterable[str], width: int) -> Iterator[str]:
    for text in texts:
        yield from folded(visible(text), width, indent=2)


def _padded(
    text: str,
    width: int,
    kind: Kind,
) -> str:
    blanks = " " * (width - columns_of(text))
    return text + blanks if kind in _LEFT else blanks + text


def _table_lines(
    table: Table,
    width: int,
    most: int | None,
) -> Iterator[str]:
    """Yield the lines of a table; columns without room follow below, after the first column again."""
    rows = [[visible(text) for text in row] for row in table.cells(most)]
    heads = [column.heading for column in table.columns]
    natural, least = [], []
    for column, *cells in zip(table.columns, *rows, strict=True):
        widest = max(map(columns_of, cells))
        size = max(columns_of(column.heading), widest)
        natural.append(size)
        # Headings break at blanks, and so do sentences if there is no room for them.
        if column.kind == "prose":
            least.append(min(size, _MIN_PROSE))
        else:
            least.append(max(widest, *map(columns_of, column.heading.split(" "))))
    for number, block in enumerate(_blocks(least, width)):
        if number:
            yield ""
        sizes = {i: least[i] for i in block}
        spare = width - sum(sizes.values()) - len(GAP) * (len(block) - 1)
        for i in sorted(block, key=lambda i: table.columns[i].kind == "prose"):
            more = max(0, min(spare, natural[i] - least[i]))
            sizes[i] += more
            spare -= more
        for row in (heads, *rows):
            cells = [(row[i], sizes[i], table.columns[i].kind) for i in block]
            yield from _row_lines(cells)


def _blocks(least: Sequence[int], width: int) -> list[list[int]]:
    blocks = [[0]]
    for i in range(1, len(least)):
        taken = sum(least[j] + len(GAP) for j in blocks[-1]) + least[i]
        if taken > width and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(i)
    return blocks


def _row_lines(cells: Sequence[tuple[str, int, Kind]]) -> Iterator[str]:
    """Yield the lines of one row; texts that are wider than their column are folded."""
    columns = [
        folded(text, size) if columns_of(text) > size else [text]
        for text, size, _ in cells
    ]
    for row in zip_longest(*columns, fillvalue=""):
        yield GAP.join(
            _padded(line, size, kind)
            for line, (_, size, kind) in zip(row, cells, strict=True)
        )

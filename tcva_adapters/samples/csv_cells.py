"""Tables as csv, whose cells no spreadsheet runs as a formula.

A spreadsheet takes a cell that begins with ``=`` for a formula, and other beginnings for one, too.
An apostrophe in front makes text of it (OWASP, "CSV Injection").
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

# With the apostrophes that may stand before it: what is written can then be read back exactly.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""A table as csv: texts made harmless, numbers as they are, None as an empty cell.

    >>> csv_text(["id", "score"], [["=1+1", -0.5], ["a", None]])
    "id,score\r\n'=1+1,-0.5\r\na,\r\n"
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    for row in chain([header], rows):
        writer.writerow(
            [harmless(cell) if isinstance(cell, str) else cell for cell in row]
        )
    return stream.getvalue()


def harmless(text: str) -> str:
    """The text of a cell, with an apostrophe before what a spreadsheet would run.

    >>> harmless("@SUM(1)"), harmless("plain"), original(harmless("'=1"))
    ("'@SUM(1)", 'plain', "'=1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def original(text: str) -> str:
    """The text that `harmless` was given; only for cells of tables that were written here."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text

"""Text that is safe to print: in a terminal, a log of CI, a pipe with another encoding."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from textwrap import wrap
from typing import TextIO

WIDTH = 80
"""The width of a text that is not printed on a terminal, in columns."""

READABLE = 100
"""Columns beyond which lines of text are hard to read; tables take more where they need it."""

# Control characters but line feed and tab, other ends of lines, half characters, and
# marks that change the direction of the text that follows.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
    # What GitHub's, Azure's and TeamCity's runners obey anywhere in a line of a log.
    r"|#(?=#(?:|vso|teamcity)\[)"
)
# GitHub takes a line that begins with two colons for a command.
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)


def visible(text: str) -> str:
    r"""Write out everything in a text that a terminal or a CI server would obey.

    >>> print(visible("a\x1b[2Jb\rc\u202e"), visible("##[error]y"))
    a\x1b[2Jb\x0dc\u202e \x23#[error]y
    """

    def escaped(match: re.Match[str]) -> str:
        code = ord(match[0])
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    return _OBEYED.sub(escaped, text)


def encodable(text: str, stream: TextIO) -> str:
    r"""Write out characters that a stream's encoding lacks, as in a Windows pipe or an ASCII log.

    >>> from io import BytesIO, TextIOWrapper
    >>> print(encodable("über", TextIOWrapper(BytesIO(), encoding="ascii")))
    \xfcber
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def ascii_json(text: str) -> str:
    r"""Write JSON in ASCII, without marks that a CI server obeys; its meaning stays the same.

    >>> print(ascii_json('"##[error]é"'))
    "\u0023#[error]\u00e9"
    """
    safe = _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return "".join(c if c < "\x80" else json.dumps(c)[1:-1] for c in safe)


def json_line(figures: object) -> str:
    """Write figures as one line of JSON that is safe to print.

    Raises:
        ValueError: A figure is not finite.
    """
    return ascii_json(json.dumps(figures, allow_nan=False))


def terminal_width() -> int:
    """Return the columns of the terminal, or COLUMNS if that is set; `WIDTH` in a pipe or a log."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def write(text: str, file: TextIO | None = None) -> None:
    """Print a text that is safe for terminals and CI servers, in characters that the stream has.

    Args:
        text: One line or several, without the last line feed.
        file: Where to; by default standard output.
    """
    stream = file or sys.stdout
    inert = _COMMAND.sub(r"\1\\x3a", visible(text))
    stream.write(f"{encodable(inert, stream)}\n")


def note(text: str) -> None:
    """Print a note on standard error, apart from the figures that programs read.

    It is wrapped on a terminal, or if COLUMNS is set. In a log or a pipe a line stays whole, so that
    it can be searched for.
    """
    if sys.stderr.isatty() or "COLUMNS" in os.environ:
        text = "\n".join(folded(text, terminal_width()))
    write(text, sys.stderr)


def columns_of(text: str) -> int:
    """Count the columns of a terminal that a text takes: East Asian letters take two.

    >>> columns_of("abc"), columns_of("打")
    (3, 2)
    """
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text if c > "\u10ff")
    return (
        len(text)
        + wide
        - sum(unicodedata.combining(c) > 0 for c in text if c > "\u02ff")
    )


def folded(
    text: str,
    width: int,
    indent: int = 0,
) -> list[str]:
    """Fold a text into lines at blanks; a longer word stays whole, so that a path can be copied.

    Scripts that are written without blanks are cut anywhere.

    Args:
        text: One line or several.
        width: Columns; text takes at most `READABLE` of them.
        indent: Blanks before the lines that follow the first.

    >>> folded("one two three", 8, indent=2)
    ['one two', '  three']
    """
    room = min(width, READABLE)
    lines = []
    for line in text.split("\n"):
        if columns_of(line) > len(line):
            lines += _cut(line, room, indent)
        else:
            lines += wrap(
                line,
                room,
                subsequent_indent=" " * indent,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [""]
    return lines


def _cut(
    line: str,
    room: int,
    indent: int,
) -> list[str]:
    """Cut a line into pieces of at most so many columns, wherever these end."""
    pieces = [""]
    taken = 0
    for letter in line:
        size = columns_of(letter)
        if taken + size > room:
            pieces.append(" " * indent)
            taken = indent
        pieces[-1] += letter
        taken += size
    return pieces

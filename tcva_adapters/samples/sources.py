"""Sources of rows: a path, standard input or an open stream, and its lines of text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import (
    Any,
    TextIO,
    TypeGuard,
)

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.file_writing import usable_path

Source = str | Path | TextIO

_WHY = {
    FileNotFoundError: "the file does not exist; check the path",
    IsADirectoryError: "this is a folder; name a file in it",
}
_PACKED = "a compressed file, which is not read; unpack it first"
_BINARY = {
    b"PK\x03\x04": "an Excel file or a zip archive, which is not read; export the sheet as csv, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "an Excel file, which is not read; export the sheet as csv",
    b"\x1f\x8b": _PACKED,
    b"(\xb5/\xfd": _PACKED,
    b"\xfd7zXZ": _PACKED,
    b"BZh9": _PACKED,
    b"PAR1": "a parquet file; its name must end in .parquet, or its format be given",
    b"SQLite format 3": "a database, which is not read; give samples or results as jsonl",
}
"""Files that hold no text, by their first bytes, each with its kind and advice."""


def whole_text(source: Source) -> str:
    """Read a file's text, without a byte order mark.

    Raises:
        UnreadableInputError: The file is missing, a folder, cannot be read, or is not UTF-8.
    """
    text = "".join(text_lines(source))
    if wrong := encoding_fault(text):
        raise unreadable(source, wrong)
    return text


def is_path(source: object) -> TypeGuard[str | Path]:
    """Whether a source is named by a path, and is neither standard input nor a stream."""
    return source != "-" and isinstance(source, str | Path)


def is_rereadable(source: Source) -> bool:
    """Whether a second reading gives the same rows: of a file, not of a pipe or a stream."""
    return is_path(source) and os.path.isfile(usable_path(source))  # noqa: PTH113  # Path.is_file raises for names too long


def name_of(source: Source) -> str:
    """The name of a source in messages."""
    if is_path(source):
        return str(source)
    return "standard input" if source == "-" else "the stream"


def quoted_names(names: Iterable[str]) -> str:
    """Names in quotes, with commas between."""
    return ", ".join(map(repr, names))


def unreadable(
    source: Source,
    error: str,
    *,
    line: int | None = None,
    word: str = "line",
) -> UnreadableInputError:
    """Make an error that names the file, and the row if it is about one.

    Args:
        source: The file.
        error: What is wrong, and what can be done.
        line: The row's number.
        word: The word for a row; see `ROW_WORDS`.
    """
    where = "" if line is None else f", {word} {line}"
    return UnreadableInputError(f"{name_of(source)}{where}: {error}", line=line)


@contextmanager
def opened(source: Source) -> Iterator[Any]:
    """Open a source to read its lines; a path and standard input give bytes."""
    if is_path(source):
        try:
            with usable_path(source).open("rb") as file:
                yield file
        except OSError as error:
            raise unreadable(
                source,
                _WHY.get(type(error), f"cannot be read: {error.strerror or error}"),
            ) from None
    elif source == "-":
        yield getattr(sys.stdin, "buffer", sys.stdin)
    elif hasattr(source, "readline"):
        yield source
    else:
        raise InvalidValueError(
            f"name a path, '-' for standard input or an open text file to read, got {source!r:.80}"
        )


def text_lines(source: Source) -> Iterator[str]:
    """Yield all lines, split only at line feeds; bytes that are not UTF-8 become surrogates.

    Raises:
        UnreadableInputError: The first bytes show that the file is not text.
    """
    with opened(source) as lines:
        for number, line in enumerate(lines):
            text = line
            if isinstance(line, bytes):
                text = line.decode(errors="surrogateescape")
                for beginning, error in _BINARY.items() if number == 0 else ():
                    if line.startswith(beginning):
                        raise unreadable(source, error)
            yield text if number else text.removeprefix("\ufeff")


def encoding_fault(text: str) -> str:
    """Describe the first byte of a text that was not UTF-8; empty where all were."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"not UTF-8: byte {ord(text[error.start]) & 0xFF:#04x}; save it as UTF-8"
    return ""

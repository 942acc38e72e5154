"""Paths that can be paths, and folders that are this user's alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tcva_adapters.errors import InvalidValueError

_BINARY: Final = getattr(
    os, "O_BINARY", 0
)  # Windows writes line feeds as two characters without it


def usable_path(path: str | Path) -> Path:
    """A path, with the home directory written out.

    Raises:
        InvalidValueError: No file can be there: it holds a NUL character or half a character, or
            begins with the home directory of nobody.
    """
    try:
        found = Path(path).expanduser()
        is_usable = b"\0" not in os.fsencode(found)
    except (RuntimeError, UnicodeEncodeError):
        is_usable = False
    if not is_usable:
        msg = f"no file can have the path {str(path)!r}; give another one"
        raise InvalidValueError(msg)
    return found


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where it is a file


def new_file(path: str | Path) -> int:
    """Make a file for this user alone, and return its open descriptor."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600)

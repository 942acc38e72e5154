"""Files that appear under their names once they are complete, for this user alone."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.paths import make_folder, new_file, usable_path

_BEGINNING: Final = 100


@contextmanager
def replacing(
    target: str | Path, *, ours: re.Pattern[bytes] | None = None, overwrite: bool = False
) -> Iterator[BinaryIO]:
    """A stream whose bytes take the place of a file when the block ends without an error.

    An interrupted or failed block leaves the former file as it was. Missing folders are made. A
    new file can be read by its owner alone, one that takes another's place keeps its mode. A
    symbolic link is followed; a device or a pipe is written to and not replaced.

    Args:
        target: The file.
        ours: See `check_ours`.
        overwrite: See `check_ours`.

    Raises:
        InvalidValueError: The file cannot be written, or is none of ours.
    """
    check_ours(target, ours, overwrite=overwrite)
    path = usable_path(target).resolve()
    draft = path.with_name(f".{path.name[:200]}.{uuid4().hex[:8]}.tmp")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        make_folder(path.parent)
        try:
            with os.fdopen(new_file(draft), "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if path.exists():
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}; give another path"
        raise InvalidValueError(msg) from error


def check_ours(
    target: str | Path, ours: re.Pattern[bytes] | None, *, overwrite: bool = False
) -> None:
    """Refuse to take the place of a file that was written by something else.

    Args:
        target: The file; one that is missing, empty, or no file (a pipe) is never refused.
        ours: What the first hundred bytes of files of this kind match; None refuses nothing.
        overwrite: Take its place, whatever it is.

    Raises:
        InvalidValueError: It begins otherwise, or cannot be read.
    """
    path = usable_path(target)
    if overwrite or ours is None:
        return
    try:
        if not path.is_file():
            return
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        msg = f"cannot read what is in {target}: {error.strerror or error}; give another path"
        raise InvalidValueError(msg) from error
    if beginning and not ours.match(beginning):
        msg = (
            f"{target} was written by something else and is left alone; give another path, or "
            "replace it with overwrite=True (--overwrite)"
        )
        raise InvalidValueError(msg)

"""Write files as a whole, so that only their owner can read them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from tcva_adapters.errors import InvalidValueError

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl

_FIRST_BYTES = 1 << 15  # bytes; paths in it may be long

_BINARY = getattr(os, "O_BINARY", 0)
"""Windows writes line feeds as two characters without it."""


def usable_path(path: str | Path) -> Path:
    """Expand the home directory in a path, and refuse one that no file can have.

    Raises:
        InvalidValueError: No file can be there: it holds a NUL character or half a character,
            begins with the home directory of an unknown user, or is a link to itself.
    """
    with suppress(UnicodeEncodeError, RuntimeError):
        usable = Path(path).expanduser()
        if b"\0" not in os.fsencode(usable) and usable.resolve():
            return usable
    raise InvalidValueError(
        f"{str(path)!r} cannot be the path of a file; give another one"
    )


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, which only their owner can read."""
    for path in reversed(
        [path for path in (folder, *folder.parents) if not path.exists()]
    ):
        path.mkdir(0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where it is a file


def new_file(path: str | Path) -> int:
    """Make a file that only its owner can read, and return its open descriptor."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600)


@contextmanager
def replacing(
    target: str | Path,
    *,
    beginning: re.Pattern[bytes] | None = None,
    overwrite: bool = False,
    fingerprint: str | None = None,
) -> Iterator[BinaryIO]:
    """Open a draft that replaces a file when the block ends without an error.

    An interrupted or failed block leaves the former file as it was. Missing folders are made. A
    new file can be read by its owner alone, one that takes another's place keeps its mode. A
    symbolic link is followed; a device or a pipe is written to and not replaced.

    With a fingerprint the draft of a failed block stays: the next block for the same target and
    the same fingerprint gets it as its stream. Other drafts are left alone.

    Args:
        target: The file.
        beginning: See `check_replaceable`.
        overwrite: See `check_replaceable`.
        fingerprint: Equal for equal contents; None for a draft that is not found again.

    Raises:
        InvalidValueError: The file cannot be written, has other contents, or another process is
            writing the same draft.
    """
    check_replaceable(target, beginning, overwrite=overwrite)
    path = usable_path(target).resolve()
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        make_folder(path.parent)
        draft = _draft(path, fingerprint)
        stream = open_alone(draft, target)
        try:
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if path.exists():
                shutil.copymode(path, draft)
            draft.replace(path)
        except BaseException:
            if fingerprint is None or not draft.stat().st_size:
                draft.unlink()
            raise
    except OSError as error:
        raise InvalidValueError(
            f"cannot write {target}: {error.strerror or error}; give another path"
        ) from error


def _draft(path: Path, fingerprint: str | None) -> Path:
    ending = (
        f"{uuid4().hex[:8]}.tmp"
        if fingerprint is None
        else f"{sha256(fingerprint.encode()).hexdigest()[:16]}.draft"
    )
    return path.with_name(f".{path.name[:200]}.{ending}")


def open_alone(draft: Path, target: str | Path) -> BinaryIO:
    """Open a draft or a lock for this process only.

    Args:
        draft: The file, created where it does not exist.
        target: The file that it stands for, in the message.

    Raises:
        InvalidValueError: Another process has it open.
    """
    stream = os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | _BINARY, 0o600), "r+b")
    try:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError):  # else a file system without locks
            stream.close()
            raise InvalidValueError(
                f"another process is writing {target}; wait for it, or give another path"
            ) from None
    return stream


def check_replaceable(
    target: str | Path,
    beginning: re.Pattern[bytes] | None,
    *,
    overwrite: bool = False,
    what: str = "was not written by this command",
) -> None:
    """Refuse to replace a file that was written by something else.

    Args:
        target: The file; one that is missing, empty, or no file (a pipe) is never refused.
        beginning: How files of this kind begin; None refuses nothing.
        overwrite: Allow any file to be replaced.
        what: The fault of a file that begins otherwise, for the message.

    Raises:
        InvalidValueError: It begins otherwise, or cannot be read.
    """
    path = usable_path(target)
    if overwrite or beginning is None:
        return
    try:
        if not path.is_file():
            return
        with path.open("rb") as file:
            first_bytes = file.read(_FIRST_BYTES)
    except OSError as error:
        raise InvalidValueError(
            f"cannot read {target}: {error.strerror or error}; give another path"
        ) from error
    if first_bytes and not beginning.match(first_bytes):
        raise InvalidValueError(
            f"{target} exists and {what}; give another path, or replace it with --overwrite "
            "(overwrite=True)"
        )

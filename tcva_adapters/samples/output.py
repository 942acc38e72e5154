"""Paths, and files that appear under their names once they are complete, for this user alone."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from tcva_adapters.errors import InvalidValueError

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl

_BEGINNING: Final = 100
_PAUSE: Final = 0.05
"""Seconds between two looks whether another process has ended."""
_BINARY: Final = getattr(os, "O_BINARY", 0)
"""Windows writes line feeds as two characters without it."""


def usable_path(path: str | Path) -> Path:
    """A path, with the home directory written out.

    Raises:
        InvalidValueError: No file can be there: it holds a NUL character or half a character,
            begins with the home directory of nobody, or is a link that leads back to itself.
    """
    why = ""
    try:
        found = Path(path).expanduser()
        if b"\0" not in os.fsencode(found) and found.resolve():
            return found
    except UnicodeEncodeError:
        pass
    except RuntimeError as error:  # which says it in a sentence
        why = f" ({error})"
    msg = f"no file can have the path {str(path)!r}{why}; give another one"
    raise InvalidValueError(msg)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where it is a file


def new_file(path: str | Path) -> int:
    """Make a file for this user alone, and return its open descriptor."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600)


@contextmanager
def replacing(
    target: str | Path,
    *,
    ours: re.Pattern[bytes] | None = None,
    overwrite: bool = False,
    fingerprint: str | None = None,
    patience: float = 0.0,
) -> Iterator[BinaryIO]:
    """The stream of a draft beside a file, which takes its place when the block ends without an error.

    An interrupted or failed block leaves the former file as it was. Missing folders are made. A
    new file can be read by its owner alone, one that takes another's place keeps its mode. A
    symbolic link is followed; a device or a pipe is written to and not replaced.

    With a fingerprint the draft of a failed block stays, as far as it came: the next block for the
    same target under the same fingerprint finds it in its stream. Other drafts are left alone.

    Args:
        target: The file.
        ours: See `check_ours`.
        overwrite: See `check_ours`.
        fingerprint: Equal where what is written is to be equal; None for a draft that nobody finds.
        patience: Seconds to wait for another process that is writing the same draft.

    Raises:
        InvalidValueError: The file cannot be written, is none of ours, or another process is
            writing the same draft.
    """
    check_ours(target, ours, overwrite=overwrite)
    path = usable_path(target).resolve()
    with _errors_of(target):
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        make_folder(path.parent)
        draft = _draft(path, fingerprint)
        stream = _alone(draft, target, patience)
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


def other_drafts(target: str | Path, fingerprint: str | None) -> list[Path]:
    """What blocks under other fingerprints left beside a file, or are writing."""
    path = usable_path(target).resolve()
    drafts = path.parent.glob(f"{escape(_beginning(path))}{'?' * 16}.draft")
    return sorted(each for each in drafts if each != _draft(path, fingerprint))


def _beginning(path: Path) -> str:
    return f".{path.name[:200]}."


def _draft(path: Path, fingerprint: str | None) -> Path:
    if fingerprint is None:
        return path.with_name(f"{_beginning(path)}{uuid4().hex[:8]}.tmp")
    return path.with_name(
        f"{_beginning(path)}{sha256(fingerprint.encode()).hexdigest()[:16]}.draft"
    )


def _alone(draft: Path, target: str | Path, patience: float) -> BinaryIO:
    """A draft, open for this process alone.

    Raises:
        InvalidValueError: Another process has it open.
    """
    until = time.monotonic() + patience
    while True:
        stream = os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | _BINARY, 0o600), "r+b")
        try:
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if draft.exists() and os.path.samestat(draft.stat(), os.fstat(stream.fileno())):
                return stream
        except BlockingIOError:
            if time.monotonic() >= until:
                stream.close()
                msg = f"another process is writing {target}; wait for it, or give another path"
                raise InvalidValueError(msg) from None
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks
            return stream
        stream.close()  # written by another process, or the file by now


@contextmanager
def _errors_of(target: str | Path) -> Iterator[None]:
    try:
        yield
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

"""Files that appear under their names once they are complete, for this user alone."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.paths import make_folder, new_file, usable_path

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl

_BEGINNING: Final = 100
_PAUSE: Final = 0.05
"""Seconds between two looks whether another process has ended."""

_DRAFT: Final = ".draft"


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
    with _errors_of(target):
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        make_folder(path.parent)
        try:
            with os.fdopen(new_file(draft), "wb") as stream:
                yield stream
                _on_disk(stream)
            _take_place(draft, path)
        finally:
            draft.unlink(missing_ok=True)


class Draft:
    """A file under way that grows line by line; see `resumable`.

    Attributes:
        path: Where it is as long as it is no complete file.
        others: Drafts of other runs for the same target.
    """

    def __init__(self, path: Path, stream: BinaryIO, others: Sequence[Path]) -> None:
        self.path, self.others = path, others
        self._stream = stream

    def lines(self) -> Iterator[bytes]:
        """The whole lines that are there, each with its line feed; the rest is not looked at."""
        self._stream.seek(0)
        yield from takewhile(lambda line: line.endswith(b"\n"), self._stream)

    def cut(self, size: int) -> None:
        """Leave so many of its bytes; what is written follows them."""
        self._stream.truncate(size)
        self._stream.seek(size)

    def write(self, line: bytes) -> None:
        """Append a line, which is the system's when this returns: no kill of this process loses it."""
        self._stream.write(line)
        self._stream.flush()


@contextmanager
def resumable(
    target: str | Path,
    fingerprint: str | None,
    *,
    ours: re.Pattern[bytes] | None = None,
    overwrite: bool = False,
    patience: float = 0.0,
) -> Iterator[Draft]:
    """A draft beside a file, which takes its place when the block ends without an error.

    An interrupted or failed block leaves the former file as it was, and the draft as far as it came;
    a block for the same target under the same fingerprint finds it. A draft under another
    fingerprint is left alone.

    Args:
        target: The file; no device or pipe.
        fingerprint: Equal where what is written is to be equal; None for a draft that nobody finds.
        ours: See `check_ours`.
        overwrite: See `check_ours`.
        patience: Seconds to wait for another process that is writing the same draft.

    Raises:
        InvalidValueError: The file cannot be written, is none of ours, or another process is
            writing the same draft.
    """
    check_ours(target, ours, overwrite=overwrite)
    path = usable_path(target).resolve()
    name = uuid4().hex if fingerprint is None else sha256(fingerprint.encode()).hexdigest()
    beginning = f".{path.name[:200]}."
    draft = path.with_name(f"{beginning}{name[:16]}{_DRAFT}")
    with _errors_of(target):
        make_folder(path.parent)
        others = [
            each
            for each in path.parent.glob(f"{escape(beginning)}*{_DRAFT}")
            if each != draft and len(each.name) == len(draft.name)
        ]
        stream = _alone(draft, target, patience)
        try:
            with stream:
                yield Draft(draft, stream, others)
                _on_disk(stream)
            _take_place(draft, path)
        except BaseException:
            if fingerprint is None or not draft.stat().st_size:
                draft.unlink()
            raise


def _alone(draft: Path, target: str | Path, patience: float) -> BinaryIO:
    """A draft, open for this process alone.

    Raises:
        InvalidValueError: Another process has it open.
    """
    until = time.monotonic() + patience
    while True:
        if not draft.exists():
            with suppress(FileExistsError):  # another process was faster
                os.close(new_file(draft))
        stream = draft.open("r+b")
        try:
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.close()
            if time.monotonic() < until:
                time.sleep(_PAUSE)
                continue
            msg = f"another process is writing {target}; wait for it, or give another path"
            raise InvalidValueError(msg) from None
        except OSError:  # a file system without locks
            return stream
        with suppress(FileNotFoundError):
            if os.path.samestat(draft.stat(), os.fstat(stream.fileno())):
                return stream
        stream.close()  # it became the file meanwhile


@contextmanager
def _errors_of(target: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}; give another path"
        raise InvalidValueError(msg) from error


def _on_disk(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _take_place(draft: Path, path: Path) -> None:
    """Make a draft the file, with the mode of the former one."""
    if path.exists():
        shutil.copymode(path, draft)
    draft.replace(path)


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

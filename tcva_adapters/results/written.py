"""Results that are written as they come, and read from their file when somebody looks at them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, overload

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.printing import encodable_json, visible_in_json
from tcva_adapters.results.files import OURS, check_suffix
from tcva_adapters.results.protocol import Scored
from tcva_adapters.samples.output import Draft, resumable, usable_path

R = TypeVar("R", bound=Scored)

STDOUT: Final = "-"

_EVERY: Final = 64
"""Lines between two whose place in the file is known."""


class WrittenResults(Sequence[R]):
    """The results in a file, a line each; none is held.

    Args:
        path: Of the file.
        read: Makes a result of its JSON.
        places: Where every 64th line begins, in bytes.
        number: How many lines there are.
    """

    def __init__(
        self, path: Path, read: Callable[[bytes], R], places: Sequence[int], number: int
    ) -> None:
        self._path, self._read, self._places, self._number = path, read, places, number

    def __len__(self) -> int:
        """How many there are."""
        return self._number

    @overload
    def __getitem__(self, place: int) -> R: ...
    @overload
    def __getitem__(self, place: slice) -> list[R]: ...
    def __getitem__(self, place: int | slice) -> R | list[R]:
        """One of them, read anew, or several."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._number))]
        place = range(self._number)[place]
        with self._path.open("rb") as file:
            file.seek(self._places[place // _EVERY])
            for _ in range(place % _EVERY):
                file.readline()
            return self._read(_bare(file.readline()))

    def __iter__(self) -> Iterator[R]:
        """All of them, from the first to the last."""
        with self._path.open("rb") as file:
            for _ in range(self._number):
                yield self._read(_bare(file.readline()))


class Writing(Generic[R]):
    """The results of one run, under way.

    Attributes:
        others: Drafts of other runs for the same file.
    """

    def __init__(
        self,
        draft: Draft | None,
        path: Path | None,
        read: Callable[[bytes], R],
        *,
        is_list: bool,
        show: Callable[[str], object] | None,
        held: list[R] | None,
        end: Callable[[], None],
    ) -> None:
        """Nothing is written yet.

        Args:
            draft: Where they are written; None for nowhere.
            path: Of the file.
            read: Makes a result of its JSON.
            is_list: Write a list of JSON, in place of a line each.
            show: Told each result as JSON, where it goes elsewhere, too.
            held: Takes them, where they are read again and are in no file.
            end: Gives the file its name.
        """
        self.others: Sequence[Path] = () if draft is None else draft.others
        self._draft, self._path, self._read = draft, path, read
        self._show, self._held = show, held
        self._is_list, self._end = is_list, end
        self._places, self._number, self._size = array("q"), 0, 0

    def found(self) -> Iterator[R]:
        """The results of an interrupted run that are there; what is written follows them.

        A line that was written in half ends them, and so does the first of failures at their end:
        what failed last is tried again.
        """
        if self._draft is None:
            return
        held: list[tuple[R, int]] = []
        for line in self._draft.lines():
            try:
                result = self._read(_bare(line))
            except UnreadableInputError:
                break
            held.append((result, len(line)))
            why = result.unscored
            if why is None or not why.reason.is_failure:
                for each, size in held:
                    self._count(size)
                    yield each
                held.clear()
        self._draft.cut(self._size)

    def add(self, result: R) -> None:
        """Write one result."""
        if self._held is not None:
            self._held.append(result)
        if self._show is not None:
            self._show(result.to_json())
        if self._draft is not None:
            between = ("," if self._number else "[") if self._is_list else ""
            line = f"{between}{result.to_json()}\n".encode()
            self._draft.write(line)
            self._count(len(line))

    def end(self) -> None:
        """All are written: the file appears under its name."""
        if self._draft is not None and self._is_list:
            self._draft.write(b"]\n" if self._number else b"[]\n")
        self._end()

    @property
    def results(self) -> Sequence[R]:
        """All of them, once they are written; none where nobody asked for them."""
        if self._path is None:
            return self._held or ()
        return WrittenResults(self._path, self._read, self._places, self._number)

    def _count(self, size: int) -> None:
        if self._number % _EVERY == 0:
            self._places.append(self._size)
        self._number += 1
        self._size += size


def _bare(line: bytes) -> bytes:
    """A line without what makes it an item of a list."""
    return line[1:] if line[:1] in (b"[", b",") else line


@contextmanager
def writing(
    target: str | None,
    fingerprint: str | None,
    read: Callable[[bytes], R],
    *,
    overwrite: bool = False,
    is_read_again: bool = False,
) -> Iterator[Writing[R]]:
    """Results go into a file as they come; it appears under its name once they all did.

    Args:
        target: The file; ``"-"`` prints them, None writes them nowhere.
        fingerprint: See `resumable`.
        read: Makes a result of its JSON.
        overwrite: See `check_ours`.
        is_read_again: Whether they are read afterwards, and held where they have no file.

    Raises:
        InvalidValueError: As for `resumable`, or the suffix is that of another format.
    """
    path = None if target in (None, STDOUT) else usable_path(str(target)).resolve()
    is_file = path is not None and (path.is_file() or not path.exists())
    show: Callable[[str], object] | None = None
    with ExitStack() as run:
        if not is_file:
            if path is not None:  # a device, or a pipe
                stream = run.enter_context(path.open("w", encoding="utf-8", newline="\n"))
                show = partial(print, file=stream, flush=True)
            elif target == STDOUT:
                show = _print
            path = None
        held: list[R] | None = [] if is_read_again and path is None else None
        draft = None
        if path is not None:
            draft = run.enter_context(resumable(path, fingerprint, ours=OURS, overwrite=overwrite))
        is_list = path is not None and check_suffix(path) == "json"
        how: dict[str, Any] = {"is_list": is_list, "show": show, "held": held}
        yield Writing(draft, path, read, **how, end=run.close)


def _print(text: str) -> None:
    sys.stdout.write(f"{encodable_json(visible_in_json(text), sys.stdout)}\n")
    sys.stdout.flush()

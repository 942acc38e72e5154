"""Ids of which no two are alike, told apart by eight bytes each."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from itertools import islice
from typing import Final

_FIRST_CELLS: Final = 1024
_FULLEST: Final = 0.6
_EMPTY: Final = array("Q", (0,))


class DistinctIds:
    """Numbers the ids that come again: a, a#2, a#3.

    Of an id that came, eight bytes of a hash stay, in a table that is at most 60 % full: 17 MB for
    a million ids, where a set of texts has 100. Two ids of a file of a million have the same eight
    bytes once in 37 million files; the later one is numbered then.

    >>> ids = DistinctIds()
    >>> [ids.unlike(name) for name in ("a", "b", "a", "a")], ids.repeated
    (['a', 'b', 'a#2', 'a#3'], ['a'])
    """

    def __init__(self, *, kept: int | None = None) -> None:
        """Begin without an id.

        Args:
            kept: How many repeated ids are kept for messages; None keeps all.
        """
        self._kept = kept
        self._last: dict[str, int] = {}  # the number that each repeated id was given last
        self._size = 0
        self._cells = _EMPTY * _FIRST_CELLS

    @property
    def repeated(self) -> list[str]:
        """The ids that came again, the first ones."""
        return list(islice(self._last, self._kept))

    @property
    def number(self) -> int:
        """How many came again."""
        return len(self._last)

    def unlike(self, name: str) -> str:
        """The id, or the next number of it where it came before.

        A number that another id took already is left out.
        """
        if self._added(name):
            return name
        number = self._last.get(name, 1) + 1
        while not self._added(f"{name}#{number}"):
            number += 1
        self._last[name] = number
        return f"{name}#{number}"

    def _added(self, name: str) -> bool:
        """Whether the id is new; it no longer is then."""
        key = _key(name)
        cell = self._cell(key)
        if self._cells[cell]:
            return False
        self._cells[cell] = key
        self._size += 1
        if self._size > _FULLEST * len(self._cells):
            self._grow()
        return True

    def _cell(self, key: int) -> int:
        """Where the key is, or the empty cell where it belongs."""
        cells = self._cells
        last = len(cells) - 1
        cell = key & last
        while (found := cells[cell]) and found != key:
            cell = (cell + 1) & last
        return cell

    def _grow(self) -> None:
        before = self._cells
        self._cells = _EMPTY * (2 * len(before))
        for key in before:
            if key:
                self._cells[self._cell(key)] = key


def _key(name: str) -> int:
    """Eight bytes of a hash, the same in every process; 0 is an empty cell's."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) or 1

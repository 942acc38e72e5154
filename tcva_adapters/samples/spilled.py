"""Lists and mappings whose items are made when somebody looks at them, also from a temporary file."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Any, Final, Generic, TypeVar, overload
from weakref import finalize

Item = TypeVar("Item")
Made = TypeVar("Made")

_IN_MEMORY: Final = 2**22
"""Bytes; beyond, the items go into a temporary file."""


class OnDemand(Sequence[Item], Generic[Item]):
    """A list that makes each item anew at every look, so that changing one changes nothing here."""

    @abstractmethod
    def _at(self, place: int) -> Item:
        """The item at a place, from 0."""

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        """One of them, or several."""
        if isinstance(place, slice):
            return [self._at(each) for each in range(*place.indices(len(self)))]
        return self._at(range(len(self))[place])

    def __iter__(self) -> Iterator[Item]:
        """All of them, from the first to the last."""
        return map(self._at, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether another sequence holds equal items in the same order."""
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of any list

    def __repr__(self) -> str:
        """Its size, as its items may be many."""
        return f"<{len(self)} items, made on demand>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Its items: files stay where they are."""
        return list, (list(self),)


class Spilled(OnDemand[Item]):
    """A list that holds eight bytes of each item; the rest lies in a temporary file without a name.

    The file is made beyond four megabytes, and ends with the list.

    >>> found = Spilled(["a", "b"])
    >>> found.append("c")
    >>> found[-1], list(found), len(found)
    ('c', ['a', 'b', 'c'], 3)
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        """Begin with some items."""
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # it lives as long as the list
        self._begins = array("q", [0])
        self._place = Lock()
        finalize(self, self._file.close)
        for item in items:
            self.append(item)

    def append(self, item: Item) -> None:
        """One more."""
        data = pickle.dumps(item, protocol=5)
        with self._place:
            self._file.seek(self._begins[-1])
            self._file.write(data)
            self._begins.append(self._begins[-1] + len(data))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._begins) - 1

    def _at(self, place: int) -> Item:
        begin, end = self._begins[place], self._begins[place + 1]
        with self._place:  # which whoever else reads the list moves
            self._file.seek(begin)
            data = self._file.read(end - begin)
        found: Item = pickle.loads(data)  # noqa: S301  # written here, in a file without a name
        return found


class Viewed(OnDemand[Made], Generic[Item, Made]):
    """What is made of the items of another sequence.

    >>> list(Viewed([1, 2], str))
    ['1', '2']
    """

    def __init__(self, items: Sequence[Item], make: Callable[[Item], Made]) -> None:
        self._items, self._make = items, make

    def __len__(self) -> int:
        """How many there are."""
        return len(self._items)

    def _at(self, place: int) -> Made:
        return self._make(self._items[place])

    def __iter__(self) -> Iterator[Made]:
        """All of them, from the first to the last."""
        return map(self._make, self._items)


class ByName(Mapping[str, Made], Generic[Item, Made]):
    """Items of a sequence by name.

    Args:
        places: Where the item of each name is.
        items: The sequence.
        make: What is looked up, made of an item; None where there is nothing under its name.

    >>> found = ByName({"a": 1, "b": 0}, ["", "x"], lambda text: text or None)
    >>> found["a"], found.get("b")
    ('x', None)
    """

    def __init__(
        self,
        places: Mapping[str, int],
        items: Sequence[Item],
        make: Callable[[Item], Made | None],
    ) -> None:
        self._places, self._items, self._make = places, items, make

    def __getitem__(self, name: str) -> Made:
        """What is under a name."""
        found = self._make(self._items[self._places[name]])
        if found is None:
            raise KeyError(name)
        return found

    def __len__(self) -> int:
        """How many names there are, also those with nothing."""
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        """These names."""
        return iter(self._places)

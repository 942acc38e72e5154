"""Read the items of a file from its rows, one by one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import islice, repeat
from typing import (
    Any,
    Generic,
    Self,
    TypeVar,
)

from tcva_adapters.errors import (
    InvalidSampleError,
    UnreadableInputError,
)
from tcva_adapters.samples.file_formats import (
    ROW_WORDS,
    Format,
    format_of,
    read_records,
    record_of,
)
from tcva_adapters.samples.sources import Source, name_of, unreadable
from tcva_adapters.tables import Record

Item = TypeVar("Item")

KEPT = 20
"""Bad rows that are kept for messages; the rest are counted."""

READ_AHEAD = 10_000
"""Items that are read before a model is paid for any of them."""


class RowStream(Iterator[Item], Generic[Item]):
    """The items of a file, read when they are asked for. It is read once.

    Attributes:
        source: The file.
        kind: Its format.
        line: The line (csv, jsonl), item (json) or row (parquet) of the last item returned.
        number: How many items were returned.
        bad: Line and message of the first bad rows that were skipped.
        skipped: The number of all bad rows that were skipped.
        total: How many items there are, where `check` has seen them all; None otherwise.
    """

    def __init__(
        self,
        source: Source,
        kind: Format | None,
        *,
        skip_bad: bool | None,
        read: Callable[[Record], Item],
        kept: int | None = KEPT,
        parse: Callable[[str], Any] = record_of,
    ) -> None:
        """Prepare to read; no row is read yet.

        Args:
            source: As for `read_records`.
            kind: As for `read_records`.
            skip_bad: Go on after a bad row and count it; None where that is never offered.
            read: Makes an item of a record; raises InvalidSampleError or UnreadableInputError.
            kept: How many bad rows are kept; None keeps all.
            parse: Makes a record, or at once an item, of a line of jsonl.

        Raises:
            InvalidValueError: An unknown format or suffix.
        """
        self.source = source
        self.kind = format_of(source, kind)
        self._skip_bad = skip_bad
        self._kept = kept
        self._read = read
        self._parse = parse
        self._begin()

    def _begin(self) -> None:
        self.line = self.number = self.skipped = 0
        self.bad: list[tuple[int, str]] = []
        self.total: int | None = None
        self._ahead: deque[tuple[int, Item]] = deque()
        self._rows = self._items()

    def __next__(self) -> Item:
        """Read the next item.

        Raises:
            UnreadableInputError: A bad row where none is to be skipped, a file that cannot be read,
                or, at its end, one without any item.
        """
        self.line, item = self._ahead.popleft() if self._ahead else next(self._rows)
        self.number += 1
        return item

    def again(self) -> Self:
        """Return a stream of the same file from its beginning."""
        other = copy(self)
        other._begin()  # noqa: SLF001  # another one of this class
        return other

    def check(self, rows: int = READ_AHEAD) -> None:
        """Read the first rows and hold them, so that what is wrong is known before any is used.

        Args:
            rows: How many items.

        Raises:
            UnreadableInputError: As when they are read.
        """
        self._ahead.extend(islice(self._rows, rows))
        n_items = len(self._ahead)
        self.total = n_items if n_items < rows else None

    @property
    def held(self) -> list[Item] | None:
        """The items that `check` has read, where there are no others; else None."""
        if self.total is None:
            return None
        return [item for _, item in self._ahead]

    @property
    def notes(self) -> list[str]:
        """Sentences on the bad rows that were skipped so far."""
        return skipped_rows(self.bad, self.skipped)

    def _items_of(self, record: Record, line: int) -> Iterable[Item]:  # noqa: ARG002  # others need it
        return [self._read(record)]

    def _items(self) -> Iterator[tuple[int, Item]]:
        has_items = False
        for line, record, error in read_records(
            self.source, self.kind, parse=self._parse
        ):
            fault = error
            if not fault:
                try:
                    items = (
                        self._items_of(record, line)
                        if isinstance(record, dict)
                        else [record]
                    )
                except (InvalidSampleError, UnreadableInputError) as refusal:
                    fault = str(refusal)
                else:
                    has_items = True
                    yield from zip(repeat(line), items)
                    continue
            self._refuse(line, fault)
        if not has_items:
            msg = f"{name_of(self.source)} has no records"
            if self.bad:
                line, fault = self.bad[0]
                msg = f"{name_of(self.source)} has no readable records (skipped: {self.skipped}); {ROW_WORDS[self.kind]} {line}: {fault}"
            raise UnreadableInputError(msg)

    def _refuse(self, line: int, fault: str) -> None:
        """Count a bad row, or stop at it."""
        if not self._skip_bad:
            if self._skip_bad is False:
                fault += "; --skip-bad leaves such rows out"
            raise unreadable(self.source, fault, line=line, word=ROW_WORDS[self.kind])
        self.skipped += 1
        if self._kept is None or len(self.bad) < self._kept:
            self.bad.append((line, fault))


def skipped_rows(
    bad: Sequence[tuple[int, str]],
    number: int,
    where: str = "",
) -> list[str]:
    """Describe the first bad rows in sentences, and say how many more there are.

    Args:
        bad: Line and message of the first ones.
        number: The number of all bad rows.
        where: Names the file where there are several.

    >>> skipped_rows([(3, "not JSON")], 2)
    ['skipped line 3: not JSON', 'skipped 1 more']
    """
    sentences = [f"skipped line {line}{where}: {message}" for line, message in bad]
    if number > len(bad):
        sentences.append(f"skipped {number - len(bad)} more{where}")
    return sentences

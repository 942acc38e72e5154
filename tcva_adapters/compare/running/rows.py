"""The rows of a run as columns: 40 bytes a row, whatever stands in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.table import Row
from tcva_adapters.samples.spilled import OnDemand

_NONE: Final = -1
"""In the place of a count that nobody knows."""

_Counts = npt.NDArray[np.int64]


class Rows(OnDemand[Row]):
    """A row for every sample and method, sample by sample; each is made when it is looked at.

    >>> rows = Rows(["a", "b"], ["ours", "theirs"])
    >>> rows.put(1, 0, Row("b", "ours", 0.5, calls=2))
    >>> rows[2]
    Row(sample='b', method='ours', score=0.5, unscored='', calls=2, input_tokens=None, output_tokens=None, seconds=None)
    """

    def __init__(self, samples: Sequence[str], methods: Sequence[str]) -> None:
        """Begin with rows that hold nothing.

        Args:
            samples: Ids.
            methods: Names.
        """
        self._samples, self._methods = samples, methods
        shape = len(samples), len(methods)
        self._scores, self._seconds = np.full(shape, np.nan), np.full(shape, np.nan)
        self._calls: _Counts = np.full(shape, _NONE)
        self._inputs: _Counts = np.full(shape, _NONE)
        self._outputs: _Counts = np.full(shape, _NONE)
        self._unscored: dict[int, str] = {}

    def put(self, sample: int, method: int, row: Row) -> None:
        """Set the row of a sample and a method, by their places."""
        at = sample, method
        if row.score is not None:
            self._scores[at] = row.score
        if row.seconds is not None:
            self._seconds[at] = row.seconds
        for column, count in (
            (self._calls, row.calls),
            (self._inputs, row.input_tokens),
            (self._outputs, row.output_tokens),
        ):
            column[at] = _NONE if count is None else count
        if row.unscored:
            self._unscored[sample * len(self._methods) + method] = intern(row.unscored)

    def __len__(self) -> int:
        """Samples by methods."""
        return self._scores.size

    def _at(self, place: int) -> Row:
        sample, method = divmod(place, len(self._methods))
        score, seconds = self._scores.item(place), self._seconds.item(place)
        return Row(
            self._samples[sample],
            self._methods[method],
            None if score != score else score,  # noqa: PLR0124  # nan
            self._unscored.get(place, ""),
            calls=_known(self._calls.item(place)),
            input_tokens=_known(self._inputs.item(place)),
            output_tokens=_known(self._outputs.item(place)),
            seconds=None if seconds != seconds else seconds,  # noqa: PLR0124  # nan
        )


class Joined(OnDemand[Row]):
    """Several sequences of rows one after the other, as one."""

    def __init__(self, *parts: Sequence[Row]) -> None:
        self._parts = [part for part in parts if part]

    def __len__(self) -> int:
        """Rows of all of them."""
        return sum(map(len, self._parts))

    def _at(self, place: int) -> Row:
        for part in self._parts:
            if place < len(part):
                return part[place]
            place -= len(part)
        raise IndexError(place)

    def __iter__(self) -> Iterator[Row]:
        """All of them."""
        return (row for part in self._parts for row in part)


def _known(count: int) -> int | None:
    return None if count == _NONE else count

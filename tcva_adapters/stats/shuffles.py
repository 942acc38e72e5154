"""Tables whose rows are shuffled, many at once: what a randomisation test draws.

Rows are grouped by where they have scores. For up to eight scores in a row, one number draws one
of all orders, which are listed once; that is several times faster than shuffling.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import FloatArray, IntArray

LISTED: Final = 8
"""Most scores in a row whose orders are listed: 8! fits into 16 bits."""

CELLS: Final = 2**19
"""Cells worked on at once, so that they stay in the processor's cache."""


BLOCK: Final = 1024
"""Most copies drawn at once."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with scores in the same columns, which are shuffled one by one.

    Attributes:
        rows: Which rows of the table.
        columns: Which columns have the scores, k of them.
        values: The scores, shape (rows, k).
    """

    rows: IntArray
    columns: IntArray
    values: FloatArray

    def add_sums(self, rng: np.random.Generator, sums: FloatArray) -> None:
        sums[:, self.columns] += self.copies(rng, len(sums)).sum(axis=1)

    def copies(self, rng: np.random.Generator, number: int) -> FloatArray:
        same = np.broadcast_to(self.values, (number, *self.values.shape))
        shuffled: FloatArray = rng.permuted(same, axis=2)
        return shuffled


@dataclass(frozen=True, eq=False)
class _ListedRows(_Rows):
    """The same for a few scores in a row; one number stands for one of all orders.

    Attributes:
        orders: All orders of k, shape (k, k!).
    """

    orders: npt.NDArray[np.intp]

    def add_sums(self, rng: np.random.Generator, sums: FloatArray) -> None:
        drawn = self._draw(rng, len(sums))
        flat = self.values.ravel()
        first = np.arange(0, flat.size, len(self.columns))
        places = np.empty(drawn.shape, dtype=np.intp)
        scores = np.empty(drawn.shape)
        left = np.full(len(sums), flat.sum())
        for column, order in zip(self.columns[:-1], self.orders, strict=False):
            # "clip" checks nothing, which spares a copy; every place lies inside.
            np.take(order, drawn, out=places, mode="clip")
            places += first
            np.take(flat, places, out=scores, mode="clip")
            total = scores.sum(axis=1)
            sums[:, column] += total
            left -= total
        # What a row gives to the other columns leaves the rest for the last one.
        sums[:, self.columns[-1]] += left

    def copies(self, rng: np.random.Generator, number: int) -> FloatArray:
        orders = self.orders.T[self._draw(rng, number)]
        copied: FloatArray = np.take_along_axis(self.values[None], orders, axis=2)
        return copied

    def _draw(self, rng: np.random.Generator, number: int) -> npt.NDArray[np.uint16]:
        return rng.integers(0, self.orders.shape[1], (number, len(self.rows)), dtype=np.uint16)


class Shuffles:
    """Shuffled copies of a table: each row's scores change places, empty cells stay where they are.

    Draws come in blocks of a size that depends on the table alone. So the same seed gives the
    same copies, and a longer run begins with those of a shorter one.

    Args:
        table: Shape (N, S), nan where there is no score.
        seed: Not negative.
    """

    def __init__(self, table: FloatArray, seed: int) -> None:
        self._table = table
        self._rng = np.random.Generator(np.random.PCG64(seed))
        present = ~np.isnan(table)
        filled = np.where(present, table, 0.0)
        low = np.where(present, table, np.inf).min(axis=1)
        high = np.where(present, table, -np.inf).max(axis=1)
        moves = high > low
        self._fixed: FloatArray = filled[~moves].sum(axis=0)
        self._groups = [
            _group(table, np.flatnonzero(moves)[members], columns)
            for columns, members in _patterns(present[moves])
        ]
        cells = max((group.values.size for group in self._groups), default=1)
        self._block = min(BLOCK, max(1, CELLS // cells))

    def sums(self, number: int) -> Iterator[FloatArray]:
        """Column sums of that many copies, in blocks of shape (copies, S)."""
        for start in range(0, number, self._block):
            sums = np.tile(self._fixed, (self._block, 1))
            for group in self._groups:
                group.add_sums(self._rng, sums)
            yield sums[: number - start]

    def tables(self, number: int) -> Iterator[FloatArray]:
        """The copies themselves, one by one."""
        for start in range(0, number, self._block):
            block = np.tile(self._table, (self._block, 1, 1))
            for group in self._groups:
                cells = np.ix_(np.arange(self._block), group.rows, group.columns)
                block[cells] = group.copies(self._rng, self._block)
            yield from block[: number - start]


def _patterns(present: npt.NDArray[np.bool_]) -> Iterator[tuple[IntArray, IntArray]]:
    """Columns and rows of each way in which a row can be filled."""
    if not len(present):
        return
    ways, codes = np.unique(present, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(ways)))[:-1]
    for way, members in zip(ways, np.split(order, ends), strict=True):
        yield np.flatnonzero(way), members


def _group(table: FloatArray, rows: IntArray, columns: IntArray) -> _Rows:
    values = np.ascontiguousarray(table[np.ix_(rows, columns)])
    k = len(columns)
    if k > LISTED:
        return _Rows(rows, columns, values)
    listed = np.fromiter(permutations(range(k)), np.dtype((np.intp, k)), math.factorial(k))
    return _ListedRows(rows, columns, values, np.ascontiguousarray(listed.T))

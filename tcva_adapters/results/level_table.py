"""Level counts of many samples, in blocks: a few in memory, more in a temporary file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Any, Final, Self
from weakref import finalize

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.kernel import GRAINS
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.results.columns import PLACES, JudgedColumns

BLOCK: Final = 65_536
"""Samples that are looked at together: enough of them for equal ones to be scored once."""

_ADDED: Final = 8192
"""Samples that are added together; their claims are in memory until then."""

_IN_MEMORY: Final = 2**22
"""Bytes; beyond, the counts go into a temporary file."""

_LEVELS: Final = len(LEVELS)


class LevelTable:
    """Level counts of each sample by each of its judges, shape (N, J, 5), in order.

    They take forty bytes a sample and judge. Those of many samples lie in a temporary file without
    a name, which ends with the table.
    """

    def __init__(self, judges: int = 1) -> None:
        """Begin without a sample.

        Args:
            judges: J, of each sample.
        """
        self.judges = judges
        self._size = 0
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # it lives as long as the table
        self._place = Lock()
        finalize(self, self._file.close)

    @classmethod
    def of(cls, counts: FloatArray) -> Self:
        """The table of an array, shape (N, J, 5)."""
        table = cls(counts.shape[1])
        table.append(counts)
        return table

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[Any, ...]:
        return LevelTable.of, (self.whole(),)

    def append(self, counts: FloatArray) -> None:
        """Add samples, shape (n, J, 5)."""
        with self._place:
            self._file.seek(0, 2)
            self._file.write(counts.tobytes())
        self._size += len(counts)

    def blocks(self) -> Iterator[FloatArray]:
        """All samples in order, at most `BLOCK` at a time: shapes (n, J, 5)."""
        row = self.judges * _LEVELS * np.dtype(np.float64).itemsize
        for start in range(0, self._size, BLOCK):
            with self._place:  # which whoever else reads the table moves
                self._file.seek(start * row)
                read = self._file.read(min(BLOCK, self._size - start) * row)
            yield np.frombuffer(read).reshape(-1, self.judges, _LEVELS)

    def whole(self) -> FloatArray:
        """All samples at once."""
        return np.concatenate([np.empty((0, self.judges, _LEVELS)), *self.blocks()])


class LevelRows:
    """Makes the table of the rows of a file, which come one after the other.

    How many judges there are says the first row with a score. `Judged` refuses files where another
    one has more or fewer; here they are cut, or filled up with zeros.
    """

    def __init__(self) -> None:
        """Begin without a row."""
        self._table = LevelTable()
        self._has_judges = False
        self._hard = array("q")
        self._shares = array("d")
        self._places = array("q")

    def add(self, row: JudgedColumns) -> None:
        """One sample more."""
        members = row.get("members", ())
        if not self._has_judges and row.get("unscored") is None:
            self._has_judges = True
            before = self.finish()
            self._table = LevelTable(1 + len(members))
            self._table.append(np.zeros((len(before), self._table.judges, _LEVELS)))
        judges = self._table.judges
        for judged in (row, *members)[:judges]:
            self._count(judged)
        self._hard.extend([0] * (_LEVELS * (judges - 1 - len(members))))
        if len(self._hard) >= _ADDED * judges * _LEVELS:
            self.finish()

    def finish(self) -> LevelTable:
        """The table, with the rows that were not in it yet."""
        hard = np.frombuffer(self._hard, np.int64).reshape(-1, _LEVELS)
        soft = np.zeros(hard.shape, np.int64)
        shares = np.frombuffer(self._shares).reshape(-1, _LEVELS)
        np.add.at(soft, np.frombuffer(self._places, np.int64), _in_grains(shares))
        counts = hard + soft / GRAINS
        self._table.append(counts.reshape(-1, self._table.judges, _LEVELS))
        self._hard, self._shares, self._places = array("q"), array("d"), array("q")
        return self._table

    def _count(self, judged: JudgedColumns) -> None:
        """The same as `Assessment.counts`, for all samples of a block at once."""
        counts = [0] * _LEVELS
        if judged.get("unscored") is None:
            for claim in judged.get("claims", ()):
                level, shares = claim["verdict"], claim.get("probabilities")
                if level is None:
                    continue
                if shares:
                    self._shares.extend(shares)
                    self._places.append(len(self._hard) // _LEVELS)
                else:
                    counts[PLACES[level]] += 1
        self._hard.extend(counts)


def _in_grains(shares: FloatArray) -> npt.NDArray[np.int64]:
    """Shares of claims as whole numbers of 2**-30 that add up to 1, see `Assessment.counts`."""
    grains = np.rint(shares * GRAINS).astype(np.int64)
    largest = grains.argmax(axis=1)
    grains[np.arange(len(grains)), largest] += int(GRAINS) - grains.sum(axis=1)
    return grains

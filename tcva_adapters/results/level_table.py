"""Level counts of many samples, in blocks: a few in memory, more in a temporary file."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Any, Final, Self
from weakref import finalize

import numpy as np

from tcva_adapters.core.evidence import (
    DEFAULT_EVIDENCE,
    EVIDENCE,
    Evidence,
    Shares,
    Vote,
    own_shares,
    unsupported,
)
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.columns import PLACES, ClaimColumns, JudgedColumns, has_fault
from tcva_adapters.results.evidence_view import under

BLOCK: Final = 65_536
"""Samples that are looked at together: enough of them for equal ones to be scored once."""

_ADDED: Final = 8192
"""Samples that are added together; their claims are in memory until then."""

_IN_MEMORY: Final = 2**22
"""Bytes; beyond, the counts go into a temporary file."""

_LEVELS: Final = len(LEVELS)
_USUAL: Final = DEFAULT_EVIDENCE


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

    def copy(self) -> LevelTable:
        """Another table of the same samples."""
        table = LevelTable(self.judges)
        for block in self.blocks():
            table.append(block)
        return table

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
    """Makes the tables of the rows of a file, which come one after the other: one for each view.

    How many judges there are says the first row with a score. `Judged` refuses files where another
    one has more or fewer; here they are cut, or filled up with zeros.
    """

    def __init__(self) -> None:
        """Begin without a row."""
        self._has_judges = False
        self._usual = _Rows(LevelTable())
        self._others: dict[Evidence, _Rows] = {}

    def add(self, row: JudgedColumns, *, has_faults: bool) -> None:
        """One sample more.

        Args:
            row: The sample.
            has_faults: Whether there is a verdict that its quote does not support.
        """
        members = row.get("members", ())
        is_scored = row.get("unscored") is None
        if is_scored and not self._has_judges:
            self._has_judges = True
            before = self._usual.finish()
            self._usual = _Rows(LevelTable(1 + len(members)))
            self._usual.table.append(np.zeros((len(before), 1 + len(members), _LEVELS)))
        differs = has_faults and self._has_judges
        if differs and not self._others:
            # Until here all views are one.
            table = self._usual.finish()
            self._others = {view: _Rows(table.copy()) for view in EVIDENCE if view != _USUAL}
        counted = [_stored(judged) for judged in (row, *members)]
        self._usual.put(counted)
        for view, rows in self._others.items():
            if differs:
                counted = [_counted(_votes_under(each, view)) for each in (row, *members)]
            rows.put(counted)

    def finish(self) -> dict[Evidence, LevelTable]:
        """The table of each view, with the rows that were not in it yet; one where all are alike."""
        usual = self._usual.finish()
        others = {view: rows.finish() for view, rows in self._others.items()}
        return {view: others.get(view, usual) for view in EVIDENCE}


_Counted = tuple[list[int], list[Shares]]
"""Of one judge of a sample: how many verdicts each level has, and the shares of the others."""


class _Rows:
    """The rows of one table that are not in it yet."""

    def __init__(self, table: LevelTable) -> None:
        self.table = table
        self._counts = array("d")

    def put(self, counted: Sequence[_Counted]) -> None:
        """One sample more, of whose judges the first ones count."""
        judges = self.table.judges
        for counts, shares in counted[:judges]:
            self._counts.extend(
                math.fsum((n, *column)) for n, *column in zip(counts, *shares, strict=True)
            )
        self._counts.extend([0.0] * (_LEVELS * (judges - len(counted))))
        if len(self._counts) >= _ADDED * judges * _LEVELS:
            self.finish()

    def finish(self) -> LevelTable:
        """The table with all rows."""
        counts = np.frombuffer(self._counts).reshape(-1, self.table.judges, _LEVELS)
        self.table.append(counts)
        self._counts = array("d")
        return self.table


def _stored(judged: JudgedColumns) -> _Counted:
    """What a judge gave, as it is stored; nothing where there is no score."""
    counts, soft = [0] * _LEVELS, []
    if judged.get("unscored") is None:
        # Written out, and not by way of votes: this runs for every claim of millions.
        for claim in judged.get("claims", ()):
            level, shares = claim["verdict"], claim.get("probabilities")
            if level is None:
                continue
            if shares:
                soft.append(shares)
            else:
                counts[PLACES[level]] += 1
    return counts, soft


def _votes_under(judged: JudgedColumns, evidence: Evidence) -> Iterable[Vote]:
    """The verdicts under another view than the stored one; none where there is no score."""
    if judged.get("unscored") is not None:
        return []
    if judged.get("panel"):
        # Combined again by the one who does so elsewhere, too.
        seen = under(Assessment.model_validate(judged), evidence)
        return [(claim.verdict, claim.probabilities) for claim in seen.claims]
    return [_vote_under(claim, evidence) for claim in judged.get("claims", ())]


def _vote_under(claim: ClaimColumns, evidence: Evidence) -> Vote:
    """The same as `claim_under`."""
    level, shares = claim["verdict"], claim.get("probabilities")
    if level is None or not has_fault(claim):
        return level, shares
    original = claim.get("original_verdict")
    own = original or level
    given = own_shares(own, original, shares, claim.get("original_probabilities"))
    return unsupported(own, given, evidence)


def _counted(votes: Iterable[Vote]) -> _Counted:
    """The same as `_stored`."""
    votes = [vote for vote in votes if vote[0] is not None]
    counts = [0] * _LEVELS
    for level, shares in votes:
        if level is not None and not shares:
            counts[PLACES[level]] += 1
    return counts, [shares for _, shares in votes if shares]

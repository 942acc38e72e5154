"""The level counts that scores are made of, of many assessments in one array."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import Evidence, under

_BLOCK: Final = 8192

Counts = npt.NDArray[np.float32] | npt.NDArray[np.float64]
"""Level counts, shape (N, J, 5), the main judge first: in four bytes each where they are whole."""


class LevelCounts:
    """The level counts of assessments that come one after the other, lowered and as judged."""

    def __init__(self) -> None:
        """Begin without one."""
        self._lower, self._own = _Rows(), _Rows()
        self._places: list[int] = []

    def add(self, judged: Assessment, *, is_lowered: bool) -> None:
        """One more.

        Args:
            judged: As it is stored.
            is_lowered: Whether one of its verdicts was lowered for its quote.
        """
        if is_lowered and judged.unscored is None:
            self._places.append(self._lower.number)
            self._own.add(under(judged, "off"))
        self._lower.add(judged)

    def finish(self) -> dict[Evidence, Counts]:
        """The counts of each; one array where they are alike."""
        lower = off = self._lower.whole()
        if self._places:
            own = self._own.whole()
            off = lower.astype(np.result_type(lower, own))
            off[self._places] = own
        return {"lower": lower, "off": off}


class _Rows:
    """Rows of counts, packed into arrays as they come."""

    def __init__(self) -> None:
        self.number = 0
        self._rows: list[list[float]] = []
        self._blocks: list[Counts] = []

    def add(self, judged: Assessment) -> None:
        self.number += 1
        self._rows.append([n for each in (judged, *judged.members) for n in each.level_counts])
        if len(self._rows) == _BLOCK:
            self._pack()

    def whole(self) -> Counts:
        self._pack()
        width = max(block.shape[1] for block in self._blocks)
        wide = [np.pad(b, ((0, 0), (0, width - b.shape[1]))) for b in self._blocks]
        return np.concatenate(wide).reshape(self.number, -1, len(LEVELS))

    def _pack(self) -> None:
        # Samples without a score have no additional judges: zeros stand for these.
        width = max(map(len, self._rows), default=len(LEVELS))
        rows = [row + [0.0] * (width - len(row)) for row in self._rows]
        self._blocks.append(packed(np.array(rows).reshape(-1, width)))
        self._rows = []


def packed(counts: npt.NDArray[np.float64]) -> Counts:
    """The same numbers in four bytes each, where these hold them."""
    small = counts.astype(np.float32)
    return small if np.array_equal(small, counts) else counts

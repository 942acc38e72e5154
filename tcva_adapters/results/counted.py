"""The level counts that scores are made of, of many assessments in one array."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.results.assessment import Assessment


class LevelCounts:
    """Of assessments that come one after the other: 40 bytes of each are held, and one of each judge.

    Attributes:
        judges: How many judges each sample has.
    """

    def __init__(self) -> None:
        self._numbers, self.judges = array("d"), array("B")

    def add(self, seen: Assessment) -> None:
        """One more sample, under a view of its evidence (see `under`)."""
        for part in (seen, *seen.members):
            self._numbers.extend(part.level_counts)
        self.judges.append(1 + len(seen.members))

    def table(self) -> FloatArray:
        """Shape (N, J, 5), the main judge first, then those whose scores are fused with its.

        A judge without verdicts has a row of zeros. Nothing can be added any more: what there is of
        a single judge is not copied.
        """
        flat = np.frombuffer(self._numbers).reshape(-1, len(LEVELS))
        judges = np.frombuffer(self.judges, dtype=np.uint8)
        width = int(judges.max(initial=1))
        if width == 1:
            return flat[:, None]
        table = np.zeros((len(judges), width, len(LEVELS)))
        # Samples without a score have no additional judges: zeros stand for these.
        table[np.arange(width) < judges[:, None]] = flat
        return table


def judged_counts(assessments: Iterable[Assessment]) -> FloatArray:
    """The same of an iterable; none of them is held.

    >>> judged_counts([Assessment.from_verdicts(["fully", "none"])]).tolist()
    [[[1.0, 0.0, 0.0, 0.0, 1.0]]]
    """
    counts = LevelCounts()
    for assessment in assessments:
        counts.add(assessment)
    return counts.table()

"""The level counts that scores are made of, of many assessments in one array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import is_
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import Evidence, under

_BLOCK: Final = 8192
_NOTHING: Final = (0.0,) * len(LEVELS)

_Row = list[tuple[float, ...]]
Counts = npt.NDArray[np.float32] | npt.NDArray[np.float64]
"""Level counts, shape (N, J, 5), the main judge first: in four bytes each where they are whole."""


def judged_counts(assessments: Sequence[Assessment]) -> FloatArray:
    """What scores are made of: the level counts of each sample by each of its judges.

    Args:
        assessments: As they are stored, or under a view of their evidence (see `under`).

    Returns:
        Shape (N, J, 5), the main judge first, then those whose scores are fused with its; a row of
        zeros where a judge has no verdicts.

    >>> judged_counts([Assessment.from_verdicts(["fully", "none"])]).tolist()
    [[[1.0, 0.0, 0.0, 0.0, 1.0]]]
    """
    return _table([_levels(each) for each in assessments])


def level_tables(assessments: Iterable[Assessment]) -> dict[Evidence, Counts]:
    """The level counts under each view of the evidence, one array where they are alike.

    Args:
        assessments: As they are stored; none of them is held.
    """
    lower: list[Counts] = []
    off: list[Counts] = []
    rows = _by_view(assessments)
    while some := list(islice(rows, _BLOCK)):
        lower.append(_packed(_table([row for row, _ in some])))
        is_alike = all(own is row for row, own in some)
        off.append(lower[-1] if is_alike else _packed(_table([own for _, own in some])))
    table = _joined(lower)
    return {"lower": table, "off": table if all(map(is_, lower, off)) else _joined(off)}


def _levels(assessment: Assessment) -> _Row:
    return [each.level_counts for each in (assessment, *assessment.members)]


def _by_view(assessments: Iterable[Assessment]) -> Iterator[tuple[_Row, _Row]]:
    for each in assessments:
        row, own = _levels(each), under(each, "off")
        yield row, row if own is each else _levels(own)


def _table(rows: Sequence[_Row]) -> FloatArray:
    width = max(map(len, rows), default=1)
    # Samples without a score have no additional judges: zeros stand for these.
    table = [row + [_NOTHING] * (width - len(row)) for row in rows]
    return np.array(table, dtype=np.float64).reshape(-1, width, len(LEVELS))


def _packed(counts: FloatArray) -> Counts:
    """The same numbers in four bytes each, where these hold them."""
    small = counts.astype(np.float32)
    return small if np.array_equal(small, counts) else counts


def _joined(tables: Sequence[Counts]) -> Counts:
    width = max((table.shape[1] for table in tables), default=1)
    return np.concatenate([np.pad(t, ((0, 0), (0, width - t.shape[1]), (0, 0))) for t in tables])

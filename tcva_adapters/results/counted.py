"""The level counts that scores are made of, of many assessments in one array."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import Evidence, under


def judged_counts(assessments: Iterable[Assessment]) -> FloatArray:
    """What scores are made of: the level counts of each sample by each of its judges.

    Args:
        assessments: As they are stored, or under a view of their evidence (see `under`); none of
            them is held.

    Returns:
        Shape (N, J, 5), the main judge first, then those whose scores are fused with its; a row of
        zeros where a judge has no verdicts.

    >>> judged_counts([Assessment.from_verdicts(["fully", "none"])]).tolist()
    [[[1.0, 0.0, 0.0, 0.0, 1.0]]]
    """
    numbers, judges = array("d"), array("l")
    for each in assessments:
        _add(each, numbers)
        judges.append(1 + len(each.members))
    return _table(numbers, judges)


def level_tables(assessments: Iterable[Assessment]) -> dict[Evidence, FloatArray]:
    """The same under each view of the evidence, one array where they are alike.

    Args:
        assessments: As they are stored; none of them is held.
    """
    lower, off, judges = array("d"), array("d"), array("l")
    for each in assessments:
        start = len(lower)
        _add(each, lower)
        own = under(each, "off")
        if own is each:
            off.extend(lower[start:])
        else:
            _add(own, off)
        judges.append(1 + len(each.members))
    table = _table(lower, judges)
    return {"lower": table, "off": table if lower == off else _table(off, judges)}


def _add(assessment: Assessment, numbers: array[float]) -> None:
    for each in (assessment, *assessment.members):
        numbers.extend(each.level_counts)


def _table(numbers: array[float], judges: Sequence[int]) -> FloatArray:
    width = max(judges, default=1)
    table = np.zeros((len(judges), width, len(LEVELS)))
    # Samples without a score have no additional judges: zeros stand for these.
    has_row = np.arange(width) < np.array(judges)[:, None]
    table[has_row] = np.array(numbers).reshape(-1, len(LEVELS))
    return table

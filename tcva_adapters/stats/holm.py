"""Several hypotheses at once: Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, numbers


def holm(p: npt.ArrayLike) -> FloatArray:
    """Adjusted p-values by Holm's step-down procedure.

    The smallest p is multiplied by m, the next by m - 1 and so on; none may be smaller than the one
    before, or larger than 1. A hypothesis is rejected at a level where its adjusted p is at most
    that level; the chance of any false rejection is then at most the level. Source: S. Holm, A simple
    sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).

    Args:
        p: Shape (m,), in [0, 1]. A nan stays nan, and counts as one of the m hypotheses.

    Returns:
        Adjusted p, in the order given.

    Raises:
        InvalidValueError: A p outside [0, 1].

    Sorted 0.01, 0.03, 0.04: 3 x 0.01 = 0.03, 2 x 0.03 = 0.06, and 0.04 must not fall below that:

    >>> holm([0.04, 0.01, 0.03]).tolist()
    [0.06, 0.03, 0.06]
    """
    raw = numbers("p", p)
    wrong = raw[(raw < 0) | (raw > 1)]
    if len(wrong):
        raise InvalidValueError(
            f"p must be between 0 and 1, or nan where there is none, got {float(wrong[0])!r}"
        )
    adjusted = np.full(len(raw), np.nan)
    order = np.argsort(raw, kind="stable")[: np.count_nonzero(~np.isnan(raw))]
    factors = len(raw) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * factors))
    return adjusted


def correct_p(records: Sequence[dict[str, Any]]) -> None:
    """Add to each record its ``p`` corrected for all of them, as ``p_corrected``.

    >>> records = [{"p": 0.04}, {"p": 0.01}, {"p": 0.03}]
    >>> correct_p(records)
    >>> [record["p_corrected"] for record in records]
    [0.06, 0.03, 0.06]
    """
    corrected = holm([record["p"] for record in records])
    for record, p in zip(records, corrected.tolist(), strict=True):
        record["p_corrected"] = p

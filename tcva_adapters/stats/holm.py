"""Several hypotheses at once: Holm's correction, and hypotheses that join comparisons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, numbers, whole


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
    raw = _checked(p)
    adjusted = np.full(len(raw), np.nan)
    order = np.argsort(raw, kind="stable")[: int((~np.isnan(raw)).sum())]
    factors = len(raw) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * factors))
    return adjusted


def all_of(p: npt.ArrayLike) -> float:
    """The p of "all of these differences are there": the largest one.

    It needs no correction: every one of them has to be significant on its own.

    Returns:
        nan where one of them is: then it cannot be shown.

    Raises:
        InvalidValueError: No p at all, or one outside [0, 1].

    >>> all_of([0.01, 0.2, 0.03])
    0.2
    """
    return float(_some(p).max())


def any_of(p: npt.ArrayLike, *, chances: int | None = None) -> float:
    """The p of "at least one of these differences is there": the smallest, by Bonferroni.

    Args:
        p: Of the single comparisons; nan where there is none.
        chances: What the smallest p is multiplied by; by default the number of comparisons, those
            without a p included. Comparisons of one metric that are corrected for each other
            already (Tukey's) may count as one chance together.

    Returns:
        At most 1; nan where every p is.

    Raises:
        InvalidValueError: No p at all, one outside [0, 1], or chances below 1.

    >>> any_of([0.01, 0.2, 0.03])
    0.03
    """
    raw = _some(p)
    factor = len(raw) if chances is None else whole("chances", chances, least=1)
    return float(min(1.0, factor * np.nanmin(raw))) if (~np.isnan(raw)).any() else float("nan")


def _some(p: npt.ArrayLike) -> FloatArray:
    raw = _checked(p)
    if not len(raw):
        msg = "there is no p-value to join; give one per comparison"
        raise InvalidValueError(msg)
    return raw


def _checked(p: npt.ArrayLike) -> FloatArray:
    raw = numbers("p", p)
    wrong = raw[(raw < 0) | (raw > 1)]
    if len(wrong):
        msg = f"p is {float(wrong[0])!r}; it lies in [0, 1] (nan where there is none)"
        raise InvalidValueError(msg)
    return raw

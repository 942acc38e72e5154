"""Agreement of two raters beyond chance, on ordered levels."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import numbers, same_length, whole

KappaWeights = Literal["quadratic", "linear", "none"]

KAPPA_WEIGHTS: Final[tuple[KappaWeights, ...]] = get_args(KappaWeights)


def kappa_of_table(table: npt.ArrayLike, weights: KappaWeights = "quadratic") -> float:
    """Cohen's kappa of a table of counts, levels by levels (Cohen 1960 and 1968).

    ``1 - observed disagreement / disagreement expected by chance``. With weights, levels that lie
    far apart disagree more: by their distance (``linear``) or its square (``quadratic``).

    Args:
        table: Shape (L, L): how often one rater gave the row's level and the other the column's.
        weights: ``quadratic``, ``linear``, or ``none``.

    Returns:
        At most 1; 0 is what chance would give; nan where both raters used one same level only, or
        the table is empty.

    Raises:
        InvalidValueError: The table is not square, a count is negative, or unknown weights.

    >>> round(kappa_of_table([[20, 5], [10, 15]]), 3)
    0.4
    """
    counts = numbers("counts", table, ndim=2)
    if counts.shape[0] != counts.shape[1]:
        msg = f"a table of kappa is levels by levels; got the shape {counts.shape}"
        raise InvalidValueError(msg)
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        msg = "a table of kappa holds counts, finite and not negative"
        raise InvalidValueError(msg)
    if weights not in KAPPA_WEIGHTS:
        msg = f"unknown weights {weights!r}; known are {', '.join(KAPPA_WEIGHTS)}"
        raise InvalidValueError(msg)
    if not counts.sum() > 0.0:
        return float("nan")
    levels = np.arange(len(counts))
    distance = np.abs(levels[:, None] - levels[None, :]).astype(np.float64)
    if weights == "quadratic":
        distance **= 2
    elif weights == "none":
        distance = np.sign(distance)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    chance = float((distance * expected).sum())
    return 1.0 - float((distance * counts).sum()) / chance if chance > 0.0 else float("nan")


def weighted_kappa(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    levels: int,
    weights: KappaWeights = "quadratic",
) -> float:
    """The same from two raters' levels, item by item.

    Args:
        first: Levels from 0 to ``levels - 1``, shape (N,); nan where the rater gave none. Items
            that either rater left out do not count.
        second: The other rater's, shape (N,).
        levels: How many levels there are.
        weights: As for `kappa_of_table`.

    Raises:
        InvalidValueError: Different lengths, or a level out of range.

    >>> round(weighted_kappa([0, 1, 2, 2], [0, 1, 1, 2], levels=3), 3)
    0.8
    """
    levels = whole("levels", levels, least=1)
    one, two = numbers("first", first), numbers("second", second)
    same_length(first=one, second=two)
    both = np.flatnonzero(~(np.isnan(one) | np.isnan(two)))
    one, two = one[both], two[both]
    for rated in (one, two):
        wrong = np.flatnonzero((rated < 0) | (rated >= levels) | (rated != np.floor(rated)))
        if len(wrong):
            msg = f"{float(rated[wrong[0]])!r} is no level; levels are 0 to {levels - 1}"
            raise InvalidValueError(msg)
    table = np.zeros((levels, levels))
    np.add.at(table, (one.astype(np.int64), two.astype(np.int64)), 1.0)
    return kappa_of_table(table, weights)

"""Agreement of two raters beyond chance: Cohen's kappa."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import numbers, same_length


def kappa_of_table(table: npt.ArrayLike) -> float:
    """Cohen's kappa of a table of counts, levels by levels, with quadratic weights (Cohen 1968).

    ``1 - observed disagreement / disagreement expected by chance``, where two levels disagree by the
    square of their distance. With two levels it is the kappa without weights (Cohen 1960).

    Args:
        table: Shape (L, L): how often one rater gave the row's level and the other the column's.

    Returns:
        At most 1; 0 is what chance would give; nan where both raters used one same level only, or
        the table is empty.

    Raises:
        InvalidValueError: The table is not square, or a count is negative.

    >>> round(kappa_of_table([[20, 5], [10, 15]]), 3)
    0.4
    """
    counts = numbers("counts", table, ndim=2)
    if counts.shape[0] != counts.shape[1] or not (counts >= 0.0).all():
        raise InvalidValueError(
            f"a table of kappa is levels by levels and holds counts; got the shape {counts.shape}"
        )
    levels = np.arange(len(counts))
    distance = (levels[:, None] - levels) ** 2
    total = max(float(counts.sum()), 1.0)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    chance = float((distance * expected).sum())
    if not chance > 0.0:
        return float("nan")
    return 1.0 - float((distance * counts).sum()) / chance


def weighted_kappa(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    levels: int,
) -> float:
    """Kappa with quadratic weights from two raters' levels, item by item.

    Args:
        first: Levels from 0 to ``levels - 1``, shape (N,); nan where the rater gave none. Items
            that either rater left out do not count.
        second: The other rater's, shape (N,).
        levels: How many levels there are.

    Raises:
        InvalidValueError: Different lengths, or a level out of range.

    >>> round(weighted_kappa([0, 1, 2, 2], [0, 1, 1, 2], levels=3), 3)
    0.8
    """
    one = numbers("first", first)
    two = numbers("second", second)
    same_length({"first": one, "second": two})
    both = np.stack([one, two])[:, ~(np.isnan(one) | np.isnan(two))]
    wrong = both[(both < 0) | (both >= levels) | (both != np.floor(both))]
    if len(wrong):
        raise InvalidValueError(
            f"{float(wrong[0])!r} is no level; levels are 0 to {levels - 1}"
        )
    table = np.zeros((levels, levels))
    np.add.at(table, tuple(both.astype(np.int64)), 1)
    return kappa_of_table(table)

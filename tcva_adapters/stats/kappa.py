"""Agreement of two raters beyond chance: Cohen's kappa."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import in_all


def weighted_kappa(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    levels: int,
) -> float:
    """Cohen's kappa with quadratic weights, from two raters' levels, item by item.

    It is one less the mean squared distance of the two over that expected by chance, between the
    first's level of any item and the second's of any other: the sum of both variances and the squared
    difference of both means. With two levels it is the kappa without weights. J. Cohen, Weighted
    kappa, Psychological Bulletin 70 (1968).

    Args:
        first: Levels from 0 to ``levels - 1``, shape (N,); nan where the rater gave none. Items
            that either rater left out do not count.
        second: The other rater's, shape (N,).
        levels: How many levels there are.

    Returns:
        At most 1; 0 is what chance would give; nan where both raters used one same level only, or
        without an item.

    Raises:
        InvalidValueError: Different lengths, or a level out of range.

    >>> round(weighted_kappa([0, 1, 2, 2], [0, 1, 1, 2], levels=3), 3)
    0.8
    """
    (one, two), _ = in_all({"first": first, "second": second})
    both = np.concatenate([one, two])
    wrong = both[~np.isin(both, np.arange(levels))]
    if len(wrong):
        raise InvalidValueError(
            f"{float(wrong[0])!r} is no level; levels are 0 to {levels - 1}"
        )
    if len(np.unique(both)) < 2:
        return math.nan
    chance = one.var() + two.var() + (one.mean() - two.mean()) ** 2
    return float(1.0 - np.mean((one - two) ** 2) / chance)

"""The one-sided lower bound of a mean, which a gate compares with its threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    FloatArray,
    Groups,
    check_level,
    numbers,
    random_generator,
)
from tcva_adapters.stats.guarantee import largest_share
from tcva_adapters.stats.sampling_units import Units

_DRAWS = 10_000
# Draws are made in blocks, to bound the memory.
_BLOCK = 500
# More distinct values than this are binned, to save time.
_BINS = 200


def lower_bound(
    values: npt.ArrayLike,
    confidence: float = 0.95,
    *,
    low: float = 0.0,
    groups: Groups = None,
    seed: int = 0,
) -> float:
    """The one-sided lower confidence bound of the mean that samples of this kind have.

    One value at the low end is added, and all of them are weighted at random, every division of
    the weight being equally likely (Dirichlet's distribution). The bound is the value below which
    such means lie with the probability ``1 - confidence``, so that it allows for failures that
    were too rare to be seen. W. Gaffke, Three test statistics for a nonparametric one-sided
    hypothesis on the mean of a nonnegative variable, Mathematical Methods of Statistics 14 (2005).
    For values that are 0 or 1 it is the exact bound of Clopper and Pearson; for others it is found
    by 10,000 draws.

    Groups are weighted as one, and the value at the low end counts as often as the largest group
    has samples.

    Args:
        values: Shape (N,); nan or None are left out.
        confidence: In (0, 1).
        low: The least possible value.
        groups: One per value, or None.
        seed: The seed of the weights.

    Returns:
        At least ``low``; nan without a value.

    Raises:
        InvalidValueError: A value below ``low``, a confidence outside (0, 1), groups that do not fit.
        MissingDependencyError: scipy is not installed.

    Three of three: ``0.05 ** (1 / 3)``. In one group they are one of one:

    >>> round(lower_bound([1, 1, 1]), 4), round(lower_bound([1, 1, 1], groups="aaa"), 4)
    (0.3684, 0.05)
    """
    check_level(confidence)
    known = numbers("values", values)
    used = np.isfinite(known)
    above = known[used] - low
    units = Units(groups, used)
    n = units.n
    if not n:
        return float("nan")
    if above.min() < 0.0:
        raise InvalidValueError(
            f"values must be at least {low!r}, got {low + float(above.min())!r}"
        )
    if units.codes is None and low == 0.0 and np.isin(above, (0.0, 1.0)).all():
        return 1.0 - float(largest_share(n - above.sum(), n, 1 - confidence))
    sums, sizes, often = _sums_and_sizes(above, units)
    if len(often) == 1:  # equal values, or a single group: exact
        return low + float(sums[0] / sizes[0] * (1 - confidence) ** (1 / often[0]))

    rng = random_generator(seed)
    shape = (_BLOCK, len(often) + 1)
    all_sizes = np.append(sizes, sizes.max())
    means = []
    for _ in range(_DRAWS // _BLOCK):
        if often.max() == 1.0:  # exponential, which is several times faster
            weights = rng.standard_exponential(shape)
        else:
            weights = rng.standard_gamma(np.append(often, 1.0), shape)
        means.append(weights[:, :-1] @ sums / (weights @ all_sizes))
    return low + float(np.quantile(np.concatenate(means), 1 - confidence))


def _sums_and_sizes(
    above: FloatArray, units: Units
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums and sizes of units, and how often each pair of these occurs; single values in few bins."""
    if units.codes is not None:
        sums = np.bincount(units.codes, weights=above).astype(np.float64)
        sizes = np.bincount(units.codes).astype(np.float64)
        return sums, sizes, np.ones(units.number)
    bins = np.unique(above, return_inverse=True)[1]
    if bins.max() >= _BINS:
        scaled = (above / above.max() * _BINS).astype(np.int64)
        bins = np.unique(scaled, return_inverse=True)[1]
    often = np.bincount(bins).astype(np.float64)
    means = np.bincount(bins, weights=above) / often
    return means, np.ones(len(often)), often

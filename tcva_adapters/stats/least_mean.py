"""The lower bound of a mean of scores that have ends, of single samples or of whole groups.

Student's bound knows nothing of a failure that was rare enough not to be seen. This one does: it
takes the ends of the scale into account, and needs no other assumption about how scores lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, check_level, group_codes, numbers
from tcva_adapters.stats.scipy_extra import scipy_module

__all__ = ["least_mean", "mean_between"]

_COARSE: Final = np.arange(0.25, 21.0, 0.25)
"""Where it is looked at how far an integral reaches, in the logarithm of its variable once that is
large: it falls off like a power where values are few, like the normal density where they are many."""

_STEPS: Final = 500
"""At which it is summed up within that reach."""

_NOTHING: Final = 80.0
"""Twice the logarithm by which it has fallen there."""

_MOST: Final = 400
"""Different scores that are looked at one by one; more are split between two neighbours."""

_FAR: Final = 40.0
"""Standard errors below the mean within which a bound is looked for."""


def least_mean(
    values: npt.ArrayLike,
    confidence: float,
    *,
    low: float = 0.0,
    groups: Sequence[object] | None = None,
) -> float:
    """The lower bound of a mean, one-sided: other samples of the same kind reach it as surely.

    One value at the low end is added, and all of them are weighted at random, every division of
    the weight being equally likely (Dirichlet's distribution). The bound is the mean that such
    weights undercut with the probability ``1 - confidence``. Source: W. Gaffke, Three test
    statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
    Mathematical Methods of Statistics 14 (2005). Of values that are all 0 or 1 it is the exact bound
    of Clopper and Pearson; for others no set of values is known whose mean it exceeds more often
    than it says.

    Groups are weighted as one, and the value at the low end counts as often as the largest group
    has samples. With groups of one sample each that is the same bound. A kind of group that is worse
    than the others, larger than any at hand, and so rare that none of it was seen is not allowed for:
    no bound of a mean over samples could.

    Args:
        values: Shape (N,); nan, None or infinite ones are left out.
        confidence: In (0, 1).
        low: The least value that could have been.
        groups: One per value: samples of one group (a document) are drawn together.

    Returns:
        At least ``low``; nan without a value.

    Raises:
        InvalidValueError: A value below ``low``, a confidence outside (0, 1), or groups that do not
            fit.
        MissingDependencyError: scipy is not installed.

    Three of three, as `least_share` has it: ``0.05 ** (1 / 3)``. In one group they are one of one:

    >>> round(least_mean([1, 1, 1], 0.95), 4), round(least_mean([1, 1, 1], 0.95, groups="aaa"), 4)
    (0.3684, 0.05)
    """
    check_level(confidence)
    given = numbers("values", values)
    kept = np.isfinite(given)
    above = given[kept] - low
    if not len(above):
        return float("nan")
    if above.min() < 0.0:
        msg = f"a value is {low + float(above.min())!r}, below the least possible one, {low!r}"
        raise InvalidValueError(msg)
    codes = np.arange(len(above)) if groups is None else group_codes(groups, kept)
    sums, sizes = np.bincount(codes, weights=above), np.bincount(codes).astype(np.float64)
    return low + _bound(np.append(sums, 0.0), np.append(sizes, sizes.max()), 1.0 - confidence)


def mean_between(
    values: npt.ArrayLike,
    level: float = 0.95,
    *,
    ends: tuple[float, float] = (0.0, 1.0),
    groups: Sequence[object] | None = None,
) -> tuple[float, float]:
    """The interval of a mean of values between two ends, from `least_mean` on either side.

    Args:
        values: As for `least_mean`.
        level: Of the interval, in (0, 1).
        ends: The least and the largest value that could have been.
        groups: As there.

    Raises:
        InvalidValueError: As there, or a value above the upper end.
        MissingDependencyError: scipy is not installed.

    Of 20 differences that are all 0, up to 17 % might have been others:

    >>> [round(end, 3) for end in mean_between([0.0] * 20, ends=(-1.0, 1.0))]
    [-0.168, 0.168]
    """
    check_level(level)
    low, high = ends
    turned = -numbers("values", values)
    confidence = (1.0 + level) / 2.0
    least = least_mean(-turned, confidence, low=low, groups=groups)
    return least, -least_mean(turned, confidence, low=-high, groups=groups)


def _bound(sums: FloatArray, sizes: FloatArray, share: float) -> float:
    """The mean that random weights of the groups undercut with this probability."""
    mean = float(sums.sum() / sizes.sum())
    if mean == 0.0:
        return 0.0
    error = float(np.sqrt(np.sum((sums - mean * sizes) ** 2)) / sizes.sum())
    farthest = max(0.0, mean - _FAR * error)
    nearest = min(float((sums / sizes).max()), mean + _FAR * error)

    def over(bound: float) -> float:
        return _undercut(sums - bound * sizes) - share

    if over(farthest) >= 0.0:
        return farthest
    if over(nearest) <= 0.0:
        return nearest
    return float(scipy_module("optimize").brentq(over, farthest, nearest, xtol=1e-11, rtol=1e-11))


def _undercut(terms: FloatArray) -> float:
    """The probability that ``sum(terms * E)`` is below 0, E being independent and exponential.

    Exponential variables over their sum are Dirichlet's weights. The moment generating function is
    inverted along the line through the saddle point below 0, where nothing oscillates, so that the
    smallest probability has as many right digits as a large one. H. E. Daniels, Tail probability
    approximations, International Statistical Review 55 (1987), section 3.
    """
    points, counts = _gathered(terms / np.abs(terms).max())
    if points[0] >= 0.0:
        return 0.0

    def slope(log_at: float) -> float:
        at = -np.exp(log_at)
        return float(counts @ (points / (1.0 - points * at)) - 1.0 / at)

    # Any line between the pole and 0 has the same integral; close to the saddle it is a smooth one.
    pole = np.log(-1.0 / points[0])
    saddle = -float(
        np.exp(scipy_module("optimize").brentq(slope, pole - 30.0, pole - 1e-9, xtol=0.01))
    )
    tilted = 1.0 - points * saddle
    curvature = float(counts @ (points / tilted) ** 2) + saddle**-2
    width = 1.0 / np.sqrt(curvature)
    scaled = points / tilted
    fallen = _heights(width * np.sinh(_COARSE), scaled, counts, saddle)
    far = min(int(np.searchsorted(fallen, _NOTHING)), len(_COARSE) - 1)
    step = float(_COARSE[far]) / _STEPS
    steps = step * (np.arange(_STEPS) + 0.5)
    along = width * np.sinh(steps)
    heights = _heights(along, scaled, counts, saddle)
    angles = np.arctan(np.outer(along, scaled)) @ counts + np.arctan(along / -saddle)
    top = -float(counts @ np.log(tilted)) - np.log(-saddle)
    inside = np.cos(angles) * np.exp(-0.5 * heights) * np.cosh(steps)
    return float(np.exp(top) * inside.sum() * step * width / np.pi)


def _heights(
    along: FloatArray, scaled: FloatArray, counts: FloatArray, saddle: float
) -> FloatArray:
    """Twice the logarithm by which the function has fallen, so far along the line."""
    fallen: FloatArray = np.log1p(np.outer(along, scaled) ** 2) @ counts
    return fallen + np.log1p((along / saddle) ** 2)


def _gathered(terms: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Different terms and how often each occurs; many are split between points of a grid.

    A term between two points counts for both, so that the mean stays as it is.
    """
    points, numbers_of = np.unique(terms, return_counts=True)
    if len(points) <= _MOST:
        return points, numbers_of.astype(np.float64)
    grid = np.linspace(points[0], points[-1], _MOST)
    places = (terms - points[0]) / (points[-1] - points[0]) * (_MOST - 1)
    below = np.minimum(places.astype(np.int64), _MOST - 2)
    share = places - below
    split: FloatArray = np.zeros(_MOST)
    np.add.at(split, below, 1.0 - share)
    np.add.at(split, below + 1, share)
    return grid, split

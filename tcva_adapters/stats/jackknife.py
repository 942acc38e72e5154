"""Figures without one sample, or one group, at a time (the jackknife), and intervals made of these."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.bootstrap import leave_one_out, ratio, spearman_of
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import Measure, centred, value_of
from tcva_adapters.stats.estimates import Ends, EndsAt
from tcva_adapters.stats.scipy_extra import scipy_module

# More samples than this are left out in so many parts.
_MANY = 2_000
_PARTS = 1_000
_FARTHEST = 1.0 - 1e-12
"""Correlations of 1 and -1, whose z is infinite, count as this far from 0."""
_UNEVEN = 0.7
"""Groups that amount to a smaller share of their number differ much in size."""


def student_quantile(level: float, degrees: float) -> float:
    """The quantile of Student's t for a two-sided interval of this level.

    Raises:
        MissingDependencyError: scipy is not installed.
    """
    return float(scipy_module("special").stdtrit(degrees, (1 + level) / 2))


def means_without(values: FloatArray, unit_codes: IntArray) -> FloatArray:
    """The mean without each unit in turn, shape (units,).

    Args:
        values: Shape (N,).
        unit_codes: The unit of each, from 0 up: its group, or itself.
    """
    sums = np.bincount(unit_codes, weights=values)
    sizes = np.bincount(unit_codes)
    # A single group leaves nothing, and has no interval.
    left = np.maximum(len(values) - sizes, 1)
    return np.asarray((values.sum() - sums) / left)


def correlations_without(
    measure: Measure,
    scores: FloatArray,
    human: FloatArray,
    codes: IntArray | None,
) -> FloatArray:
    """A correlation without each unit in turn, shape (units,); nan where one side is constant.

    More than 2000 samples are left out in 1000 parts of a random division, since the time would
    grow as their square.

    Args:
        measure: ``pearson``, ``spearman`` or ``kendall``.
        scores: Finite, shape (N,).
        human: Finite, shape (N,).
        codes: The group of each sample, from 0 up.
    """
    n = len(scores)
    if codes is None:
        codes = np.arange(n)
        if n > _MANY:
            codes = np.random.default_rng(n).permutation(n) % _PARTS
    if measure == "pearson":
        left = [codes != unit for unit in range(codes.max() + 1)]
        return np.array([value_of(measure, scores[k], human[k]) for k in left])
    if measure == "kendall":
        return _kendall_without(scores, human, codes)
    rho = spearman_of([scores], human)
    return np.concatenate([rho(counts)[0] for counts in leave_one_out(codes)])


def _kendall_without(
    scores: FloatArray,
    human: FloatArray,
    codes: IntArray,
) -> FloatArray:
    # Ordered pairs: in one order less in the other, unequal scores, unequal ratings.
    total = np.zeros(3)
    touched = []
    for unit in range(codes.max() + 1):
        members = codes == unit
        # Signs of all differences from the members: (members, N).
        one, other = (np.sign(side[members, None] - side) for side in (scores, human))
        pairs = np.array([one * other, np.abs(one), np.abs(other)])
        unit_sums = pairs.sum(axis=(1, 2))
        total += unit_sums
        touched.append(2.0 * unit_sums - pairs[:, :, members].sum(axis=(1, 2)))
    return ratio(*(total - touched).T)


def fisher(values: npt.ArrayLike) -> FloatArray:
    """Fisher's z; a large number for a perfect correlation."""
    return np.asarray(np.arctanh(np.clip(values, -_FARTHEST, _FARTHEST)))


def standard_error(left_out: FloatArray) -> float:
    """The jackknife's standard error. B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 11.2."""
    units = len(left_out)
    squares = np.sum((left_out - left_out.mean()) ** 2)
    return math.sqrt((units - 1) / units * squares)


def mean_interval(
    left_out: FloatArray,
    value: float,
    units: float,
    *,
    signed: bool,
    within: Ends,
) -> tuple[EndsAt, float]:
    """Student's interval of a mean, corrected for skewness, and the p of "it is 0".

    For T = (mean - truth) / error, Hall's ``T + a T^2 / 3 + a^2 T^3 / 27 + a / 6`` with
    ``a = skewness / sqrt(units)`` is closer to Student's distribution than T is; solved for T it is
    ``3 / a * (cbrt(1 + a (q - a / 6)) - 1)``. P. Hall, On the removal of skewness by transformation,
    Journal of the Royal Statistical Society B 54 (1992).

    The correction takes the long tail to lie where it was seen, which is right for values that pile
    up at an end. Where they lie on both sides of what is usual, and with groups of unequal size,
    whose skewness is that of the largest, the interval is the wider one of this and the plain one.
    Where p is the error, an end of the interval touches 0.

    Args:
        left_out: From `means_without`.
        value: The mean.
        units: The number of groups of one size to which the units amount.
        signed: Whether values lie on both sides of what is usual.
        within: Where the mean must lie; ends beyond are cut.
    """
    number = len(left_out)
    spread = standard_error(left_out)
    influence = -centred(left_out)
    skewness = float(np.mean(influence**3) / np.mean(influence**2) ** 1.5)
    bend = 0.0 if units < _UNEVEN * number else skewness / math.sqrt(number)
    is_wider = signed or units < number

    def reach(q: float) -> float:
        # Here the cubic is a straight line, and its root would lose all digits.
        if abs(bend) < 1e-6:
            return q - bend / 6
        return 3 / bend * (math.cbrt(1 + bend * (q - bend / 6)) - 1)

    def ends(level: float) -> Ends:
        q = student_quantile(level, units - 1)
        below = reach(q)
        above = -reach(-q)
        if is_wider:
            below = max(below, q)
            above = max(above, q)
        low = value - spread * below
        high = value + spread * above
        return max(low, within[0]), min(high, within[1])

    t = value / spread
    away = math.copysign(1.0, t) * (
        t + bend * t**2 / 3 + bend**2 * t**3 / 27 + bend / 6
    )
    if is_wider:
        away = min(away, abs(t))
    return ends, min(1.0, student_p(away, units - 1))


def student_p(t: float, degrees: float) -> float:
    """The two-sided p of Student's t, from its size."""
    return float(2.0 * scipy_module("special").stdtr(degrees, -t))


def why_perfect(value: float) -> str:
    """The reason why a correlation of 1 or -1 has no interval; else empty."""
    if abs(value) < _FARTHEST:
        return ""
    return "the agreement is perfect on these samples"


def correlation_ends(
    left_out: FloatArray,
    value: float,
    reach: float,
) -> Ends:
    """A correlation's interval: ``tanh(z -+ reach * error of z)`` with Fisher's z.

    Args:
        left_out: Of the jackknife, as from `correlations_without`.
        value: In (-1, 1).
        reach: Standard errors to either side: a `student_quantile` Student's t.
    """
    z = fisher(value)
    half = reach * standard_error(fisher(left_out))
    return math.tanh(z - half), math.tanh(z + half)

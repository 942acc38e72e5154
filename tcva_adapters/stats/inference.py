"""One engine for intervals and tests: a figure, or the difference of two.

Every function takes plain columns, one value per sample (nan or None where there is none), and
`groups`, one per sample, where samples belong together (turns of a conversation, answers to one
question): whole groups then count as one. What cannot be trusted is not offered: its ends are nan,
and `Estimate.reason` says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.chance import (
    bootstrap_p,
    correlation_p,
    sign_flips,
    spearman_resamples,
)
from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    Groups,
    check_level,
    in_all,
    numbers,
    one_of,
    whole,
)
from tcva_adapters.stats.correlation import value_of
from tcva_adapters.stats.guarantee import largest_share
from tcva_adapters.stats.leave_out import (
    Ends,
    EndsAt,
    correlation_ends,
    correlations_without,
    error,
    fisher,
    mean_ends,
    means_without,
    quantile,
)
from tcva_adapters.stats.resampling import clustered_p, interval_shares
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.units import Units, natural_ends

Statistic = Literal["mean", "share", "mae", "pearson", "spearman", "kendall"]
STATISTICS: Final[tuple[Statistic, ...]] = get_args(Statistic)

LEAST: Final[dict[Statistic, int]] = {
    "mean": 10,
    "share": 1,
    "mae": 10,
    "pearson": 10,
    "spearman": 10,
    "kendall": 10,
}
"""Samples that an interval needs."""
LEAST_APART: Final[dict[Statistic, int]] = LEAST | {"spearman": 50, "kendall": 50}
"""Samples that the interval of a difference needs."""

_POWER: Final = 0.8
DETECTABLE: Final = "the true difference that a test of this size finds with 80 % power"
"""What tables say of `Estimate.smallest`."""
_NAN: Final = float("nan")
_PERFECT: Final = 1.0 - 1e-12
_SAME: Final = 1e-12
_DRAWS: Final = 10_000
_BLOCK: Final = 500
_BINS: Final = 200


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval and the p of "it is 0".

    Attributes:
        value: nan where it is not defined.
        low: Lower end; nan where there is no interval.
        high: Upper end, likewise.
        p: Two-sided; nan where there is none, or none was asked for.
        n: Samples behind it.
        groups: Groups that these are of; None where samples stand alone.
        reason: Why there is no interval; empty where there is one.
        level: Of the interval.
        narrow: Of a difference, the interval with twice the error (90 % next to 95 %), which
            belongs to two one-sided tests; see `equivalent`.
    """

    value: float
    low: float = _NAN
    high: float = _NAN
    p: float = _NAN
    n: int = 0
    groups: int | None = None
    reason: str = ""
    level: float = 0.95
    narrow: Ends = (_NAN, _NAN)

    def record(self, name: str) -> dict[str, float]:
        """The three cells of an interval column.

        >>> Estimate(0.5, 0.25, 0.75).record("rho")
        {'rho': 0.5, 'rho_low': 0.25, 'rho_high': 0.75}
        """
        return {
            name: self.value,
            f"{name}_low": self.low,
            f"{name}_high": self.high,
        }

    @property
    def smallest(self) -> float:
        """The true difference that so many samples find in 80 % of cases; smaller ones are mostly missed.

        From the standard error that the interval stands for: 1.96 and .84 of them at 95 %.

        >>> round(Estimate(0.0, -0.0196, 0.0196).smallest, 4)
        0.028
        """
        z = NormalDist().inv_cdf((1 + self.level) / 2)
        found = (self.high - self.low) / (2 * z) * (z + NormalDist().inv_cdf(_POWER))
        return found if found > 0.0 else _NAN

    def equivalent(self, margin: float) -> bool:
        """Whether the two are as good as each other, up to a margin chosen before looking.

        Two one-sided tests at ``1 - level``: the interval with twice that error lies inside the
        margin. D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).

        Args:
            margin: Above 0: the difference that would matter.

        Raises:
            InvalidValueError: A margin that is not above 0.

        >>> Estimate(0.01, -0.05, 0.07, narrow=(-0.04, 0.06)).equivalent(0.1)
        True
        """
        if not 0 < margin < math.inf:
            msg = f"margin must be above 0, got {margin!r}"
            raise InvalidValueError(msg)
        return -margin < self.narrow[0] and self.narrow[1] < margin


def estimate(
    statistic: Statistic,
    columns: npt.ArrayLike,
    groups: Groups = None,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    test: bool = False,
) -> Estimate:
    """A figure of one column, or of scores and ratings, with its interval.

    Args:
        statistic: ``mean`` or ``share`` (of values that are 0 or 1), of one column; ``mae``,
            ``pearson``, ``spearman`` or ``kendall`` (tau-b), of scores and ratings.
        columns: One column of shape (N,), or two. Samples that lack one are left out.
        groups: One per sample, or None.
        level: Of confidence, in (0, 1).
        resamples: Permutations or sign flips of the test.
        seed: Of these: the same seed gives the same bits.
        test: Find p, too: by permutations of the ratings for a correlation, by sign flips for a
            mean. A correlation by groups has that of Student's t, a share and ``mae`` have none.

    Returns:
        The interval leaves out one sample (group) at a time and takes Student's quantiles, of
        correlations on Fisher's z, of means with Hall's correction for skewness; a share has the
        exact interval of Clopper and Pearson.

    Raises:
        InvalidValueError: An unknown statistic, columns that do not fit, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    The standard error of this mean is sqrt(55 / 6 / 10), the quantile of t for 9 degrees 2.2622:

    >>> found = estimate("mean", np.arange(10.0) / 10)
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4), found.n
    (0.45, 0.2334, 0.6666, 10)
    >>> estimate("spearman", [[1, 2, 3], [1, 3, 2]]).reason
    'it needs 10 samples, got 3'
    """
    _check(statistic, level, resamples, seed)
    sides, used = _columns(statistic, columns)
    of = Units(groups, used)
    if statistic == "share":
        return _share(sides[0], of, level)
    if statistic == "mean" or statistic == "mae":  # noqa: PLR1714  # mypy narrows this form
        values = sides[0] if statistic == "mean" else np.abs(sides[0] - sides[1])
        found = _of_values(values, of, level, signed=bool((values < 0.0).any()))
        if not (test and statistic == "mean" and of.n):
            return found
        return replace(found, p=sign_flips(values, of.codes, resamples, seed))
    scores, human = sides
    found = _figure(value_of(statistic, scores, human), of, level)
    if test and of.codes is None and not math.isnan(found.value):
        p = correlation_p(statistic, scores, human, permutations=resamples, seed=seed)
        found = replace(found, p=p)
    if why := of.why_none(LEAST[statistic], scores, human) or _why_perfect(found.value):
        return replace(found, reason=why)
    left_out = correlations_without(statistic, scores, human, of.codes)
    if test and of.codes is not None:
        t = abs(float(fisher(found.value))) / error(fisher(left_out))
        found = replace(found, p=_student_p(t, of.equal - 2))
    low, high = correlation_ends(left_out, found.value, quantile(level, of.equal - 2))
    return replace(found, low=low, high=high)


def _check(
    statistic: str,
    level: float,
    resamples: int,
    seed: int,
) -> None:
    one_of("statistic", statistic, STATISTICS)
    check_level(level)
    whole("resamples", resamples, least=1)
    whole("seed", seed, least=0)


def _columns(
    statistic: Statistic, columns: npt.ArrayLike
) -> tuple[FloatArray, BoolArray]:
    """What is known in all of the columns, and where."""
    table = np.atleast_2d(
        numbers("columns", columns, ndim=2 if np.ndim(columns) > 1 else 1)
    )
    is_single = statistic in {"mean", "share"}
    if len(table) != (1 if is_single else 2):
        wanted = "one column of values" if is_single else "scores and ratings"
        msg = f"{statistic} needs {wanted}, got {len(table)} columns"
        raise InvalidValueError(msg)
    used = np.asarray(np.isfinite(table).all(axis=0))
    return table[:, used], used


def difference(
    statistic: Statistic,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    human: npt.ArrayLike | None = None,
    groups: Groups = None,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The figure of one method less that of another, on the samples that both have.

    Also the mean error of scores: ``difference("mean", scores, human)``.

    Args:
        statistic: ``mean``, or with ratings ``mae``, ``pearson``, ``spearman`` or ``kendall``.
        a: Of the one method, shape (N,).
        b: Of the other, likewise.
        human: Ratings, likewise; None for ``mean`` alone.
        groups: One per sample, or None.
        level: Of confidence, in (0, 1).
        resamples: That are drawn; also of sign flips.
        seed: Of these.

    Returns:
        The p is by sign flips of the samples' differences (``mean``, ``mae``), by the paired
        bootstrap (``spearman``), or by Student's t of a jackknife on Fisher's z (``pearson``,
        ``kendall``). With `Estimate.smallest` and `Estimate.equivalent`.

    Raises:
        InvalidValueError: As for `estimate`, or no ratings for a measure that needs them.
        MissingDependencyError: scipy is not installed.

    >>> ratings = np.linspace(0, 1, 40)
    >>> one, other = ratings + 0.1 * np.sin(7 * ratings), ratings + 0.1 * np.cos(9 * ratings)
    >>> found = difference("mae", one, other, ratings)
    >>> round(found.value, 3), found.equivalent(0.05)
    (-0.003, True)
    """
    _check(statistic, level, resamples, seed)
    columns = {"a": a, "b": b}
    if statistic == "share" or (human is None) != (statistic == "mean"):
        msg = f"{statistic!r}: 'mean' takes no human ratings; mae and the correlations need them"
        raise InvalidValueError(msg)
    if human is not None:
        columns["human"] = human
    (one, other, *ratings), used = in_all(**columns)
    of = Units(groups, used)
    if statistic == "mean" or statistic == "mae":  # noqa: PLR1714  # mypy narrows this form
        if statistic == "mae":
            one, other = np.abs(one - ratings[0]), np.abs(other - ratings[0])
        values = one - other
        found = _of_values(values, of, level, signed=True)
        return (
            replace(found, p=sign_flips(values, of.codes, resamples, seed))
            if of.n
            else found
        )
    both = [value_of(statistic, side, ratings[0]) for side in (one, other)]
    found = _figure(both[0] - both[1], of, level)
    if why := of.why_none(LEAST_APART[statistic], one, other, *ratings):
        return replace(found, reason=why)
    if statistic == "spearman":
        drawn = spearman_resamples([one, other], ratings[0], of.codes, resamples, seed)
        deltas = drawn[0] - drawn[1]
        deltas = deltas[~np.isnan(deltas)]
        ends, p = _percentile(deltas, of), clustered_p(bootstrap_p(deltas), of.clusters)
        is_still = np.ptp(deltas) < _SAME
    elif why := _why_perfect(max(both, key=abs)):
        return replace(found, reason=why)
    else:
        left_out = np.array(
            [
                correlations_without(statistic, side, ratings[0], of.codes)
                for side in (one, other)
            ]
        )
        ends, p = _apart(both, left_out, of.equal)
        is_still = math.isnan(p)
    if is_still:
        why = "the difference is the same on all resamples"
        return replace(found, p=1.0 if abs(found.value) < _SAME else _NAN, reason=why)
    return replace(_with_ends(found, ends), p=p)


def _figure(value: float, of: Units, level: float) -> Estimate:
    """A figure without an interval."""
    return Estimate(
        value,
        n=of.n,
        groups=of.groups,
        level=level,
    )


def _mean(values: FloatArray, of: Units, level: float) -> Estimate:
    return _figure(float(values.mean()) if of.n else _NAN, of, level)


def _with_ends(found: Estimate, ends: EndsAt) -> Estimate:
    """A figure with its interval, and the one with twice the error."""
    (low, high), level = ends(found.level), found.level
    narrow = ends(2 * level - 1) if level > 0.5 else (_NAN, _NAN)
    return replace(
        found,
        low=low,
        high=high,
        narrow=narrow,
    )


def _of_values(
    values: FloatArray,
    of: Units,
    level: float,
    *,
    signed: bool,
) -> Estimate:
    """The mean of finite values, all of one sign or `signed`."""
    found = _mean(values, of, level)
    if why := of.why_none(LEAST["mean"], values):
        return replace(found, reason=why)
    left_out = means_without(values, of.codes)
    if np.ptp(left_out) <= _SAME * float(np.abs(values).max()):
        return replace(
            found, reason="the value is the same whichever group is left out"
        )
    is_signed = signed or _is_inside(values)
    within = natural_ends(values)
    ends = mean_ends(left_out, found.value, of.equal, signed=is_signed, within=within)
    return _with_ends(found, ends)


def _is_inside(values: FloatArray) -> bool:
    """Whether half of the values are the same one, and others lie on both sides of it."""
    found, often = np.unique(values.round(12), return_counts=True)
    usual = int(often.argmax())
    return 0 < usual < len(found) - 1 and 2 * int(often[usual]) >= len(values)


def _share(values: FloatArray, of: Units, level: float) -> Estimate:
    """With groups, the number of independent samples of the same precision (Korn and Graubard)."""
    if not np.isin(values, (0.0, 1.0)).all():
        msg = "share needs values of 0 and 1; use 'mean' for others"
        raise InvalidValueError(msg)
    found = _mean(values, of, level)
    if why := of.why_none(LEAST["share"]):
        return replace(found, reason=why)
    n, value = of.equal, found.value
    if of.codes is not None and 0.0 < value < 1.0:
        costs = quantile(level, of.n - 1) / quantile(level, of.equal - 1)
        n = (
            value
            * (1 - value)
            / max(error(means_without(values, of.codes)) ** 2, _SAME)
            * costs**2
        )
        n = min(of.n, n)
    passed, alpha = value * n, (1 - level) / 2
    low = 1.0 - float(largest_share(n - passed, n, alpha))
    return replace(found, low=low, high=float(largest_share(passed, n, alpha)))


def _percentile(values: FloatArray, of: Units) -> EndsAt:
    def ends(level: float) -> Ends:
        low, high = np.nanquantile(values, interval_shares(level, of.clusters)).tolist()
        return low, high

    return ends


def _apart(
    both: Sequence[float], left_out: FloatArray, units: float
) -> tuple[EndsAt, float]:
    """The interval and the p of the difference of two correlations, by Student's t on Fisher's z."""
    z = fisher(np.array(both))
    delta, apart = float(both[0] - both[1]), float(z[0] - z[1])
    spread = error(np.subtract(*fisher(left_out)))
    if math.isnan(spread) or spread < _SAME:
        return (lambda _: (_NAN, _NAN)), _NAN
    # Back from z by the slope between the two.
    slope = delta / apart if abs(apart) > _SAME else 1.0 - both[0] ** 2

    def ends(level: float) -> Ends:
        half = quantile(level, units - 2) * spread
        return slope * (apart - half), slope * (apart + half)

    return ends, _student_p(abs(apart) / spread, units - 2)


def _student_p(t: float, degrees: float) -> float:
    return float(2.0 * scipy_module("special").stdtr(degrees, -t))


def _why_perfect(value: float) -> str:
    return "the agreement is perfect on these samples" if abs(value) >= _PERFECT else ""


def lower_bound(
    values: npt.ArrayLike,
    confidence: float = 0.95,
    *,
    low: float = 0.0,
    groups: Groups = None,
    seed: int = 0,
) -> float:
    """The lower bound of a mean, one-sided: other samples of the same kind reach it as surely.

    One value at the low end is added, and all of them are weighted at random, every division of
    the weight being equally likely (Dirichlet's distribution). The bound is what such means
    undercut with the probability ``1 - confidence``: it knows of failures that were too rare to be
    seen. W. Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable, Mathematical Methods of Statistics 14 (2005). Of values that are 0 or 1 it
    is the exact bound of Clopper and Pearson; of others it is drawn, 10,000 times.

    Groups are weighted as one, and the value at the low end counts as often as the largest group
    has samples.

    Args:
        values: Shape (N,); nan or None are left out.
        confidence: In (0, 1).
        low: The least value that could have been.
        groups: One per value, or None.
        seed: Of the weights.

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
    given = numbers("values", values)
    used: BoolArray = np.isfinite(given)
    above, of = given[used] - low, Units(groups, used)
    if not of.n:
        return _NAN
    if above.min() < 0.0:
        msg = f"values must be at least {low!r}, got {low + float(above.min())!r}"
        raise InvalidValueError(msg)
    if of.codes is None and low == 0.0 and np.isin(above, (0.0, 1.0)).all():
        return 1.0 - float(largest_share(of.n - above.sum(), of.n, 1 - confidence))
    sums, sizes, often = _gathered(above, of)
    if len(often) == 1:  # equal values, or a single group: exact
        return low + float(sums[0] / sizes[0] * (1 - confidence) ** (1 / often[0]))
    rng = np.random.Generator(np.random.PCG64(whole("seed", seed, least=0)))
    means = []
    for _ in range(_DRAWS // _BLOCK):
        shape = (_BLOCK, len(often) + 1)
        is_each = often.max() == 1.0  # exponential, which is several times faster
        weights = (
            rng.standard_exponential(shape)
            if is_each
            else rng.standard_gamma(np.append(often, 1.0), shape)
        )
        means.append(weights[:, :-1] @ sums / (weights @ np.append(sizes, sizes.max())))
    return low + float(np.quantile(np.concatenate(means), 1 - confidence))


def _gathered(
    above: FloatArray, of: Units
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums and sizes of units, and how often each pair of these occurs; single values in few bins."""
    if of.codes is not None:
        by_group = np.bincount(of.codes, weights=above).astype(np.float64)
        return (
            by_group,
            np.bincount(of.codes).astype(np.float64),
            np.ones(len(by_group)),
        )
    bins = np.unique(above, return_inverse=True)[1]
    if bins.max() >= _BINS:
        bins = np.unique(
            (above / above.max() * _BINS).astype(np.int64), return_inverse=True
        )[1]
    often = np.bincount(bins).astype(np.float64)
    sums = (np.bincount(bins, weights=above) / often).astype(np.float64)
    return sums, np.ones(len(often)), often


def labels_needed(
    pilot: Estimate, *, width: float | None = None, difference: float | None = None
) -> int:
    """How many labels an interval of some width takes, or a difference, going by those at hand.

    An interval narrows with the square root of the samples behind it.

    Args:
        pilot: A figure or a difference with an interval, of samples of the same kind.
        width: From end to end, above 0.
        difference: Or: that is found with 80 % power (`Estimate.smallest`), above 0.

    Raises:
        InvalidValueError: Neither or both, a number that is not above 0, or a pilot without an
            interval.

    >>> labels_needed(Estimate(0.5, 0.4, 0.6, n=50), width=0.1)
    200
    """
    wanted = width if difference is None else difference
    if (
        (width is None) == (difference is None)
        or wanted is None
        or not 0 < wanted < math.inf
    ):
        msg = f"give width or difference, above 0, got width={width!r}, difference={difference!r}"
        raise InvalidValueError(msg)
    found = pilot.high - pilot.low if difference is None else pilot.smallest
    if not found > 0.0:
        msg = f"this pilot is too small to plan with ({pilot.reason or 'all values are equal'})"
        raise InvalidValueError(msg)
    return math.ceil(pilot.n * (found / wanted) ** 2 - 1e-9)

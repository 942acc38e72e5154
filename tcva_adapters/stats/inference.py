"""One engine for intervals and tests: a figure, or the difference of two, and how sure it is.

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
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.checks import check_level, group_codes, in_all, numbers, one_of
from tcva_adapters.stats.correlation_test import correlation_test
from tcva_adapters.stats.jackknife import exact_share
from tcva_adapters.stats.means import mean_interval
from tcva_adapters.stats.replicates import Replicates
from tcva_adapters.stats.sign_flip import sign_flip

__all__ = ["STATISTICS", "Estimate", "Statistic", "difference", "estimate"]

Statistic = Literal["mean", "share", "mae", "pearson", "spearman", "kendall"]
STATISTICS: Final[tuple[Statistic, ...]] = get_args(Statistic)

Method = Literal["student", "percentile"]

_POWER: Final = 0.8
_NAN: Final = float("nan")


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
        narrow: Of a difference, the interval with twice the error (90 % beside 95 %), which
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
    narrow: tuple[float, float] = (_NAN, _NAN)

    def record(self, name: str) -> dict[str, float]:
        """The three cells of an interval column.

        >>> Estimate(0.5, 0.25, 0.75).record("rho")
        {'rho': 0.5, 'rho_low': 0.25, 'rho_high': 0.75}
        """
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

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
            msg = f"the margin is {margin!r}; give the least difference that would matter, above 0"
            raise InvalidValueError(msg)
        return -margin < self.narrow[0] and self.narrow[1] < margin


def estimate(
    statistic: Statistic,
    columns: npt.ArrayLike,
    groups: Sequence[object] | None = None,
    *,
    method: Method = "student",
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
        method: ``student`` leaves out one sample (group) at a time and takes Student's quantiles,
            of correlations on Fisher's z, of means with Hall's correction for skewness; a share has
            the exact interval of Clopper and Pearson. ``percentile`` takes the quantiles of
            bootstrap resamples of a rank correlation, as the TCVA paper does.
        level: Of confidence, in (0, 1).
        resamples: That are drawn; also of permutations and sign flips.
        seed: Of these: the same seed gives the same bits.
        test: Find p, too: by permutations of the ratings for a correlation, by sign flips for a
            mean. A share and ``mae`` have none, nor has a correlation by groups.

    Raises:
        InvalidValueError: An unknown statistic or method, columns that do not fit, or a level
            outside (0, 1).
        MissingDependencyError: scipy is not installed.

    The standard error of this mean is sqrt(55 / 6 / 10), the quantile of t for 9 degrees 2.2622:

    >>> found = estimate("mean", np.arange(10.0) / 10)
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4), found.n
    (0.45, 0.2334, 0.6666, 10)
    >>> estimate("spearman", [[1, 2, 3], [1, 3, 2]]).reason
    '3 samples: an interval needs 10'
    """
    one_of("statistic", statistic, STATISTICS)
    one_of("method", method, get_args(Method))
    check_level(level)
    table = numbers("columns", columns, ndim=2 if np.ndim(columns) > 1 else 1)
    table = np.atleast_2d(table)
    if len(table) != (1 if statistic in ("mean", "share") else 2):
        msg = f"{len(table)} columns for {statistic}; give one of values, or scores and ratings"
        raise InvalidValueError(msg)
    if statistic == "mean" or statistic == "share":  # noqa: PLR1714  # mypy narrows it
        given = table[0]
        kept = np.isfinite(given)
        codes = None if groups is None else group_codes(groups, kept)
        values = given[kept]
        low = -1.0 if len(values) and values.min() < 0.0 else 0.0
        found = (
            exact_share(values, codes=codes, level=level)
            if statistic == "share"
            else mean_interval(values, codes=codes, level=level, ends=(low, 1.0))
        )
        p = _NAN
        if test and statistic == "mean" and len(values):
            flips = sign_flip(given, groups=groups, n_flips=resamples, seed=seed)
            p = flips.p_two_sided
        return Estimate(
            found.value, found.low, found.high, p, found.n, found.clusters, found.reason, level
        )
    scores, human = table
    agreed = interval(
        statistic,
        scores,
        human,
        n_boot=resamples,
        level=level,
        method=method,
        seed=seed,
        groups=groups,
    )
    p = _NAN
    if test and statistic != "mae" and groups is None:
        p = correlation_test(
            statistic, scores, human, n_permutations=resamples, seed=seed
        ).p_two_sided
    return Estimate(
        agreed.value, agreed.low, agreed.high, p, agreed.n, agreed.clusters, agreed.reason, level
    )


def difference(
    statistic: Statistic,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    human: npt.ArrayLike | None = None,
    groups: Sequence[object] | None = None,
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
        bootstrap (``spearman``, ``kendall``), or by Student's t of a jackknife on Fisher's z
        (``pearson``). With `Estimate.smallest` and `Estimate.equivalent`.

    Raises:
        InvalidValueError: As for `estimate`, or no ratings for a measure that needs them.
        MissingDependencyError: scipy is not installed.

    >>> ratings = np.linspace(0, 1, 40)
    >>> one, other = ratings + 0.1 * np.sin(7 * ratings), ratings + 0.1 * np.cos(9 * ratings)
    >>> found = difference("mae", one, other, ratings)
    >>> round(found.value, 3), found.equivalent(0.05)
    (-0.003, True)
    """
    one_of("statistic", statistic, STATISTICS)
    check_level(level)
    if statistic == "mean":
        one, other = numbers("a", a), numbers("b", b)
        found, inner = (
            estimate(
                "mean", one - other, groups, level=each, resamples=resamples, seed=seed, test=True
            )
            for each in (level, 2 * level - 1)
        )
        return replace(found, narrow=(inner.low, inner.high))
    if human is None or statistic == "share":
        msg = f"{statistic!r} needs human ratings; only a mean of two methods has a difference without"
        raise InvalidValueError(msg)
    pair = paired_difference(
        statistic, a, b, human, n_boot=resamples, level=level, seed=seed, groups=groups
    )
    (*sides, ratings), kept = in_all(a=a, b=b, human=human)
    codes = None if groups is None else group_codes(groups, kept)
    ends = Replicates(
        statistic, sides, ratings, n_boot=resamples, seed=seed, codes=codes
    ).difference(2 * level - 1)
    return Estimate(
        pair.delta,
        pair.low,
        pair.high,
        pair.p_two_sided,
        pair.n,
        pair.clusters,
        pair.reason,
        level,
        (ends.low, ends.high),
    )

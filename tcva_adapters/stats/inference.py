"""One engine for intervals and tests: a figure, or the difference of two.

Every function takes plain columns, one value per sample (nan or None where there is none), and
`groups`, one per sample, where samples belong together (turns of a conversation, answers to one
question): whole groups then count as one. An interval that cannot be trusted is not given: its
ends are nan, and `Estimate.reason` says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    SAME,
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
from tcva_adapters.stats.correlation_difference import (
    difference_by_z,
    difference_of_resamples,
)
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.guarantee import largest_share
from tcva_adapters.stats.jackknife import (
    correlation_ends,
    correlations_without,
    fisher,
    mean_interval,
    means_without,
    standard_error,
    student_p,
    student_quantile,
    why_perfect,
)
from tcva_adapters.stats.p_values import (
    correlation_p,
    spearman_resamples,
)
from tcva_adapters.stats.sampling_units import Units, natural_ends

Statistic = Literal["mean", "share", "error", "mae", "pearson", "spearman", "kendall"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
Compared = Literal["mean", "mae", "pearson", "spearman", "kendall"]
"""The figures of which `difference` takes the difference."""

MIN_SAMPLES = 10
"""Samples that an interval needs; that of a share needs one."""
MIN_SAMPLES_OF_RANKS = 50
"""Samples that the interval of a difference of two rank correlations needs."""


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
    """Estimate a figure of one column, or of scores and ratings, with its interval.

    Args:
        statistic: ``mean`` or ``share`` (of values that are 0 or 1), of one column; ``error`` (the
            mean of scores minus ratings), ``mae``, ``pearson``, ``spearman`` or ``kendall``
            (tau-b), of scores and ratings.
        columns: One column of shape (N,), or two. Samples that lack one are left out.
        groups: One per sample, or None.
        level: Of confidence, in (0, 1).
        resamples: Permutations of the test.
        seed: The seed of these; the same seed gives the same bits.
        test: Compute p, too: by permutations of the ratings for a correlation, from the interval
            for a mean and an ``error``. With groups, the p of a correlation is that of Student's t;
            a share and ``mae`` have none.

    Returns:
        The interval is that of the jackknife, which leaves out one sample (group) at a time, with
        Student's quantiles: for correlations on Fisher's z, for means with Hall's correction for
        skewness. A share has the exact interval of Clopper and Pearson. Errors have an interval
        only where enough ratings differ: a rating that is still to come may bring an error of
        another size.

    Raises:
        InvalidValueError: An unknown statistic, columns that do not fit, or a level outside (0, 1).
        MissingDependencyError: scipy is not installed.

    The standard error of this mean is sqrt(55 / 6 / 10), the quantile of t for 9 degrees 2.2622:

    >>> mean = estimate("mean", np.arange(10.0) / 10)
    >>> round(mean.value, 4), round(mean.low, 4), round(mean.high, 4), mean.n
    (0.45, 0.2334, 0.6666, 10)
    >>> estimate("spearman", [[1, 2, 3], [1, 3, 2]]).reason
    'it needs 10 samples, got 3'
    """
    _check(statistic, level, resamples, seed, STATISTICS)
    sides, used = _columns(statistic, columns)
    units = Units(groups, used)
    if statistic == "share":
        return _share(sides[0], units, level)
    if statistic == "mean":
        return _mean(sides[0], units, level, test=test)
    scores, human = sides
    if statistic == "error":
        errors = scores - human
        return _mean(errors, units, level, ratings=human, signed=True, test=test)
    if statistic == "mae":
        return _mean(np.abs(scores - human), units, level, ratings=human)

    value = value_of(statistic, scores, human)
    p = math.nan
    if test and units.codes is None and not math.isnan(value):
        p = correlation_p(statistic, scores, human, permutations=resamples, seed=seed)
    why = units.why_no_interval(MIN_SAMPLES, scores, ratings=human)
    figure = replace(units.figure(value, level, why or why_perfect(value)), p=p)
    if figure.reason:
        return figure
    left_out = correlations_without(
        statistic,
        scores,
        human,
        units.codes,
    )
    degrees = units.equal - 2
    if test and units.codes is not None:
        t = abs(float(fisher(value))) / standard_error(fisher(left_out))
        p = student_p(t, degrees)
    low, high = correlation_ends(
        left_out,
        value,
        student_quantile(level, degrees),
    )
    return replace(figure, p=p, low=low, high=high)


def _check(
    statistic: str,
    level: float,
    resamples: int,
    seed: int,
    known: Sequence[str],
) -> None:
    one_of("statistic", statistic, known)
    check_level(level)
    whole("resamples", resamples, least=1)
    whole("seed", seed, least=0)


def _columns(
    statistic: Statistic, columns: npt.ArrayLike
) -> tuple[FloatArray, BoolArray]:
    """Keep the samples with a value in all of the columns, and return which these are."""
    table = numbers("columns", np.atleast_2d(columns), ndim=2)
    is_single = statistic in {"mean", "share"}
    if len(table) != (1 if is_single else 2):
        wanted = "one column of values" if is_single else "scores and ratings"
        raise InvalidValueError(f"{statistic} needs {wanted}, got {len(table)} columns")
    used = np.asarray(np.isfinite(table).all(axis=0))
    return table[:, used], used


def difference(
    statistic: Compared,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    human: npt.ArrayLike | None = None,
    groups: Groups = None,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Estimate the figure of one method less that of another, on the samples that both have.

    Args:
        statistic: ``mean``, or with ratings ``mae``, ``pearson``, ``spearman`` or ``kendall``.
        a: Scores of the one method, shape (N,).
        b: Scores of the other, likewise.
        human: Ratings, likewise; None for ``mean`` alone.
        groups: One per sample, or None.
        level: Of confidence, in (0, 1).
        resamples: The number of resamples that are drawn.
        seed: The seed of these.

    Returns:
        The p is that of the interval of the mean of the samples' differences (``mean``, ``mae``), of
        the paired bootstrap (``spearman``), or of Student's t of a jackknife on Fisher's z
        (``pearson``, ``kendall``). `Estimate.smallest` and `Estimate.equivalent` apply to it.

    Raises:
        InvalidValueError: As for `estimate`, or no ratings for a measure that needs them.
        MissingDependencyError: scipy is not installed.

    >>> ratings = np.linspace(0, 1, 40)
    >>> one, other = ratings + 0.1 * np.sin(7 * ratings), ratings + 0.1 * np.cos(9 * ratings)
    >>> apart = difference("mae", one, other, ratings)
    >>> round(apart.value, 3), apart.equivalent(0.05)
    (-0.003, True)
    """
    _check(statistic, level, resamples, seed, get_args(Compared))
    columns = {"a": a, "b": b}
    if (human is None) != (statistic == "mean"):
        raise InvalidValueError(
            f"{statistic!r}: 'mean' takes no human ratings; mae and the correlations need them"
        )
    if human is not None:
        columns["human"] = human
    (one, other, *ratings), used = in_all(columns)
    units = Units(groups, used)
    if statistic == "mean":
        apart = _mean(one - other, units, level, signed=True, test=True)
        return _unless_one_sample_decides(apart, one, other, units)
    rated = ratings[0]
    if statistic == "mae":
        values = np.abs(one - rated) - np.abs(other - rated)
        return _mean(values, units, level, ratings=rated, signed=True, test=True)

    sides = (one, other)
    correlations = [value_of(statistic, side, rated) for side in sides]
    least = MIN_SAMPLES if statistic == "pearson" else MIN_SAMPLES_OF_RANKS
    why = units.why_no_interval(least, *sides, ratings=rated)
    if statistic != "spearman":
        why = why or why_perfect(max(correlations, key=abs))
    figure = units.figure(correlations[0] - correlations[1], level, why)
    if why:
        return figure
    if statistic == "spearman":
        rhos = spearman_resamples(
            sides,
            rated,
            units.codes,
            resamples,
            seed,
        )
        return difference_of_resamples(
            figure,
            rhos[0] - rhos[1],
            units,
        )
    left_out = [
        correlations_without(statistic, side, rated, units.codes) for side in sides
    ]
    return difference_by_z(
        figure,
        correlations,
        left_out,
        units,
    )


def _mean(
    values: FloatArray,
    units: Units,
    level: float,
    *,
    ratings: FloatArray | None = None,
    signed: bool = False,
    test: bool = False,
) -> Estimate:
    """The mean with its interval; `signed` says that values may be negative.

    Enough of the ratings that values were computed from have to differ, too. Where half of these
    errors are the same, enough others are seen mostly in draws that have too many of them.
    """
    value = mean(values)
    why = units.why_no_interval(MIN_SAMPLES, values, ratings=ratings)
    left_out = means_without(values, units.unit_codes)
    if not why and np.ptp(left_out) <= SAME * np.abs(values).max():
        why = "the value is the same whichever group is left out"
    figure = units.figure(value, level, why)
    if why:
        return figure
    ends, p = mean_interval(
        left_out,
        value,
        units.equal,
        signed=signed
        or bool(values.min() < 0.0)
        or _is_usual(values, inside=ratings is None),
        within=natural_ends(values, signed=signed),
    )
    return replace(figure.with_ends(ends), p=p if test else math.nan)


def _unless_one_sample_decides(
    mean: Estimate, one: FloatArray, other: FloatArray, units: Units
) -> Estimate:
    """The mean without its interval where a side hardly varies, and one more sample may decide.

    A sample on which that side has another value would move the mean out of the interval.
    """
    why = units.why_no_interval(MIN_SAMPLES, one, other)
    if mean.reason or not why:
        return mean
    farthest = max(1.0, np.ptp([one, other]))
    if mean.high - mean.low >= 2 * farthest / units.equal:
        return mean
    why += " where differences are this small"
    return units.figure(mean.value, mean.level, why)


def _is_usual(values: FloatArray, *, inside: bool) -> bool:
    """Whether half of the values are the same one; `inside`: and others lie on both sides of it."""
    often = np.unique(values.round(12), return_counts=True)[1]
    usual = often.argmax()
    is_inside = 0 < usual < len(often) - 1
    return (is_inside or not inside) and 2 * often[usual] >= len(values)


def _share(values: FloatArray, units: Units, level: float) -> Estimate:
    """The share of ones among zeros and ones, with the interval of Clopper and Pearson.

    With groups, n is the number of independent samples of the same precision (Korn and Graubard).
    """
    if not np.isin(values, (0.0, 1.0)).all():
        raise InvalidValueError("share needs values of 0 and 1; use 'mean' for others")
    value = mean(values)
    figure = units.figure(value, level, units.why_no_interval(1))
    if figure.reason:
        return figure
    n = units.equal
    if units.codes is not None and 0.0 < value < 1.0:
        # The n whose binomial variance is that of the groups, less what few groups cost.
        error = standard_error(means_without(values, units.unit_codes))
        effective_n = value * (1 - value) / max(error**2, SAME)
        singles = student_quantile(level, units.n - 1)
        groups = student_quantile(level, units.equal - 1)
        n = min(units.n, effective_n * (singles / groups) ** 2)
    passed = value * n
    alpha = (1 - level) / 2
    return replace(
        figure,
        low=1.0 - float(largest_share(n - passed, n, alpha)),
        high=float(largest_share(passed, n, alpha)),
    )

"""How good can a method get? Agreement of several human raters, and correlations corrected for it.

A rating is the truth plus the rater's error, so even a method that gives the truth correlates with
the mean of k raters by no more than the square root of that mean's reliability. Spearman and Brown
tell it from the mean correlation r of two raters::

    reliability = k r / (1 + (k - 1) r)

A method's correlation divided by that square root is what it would be with error-free ratings
(C. Spearman, The proof and measurement of association between two things, 1904). It supposes that
raters err independently of each other and of the method. For rank correlations it is approximate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    check_level,
    group_codes,
    numbers,
    one_of,
    same_length,
)
from tcva_adapters.stats.clusters import worth
from tcva_adapters.stats.enough import why_no_interval
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.resampling import leave_one_out
from tcva_adapters.stats.student import quantile
from tcva_adapters.stats.weighted import Statistic, statistic_of

Correlated = Literal["spearman", "pearson"]
"""Correlations that can be corrected."""

CORRELATED: Final[tuple[Correlated, ...]] = get_args(Correlated)

LEAST: Final = 30
"""Samples (or groups) that an interval needs."""

_SAME: Final = 1e-12

_UNDEFINED: Final = "with or without one of the samples it is not defined, or perfect"

_BLOCKS: Final = 500
"""Above so many samples, as many blocks of them are left out one by one: one by one takes long."""


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters.

    Attributes:
        first: Place of one among the raters.
        second: Of the other.
        value: Their correlation; nan where it is undefined.
        n: Samples that both have rated.
    """

    first: int
    second: int
    value: float
    n: int


@dataclass(frozen=True, slots=True)
class Corrected:
    """One method against several raters.

    Attributes:
        with_mean: Correlation with the mean of the raters.
        corrected: The same with error-free ratings; it may come out above 1.
        as_rater: Its correlation with the mean of all raters but one, averaged over the one.
        ahead: ``as_rater`` less what the rater left out reaches: above 0, the method agrees with
            the others better than one more rater does.
    """

    with_mean: float
    corrected: Interval
    as_rater: float
    ahead: Interval


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What several raters allow.

    Attributes:
        measure: ``spearman`` or ``pearson``.
        samples: Those with a rating.
        several: Those with two or more.
        pairs: Every two raters.
        reliability: Of the mean of the raters, in [0, 1]; nan where they do not agree at all.
        best: Correlation of a method that gives the truth with that mean, the square root of it.
        one_more: Correlation of a rater with the mean of the others, averaged over the raters, each
            of whom counts by the samples that these have rated as well.
        methods: One per method.
        level: Of the intervals.
    """

    measure: Correlated
    samples: int
    several: int
    pairs: tuple[RaterPair, ...]
    reliability: float
    best: Interval
    one_more: Interval
    methods: tuple[Corrected, ...]
    level: float

    @property
    def between(self) -> float:
        """Mean correlation of two raters, by the samples that they share; nan where no pair has one."""
        values = np.array([[pair.value] for pair in self.pairs])
        return float(_means(values, [pair.n for pair in self.pairs])[0])


def mean_rating(ratings: npt.ArrayLike) -> FloatArray:
    """The mean of the raters that rated a sample, nan where none did.

    >>> mean_rating([[1.0, 0.0], [0.5, None], [None, None]])
    array([0.5, 0.5, nan])
    """
    table = numbers("ratings", ratings, ndim=2)
    known = np.isfinite(table)
    number = known.sum(axis=1)
    total = np.where(known, table, 0.0).sum(axis=1)
    means = np.full(len(table), np.nan)
    np.divide(total, number, out=means, where=number > 0)
    return means


def ceiling(
    measure: Correlated,
    ratings: npt.ArrayLike,
    methods: npt.ArrayLike,
    *,
    level: float = 0.95,
    groups: Sequence[object] | None = None,
) -> Ceiling:
    """How far raters agree, what that lets a method reach, and methods' correlations corrected for it.

    Where raters rated different samples, k is the harmonic mean of how many rated one, which is
    what the error of a mean goes by. Intervals are the jackknife's with Student's t, samples or
    whole groups left out one by one; these count as `clusters.worth` says.

    Args:
        measure: ``spearman`` or ``pearson``.
        ratings: Shape (N, K): a column per rater, two or more; nan or None where one has none.
        methods: Shape (N, M): a column per method; nan or None where it has no score.
        level: Of the intervals, in (0, 1).
        groups: One per sample, to leave out whole groups.

    Raises:
        InvalidValueError: Another measure, fewer than two raters, lengths that differ, a level
            outside (0, 1), or groups that do not fit.
        MissingDependencyError: scipy is not installed.

    Three raters with errors as large as the truth's spread: two of them correlate by 0.5, their
    mean has the reliability 3 * 0.5 / 2 = 0.75, and the best that a method can reach is 0.87:

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(2000, 1))
    >>> found = ceiling("pearson", truth + rng.normal(size=(2000, 3)), truth)
    >>> [round(x, 2) for x in (found.between, found.best.value, found.one_more.value)]
    [0.51, 0.87, 0.59]
    >>> round(found.methods[0].with_mean, 2), round(found.methods[0].corrected.value, 1)
    (0.87, 1.0)
    """
    one_of("measure", measure, CORRELATED)
    check_level(level)
    table, scores = numbers("ratings", ratings, ndim=2), numbers("scores", methods, ndim=2)
    same_length(ratings=table, scores=scores)
    if table.shape[1] < 2:
        msg = f"{table.shape[1]} rater; a ceiling needs the ratings of two or more"
        raise InvalidValueError(msg)
    rated: BoolArray = np.asarray(np.isfinite(table).any(axis=1), dtype=np.bool_)
    codes = None if groups is None else group_codes(groups, rated)
    table, scores = table[rated], scores[rated]
    clusters = None if codes is None else len(np.unique(codes))
    figures = _Figures(measure, table, scores)
    reason = why_no_interval(len(table), codes=codes, least=LEAST, least_clusters=LEAST)
    if codes is None and len(table) > _BLOCKS:
        codes = np.arange(len(table)) % _BLOCKS
    found = figures.all
    low = high = np.full(len(found), np.nan)
    if not (reason := reason or _why_not_corrected(float(found[0]))):
        left = leave_one_out(len(table), codes)
        without = np.concatenate([figures(c) for c in left], axis=1)
        low, high = _jackknife(found, without, level, len(table) if codes is None else worth(codes))
        reason = _UNDEFINED
    best, one_more, *rest = (
        Interval(*each, len(table), clusters, reason if np.isnan(each[1]) else "")
        for each in zip(found.tolist(), low.tolist(), high.tolist(), strict=True)
    )
    return Ceiling(
        measure=measure,
        samples=len(table),
        several=int((np.isfinite(table).sum(axis=1) > 1).sum()),
        pairs=figures.pairs,
        reliability=best.value**2,
        best=best,
        one_more=one_more,
        methods=tuple(
            Corrected(with_mean, corrected, ahead.value + one_more.value, ahead)
            for with_mean, corrected, ahead in zip(
                figures.with_mean.tolist(), rest[::2], rest[1::2], strict=True
            )
        ),
        level=level,
    )


class _Part:
    """A correlation on the samples that have both sides."""

    def __init__(self, measure: Correlated, sides: Sequence[FloatArray], other: FloatArray) -> None:
        self._kept = [np.isfinite(side) & np.isfinite(other) for side in sides]
        self.sizes = [int(kept.sum()) for kept in self._kept]
        self._of: list[Statistic | None] = [
            statistic_of(measure, [side[kept]], other[kept]) if kept.any() else None
            for side, kept in zip(sides, self._kept, strict=True)
        ]

    def __call__(self, counts: IntArray) -> FloatArray:
        """From counts (rows, n) to values (sides, rows)."""
        found = np.full((len(self._kept), len(counts)), np.nan)
        for place, (of, kept) in enumerate(zip(self._of, self._kept, strict=True)):
            here = counts[:, kept]
            drawn = here.any(axis=1)
            if of is not None and drawn.any():
                found[place, drawn] = of(here[drawn])[0]
        return found


class _Figures:
    """All figures under counts of the samples.

    Rows are ``best`` and ``one_more``, then ``corrected`` and ``ahead`` of each method.
    """

    def __init__(self, measure: Correlated, table: FloatArray, scores: FloatArray) -> None:
        raters = table.shape[1]
        columns, methods = list(table.T), list(scores.T)
        self._number = np.isfinite(table).sum(axis=1)
        self._mean = _Part(measure, methods, mean_rating(table))
        places = list(combinations(range(raters), 2))
        self._pairs = [_Part(measure, [columns[i]], columns[j]) for i, j in places]
        self._others = []
        for left in range(raters):
            others = mean_rating(np.delete(table, left, axis=1))
            # On the samples that the rater left out has rated, so that methods stand beside it.
            others = np.where(np.isfinite(columns[left]), others, np.nan)
            self._others.append(_Part(measure, [columns[left], *methods], others))
        ones = np.ones((1, len(table)), dtype=np.int64)
        self.with_mean = self._mean(ones)[:, 0]
        self.all = self(ones)[:, 0]
        self.pairs = tuple(
            RaterPair(i, j, float(part(ones)[0, 0]), part.sizes[0])
            for (i, j), part in zip(places, self._pairs, strict=True)
        )

    def __call__(self, counts: IntArray) -> FloatArray:
        rows = len(counts)
        between = _means(
            [part(counts)[0] for part in self._pairs], [part.sizes[0] for part in self._pairs]
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            k = counts.sum(axis=1) / (counts / np.maximum(self._number, 1)).sum(axis=1)
            reliability = k * between / (1.0 + (k - 1.0) * between)
            best = np.sqrt(np.where(between > 0.0, reliability, np.nan))
            corrected = self._mean(counts) / best
        beside = [part(counts) for part in self._others]
        sizes = np.array([part.sizes for part in self._others])
        one_more = _means([part[0] for part in beside], sizes[:, 0])
        found = [best, one_more]
        for place in range(len(corrected)):
            as_rater = _means([part[place + 1] for part in beside], sizes[:, place + 1])
            found += [corrected[place], as_rater - one_more]
        return np.array(found).reshape(-1, rows)


def _means(parts: npt.ArrayLike, sizes: npt.ArrayLike) -> FloatArray:
    """The mean of those that are defined, in each column, by the samples behind each row.

    Two raters who share two samples correlate by 1 or -1, and must not count as much as others.
    """
    table = np.asarray(parts, dtype=np.float64)
    weights = np.where(np.isnan(table), 0.0, np.asarray(sizes, dtype=np.float64)[:, None])
    number = weights.sum(axis=0)
    total = (weights * np.nan_to_num(table)).sum(axis=0)
    means = np.full(table.shape[1], np.nan)
    np.divide(total, number, out=means, where=number > 0)
    return means


def _jackknife(
    found: FloatArray, without: FloatArray, level: float, equal: float
) -> tuple[FloatArray, FloatArray]:
    """Ends of every figure; nan where it has no value without one of the units.

    Correlations are looked at on the scale of Fisher's z, corrected ones before they are divided by
    the ``best`` at hand; what a method is ahead by stays as it is.
    """
    n = without.shape[1]
    reach = quantile(level, equal - 1)
    bound = np.ones(len(found))
    bound[2::2] = 1.0 / found[0]
    plain = np.arange(len(found)) % 2 == 1
    plain[1] = False
    with np.errstate(divide="ignore", invalid="ignore"):
        one, rest = (
            np.where(plain[:, None], part, np.arctanh(part / bound[:, None]))
            for part in (found[:, None], without)
        )
        pseudo = n * one - (n - 1) * rest
        error = pseudo.std(axis=1, ddof=1) / np.sqrt(n)
        ends = one + reach * error[:, None] * np.array([-1.0, 1.0])
        ends = np.where(plain[:, None], ends, np.tanh(ends) * bound[:, None])
    return ends[:, 0], ends[:, 1]


def _why_not_corrected(best: float) -> str:
    """Why nothing is corrected by the square root of the raters' reliability; empty if it can be."""
    if np.isnan(best):
        return "the raters do not agree beyond chance: there is nothing to correct by"
    return "the raters never differ: there is nothing to correct for" if best >= 1.0 - _SAME else ""

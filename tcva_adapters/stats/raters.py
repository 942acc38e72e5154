"""Several raters, judges or repeats: how far they agree, what that allows, and where variance comes from.

A rating is the truth plus the rater's error, so even a method that gives the truth correlates with
the mean of k raters by no more than the square root of that mean's reliability. Spearman and Brown
tell it from the mean correlation r of two raters: ``k r / (1 + (k - 1) r)``. A method's correlation
divided by that square root is what it would be with error-free ratings (C. Spearman, The proof and
measurement of association between two things, 1904). It supposes that raters err independently of
each other and of the method; for rank correlations it is approximate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    FloatArray,
    Groups,
    check_level,
    numbers,
    one_of,
    same_length,
)
from tcva_adapters.stats.correlation import Agreement, agreement
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.jackknife import (
    correlation_ends,
    standard_error,
    student_quantile,
)
from tcva_adapters.stats.sampling_units import Units

Correlated = Literal["spearman", "pearson"]

ENOUGH = 30
"""Samples below which correlations of raters or judges say too little."""

_NOTHING = 1e-9
_MOST_AT_END = 2 / 3
"""With a larger share of ratings at one end, Spearman and Brown's best correlation is too high by more
than 0.06, and by 0.2 at 85 % (`benchmarks.levels`)."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The agreement of several raters, and the correlations that it allows methods to reach.

    Attributes:
        pairs: The correlation of every two raters, in the order of `itertools.combinations`.
        between: Their mean correlation, by the samples that they share; nan where no pair has one.
        value: Reliability of the mean of the raters, in [0, 1]; nan where they do not agree at all,
            and where more than two thirds of the ratings are the highest or the lowest one.
        best: Its square root: the correlation of a method that gives the truth with that mean.
        with_mean: Each method's correlation with the mean of the raters.
        corrected: The same with error-free ratings; it may come out above 1.
    """

    pairs: Sequence[Agreement]
    between: float
    value: float
    best: Estimate
    with_mean: tuple[float, ...]
    corrected: tuple[Estimate, ...]


def mean_rating(ratings: npt.ArrayLike) -> FloatArray:
    """The mean of the raters that rated a sample, nan where none did.

    >>> mean_rating([[1.0, 0.0], [0.5, None], [None, None]])
    array([0.5, 0.5, nan])
    """
    table = numbers("ratings", ratings, ndim=2)
    known = np.isfinite(table)
    sums = np.where(known, table, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):  # without a rating
        return np.asarray(sums / known.sum(axis=1))


def reliability(
    measure: Correlated,
    ratings: npt.ArrayLike,
    methods: npt.ArrayLike,
    *,
    groups: Groups = None,
    level: float = 0.95,
) -> Reliability:
    """Estimate how far raters agree, what that lets a method reach, and methods' corrected correlations.

    Where raters rated different samples, k is the harmonic mean of how many rated one. Intervals
    are the jackknife's with Student's t, on Fisher's z for ``best``.

    Args:
        measure: ``spearman`` or ``pearson``.
        ratings: Shape (N, K): a column per rater, two or more; nan or None where one has none.
        methods: Shape (N, M): a column per method; nan or None where it has no score.
        groups: One per sample, to leave out whole groups.
        level: Of the intervals, in (0, 1).

    Raises:
        InvalidValueError: Another measure, fewer than two raters, lengths that differ, a level
            outside (0, 1), or groups that do not fit.
        MissingDependencyError: scipy is not installed.

    Three raters with errors as large as the truth's spread: two of them correlate by 0.5, their
    mean has the reliability 3 * 0.5 / 2 = 0.75, and the best that a method can reach is 0.87:

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(2000, 1))
    >>> reliable = reliability("pearson", truth + rng.normal(size=(2000, 3)), truth)
    >>> [round(x, 2) for x in (reliable.between, reliable.best.value, reliable.with_mean[0])]
    [0.51, 0.87, 0.87]
    >>> round(reliable.corrected[0].value, 1)
    1.0
    """
    one_of("measure", measure, get_args(Correlated))
    check_level(level)
    table = numbers("ratings", ratings, ndim=2)
    scores = numbers("scores", methods, ndim=2)
    same_length({"ratings": table, "scores": scores})
    if table.shape[1] < 2:
        raise InvalidValueError(
            f"reliability needs the ratings of two or more raters, got {table.shape[1]}"
        )
    rated = np.asarray(np.isfinite(table).any(axis=1))
    units = Units(groups, rated)
    table = table[rated]
    scores = scores[rated]
    pairs = [agreement(measure, *pair) for pair in combinations(table.T, 2)]
    between, best, *corrected = _figures(measure, table, scores).tolist()
    with_mean = tuple(value * best for value in corrected)
    reason = units.why_no_interval(ENOUGH)
    known = table[np.isfinite(table)]
    at_end = max(mean(known == end) for end in (known.min(), known.max()))
    if math.isnan(best):
        reason = "the raters do not agree beyond chance, so there is no correction"
    elif at_end > _MOST_AT_END:
        reason = (
            f"{at_end * 100:.0f} % of the ratings are at one end of the scale; above two thirds, the "
            "agreement of raters does not show what a method can reach"
        )
        best = math.nan
        corrected = [math.nan] * len(corrected)
    elif not reason and best >= 1.0 - _NOTHING:
        reason = "the raters never differ, so there is nothing to correct"
    estimates = [units.figure(value, level, reason) for value in (best, *corrected)]
    if not reason:
        left_out = np.array(
            [_figures(measure, table[k], scores[k])[1:] for k in units.without()]
        )
        half = student_quantile(level, units.equal - 1)
        estimates = [
            _interval(figure, column, half)
            for figure, column in zip(estimates, left_out.T, strict=True)
        ]
    return Reliability(
        pairs=pairs,
        between=between,
        value=best**2,
        best=estimates[0],
        with_mean=with_mean,
        corrected=tuple(estimates[1:]),
    )


def _figures(
    measure: Correlated,
    table: FloatArray,
    scores: FloatArray,
) -> FloatArray:
    """The mean correlation of two raters, ``best``, and each method's corrected correlation."""
    every = [agreement(measure, *pair) for pair in combinations(table.T, 2)]
    pairs = np.array(
        [(pair.value, pair.n) for pair in every if not math.isnan(pair.value)]
    )
    between = np.average(pairs[:, 0], weights=pairs[:, 1]) if len(pairs) else math.nan
    k = len(table) / (1.0 / np.isfinite(table).sum(axis=1)).sum()
    best = (
        math.sqrt(k * between / (1.0 + (k - 1.0) * between))
        if between > 0.0
        else math.nan
    )
    mean = mean_rating(table)
    methods = [agreement(measure, column, mean).value / best for column in scores.T]
    return np.array([between, best, *methods])


def _interval(
    figure: Estimate,
    left_out: FloatArray,
    half: float,
) -> Estimate:
    """Add the jackknife's interval by Student's t: on Fisher's z below 1, on the plain scale above."""
    value = figure.value
    if np.isnan(left_out).any() or math.isnan(value):
        return replace(
            figure, reason="it is undefined when one of the samples is left out"
        )
    if max(value, left_out.max()) < 1.0:
        low, high = correlation_ends(left_out, value, half)
    else:
        reach = half * standard_error(left_out)
        low = value - reach
        high = value + reach
    return replace(figure, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Independence:
    """How far several judges are independent of each other.

    Attributes:
        samples: The samples with a score by each judge (and a human rating, where errors are
            compared).
        correlation: Pearson's, mean over the pairs of judges whose scores vary (one that says the same
            of every sample adds nothing); nan where no pair has one.
        effective: Kish's effective number of the k that vary, ``k / (1 + (k - 1) r)`` with r at least
            0: so many independent judges would have a mean with as much noise. nan where r is.
    """

    samples: int
    correlation: float
    effective: float


def independence(
    scores: npt.ArrayLike, human: npt.ArrayLike | None = None
) -> Independence:
    """Measure how far judges say the same: the mean correlation of their scores, or of their errors.

    Judges that are right agree, so correlated scores alone do not mean that they fail together.
    With human ratings the errors are looked at: what is left of a judge's scores once the straight
    line through the human ratings that fits them best is taken off. No scale needs to be known.

    Args:
        scores: Shape (N, K), one column per judge; nan or None where it has none. Samples without
            all of them are left out.
        human: Shape (N,), on any scale; nan or None where there is none.

    Raises:
        InvalidValueError: Values that are no numbers, or lengths that differ.

    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(500, 1))
    >>> independent = independence(shared + rng.normal(size=(500, 4)))
    >>> round(independent.correlation, 1), round(independent.effective, 1)
    (0.5, 1.6)
    """
    table = numbers("scores", scores, ndim=2)
    ratings = np.zeros(len(table)) if human is None else numbers("human", human)
    same_length({"scores": table, "human": ratings})
    used = np.isfinite(np.column_stack([table, ratings])).all(axis=1)
    table = table[used]
    n = len(table)
    varying = 0
    correlation = math.nan
    effective = math.nan
    if n > 1:
        line = np.column_stack([np.ones(n), ratings[used]])
        # Shape (samples, judges), then without judges that say nothing of their own.
        rest = table - line @ np.linalg.lstsq(line, table)[0]
        sizes = np.linalg.norm(rest, axis=0)
        least = _NOTHING * np.linalg.norm(table, axis=0)
        rest = rest[:, sizes > least]
        varying = rest.shape[1]
    if varying > 1:
        total = float(np.corrcoef(rest, rowvar=False).sum()) - varying
        correlation = min(max(total / (varying * (varying - 1)), -1.0), 1.0)
        effective = varying / (1.0 + (varying - 1) * max(0.0, correlation))
    return Independence(
        samples=n,
        correlation=correlation,
        effective=effective,
    )


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Where the variance of scores that were made several times comes from.

    Attributes:
        samples: Samples with at least one score.
        repeats: Scores per sample, the harmonic mean of their numbers; nan without a score.
        judge: Variance within a sample, of the judge; nan where no sample has two scores.
        sample: Variance between samples of what a judge without noise would give, at least 0; nan
            where `judge` is, and for fewer than two samples.
    """

    samples: int
    repeats: float
    judge: float
    sample: float

    @property
    def standard_error(self) -> float:
        """The standard error of the mean over new samples, judged anew; nan where `sample` is."""
        return self.error_with(self.samples, self.repeats)

    def error_with(self, samples: float, repeats: float) -> float:
        """The standard error of the mean with so many samples and repeats of each; nan without any."""
        if not samples:
            return math.nan
        return math.sqrt((self.sample + self.judge / repeats) / samples)


def variance_components(scores: npt.ArrayLike) -> VarianceComponents:
    """One-way analysis of variance with random effects, of samples that were judged several times.

    A score is the sample's own value and the judge's noise, ``y_ij = mu + a_i + e_ij``. With n_i
    scores of sample i, N in all, of k samples, and the sample's mean m_i::

        within  = sum_ij (y_ij - m_i)^2 / (N - k)                       judge
        between = sum_i n_i (m_i - m)^2 / (k - 1),   m = sum_ij y_ij / N
        n0      = (N - sum_i n_i^2 / N) / (k - 1)
        sample  = max(0, (between - within) / n0)

    Source: S. R. Searle, G. Casella and C. E. McCulloch, Variance Components (1992), section 3.6.

    Args:
        scores: Shape (samples, repeats); nan or None where there is none.

    Raises:
        InvalidValueError: Values that are no numbers, or another number of dimensions.

    Two samples with the means 1 and 3, and a variance of 0.02 within each; 2 is the variance of the
    means, of which 0.02 / 2 is the judge's:

    >>> components = variance_components([[0.9, 1.1], [2.9, 3.1]])
    >>> [round(v, 12) for v in (components.judge, components.sample, components.standard_error)]
    [0.02, 1.99, 1.0]
    """
    table = numbers("scores", scores, ndim=2)
    table = table[np.isfinite(table).any(axis=1)]
    k = len(table)
    n = np.isfinite(table).sum(axis=1)
    total = n.sum()
    means = mean_rating(table)
    judge = sample = math.nan
    if total > k:
        within = table - means[:, None]
        judge = float(np.nansum(within**2) / (total - k))
    if total > k > 1:
        mean = (n * means).sum() / total
        between = (n * (means - mean) ** 2).sum() / (k - 1)
        n0 = (total - (n**2).sum() / total) / (k - 1)
        sample = max(0.0, float((between - judge) / n0))
    return VarianceComponents(
        samples=k,
        repeats=k / float((1.0 / n).sum()) if k else math.nan,
        judge=judge,
        sample=sample,
    )

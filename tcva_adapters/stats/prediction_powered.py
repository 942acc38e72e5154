"""Means of human ratings from a few ratings and many scores of a judge: prediction-powered inference.

Of N samples that a judge scored (f) n have a human rating (y). The mean of the n ratings is right
and wide; that of the N scores is narrow and as biased as the judge. The estimate takes from the
judge how far the rated samples lie from all of them:

    mean(y) + slope * (mean of f over all N - mean of f over the n rated)

It is right whatever the judge is worth, and narrower the more the judge knows (Angelopoulos et al.,
Prediction-powered inference, 2023). The slope that makes it narrowest (PPI++, Angelopoulos, Duchi
and Zrnic, 2023) is that of the regression of y on f times 1 - n / N where f is averaged over the
samples without rating alone; over all N, as here, it is the regression's own, so this is the
regression estimator of survey statistics (Cochran, Sampling Techniques, chapter 7).

What is added for few ratings:

* Two labels that nobody gave join in: one at the bottom of the scale where the judge's score would
  have it highest, and one at the top where it would have it lowest. They do for means and for a
  judge what Agresti and Coull do for shares. Without them an interval from ratings that are nearly
  all alike, or that a judge happens to hit, is much too narrow. They decide slope and interval;
  the estimate itself is without them.
* The slope is shrunk by the ratio of the adjusted to the raw share of the variance that it
  explains, and 0 where that is not above 0: a useless judge costs no width.
* Student's t, with a degree of freedom less for a slope.

The slope is of the same ratings, which biases the estimate by up to .4 of a standard error towards the
more common ratings where there are few and failures are rare; that is .1 for 300 ratings. Slopes that leave a
rating out each have no such bias, but a larger error.

``benchmarks/estimate.py`` measures coverage and width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
    same_length,
)
from tcva_adapters.stats.enough import why_no_interval
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.student import quantile

__all__ = ["PoweredMean"]

_ADDED: Final = 2
"""Labels that nobody gave."""
_TINY: Final = 1e-12
"""Share of a sum of squares below which it is one of rounding errors."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """An estimate at one slope.

    Attributes:
        value: Of the ratings there are.
        centre: The same with the added labels: the middle of the interval.
        variance: Of the estimate.
        freedom: Degrees of freedom.
        influence: What each sample with a score adds to the estimate's error, shape (N,).
    """

    value: float
    centre: float
    variance: float
    freedom: float
    influence: FloatArray


class PoweredMean:
    """The mean human rating of samples that a judge scored and of which some are rated.

    Attributes:
        samples: N, those with a score.
        labels: n, those with a rating, too.
        clusters: Groups with a rating; None where samples are drawn one by one.
        judge_mean: Mean score, on the judge's scale.
        slope: What a point of the judge's score is worth on the scale of the ratings; 0 where the
            ratings are better taken alone.
    """

    def __init__(
        self,
        ratings: npt.ArrayLike,
        scores: npt.ArrayLike,
        *,
        scale: tuple[float, float] = (0.0, 1.0),
        weights: npt.ArrayLike | None = None,
        groups: Sequence[object] | None = None,
    ) -> None:
        """Find the slope.

        Args:
            ratings: Shape (N,); nan or None where nobody rated. For a pass rate 0 and 1.
            scores: Of the judge, shape (N,), on any scale. Samples without are left out.
            scale: Lowest and highest rating that could be given.
            weights: Shape (N,), of the rated samples how many others each stands for, up to a
                factor: 1 / the probability with which it was chosen. None where they were drawn at
                random. See `selection.round_weights`.
            groups: One per sample, equal objects are one group: whole groups were drawn, or
                samples of one group resemble each other.

        Raises:
            InvalidValueError: Lengths that differ, no rating, one beyond the scale, a weight that is
                not above 0, or groups that do not fit.

        >>> ratings = [1, 0, 1, 0, 1, 0, 1, 1, 0, 1] * 3 + [None] * 270
        >>> scores = [0.9, 0.3, 0.8, 0.5, 0.9, 0.4, 0.7, 0.9, 0.2, 0.8] * 3 + [0.8, 0.9] * 135
        >>> found = PoweredMean(ratings, scores)
        >>> round(found.alone().value, 2), round(found.estimate().value, 2), round(found.worth)
        (0.6, 0.86, 43)
        """
        self.scale = scale
        given, judged = numbers("ratings", ratings), numbers("scores", scores)
        same_length(ratings=given, scores=judged)
        kept: BoolArray = np.isfinite(judged)
        self._scores: FloatArray = judged[kept]
        rated: BoolArray = np.isfinite(given[kept])
        self._rated: IntArray = np.flatnonzero(rated)
        self._ratings = given[kept][rated]
        if not len(self._ratings):
            msg = "no sample has a score and a human rating; rate some (tcva estimate --next 60)"
            raise InvalidValueError(msg)
        check_scale(self._ratings, self.scale)
        self.samples, self.labels = len(self._scores), len(self._ratings)
        codes = np.arange(self.samples) if groups is None else group_codes(groups, kept)
        self._codes: IntArray = codes.astype(np.int64)
        there = np.flatnonzero(kept).tolist()
        self._groups = None if groups is None else [groups[place] for place in there]
        self._drawn = np.unique(self._codes[self._rated], return_inverse=True)[1].astype(np.int64)
        self.clusters = None if groups is None else int(self._drawn.max()) + 1
        self._weights = self._effective(weights, kept)
        self.judge_mean = float(self._scores.mean())
        self._alone = self._fit(0.0, 0.0)
        slope, share = self._slope()
        best = self._fit(slope, share)
        is_used = best.variance < self._alone.variance
        self.slope, self._best = (slope, best) if is_used else (0.0, self._alone)

    def estimate(self, level: float = 0.95) -> Interval:
        """The mean rating, with what the judge knows of the samples that nobody rated.

        Raises:
            InvalidValueError: A level outside (0, 1).
            MissingDependencyError: scipy is not installed.
        """
        return self._estimated(self._best, level)

    def alone(self, level: float = 0.95) -> Interval:
        """The same from the ratings alone.

        Raises:
            InvalidValueError: A level outside (0, 1).
            MissingDependencyError: scipy is not installed.
        """
        return self._estimated(self._alone, level)

    @property
    def worth(self) -> float:
        """How many ratings alone would give an interval as narrow."""
        return self.labels * self._alone.variance / self._best.variance

    @property
    def drift(self) -> float:
        """How far the rated samples' mean score lies off from that of all, in standard errors.

        Beyond 3 they were hardly drawn with the chances that the weights say.
        """
        away = self._scores[self._rated] - self.judge_mean
        spread = float(self._scores.std())
        if spread == 0.0:
            return 0.0
        mean = float(np.average(away, weights=self._weights))
        return mean * float(np.sqrt(self._units)) / spread

    @property
    def reason(self) -> str:
        """Why there is no interval; empty where there is one."""
        return why_no_interval(self.labels, codes=None if self.clusters is None else self._drawn)

    def less(self, other: PoweredMean, level: float = 0.95) -> Interval:
        """How far this mean lies above another one.

        Where both have groups, samples of one group may occur in both (answers to the same
        question): what they share cancels out.

        Args:
            other: Of other samples.
            level: Of the interval.

        Raises:
            InvalidValueError: A level outside (0, 1), or other scales.
            MissingDependencyError: scipy is not installed.
        """
        check_level(level)
        if self.scale != other.scale:
            msg = f"ratings from {self.scale} and from {other.scale}; give both the same scale"
            raise InvalidValueError(msg)
        one, two = self._best, other._best
        shared = self._shared(other)
        variance = one.variance + two.variance - 2.0 * shared
        freedom = (one.variance + two.variance) ** 2 / (
            one.variance**2 / one.freedom + two.variance**2 / two.freedom
        )
        if shared:
            freedom = min(one.freedom, two.freedom)
        low, high = self.scale
        return _between(
            (one.value - two.value, one.centre - two.centre),
            (max(variance, 0.0), freedom),
            (low - high, high - low),
            level,
            (self.labels + other.labels, self._joined(other), self.reason or other.reason),
        )

    def _joined(self, other: PoweredMean) -> int | None:
        """Groups with a rating here or there; None where either has none."""
        if self._groups is None or other._groups is None:
            return None
        own = {self._groups[place] for place in self._rated.tolist()}
        return len(own | {other._groups[place] for place in other._rated.tolist()})

    def _shared(self, other: PoweredMean) -> float:
        """The covariance of two estimates, from the groups that both have samples of."""
        if self._groups is None or other._groups is None:
            return 0.0
        both = [*self._groups, *other._groups]
        codes = group_codes(both, np.ones(len(both), dtype=np.bool_))
        size = int(codes.max()) + 1
        first = np.bincount(codes[: self.samples], self._best.influence, size)
        second = np.bincount(codes[self.samples :], other._best.influence, size)
        return float((first * second).sum())

    def _effective(self, weights: npt.ArrayLike | None, kept: BoolArray) -> FloatArray:
        """Weights whose sum is how many ratings drawn singly and at random would tell as much."""
        found: FloatArray = np.ones(self.labels)
        if weights is not None:
            given = numbers("weights", weights)
            same_length(weights=given, scores=kept.astype(np.float64))
            found = np.array(given[kept][self._rated])
            wrong = found[~(np.isfinite(found) & (found > 0.0))]
            if len(wrong):
                msg = f"the weight of a rated sample is {wrong[0]!r}; weights are above 0"
                raise InvalidValueError(msg)
        found *= found.sum() / np.square(found).sum()
        if self.clusters is None:
            return found
        errors = found * (self._ratings - np.average(self._ratings, weights=found))
        singly, all_alike = np.square(errors).sum(), _sums(self._drawn, found)
        most = float(np.square(all_alike).sum() / np.square(found).sum())
        effect = most
        if singly > 0.0:
            effect = float(np.square(_sums(self._drawn, errors)).sum() / singly)
        found /= min(max(effect, 1.0), most)
        return found

    @property
    def _units(self) -> float:
        """Ratings that tell something of their own."""
        groups = self.labels if self.clusters is None else self.clusters
        return min(float(self._weights.sum()), float(groups))

    def _with_added(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Ratings, scores and weights of the rated samples and the added ones; and the raw slope's sign."""
        ratings, scores, weights = self._ratings, self._scores[self._rated], self._weights
        centred = ratings - np.average(ratings, weights=weights)
        from_mean = scores - np.average(scores, weights=weights)
        product = float((weights * centred * from_mean).sum())
        size = float(np.sqrt((weights * centred**2).sum() * (weights * from_mean**2).sum()))
        sign = float(np.sign(product)) if abs(product) > _TINY * size else 0.0
        ends = [float(self._scores.max()), float(self._scores.min())]
        if sign < 0.0:
            ends.reverse()
        return (
            np.append(ratings, self.scale),
            np.append(scores, ends),
            np.append(weights, [1.0] * _ADDED),
            sign,
        )

    def _slope(self) -> tuple[float, float]:
        """The slope, and which share of that of the regression it is."""
        ratings, scores, weights, sign = self._with_added()
        from_mean = scores - np.average(scores, weights=weights)
        centred = ratings - np.average(ratings, weights=weights)
        product = float((weights * centred * from_mean).sum())
        if product * sign <= 0.0:
            return 0.0, 0.0
        spread = float((weights * from_mean**2).sum())
        explained = product**2 / (spread * float((weights * centred**2).sum()))
        share = 1.0 - (1.0 - explained) / (explained * self._units)
        return (share * product / spread, share) if share > 0.0 else (0.0, 0.0)

    def _fit(self, slope: float, share: float) -> _Fit:
        ratings, scores, weights, _ = self._with_added()
        total = float(weights.sum())
        mean_rating = float(np.average(ratings, weights=weights))
        mean_score = float(np.average(scores, weights=weights))
        left = ratings - mean_rating - slope * (scores - mean_score)
        groups = int(self._drawn.max()) + 1
        codes = np.append(self._drawn, [groups, groups + 1])
        parts = _sums(codes, weights * left) / total
        # As leaving each group out in turn has it; for single samples the residual variance / total.
        sure = parts / (1.0 - _sums(codes, weights) / total)
        units, size = self._units + _ADDED, groups + _ADDED
        spread = (
            float(np.square(sure).sum()) * (size - 1) / size * (units - 1) / (units - 1 - share)
        )
        gap = self.judge_mean - mean_score
        if share > 0.0:
            across = float((weights * (scores - mean_score) ** 2).sum())
            spread *= 1.0 + total * (share * gap) ** 2 / across
        own: IntArray = self._rated
        of_labels, of_scores = np.zeros(self.samples), slope * (self._scores - self.judge_mean)
        of_scores /= self.samples
        of_labels[own] = (weights * left)[: self.labels] / total
        by_group = _sums(self._codes, of_scores)
        drawn = len(by_group)
        common = float((_sums(self._codes, of_labels) * by_group).sum())
        of_draw = float(np.square(by_group).sum()) * drawn / max(drawn - 1, 1)
        plain = float(np.average(self._ratings, weights=self._weights))
        away = self.judge_mean - float(np.average(self._scores[own], weights=self._weights))
        return _Fit(
            float(np.clip(plain + slope * away, *self.scale)),
            mean_rating + slope * gap,
            max(spread + 2.0 * common + of_draw, 0.0),
            max(self._units - 1.0 - share, 1.0),
            of_labels + of_scores,
        )

    def _estimated(self, fit: _Fit, level: float) -> Interval:
        check_level(level)
        middle, sizes = (fit.value, fit.centre), (fit.variance, fit.freedom)
        behind = (self.labels, self.clusters, self.reason)
        return _between(middle, sizes, self.scale, level, behind)


def _between(
    middle: tuple[float, float],
    sizes: tuple[float, float],
    ends: tuple[float, float],
    level: float,
    behind: tuple[int, int | None, str],
) -> Interval:
    """The interval around a centre, within the ends of the scale; it holds the value.

    Args:
        middle: Value and centre.
        sizes: Variance and degrees of freedom.
        ends: Of the scale.
        level: Of confidence.
        behind: Ratings, groups of them, and why there is no interval.
    """
    (value, centre), (variance, freedom) = middle, sizes
    if behind[-1]:
        return Interval(value, float("nan"), float("nan"), *behind)
    half = quantile(level, freedom) * variance**0.5
    low, high = max(centre - half, ends[0]), min(centre + half, ends[1])
    return Interval(value, min(low, value), max(high, value), *behind)


def _sums(codes: IntArray, values: FloatArray) -> FloatArray:
    """The sum of each group."""
    return np.bincount(codes, values).astype(np.float64)


def check_scale(ratings: FloatArray, scale: tuple[float, float]) -> None:
    """Nothing, if all ratings lie on the scale.

    Raises:
        InvalidValueError: One does not, or the scale is none.
    """
    low, high = scale
    if not (np.isfinite([low, high]).all() and low < high):
        msg = f"the scale is {scale!r}; give the lowest and the highest rating, e.g. 1 and 5"
        raise InvalidValueError(msg)
    outside = ratings[(ratings < low) | (ratings > high)]
    if len(outside):
        msg = (
            f"the rating {outside[0]:g} lies outside the scale from {low:g} to {high:g}; name the "
            "lowest and highest rating that could be given (human_scale, --human-scale)"
        )
        raise InvalidValueError(msg)

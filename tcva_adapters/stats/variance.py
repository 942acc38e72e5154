"""Judge noise apart from sample noise: variance components of scores that were made several times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import numbers


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Where the variance of scores comes from, and how sure their mean is.

    Attributes:
        mean: Mean of the samples' means; nan without a score.
        samples: Samples with at least one score.
        scores: All scores.
        repeats: Scores per sample: the harmonic mean of their numbers, which is what the standard
            error goes by; nan without a score.
        judge: Variance within a sample, of the judge; nan where no sample has two scores.
        sample: Variance between samples of what a judge without noise would give, 0 where the
            samples' means lie closer together than the judge's noise explains; nan where `judge` is,
            and for fewer than two samples.
    """

    mean: float
    samples: int
    scores: int
    repeats: float
    judge: float
    sample: float

    @property
    def standard_error(self) -> float:
        """Of the mean, with other samples of the same kind and judged anew; nan where `sample` is."""
        return self.error_with(self.samples, self.repeats) if self.samples else math.nan

    @property
    def judge_error(self) -> float:
        """Of the mean on these very samples, judged anew; nan where `judge` is."""
        return math.sqrt(self.judge / (self.samples * self.repeats)) if self.samples else math.nan

    def error_with(self, samples: float, repeats: float) -> float:
        """The standard error of the mean with so many samples and repeats of each.

        ``sqrt(sample / samples + judge / (samples * repeats))``

        Args:
            samples: Above 0.
            repeats: Above 0.

        Raises:
            InvalidValueError: A number that is not above 0.
        """
        if not (samples > 0 and repeats > 0):
            msg = f"{repeats!r} repeats of {samples!r} samples; both numbers lie above 0"
            raise InvalidValueError(msg)
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
        scores: Shape (samples, repeats); nan or None where there is none, so that samples may have
            different numbers of scores.

    Raises:
        InvalidValueError: Values that are no numbers, or another number of dimensions.

    Two samples with the means 1 and 3, and a variance of 0.02 within each; 2 is the variance of the
    means, of which 0.02 / 2 is the judge's:

    >>> found = variance_components([[0.9, 1.1], [2.9, 3.1]])
    >>> round(found.judge, 12), round(found.sample, 12), round(found.standard_error, 12)
    (0.02, 1.99, 1.0)
    """
    table = numbers("scores", scores, ndim=2)
    known = np.isfinite(table)
    table, known = table[known.any(axis=1)], known[known.any(axis=1)]
    k = len(table)
    if not k:
        return VarianceComponents(math.nan, 0, 0, math.nan, math.nan, math.nan)
    n = known.sum(axis=1)
    total = int(n.sum())
    means = np.where(known, table, 0.0).sum(axis=1) / n
    judge = sample = math.nan
    if total > k:
        apart = np.where(known, table - means[:, None], 0.0)
        judge = float((apart**2).sum() / (total - k))
    if total > k > 1:
        centre = (n * means).sum() / total
        between = (n * (means - centre) ** 2).sum() / (k - 1)
        n0 = (total - (n**2).sum() / total) / (k - 1)
        sample = max(0.0, float((between - judge) / n0))
    return VarianceComponents(
        mean=float(means.mean()),
        samples=k,
        scores=total,
        repeats=_harmonic_mean(n),
        judge=judge,
        sample=sample,
    )


def _harmonic_mean(numbers_of: npt.NDArray[np.int_]) -> float:
    """Of whole numbers above 0, rounded once: that of threes is 3."""
    values, often = np.unique(numbers_of, return_counts=True)
    parts = zip(often.tolist(), values.tolist(), strict=True)
    return float(len(numbers_of) / sum(Fraction(many, value) for many, value in parts))

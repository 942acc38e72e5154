"""P-values by permutations and resamples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tcva_adapters.stats.bootstrap import draw_resamples, spearman_of
from tcva_adapters.stats.checks import (
    SAME,
    BoolArray,
    FloatArray,
    IntArray,
)
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

_PERMUTED = {
    "pearson": 200,
    "spearman": 200,
    "kendall": 30,
}
"""The most samples whose ratings are permuted; beyond, formulas are closer to that than draws."""
_CELLS = 1 << 18


def correlation_p(
    measure: Measure,
    scores: FloatArray,
    human: FloatArray,
    *,
    permutations: int,
    seed: int,
) -> float:
    """The two-sided p of "scores say nothing of ratings", for samples that stand alone.

    It is the share of orders of the ratings that agree as closely: of all orders where these are
    few, else of drawn ones (`scipy.stats.permutation_test`). Above 200 samples it is that of
    Student's t with n - 2 degrees, and for Kendall above 30 that of the normal distribution with
    the variance for ties.

    Args:
        measure: ``spearman``, ``kendall`` or ``pearson``.
        scores: Finite and not constant, shape (N,), N at least 2.
        human: Likewise.
        permutations: How many are drawn.
        seed: Of these.

    Raises:
        MissingDependencyError: scipy is not installed.

    Of the 24 orders of four ratings, the rising and the falling one agree as closely as this:

    >>> rising = np.array([0.1, 0.4, 0.6, 0.9])
    >>> round(correlation_p("spearman", rising, rising, permutations=9999, seed=0) * 24, 9)
    2.0
    """
    stats = scipy_module("stats")
    n = len(scores)
    if measure == "spearman":
        scores = stats.rankdata(scores)
        human = stats.rankdata(human)
    if n > _PERMUTED[measure]:
        if measure == "kendall":
            return float(stats.kendalltau(scores, human, method="asymptotic").pvalue)
        return float(stats.pearsonr(scores, human).pvalue)
    theirs = human - human.mean()
    if measure == "kendall":
        theirs = np.sign(human[:, None] - human[None, :])

    def agreeing(dealt: FloatArray, axis: int) -> Any:  # noqa: ARG001  # always the last one
        if measure == "kendall":
            pairs = np.sign(dealt[..., :, None] - dealt[..., None, :])
            return np.tensordot(pairs, theirs, axes=2)
        return dealt @ theirs

    test = stats.permutation_test(
        (scores - scores.mean(),),
        agreeing,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=permutations,
        batch=max(1, _CELLS // n ** (2 if measure == "kendall" else 1)),
        # Versions of scipy before 1.15 know only this name.
        random_state=np.random.default_rng(seed),
    )
    return float(test.pvalue)


def spearman_resamples(
    methods: Sequence[FloatArray],
    human: FloatArray,
    codes: IntArray | None,
    resamples: int,
    seed: int,
) -> FloatArray:
    """Spearman's rho of each method on the same resamples, shape (methods, resamples); nan if constant."""
    rhos = spearman_of(methods, human)
    blocks = draw_resamples(len(human), resamples, seed=seed, codes=codes)
    return np.concatenate([*map(rhos, blocks)], axis=1)


def passes_more_p(
    passes: BoolArray,
    is_good: BoolArray,
    units: Units,
) -> float:
    """The one-sided p of "good answers pass no more often than rejected ones".

    For answers that stand alone it is that of Fisher's exact test: the chance that so few of those
    that pass are rejected, if these are drawn from all. It holds its level also where the threshold
    was set at a rank of the rejected answers' scores: that m good ones lie above the rejected one of
    rank k + 1 means that at most k of the k + m highest scores are those of rejected answers.

    With groups, its normal quantile is divided by the square root of the design effect (how much
    more the covariance varies between groups than between answers; at least 1), and read from
    Student's distribution.

    Args:
        passes: Which answers pass, shape (N,).
        is_good: Which of them are good, likewise.
        units: The answers, alone or in groups.

    Raises:
        MissingDependencyError: scipy is not installed.

    Of 6 answers 3 are good, and these 3 pass; of 20 ways to draw 3 of 6 it is one:

    >>> good = np.array([True, True, True, False, False, False])
    >>> round(passes_more_p(good, good, Units(None, good | True)) * 20, 9)
    1.0
    """
    p = scipy_module("stats").hypergeom.cdf(
        np.count_nonzero(passes & ~is_good),
        len(passes),
        np.count_nonzero(~is_good),
        np.count_nonzero(passes),
    )
    if units.codes is None:
        return float(p)
    special = scipy_module("special")
    covariances = (passes - passes.mean()) * (is_good - is_good.mean())
    between = np.sum(np.bincount(units.codes, covariances) ** 2)
    effect = max(1.0, between / max(np.sum(covariances**2), SAME))
    return float(special.stdtr(units.equal - 1.0, special.ndtri(p) / effect**0.5))

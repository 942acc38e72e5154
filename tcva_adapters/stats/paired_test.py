"""Do two methods agree with human ratings equally well? The test of a paired difference, by measure.

Each measure has the test that was found to hold its level (``python -m benchmarks.false_positives``).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray, same_within
from tcva_adapters.stats.clusters import clustered_p
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.enough import why_no_interval
from tcva_adapters.stats.replicates import Replicates
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.sign_flip import sign_flip

BOOTSTRAP: Final = "bootstrap"
JACKKNIFE: Final = "jackknife t"

_FARTHEST: Final = 1 - 1e-12
"""Correlations of 1 and -1, whose z is infinite, count as this far from 0."""


def paired_p(
    measure: Measure,
    sides: tuple[FloatArray, FloatArray],
    human: FloatArray,
    run: Replicates,
    codes: IntArray | None,
    *,
    seed: int,
) -> tuple[float, str]:
    """The two-sided p of "both agree equally well", and the name of its test.

    ``mae`` is tested by sign flips of the samples' differences (`sign_flip`), ``pearson`` by
    `jackknife_p`, ``spearman`` and ``kendall`` by the paired bootstrap: twice the smaller share of
    resamples on either side of 0, each counted with one resample more, so that it is never 0.

    Args:
        measure: Which.
        sides: Both methods' scores, finite, each of shape (n,).
        human: Finite, shape (n,).
        run: Both methods on the same resamples.
        codes: Groups as numbers from 0 up, or None.
        seed: Of sign flips that are drawn.

    Returns:
        The p is nan where a value is undefined, and for all but ``mae`` where there are too few
        samples, groups or resamples with a value (`why_no_interval`).
    """
    if measure == "mae":
        errors = [np.abs(side - human) for side in sides]
        groups = None if codes is None else codes.tolist()
        flipped = sign_flip(errors[0] - errors[1], groups=groups, seed=seed)
        return flipped.p_two_sided, flipped.test
    test = JACKKNIFE if measure == "pearson" else BOOTSTRAP
    if np.isnan(run.observed).any() or why_no_difference(run, len(human)):
        return float("nan"), test
    if measure == "pearson":
        return jackknife_p(run.observed, run.jackknife, run.worth), test
    defined = run.values[:, ~np.isnan(run.values).any(axis=0)]
    return clustered_p(bootstrap_p(defined), len(human), run.worth), test


def why_no_difference(run: Replicates, n: int) -> str:
    """Why the difference of two methods has no interval; empty where it has one."""
    undefined = int(np.isnan(run.values).any(axis=0).sum())
    return why_no_interval(n, undefined=undefined, n_boot=run.values.shape[1], codes=run.codes)


def bootstrap_p(values: FloatArray) -> float:
    """Twice the smaller share of resamples, shape (2, B), on either side of no difference."""
    deltas, same = values[0] - values[1], same_within(values)
    below = int(np.count_nonzero(deltas <= same))
    above = int(np.count_nonzero(deltas >= -same))
    return min(1.0, 2 * (min(below, above) + 1) / (len(deltas) + 1))


def jackknife_p(observed: FloatArray, without: FloatArray, worth: float | None = None) -> float:
    """A t-test of the difference of two correlations, on the scale of Fisher's z.

    With z = artanh r, d = z1 - z2, and d_j the same without sample (or group) j of m,
    t = d / sqrt((m - 1) / m * sum((d_j - mean)^2)) is held against Student's t with m - 2 degrees of
    freedom. Source of the standard error: B. Efron and R. J. Tibshirani, An Introduction to the
    Bootstrap (1993), section 11.2. Swapping the two methods' standardised scores at random, the
    bootstrap and Williams' t were tried as well: with 10 to 50 samples of one kind or another each
    of them found a difference between equal methods in more than 6.5 % of the cases.

    Args:
        observed: Both correlations, shape (2,).
        without: The same without each sample or group, shape (2, m).
        worth: To how many groups of one size they amount, in place of m; None for m.

    Returns:
        nan where a correlation is not defined without one of the samples, and where the difference
        is the same without any of them, so that nothing tells how much it varies; 1 for equal
        methods.
    """
    z = np.arctanh(np.clip(observed, -_FARTHEST, _FARTHEST))
    each = np.arctanh(np.clip(without, -_FARTHEST, _FARTHEST))
    if np.isnan(each).any():
        return float("nan")
    m = each.shape[1]
    difference, spread = z[0] - z[1], each[0] - each[1]
    error = np.sqrt((m - 1) / m * ((spread - spread.mean()) ** 2).sum())
    same = same_within(np.append(each, z[:, None], axis=1))
    if abs(difference) <= same:
        return 1.0
    if error <= same:
        return float("nan")
    t = abs(difference) / float(error)
    return float(2.0 * scipy_module("special").stdtr((worth or m) - 2, -t))

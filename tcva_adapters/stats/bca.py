"""Bias-corrected and accelerated bootstrap intervals: which quantiles of the resamples to take."""

from __future__ import annotations

import numpy as np

from tcva_adapters.stats.checks import FloatArray, same_within
from tcva_adapters.stats.scipy_extra import scipy_module


def bca_shares(
    shares: FloatArray, observed: float, resampled: FloatArray, jackknife: FloatArray
) -> FloatArray:
    """The shares at which to read the resamples' quantiles.

    Efron and Tibshirani, An Introduction to the Bootstrap (1993), equations 14.9 to 14.15.
    Resamples equal to the observed value, but for rounding, count half to either side, as in scipy.

    Args:
        shares: Nominal shares, e.g. 0.025 and 0.975.
        observed: The value on all samples.
        resampled: Values of the resamples, without nan.
        jackknife: Values with one sample, or one group, left out.

    Returns:
        As many shares; nan where the correction is undefined.

    Raises:
        MissingDependencyError: scipy is not installed.

    Half of the resamples on either side and a symmetric jackknife leave everything as it is:

    >>> bca_shares(np.array([0.025, 0.975]), 0.0, np.array([-1.0, 1.0]), np.array([-1.0, 1.0]))
    array([0.025, 0.975])
    """
    special = scipy_module("special")
    apart = resampled - observed
    same = np.abs(apart) <= same_within(resampled)
    below = np.count_nonzero((apart < 0) & ~same) + np.count_nonzero(same) / 2
    bias = special.ndtri(below / len(resampled))
    influence = jackknife.mean() - jackknife
    spread = np.sum(influence**2)
    # Where no sample matters more than another there is nothing to accelerate.
    acceleration = np.sum(influence**3) / (6 * spread**1.5) if spread != 0 else 0.0
    if not np.isfinite(bias) or not np.isfinite(acceleration):
        return np.full_like(shares, np.nan)
    shifted = bias + special.ndtri(shares)
    bend = 1 - acceleration * shifted
    # Beyond the pole the formula would turn the ends round.
    bent = np.divide(shifted, bend, out=np.full_like(shares, np.nan), where=bend > 0)
    corrected: FloatArray = special.ndtr(bias + bent)
    return corrected

"""Krippendorff's alpha: agreement of raters beyond chance, missing ratings allowed, with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from tcva_adapters.stats.checks import (
    FloatArray,
    IntArray,
    check_level,
    group_codes,
    numbers,
    one_of,
)
from tcva_adapters.stats.clusters import worth
from tcva_adapters.stats.enough import why_no_interval
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.resampling import leave_one_out
from tcva_adapters.stats.student import quantile

Scale = Literal["ordinal", "interval"]

FEW_UNITS: Final = 30
"""Units with two ratings below which alpha hangs on a few of them."""

LEAST: Final = 20
"""An interval needs so many samples; with fewer it covers too seldom where ratings are skewed."""

LEAST_CROWDED: Final = 100
"""So many on the interval scale where ratings crowd. Of 20 (60) units it covers in .87 (.91) of cases."""

_CROWDED: Final = 0.4
"""The share of the ratings that one value has, above which they do."""

_SAME: Final = 1e-12

_BLOCKS: Final = 1000
"""Above so many units, or samples, as many blocks of them are left out: one by one takes their square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha(Interval):
    """Agreement of some raters.

    The value is 1 where it is perfect, 0 where it is what chance would give, and nan where all ratings
    are the same, or no unit has two. What is counted are units (claims, samples) with two ratings or
    more, and the samples that these belong to, where they were told.

    Attributes:
        level: Of confidence.
    """

    level: float

    @property
    def is_few(self) -> bool:
        """Whether there are too few units to rely on the value."""
        return self.n < FEW_UNITS


def krippendorff_alpha(
    ratings: npt.ArrayLike,
    scale: Scale = "ordinal",
    *,
    groups: Sequence[object] | None = None,
    level: float = 0.95,
) -> Alpha:
    """Agreement of raters: one less the disagreement at hand over the one expected by chance.

    ``alpha = 1 - D_o / D_e``: D_o is the mean squared distance of two ratings of one unit, D_e that
    of any two ratings. On the ``interval`` scale the distance is the difference; on the ``ordinal``
    one it is how many ratings lie between the two, ties half. Source: K. Krippendorff, Computing
    Krippendorff's alpha-reliability (2011). The interval is the jackknife's, on the scale of
    ``log(1 - alpha)`` with Student's t: units, or samples with all of their units, are left out one
    by one; those of unequal size count as `clusters.worth` says. It covers better than quantiles of
    resamples, which are too short for small samples.

    Args:
        ratings: Shape (K, N): one row per rater, one column per unit; nan or None where a rater
            has none. Units with fewer than two ratings do not count.
        scale: ``ordinal`` or ``interval``.
        groups: One per unit: the sample that it belongs to, to leave out whole samples.
        level: Of confidence, in (0, 1).

    Raises:
        InvalidValueError: Values that are no numbers, an unknown scale, groups that do not fit, or
            a level outside (0, 1).
        MissingDependencyError: There is an interval, and scipy is not installed.

    Two raters, three units: D_o = 1/3 (one unit differs by 1), and of all pairs of the ratings
    1, 1, 2, 2, 3, 2 the mean squared difference is 34/30:

    >>> found = krippendorff_alpha([[1, 2, 3], [1, 2, 2]], "interval")
    >>> round(found.value, 4), found.n, found.reason
    (0.7059, 3, '3 samples: an interval needs 20')
    """
    table = numbers("ratings", ratings, ndim=2)
    one_of("scale", scale, get_args(Scale))
    check_level(level)
    kept = np.isfinite(table).sum(axis=0) > 1
    table = table[:, kept]
    codes = None if groups is None else group_codes(groups, kept)
    units, clusters = table.shape[1], None if codes is None else len(np.unique(codes))
    if not units:
        why = "no unit has two ratings"
        return Alpha(np.nan, np.nan, np.nan, 0, clusters, why, level=level)
    of = _ordinal(table) if scale == "ordinal" else _interval(table)
    value = float(of(np.ones((1, units), dtype=np.int64))[0])
    low = high = np.nan
    drawn = units if clusters is None else clusters
    least = LEAST if codes is None else 0
    reason = why_no_interval(units, codes=codes, least=least, least_clusters=LEAST)
    if not reason and scale == "interval":
        reason = _why_crowded(table, drawn)
    if not reason and np.isnan(value):
        reason = "all ratings are the same: nothing can be told from chance"
    if not reason:
        if drawn > _BLOCKS:
            codes = (np.arange(units) if codes is None else codes) % _BLOCKS
        without = np.concatenate([of(counts) for counts in leave_one_out(units, codes)])
        if max(value, without.max()) < 1.0 - _SAME:  # nan is not
            low, high = _jackknife(value, without, level, units if codes is None else worth(codes))
        else:
            reason = "without one of the samples the raters never differ: too little to go by"
    return Alpha(value, low, high, units, clusters, reason, level=level)


def _why_crowded(table: FloatArray, n: int) -> str:
    """Why distances hang on a few ratings, if so."""
    counts = np.unique(table[np.isfinite(table)], return_counts=True)[1]
    if n >= LEAST_CROWDED or len(counts) == 1 or counts.max() <= _CROWDED * counts.sum():
        return ""
    share = counts.max() / counts.sum()
    return f"{share:.0%} of the ratings are equal: an interval needs {LEAST_CROWDED} samples"


def _jackknife(
    value: float, without: FloatArray, level: float, equal: float
) -> tuple[float, float]:
    n = len(without)
    pseudo = n * np.log(1.0 - value) - (n - 1) * np.log(1.0 - without)
    reach = quantile(level, equal - 1) * pseudo.std(ddof=1) / n**0.5
    low, high = (1.0 - np.exp(pseudo.mean() + np.array([reach, -reach]))).tolist()
    return low, high


def _interval(table: FloatArray) -> Callable[[IntArray], FloatArray]:
    """From counts (rows, N) to alpha (rows,), on the interval scale."""
    number = np.isfinite(table).sum(axis=0).astype(np.float64)
    # Measured from a value in the middle, so that large ratings cost no digits.
    centred = table - np.nanmedian(table)
    sums, squares = np.nansum(centred, axis=0), np.nansum(centred**2, axis=0)
    within = np.nansum((centred - sums / number) ** 2, axis=0) * number / (number - 1.0)

    def of(counts: IntArray) -> FloatArray:
        n, total = counts @ number, counts @ sums
        apart = (counts @ squares - total**2 / n) * n / (n - 1.0)
        return _one_less(counts @ within, apart, n * np.abs(centred[np.isfinite(table)]).max() ** 2)

    return of


def _ordinal(table: FloatArray) -> Callable[[IntArray], FloatArray]:
    """The same on the ordinal scale: the values are told apart by their order alone."""
    levels = np.unique(table[np.isfinite(table)])
    by_unit = (table[:, :, None] == levels).sum(axis=0).astype(np.float64)
    number = by_unit.sum(axis=1)
    same = by_unit[:, :, None] * np.eye(len(levels))
    pairs = by_unit[:, :, None] * by_unit[:, None, :] - same
    pairs /= (number - 1.0)[:, None, None]
    flat = pairs.reshape(len(pairs), -1)

    def of(counts: IntArray) -> FloatArray:
        used = counts @ by_unit
        place = np.cumsum(used, axis=1) - used / 2.0
        far = (place[:, :, None] - place[:, None, :]) ** 2
        seen = (counts @ flat).reshape(far.shape)
        n = used.sum(axis=1)
        apart = (far * used[:, :, None] * used[:, None, :]).sum(axis=(1, 2)) / (n - 1.0)
        return _one_less((far * seen).sum(axis=(1, 2)), apart, n**3)

    return of


def _one_less(seen: FloatArray, expected: FloatArray, size: FloatArray) -> FloatArray:
    """One less the ratio; nan where nothing is expected to differ, but for rounding."""
    found = np.full(len(seen), np.nan)
    np.divide(seen, expected, out=found, where=expected > _SAME * size)
    return 1.0 - found

"""A measure on all samples, without single ones and on every resample, and intervals made of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from tcva_adapters.stats import student
from tcva_adapters.stats.bca import bca_shares
from tcva_adapters.stats.checks import FloatArray, IntArray, same_within
from tcva_adapters.stats.clusters import interval_shares, worth
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.enough import (
    LEAST_CLUSTERS,
    LEAST_SAMPLES,
    constant_share,
    why_no_interval,
)
from tcva_adapters.stats.means import ALL_EQUAL, LEAST_CLUSTERS_PILED, SAME_WITHOUT, mean_interval
from tcva_adapters.stats.resampling import draw, leave_one_out
from tcva_adapters.stats.weighted import statistic_of

IntervalMethod = Literal["student", "percentile", "bca"]

_NONE: Final = (float("nan"), float("nan"))
_MANY, _PARTS = 2_000, 1_000
_CONSTANT: Final = "one side is the same throughout"

# Below these numbers of samples `python -m benchmarks.coverage` has found less than 93 %.
_LEAST: Final[dict[tuple[IntervalMethod | Literal["difference"], Measure], int]] = {
    ("percentile", "spearman"): 30,
    ("percentile", "kendall"): 30,
    ("percentile", "pearson"): 100,
    ("percentile", "mae"): 100,
    ("bca", "spearman"): 30,
    ("bca", "pearson"): 50,
    ("bca", "mae"): 50,
    ("difference", "spearman"): 30,
    ("difference", "kendall"): 50,
}


class Ends(NamedTuple):
    """The ends of an interval, nan with a reason where there is none; resamples without a value."""

    low: float
    high: float
    undefined: int
    reason: str


class Replicates:
    """The measure of some methods on all samples, without each of them, and on every resample.

    Args:
        measure: Its name.
        methods: Finite scores, each of shape (n,).
        human: Finite, shape (n,).
        n_boot: Resamples.
        seed: Of the resamples.
        codes: Groups as numbers from 0 up, shape (n,), or None.

    Attributes:
        measure: The same name.
        size: Samples.
        observed: On all samples, shape (methods,); nan where undefined.
        clusters: Groups that are resampled, or None.
        codes: The group of each sample; None also where each has one of its own.
        worth: To how many groups of one size these amount, or None.

    Raises:
        InvalidValueError: A seed that is none.
    """

    def __init__(
        self,
        measure: Measure,
        methods: Sequence[FloatArray],
        human: FloatArray,
        *,
        n_boot: int,
        seed: int,
        codes: IntArray | None,
    ) -> None:
        self.clusters = None if codes is None else len(np.unique(codes))
        if self.clusters == len(human):  # each in a group of its own: as if there were none
            codes = None
        self.measure, self._methods, self._human, self.codes = measure, methods, human, codes
        self.size, self._n_boot = len(human), n_boot
        self._blocks = draw(self.size, n_boot, seed=seed, codes=codes)
        self.worth = None if codes is None else worth(codes)
        self.observed = np.full(len(methods), np.nan)
        if self._units >= 2:
            self._statistic = statistic_of(measure, methods, human)
            self.observed = self._statistic(np.ones((1, self.size), dtype=np.int64))[:, 0]

    @cached_property
    def values(self) -> FloatArray:
        """On the resamples, shape (methods, n_boot); nan where undefined.

        Fewer than two samples or groups have none: one unit, drawn again and again, says nothing
        of spread.
        """
        if self._units < 2:
            return np.full((len(self._methods), self._n_boot), np.nan)
        return self._on(self._blocks)

    def ends(self, number: int, level: float, method: IntervalMethod) -> Ends:
        """The interval of one method."""
        if self.measure == "mae" and method == "student":
            gaps = np.abs(self._methods[number] - self._human)
            found = mean_interval(gaps, codes=self.codes, level=level, ends=(0.0, np.inf))
            return Ends(found.low, found.high, 0, found.reason)
        least = _LEAST.get((method, self.measure), LEAST_SAMPLES)
        groups = LEAST_CLUSTERS_PILED if self.measure == "mae" else LEAST_CLUSTERS
        few = why_no_interval(
            self.size, codes=self.codes, least=least, least_clusters=groups
        ) or self._still(number)
        if few:
            return Ends(*_NONE, 0, few)
        if method == "student":
            return self._student(number, level)
        if method == "percentile":
            return self._percentile(self.values[number], level)
        return self._bca(number, level)

    def difference(self, level: float) -> Ends:
        """The interval of the first method less the second one.

        The percentile interval for ranks; Student's for errors and for Pearson's correlation.
        """
        least = _LEAST.get(("difference", self.measure), LEAST_SAMPLES)
        few = why_no_interval(self.size, codes=self.codes, least=least)
        if few or np.isnan(self.observed).any():
            return Ends(*_NONE, 0, few or _CONSTANT)
        apart = self.jackknife[0] - self.jackknife[1]
        delta = float(self.observed[0] - self.observed[1])
        if np.all(np.abs(apart - delta) <= same_within(self.jackknife)):
            return Ends(*_NONE, 0, "the two never differ by more or less: nothing varies")
        if self.measure == "mae":
            return Ends(*student.mean_difference_ends(delta, apart, level, self.worth), 0, "")
        if self.measure == "pearson":
            few = self._still(0) or self._still(1) or self._rare(0) or self._rare(1)
            if few:
                return Ends(*_NONE, 0, few)
            both = student.correlation_difference_ends(
                self.observed, self.jackknife, level, self.worth
            )
            return Ends(*both, 0, "")
        deltas = self.values[0] - self.values[1]
        return self._percentile(deltas, level)

    def _percentile(
        self, values: FloatArray, level: float, shares: FloatArray | None = None
    ) -> Ends:
        """The middle of the values, or what lies between two shares of them."""
        defined = values[~np.isnan(values)]
        left_out = len(values) - len(defined)
        if few := why_no_interval(self.size, undefined=left_out, n_boot=len(values)):
            return Ends(*_NONE, left_out, few)
        middle = interval_shares(level, self.size, self.worth)
        low, high = np.quantile(defined, middle if shares is None else shares).tolist()
        return Ends(low, high, left_out, "")

    def _bca(self, number: int, level: float) -> Ends:
        values = self.values[number]
        defined = values[~np.isnan(values)]
        middle = interval_shares(level, self.size, self.worth)
        if len(defined) and not np.isnan(self.jackknife[number]).any():
            value = float(self.observed[number])
            shares = bca_shares(middle, value, defined, self.jackknife[number])
            if not np.isnan(shares).any():
                return self._percentile(values, level, shares)
        return Ends(*_NONE, len(values) - len(defined), "the correction of BCa is not defined")

    def _student(self, number: int, level: float) -> Ends:
        if few := self._rare(number):
            return Ends(*_NONE, 0, few)
        value, left_out = float(self.observed[number]), self.jackknife[number]
        return Ends(*student.correlation_ends(value, left_out, level, self.worth), 0, "")

    def _still(self, number: int) -> str:
        """Why this value cannot vary, if so."""
        value = float(self.observed[number])
        if np.isnan(value):
            return _CONSTANT
        if self.codes is not None:
            left_out = self.jackknife[number]
            if np.ptp(left_out) <= same_within(left_out):
                return SAME_WITHOUT
        if self.measure != "mae":
            is_perfect = abs(value) >= 1.0 - 1e-12
            return "perfect agreement on these samples: nothing varies" if is_perfect else ""
        gaps = np.abs(self._methods[number] - self._human)
        is_same = np.ptp(gaps) <= same_within(gaps)
        return ALL_EQUAL if is_same else ""

    def _rare(self, number: int) -> str:
        """Why too many resamples would have no value, if so."""
        shares = [constant_share(side, self.codes) for side in (self._methods[number], self._human)]
        few = why_no_interval(self.size, undefined=100 * max(shares), n_boot=100)
        if not few and np.isnan(self.jackknife[number]).any():
            return "without a few of the samples one side is the same throughout"
        return few

    @property
    def _units(self) -> int:
        return self.size if self.clusters is None else self.clusters

    @cached_property
    def jackknife(self) -> FloatArray:
        """Without each unit (sample, or group), shape (methods, units); nan where undefined.

        Many samples are left out in parts of a random division: the time would grow as their square.
        """
        codes = self.codes
        if codes is None and self.size > _MANY:
            codes = np.random.default_rng(self.size).permutation(self.size) % _PARTS
        return self._on(leave_one_out(self.size, codes))

    def _on(self, blocks: Iterator[IntArray]) -> FloatArray:
        return np.concatenate([self._statistic(counts) for counts in blocks], axis=1)

"""A measure on all samples and on every resample, and the ends of an interval made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, Literal

import numpy as np

from tcva_adapters.stats.bca import bca_shares
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.resampling import draw, leave_one_out
from tcva_adapters.stats.weighted import statistic_of

IntervalMethod = Literal["percentile", "bca"]

_NONE: Final = (float("nan"), float("nan"))


class Replicates:
    """The measure of some methods on all samples and on every resample.

    Args:
        measure: Its name.
        methods: Finite scores, each of shape (n,).
        human: Finite, shape (n,).
        n_boot: Resamples.
        seed: Of the resamples.
        codes: Groups as numbers from 0 up, shape (n,), or None.

    Attributes:
        observed: On all samples, shape (methods,); nan where undefined.
        values: On the resamples, shape (methods, n_boot); nan where undefined. Fewer than two
            samples or groups have none: one unit, drawn again and again, says nothing of spread.
        clusters: Groups that were resampled, or None.

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
        n = len(human)
        blocks = draw(n, n_boot, seed=seed, codes=codes)
        self.clusters = None if codes is None else len(np.unique(codes))
        self.observed = np.full(len(methods), np.nan)
        self.values = np.full((len(methods), n_boot), np.nan)
        if (n if self.clusters is None else self.clusters) < 2:
            return
        self._n, self._codes = n, codes
        self._statistic = statistic_of(measure, methods, human)
        self.observed = self._statistic(np.ones((1, n), dtype=np.int64))[:, 0]
        self.values = self._on(blocks)

    def ends(
        self, number: int, level: float, method: IntervalMethod
    ) -> tuple[tuple[float, float], int]:
        """The interval of one method, and how many resamples are left out of it.

        The ends are nan where the value, or the correction of ``bca``, is undefined.
        """
        values, observed = self.values[number], float(self.observed[number])
        defined = values[~np.isnan(values)]
        left_out = len(values) - len(defined)
        if not len(defined) or np.isnan(observed):
            return _NONE, left_out
        shares = np.array([(1 - level) / 2, (1 + level) / 2])
        if method == "bca":
            shares = bca_shares(shares, observed, defined, self.jackknife[number])
            if np.isnan(shares).any():
                return _NONE, left_out
        low, high = np.quantile(defined, shares).tolist()
        return (low, high), left_out

    @cached_property
    def jackknife(self) -> FloatArray:
        """Without each sample, or group: shape (methods, samples or groups); nan where undefined."""
        return self._on(leave_one_out(self._n, self._codes))

    def _on(self, blocks: Iterator[IntArray]) -> FloatArray:
        return np.concatenate([self._statistic(counts) for counts in blocks], axis=1)

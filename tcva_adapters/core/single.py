"""One row of counts at one temperature: the kernel's arithmetic on plain numbers, bit for bit.

Arrays cost more to set up than a score costs to compute. Here a row takes additions, multiplications
and divisions, which are the same everywhere, and a few functions of numpy. These have to be
numpy's, as in the kernel: those of `math` differ in the last bit on some processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import gcd, inf, nan
from typing import Final

import numpy as np

from tcva_adapters.core.kernel import (
    ABSOLUTE_STEPS,
    GRAINS,
    GROWTH,
    LARGEST_WHOLE,
    PLAIN_SUM_BELOW,
    TINY_EXPONENT,
    VANISHING,
    Plan,
    PreparedRows,
    merged_columns,
    relative_logs,
    whole_weights,
)
from tcva_adapters.core.temperature import Bounds, exponent_within
from tcva_adapters.core.verdicts import FloatArray

_LEAST_LOG: Final = -700.0
"""Below this numpy's functions may underflow, which the kernel tells them to be silent about."""

_NO_LOG: Final = -800.0
"""Below this the exponential is 0."""

_NEAREST_DEFICIT: Final = -1e-290
_LARGEST_ALPHA: Final = 15.0
"""Between the former and 0, and beyond the latter, likewise."""


Present = tuple[float, float, list[float], list[float]]
"""Of the weights of a row that occur: the favoured one, the last one, their shares and logarithms."""


class Row:
    """Five counts or shares, fully first, that are known to be such, and what was worked out of them.

    Args:
        counts: Python's own numbers, whole ones (``int``) below 2**53.
    """

    __slots__ = ("counts", "high", "low", "reduced")

    def __init__(self, counts: Sequence[float]) -> None:
        self.counts = counts
        self.reduced = _reduced(counts)
        self.low: Present | None = None
        self.high: Present | None = None


class SingleScores:
    """Scores of rows, one by one, under one setting.

    Args:
        plan: Its temperatures and exponents are not looked at.

    Attributes:
        plan: The same.

    >>> from tcva_adapters.core.aggregation import make_plan
    >>> SingleScores(make_plan([])).of(Row([1, 1, 1, 0, 0]), temperature=0.5, exponent=1.0)
    0.8666666666666667
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._has_alpha = plan.penalty in {"paper", "ramped"}
        self._low = _Favoured(plan.floored, favours_low=True)
        self._high = _Favoured(plan.weights, favours_low=False)
        self._whole, self._scale = whole_weights(tuple(self._high.levels))

    def of(self, row: Row, temperature: float, exponent: float) -> float:
        """The score of a row.

        Args:
            row: It belongs to these scores from now on.
            temperature: The temperature.
            exponent: The exponent there.

        Returns:
            As ``score_rows``: nan where all counts are 0.
        """
        counts, reduced = row.counts, row.reduced
        if not any(counts):
            return nan
        alpha = 1.5 - temperature if self._has_alpha else 1.0
        if -TINY_EXPONENT < exponent - 1.0 < TINY_EXPONENT:
            score = self._linear(counts, reduced, alpha)
        else:
            if exponent < TINY_EXPONENT:
                present = row.low = row.low or self._low.present(counts, reduced)
            else:
                present = row.high = row.high or self._high.present(counts, reduced)
            mean = _mean(present, exponent)
            if mean is None or alpha > _LARGEST_ALPHA:
                return self._by_arrays(counts, temperature, exponent)
            score = mean
            if counts[-1] and self.plan.penalty != "off":
                kept, of, alpha = self._penalty(counts, reduced, alpha)
                # Arrays: numpy treats some exponents that are numbers specially.
                score *= float(np.power(np.array([kept / of]), np.array([alpha]))[0])
        return min(score, 1.0)

    def _by_arrays(self, counts: Sequence[float], temperature: float, exponent: float) -> float:
        rows = PreparedRows(np.array([counts], dtype=np.float64), self.plan)
        return float(rows.scores(np.array([temperature]), np.array([exponent]))[0, 0])

    def _penalty(
        self, counts: Sequence[float], reduced: Sequence[float], alpha: float
    ) -> tuple[float, float, float]:
        """The penalty as ``(top / bottom) ** power``."""
        if self.plan.penalty == "off":
            return 1.0, 1.0, 1.0
        if self.plan.penalty == "absolute":
            return max(ABSOLUTE_STEPS - counts[-1], 0.0), ABSOLUTE_STEPS, 1.0
        if self.plan.penalty == "ramped":
            alpha *= min(max((_total(counts) - 1.0) / 4.0, 0.0), 1.0)
        kept = _total(reduced[:-1])
        return kept, kept + reduced[-1], alpha

    def _linear(self, counts: Sequence[float], reduced: Sequence[float], alpha: float) -> float:
        """The score at exponent 1, in one division where the penalty has the power 1."""
        merged = self._high.merged(counts, reduced)
        top = 0.0
        for count, weight in zip(merged, self._whole, strict=True):
            top += count * weight
        bottom = _total(merged) * self._scale
        kept, of, alpha = self._penalty(counts, reduced, alpha)
        if abs(alpha - 1.0) < TINY_EXPONENT:
            return top * kept / (bottom * of)
        power = np.array([alpha]) if self.plan.penalty == "ramped" else alpha
        return top * float(np.power(np.array([kept / of]), power)[0]) / bottom


class _Favoured:
    """The distinct weights in the order in which exponents of one sign favour them.

    Attributes:
        levels: The weights.
    """

    def __init__(self, weights: FloatArray, *, favours_low: bool) -> None:
        levels, columns = merged_columns(weights)
        if favours_low:
            levels, columns = levels[::-1], [len(levels) - 1 - column for column in columns]
        self.levels: list[float] = levels.tolist()
        self._columns = columns if columns != list(range(len(weights))) else None
        self._is_reversed = len(levels) == len(weights) and favours_low
        with np.errstate(divide="ignore"):
            self._logs = [
                relative_logs(levels[r:]).tolist() if level else []
                for r, level in enumerate(self.levels)
            ]

    def merged(self, counts: Sequence[float], reduced: Sequence[float]) -> Sequence[float]:
        """Counts by weight, reduced."""
        if self._columns is None:
            return reduced
        if self._is_reversed:
            return reduced[::-1]
        merged = [0.0] * len(self.levels)
        for column, count in zip(self._columns, counts, strict=True):
            merged[column] += count
        return _reduced(merged)

    def present(self, counts: Sequence[float], reduced: Sequence[float]) -> Present:
        """What of a row the mean is made of."""
        merged = self.merged(counts, reduced)
        total = _total(merged)
        shares = [count / total for count in merged]
        present = [i for i, share in enumerate(shares) if share]
        first = present[0]
        logs = self._logs[first]
        return (
            self.levels[first],
            self.levels[present[-1]],
            [shares[i] for i in present],
            [logs[i - first] for i in present] if logs else [],
        )


def _mean(of: Present, exponent: float) -> float | None:
    """The power mean; None where a function would underflow."""
    level, end, shares, logs = of
    if level == end or not level:
        return level
    log_mean = _log_mean(shares, logs, exponent)
    if log_mean is None or _NO_LOG < log_mean < _LEAST_LOG:
        return None
    mean = 0.0 if log_mean < _LEAST_LOG else level * float(np.exp(log_mean))
    low, high = (level, end) if level < end else (end, level)
    return low if mean < low else min(mean, high)


def _log_mean(shares: list[float], logs: list[float], exponent: float) -> float | None:
    """The logarithm of a power mean of ``exp(logs)``; None where a function would underflow."""
    if abs(exponent) < TINY_EXPONENT:
        return _dot(shares, logs)
    scaled = [log * exponent for log in logs]
    if -inf < scaled[-1] < _LEAST_LOG:
        return None
    powers = np.array(scaled)
    deficit = _dot(shares, np.expm1(powers).tolist())
    if deficit > _NEAREST_DEFICIT:
        return None
    if deficit > PLAIN_SUM_BELOW:
        return float(np.log1p(deficit)) / exponent
    return float(np.log(_dot(shares, np.exp(powers).tolist()))) / exponent


def _dot(shares: list[float], values: list[float]) -> float:
    total = 0.0
    for share, value in zip(shares, values, strict=True):
        total += share * value
    return total


class ScoreCurves:
    """The scores of rows as functions of the temperature.

    Args:
        rows: Shape (N, 5), checked.
        single: How one of them is scored.
        bounds: The map from temperatures to exponents.
    """

    def __init__(self, rows: FloatArray, single: SingleScores, bounds: Bounds) -> None:
        self._rows = rows
        self._single = single
        self._bounds = bounds

    def __call__(self, temperatures: FloatArray) -> FloatArray:
        """What ``sweep`` gives, shape (N, T), at temperatures within the bounds, shape (T,)."""
        if len(temperatures) == 1:
            at = float(temperatures[0])
            exponent = exponent_within(at, self._bounds)
            return np.array([[self._single.of(row, at, exponent)] for row in self._plain])
        return self._prepared.scores(temperatures, exponent_within(temperatures, self._bounds))

    @cached_property
    def _plain(self) -> list[Row]:
        rows: list[list[float]] = self._rows.tolist()
        whole = [max(row) < LARGEST_WHOLE and all(n.is_integer() for n in row) for row in rows]
        return [
            Row([*map(int, row)] if is_whole else row)
            for row, is_whole in zip(rows, whole, strict=True)
        ]

    @cached_property
    def _prepared(self) -> PreparedRows:
        reduced = np.array([row.reduced for row in self._plain], dtype=np.float64)
        return PreparedRows(self._rows, self._single.plan, reduced=reduced)


def _reduced(counts: Sequence[float]) -> Sequence[float]:
    """As the kernel's ``reduced_rows``."""
    try:
        divisor = gcd(*counts)  # type: ignore[arg-type]  # an error where one is a fraction
    except TypeError:
        counts = scaled = [*map(float, counts)]
        if not all(count.is_integer() for count in counts):
            scaled = [count * GRAINS for count in counts]
        if not (all(count.is_integer() for count in scaled) and max(scaled) < LARGEST_WHOLE):
            tiny = max(scaled) < VANISHING
            return [count * GROWTH for count in counts] if tiny else counts
        divisor = gcd(*map(int, scaled))
        counts = scaled
    return counts if divisor <= 1 else [count / divisor for count in counts]


def _total(counts: Sequence[float]) -> float:
    total = 0.0
    for count in counts:
        total += count
    return total

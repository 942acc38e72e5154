"""One row of counts at one temperature: the kernel's arithmetic on plain numbers, bit for bit.

Arrays cost more to set up than a score costs to compute. Here the powers of the weights are worked
out once for a setting; a row takes additions, multiplications and divisions, which are the same
everywhere, and up to three functions of numpy. These have to be numpy's, as in the kernel: those of
`math` differ in the last bit on some processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, nan
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
    merged_columns,
    relative_powers,
    score_rows,
    whole_weights,
)
from tcva_adapters.core.verdicts import FloatArray

_NEAREST_DEFICIT: Final = -1e-290
"""Between this and 0 numpy's functions may underflow, which the kernel tells them to be silent about."""

_LEAST_LOG: Final = -700.0
_LARGEST_ALPHA: Final = 15.0
"""Beyond these likewise."""


class SingleScore:
    """Scores of rows, one by one, at the one temperature of a plan.

    Args:
        plan: With one temperature.

    >>> from tcva_adapters.core.aggregation import make_plan
    >>> SingleScore(make_plan([0.5])).of([1, 1, 1, 0, 0])
    0.8666666666666667
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._exponent = float(plan.exponents[0])
        self._is_geometric = abs(self._exponent) < TINY_EXPONENT
        self._is_linear = abs(self._exponent - 1.0) < TINY_EXPONENT
        self._alpha = 1.0
        if plan.penalty in {"paper", "ramped"}:
            self._alpha = 1.5 - float(plan.temperatures[0])
        self._favours_low = self._exponent < TINY_EXPONENT
        weights = plan.floored if self._favours_low else plan.weights
        levels, columns = merged_columns(weights)
        self._columns = columns if len(levels) < len(weights) else None
        self._whole, self._scale = whole_weights(tuple(levels.tolist()))
        if self._favours_low:
            levels = levels[::-1]
        self._levels: list[float] = levels.tolist()
        self._powers = [self._powers_from(levels[r:]) for r in range(len(levels))]

    def of(self, counts: Sequence[float]) -> float:
        """The score of five counts or shares, fully first, that are known to be such.

        Args:
            counts: Python's own numbers.

        Returns:
            As ``score_rows``: nan where all are 0.
        """
        if not any(counts):
            return nan
        reduced = _reduced(counts)
        merged = reduced if self._columns is None else _reduced(self._merged(counts))
        score = self._linear(counts, reduced, merged) if self._is_linear else None
        if score is None:
            mean = self._mean(merged[::-1] if self._favours_low else merged)
            if mean is None or self._alpha > _LARGEST_ALPHA:
                return float(score_rows(np.array([counts], dtype=np.float64), self._plan)[0, 0])
            score = mean * self._factor(counts, reduced)
        return min(max(score, 0.0), 1.0)

    def _powers_from(self, levels: FloatArray) -> list[tuple[float, float, float]]:
        """Log, power less 1 and power of each weight, relative to the first."""
        if not levels[0]:
            return []
        of = relative_powers(levels, self._plan.exponents)
        return list(
            zip(of.logs.tolist(), of.deficits[:, 0].tolist(), of.values[:, 0].tolist(), strict=True)
        )

    def _merged(self, counts: Sequence[float]) -> list[float]:
        merged = [0.0] * len(self._levels)
        for column, count in zip(self._columns or (), counts, strict=True):
            merged[column] += count
        return merged

    def _mean(self, counts: Sequence[float]) -> float | None:
        """The power mean of counts in the order of favour; None where a function would underflow."""
        total = _total(counts)
        shares = [count / total for count in counts]
        first, last = 0, len(shares) - 1
        while not shares[first]:
            first += 1
        while not shares[last]:
            last -= 1
        level, end = self._levels[first], self._levels[last]
        if first == last or not level:
            return level
        deficit = value = centre = 0.0
        for share, (log, less, power) in zip(shares[first:], self._powers[first], strict=True):
            deficit += share * less
            value += share * power
            if self._is_geometric:
                centre += share * log
        if self._is_geometric:
            log_mean = centre
        elif deficit > _NEAREST_DEFICIT:
            return None
        elif deficit > PLAIN_SUM_BELOW:
            log_mean = float(np.log1p(deficit)) / self._exponent
        else:
            log_mean = float(np.log(value)) / self._exponent
        if log_mean < _LEAST_LOG:
            return None
        mean = level * float(np.exp(log_mean))
        return max(level, min(mean, end)) if self._favours_low else max(end, min(mean, level))

    def _factor(self, counts: Sequence[float], reduced: Sequence[float]) -> float:
        """The penalty."""
        if not counts[-1] or self._plan.penalty == "off":
            return 1.0
        kept, of, alpha = self._penalty(counts, reduced)
        # Arrays, since numpy treats some exponents that are numbers specially.
        return float(np.power(np.array([kept / of]), np.array([alpha]))[0])

    def _penalty(
        self, counts: Sequence[float], reduced: Sequence[float]
    ) -> tuple[float, float, float]:
        """The penalty as ``(top / bottom) ** power``."""
        if self._plan.penalty == "off":
            return 1.0, 1.0, 1.0
        if self._plan.penalty == "absolute":
            return max(ABSOLUTE_STEPS - counts[-1], 0.0), ABSOLUTE_STEPS, 1.0
        alpha = self._alpha
        if self._plan.penalty == "ramped":
            alpha *= min(max((_total(counts) - 1.0) / 4.0, 0.0), 1.0)
        kept = _total(reduced[:-1])
        return kept, kept + reduced[-1], alpha

    def _linear(
        self, counts: Sequence[float], reduced: Sequence[float], merged: Sequence[float]
    ) -> float:
        """The score at exponent 1, in one division where the penalty has the power 1."""
        top = 0.0
        for count, weight in zip(merged, self._whole, strict=True):
            top += count * weight
        bottom = _total(merged) * self._scale
        kept, of, alpha = self._penalty(counts, reduced)
        if abs(alpha - 1.0) < TINY_EXPONENT:
            return top * kept / (bottom * of)
        return top * float(np.power(np.array([kept / of]), np.array([alpha]))[0]) / bottom


def _reduced(counts: Sequence[float]) -> Sequence[float]:
    """As the kernel's ``reduced_rows``."""
    try:
        divisor = gcd(*counts)  # type: ignore[arg-type]  # an error where one is a fraction
    except TypeError:
        scaled = counts
        if not all(count.is_integer() for count in counts):
            scaled = [count * GRAINS for count in counts]
        if not (all(count.is_integer() for count in scaled) and max(scaled) < LARGEST_WHOLE):
            tiny = max(scaled) < VANISHING
            return [count * GROWTH for count in counts] if tiny else counts
        divisor = gcd(*map(int, scaled))
        counts = scaled
    return counts if divisor == 1 else [count / divisor for count in counts]


def _total(counts: Sequence[float]) -> float:
    total = 0.0
    for count in counts:
        total += count
    return total

"""Means of many numbers that come in blocks, as exact as those of all at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from tcva_adapters.core.verdicts import FloatArray

_DIGITS: Final = 53
"""Of a float, in bits."""

_LEAST: Final = 1126
"""The last digit of the smallest float is worth 2**-1126."""

_LOW: Final = 27
"""The digits are added in two parts, so that sums of a block stay whole numbers of a float."""


class ExactMean:
    """The mean of each column of a table, block by block; what is nan is left out.

    Sums are exact and rounded once, as those of `math.fsum`: they depend neither on the order nor
    on the blocks.

    >>> import math
    >>> mean = ExactMean(1)
    >>> for value in (0.1, 0.2, 0.3, float("nan")):
    ...     mean.add(np.array([[value]]))
    >>> mean.values() == [math.fsum([0.1, 0.2, 0.3]) / 3]
    True
    """

    def __init__(self, columns: int) -> None:
        """Begin without a number.

        Args:
            columns: How many means there are.
        """
        self._sums = [0] * columns
        self._numbers = [0] * columns

    def add(self, block: FloatArray) -> None:
        """Add rows, shape (n, columns), n up to 2**24; finite or nan."""
        for column, values in enumerate(block.T):
            known = values[~np.isnan(values)]
            self._numbers[column] += len(known)
            self._sums[column] += _sum(known)

    def values(self) -> list[float]:
        """The means; nan for a column without a number."""
        return [
            total / 2**_LEAST / number if number else float("nan")
            for total, number in zip(self._sums, self._numbers, strict=True)
        ]


def _sum(values: FloatArray) -> int:
    """The sum as a whole number of the smallest digit that a float can have."""
    fractions, exponents = np.frexp(values)
    digits = np.ldexp(fractions, _DIGITS)
    high = np.floor(np.ldexp(digits, -_LOW))
    low = digits - np.ldexp(high, _LOW)
    total = 0
    for exponent in np.unique(exponents).tolist():
        of = exponents == exponent
        added = (int(high[of].sum()) << _LOW) + int(low[of].sum())
        total += added << (exponent - _DIGITS + _LEAST)
    return total

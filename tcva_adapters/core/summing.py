"""Sums of fractions with the same bits on every Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add


def added(values: Iterable[float]) -> float:
    """The sum from left to right, as ``sum`` makes it before Python 3.12 and no longer after.

    >>> added([0.1] * 10)
    0.9999999999999999
    """
    return reduce(add, values, 0.0)

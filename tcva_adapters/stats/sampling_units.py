"""Units, which are samples or whole groups, and the rule of how many an interval needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    Groups,
    IntArray,
    group_codes,
)
from tcva_adapters.stats.estimates import Estimate

MIN_GROUPS = 10
"""Groups of one size, to the nearest whole, that an interval needs; see `Units.equal`."""

MIN_OTHERS = 5
"""Samples, or groups with such, that have another value than the most frequent one. With fewer,
nothing shows how rare, or how far off, the next one is."""

_DIGITS = 12
# Very many samples are left out in parts, so that the work does not grow as their square.
_MIN_PARTS = 100
_MAX_PARTS = 1_000
_WORK = 10_000_000


class Units:
    """Samples, each alone or in groups that count as one.

    Attributes:
        n: The number of samples.
        groups: The number of their groups; None where they stand alone.
        codes: The group of each sample, from 0 up; None also where each has one of its own.
        unit_codes: The unit of each sample, from 0 up: its group, or itself.
        number: The number of units to leave out, or to draw.
        equal: The number of units of one size to which these amount: ``N**2 / sum(n**2)``. Where
            one group has most of the samples, many small ones add little precision.
    """

    def __init__(self, groups: Groups, used: BoolArray) -> None:
        """Number the groups of the samples that are used.

        Raises:
            InvalidValueError: Groups that do not fit.
        """
        self.n = int(used.sum())
        self.groups: int | None = None
        self.codes: IntArray | None = None
        self.unit_codes: IntArray = np.arange(self.n)
        self.number = self.n
        self.equal = float(self.n)
        if groups is None:
            return
        codes = group_codes(groups, used)
        self.groups = self.number = int(codes.max()) + 1 if self.n else 0
        if self.number < self.n:
            self.codes = self.unit_codes = codes
            self.equal = self.n**2 / np.sum(np.bincount(codes) ** 2)

    @property
    def clusters(self) -> float | None:
        """`equal` where there are groups of several samples, else None."""
        return None if self.codes is None else self.equal

    def figure(self, value: float, level: float, reason: str = "") -> Estimate:
        """A figure of these samples, without an interval."""
        return Estimate(
            value,
            n=self.n,
            groups=self.groups,
            level=level,
            reason=reason,
        )

    def without(self) -> Iterator[BoolArray]:
        """Yield which samples are left without each unit, or each block of very many units, in turn."""
        most = max(_MIN_PARTS, min(_MAX_PARTS, _WORK // max(self.n, 1)))
        for part in range(min(self.number, most)):
            yield self.unit_codes % most != part

    def why_no_interval(
        self,
        least: int,
        *columns: FloatArray,
        ratings: FloatArray | None = None,
        least_groups: int = MIN_GROUPS,
    ) -> str:
        """Say why no interval can be trusted here, without a full stop; empty where one can.

        Args:
            least: Samples that it needs, where these stand alone.
            columns: Finite, shape (n,): values of which enough have to differ.
            ratings: Likewise; the reason calls them ratings.
            least_groups: Groups that it needs, where there are some.

        >>> alone = Units(None, np.ones(12, dtype=bool))
        >>> alone.why_no_interval(30)
        'it needs 30 samples, got 12'
        >>> alone.why_no_interval(10, np.array([1.0] * 9 + [0.5, 0.2, 0.0]))
        'all but 3 values are equal; at least 5 must differ'
        >>> Units("ab" * 6, np.ones(12, dtype=bool)).why_no_interval(10)
        'it needs 10 groups, got 2 (effectively 2.0)'
        """
        if self.codes is None and self.n < least:
            return f"it needs {least} samples, got {self.n}"
        if self.codes is not None and round(self.equal) < least_groups:
            return f"it needs {least_groups} groups, got {self.groups} (effectively {self.equal:.1f})"
        named = [("values", column) for column in columns]
        if ratings is not None:
            named.append(("ratings", ratings))
        for name, column in named:
            _, places, often = np.unique(
                column.round(_DIGITS),
                return_inverse=True,
                return_counts=True,
            )
            is_other = places != often.argmax()
            differing = len(np.unique(self.unit_codes[is_other]))
            if differing < MIN_OTHERS:
                which = f"all but {differing}" if differing else "all"
                return f"{which} {name} are equal; at least {MIN_OTHERS} must differ"
        return ""


def natural_ends(values: FloatArray, *, signed: bool = False) -> tuple[float, float]:
    """The range of a mean: scores within [0, 1], their differences within [-1, 1], sizes above 0.

    Args:
        values: At least one.
        signed: Whether these are differences, which may be negative even where none is.

    >>> natural_ends(np.array([0.5, 1.0])), natural_ends(np.array([1.0, 5.0]))
    ((0.0, 1.0), (0.0, inf))
    """
    low = -np.inf
    if values.min() >= 0.0 and not signed:
        low = 0.0
    elif values.min() >= -1.0:
        low = -1.0
    return low, 1.0 if values.max() <= 1.0 else np.inf

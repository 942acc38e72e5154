"""Intervals as they stand in tables and sentences, and the reason where there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from tcva_adapters.printing import Wrapped, counted, short
from tcva_adapters.stats.enough import LEAST_SAMPLES

_NAMED: Final = 3


class Bounded(Protocol):
    """Whatever has an interval, or a reason why it has none."""

    @property
    def low(self) -> float:
        """Lower end, or nan."""

    @property
    def high(self) -> float:
        """Upper end, or nan."""

    @property
    def reason(self) -> str:
        """Why there is none."""


def interval_cell(value: float, found: Bounded) -> str:
    """The value with its interval; alone where there is none, and a dash where it is undefined."""
    if math.isnan(value):
        return "-"
    if math.isnan(found.low):
        return short(value, 3)
    return f"{short(value, 3)} [{short(found.low, 2)},{short(found.high, 2)}]"


def ends_text(found: Bounded, *, signed: bool = False, digits: int = 3) -> str:
    """Both ends in brackets, or why there are none.

    >>> from tcva_adapters.stats.bootstrap import interval
    >>> ends_text(interval("spearman", [1, 2, 3, 4], [1, 3, 2, 4]))
    'no interval (4 samples: an interval needs 10)'
    """
    if math.isnan(found.low):
        return f"no interval ({found.reason})"
    form = f"{'+' if signed else ''}.{digits}f"
    return f"[{found.low:{form}}, {found.high:{form}}]"


def missing_intervals(named: Iterable[tuple[str, Bounded]]) -> Iterator[Wrapped]:
    """One line for each reason why a table's intervals are missing, with whom it concerns.

    Args:
        named: What each interval is of, and the interval.
    """
    by_reason: dict[str, list[str]] = {}
    for name, found in named:
        if found.reason:
            names = by_reason.setdefault(found.reason, [])
            if name not in names:
                names.append(name)
    for reason, names in by_reason.items():
        said = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} of them"
        yield Wrapped(f"no interval for {said}: {reason}", indent=2)


def too_few(rated: int) -> str:
    """What a reader with a handful of labels is told, in one sentence with a full stop."""
    return (
        f"{counted(rated, 'human rating')}: too few for intervals and comparisons, which begin at "
        f"{LEAST_SAMPLES} samples; rate 30 to tell a method that works from one that does not, "
        "hundreds to tell two that work apart."
    )

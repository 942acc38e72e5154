"""What is said where no difference shows: the one that would have shown, and who is as good."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tcva_adapters.compare.views.human_ratings import HumanRatings, PairedTest
from tcva_adapters.printing import Part, Table, Wrapped, figure
from tcva_adapters.stats.equivalence import Equivalence

_ALPHA: Final = 0.05


def shown_and_not(found: HumanRatings) -> Iterator[Part]:
    """For each difference that is not told from chance, how large one would have been found."""
    primary = [test for test in found.tests if test.result.measure == found.objective]
    missed = [
        f"{figure(test.smallest)} ({test.method})"
        for test in primary
        if test.p_holm >= _ALPHA and not math.isnan(test.smallest)
    ]
    if missed:
        yield Wrapped(
            "not told from chance is not the same as equal; of 100 comparisons like these 80 would "
            f"find a true difference of {', '.join(missed)}",
            indent=2,
        )
    yield from as_good(found)


def as_good(found: HumanRatings) -> Iterator[Part]:
    """Which methods are as good as the reference; nothing where no margin was given."""
    tested = [(test, test.equivalence) for test in found.tests if test.equivalence is not None]
    if tested:
        yield from _equivalences(found, tested)


def _equivalences(
    found: HumanRatings, tested: list[tuple[PairedTest, Equivalence]]
) -> Iterator[Part]:
    first = tested[0][1]
    yield ""
    yield Wrapped(
        f"as good as {found.reference} by {found.objective}, up to {first.margin:g}? Two one-sided "
        "tests, p(Holm) for all methods together"
    )
    rows = []
    for test, each in tested:
        ends = "-" if each.reason else f"[{each.low:+.3f},{each.high:+.3f}]"
        ps = figure(each.p_not_worse, 4), figure(each.p_equivalent, 4)
        rows.append((test.method, ends, *ps, verdict(each)))
    header = ("method", f"{first.level:.0%} interval", "p, not\nworse", "p, as\ngood", "")
    yield Table(header, rows, "lrrrl")


def verdict(found: Equivalence, alpha: float = _ALPHA) -> str:
    """What may be claimed.

    >>> both = {"p_not_worse": 0.01, "p_equivalent": 0.2, "n": 60}
    >>> verdict(Equivalence("spearman", 0.04, 0.05, -0.01, 0.09, 0.9, **both))
    'not worse'
    """
    if found.reason:
        return found.reason
    if found.p_equivalent < alpha:
        return "as good"
    return "not worse" if found.p_not_worse < alpha else "not shown"

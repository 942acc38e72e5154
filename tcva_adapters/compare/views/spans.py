"""Ranges of the temperature in which something holds, and where the most of them overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tcva_adapters.core.flip import first_positive, flip_point
from tcva_adapters.core.temperature import Bounds, exponent_within
from tcva_adapters.results.result import Result


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Temperatures from ``start`` on, below ``end``.

    Attributes:
        start: The lowest temperature that belongs to it.
        end: The first above it that does not; None where it reaches to the highest of all.
    """

    start: float
    end: float | None = None

    def __contains__(self, temperature: float) -> bool:
        return self.start <= temperature and (self.end is None or temperature < self.end)


Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """Where most of a number of things hold at once.

    Attributes:
        most: How many of them do, at best.
        of: How many there are.
        spans: All the temperatures at which it is that many.
        temperature: One of them: the current one if it is among them, else the middle of the
            widest span, away from the edges where a single sample tips.
    """

    most: int
    of: int
    spans: Spans
    temperature: float


def passing(result: Result) -> Spans:
    """The temperatures at which a result passes its threshold; exact, not from a grid.

    Mostly one span from the flip temperature on, or none. There are two where the score falls
    right above exponent 0 (with a ``none`` and the paper's floor): a sample may pass below that
    place, fail above it, and pass again later. A result without a score passes nowhere; one whose
    score is given by ``on_unscored`` passes everywhere or nowhere.

    >>> from tcva_adapters.results.assessment import Assessment
    >>> spans = passing(Result(Assessment.from_verdicts(["fully", "fully", "minor"])))
    >>> round(spans[0].start, 3), spans[0].end
    (0.38, None)
    """
    bounds = result.scoring.bounds
    if result.unscored is not None:
        return (Span(bounds.t_min),) if result.passed else ()
    flip = result.flip_temperature
    upper = () if flip is None else (Span(flip),)
    edge = first_positive(bounds)
    if edge is None or (flip is not None and flip < edge):
        return upper
    # Below the edge the score never falls, so the search may be told that the scale ends there.
    last = float(np.nextafter(edge, -np.inf))
    below = Bounds(bounds.p_min, exponent_within(last, bounds), bounds.t_min, last)
    start = flip_point(result.above_threshold(), below)
    lower = () if start is None else (Span(start, edge),)
    if lower and upper and upper[0].start == edge:
        return (Span(lower[0].start),)
    return lower + upper


def outside(spans: Spans, bounds: Bounds) -> Spans:
    """The temperatures of the scale that no span holds; the spans are disjoint and ascending.

    >>> outside((Span(0.3, 0.4), Span(0.6)), Bounds())
    (Span(start=0.1, end=0.3), Span(start=0.4, end=0.6))
    """
    edges: list[float | None] = [bounds.t_min]
    for span in spans:
        edges += [span.start, span.end]
    if edges[-1] is not None:
        edges.append(None)
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return tuple(Span(a, b) for a, b in pairs if a is not None and a != b)


def best(held: Sequence[Iterable[Span]], bounds: Bounds, current: float) -> Best:
    """Where the most of them hold, as a step function over its exact edges.

    Args:
        held: Per thing, its disjoint spans.
        bounds: The scale's ends.
        current: The temperature in use.

    >>> best([[Span(0.3)], [Span(0.1, 0.6)], [Span(0.5)]], Bounds(), 0.2)
    Best(most=3, of=3, spans=(Span(start=0.5, end=0.6),), temperature=0.55)
    """
    steps: Counter[float] = Counter({bounds.t_min: 0})
    for spans in held:
        for span in spans:
            steps[span.start] += 1
            if span.end is not None:
                steps[span.end] -= 1
    edges = sorted(edge for edge in steps if edge <= bounds.t_max)
    levels = np.cumsum([steps[edge] for edge in edges]).tolist()
    most = max(levels)
    found: list[Span] = []
    for (edge, level), (after, _) in pairwise([*zip(edges, levels, strict=True), (None, 0)]):
        if level == most and edge is not None:
            if found and found[-1].end == edge:
                found[-1] = Span(found[-1].start, after)
            else:
                found.append(Span(edge, after))
    temperature = current
    if not any(current in span for span in found):
        ends = [(s.start, bounds.t_max if s.end is None else s.end) for s in found]
        start, end = max(ends, key=lambda pair: pair[1] - pair[0])
        # Of a span as narrow as one float the middle would round to its end, which is outside.
        temperature = min(start + (end - start) / 2, float(np.nextafter(end, start)))
    return Best(int(most), len(held), tuple(found), temperature)

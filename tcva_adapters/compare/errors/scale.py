"""Are scores at the right height: by score, by verdict level, and by decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.errors.rated import RatedScores
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.views.crosstab import Crosstab
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import BoolArray
from tcva_adapters.stats.enough import LEAST_SAMPLES, why_no_interval
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.jackknife import coefficient_intervals, exact_share, falling_weights
from tcva_adapters.stats.means import mean_interval

DOMINATES: Final = 0.75
"""The share of its claims from which on a level dominates a sample."""

_LEAST_FOR_LEVELS: Final = 50
"""Samples from which on the intervals of the levels hold together."""


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """Samples whose scores lie together.

    Attributes:
        low: The lowest score.
        high: The highest one.
        score: Mean score.
        human: Mean human rating on the scale of the scores.
    """

    low: float
    high: float
    score: float
    human: Interval


def calibration_curve(rated: RatedScores, *, bins: int, level: float) -> tuple[ScoreBin, ...]:
    """Human ratings by score, in bins of about as many samples; equal scores share a bin.

    Args:
        rated: The samples.
        bins: At most so many; each has at least 10 samples, where there are as many.
        level: Of the intervals.
    """
    scores, group, sizes = np.unique(rated.scores, return_inverse=True, return_counts=True)
    least = max(LEAST_SAMPLES, math.ceil(len(rated.scores) / bins))
    edges, held = [0], 0
    for place, size in enumerate(sizes.tolist(), start=1):
        held += size
        left = int(sizes[place:].sum())
        if (held >= least and left >= least) or not left:
            edges.append(place)
            held = 0
    found = []
    for start, stop in pairwise(edges):
        members = (group >= start) & (group < stop)
        found.append(
            ScoreBin(
                *(float(scores[start]), float(scores[stop - 1])),
                float(rated.scores[members].mean()),
                mean_interval(rated.human[members], codes=rated.codes_of(members), level=level),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class LevelWorth:
    """What one verdict level is worth to humans.

    Attributes:
        name: The level.
        weight: Its weight in use.
        n: Samples with a claim at this level.
        worth: Its coefficient where ratings are regressed on the shares of the levels: the rating
            of a sample with all claims at this level, if ratings are means over claims. The
            intervals of all levels hold together (Bonferroni).
        falling: The same under weights in [0, 1] that fall from level to level.
        dominated: Mean rating of the samples with three quarters of their claims at this level.
    """

    name: str
    weight: float
    n: int
    worth: Interval
    falling: float
    dominated: Interval

    @property
    def differs(self) -> bool:
        """Whether the weight in use lies outside the interval."""
        return not self.worth.reason and not self.worth.low <= self.weight <= self.worth.high


def level_worths(
    rated: RatedScores, scoring: ScoringConfig, *, level: float
) -> tuple[LevelWorth, ...]:
    """The levels that occur, fully first."""
    shares = rated.counts / rated.counts.sum(axis=1, keepdims=True)
    used = np.flatnonzero((shares > 0.0).any(axis=0)).tolist()
    columns = shares[:, used]
    together = 1.0 - (1.0 - level) / len(used)
    worths = coefficient_intervals(columns, rated.human, codes=rated.codes, level=together)
    few = why_no_interval(len(shares), least=_LEAST_FOR_LEVELS)
    falling = falling_weights(columns, rated.human).tolist()
    found = []
    for place, worth, weight in zip(used, worths, falling, strict=True):
        has, dominates = shares[:, place] > 0.0, shares[:, place] >= DOMINATES
        n = int(has.sum())
        why = few or why_no_interval(n, codes=rated.codes_of(has))
        if not why and worth.high - worth.low > 1.0:
            why = "its interval is wider than the scale: few samples, or levels that occur together"
        found.append(
            LevelWorth(
                LEVELS[place].value,
                scoring.scheme.weights[place],
                n,
                Interval(worth.value, math.nan, math.nan, n, worth.clusters, why) if why else worth,
                weight,
                mean_interval(
                    rated.human[dominates], codes=rated.codes_of(dominates), level=together
                ),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Gate:
    """Decisions by score against decisions by human rating.

    Attributes:
        threshold: A score passes from here on.
        human_threshold: A rating passes from here on, on its own scale.
        counts: First is the score's decision, second the human one.
        base_rate: Share of the samples that pass by their rating.
        pass_precision: Of those that pass by score, the share that pass by rating.
        pass_recall: Of those that pass by rating, the share that pass by score.
        fail_precision: Of those that fail by score, the share that fail by rating.
        fail_recall: Of those that fail by rating, the share that fail by score.
        agreement: Share of equal decisions.
    """

    threshold: float
    human_threshold: float
    counts: Crosstab
    base_rate: Interval
    pass_precision: Interval
    pass_recall: Interval
    fail_precision: Interval
    fail_recall: Interval
    agreement: Interval

    def to_dict(self) -> dict[str, Any]:
        """As plain values, kappa among them."""
        return {**jsonable(self), "counts": self.counts.to_dict()}


def gate_errors(
    rated: RatedScores,
    threshold: float,
    human_scale: tuple[float, float],
    human_threshold: float | None,
    *,
    level: float,
) -> Gate:
    """Precision and recall of both decisions, with exact intervals.

    Raises:
        InvalidValueError: No rating of the scale could be where a rating passes from.
    """
    low, high = human_scale
    at = (low + high) / 2.0 if human_threshold is None else human_threshold
    if not low <= at <= high:
        msg = (
            f"human_threshold or --human-threshold {at:g} lies outside the scale of the ratings, "
            f"{low:g} to {high:g}"
        )
        raise InvalidValueError(msg)
    ours, theirs = rated.scores >= threshold, rated.human >= (at - low) / (high - low)

    def share(hits: BoolArray, of: BoolArray) -> Interval:
        return exact_share(hits[of].astype(np.float64), codes=rated.codes_of(of), level=level)

    everyone = np.ones(len(ours), dtype=np.bool_)
    return Gate(
        threshold,
        at,
        Crosstab.of(ours, theirs),
        base_rate=share(theirs, everyone),
        pass_precision=share(theirs, ours),
        pass_recall=share(ours, theirs),
        fail_precision=share(~theirs, ~ours),
        fail_recall=share(~ours, ~theirs),
        agreement=share(ours == theirs, everyone),
    )

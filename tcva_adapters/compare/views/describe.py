"""What one method's scores look like, and how two methods' scores compare with each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.views.crosstab import Crosstab, Flags
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.stats.correlation import Measure, agreement
from tcva_adapters.stats.describe import seen, tie_probability

BINS: Final = 10
NO_ROW: Final = "no result"
NO_REASON: Final = "no reason given"
_REASON_WIDTH: Final = 60


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """The scores of one method, and how many samples they are of.

    Attributes:
        method: Its name.
        scored: Samples with a score.
        samples: Samples in all.
        reasons: Why the others have none, with counts; ``no result`` where there is no row. Empty
            where no rows were given.
        details: What the first sample says of each of them, where it says something.
        mean: Of the scored samples, as are the figures below; nan where there are none.
        sd: Standard deviation (divided by n - 1); nan below two scores.
        minimum: Smallest score.
        lower_quartile: A quarter of the scores lie at it or below (interpolated linearly).
        median: Half of them.
        upper_quartile: Three quarters.
        maximum: Largest score.
        edges: Of the bins of the histogram, ten from 0 to 1; over the method's own range where a
            score lies outside.
        histogram: Scores per bin; the last bin includes its upper edge.
        distinct: Different scores, as they are seen with three digits.
        tied: Share of pairs of samples with equal scores, likewise, in [0, 1]: what a reader cannot
            rank.
        at_zero: Share of scores that are seen as 0.
        at_one: Share of scores that are seen as 1.
        threshold: A score passes from here on.
        pass_rate: Share of scores that pass.
        mean_common: Mean on the samples that every method has scored, the fair one to compare.
        common: How many these are.
    """

    method: str
    scored: int
    samples: int
    reasons: Mapping[str, int]
    details: Mapping[str, str]
    mean: float
    sd: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    edges: tuple[float, ...]
    histogram: tuple[int, ...]
    distinct: int
    tied: float
    at_zero: float
    at_one: float
    threshold: float
    pass_rate: float
    mean_common: float
    common: int


@dataclass(frozen=True, slots=True)
class PairSummary:
    """Two methods on the samples that both have scored.

    Attributes:
        first: A method.
        second: Another.
        n: Samples that both have scored.
        spearman: Rank correlation; nan where one of them is constant, as for the next two.
        kendall: Tau-b.
        pearson: Linear correlation.
        mean_difference: Mean of first minus second.
        decisions: Pass or fail at each method's threshold.
    """

    first: str
    second: str
    n: int
    spearman: float
    kendall: float
    pearson: float
    mean_difference: float
    decisions: Crosstab


@dataclass(frozen=True, slots=True)
class Difference:
    """A sample that two methods place differently.

    Attributes:
        sample: Its id.
        higher: The method that places it higher.
        lower: The one that places it lower.
        score_higher: Its score under the first.
        score_lower: Under the second.
        place_higher: Its place under the first, as a share in (0, 1): 0.9 is above 90 % of the
            samples that both have scored, ties counted half.
        place_lower: Under the second.
        difference: Between the two places.
    """

    sample: str
    higher: str
    lower: str
    score_higher: float
    score_lower: float
    place_higher: float
    place_lower: float
    difference: float


def describe(
    table: ScoreTable,
    thresholds: Mapping[str, float],
    rows: Iterable[Row] | None = None,
) -> tuple[MethodSummary, ...]:
    """One summary per method of a table, in its order.

    Args:
        table: The scores.
        thresholds: Of every method.
        rows: The tidy rows, for the reasons.
    """
    common = np.isfinite(table.scores).all(axis=1)
    reasons, details = _reasons(table, rows)
    summaries = []
    for number, method in enumerate(table.methods):
        column = table.scores[:, number]
        known = column[np.isfinite(column)]
        five = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]) if len(known) else np.full(5, np.nan)
        edges = _edges(known)
        summaries.append(
            MethodSummary(
                method=method,
                scored=len(known),
                samples=len(column),
                reasons=reasons[method],
                details=details[method],
                mean=_mean(known),
                sd=float(known.std(ddof=1)) if len(known) > 1 else math.nan,
                minimum=float(five[0]),
                lower_quartile=float(five[1]),
                median=float(five[2]),
                upper_quartile=float(five[3]),
                maximum=float(five[4]),
                edges=tuple(edges.tolist()),
                histogram=tuple(np.histogram(known, edges)[0].tolist()),
                distinct=len(np.unique(seen(known))),
                tied=tie_probability(known),
                at_zero=_mean(seen(known) == 0.0),
                at_one=_mean(seen(known) == 1.0),
                threshold=thresholds[method],
                pass_rate=_mean(known >= thresholds[method]),
                mean_common=_mean(column[common]),
                common=int(common.sum()),
            )
        )
    return tuple(summaries)


def _mean(values: FloatArray | Flags) -> float:
    return float(values.mean()) if len(values) else math.nan


def _edges(known: FloatArray) -> FloatArray:
    if not len(known) or (known.min() >= 0.0 and known.max() <= 1.0):
        return np.linspace(0.0, 1.0, BINS + 1)
    low, high = float(known.min()), float(known.max())
    return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def _reasons(
    table: ScoreTable, rows: Iterable[Row] | None
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, str]]]:
    """By method: each reason with its number, and with the detail of the first sample."""
    counted: dict[str, dict[str, int]] = {method: {} for method in table.methods}
    details: dict[str, dict[str, str]] = {method: {} for method in table.methods}
    if rows is None:
        return counted, details
    said = {(row.sample, row.method): row.unscored for row in rows if row.score is None}
    for number, method in enumerate(table.methods):
        words: Counter[str] = Counter()
        for i in np.flatnonzero(~np.isfinite(table.scores[:, number])):
            word, detail = _word(said.get((table.samples[i], method)))
            words[word] += 1
            if detail:
                details[method].setdefault(word, detail)
        counted[method] = dict(words.most_common())
    return counted, details


def _word(reason: str | None) -> tuple[str, str]:
    """A reason without its details, so that equal ones are counted together; and these."""
    if reason is None:
        return NO_ROW, ""
    head, _, detail = reason.removeprefix("unscored: ").partition(":")
    return " ".join(head.split())[:_REASON_WIDTH] or NO_REASON, " ".join(detail.split())


def compare_pairs(table: ScoreTable, thresholds: Mapping[str, float]) -> tuple[PairSummary, ...]:
    """Every pair of methods, each on the samples that both have scored.

    Without scipy the correlations are nan.
    """
    pairs = []
    for a, b in combinations(table.methods, 2):
        first, second = table.column(a), table.column(b)
        both = np.isfinite(first) & np.isfinite(second)
        first, second = first[both], second[both]
        pairs.append(
            PairSummary(
                first=a,
                second=b,
                n=int(both.sum()),
                spearman=_correlation("spearman", first, second),
                kendall=_correlation("kendall", first, second),
                pearson=_correlation("pearson", first, second),
                mean_difference=_mean(first - second),
                decisions=Crosstab.of(first >= thresholds[a], second >= thresholds[b]),
            )
        )
    return tuple(pairs)


def _correlation(measure: Measure, first: FloatArray, second: FloatArray) -> float:
    try:
        return agreement(measure, first, second).value
    except MissingDependencyError:
        return math.nan


def places(scores: FloatArray) -> FloatArray:
    """Where each score stands among them: the share below it, ties counted half.

    Any increasing change of the scale leaves it as it is, and methods with few levels are not
    favoured: everything tied at the top shares one place.

    >>> places(np.array([0.2, 0.9, 0.9, 0.4])).tolist()
    [0.125, 0.75, 0.75, 0.375]
    """
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    shares: FloatArray = (below + counts / 2)[inverse] / max(len(scores), 1)
    return shares


def differences(table: ScoreTable, most: int, views: Sequence[str] = ()) -> tuple[Difference, ...]:
    """The samples on which two methods differ most, the largest difference first.

    For every pair of methods, each sample that both have scored gets its place under either
    (see `places`); the difference is that of the places. A sample appears once, with the pair
    that differs most about it.

    Args:
        table: The scores.
        most: How many at most; samples on which all methods agree are never among them.
        views: Methods that are views of one judgement; they are not set against each other.
    """
    found: dict[int, Difference] = {}
    for first, second in combinations(range(len(table.methods)), 2):
        if {table.methods[first], table.methods[second]} <= set(views):
            continue
        pair = table.scores[:, [first, second]]
        rows = np.flatnonzero(np.isfinite(pair).all(axis=1))
        stand = np.stack([places(pair[rows, 0]), places(pair[rows, 1])], axis=1)
        gaps = np.abs(stand[:, 0] - stand[:, 1])
        for at in np.argsort(-gaps, kind="stable")[:most].tolist():
            index = int(rows[at])
            known = found.get(index)
            if gaps[at] == 0.0 or (known is not None and known.difference >= gaps[at]):
                continue
            up = int(stand[at, 1] > stand[at, 0])
            names = (table.methods[first], table.methods[second])
            found[index] = Difference(
                sample=table.samples[index],
                higher=names[up],
                lower=names[1 - up],
                score_higher=float(pair[index, up]),
                score_lower=float(pair[index, 1 - up]),
                place_higher=float(stand[at, up]),
                place_lower=float(stand[at, 1 - up]),
                difference=float(gaps[at]),
            )
    ranked = sorted(found.items(), key=lambda item: (-item[1].difference, item[0]))
    return tuple(difference for _, difference in ranked[:most])

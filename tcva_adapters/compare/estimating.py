"""What humans would say on average of all samples, from the ratings of a few and a judge's scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.estimate_samples import Human, RatedSamples
from tcva_adapters.compare.grouping import group_note
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.judged import JudgedSource
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Tabular, counted, figure
from tcva_adapters.results.config import Config
from tcva_adapters.results.evidence import Evidence
from tcva_adapters.stats.checks import FloatArray, check_level
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.planning import smallest_from
from tcva_adapters.stats.prediction_powered import PoweredMean, check_scale

__all__ = ["Estimate", "EstimateDifference", "EstimateRow", "estimate"]

_NO_DRAW: Final = 3.0
"""Standard errors: rated samples that lie further off by the judge's scores were hardly drawn."""


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One system.

    Attributes:
        system: Its name; empty where there is one alone.
        samples: With a score.
        ratings: Of these, rated by humans.
        judge: The judge's mean, on the scale of the ratings; for a pass rate, of its scores.
        estimate: The mean rating or the pass rate of all samples.
        alone: The same from the ratings alone.
        worth: How many random ratings alone would give as narrow an interval.
        slope: What a point of the judge's score is worth; 0 where it was not used.
        drift: How far the rated samples' mean score lies off from that of all, in standard errors.
    """

    system: str
    samples: int
    ratings: int
    judge: float
    estimate: Interval
    alone: Interval
    worth: float
    slope: float
    drift: float


@dataclass(frozen=True, slots=True)
class EstimateDifference:
    """Two systems.

    Attributes:
        first: Name of the one.
        second: Of the other.
        found: The first one's estimate less the second's.
        level: Of its interval: with several pairs, one at which all of them hold together.
    """

    first: str
    second: str
    found: Interval
    level: float

    @property
    def smallest(self) -> float:
        """The true difference that such samples show in 80 % of cases; nan where this one shows."""
        found = self.found
        if found.reason or _is_told(found):
            return nan
        return smallest_from(found.low, found.high, self.level)


@dataclass(frozen=True, eq=False)
class Estimate(Tabular):
    """Means of human ratings, or pass rates, of all samples.

    Attributes:
        samples: What they are made of.
        threshold: Ratings pass from here on; None for means.
        scale: Lowest and highest rating.
        level: Of the intervals.
        rows: One for each system.
        differences: One for each pair of systems with ratings.
        notes: What has to be known about them, in sentences.
    """

    samples: RatedSamples
    threshold: float | None
    scale: tuple[float, float]
    level: float
    rows: tuple[EstimateRow, ...]
    differences: tuple[EstimateDifference, ...]
    notes: tuple[str, ...]

    @property
    def what(self) -> str:
        """What is estimated, in a few words."""
        if self.threshold is None:
            return "mean human rating"
        return f"share of human ratings of at least {self.threshold:g}"

    @property
    def sentence(self) -> str:
        """The estimate, beside ratings alone; of several systems, how many pairs differ."""
        if len(self.differences) == 1:
            (pair,) = self.differences
            apart = _shown(pair.found, signed=True)
            if pair.found.reason:
                apart += f" without an interval ({pair.found.reason})"
            return (
                f"By the {self.what}, {pair.first} less {pair.second} is {apart}; "
                f"{self._size(self.rows)}"
            )
        if len(self.rows) > 1:
            return f"By the {self.what}, {self._told}; {self._size(self.rows)}"
        row = self.rows[0]
        found = row.estimate
        if found.reason:
            return f"The {self.what} is {figure(found.value)}, without an interval: {found.reason}"
        return (
            f"The {self.what} is {_shown(found)}; {self._size([row])}. The ratings alone say "
            f"{_shown(row.alone)}"
        )

    @property
    def _told(self) -> str:
        """In how many of the pairs of systems a difference shows."""
        every = len(self.rows) * (len(self.rows) - 1) // 2
        tested = [each.found for each in self.differences if not each.found.reason]
        if not tested:
            return f"no pair of {len(self.rows)} systems has ratings enough to be compared"
        told = sum(map(_is_told, tested))
        few = "" if len(tested) == every else f", {every - len(tested)} have too few ratings"
        return f"a difference shows in {told} of {counted(len(tested), 'pair')} of systems{few}"

    def _size(self, rows: Sequence[EstimateRow]) -> str:
        ratings, samples = sum(row.ratings for row in rows), sum(row.samples for row in rows)
        return f"{counted(ratings, 'rating')}, {counted(samples, 'score')} of the judge"

    def records(self) -> list[dict[str, Any]]:
        """One for each system, as plain JSON values; a figure that is not defined is None."""
        return [jsonable(row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "sentence": self.sentence,
            **self.samples.judged.to_dict(),
            "human": self.samples.human,
            "threshold": self.threshold,
            "scale": list(self.scale),
            "level": self.level,
            "group": self.samples.group or None,
            "groups": self._of_groups.removeprefix("; ") or None,
            "rows": self.records(),
            "differences": [
                {**jsonable(each), "smallest": jsonable(each.smallest)} for each in self.differences
            ],
            "notes": list(self.notes),
        }

    def parts(self) -> Iterator[Part]:
        """What ``tcva estimate`` prints."""
        samples = self.samples
        yield (
            f"{samples.judged.title} at T={samples.scoring.temperature:g}; ratings of "
            f"{samples.human!r} from {self.scale[0]:g} to {self.scale[1]:g}; {self.level:.0%} "
            f"intervals, corrected for the judge's bias{self._of_groups}"
        )
        yield self._table()
        for row in self.rows:
            if row.estimate.reason:
                name = f"{row.system}: " if row.system else ""
                yield f"{name}no interval ({row.estimate.reason})"
        if self.differences:
            together = f", {self.level:.0%} for all pairs together" if self._is_several else ""
            yield f"\nDifferences of the estimates{together}"
            yield self._pairs()
        yield from (f"\nNote: {note}" for note in self.notes)

    def _pairs(self) -> Table:
        """The differences, and what would mostly show where none does."""
        rows = []
        for each in self.differences:
            differ = "-" if each.found.reason else "yes" if _is_told(each.found) else "not shown"
            shows = "" if isnan(each.smallest) else figure(each.smallest)
            rows.append([each.first, each.second, _shown(each.found, signed=True), differ, shows])
        header = ["first", "second", "first less second", "differ", "would mostly show"]
        used = len(header) - all(not row[-1] for row in rows)
        return Table(header[:used], [row[:used] for row in rows], "llrlr", keys=2)

    @property
    def _of_groups(self) -> str:
        """Those of the samples that the estimates rest on; empty where samples stand alone."""
        found = self.samples
        if found.groups is None:
            return ""
        return f"; {group_note(found.groups[found.scored & found.rated].tolist())}"

    @property
    def _is_several(self) -> bool:
        return len(self.differences) > 1

    def _table(self) -> Table:
        several = len(self.rows) > 1
        header = ["system", "samples", "ratings", "judge", "estimate", "worth", "ratings alone"]
        cells = [
            [
                row.system,
                str(row.samples),
                str(row.ratings),
                figure(row.judge),
                _shown(row.estimate),
                "-" if isnan(row.worth) else f"{row.worth:.0f}",
                _shown(row.alone),
            ]
            for row in self.rows
        ]
        first = 0 if several else 1
        align = "lr" if several else "r"
        return Table(header[first:], [row[first:] for row in cells], align)


def estimate(
    judged: JudgedSource,
    human: Human,
    *,
    system: str | Sequence[Any] | None = None,
    group: str | Sequence[Any] | None = None,
    threshold: float | None = None,
    human_scale: tuple[float, float] = (0.0, 1.0),
    temperature: float | str | None = None,
    evidence: Evidence | None = None,
    config: Config | str | Path | None = None,
    level: float = 0.95,
    skip_bad: bool = False,
) -> Estimate:
    """The mean human rating of all samples, from the ratings of some and the judge's scores of all.

    The ratings correct the judge's bias, and the judge tells how far the rated samples lie from the
    others. See `stats.prediction_powered` for the method.

    Args:
        judged: What was judged, see `Judged.of`; scores of fused judges are fused.
        human: A key of the metadata, `Labels`, or ratings, shape (N,) with nan where there is none.
            They have to be a random draw of the samples of each system, or to be chosen by
            `choose_samples`, whose file says the chances.
        system: A key of the metadata, or the systems themselves: an estimate for each, and the
            differences of all pairs.
        group: A key of the metadata, or the groups themselves: samples that belong together (a
            document, a conversation). Systems that answered the same questions are compared within
            each, where the question is the group.
        threshold: A rating passes from here on: pass rates in place of means.
        human_scale: Lowest and highest rating that could be given.
        temperature: Of the dial; by default the file's, or 0.5.
        evidence: ``lower`` or ``off``; by default the file's, or ``lower``.
        config: Settings from a file.
        level: Of the intervals; of several differences, for all pairs together.
        skip_bad: Leave out unreadable lines of a file.

    Raises:
        InvalidValueError: No sample has a score and a rating; a rating beyond the scale; a
            threshold outside it; a sample without a group or system; a level outside (0, 1).
            Further errors as for `Judged.of` and `Config.load`.
        MissingDependencyError: scipy is not installed.

    >>> counts = [[4, 0, 0, 0, 1], [5, 0, 0, 0, 0], [2, 1, 1, 1, 0]] * 40
    >>> found = estimate(counts, [0.6, 0.9, 0.5] * 10 + [None] * 90)
    >>> round(found.rows[0].estimate.value, 3), found.rows[0].ratings
    (0.667, 30)
    """
    check_level(level)
    read = RatedSamples.of(
        judged,
        human,
        system=system,
        group=group,
        temperature=temperature,
        evidence=evidence,
        config=config,
        skip_bad=skip_bad,
    )
    return estimated(read, threshold=threshold, human_scale=human_scale, level=level)


def estimated(
    samples: RatedSamples,
    *,
    threshold: float | None = None,
    human_scale: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Estimate:
    """`estimate` of samples that were read."""
    passing = _checked(samples, threshold, human_scale).passing(threshold)
    weights = samples.weights()
    means = [
        _mean(passing, place, weights, (0.0, 1.0) if threshold is not None else human_scale)
        for place in range(len(samples.systems))
    ]
    rows = tuple(
        _row(samples, place, mean, (threshold, human_scale), level)
        for place, mean in enumerate(means)
    )
    pairs = [
        (rows[one].system, rows[two].system, first, second)
        for (one, first), (two, second) in combinations(enumerate(means), 2)
        if first is not None and second is not None
    ]
    together = 1.0 - (1.0 - level) / max(len(pairs), 1)
    differences = tuple(
        EstimateDifference(one, two, first.less(second, together), together)
        for one, two, first, second in pairs
    )
    notes = (*samples.notes, *_notes(samples, rows))
    return Estimate(samples, threshold, human_scale, level, rows, differences, notes)


def _checked(
    samples: RatedSamples, threshold: float | None, scale: tuple[float, float]
) -> RatedSamples:
    """The samples, whose ratings and threshold lie within the scale."""
    low, high = scale
    if threshold is not None and not low < threshold <= high:
        msg = f"threshold {threshold:g} lies outside the scale from {low:g} to {high:g} (--human-scale)"
        raise InvalidValueError(msg)
    rated = samples.ratings[samples.rated]
    if not len(rated):
        msg = "no sample has a score and a human rating; rate some (tcva estimate --next 60)"
        raise InvalidValueError(msg)
    check_scale(rated, scale)
    return samples


def _mean(
    samples: RatedSamples, place: int, weights: FloatArray | None, scale: tuple[float, float]
) -> PoweredMean | None:
    """One system's mean; None where nothing of it is rated."""
    own = np.flatnonzero(samples.scored & (samples.of_system == place))
    if not np.isfinite(samples.ratings[own]).any():
        return None
    return PoweredMean(
        samples.ratings[own],
        samples.scores[own],
        scale=scale,
        weights=None if weights is None else weights[own],
        groups=None if samples.groups is None else samples.groups[own].tolist(),
    )


def _row(
    samples: RatedSamples,
    place: int,
    mean: PoweredMean | None,
    asked: tuple[float | None, tuple[float, float]],
    level: float,
) -> EstimateRow:
    threshold, (low, high) = asked
    scores = samples.scores[samples.scored & (samples.of_system == place)]
    judge = float("nan")
    if len(scores):
        on_scale = low + (high - low) * scores
        judge = float(np.mean(on_scale if threshold is None else on_scale >= threshold))
    name, nothing = samples.systems[place], float("nan")
    if mean is None:
        none = Interval(nothing, nothing, nothing, 0, reason="no sample is rated")
        return EstimateRow(name, len(scores), 0, judge, none, none, nothing, 0.0, nothing)
    return EstimateRow(
        name,
        mean.samples,
        mean.labels,
        judge,
        mean.estimate(level),
        mean.alone(level),
        nothing if mean.reason else mean.worth,
        mean.slope,
        mean.drift,
    )


def _notes(samples: RatedSamples, rows: Sequence[EstimateRow]) -> Iterator[str]:
    for row in rows:
        if abs(row.drift) > _NO_DRAW:
            of = f" of {row.system}" if row.system else ""
            side = "higher" if row.drift > 0.0 else "lower"
            yield (
                f"the judge's scores of the rated samples{of} are {side} than those of a random "
                f"draw would be ({abs(row.drift):.1f} standard errors): were they picked?"
            )
    missing = len(samples.scores) - int(samples.scored.sum())
    if missing:
        yield f"{counted(missing, 'sample')} without a score: the estimate is of the others"
    if samples.draws:
        rated, drawn = (sum(each) for each in zip(*samples.answered.values(), strict=True))
        if rated < drawn:
            yield (
                f"{drawn - rated} of {drawn} chosen samples have no rating; the estimate takes it "
                "that this is by chance"
            )
    else:
        yield (
            "this holds where the rated samples are a random draw; samples that were picked, such "
            "as the worst, make it wrong. --next draws some"
        )


def _shown(found: Interval, *, signed: bool = False) -> str:
    value = figure(found.value, signed=signed)
    if found.reason:
        return value
    return f"{value} [{figure(found.low)}, {figure(found.high)}]"


def _is_told(difference: Interval) -> bool:
    return not difference.reason and not difference.low <= 0.0 <= difference.high

"""Paths of thresholds: the shares that pass at each one, and the thresholds that are certified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tcva_adapters.compare.scores.ratings import passes_from
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.results.guarantee import Limits, percent
from tcva_adapters.stats.checks import BoolArray, FloatArray
from tcva_adapters.stats.guarantee import PathResult, certify, needed
from tcva_adapters.tables import Record, Table, counted, named_columns

_STEPS = 200
THRESHOLDS = np.arange(_STEPS, -1, -1) / _STEPS
"""The path of thresholds, the strictest first."""

_SAME = 1e-12
"""Tolerance for scores and ratings that rounding leaves just below a threshold."""

_NO_LIMIT = 0.5
"""Stands in for a limit that is not given; shares and bounds do not depend on it."""


@dataclass(frozen=True, slots=True)
class ThresholdPath:
    """The shares that pass at each of `THRESHOLDS`, and the thresholds that are certified.

    Attributes:
        limits: The limits to keep.
        error: The error rate allowed for the test of each limit.
        rejected: The number of rejected answers with a score.
        good: The number of good answers.
        groups: The number of groups of the rejected answers; None where there are no groups.
        curves: ``threshold``, and at each of them ``false_pass`` (the share of rejected answers
            that pass), ``bound`` (its upper bound), ``true_pass`` (the share of good answers that
            pass) and ``true_bound`` (its lower bound), each of shape (201,).
        is_strict: Which thresholds are certified to keep the limit on false passes, shape (201,).
        is_lenient: Which thresholds are certified to let enough good answers pass, shape (201,).
    """

    limits: Limits
    error: float
    rejected: int
    good: int
    groups: int | None
    curves: Mapping[str, FloatArray]
    is_strict: BoolArray
    is_lenient: BoolArray

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        method: str,
        scores: FloatArray,
        limits: Limits,
        error: float,
    ) -> Self:
        """Build the path of rated samples from some scores of a method.

        An answer that claims nothing passes at every threshold, as gates let it through. Any other
        rejected answer without a score is left out: it does not pass, which says nothing about
        answers with a score. A good answer without a score counts as not passing.
        """
        scores = np.where(table.closed(method), np.nan, scores)
        scores = np.where(table.silent(method), 1.0, scores)
        is_good = ~rejects(table, limits)
        is_rejected = ~is_good & np.isfinite(scores)
        most = limits.max_false_pass
        least = limits.min_true_pass
        false = certify(
            scores[is_rejected] + _SAME >= THRESHOLDS[:, None],
            most or _NO_LIMIT,
            error=error,
            groups=table.select(is_rejected).groups or None,
        )
        # From the most lenient threshold to the strictest.
        fails = certify(
            ~(scores[is_good] >= THRESHOLDS[::-1, None]),
            1.0 - (least or _NO_LIMIT),
            error=error,
            groups=table.select(is_good).groups or None,
        )
        return cls(
            limits=limits,
            error=error,
            rejected=false.n,
            good=fails.n,
            groups=false.groups,
            curves={
                "threshold": THRESHOLDS,
                "false_pass": false.shares,
                "bound": false.bounds,
                "true_pass": 1.0 - fails.shares[::-1],
                "true_bound": 1.0 - fails.bounds[::-1],
            },
            is_strict=_certified(false) | (most is None),
            is_lenient=_certified(fails)[::-1] | (least is None),
        )

    def joined(self, other: Self) -> Self:
        """Combine two paths: the worse shares, and the thresholds that are certified for both."""
        worse = {"false_pass": np.fmax, "bound": np.fmax}
        return replace(
            self,
            rejected=self.rejected + other.rejected,
            good=self.good + other.good,
            groups=None if self.groups is None else self.groups + (other.groups or 0),
            curves={
                name: worse.get(name, np.fmin)(curve, other.curves[name])
                for name, curve in self.curves.items()
            },
            is_strict=self.is_strict & other.is_strict,
            is_lenient=self.is_lenient & other.is_lenient,
        )

    @property
    def certified(self) -> BoolArray:
        """Which thresholds are certified to keep all limits, shape (201,)."""
        return self.is_strict & self.is_lenient

    @property
    def chosen(self) -> int | None:
        """The index in `THRESHOLDS` of the one to use; None where none is certified."""
        places = np.flatnonzero(self.certified).tolist()
        if not places:
            return None
        return int(places[0 if self.limits.max_false_pass is None else -1])

    @property
    def merit(self) -> tuple[bool, float]:
        """A sort key, higher is better: whether a threshold is certified, then its shares."""
        if self.chosen is None:
            return False, -float(self.curves["bound"][0])
        at_chosen = self.record()
        if self.limits.max_false_pass is None:
            return True, -at_chosen["false_pass"]
        return True, at_chosen["true_pass"]

    def record(self) -> Record:
        """Describe what passes at the chosen threshold, where there is one, and at threshold 1."""
        record: Record = {"rejected": self.rejected, "good": self.good}
        if self.chosen is not None:
            for name, curve in self.curves.items():
                record[name] = float(curve[self.chosen])
        record["at_threshold_1"] = float(self.curves["false_pass"][0])
        return record

    def table(self) -> Table:
        """Tabulate what passes at each threshold."""
        shown = {**self.curves, "certified": self.certified}
        del shown["true_bound"]
        return Table(
            "thresholds",
            named_columns(
                threshold="score",
                false_pass="score",
                bound="score",
                true_pass="score",
                certified="text",
            ),
            [
                dict(zip(shown, values, strict=True))
                for values in zip(
                    *(column.tolist() for column in shown.values()), strict=True
                )
            ],
            detail=True,
        )

    def why(self) -> str:
        """Say why no threshold is certified, as a clause."""
        most = self.limits.max_false_pass
        least = self.limits.min_true_pass
        if most is not None and not self.is_strict.any():
            return self._why_not_strict(most)
        if not self.is_lenient.any():
            return (
                f"even at threshold 0, {self.curves['true_pass'][-1]:.3f} of "
                f"{counted(self.good, 'good answer')} pass (lower bound "
                f"{self.curves['true_bound'][-1]:.3f})"
            )
        strict = THRESHOLDS[self.is_strict][-1]
        lenient = THRESHOLDS[self.is_lenient][0]
        return (
            f"at most {percent(most or 0.0)} false passes need a threshold of {strict:g} or more, "
            f"{percent(least or 0.0)} of the good answers one of {lenient:g} or less"
        )

    def _why_not_strict(self, most: float) -> str:
        """Say whether there are too few ratings, or the judge misses too much."""
        number = self.rejected
        units = "rated rejections"
        if self.groups is not None:
            number = self.groups
            units = "groups with a rated rejection"
        fewest = needed(most, self.error) or 0
        if fewest > number:
            return (
                f"the limit takes at least {fewest} {units}, got {number}; rate "
                f"{fewest - number} more, or raise the limit"
            )

        floor = float(self.curves["false_pass"][0])
        rejected = counted(self.rejected, "rejected answer")
        passing = f"{floor * self.rejected:.0f} of {rejected}"
        enough = ""
        if self.groups is not None:
            passing = f"{percent(round(floor, 3))} of {rejected} (mean over groups)"
        elif more := needed(most, self.error, floor):  # means need other tests
            enough = f"about {more} {units} would be enough at this share, or "
        return (
            f"{passing} have the score 1 and pass at every threshold; {enough}a second judge may "
            "catch them (tcva evaluate --fuse JUDGE)"
        )


def _certified(path: PathResult) -> BoolArray:
    """Mark the certified thresholds of a path, which run from its first one on."""
    count = 0 if path.place is None else path.place + 1
    return np.arange(len(THRESHOLDS)) < count


def rejects(table: ScoreTable, limits: Limits) -> BoolArray:
    """Mark the answers that people reject; the last digits of a mean rating do not count."""
    passing = passes_from(limits.human_threshold, limits.human_scale)
    return table.rating < passing - _SAME

"""Paths of thresholds: the shares that pass at each one, and the thresholds that are certified."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tcva_adapters.compare.scores.ratings import passes_by_rating, passes_from
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.results.guarantee import Limits, percent
from tcva_adapters.stats.checks import BoolArray, FloatArray
from tcva_adapters.stats.guarantee import PathResult, certify, needed
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.p_values import passes_more_p
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.threshold_steps import Steps
from tcva_adapters.tables import Record, Table, counted, named_columns

_ALPHA = 0.05

_NO_LIMIT = 0.5
"""Stands in for a limit that is not given; shares and bounds do not depend on it."""


@dataclass(frozen=True, slots=True)
class ThresholdPath:
    """The shares that pass at each step of the thresholds, and the steps that are certified.

    Attributes:
        limits: The limits to keep.
        error: The error rate allowed for the test of each limit.
        rejected: The number of rejected answers with a score.
        good: The number of good answers.
        groups: The number of groups of the rejected answers; None where there are no groups.
        p: That of the limit on false passes at threshold 1.
        curves: ``threshold`` (one of each step: the middle, or without a limit on false passes
            the highest), ``up_to`` (the highest), and there ``false_pass`` (the share of rejected
            answers that pass), ``bound`` (its upper bound), ``true_pass`` (the share of good
            answers that pass) and ``true_bound`` (its lower bound), each of shape (K,).
        is_strict: Which steps are certified to keep the limit on false passes, shape (K,).
        is_lenient: Which steps are certified to let enough good answers pass, shape (K,).
    """

    limits: Limits
    error: float
    rejected: int
    good: int
    groups: int | None
    p: float
    curves: Mapping[str, FloatArray]
    is_strict: BoolArray
    is_lenient: BoolArray

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        scores: FloatArray,
        steps: Steps,
        limits: Limits,
        error: float,
    ) -> Self:
        """Build the path of rated samples from their `gate_scores`.

        A rejected answer without a score is left out: it does not pass, which says nothing about
        answers with a score. A good answer without a score counts as not passing.
        """
        is_good = ~rejects(table, limits)
        is_rejected = ~is_good & np.isfinite(scores)
        most = limits.max_false_pass
        least = limits.min_true_pass
        # Where there is no limit, all answers may be of one group.
        largest = limits.largest_group
        false = certify(
            scores[is_rejected] >= steps.ends[:, None],
            most or _NO_LIMIT,
            error=error,
            groups=table.select(is_rejected).known_groups,
            largest_group=largest if most else largest and len(scores),
        )
        # From the most lenient threshold to the strictest.
        fails = certify(
            ~(scores[is_good] >= steps.ends[::-1, None]),
            1.0 - (least or _NO_LIMIT),
            error=error,
            groups=table.select(is_good).known_groups,
            largest_group=largest if least else largest and len(scores),
        )
        return cls(
            limits=limits,
            error=error,
            rejected=false.n,
            good=fails.n,
            groups=false.groups,
            p=false.p[0],
            curves={
                "threshold": steps.ends if most is None else steps.middles,
                "up_to": steps.ends,
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
        """Which steps are certified to keep all limits, shape (K,)."""
        return self.is_strict & self.is_lenient

    @property
    def chosen(self) -> int | None:
        """The index of the step to use; None where none is certified."""
        places = np.flatnonzero(self.certified).tolist()
        if not places:
            return None
        return places[0 if self.limits.max_false_pass is None else -1]

    @property
    def merit(self) -> tuple[bool, float]:
        """A sort key, higher is better: whether a threshold is certified, then its shares."""
        if self.chosen is None:
            return False, -self.curves["bound"][0]
        if self.limits.max_false_pass is None:
            return True, -self.curves["false_pass"][self.chosen]
        return True, self.curves["true_pass"][self.chosen]

    def record(self) -> Record:
        """Describe what passes at the chosen threshold, where there is one, and at threshold 1."""
        record: Record = {"rejected": self.rejected, "good": self.good}
        if self.chosen is not None:
            for name, curve in self.curves.items():
                record[name] = curve[self.chosen]
        record["at_threshold_1"] = self.curves["false_pass"][0]
        return record

    def table(self) -> Table:
        """Tabulate what passes at each step."""
        shown = {**self.curves, "certified": self.certified}
        del shown["true_bound"]
        return Table(
            "thresholds",
            named_columns(
                threshold="score",
                up_to="score",
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
        # A step begins just above the end of the next one.
        ends = self.curves["up_to"]
        strict = ends[self.is_strict.sum()]
        lenient = ends[self.is_lenient][0]
        return (
            f"at most {percent(most or 0.0)} false passes need a threshold above {strict:g}, "
            f"{percent(least or 0.0)} of the good answers one of {lenient:g} or less"
        )

    def _why_not_strict(self, most: float) -> str:
        """Say whether there are too few ratings, or the judge misses too much."""
        number = self.rejected
        units = "rated rejections"
        if self.groups is not None:
            number = self.groups
            units = "groups with a rated rejection"
        floor = self.curves["false_pass"][0]
        fewest = needed(most, self.error) or 0
        at_least = "at least"
        if self.limits.largest_group and not floor:
            # Where none passes, each group multiplies p by about as much.
            at_least = "about"
            fewest = math.ceil(number * math.log(self.error) / math.log(self.p))
        if fewest > number:
            return (
                f"the limit takes {at_least} {fewest} {units}, got {number}; rate "
                f"{fewest - number} more, or raise the limit"
            )

        rejected = counted(self.rejected, "rejected answer")
        passing = f"{floor * self.rejected:.0f} of {rejected}"
        if self.groups is not None and self.limits.largest_group is None:
            passing = f"{percent(round(floor, 3))} of {rejected} (mean over groups)"
        enough = ""
        if self.groups is None and (more := needed(most, self.error, floor)):
            enough = f"about {more} {units} would be enough at this share, or "
        return (
            f"{passing} have the score 1 and pass at every threshold; {enough}a second judge may "
            "catch them (tcva evaluate --fuse JUDGE)"
        )


def _certified(path: PathResult) -> BoolArray:
    """Mark the certified steps of a path, which run from its first one on."""
    last = -1 if path.place is None else path.place
    return np.arange(len(path.p)) <= last


def gate_scores(table: ScoreTable, method: str, scores: FloatArray) -> FloatArray:
    """Return scores as gates see them: 1 for answers that claim nothing, nan where none may pass."""
    passable = np.where(table.closed(method), np.nan, scores)
    return np.where(table.silent(method), 1.0, passable)


def rejects(table: ScoreTable, limits: Limits) -> BoolArray:
    """Mark the answers that people reject."""
    passes_at = passes_from(limits.human_threshold, limits.human_scale)
    return ~passes_by_rating(table.rating, passes_at)


def passing_record(
    table: ScoreTable,
    scores: FloatArray,
    threshold: float,
    limits: Limits,
    n_settings: int = 1,
    by: str | None = None,
) -> Record:
    """Describe the answers that pass a threshold, of the good ones and the rejected ones with a score.

    Args:
        table: The rated samples.
        scores: Their `gate_scores`, shape (N,).
        threshold: The lowest score that passes.
        limits: What tells good answers from rejected ones.
        n_settings: The number of settings that the gate was chosen from; p is corrected for it
            (Bonferroni).
        by: A field for each of whose values the gate has to tell good answers from rejected ones; values
            that differ in how many are good would pass them differently by that alone.

    Returns:
        Their number (``passing``), the share of good answers among them with its interval
        (``precision``), the one-sided ``p`` of "good answers pass no more often than rejected ones" (the
        largest of the values'), and whether it is significant (``recommended``).
    """
    is_good = ~rejects(table, limits)
    used = is_good | np.isfinite(scores)
    passes = scores >= threshold
    groups = table.known_groups
    precision = estimate("share", np.where(passes, is_good, np.nan), groups)
    places = np.arange(len(used))
    p = 0.0
    for part in table.rows_by(by).values() if by else [places]:
        of = used & np.isin(places, part)
        p = max(p, passes_more_p(passes[of], is_good[of], Units(groups, of)))
    p *= n_settings
    return {
        "passing": precision.n,
        **precision.record("precision"),
        "p": min(1.0, p),
        "recommended": p <= _ALPHA,
    }

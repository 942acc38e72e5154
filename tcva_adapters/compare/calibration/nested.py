"""Choosing inside folds: divisions of the samples, choices that did not see a rating, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from tcva_adapters.compare.calibration.objectives import Objective
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray, check_level, group_codes, whole
from tcva_adapters.stats.clusters import interval_shares, worth
from tcva_adapters.stats.enough import why_no_interval
from tcva_adapters.stats.planning import POWER, standard_error_of
from tcva_adapters.stats.resampling import resample
from tcva_adapters.stats.scipy_extra import scipy_module

# What is equal on paper may differ in the last bits.
_SAME: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better than what it is compared with, and between which bounds.

    Attributes:
        value: Above 0 is better, whatever the objective's direction.
        low: Lower end of the interval; nan where there is none.
        high: Upper end, likewise.
        level: Of the interval, e.g. 0.95.
        error: Standard error of the value, by its resamples; nan without an interval.
        reason: Why there is no interval; empty where there is one.
    """

    value: float
    low: float
    high: float
    level: float
    error: float = np.nan
    reason: str = ""

    @property
    def detectable(self) -> bool:
        """Whether the whole interval lies above 0."""
        return self.low > _SAME

    @property
    def smallest(self) -> float:
        """The true gain that is found in 80 % of such cases; nan without an interval."""
        return self._needed + self.error * float(scipy_module("special").ndtri(POWER))

    def power(self, gain: float) -> float:
        """In how many of such cases a true gain is found, in [0, 1]; nan without an interval."""
        return float(scipy_module("special").ndtr((gain - self._needed) / self.error))

    @property
    def _needed(self) -> float:
        """How large a gain has to come out to be detectable: half the interval."""
        return (self.high - self.low) / 2.0


class Resampling(NamedTuple):
    """How a choice is checked.

    Attributes:
        folds: Parts that the samples are divided into, at least 2.
        repeats: Divisions, at least 1.
        n_boot: Resamples behind each interval, at least 100.
        level: Of the intervals.
        seed: Of divisions and resamples.
    """

    folds: int
    repeats: int
    n_boot: int
    level: float
    seed: int


@dataclass(frozen=True)
class Division:
    """How the samples are divided and resampled in one calibration.

    Attributes:
        fold: Shape (repeats, N): the part in which a sample is held out.
        unit: Shape (N,): the sample's number, or that of its group. A unit is moved as one.
        drawn: How it was made.
    """

    fold: IntArray
    unit: IntArray
    drawn: Resampling

    @classmethod
    def of(cls, target: FloatArray, groups: Sequence[Any] | None, drawn: Resampling) -> Division:
        """Divide at random, each part with low and high ratings alike.

        Raises:
            InvalidValueError: A number is out of range, or there are fewer samples (or groups of
                them) than folds, or too few for an interval.
        """
        folds, repeats, n_boot, level, seed = drawn
        whole("folds", folds, least=2)
        whole("repeats", repeats, least=1)
        whole("n_boot", n_boot, least=100)
        whole("seed", seed, least=0)
        check_level(level)
        everything = np.ones(len(target), dtype=np.bool_)
        unit = np.arange(len(target)) if groups is None else group_codes(groups, everything)
        units = int(unit.max()) + 1
        clusters = units if units < len(target) else None
        if why := why_no_interval(len(target), codes=None if clusters is None else unit):
            msg = f"{why}, and a choice without one is none; rate more samples"
            raise InvalidValueError(msg)
        if units < folds:
            what = "rated samples" if groups is None else "groups of rated samples"
            msg = f"{units} {what} cannot fill {folds} folds; rate more, or ask for fewer folds"
            raise InvalidValueError(msg)
        rng = np.random.default_rng([seed, 1])  # a stream of its own, apart from the resamples'
        means = np.bincount(unit, weights=target) / np.bincount(unit)
        fold = np.stack([_deal(means, folds, rng)[unit] for _ in range(repeats)])
        return cls(fold, unit, drawn)

    @property
    def units(self) -> int:
        """Samples, or groups of them."""
        return int(self.unit.max()) + 1

    @property
    def held_out(self) -> IntArray:
        """Shape (repeats * folds, N): 1 where a sample is held out, 0 where it is trained on."""
        parts = self.fold[:, None, :] == np.arange(self.drawn.folds)[:, None]
        held: IntArray = parts.reshape(-1, len(self.unit)).astype(np.int64)
        return held

    def gain(
        self, objective: Objective, new: FloatArray, old: FloatArray, human: FloatArray
    ) -> Gain:
        """What columns ``new`` (N, R) gain over ``old`` (N, Q), each averaged, with its interval.

        A percentile bootstrap; both are scored on the same resamples, and choices made in folds
        stay. Resamples on which the objective is not defined are left out.

        The choices stay, but they vary with the samples, too: the training parts of two of K folds
        share (K-2)/(K-1) of their samples, so a setting that is lucky in one is lucky in the other.
        The variance is therefore taken 1 + (K-2)/(K-1) times as large. Simulated data on which all
        settings are equally good showed a gain in up to 10 % of the cases without that, and in
        about 5 % at most with it (``benchmarks/calibrate.py --null``).
        """
        ours, theirs = objective.statistic(new, human), objective.statistic(old, human)

        def averaged(counts: IntArray) -> FloatArray:
            gains: FloatArray = ours(counts).mean(axis=0) - theirs(counts).mean(axis=0)
            return objective.sign * gains

        value = float(averaged(np.ones((1, len(human)), dtype=np.int64))[0])
        blocks = resample(
            len(human), self.drawn.n_boot, seed=self.drawn.seed, groups=self.unit.tolist()
        )
        drawn = np.concatenate([averaged(counts) for counts in blocks])
        undefined = int(np.count_nonzero(~np.isfinite(drawn)))
        reason = why_no_interval(len(human), undefined=undefined, n_boot=len(drawn))
        drawn = drawn[np.isfinite(drawn)]
        if not reason and np.ptp(drawn) <= _SAME:
            reason = "both agree as well on all resamples: nothing varies"
        if reason:
            return Gain(value, np.nan, np.nan, self.drawn.level, reason=reason)
        shares = interval_shares(self.drawn.level, len(human), worth(self.unit))
        low, high = np.quantile(drawn, shares)
        wider = np.sqrt(1.0 + (self.drawn.folds - 2) / (self.drawn.folds - 1))
        level = self.drawn.level
        error = standard_error_of(low, high, level)
        low, high = value + wider * (low - value), value + wider * (high - value)
        return Gain(value, float(low), float(high), level, error)


def _deal(ratings: FloatArray, folds: int, rng: np.random.Generator) -> IntArray:
    """A part for each rating: neighbours in value are dealt to different parts, at random."""
    order = np.lexsort((rng.random(len(ratings)), ratings))
    rounds = -(-len(ratings) // folds)
    dealt = np.concatenate([rng.permutation(folds) for _ in range(rounds)])[: len(ratings)]
    part = np.empty(len(ratings), dtype=np.int64)
    part[order] = dealt
    return part


@dataclass(frozen=True)
class Choice:
    """A choice among candidates, on all samples and inside folds.

    Attributes:
        best: The candidate that does best on all samples.
        values: Shape (C,): each candidate on all samples.
        picks: Shape (repeats, folds): the candidate that does best outside each fold.
    """

    best: int
    values: FloatArray
    picks: IntArray

    @classmethod
    def of(
        cls, objective: Objective, views: FloatArray, human: FloatArray, division: Division
    ) -> Choice:
        """Choose among the columns of ``views`` (N, C); among equals the first one wins."""
        values = objective.values(views, human)
        trained = objective.values(views, human, 1 - division.held_out)
        return cls(
            best=int(_first_best(objective.sign * values[:, None])[0]),
            values=values,
            picks=_first_best(objective.sign * trained).reshape(
                division.drawn.repeats, division.drawn.folds
            ),
        )

    def unseen(self, views: FloatArray, division: Division) -> FloatArray:
        """Shape (N, repeats): each sample as the choice that did not see its rating views it."""
        picked = np.take_along_axis(self.picks, division.fold, axis=1)
        columns: FloatArray = np.take_along_axis(views, picked.T, axis=1)
        return columns


def _first_best(values: FloatArray) -> IntArray:
    """The first of the best in each column; 0 where a column has none that is defined."""
    defined = np.where(np.isnan(values), -np.inf, values)
    chosen: IntArray = np.argmax(defined >= defined.max(axis=0) - _SAME, axis=0)
    return chosen


def inside_folds(
    objective: Objective, columns: FloatArray, human: FloatArray, division: Division
) -> float:
    """The objective measured inside each held-out part, averaged over those where it is defined.

    Args:
        objective: What is measured.
        columns: Shape (N, repeats), one per division, or (N, 1) for all of them.
        human: Shape (N,).
        division: Where the parts come from.
    """
    values = objective.values(columns, human, division.held_out)
    values = values.reshape(len(values), division.drawn.repeats, division.drawn.folds)
    if len(values) > 1:
        values = values[np.arange(division.drawn.repeats), np.arange(division.drawn.repeats)]
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")

"""Choose the setting that agrees best with human ratings, and measure the gain on unseen samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from tcva_adapters.compare.calibration.recommendation import (
    CHANGES,
    CONSTANT,
    WIDER,
    Choice,
    Recommendation,
)
from tcva_adapters.compare.calibration.settings_grid import with_thresholds
from tcva_adapters.compare.scores.ratings import (
    check_on_scale,
    passes_by_rating,
)
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import setting_text
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.bootstrap import (
    ResampledStatistic,
    draw_resamples,
    spearman_of,
)
from tcva_adapters.stats.checks import SAME, FloatArray, IntArray
from tcva_adapters.stats.correlation_difference import difference_of_resamples
from tcva_adapters.stats.describe import mean, seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.inference import MIN_SAMPLES, MIN_SAMPLES_OF_RANKS
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.scipy_extra import scipy_module

Objective = Literal["spearman", "mae", "kappa", "cost"]

FOLDS = 5
REPEATS = 50
"""The number of divisions into folds; the agreement of their choices is averaged."""

_BLOCK_CELLS = 2**16


@dataclass(frozen=True, slots=True)
class Search:
    """A way to choose a setting and to check the choice; see `calibrate`."""

    objective: Objective
    human_threshold: float
    cost_false_pass: float
    resamples: int
    level: float
    seed: int

    @property
    def sign(self) -> int:
        """1 where a higher objective is better, -1 where a lower one is."""
        return -1 if self.objective in {"mae", "cost"} else 1

    @property
    def least(self) -> int:
        """The fewest ratings that the interval of a gain needs."""
        return MIN_SAMPLES_OF_RANKS if self.objective == "spearman" else MIN_SAMPLES

    @property
    def is_of_decisions(self) -> bool:
        """Whether the objective depends on the threshold."""
        return self.objective in {"kappa", "cost"}

    def choose(
        self,
        table: ScoreTable,
        settings: Sequence[ScoringConfig],
        *,
        thresholds: bool,
    ) -> Recommendation:
        """Choose among settings, the first of which is in use, on samples that are all rated.

        Args:
            table: The samples.
            settings: Settings at the threshold in use, the nearest to the first one first.
            thresholds: Also choose a threshold, and setting and threshold together.

        Raises:
            InvalidValueError: Too few ratings, ratings that are all alike or lie outside the scale,
                or an objective that is not defined for the setting in use.
        """
        n = len(table)
        units = Units(table.known_groups, np.ones(n, dtype=np.bool_))
        if why := units.why_no_interval(MIN_SAMPLES):
            raise InvalidValueError(
                f"there are too few rated samples to choose by: {why}"
            )

        target = self._target(table.rating)
        folds = _folds(target, units, self.seed)
        first = settings[:1]
        ways = {"in use": first, "T": settings}
        if thresholds:
            ways = {
                "in use": first,
                "threshold": with_thresholds(first, table),
                "T": settings,
                "both": with_thresholds(settings, table),
            }
            if self.objective == "cost":
                ways |= dict.fromkeys(CONSTANT, first)
        everything = np.ones((1, n), dtype=np.int64)
        trained = folds[:, None] != np.arange(FOLDS)[:, None]
        # Block by block, to save memory.
        step = max(1, _BLOCK_CELLS // n)
        parts = np.split(
            trained.reshape(-1, n).astype(np.int64),
            range(step, REPEATS * FOLDS, step),
        )
        choices: list[Choice] = []
        for name, candidates in ways.items():
            scores = np.column_stack([table.at(setting) for setting in candidates])
            views = self._on_one_scale(scores, candidates)
            if name in CONSTANT:
                views = np.full_like(views, CONSTANT[name])
            values = self._values(views, target, [everything, *parts])
            if not np.isfinite(values[0, 0]):
                raise InvalidValueError(
                    f"{self.objective} is not defined at {setting_text(settings[0])}, where all {n} "
                    "samples have the same score; judge samples of more varied quality"
                )

            best, *picks = _first_best(values)
            chosen = np.take_along_axis(
                np.reshape(picks, (REPEATS, FOLDS)), folds, axis=1
            )
            unseen = np.take_along_axis(views, chosen.T, axis=1)
            # The choices of the folds are not made again.
            blocks = draw_resamples(
                n, self.resamples, seed=self.seed, codes=units.codes
            )
            agreement = self._values(unseen, target, chain([everything], blocks)).mean(
                axis=0
            )
            in_use = choices[0].agreement if choices else agreement
            choices.append(
                Choice(
                    name=name,
                    setting=candidates[best],
                    tried=len(candidates),
                    on_same=self.sign * values[best, 0],
                    on_unseen=self.sign * agreement[0],
                    agreement=agreement,
                    gain=self._gain(agreement, in_use, target, units),
                    share=picks.count(best) / len(picks),
                    errors={
                        "false_pass": mean(unseen[target == 0.0]),
                        "missed": 1.0 - mean(unseen[target == 1.0]),
                    }
                    if thresholds
                    else {},
                )
            )
        return self._recommend(table, settings, choices, target, units)

    def _recommend(
        self,
        table: ScoreTable,
        settings: Sequence[ScoringConfig],
        choices: Sequence[Choice],
        target: FloatArray,
        units: Units,
    ) -> Recommendation:
        """Recommend the simplest choice that the best one does not beat, the one in use first.

        Where decisions without a score are not beaten, it stays at the one in use.
        """

        def unbeaten(choice: Choice, rivals: Iterable[Choice]) -> list[Choice]:
            return [
                rival
                for rival in rivals
                if not self._gain(choice.agreement, rival.agreement, target, units).low
                > SAME
            ]

        rivals = [choice for choice in choices if choice.name not in CHANGES]
        others = [choice for choice in choices if choice.name in CHANGES]
        leading = max(others, key=lambda choice: choice.gain.value)
        above = unbeaten(leading, rivals)
        # What leads is among the others that it does not beat.
        recommended = (
            choices[0]
            if above
            else next(
                choice
                for choice in unbeaten(leading, others)
                if not unbeaten(choice, rivals)
            )
        )
        return Recommendation(
            table=table,
            objective=self.objective,
            settings=settings,
            choices=choices,
            leading=leading,
            chosen=recommended,
            advantage=self._gain(
                leading.agreement, recommended.agreement, target, units
            ),
            unbeaten=above,
        )

    def _target(self, human: FloatArray) -> FloatArray:
        """Return the ratings, or 1 and 0 for pass and fail, to compare scores with."""
        if self.objective != "spearman":
            check_on_scale(human)
        target = human
        outcome = f"are {human[0]:g}"
        if self.is_of_decisions:
            target = passes_by_rating(human, self.human_threshold).astype(np.float64)
            outcome = f"{'pass' if target[0] else 'fail'} (human_threshold)"
        if target.min() == target.max():
            raise InvalidValueError(
                f"all {len(human)} human ratings {outcome}; rate samples of more varied quality"
            )
        return target

    def _on_one_scale(
        self, scores: FloatArray, settings: Sequence[ScoringConfig]
    ) -> FloatArray:
        """Bring scores (N, C) to one scale for all settings, as the objective needs it.

        Folds are combined, but scores at T=0.1 and T=1 lie on different scales. For rank
        correlation, scores therefore become ranks among all samples, which use no rating.
        """
        if self.objective == "spearman":
            ranks: FloatArray = scipy_module("stats").rankdata(seen(scores), axis=0)
            return ranks
        if self.objective == "mae":
            return scores
        thresholds = np.array([setting.threshold for setting in settings])
        return (scores >= thresholds).astype(np.float64)

    def _statistic(self, views: FloatArray, target: FloatArray) -> ResampledStatistic:
        """Make the function from sample counts (B, N) to values (C, B), nan where undefined."""
        if self.objective == "spearman":
            return spearman_of(list(views.T), target)
        gaps = np.abs(views.T - target)
        if self.objective == "cost":
            gaps *= np.where(target == 1.0, 1.0, self.cost_false_pass)

        def values(counts: IntArray) -> Any:
            total = counts.sum(axis=1)
            differing = gaps @ counts.T
            if self.objective != "kappa":
                return differing / total
            passing = views.T @ counts.T
            good = target @ counts.T
            by_chance = (passing + good) * total - 2.0 * passing * good
            with np.errstate(invalid="ignore"):  # 0 / 0 where all decisions are alike
                return 1.0 - differing * total / by_chance

        return values

    def _values(
        self, views: FloatArray, target: FloatArray, blocks: Iterable[IntArray]
    ) -> FloatArray:
        """Compute the objective, higher is better, for blocks of sample counts; shape (C, B)."""
        statistic = self._statistic(views, target)
        values = np.concatenate([statistic(block) for block in blocks], axis=1)
        return self.sign * values

    def _gain(
        self, new: FloatArray, old: FloatArray, target: FloatArray, units: Units
    ) -> Estimate:
        """Estimate the gain of one `Choice.agreement` over another one, both on the same resamples.

        Resamples where the measure is undefined are left out.
        """
        gains = new - old
        value = gains[0]
        why = units.why_no_interval(self.least, target)
        gain = units.figure(value, self.level, why)
        if why:
            return gain
        gain = difference_of_resamples(gain, gains[1:], units)
        low = value + WIDER * (gain.low - value)
        high = value + WIDER * (gain.high - value)
        return replace(gain, low=low, high=high)


def _folds(target: FloatArray, units: Units, seed: int) -> IntArray:
    """Draw each sample's fold in each division, shape (REPEATS, N), with ratings spread evenly."""
    codes = np.arange(units.n) if units.codes is None else units.codes
    # The folds have a random stream of their own, apart from the resamples.
    rng = np.random.default_rng([seed, 1])
    means = np.bincount(codes, weights=target) / np.bincount(codes)
    divisions = np.empty((REPEATS, len(means)), dtype=np.int64)
    for division in divisions:
        # Neighbours in value are dealt to different folds.
        order = np.lexsort((rng.random(len(means)), means))
        dealt = [rng.permutation(FOLDS) for _ in range(0, len(means), FOLDS)]
        division[order] = np.concatenate(dealt)[: len(means)]
    return divisions[:, codes]


def _first_best(values: FloatArray) -> IntArray:
    """Return the index of the first best value in each column; 0 where no value is defined."""
    defined = np.nan_to_num(values, nan=-np.inf)
    chosen: IntArray = np.argmax(defined >= defined.max(axis=0) - SAME, axis=0)
    return chosen

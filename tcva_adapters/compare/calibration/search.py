"""The choice of a setting: made on a part of the samples, looked at on the rest.

A grid of settings always has a best one on the samples at hand, most often by luck. So its gain
over the setting in use is measured on samples that the choice did not see, with an interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.candidates import Grid, describe, score_matrix
from tcva_adapters.compare.calibration.nested import Choice, Division, Resampling, inside_folds
from tcva_adapters.compare.calibration.objectives import Objective, ObjectiveName, mid_ranks
from tcva_adapters.compare.calibration.rated import Rated
from tcva_adapters.compare.calibration.report import FEW_RATINGS, Calibration
from tcva_adapters.compare.grouping import group_note
from tcva_adapters.compare.views.crosstab import Crosstab
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import FloatArray

_BASELINE: Final = 0  # a grid puts it first


@dataclass(frozen=True)
class Search:
    """What is chosen from, and how the choice is checked.

    The samples are divided into folds. For each one, the setting that does best on the others
    scores it. So every sample gets a score from a choice that did not see its rating. This is
    repeated for several divisions, and the agreement of these scores is averaged.

    Scores chosen in different folds lie on different scales: 0.3 is high at T=0.1 and low at T=1.
    For rank correlations, each setting's scores are therefore replaced by their ranks among all
    samples before they are put together. Ranks use no rating, so nothing leaks. (Correlations inside
    each fold need no such step, but are noisy with few samples; ``by_fold`` gives their mean.)

    The interval of the gain is a percentile bootstrap over samples, or over groups of them, with
    the baseline scored on the same draws. It is widened for the fact that the choices vary with the
    samples as well (see `Division.gain`), so that where all settings are equally good, one is
    recommended in at most about 5 % of the cases.

    Attributes:
        objective: See `Objective`.
        grid: The settings.
        resampling: The folds, and the resamples behind the interval.
        human_scale: The lowest and the highest rating that could be given.
        human_threshold: A rating passes from here on; None is the middle of the scale.
        baseline: The setting that the choice has to beat. It is always among those to choose from,
            and the one closest to it wins among equals.
    """

    objective: ObjectiveName
    grid: Grid
    resampling: Resampling
    human_scale: tuple[float, float]
    human_threshold: float | None
    baseline: ScoringConfig

    def on(
        self, counts: npt.ArrayLike, human: npt.ArrayLike, groups: Sequence[Any] | None
    ) -> Calibration:
        """Choose on these samples.

        Args:
            counts: Shape (N, 5), or (N, J, 5) with J judges whose scores are fused.
            human: Shape (N,); nan where there is no rating.
            groups: Shape (N,), or None; samples of one group stay together.

        Raises:
            InvalidValueError: As for `calibrate`.
        """
        measured = Objective(self.objective)
        if self.grid.thresholds is not None and measured.kind != "pass_fail":
            msg = f"{self.objective} knows no threshold; choose one with the objective f1 or kappa"
            raise InvalidValueError(msg)
        if self.human_threshold is not None and measured.kind != "pass_fail":
            msg = (
                f"human_threshold or --human-threshold {self.human_threshold:g}: {self.objective} "
                "knows no passing; leave it out, or choose the objective f1 or kappa"
            )
            raise InvalidValueError(msg)
        samples = Rated.of(counts, human, groups)
        if measured.kind == "scale":
            samples.check_scale(self.human_scale)
        target = samples.target(measured, self.human_scale, self.human_threshold)
        division = Division.of(target, samples.groups, self.resampling)
        settings = self.grid.candidates(self.baseline)
        scores = score_matrix(samples.counts, settings)
        views = self._views(measured, scores, settings)
        choice = Choice.of(measured, views, target, division)
        before = views[:, [_BASELINE]]
        if not np.isfinite(choice.values[_BASELINE]):
            msg = (
                f"{self.objective} with the human ratings is not defined at "
                f"{describe(self.baseline)}: all {len(target)} samples score alike; judge samples "
                "of more varied quality"
            )
            raise InvalidValueError(msg)
        unseen = choice.unseen(views, division)
        gain = division.gain(measured, unseen, before, target)
        shares = Counter(choice.picks.ravel().tolist()).most_common()
        return Calibration(
            objective=measured.name,
            n=len(target),
            unscored=samples.unscored,
            unrated=samples.unrated,
            baseline=self.baseline,
            candidates=len(settings),
            chosen=settings[choice.best],
            in_sample=float(choice.values[choice.best]),
            out_of_fold=float(measured.values(unseen, target).mean()),
            before=float(choice.values[_BASELINE]),
            by_fold=inside_folds(measured, unseen, target, division),
            before_by_fold=inside_folds(measured, before, target, division),
            gain=gain,
            picks=tuple((settings[j], number / choice.picks.size) for j, number in shares),
            resampling=self.resampling,
            notes=_notes(len(target), division, groups),
            decisions=tuple(
                Crosstab.of(views[:, place] > 0.0, target > 0.0)
                for place in (_BASELINE, choice.best)
            )
            if measured.kind == "pass_fail"
            else (),
        )

    def _views(
        self, objective: Objective, scores: FloatArray, settings: Sequence[ScoringConfig]
    ) -> FloatArray:
        """Scores as the objective sees them, on one scale for all settings."""
        if objective.kind == "rank":
            return mid_ranks(scores)
        if objective.kind == "scale":
            low, high = self.human_scale
            return low + (high - low) * scores
        return (scores >= np.array([s.threshold for s in settings])).astype(np.float64)


def _notes(n: int, division: Division, groups: Sequence[Any] | None) -> tuple[str, ...]:
    notes = []
    if n < FEW_RATINGS:
        notes.append(
            f"{n} ratings are few: below {FEW_RATINGS}, choices and intervals mean little; rate more"
        )
    if groups is not None:
        notes.append(f"{group_note(division.unit.tolist())}: folds keep them together")
    return tuple(notes)

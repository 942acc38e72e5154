"""Which setting of the dial agrees best with people, and whether that can be told at all.

A grid of settings always has a best one on the samples at hand, most often by luck. So the choice
is made on a part of the samples and looked at on the rest, and its gain over the default comes with
an interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.candidates import (
    DEFAULT,
    as_settings,
    candidates,
    describe,
    score_matrix,
    temperature_grid,
)
from tcva_adapters.compare.calibration.isotonic import Mapped, map_scores
from tcva_adapters.compare.calibration.labelled import Labelled
from tcva_adapters.compare.calibration.nested import Choice, Division, Gain, inside_folds
from tcva_adapters.compare.calibration.objectives import Objective, ObjectiveName, mid_ranks
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.core.aggregation import Floor, SchemeLike
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.scoring import Scoring
from tcva_adapters.stats.checks import FloatArray

FEW_LABELS: Final = 30

_BASELINE: Final = 0  # `candidates` puts it first


@dataclass(frozen=True)
class Calibration:
    """What a calibration found.

    Attributes:
        objective: Its name.
        n: Samples with a score and a label; all figures are about these.
        unscored: Samples left out because they have no score.
        unlabelled: Samples left out because nobody labelled them.
        baseline: The setting that a choice has to beat.
        candidates: Settings to choose from.
        chosen: The best of them on all samples.
        in_sample: Its agreement on the very samples it was chosen on: too good.
        out_of_fold: Agreement on samples that the choice did not see, averaged over repeats.
        before: Agreement of the baseline.
        by_fold: The same as ``out_of_fold``, but measured inside each fold and averaged; nan where
            folds are too small to measure in.
        before_by_fold: The baseline, measured like that.
        gain: ``out_of_fold`` against ``before``.
        picks: Each setting that was chosen in a training fold, with its share of the folds, most
            frequent first.
        mapping: Where one was asked for.
        folds: Parts that the samples were divided into.
        repeats: Divisions.
        n_boot: Resamples behind each interval.
        seed: Of divisions and resamples.
        notes: What to keep in mind, in sentences.
    """

    objective: ObjectiveName
    n: int
    unscored: int
    unlabelled: int
    baseline: Scoring
    candidates: int
    chosen: Scoring
    in_sample: float
    out_of_fold: float
    before: float
    by_fold: float
    before_by_fold: float
    gain: Gain
    picks: tuple[tuple[Scoring, float], ...]
    mapping: Mapped | None
    folds: int
    repeats: int
    n_boot: int
    seed: int
    notes: tuple[str, ...]

    @property
    def detectable(self) -> bool:
        """Whether choosing is better than the baseline beyond what chance explains."""
        return self.gain.detectable and self.chosen != self.baseline

    @property
    def recommended(self) -> Scoring:
        """The chosen setting where its gain is detectable, otherwise the baseline."""
        return self.chosen if self.detectable else self.baseline

    @property
    def recommendation(self) -> str:
        """What to do, in one sentence."""
        if self.detectable:
            return f"use {describe(self.chosen)}"
        kept = "0.5" if self.baseline == DEFAULT else describe(self.baseline)
        keep = f"keep {kept}"
        if self.gain.high < -1e-12:  # more than a last bit
            return f"choosing does worse on samples that it has not seen: {keep}"
        return f"no detectable difference: {keep}"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values; a figure that is not defined is None."""
        mapped = self.mapping
        figures: dict[str, Any] = jsonable(
            {
                "objective": self.objective,
                "n": self.n,
                "unscored": self.unscored,
                "unlabelled": self.unlabelled,
                "recommendation": self.recommendation,
                "detectable": self.detectable,
                "recommended": as_settings(self.recommended),
                "baseline": as_settings(self.baseline),
                "candidates": self.candidates,
                "chosen": as_settings(self.chosen),
                "in_sample": self.in_sample,
                "out_of_fold": self.out_of_fold,
                "before": self.before,
                "by_fold": self.by_fold,
                "before_by_fold": self.before_by_fold,
                "gain": self.gain,
                "picks": [{**as_settings(s), "share": share} for s, share in self.picks],
                "mapping": mapped and {**jsonable(mapped), "detectable": mapped.gain.detectable},
                "folds": self.folds,
                "repeats": self.repeats,
                "n_boot": self.n_boot,
                "seed": self.seed,
                "notes": self.notes,
            }
        )
        return figures


def calibrate(
    counts: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    objective: ObjectiveName = "spearman",
    temperatures: Iterable[float | str] | None = None,
    schemes: Sequence[SchemeLike] = ("default",),
    penalties: Sequence[Penalty] = ("paper",),
    floors: Sequence[Floor] = ("paper",),
    eps: Sequence[float] = (DEFAULT.eps,),
    thresholds: Sequence[float] | None = None,
    human_scale: tuple[float, float] = (0.0, 1.0),
    human_threshold: float | None = None,
    baseline: Scoring = DEFAULT,
    mapping: bool = False,
    folds: int = 5,
    repeats: int = 50,
    n_boot: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    groups: Sequence[Any] | None = None,
) -> Calibration:
    """Choose the setting that agrees best with people, and say whether the choice is worth it.

    The samples are divided into ``folds`` parts. For each part, the setting that does best on the
    other parts scores it. So every sample gets a score from a choice that did not see its label.
    This is done for ``repeats`` divisions, and the agreement of these scores is averaged.

    Scores chosen in different parts lie on different scales: 0.3 is high at T=0.1 and low at T=1.
    For rank correlations, each setting's scores are therefore replaced by their ranks among all
    samples before they are put together. Ranks use no label, so nothing leaks. (Correlations inside
    each fold need no such step, but are noisy with few samples; ``by_fold`` gives their mean.)

    The interval of the gain is a percentile bootstrap over samples, or over groups of them, with
    the baseline scored on the same draws. It is widened for the fact that the choices vary with the
    samples as well (see `Division.gain`), so that where all settings are equally good, one is
    recommended in at most about 5 % of the cases.

    Args:
        counts: Shape (N, 5): claims per level, fully first. A row of zeros is an unscored sample.
            Or (N, J, 5), where the scores of J judges are fused, the main one first, by the
            baseline's ``fusion``: see `tcva_adapters.results.result.judged_counts`.
        human: Shape (N,): what people said; nan where nobody did.
        objective: ``spearman``, ``kendall``, ``mae``, ``f1`` or ``kappa`` (the last two compare
            pass and fail).
        temperatures: To choose from; by default 0.1, 0.15 and so on to 1.0.
        schemes: Weight schemes to choose from.
        penalties: Penalty dialects to choose from.
        floors: Floors to choose from.
        eps: Least weights to choose from.
        thresholds: A score passes from here on; to choose from, for ``f1`` and ``kappa`` only. By
            default the baseline's alone.
        human_scale: The lowest and the highest label that people could give. For ``mae`` and the
            mapping; scores are stretched to it.
        human_threshold: A label passes from here on; by default the middle of ``human_scale``.
        baseline: The setting that the choice has to beat, T=0.5 with all defaults if not given. It
            is always among those to choose from, and the one closest to it wins among equals.
        mapping: Fit an isotonic mapping from the score to the human scale, too.
        folds: At least 2.
        repeats: At least 1.
        n_boot: Resamples, at least 100.
        level: Of the intervals.
        seed: The same seed gives the same figures.
        groups: Shape (N,): samples of one group (one document, one question) stay in one fold, and
            are drawn together.

    Raises:
        InvalidValueError: Shapes that do not fit; fewer samples or groups than folds; labels or
            scores that are all the same; labels outside ``human_scale`` where that matters.
        MissingDependencyError: ``mapping`` without scipy.

    >>> counts = [[4, 0, 0, 0, 0], [3, 0, 1, 0, 0], [2, 0, 0, 1, 1], [0, 0, 0, 1, 3]] * 5
    >>> found = calibrate(counts, [1.0, 0.8, 0.3, 0.0] * 5)
    >>> found.recommendation, found.before
    ('no detectable difference: keep 0.5', 1.0)
    """
    measured = Objective(objective)
    if thresholds is not None and measured.kind != "pass_fail":
        msg = f"{objective} knows no threshold; choose one with the objective f1 or kappa"
        raise InvalidValueError(msg)
    samples = Labelled.of(counts, human, groups)
    if measured.kind == "scale" or mapping:
        samples.check_scale(human_scale)
    target = samples.target(measured, human_scale, human_threshold)
    division = Division.of(
        target,
        samples.groups,
        folds=folds,
        repeats=repeats,
        n_boot=n_boot,
        level=level,
        seed=seed,
    )
    settings = candidates(
        temperature_grid() if temperatures is None else temperatures,
        schemes=schemes,
        penalties=penalties,
        floors=floors,
        eps=eps,
        thresholds=(baseline.threshold,) if thresholds is None else thresholds,
        baseline=baseline,
    )
    scores = score_matrix(samples.counts, settings)
    views = _views(measured, scores, settings, human_scale)
    choice = Choice.of(measured, views, target, division)
    before = views[:, [_BASELINE]]
    if not np.isfinite(choice.values[_BASELINE]):
        msg = (
            f"{objective} with people is not defined at {describe(baseline)}: all {len(target)} "
            "samples score alike; judge samples of more varied quality"
        )
        raise InvalidValueError(msg)
    unseen = choice.unseen(views, division)
    shares = Counter(choice.picks.ravel().tolist()).most_common()
    gain = division.gain(measured, unseen, before, target)
    mapped = None
    if mapping:
        # Where no gain is detectable, the baseline's scores are what will be mapped.
        best = choice.best if gain.detectable else _BASELINE
        picks = choice.picks.ravel() if best else np.full(choice.picks.size, _BASELINE)
        mapped = map_scores(scores[:, picks], scores[:, best], samples.human, division, human_scale)
    return Calibration(
        objective=measured.name,
        n=len(target),
        unscored=samples.unscored,
        unlabelled=samples.unlabelled,
        baseline=baseline,
        candidates=len(settings),
        chosen=settings[choice.best],
        in_sample=float(choice.values[choice.best]),
        out_of_fold=float(measured.values(unseen, target).mean()),
        before=float(choice.values[_BASELINE]),
        by_fold=inside_folds(measured, unseen, target, division),
        before_by_fold=inside_folds(measured, before, target, division),
        gain=gain,
        picks=tuple((settings[j], number / choice.picks.size) for j, number in shares),
        mapping=mapped,
        folds=folds,
        repeats=repeats,
        n_boot=n_boot,
        seed=seed,
        notes=_notes(len(target), division, groups),
    )


def _views(
    objective: Objective,
    scores: FloatArray,
    settings: Sequence[Scoring],
    human_scale: tuple[float, float],
) -> FloatArray:
    """Scores as the objective sees them, on one scale for all settings."""
    if objective.kind == "rank":
        return mid_ranks(scores)
    if objective.kind == "scale":
        low, high = human_scale
        return low + (high - low) * scores
    return (scores >= np.array([s.threshold for s in settings])).astype(np.float64)


def _notes(n: int, division: Division, groups: Sequence[Any] | None) -> tuple[str, ...]:
    notes = []
    if n < FEW_LABELS:
        notes.append(
            f"{n} labels are few: below {FEW_LABELS}, choices and intervals mean little; label more"
        )
    if groups is not None and division.units < FEW_LABELS:
        notes.append(f"{division.units} groups are few: the intervals may be too narrow")
    return tuple(notes)

"""Where a score may lie by the probabilities of its verdicts."""

from __future__ import annotations

import numpy as np

from tcva_adapters.core.uncertainty import DRAWS, central_interval, count_distribution
from tcva_adapters.core.verdicts import FloatArray, WeightScheme
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.settings import ScoringConfig


def score_interval(assessment: Assessment, scoring: ScoringConfig) -> tuple[float, float] | None:
    """The central interval that has at least 95 % of the scores which its verdicts may give.

    Claims, and the judges of a fused score, are drawn independently.

    Returns:
        None without a score, and where no verdict has probabilities that are chances: the lexical
        judge's place a claim between two levels, and asked again it says the same.
    """
    judges = (assessment, *assessment.members)
    chances = [_level_chances(judged) for judged in judges]
    if assessment.unscored is not None or all(each is None for each in chances):
        return None

    if len(judges) == 1 and chances[0] is not None:
        counts, likely = count_distribution(chances[0])
        return central_interval(scoring.scores(counts), likely)
    rng, drawn = np.random.default_rng(0), []
    for judged, each in zip(judges, chances, strict=True):
        counts, likely = (
            (judged.counts[None], np.ones(1)) if each is None else count_distribution(each)
        )
        drawn.append(
            scoring.scores(counts)[rng.choice(len(counts), DRAWS, p=likely / likely.sum())]
        )
    return central_interval(scoring.joined(drawn), np.full(DRAWS, 1.0 / DRAWS))


def interval_text(interval: tuple[float, float]) -> str:
    """The same in a few words."""
    return "95% interval {:.3f} to {:.3f}".format(*interval)


def _level_chances(assessment: Assessment) -> FloatArray | None:
    """How likely each level is, shape (claims with a verdict, 5); None where nothing says it.

    A judge that can answer yes or no alone gives ``fully`` or ``none``: its shares lie between two
    levels, whose expected weight is the probability of a yes.
    """
    if assessment.unscored is not None or assessment.is_lexical or not assessment.is_soft:
        return None
    chances = np.array([claim.shares for claim in assessment.claims if claim.verdict is not None])
    if _is_yes_no(assessment):
        yes = np.clip(chances @ WeightScheme.DEFAULT.as_array(), 0.0, 1.0)
        chances = np.zeros_like(chances)
        chances[:, 0], chances[:, -1] = yes, 1.0 - yes
    return chances


def _is_yes_no(assessment: Assessment) -> bool:
    judged = [each for each in assessment.panel if each.unscored is None]
    return all(map(_is_yes_no, judged)) if judged else assessment.form.startswith("yes_no")

"""What the probabilities of its verdicts say of a score: where it may lie, and who is unsure."""

from __future__ import annotations

from typing import Final

import numpy as np

from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.uncertainty import (
    ScoreDistribution,
    Uncertainty,
    joined_distribution,
    score_distribution,
)
from tcva_adapters.core.verdicts import LEVELS, FloatArray, WeightScheme
from tcva_adapters.printing import share
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.scoring import Scoring

UNSURE: Final = 0.25
"""The judge is unsure of a claim where other levels than the given one have more than this share."""


def level_chances(assessment: Assessment) -> FloatArray | None:
    """How likely each level is, claim by claim.

    Returns:
        Shape (claims with a verdict, 5), fully first; a verdict without probabilities is certain,
        and a judge that could answer yes or no alone gives ``fully`` or ``none``, by the probability
        of a yes as its points read it. None where no
        claim has probabilities, and where these are no chances: the lexical judge's place a claim
        between two levels, and asked again it says the same.
    """
    scored = [claim for claim in assessment.claims if claim.verdict is not None]
    if (
        assessment.unscored is not None
        or is_lexical(assessment.judge)
        or not any(claim.probabilities for claim in scored)
    ):
        return None
    certain = np.eye(len(LEVELS))
    rows = [c.probabilities or certain[LEVELS.index(c.verdict)] for c in scored if c.verdict]
    chances = np.array(rows, dtype=np.float64)
    if _is_yes_no(assessment):
        # Their shares lie between two levels, whose expected weight is the probability of a yes.
        yes = np.clip(chances @ WeightScheme.DEFAULT.as_array(), 0.0, 1.0)
        chances = np.outer(yes, certain[0]) + np.outer(1.0 - yes, certain[-1])
    return chances


def unsure_claims(assessment: Assessment) -> tuple[ClaimVerdict, ...]:
    """The claims of which the judge is unsure, see `UNSURE`; none where there are no chances."""
    chances = level_chances(assessment)
    if chances is None:
        return ()
    scored = [claim for claim in assessment.claims if claim.verdict is not None]
    given = [LEVELS.index(claim.verdict or "") for claim in scored]
    if _is_yes_no(assessment):
        given = chances.argmax(axis=1).tolist()  # the answer; the level says how far it goes
    return tuple(
        claim
        for claim, shares, level in zip(scored, chances, given, strict=True)
        if 1.0 - shares[level] > UNSURE
    )


def distribution_of(assessment: Assessment, scoring: Scoring) -> ScoreDistribution | None:
    """The distribution of a score over what its verdicts may be.

    Claims, and the judges of a fused score, are drawn independently; judges without chances have
    the one score that they have.

    Returns:
        None without a score, and where no judge has chances.
    """
    judges = (assessment, *assessment.members)
    chances = [level_chances(judged) for judged in judges]
    if assessment.unscored is not None or all(each is None for each in chances):
        return None

    def scores_of(counts: FloatArray) -> FloatArray:
        return sweep(counts, [scoring.temperature], **scoring.options)[:, 0]

    parts = [
        ScoreDistribution(scores_of(judged.counts[None, :]), np.ones(1))
        if each is None
        else score_distribution(each, scores_of)
        for judged, each in zip(judges, chances, strict=True)
    ]
    return parts[0] if len(parts) == 1 else joined_distribution(parts, scoring.fusion.joined)


def _is_yes_no(assessment: Assessment) -> bool:
    """Whether all that was answered is yes or no; a judge that is not asked has no form."""
    judged = [each for each in assessment.panel if each.unscored is None]
    return all(map(_is_yes_no, judged)) if judged else assessment.form.startswith("yes_no")


def uncertainty_text(found: Uncertainty) -> str:
    """The chance to pass and the interval, in a few words."""
    ends = f"{found.low:.3f} to {found.high:.3f}"
    return f"chance to pass {share(found.pass_probability)}, {share(found.level)} interval {ends}"


def is_lexical(judge: str) -> bool:
    """Whether a judge of this name compares words."""
    return judge.startswith("lexical")

"""What the probabilities of its verdicts say of a score: where it may lie, and who is unsure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.summing import ExactSum
from tcva_adapters.core.uncertainty import (
    ScoreDistribution,
    Uncertainty,
    joined_distribution,
    score_distribution,
)
from tcva_adapters.core.verdicts import LEVELS, FloatArray, WeightScheme
from tcva_adapters.printing import counted, share, shortened
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.scoring import Scoring

UNSURE: Final = 0.25
"""The judge is unsure of a claim where other levels than the given one have more than this share."""

_YES_NO: Final = "yes_no"
"""How the form of such answers begins, see `Assessment.form`."""

_LISTED: Final = 5
_NAME: Final = 40


def level_chances(assessment: Assessment) -> FloatArray | None:
    """How likely each level is, claim by claim.

    Returns:
        Shape (claims with a verdict, 5), fully first; a verdict without probabilities is certain,
        and a judge that could answer yes or no alone gives ``fully`` or ``none``. None where no
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
    if assessment.form.startswith(_YES_NO):
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
    if assessment.form.startswith(_YES_NO):
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


def uncertainty_text(found: Uncertainty) -> str:
    """The chance to pass and the interval, in a few words."""
    ends = f"{found.low:.3f} to {found.high:.3f}"
    return f"chance to pass {share(found.pass_probability)}, {share(found.level)} interval {ends}"


def is_lexical(judge: str) -> bool:
    """Whether a judge of this name compares words."""
    return judge.startswith("lexical")


@dataclass(frozen=True, slots=True)
class UncertaintyCounts:
    """How sure the scores of a batch are, as far as their verdicts have probabilities.

    Attributes:
        samples: Those with probabilities; everything else is of these.
        pass_probability: Their mean chance to pass: the pass rate to expect when the judge is asked
            anew. In [0, 1].
        undecided: Samples whose interval has scores on both sides of the threshold.
        claims: Their claims with a verdict.
        unsure_claims: Those of which the judge is unsure, see `UNSURE`.
        least_sure: The five samples whose chance to pass is nearest 1/2, with that chance; the
            nearest first.
    """

    samples: int
    pass_probability: float
    undecided: int
    claims: int
    unsure_claims: int
    least_sure: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "samples": self.samples,
            "pass_probability": self.pass_probability,
            "undecided": self.undecided,
            "claims": self.claims,
            "unsure_claims": self.unsure_claims,
            "least_sure": [
                {"sample": name, "pass_probability": found} for name, found in self.least_sure
            ],
        }

    def lines(self) -> Iterator[str]:
        """What to expect, what is undecided, and the samples to look at."""
        yield (
            f"mean chance to pass {share(self.pass_probability)} of "
            f"{counted(self.samples, 'sample')} with probabilities; {self.undecided} undecided: "
            "the 95% interval has scores on both sides of the threshold"
        )
        yield f"the judge is unsure of {self.unsure_claims} of {counted(self.claims, 'claim')}"
        if self.undecided:
            named = (f"{shortened(name, _NAME)} {share(found)}" for name, found in self.least_sure)
            yield f"least sure, with the chance to pass: {', '.join(named)}"


@dataclass(slots=True)
class UncertaintyTally:
    """The same while results come; of these five names are held."""

    _samples: int = 0
    _undecided: int = 0
    _claims: int = 0
    _unsure: int = 0
    _chances: ExactSum = field(default_factory=ExactSum)
    _least: list[tuple[str, float]] = field(default_factory=list)

    def add(self, name: str, found: Uncertainty, *, claims: int, unsure: int) -> None:
        """One sample more.

        Args:
            name: Its id.
            found: Of its score.
            claims: With a verdict.
            unsure: Those of which the judge is unsure.
        """
        self._samples += 1
        self._undecided += found.is_undecided
        self._claims += claims
        self._unsure += unsure
        self._chances.add(found.pass_probability)
        self._least.append((name, found.pass_probability))
        self._least.sort(key=lambda each: abs(each[1] - 0.5))
        del self._least[_LISTED:]

    @property
    def counts(self) -> UncertaintyCounts | None:
        """Of those that came; None where there were none."""
        if not self._samples:
            return None
        return UncertaintyCounts(
            samples=self._samples,
            pass_probability=self._chances.value / self._samples,
            undecided=self._undecided,
            claims=self._claims,
            unsure_claims=self._unsure,
            least_sure=tuple(self._least),
        )

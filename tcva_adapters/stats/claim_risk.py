"""How strict answers have to be cut so that few of them hold a claim that people reject.

A claim stays in its answer if its weight reaches a threshold. The loss of an answer is 1 if any
sentence that stays is rejected, and 0 if none is; it never rises with the threshold. So one path leads
from the top, at which no claim stays, down over all real thresholds, and the thresholds at which "the
mean loss is above the limit" is rejected are certified. Source: Mohri and Hashimoto, Language models with
conformal factuality guarantees, ICML 2024 (arXiv 2402.10978), with the tests of `stats.guarantee` in
place of a conformal quantile: the guarantee is not on average over labelled sets, but of this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, takewhile
from typing import Literal, NamedTuple

import numpy as np

from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    Groups,
    IntArray,
    check_level,
)
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.guarantee import binomial_p, certify
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.p_values import passes_more_p
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.threshold_steps import Steps

Of = Literal["all", "served"]
"""Whether the limit is on the share of all questions, or of the answers that are served."""

_SHARES = {
    "all": {0.5: 0.1, 1.0: 0.3, 0.0: 1.0},
    "served": {0.5: 0.3, 1.0: 0.7, 0.0: 1.0},
}
"""The rules, each the largest share of its claims that an answer may lose, and what they take of the error."""

_STARTS = (1.0, 0.9, 0.7, 0.3)
"""Just under these, paths of the share among served answers begin."""
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class AnswerClaims:
    """The sentences of n answers, with weights and labels.

    Attributes:
        weights: Of each sentence, shape (C,), at most 1. nan for one that claims nothing: it stays
            unless its answer is refused whole. Below 0 for a claim that nobody judged: it never stays.
        rejected: Whether people reject the sentence, likewise.
        answer: The answer that it is in, 0 to n - 1, likewise, in any order.
        n: The number of answers. One without sentences is not served.
        groups: One per answer, where answers belong together.
    """

    weights: FloatArray
    rejected: BoolArray
    answer: IntArray
    n: int
    groups: Groups = None


class ClaimStep(NamedTuple):
    """What is served at one step of the thresholds.

    Attributes:
        threshold: The middle of the step.
        up_to: Its highest threshold.
        risk: The share of answers that hold a rejected sentence: of all, or of those that are served.
            With groups, the mean over groups of the share within each. Of all, a rejected sentence
            that claims nothing counts even where no claim is left: a stream has sent it by then.
        bound: Its one-sided upper confidence bound, at 1 - error.
        p: That of "the true share is above the limit".
        good_kept: The share of claims that people do not reject that stay; nan where there is none.
        empty: The share of answers of which no claim is left; they are not served.
        served_risk: The share of the others that hold a rejected sentence; nan where there is none.
    """

    threshold: float
    up_to: float
    risk: float
    bound: float
    p: float
    good_kept: float
    empty: float
    served_risk: float


@dataclass(frozen=True, slots=True)
class ClaimCertificate:
    """What one rule serves, and the threshold at which it is certified.

    Attributes:
        max_removed: The rule: an answer of which a larger share of claims would go is refused whole.
        error: The largest chance of certifying a threshold that breaks the limit, of each path.
        threshold: The lowest certified one at which a good claim stays; None where none is. If then the
            p of the first step is at most the error, nothing would be left.
        step: What is served there, or at the strictest step where no threshold is certified.
        served_risk: The share of the answers that are served there which hold a rejected sentence.
        better_p: The one-sided p there of "good claims stay no more often than rejected ones", corrected
            for the number of rules. Claims of an answer, or of a group of answers, count together.
        path: All steps, the strictest first. At the last one the whole of each judged answer is served.
        stays: The sentences that stay at `step`.
        recommended: Whether it keeps the most good claims of the certified rules, and its served answers
            are better than without it: better_p is at most .05, and fewer of them hold a rejected
            sentence than at the last step.
    """

    max_removed: float
    error: float
    threshold: float | None
    step: ClaimStep
    served_risk: Estimate
    better_p: float
    path: list[ClaimStep]
    stays: BoolArray
    recommended: bool = False

    @property
    def merit(self) -> tuple[bool, float]:
        """The larger the better: whether it is certified, then the share of good claims that stay."""
        return self.threshold is not None, self.step.good_kept


def certify_claims(
    claims: AnswerClaims,
    limit: float,
    *,
    error: float,
    of: Of = "all",
) -> list[ClaimCertificate]:
    """Find the lowest threshold of each rule at which few answers hold a rejected sentence.

    The chance that any of the rules is certified at a threshold whose true share is above the limit
    is at most `error`. For answers that are drawn independently the tests are binomial, on all n
    answers; with groups they bet against the limit (see `certify`), and the guarantee is for the mean
    over groups of the share within each.

    Of all answers the share never falls as the threshold does, and each rule has one path. The rules
    take their parts of the error one after the other: refusing above half .1 of it, cutting .3 of what
    is left, refusing the rest. A binomial test uses only what it can reach with whole answers, and leaves
    the others more. These parts kept most in simulations; they depend on no label.

    Of served answers the share may rise and fall, and at the top nothing is served. Each rule has
    four paths, which begin just under 1, .9, .7 and .3, and each of them an equal part of its error
    (.3, .7 of what is left, and the rest). Given which answers are served at a threshold, their losses
    are drawn independently, so that the tests are exact although n changes along a path. With groups
    the guarantee is for the mean, over groups with a served answer, of the share among its served answers.

    Args:
        claims: Labelled sentences of answers that were drawn from all.
        limit: The largest share of answers that may hold a rejected sentence, between 0 and 1.
        error: See above, between 0 and 1.
        of: Whether the limit is on the share of all answers, or of those that are served.

    Returns:
        One certificate for each rule: cut, refuse above half, refuse.

    Raises:
        InvalidValueError: A limit or an error outside (0, 1), or groups that do not fit.
        MissingDependencyError: scipy is not installed.

    Of 50 answers each holds a supported claim, and an unsupported one that people reject:

    >>> claims = AnswerClaims(
    ...     weights=np.tile([0.9, 0.1], 50),
    ...     rejected=np.tile([False, True], 50),
    ...     answer=np.repeat(np.arange(50), 2),
    ...     n=50,
    ... )
    >>> cut, half, whole = certify_claims(claims, 0.1, error=0.05)
    >>> cut.threshold, cut.step.good_kept, bool(cut.step.p < 0.9**49), cut.recommended
    (0.5, 1.0, True, True)
    >>> whole.threshold, whole.step.empty
    (None, 1.0)
    """
    check_level(error, "error", 0.1)
    levels = binomial_p(np.arange(claims.n), claims.n, limit)
    is_binomial = of == "all" and claims.groups is None
    certificates = []
    for rule, share in _SHARES[of].items():
        part = error * share
        certificates.append(_certificate(claims, limit, part, of, rule))
        if is_binomial:
            part = np.max(levels, initial=0.0, where=levels <= part)
        error -= part

    certificates.sort(key=lambda each: -each.max_removed)
    best = max(certificates, key=lambda each: each.merit)
    is_better = (
        best.threshold is not None
        and best.better_p <= _ALPHA
        and best.step.served_risk < best.path[-1].served_risk
    )
    return [
        replace(each, recommended=is_better and each is best) for each in certificates
    ]


def _certificate(
    claims: AnswerClaims,
    limit: float,
    error: float,
    of: Of,
    max_removed: float,
) -> ClaimCertificate:
    starts = _STARTS if of == "served" else _STARTS[:1]
    error /= len(starts)
    groups = claims.groups or range(claims.n)
    is_claim = ~np.isnan(claims.weights)
    is_good = is_claim & ~claims.rejected
    path = []
    steps = Steps.between(np.append(claims.weights, starts))
    for end, threshold in np.transpose(steps).tolist():
        stays, served, holds = served_claims(claims, end, max_removed)
        counted = served | (of == "all")
        tested = certify(
            holds[None, counted],
            limit,
            error=error,
            groups=claims.groups and list(compress(claims.groups, counted)),
        )
        path.append(
            ClaimStep(
                threshold=threshold,
                up_to=end,
                risk=tested.shares[0],
                bound=tested.bounds[0],
                p=tested.p[0],
                good_kept=mean(stays[is_good]),
                empty=mean(~served),
                served_risk=mean(holds[served]),
            )
        )

    certified: list[ClaimStep] = []
    for start in starts:
        below = [step for step in path if step.up_to <= start]
        certified += takewhile(lambda step: step.p <= error, below)
    certified = [step for step in certified if step.good_kept > 0]
    step = min(certified, default=path[0])
    stays, served, holds = served_claims(claims, step.up_to, max_removed)
    better_p = len(_SHARES[of]) * passes_more_p(
        stays[is_claim],
        is_good[is_claim],
        Units([groups[place] for place in claims.answer], is_claim),
    )
    return ClaimCertificate(
        max_removed=max_removed,
        error=error,
        threshold=step.threshold if certified else None,
        step=step,
        served_risk=estimate("share", np.where(served, holds, np.nan), claims.groups),
        better_p=min(1.0, better_p),
        path=path,
        stays=stays,
    )


def served_claims(
    claims: AnswerClaims, threshold: float, max_removed: float
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Which sentences stay, which answers are served, and which hold a rejected sentence."""
    count = partial(np.bincount, claims.answer, minlength=claims.n)
    number = count(~np.isnan(claims.weights))
    stays = ~(claims.weights < threshold)
    is_refused = count(~stays) > number * max_removed
    stays &= ~is_refused[claims.answer]
    # A sentence that claims nothing is an answer only where no other one was.
    serves = ~np.isnan(claims.weights) | (number[claims.answer] == 0)
    return stays, count(stays & serves) > 0, count(stays & claims.rejected) > 0

"""How strict answers have to be cut so that few of them hold a claim that people reject.

A claim stays in its answer if its weight reaches a threshold. The loss of an answer is 1 if any
sentence that stays is rejected, and 0 if none is; it never rises with the threshold. So one path leads
from the top, at which no claim stays, down over all real thresholds, and the thresholds at which "the
mean loss is above the limit" is rejected are certified. Source: Mohri and Hashimoto, Language models with
conformal factuality guarantees, ICML 2024 (arXiv 2402.10978), with the tests of `stats.guarantee` in
place of a conformal quantile: the guarantee is not on average over labelled sets, but of this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal, get_args

import numpy as np

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import (
    BoolArray,
    FloatArray,
    Groups,
    IntArray,
    check_level,
    one_of,
)
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.guarantee import binomial_p, certify, largest_share
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.p_values import passes_more_p
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.stats.threshold_steps import Steps

Of = Literal["all", "served"]
"""Whether the limit is on the share of all questions, or of the answers that are served."""

RULES = (1.0, 0.5, 0.0)
"""The largest shares of an answer's claims that may go: cut; refuse where over half go; refuse where any goes."""

_STARTS = (1.0, 0.9, 0.7, 0.3)
"""Just under these, paths of the share among served answers begin."""
_JUST = 1e-9
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class AnswerClaims:
    """The sentences of n answers, with weights and labels.

    Attributes:
        weights: Of each sentence, shape (C,), at most 1. nan for one that claims nothing: it stays
            unless its answer is refused whole. Below 0 for a claim that nobody judged: it never stays.
        rejected: Whether people reject the sentence, likewise.
        answer: The answer that it is in, 0 to n - 1, likewise, in any order.
        n: The number of answers. One without sentences is served to nobody, and left empty.
        groups: One per answer, where answers belong together.

    Raises:
        InvalidValueError: Arrays that do not fit, a weight above 1, or no answer.
    """

    weights: FloatArray
    rejected: BoolArray
    answer: IntArray
    n: int
    groups: Groups = None

    def __post_init__(self) -> None:
        shapes = {self.weights.shape, self.rejected.shape, self.answer.shape}
        if shapes != {(len(self.weights),)}:
            raise InvalidValueError(
                f"give a weight, a label and an answer for each sentence, not the shapes {sorted(shapes)}"
            )
        if self.n < 1 or not np.isin(self.answer, np.arange(self.n)).all():
            raise InvalidValueError(
                f"answers must be numbered from 0 to n - 1, and n is {self.n}"
            )
        if (highest := np.max(self.weights, initial=0.0, where=self.is_claim)) > 1.0:
            raise InvalidValueError(f"weights must be at most 1, got {highest:g}")

    @property
    def is_claim(self) -> BoolArray:
        """Which sentences claim something."""
        return ~np.isnan(self.weights)

    def highest(self, of: BoolArray, values: FloatArray) -> FloatArray:
        """The highest value of these sentences in each answer, shape (n,); -inf where it has none."""
        highest = np.full(self.n, -np.inf)
        np.maximum.at(highest, self.answer[of], values[of])
        return highest

    def refused_above(self, max_removed: float) -> FloatArray:
        """The threshold of each answer above which a larger share of its claims than this goes.

        Of shape (n,); inf where that is at no threshold.
        """
        weights = self.weights[self.is_claim]
        answer = self.answer[self.is_claim]
        numbers = np.bincount(answer, minlength=self.n)
        # So many may go; the next lowest weight decides.
        may_go = np.floor(numbers * max_removed + _JUST).astype(np.int64)
        decides = may_go < numbers
        place = np.cumsum(numbers) - numbers + may_go
        limits = np.full(self.n, np.inf)
        limits[decides] = weights[np.lexsort((weights, answer))][place[decides]]
        return limits


@dataclass(frozen=True, slots=True)
class ClaimCertificate:
    """What one rule serves, and the threshold at which it is certified.

    Where no threshold is certified, the figures are those of the strictest step of the path.

    Attributes:
        max_removed: The rule: an answer of which a larger share of claims would go is refused whole.
        error: The largest chance of certifying a threshold that breaks the limit, of this rule (of
            each of its paths).
        threshold: The lowest certified one at which a claim stays; None where none is.
        nothing_left: None is, but thresholds are certified at which no claim stays.
        n: The number of answers.
        risk: The share of answers that hold a rejected sentence: of all, or of those that are served.
            With groups, the mean over groups of the share within each. Of all, a rejected sentence
            that claims nothing counts even where no claim is left: a stream has sent it by then.
        bound: Its one-sided upper confidence bound, at 1 - error.
        p: That of "the true share is above the limit".
        good_kept: The share of claims that people do not reject that stay; 0 where there is none.
        empty: The share of answers of which no claim is left; they are not served.
        served: The number of answers that are served.
        served_risk: The share of them that hold a rejected sentence.
        whole_risk: The share of answers that hold one before anything is cut.
        better_p: The one-sided p of "good claims stay no more often than rejected ones", corrected
            for the number of rules. Claims of an answer, or a group of answers, count together.
        better: Whether served answers are better than without the rule: this p is at most .05, and
            the share of them that hold a rejected sentence is smaller.
        recommended: Whether it keeps the most good claims of the certified rules, and is better.
        curves: At each step of the thresholds, the strictest first, each of shape (K,): ``threshold``
            (its middle), ``up_to`` (its highest), ``risk``, ``bound``, ``p``, ``good_kept``,
            ``empty`` and ``served_risk``.
        certified: Which steps are certified, shape (K,).
    """

    max_removed: float
    error: float
    threshold: float | None
    nothing_left: bool
    n: int
    risk: float
    bound: float
    p: float
    good_kept: float
    empty: float
    served: int
    served_risk: Estimate
    whole_risk: float
    better_p: float
    better: bool
    recommended: bool
    curves: Mapping[str, FloatArray]
    certified: BoolArray


def certify_claims(
    claims: AnswerClaims,
    limit: float,
    *,
    error: float,
    of: Of = "all",
    max_removed: Sequence[float] = RULES,
) -> list[ClaimCertificate]:
    """Find the lowest threshold of each rule at which few answers hold a rejected sentence.

    The chance that any of the rules is certified at a threshold whose true share is above the limit
    is at most `error`. For answers that are drawn independently the tests are binomial, on all n
    answers; with groups they bet against the limit (see `certify`), and the guarantee is for the mean
    over groups of the share within each.

    Of all answers the share never falls as the threshold does, and each rule has one path. The rules
    take their share of the error one after the other, the last one first: an equal part of what is
    left, of which a binomial test uses only what it can reach with whole answers. So the first rule
    has what the others cannot use. With groups the parts are equal.

    Of served answers the share may rise and fall, and at the top nothing is served. Each rule has
    four paths, which begin just under 1, .9, .7 and .3, and each of them an equal part of the error.
    Given which answers are served at a threshold, their losses are drawn independently, so that the
    tests are exact although n changes along a path. With groups the guarantee is for the mean, over
    groups with a served answer, of the share among its served answers.

    Args:
        claims: Labelled sentences of answers that were drawn from all.
        limit: The largest share of answers that may hold a rejected sentence, between 0 and 1.
        error: See above, between 0 and 1.
        of: Whether the limit is on the share of all answers, or of those that are served.
        max_removed: The rules that compete.

    Returns:
        One certificate for each rule.

    Raises:
        InvalidValueError: A limit or an error outside (0, 1), groups that do not fit, or another `of`.
        MissingDependencyError: scipy is not installed.

    Of 50 answers each holds a supported claim, and an unsupported one that people reject:

    >>> claims = AnswerClaims(
    ...     weights=np.tile([0.9, 0.1], 50),
    ...     rejected=np.tile([False, True], 50),
    ...     answer=np.repeat(np.arange(50), 2),
    ...     n=50,
    ... )
    >>> cut, half, whole = certify_claims(claims, 0.1, error=0.05)
    >>> cut.threshold, cut.good_kept, round(cut.p, 5) == round(0.9**50, 5), cut.recommended
    (0.5, 1.0, True, True)
    >>> whole.threshold, whole.nothing_left
    (None, True)
    """
    check_level(limit, "limit", 0.1)
    check_level(error, "error", 0.1)
    one_of("share to limit", of, get_args(Of))
    errors = np.full(len(max_removed), error / len(max_removed))
    if of == "served":
        errors /= len(_STARTS)
    elif claims.groups is None:
        errors = _errors(claims.n, limit, error, len(max_removed))
    certificates = [
        _certificate(claims, limit, float(part), of, rule, len(max_removed))
        for rule, part in zip(max_removed, errors, strict=True)
    ]
    kept = [-1.0 if each.threshold is None else each.good_kept for each in certificates]
    best = int(np.argmax(kept))
    return [
        replace(each, recommended=each.better and place == best)
        for place, each in enumerate(certificates)
    ]


def _errors(n: int, limit: float, error: float, rules: int) -> FloatArray:
    """Divide the error of binomial tests among rules; see `certify_claims`."""
    levels = binomial_p(np.arange(n), n, limit)
    errors = np.empty(rules)
    left = error
    for place in range(rules - 1, -1, -1):
        errors[place] = left / (place + 1)
        left -= np.max(levels, initial=0.0, where=levels <= errors[place])
    return errors


def _certificate(
    claims: AnswerClaims,
    limit: float,
    error: float,
    of: Of,
    max_removed: float,
    rules: int,
) -> ClaimCertificate:
    steps = Steps.between(claims.weights)
    refused = claims.refused_above(max_removed)
    is_claim = claims.is_claim
    # Everything below happens up to a threshold, and not above it: that a sentence stays, that its
    # answer is served, that it holds a rejected sentence.
    weights = np.where(is_claim, claims.weights, np.inf)
    stays = np.minimum(weights, refused[claims.answer])
    served = claims.highest(is_claim, stays)
    has_claim = np.bincount(claims.answer[is_claim], minlength=claims.n) > 0
    served = np.where(has_claim, served, claims.highest(~is_claim, stays))
    holds = claims.highest(claims.rejected, stays)
    holds_and_served = np.minimum(holds, served)
    counted = np.full(claims.n, np.inf) if of == "all" else served
    losses = holds if of == "all" else holds_and_served

    shares, p, bounds = _tests(losses, counted, steps.ends, limit, error, claims.groups)
    certified = np.zeros(len(p), dtype=np.bool_)
    for start in _STARTS if of == "served" else [2.0]:
        # The step that holds the threshold just under this one.
        first = max(0, np.count_nonzero(steps.ends >= start - _JUST) - 1)
        certified[first:] |= np.logical_and.accumulate(p[first:] <= error)
    good = is_claim & ~claims.rejected
    good_kept = _reaching(stays[good], steps.ends) / max(1, int(good.sum()))
    n_served = _reaching(served, steps.ends)
    some_left = certified & (_reaching(stays[is_claim], steps.ends) > 0)
    curves = {
        "threshold": steps.middles,
        "up_to": steps.ends,
        "risk": shares,
        "bound": bounds,
        "p": p,
        "good_kept": good_kept,
        "empty": 1.0 - n_served / claims.n,
        "served_risk": _reaching(holds_and_served, steps.ends)
        / np.where(n_served, n_served, np.nan),
    }
    is_certified = bool(some_left.any())
    step = int(np.max(np.flatnonzero(some_left), initial=0))
    end = steps.ends[step]
    served_risk = estimate(
        "share", np.where(served >= end, holds >= end, np.nan), claims.groups
    )
    whole_risk = len(np.unique(claims.answer[claims.rejected])) / max(
        1, len(np.unique(claims.answer))
    )
    better_p = 1.0
    if is_certified:
        groups = claims.answer.tolist()
        if claims.groups is not None:
            groups = [claims.groups[answer] for answer in groups]
        better_p = rules * passes_more_p(
            stays[is_claim] >= end,
            good[is_claim],
            Units(groups, is_claim),
        )
    return ClaimCertificate(
        max_removed=max_removed,
        error=error,
        threshold=float(steps.middles[step]) if is_certified else None,
        nothing_left=bool(certified.any()) and not is_certified,
        n=claims.n,
        risk=float(shares[step]),
        bound=float(bounds[step]),
        p=float(p[step]),
        good_kept=float(good_kept[step]),
        empty=float(curves["empty"][step]),
        served=int(n_served[step]),
        served_risk=served_risk,
        whole_risk=whole_risk,
        better_p=min(1.0, better_p),
        better=better_p <= _ALPHA and served_risk.value < whole_risk,
        recommended=False,
        curves=curves,
        certified=certified,
    )


def _reaching(levels: FloatArray, ends: FloatArray) -> IntArray:
    """How many levels reach each end."""
    return np.asarray(len(levels) - np.searchsorted(np.sort(levels), ends))


def _tests(
    losses: FloatArray,
    counted: FloatArray,
    ends: FloatArray,
    limit: float,
    error: float,
    groups: Groups,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The shares, p and bounds at thresholds, each of shape (K,).

    An answer counts up to one threshold, and its loss is 1 up to another, not higher one.
    """
    hits = _reaching(losses, ends)
    sizes = _reaching(counted, ends)
    if groups is None:
        shares = hits / np.where(sizes, sizes, np.nan)
        return (
            shares,
            binomial_p(hits, sizes, limit),
            largest_share(hits, sizes, error),
        )
    # Steps with the same numbers have the same answers.
    _, firsts, same = np.unique(
        hits * (len(losses) + 1) + sizes, return_index=True, return_inverse=True
    )
    tested = []
    for end in ends[firsts]:
        takes_part = counted >= end
        path = certify(
            losses[None, takes_part] >= end,
            limit,
            error=error,
            groups=list(compress(groups, takes_part)),
        )
        tested.append((path.shares[0], path.p[0], path.bounds[0]))
    shares, p, bounds = np.transpose(tested)[:, same]
    return shares, p, bounds

"""The effect of quotes that do not support their verdicts, and counts of such verdicts.

Assessments hold the lowered verdict and the judge's own, so that the other view costs no call.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, EvidenceCheck

Evidence = Literal["lower", "off"]
"""Count an unsupported ``fully`` or ``mostly`` as ``partial``, or as the judge gave it."""

DEFAULT_EVIDENCE: Evidence = "lower"

EvidenceOutcome = tuple[EvidenceCheck | None, bool]
"""The outcome of the check of a quote, and whether its verdict was lowered for it."""

HIGH = (Verdict.FULLY, Verdict.MOSTLY)
"""The levels that stand only with a quote."""


def evidence_outcomes(assessments: Iterable[Assessment]) -> Counter[EvidenceOutcome]:
    """Count the verdicts of assessments, as they are stored, by the outcome of their evidence check.

    For a panel or repeats, the verdicts of the single judgements count; those of additional judges
    count, too.

    >>> evidence_outcomes([Assessment.from_verdicts(["fully"])])
    Counter({(None, False): 1})
    """
    outcomes: Counter[EvidenceOutcome] = Counter()
    left = [*assessments]
    while left:
        judged = left.pop()
        left += (*judged.panel, *judged.members)
        for claim in () if judged.panel else judged.claims:
            if claim.verdict is not None:
                was_lowered = claim.original_verdict is not None
                outcomes[claim.evidence_check, was_lowered] += 1
    return outcomes


def evidence_lines(
    outcomes: Counter[EvidenceOutcome], evidence: Evidence
) -> Iterator[str]:
    """Yield a sentence for each cause of lowered verdicts, and one for unchecked verdicts.

    Args:
        outcomes: See `evidence_outcomes`.
        evidence: The setting under which the verdicts are reported.
    """
    total = outcomes.total()
    unchecked = EvidenceCheck.UNCHECKED
    for check in EvidenceCheck if evidence == "lower" else ():
        if number := outcomes[check, True]:
            yield f"{number} of {total} verdicts lowered to partial: {check.text}"
    if number := outcomes[unchecked, False]:
        yield f"{number} of {total} verdicts not checked: {unchecked.text}"


def lower_unsupported(claim: ClaimVerdict) -> ClaimVerdict:
    """Lower ``fully`` and ``mostly`` to ``partial`` where the quote does not support the claim.

    Their probabilities move with them. The judge's own values stay in ``original_verdict`` and
    ``original_probabilities``, and the reason says what was done.

    >>> claim = ClaimVerdict(claim="c", verdict="fully", evidence_check="not_found")
    >>> lower_unsupported(claim).verdict, lower_unsupported(claim).reason
    (<Verdict.PARTIAL: 'partial'>, '(lowered from fully: the quote is in no context)')
    """
    check = claim.evidence_check
    if claim.verdict not in HIGH or check is None or not check.is_fault:
        return claim
    shares = claim.probabilities
    moved = None if shares is None else (0.0, 0.0, sum(shares[:3]), *shares[3:])
    return claim.model_copy(
        update={
            "verdict": Verdict.PARTIAL,
            "original_verdict": claim.verdict,
            "reason": f"{claim.reason} {_note(check, claim.verdict)}".lstrip(),
            "probabilities": moved,
            "original_probabilities": shares,
        }
    )


def as_judged(claim: ClaimVerdict) -> ClaimVerdict:
    """Undo `lower_unsupported`: return the claim with the verdict that its judge gave."""
    if claim.original_verdict is None or claim.evidence_check is None:
        return claim
    note = _note(claim.evidence_check, claim.original_verdict)
    return claim.model_copy(
        update={
            "verdict": claim.original_verdict,
            "original_verdict": None,
            "reason": claim.reason.removesuffix(note).rstrip(),
            "probabilities": claim.original_probabilities,
            "original_probabilities": None,
        }
    )


def _note(check: EvidenceCheck, level: str) -> str:
    return f"(lowered from {level}: {check.text})"


def under(assessment: Assessment, evidence: Evidence) -> Assessment:
    """Show a stored assessment under ``lower`` or ``off``, with its panel and members.

    The verdicts of a panel are combined again where one of them changes: by the shares of the votes
    where the panel did so, else by the median.
    """
    if evidence == "lower":
        return assessment
    panel = tuple(under(part, evidence) for part in assessment.panel)
    members = tuple(under(part, evidence) for part in assessment.members)
    claims = tuple(map(as_judged, assessment.claims))
    if panel != assessment.panel and claims:
        claims = combined_claims(
            usable(panel), fused=any(claim.probabilities for claim in claims)
        )
    return assessment.model_copy(
        update={"claims": claims, "panel": panel, "members": members}
    )


def usable(panel: Iterable[Assessment]) -> list[Assessment]:
    """Select the assessments of a panel on the same claims as its first scored one."""
    scored = [part for part in panel if part.unscored is None]
    return [part for part in scored if _texts(part) == _texts(scored[0])]


def _texts(assessment: Assessment) -> list[str]:
    return [claim.claim for claim in assessment.claims]


def combined_claims(
    judged: Iterable[Assessment], *, fused: bool
) -> tuple[ClaimVerdict, ...]:
    """Combine several judges' verdicts on the same claims; see `combined_claim`."""
    claims = zip(*(part.claims for part in judged), strict=True)
    return tuple(combined_claim(votes, fused=fused) for votes in claims)


def combined_claim(votes: Sequence[ClaimVerdict], *, fused: bool) -> ClaimVerdict:
    """Combine several judges' verdicts on one claim.

    There is no verdict where at least half of the judges see no claim. Evidence and reason are
    those of the first judge that gave the level.

    Args:
        votes: One per judge.
        fused: Use the mean of their shares and its most likely level, the strictest one in a tie.
            Otherwise use the median level; for an even number, the stricter of the two middle
            ones.

    >>> votes = [ClaimVerdict(claim="c", verdict=level) for level in ("fully", "none")]
    >>> combined_claim(votes, fused=False).verdict
    <Verdict.NONE: 'none'>
    >>> combined_claim(votes, fused=True).probabilities
    (0.5, 0.0, 0.0, 0.0, 0.5)
    """
    cast = [vote for vote in votes if vote.verdict is not None]
    if 2 * len(cast) <= len(votes):
        return next(vote for vote in votes if vote.verdict is None)
    mean = []
    if fused:
        # The sum is rounded once, so that the order of the judges cannot break ties.
        columns = zip(*(vote.shares or () for vote in cast), strict=True)
        mean = [math.fsum(column) / len(cast) for column in columns]
        place = max(range(len(LEVELS)), key=lambda i: (mean[i], i))
    else:
        places = sorted(LEVELS.index(vote.verdict) for vote in cast if vote.verdict)
        place = places[len(places) // 2]
    speaker = next((vote for vote in cast if vote.verdict == LEVELS[place]), cast[0])
    return speaker.model_copy(
        update={
            "verdict": LEVELS[place],
            "probabilities": tuple(mean) or None,
            "original_verdict": None,
            "original_probabilities": None,
            "evidence_check": None,
        }
    )

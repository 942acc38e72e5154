"""Evidence as a view: what an unsupported verdict counts as is decided when somebody looks.

Stored is what ``lower`` shows, with the judge's own level beside each verdict that was lowered, so
that a reader of the JSON finds the levels that count by default. The other two views follow from
it. Judgements of an earlier version hold no check of ``partial`` and ``minor``: there they stand
under ``strict``, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcva_adapters.core.evidence import (
    DEFAULT_EVIDENCE,
    Evidence,
    combined,
    own_shares,
    unsupported,
)
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.results.assessment import Assessment, ClaimVerdict


def claim_under(claim: ClaimVerdict, evidence: Evidence) -> ClaimVerdict:
    """A claim whose verdict counts as a view of its evidence says.

    Its reason says so where it is lowered; ``original_verdict`` and ``original_probabilities`` are
    the judge's own then, and None elsewhere.

    Args:
        claim: As it is stored.
        evidence: The view, see `unsupported`.
    """
    level, check = claim.verdict, claim.evidence_check
    if level is None or check is None or not check.is_fault:
        return claim
    own = claim.original_verdict or level
    given = own_shares(
        own, claim.original_verdict, claim.probabilities, claim.original_probabilities
    )
    seen, shares = unsupported(own, given, evidence)
    if seen == claim.verdict and shares == claim.probabilities:
        return claim
    note, is_lowered = f"({check.text}: lowered from {own.value})", seen != own
    reason = claim.reason.removesuffix(note).rstrip()
    return claim.model_copy(
        update={
            "verdict": Verdict(seen),
            "original_verdict": own if is_lowered else None,
            "reason": f"{reason} {note}".lstrip() if is_lowered else reason,
            "probabilities": shares,
            "original_probabilities": given if is_lowered else None,
        }
    )


def under(assessment: Assessment, evidence: Evidence) -> Assessment:
    """An assessment, its members and panel under a view of the evidence.

    Of a panel the judges' verdicts are seen under the view first, and those of a claim are combined
    again where one of them has changed: by the shares of the votes where the panel did so, else by
    the median.

    Args:
        assessment: As it is stored.
        evidence: The view.

    >>> quoted = {"verdict": "partial", "original_verdict": "fully", "evidence_check": "not_found"}
    >>> stored = Assessment.model_validate(
    ...     {
    ...         **Assessment.from_verdicts(["fully"]).model_dump(),
    ...         "claims": [{"claim": "Cats bark.", **quoted}],
    ...     }
    ... )
    >>> [under(stored, view).verdicts[0].value for view in ("strict", "lower", "off")]
    ['none', 'partial', 'fully']
    """
    if evidence == DEFAULT_EVIDENCE:
        return assessment
    panel = tuple(under(each, evidence) for each in assessment.panel)
    members = tuple(under(each, evidence) for each in assessment.members)
    if panel:
        claims = _combined_again(assessment, panel)
    else:
        claims = tuple(claim_under(claim, evidence) for claim in assessment.claims)
    return assessment.model_copy(update={"claims": claims, "panel": panel, "members": members})


def _combined_again(
    assessment: Assessment, panel: Sequence[Assessment]
) -> tuple[ClaimVerdict, ...]:
    """The claims of a panel, where its judges are seen under another view than when it was stored."""
    texts = _texts(assessment)
    voters = [
        (stored.claims, seen.claims)
        for stored, seen in zip(assessment.panel, panel, strict=True)
        if stored.unscored is None and _texts(stored) == texts
    ]
    fused = any(claim.probabilities is not None for claim in assessment.claims)
    claims = []
    for place, claim in enumerate(assessment.claims):
        votes = [seen[place] for _, seen in voters]
        is_new = any(seen[place] is not stored[place] for stored, seen in voters)
        claims.append(combined_claim(votes, fused=fused) if is_new else claim)
    return tuple(claims)


def _texts(assessment: Assessment) -> list[str]:
    return [claim.claim for claim in assessment.claims]


def combined_claim(votes: Sequence[ClaimVerdict], *, fused: bool) -> ClaimVerdict:
    """One claim's verdict by several judges; see `combined`.

    Evidence and reason are those of the first judge who gave the level.
    """
    verdict, shares = combined([(vote.verdict, vote.probabilities) for vote in votes], fused=fused)
    if verdict is None:
        return next(vote for vote in votes if vote.verdict is None)
    cast = [vote for vote in votes if vote.verdict is not None]
    speaker = next((vote for vote in cast if vote.verdict == verdict), cast[0])
    return ClaimVerdict(
        claim=speaker.claim,
        verdict=Verdict(verdict),
        evidence=speaker.evidence,
        reason=speaker.reason,
        passage=speaker.passage,
        probabilities=shares,
    )

"""What a quote that does not support its verdict does: lower it, or nothing; and how many did.

Stored is the lowered verdict, with the judge's own beside it, so that the other view costs no call.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, EvidenceCheck, Shares

Evidence = Literal["lower", "off"]
"""Count an unsupported ``fully`` or ``mostly`` as ``partial``, or as the judge gave it."""

EVIDENCE: Final[tuple[Evidence, ...]] = get_args(Evidence)
DEFAULT_EVIDENCE: Final[Evidence] = "lower"

Checked = tuple[EvidenceCheck | None, bool]
"""What the check of a quote found, and whether its verdict was lowered for it."""

HIGH: Final = (Verdict.FULLY, Verdict.MOSTLY)
"""The levels that stand only with a quote."""


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """Verdicts of one or several samples, as the evidence check saw their quotes.

    Attributes:
        verdicts: How many there are. Of a panel or of repeats these are the single judgements',
            and those of additional judges count, too.
        checks: How many verdicts each outcome lowered, or left ``unchecked``.
        not_lowered: How many stand although their quotes do not support them: those of ``partial``
            and ``minor``, and all where nothing is lowered.
    """

    verdicts: int
    checks: Mapping[EvidenceCheck, int]
    not_lowered: int

    @classmethod
    def of(cls, assessments: Iterable[Assessment], evidence: Evidence = "lower") -> EvidenceCounts:
        """Count the verdicts of assessments as they are stored.

        >>> EvidenceCounts.of([Assessment.from_verdicts(["fully"])]).verdicts
        1
        """
        checks = (check for each in assessments for check in checks_of(each))
        return cls.counted(Counter(checks), evidence)

    @classmethod
    def counted(cls, found: Mapping[Checked, int], evidence: Evidence = "lower") -> EvidenceCounts:
        """The same from the number of verdicts by what `checks_of` gives."""
        checks, not_lowered = dict.fromkeys(EvidenceCheck, 0), 0
        for (check, is_lowered), number in found.items():
            if check is not None:
                if check.is_fault and not (is_lowered and evidence == "lower"):
                    not_lowered += number
                else:
                    checks[check] += number
        return cls(sum(found.values()), checks, not_lowered)

    def __add__(self, other: EvidenceCounts) -> EvidenceCounts:
        """Those of both."""
        checks = {check: number + other.checks[check] for check, number in self.checks.items()}
        verdicts = self.verdicts + other.verdicts
        return EvidenceCounts(verdicts, checks, self.not_lowered + other.not_lowered)

    def to_dict(self) -> dict[str, int]:
        """As plain values, for JSON."""
        checks = {check.value: number for check, number in self.checks.items()}
        return {"verdicts": self.verdicts, **checks, "not_lowered": self.not_lowered}

    def lines(self) -> Iterator[str]:
        """A sentence for each outcome that occurs."""
        for check, number in self.checks.items():
            if number:
                done = "lowered" if check.is_fault else "unchecked"
                yield f"{number} of {self.verdicts} verdicts {done}: {check.text}"


def checks_of(assessment: Assessment) -> Iterator[Checked]:
    """What was found of each verdict; of a panel the judges', and those of additional judges, too."""
    if not assessment.panel:
        for claim in assessment.claims:
            if claim.verdict is not None:
                yield claim.evidence_check, claim.original_verdict is not None
    for each in (*assessment.panel, *assessment.members):
        yield from checks_of(each)


def lowered(claim: ClaimVerdict) -> ClaimVerdict:
    """A claim whose quote does not support it: ``fully`` and ``mostly`` become ``partial``.

    Their shares move with them. What the judge gave is kept in ``original_verdict`` and
    ``original_probabilities``, and the reason says what was done.

    >>> claim = ClaimVerdict(claim="c", verdict="fully", evidence_check="not_found")
    >>> lowered(claim).verdict, lowered(claim).reason
    (<Verdict.PARTIAL: 'partial'>, '(quote not found in the passages: lowered from fully)')
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
    """The same claim with the verdict that its judge gave."""
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
    return f"({check.text}: lowered from {level})"


def under(assessment: Assessment, evidence: Evidence) -> Assessment:
    """A stored assessment as ``lower`` or ``off`` shows it, with its panel and members.

    The verdicts of a panel are combined again where one of them changes: by the shares of the votes
    where the panel did so, else by the median.
    """
    if evidence == "lower":
        return assessment
    panel = tuple(under(each, evidence) for each in assessment.panel)
    members = tuple(under(each, evidence) for each in assessment.members)
    claims = tuple(map(as_judged, assessment.claims))
    if panel:
        claims = _combined_again(assessment, panel)
    return assessment.model_copy(update={"claims": claims, "panel": panel, "members": members})


def _combined_again(
    assessment: Assessment, panel: Sequence[Assessment]
) -> tuple[ClaimVerdict, ...]:
    texts = [claim.claim for claim in assessment.claims]
    voters = [
        each.claims
        for each in panel
        if each.unscored is None and [claim.claim for claim in each.claims] == texts
    ]
    stored = [claim for each in assessment.panel for claim in each.claims]
    if not voters or all(claim.original_verdict is None for claim in stored):
        return assessment.claims
    fused = any(claim.probabilities is not None for claim in assessment.claims)
    return tuple(combined_claim(votes, fused=fused) for votes in zip(*voters, strict=True))


def combined_claim(votes: Sequence[ClaimVerdict], *, fused: bool) -> ClaimVerdict:
    """One claim's verdict by several judges.

    No verdict where at least half of them see no claim. Evidence and reason are those of the first
    judge who gave the level.

    Args:
        votes: One per judge.
        fused: Give the mean of their shares, and the most likely level, the strictest of several.
            Else the median level, of an even number the stricter of the two in the middle.

    >>> votes = [ClaimVerdict(claim="c", verdict=level) for level in ("fully", "none")]
    >>> combined_claim(votes, fused=False).verdict
    <Verdict.NONE: 'none'>
    >>> combined_claim(votes, fused=True).probabilities
    (0.5, 0.0, 0.0, 0.0, 0.5)
    """
    cast = [vote for vote in votes if vote.verdict is not None]
    if 2 * len(cast) <= len(votes):
        return next(vote for vote in votes if vote.verdict is None)
    mean: Shares | None = None
    if fused:
        rows = [vote.shares for vote in cast]
        # Rounded once: the order of the judges must not part levels that tie.
        fully, mostly, partial, minor, none = (
            math.fsum(column) / len(rows) for column in zip(*rows, strict=True)
        )
        mean = fully, mostly, partial, minor, none
        place = max(range(len(LEVELS)), key=lambda i: (mean[i], i) if mean else ())
    else:
        places = sorted(LEVELS.index(vote.verdict) for vote in cast if vote.verdict)
        place = places[len(places) // 2]
    verdict = LEVELS[place]
    speaker = next((vote for vote in cast if vote.verdict == verdict), cast[0])
    return ClaimVerdict(
        claim=speaker.claim,
        verdict=verdict,
        evidence=speaker.evidence,
        reason=speaker.reason,
        passage=speaker.passage,
        probabilities=mean,
    )

"""How many verdicts the evidence check lowered, or could not check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tcva_adapters.results.assessment import Assessment, EvidenceCheck


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """Verdicts of one or several samples, as the evidence check saw their quotes.

    Attributes:
        verdicts: How many there are. Of a panel or of repeats these are the single judgements',
            and those of additional judges count, too.
        checks: How many verdicts each outcome has, none left out.
    """

    verdicts: int
    checks: Mapping[EvidenceCheck, int]

    @classmethod
    def of(cls, assessments: Iterable[Assessment]) -> EvidenceCounts:
        """Count.

        >>> EvidenceCounts.of([Assessment.from_verdicts(["fully"])]).to_dict()
        {'verdicts': 1, 'not_found': 0, 'unrelated': 0, 'negated': 0, 'unchecked': 0}
        """
        found = Counter(
            claim.evidence_check
            for judged in _single(assessments)
            for claim in judged.claims
            if claim.verdict is not None
        )
        return cls(found.total(), {check: found[check] for check in EvidenceCheck})

    def __add__(self, other: EvidenceCounts) -> EvidenceCounts:
        """Those of both."""
        checks = {check: number + other.checks[check] for check, number in self.checks.items()}
        return EvidenceCounts(self.verdicts + other.verdicts, checks)

    def to_dict(self) -> dict[str, int]:
        """As plain values, for JSON."""
        return {"verdicts": self.verdicts, **{c.value: n for c, n in self.checks.items()}}

    def lines(self) -> Iterator[str]:
        """A sentence for each outcome that occurs."""
        for check, number in self.checks.items():
            if number:
                done = "unchecked" if check is EvidenceCheck.UNCHECKED else "lowered"
                yield f"{number} of {self.verdicts} verdicts {done}: {check.text}"


def _single(assessments: Iterable[Assessment]) -> Iterator[Assessment]:
    for assessment in assessments:
        if assessment.panel:
            yield from _single(assessment.panel)
        else:
            yield assessment
        yield from _single(assessment.members)

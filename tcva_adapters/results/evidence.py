"""How many verdicts a view of the evidence lowers, how many stand unsupported, and unchecked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tcva_adapters.core.evidence import DEFAULT_EVIDENCE, Evidence
from tcva_adapters.results.assessment import Assessment, EvidenceCheck

Checked = tuple[str | None, bool]
"""What the check of a quote found, and whether the verdict was lowered for it."""


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """Verdicts of one or several samples, as the evidence check saw their quotes.

    Attributes:
        verdicts: How many there are. Of a panel or of repeats these are the single judgements',
            and those of additional judges count, too.
        checks: How many verdicts each outcome lowered, or is ``unchecked``; none left out.
        standing: How many each outcome leaves as they are although their quotes do not support
            them: of stored judgements those of ``partial`` and ``minor``.
    """

    verdicts: int
    checks: Mapping[EvidenceCheck, int]
    standing: Mapping[EvidenceCheck, int]

    @classmethod
    def of(cls, assessments: Iterable[Assessment]) -> EvidenceCounts:
        """Count what is stored, which is what ``lower`` shows.

        >>> EvidenceCounts.of([Assessment.from_verdicts(["fully"])]).to_dict()
        {'verdicts': 1, 'not_found': 0, 'unrelated': 0, 'negated': 0, 'unchecked': 0, 'not_lowered': 0}
        """
        return cls.counted(
            Counter(
                (claim.evidence_check, claim.original_verdict is not None)
                for judged in _single(assessments)
                for claim in judged.claims
                if claim.verdict is not None
            )
        )

    @classmethod
    def counted(cls, found: Mapping[Checked, int]) -> EvidenceCounts:
        """The same from the number of verdicts of each kind: the check, and whether it lowered."""
        checks, standing = dict.fromkeys(EvidenceCheck, 0), dict.fromkeys(EvidenceCheck, 0)
        for (name, is_lowered), number in found.items():
            if name is not None:
                check = EvidenceCheck(name)
                into = standing if check.is_fault and not is_lowered else checks
                into[check] += number
        return cls(sum(found.values()), checks, standing)

    def under(self, evidence: Evidence) -> EvidenceCounts:
        """The same verdicts of stored judgements under a view of their evidence."""
        if evidence == DEFAULT_EVIDENCE:
            return self
        faults = {c: self.checks[c] + self.standing[c] for c in EvidenceCheck if c.is_fault}
        none = dict.fromkeys(EvidenceCheck, 0)
        checks = {**self.checks, **(faults if evidence == "strict" else dict.fromkeys(faults, 0))}
        return replace(
            self, checks=checks, standing=none if evidence == "strict" else none | faults
        )

    @property
    def has_faults(self) -> bool:
        """Whether the views of the evidence differ."""
        return bool(self.lowered or any(self.standing.values()))

    @property
    def lowered(self) -> int:
        """How many verdicts were lowered."""
        return sum(number for check, number in self.checks.items() if check.is_fault)

    def __add__(self, other: EvidenceCounts) -> EvidenceCounts:
        """Those of both."""
        checks = {check: number + other.checks[check] for check, number in self.checks.items()}
        standing = {check: n + other.standing[check] for check, n in self.standing.items()}
        return EvidenceCounts(self.verdicts + other.verdicts, checks, standing)

    def to_dict(self) -> dict[str, int]:
        """As plain values, for JSON; ``not_lowered`` are all that stand."""
        checks = {check.value: number for check, number in self.checks.items()}
        standing = sum(self.standing.values())
        return {"verdicts": self.verdicts, **checks, "not_lowered": standing}

    def lines(self) -> Iterator[str]:
        """A sentence for each outcome that occurs."""
        for check, number in self.checks.items():
            if number:
                done = "lowered" if check.is_fault else "unchecked"
                yield f"{number} of {self.verdicts} verdicts {done}: {check.text}"


def _single(assessments: Iterable[Assessment]) -> Iterator[Assessment]:
    for assessment in assessments:
        if assessment.panel:
            yield from _single(assessment.panel)
        else:
            yield assessment
        yield from _single(assessment.members)

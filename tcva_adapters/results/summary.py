"""Totals of many judgements: levels, quotes, costs, and why samples have no score."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import (
    DEFAULT_EVIDENCE,
    Evidence,
    EvidenceOutcome,
    evidence_lines,
    evidence_outcomes,
)
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.results.result import Result, non_claim_lines, substitute_text
from tcva_adapters.tables import Record, counted


class LevelCounts:
    """Level counts of assessments that arrive one by one, in 40 bytes per judge of each sample.

    Attributes:
        judges: How many judges each sample has.
    """

    def __init__(self) -> None:
        self._numbers = array("d")
        self.judges = array("B")

    def add(self, seen: Assessment) -> None:
        """Add a sample, seen under a view of its evidence (see `under`)."""
        for part in (seen, *seen.members):
            self._numbers.extend(part.level_counts)
        self.judges.append(1 + len(seen.members))

    def table(self) -> FloatArray:
        """Return the counts, shape (N, J, 5), the main judge first, then the additional ones.

        A judge without verdicts has a row of zeros. Nothing can be added afterwards, because the
        table of a single judge is not a copy.
        """
        flat = np.frombuffer(self._numbers).reshape(-1, len(LEVELS))
        judges = np.frombuffer(self.judges, dtype=np.uint8)
        width = int(judges.max(initial=1))
        if width == 1:
            return flat[:, None]
        table = np.zeros((len(judges), width, len(LEVELS)))
        # Samples without a score have no additional judges: zeros stand for these.
        table[np.arange(width) < judges[:, None]] = flat
        return table


def judged_counts(assessments: Iterable[Assessment]) -> FloatArray:
    """Count levels as `LevelCounts` does, without holding the assessments.

    >>> judged_counts([Assessment.from_verdicts(["fully", "none"])]).tolist()
    [[[1.0, 0.0, 0.0, 0.0, 1.0]]]
    """
    counts = LevelCounts()
    for assessment in assessments:
        counts.add(assessment)
    return counts.table()


FEW_SAMPLES = 30
"""With fewer scored samples, a pass rate says hardly anything about other samples."""


@dataclass(slots=True, eq=False)
class MissingScores:
    """Why samples have no score of their own.

    Attributes:
        reasons: The number of samples without a score of their own, by reason.
        details: The detail of each reason from its first sample, or from the fatal failure, with
            the score that ``on_unscored`` gives instead.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)

    def add_missing(self, score: float | None, why: Unscored | None) -> None:
        """Count one sample, if it has no score of its own.

        Args:
            score: The score that ``on_unscored`` gives instead; None where it gives none.
            why: Why there is no score; None for a sample that has one.
        """
        if why is not None:
            self.reasons[why.reason.value] += 1
            if why.fatal or why.reason.value not in self.details:
                self.details[why.reason.value] = why.detail + substitute_text(score)

    def records(self, method: str) -> list[Record]:
        """Make a row for each reason, the most frequent first, with its detail as an example."""
        return [
            {
                "method": method,
                "reason": reason,
                "samples": number,
                "example": self.details[reason],
            }
            for reason, number in self.reasons.most_common()
        ]


@dataclass(slots=True, eq=False)
class Summary(MissingScores):
    """Totals of results that arrive one by one; no result is held.

    Attributes:
        outcomes: The number of verdicts by the outcome of their evidence check.
        evidence: The setting under which these are reported: that of the last result.
        usage: Calls, tokens and cost of this run; what a store served costs nothing.
        served: How many samples a store served.
        non_claims: How many sentences claim nothing, by whether the judge alone says so.
        guarantees: How many results there are by the text of their `GuaranteeCheck`.
        incomplete: How many samples were judged without one of several judges, because it failed.
    """

    outcomes: Counter[EvidenceOutcome] = field(default_factory=Counter)
    evidence: Evidence = DEFAULT_EVIDENCE
    usage: Usage = field(default_factory=Usage)
    served: int = 0
    non_claims: Counter[bool] = field(default_factory=Counter)
    guarantees: Counter[str] = field(default_factory=Counter)
    incomplete: int = 0
    _levels: Counter[Verdict] = field(default_factory=Counter)

    def add(self, result: Result) -> None:
        """Add one result."""
        judged = result.assessment
        self.add_missing(result.score, result.unscored)
        self.served += judged.from_store
        self._levels.update(result.seen.verdicts)
        self.non_claims += judged.non_claims
        self.outcomes += evidence_outcomes([judged])
        self.evidence = result.scoring.evidence
        self.usage += result.usage
        if judged.unscored is None:
            others = (*judged.members, *judged.panel)
            self.incomplete += any(other.failure for other in others)
        if result.guarantee is not None:
            self.guarantees[result.guarantee.text] += 1

    @property
    def levels(self) -> dict[str, int]:
        """Claims per level, fully first."""
        return {level.value: self._levels[level] for level in LEVELS}

    def lines(self) -> Iterator[str]:
        """Yield sentences on the guarantee, contexts, non-claims and the evidence check."""
        for text, number in self.guarantees.items():
            yield f"{text} ({number} results)" if len(self.guarantees) > 1 else text
        if number := self.reasons[Reason.EMPTY_CONTEXT]:
            yield f"no contexts for the claims of {counted(number, 'sample')}"
        yield from non_claim_lines(self.non_claims)
        yield from evidence_lines(self.outcomes, self.evidence)

"""What a batch of judgements amounts to: levels, quotes, cost, and why samples have no score."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.results.result import Result, non_claim_lines
from tcva_adapters.tables import counted


class LevelCounts:
    """Of assessments that come one after the other: 40 bytes of each are held, and one of each judge.

    Attributes:
        judges: How many judges each sample has.
    """

    def __init__(self) -> None:
        self._numbers = array("d")
        self.judges = array("B")

    def add(self, seen: Assessment) -> None:
        """One more sample, under a view of its evidence (see `under`)."""
        for part in (seen, *seen.members):
            self._numbers.extend(part.level_counts)
        self.judges.append(1 + len(seen.members))

    def table(self) -> FloatArray:
        """Shape (N, J, 5), the main judge first, then those whose scores are fused with its.

        A judge without verdicts has a row of zeros. Nothing can be added any more: what there is of
        a single judge is not copied.
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
    """The same of an iterable; none of them is held.

    >>> judged_counts([Assessment.from_verdicts(["fully", "none"])]).tolist()
    [[[1.0, 0.0, 0.0, 0.0, 1.0]]]
    """
    counts = LevelCounts()
    for assessment in assessments:
        counts.add(assessment)
    return counts.table()


FEW_SAMPLES = 30
"""Scored samples below which a pass rate hardly says anything about others."""


@dataclass(slots=True, eq=False)
class Scores:
    """How many samples have a score, and why the others have none.

    Attributes:
        scored: How many samples have a score.
        reasons: Samples without one, by reason.
        details: What the first sample says of each reason, or the last one where the run ended early.
    """

    scored: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)

    def add_score(self, score: float | None, why: Unscored | None) -> None:
        """One sample more."""
        self.scored += score is not None
        if why is not None:
            self.reasons[why.reason.value] += 1
            if why.fatal or why.reason.value not in self.details:
                self.details[why.reason.value] = why.detail


@dataclass(slots=True, eq=False)
class Summary(Scores):
    """Figures of judgements that come one after the other; none of these is held.

    Attributes:
        evidence: How many verdicts were lowered for their quotes, or could not be checked.
        usage: Calls, tokens and cost of this run; what a store served costs nothing.
        served: How many samples a store served.
        non_claims: How many sentences claim nothing, by whether the judge alone says so.
        guarantees: How many results there are by the text of their `GuaranteeCheck`.
        incomplete: How many samples were judged without one of several judges, because it failed.
    """

    evidence: EvidenceCounts = field(default_factory=lambda: EvidenceCounts.of(()))
    usage: Usage = field(default_factory=Usage)
    served: int = 0
    non_claims: Counter[bool] = field(default_factory=Counter)
    guarantees: Counter[str] = field(default_factory=Counter)
    incomplete: int = 0
    _levels: Counter[Verdict] = field(default_factory=Counter)

    def add(self, result: Result) -> None:
        """One more."""
        judged = result.assessment
        self.add_score(result.score, result.unscored)
        self.served += judged.from_store
        self._levels.update(result.seen.verdicts)
        self.non_claims += judged.non_claims
        self.evidence += EvidenceCounts.of([judged], result.scoring.evidence)
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
        """Sentences on the guarantee, on what claims nothing, on contexts, and on the evidence check."""
        for text, number in self.guarantees.items():
            yield f"{text} ({number} results)" if len(self.guarantees) > 1 else text
        if number := self.reasons[Reason.EMPTY_CONTEXT]:
            yield f"no contexts for the claims of {counted(number, 'sample')}"
        yield from non_claim_lines(self.non_claims)
        yield from self.evidence.lines()

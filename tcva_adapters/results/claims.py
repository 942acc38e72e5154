"""A claim with its verdict, its probabilities and what the check of its quote showed."""

from __future__ import annotations

import math
from enum import StrEnum
from operator import mul
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
)

from tcva_adapters.core.verdicts import (
    LEVELS,
    Verdict,
    WeightScheme,
    level_shares,
)


def _sum_to_one(shares: tuple[float, ...]) -> tuple[float, ...]:
    if not abs(sum(shares) - 1.0) <= 1e-6:  # refuses nan, too
        raise ValueError(f"probabilities must be >= 0 and sum to 1, got {shares!r}")
    return shares


_Share = Annotated[float, Field(ge=0.0)]
Shares = Annotated[
    tuple[_Share, _Share, _Share, _Share, _Share], AfterValidator(_sum_to_one)
]
"""How likely each level is, fully first, summing to 1."""

_CERTAIN = dict(
    zip(LEVELS, map(level_shares, WeightScheme.DEFAULT.weights), strict=True)
)

READ = ConfigDict(
    frozen=True, extra="ignore"
)  # what a result has beyond its assessment


class EvidenceCheck(StrEnum):
    """What the check of a quote found, in a word and as text; all but the last are faults."""

    text: str

    NOT_FOUND = "not_found", "the quote is in no context"
    UNRELATED = "unrelated", "the quote has nothing to do with the claim"
    NEGATED = "negated", "a negation stands next to the quote"
    CONTRADICTS = (
        "contradicts",
        "a number or negation of the quote contradicts the claim",
    )
    TOO_SHORT = (
        "too_short",
        "the quote is a word or two and lacks numbers or names of the claim",
    )
    UNCHECKED = (
        "unchecked",
        "quote and claim share no word, as in a paraphrase or another language",
    )

    def __new__(cls, word: str, text: str = "") -> Self:
        """A word with its text."""
        made = str.__new__(cls, word)
        made._value_, made.text = word, text
        return made

    @property
    def is_fault(self) -> bool:
        """Whether such a quote leaves its verdict unsupported."""
        return self is not EvidenceCheck.UNCHECKED


class ClaimVerdict(BaseModel):
    """One claim with its verdict.

    Attributes:
        claim: The text of the claim.
        verdict: Its level; None for a sentence that claims nothing, which no score counts.
        evidence: The quote that the verdict rests on.
        reason: Why this level, in a sentence; of a sentence that claims nothing its kind:
            ``greeting``, ``question``, ``offer``, ``refusal`` or ``not_a_claim``.
        marked_by_judge: Whether the judge alone says that it claims nothing, and no list of phrases.
        context: Which context holds the evidence, counted from 1.
        original_verdict: The level that the judge gave, where the evidence check lowered it.
        evidence_check: Why the quote does not support a level above ``none``, be it lowered for
            that or not; ``unchecked`` where a high level stands although it is unknown whether
            its quote belongs to the claim; None where the quote is good, or was not looked at.
        probabilities: How likely each level is, fully first, summing to 1; None where the judge
            gives levels only. Where it is present, scores use it.
        original_probabilities: Those that the judge gave, together with an ``original_verdict``.
    """

    model_config = READ

    claim: str
    verdict: Verdict | None
    evidence: str = ""
    reason: str = ""
    marked_by_judge: bool = False
    context: int | None = None
    original_verdict: Verdict | None = None
    evidence_check: EvidenceCheck | None = None
    probabilities: Shares | None = None
    original_probabilities: Shares | None = None

    @property
    def shares(self) -> Shares | None:
        """Its probabilities; all on its level where it has none; None without a verdict."""
        if self.verdict is None:
            return None
        return self.probabilities or _CERTAIN[self.verdict]

    @property
    def is_soft(self) -> bool:
        """Whether its level alone does not say what it counts."""
        return self.verdict is not None and self.shares != _CERTAIN[self.verdict]

    def weight(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> float | None:
        """The weight of its level, by its probabilities the expected one; None without a verdict.

        Scores are made of how many claims each level has (`Assessment.counts`), of which the mean
        weight of the claims is a part alone.

        >>> shares = (0.5, 0.0, 0.0, 0.0, 0.5)
        >>> ClaimVerdict(claim="c", verdict="none", probabilities=shares).weight()
        0.5
        """
        shares = self.shares
        if shares is None:
            return None
        return float(f"{math.fsum(map(mul, shares, scheme.weights)):.12g}")

    def level_text(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> str:
        """Its level for a reader, with its weight where probabilities stand behind it.

        >>> claim = ClaimVerdict(claim="c", verdict="fully", probabilities=(0.9, 0, 0, 0, 0.1))
        >>> greeting = ClaimVerdict(claim="Hello!", verdict=None, reason="greeting")
        >>> claim.level_text(), greeting.level_text()
        ('fully, weight 0.900', 'no claim')
        """
        if self.verdict is None:
            return (
                "no claim, by the judge alone" if self.marked_by_judge else "no claim"
            )
        weight = f", weight {self.weight(scheme):.3f}" if self.is_soft else ""
        return f"{self.verdict.value}{weight}"

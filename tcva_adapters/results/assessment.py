"""Assessments: claims with verdicts and evidence, which any setting can score without a call."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from operator import attrgetter, mul
from typing import Annotated, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    model_validator,
)

from tcva_adapters.core.checks import as_list
from tcva_adapters.core.verdicts import (
    LEVELS,
    FloatArray,
    Verdict,
    WeightScheme,
    level_shares,
)
from tcva_adapters.results.judgement import READ, Judgement, Reason, Unscored
from tcva_adapters.samples.json_values import Json, Metadata


def _sum_to_one(shares: tuple[float, ...]) -> tuple[float, ...]:
    if not abs(sum(shares) - 1.0) <= 1e-6:  # refuses nan, too
        raise ValueError(f"probabilities must be >= 0 and sum to 1, got {shares!r}")
    return shares


_Share = Annotated[float, Field(ge=0.0)]
Shares = Annotated[
    tuple[_Share, _Share, _Share, _Share, _Share], AfterValidator(_sum_to_one)
]
"""The probability of each level, fully first; they sum to 1."""

_CERTAIN = dict(
    zip(LEVELS, map(level_shares, WeightScheme.DEFAULT.weights), strict=True)
)


class EvidenceCheck(StrEnum):
    """The outcome of the check of a quote; all but ``unchecked`` are faults."""

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
        """Make a member of its word, with the text as an attribute."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.text = text
        return made

    @property
    def is_fault(self) -> bool:
        """Whether a quote with this outcome leaves its verdict unsupported."""
        return self is not EvidenceCheck.UNCHECKED


class ClaimVerdict(BaseModel):
    """One claim with its verdict.

    Attributes:
        claim: The text of the claim.
        verdict: The level; None for a sentence that claims nothing, which does not count in a
            score.
        evidence: The quote that the verdict rests on.
        reason: Why this level, in a sentence; for a sentence that claims nothing, its kind:
            ``greeting``, ``question``, ``offer``, ``refusal``, ``markup`` or ``not_a_claim``.
        marked_by_judge: Whether only the judge, and no list of phrases, says that it claims
            nothing.
        context: The number of the context that holds the evidence, from 1.
        original_verdict: The level that the judge gave, where the evidence check lowered it.
        evidence_check: Why the quote does not support a level above ``none``, whether or not the
            level was lowered for it; ``unchecked`` where a high level stands although it is
            unknown whether its quote belongs to the claim; None where the quote is good, or was
            not checked.
        probabilities: The probability of each level, fully first, summing to 1; None where the
            judge gives levels only. Scores use it where it is present.
        original_probabilities: The probabilities that the judge gave, next to an
            ``original_verdict``.
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
        """Its probabilities, or 1 for its level where it has none; None without a verdict."""
        if self.verdict is None:
            return None
        return self.probabilities or _CERTAIN[self.verdict]

    @property
    def is_soft(self) -> bool:
        """Whether its probabilities, and not its level alone, decide what it counts."""
        return self.verdict is not None and self.shares != _CERTAIN[self.verdict]

    def weight(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> float | None:
        """The weight of its level, or the expected one of its probabilities; None without a verdict.

        A score is computed from `Assessment.counts`, and in general differs from the mean of these
        weights.

        >>> shares = (0.5, 0.0, 0.0, 0.0, 0.5)
        >>> ClaimVerdict(claim="c", verdict="none", probabilities=shares).weight()
        0.5
        """
        shares = self.shares
        if shares is None:
            return None
        return float(f"{math.fsum(map(mul, shares, scheme.weights)):.12g}")

    def support(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> float | None:
        """The weight that decides whether it stays in an answer: 0 where the evidence check lowered it.

        A quote that is made up or about something else supports nothing, whoever asked for the
        level; in a score it counts as ``partial``.
        """
        return 0.0 if self.original_verdict else self.weight(scheme)

    def level_text(self, scheme: WeightScheme = WeightScheme.DEFAULT) -> str:
        """Its level as shown to a reader, with the weight where it `is_soft`.

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


MAX_MARKED = 0.5
"""The largest `Assessment.marked_share` with which an answer can pass a gate."""


class Assessment(Judgement):
    """A judgement of one sample under one criterion. Scores are views of it and cost no call.

    Attributes:
        criterion: Name of the criterion.
        judge: Name of the judge, with its version or model.
        claims: Claims in the order of the text, non-claims included.
        sample_id: The sample's id.
        metadata: The sample's metadata.
        prompt_version: Version of the prompt, or of the algorithm of a judge without prompts.
        members: Assessments of the same sample by additional judges, for a fused score.
        panel: The single assessments that this one combines: those of a panel's judges, or the
            repeats of one judge.
        form: The form in which verdicts were asked for in the end, e.g. ``written`` or ``yes_no, 5
            draws``; empty for judges that ask no model.
        marked_of_one: The largest `marked_share` of the answers, where several are pooled; it is
            not written, since the assessments of the answers are.
        earlier_contexts: Whether the claims were checked against contexts of earlier turns, as
            ``uncontexted="earlier"`` allows.
        judged_by: The identity of criterion and judges, see `TCVA.judged_by`; empty where it is
            unknown.

    >>> a = Assessment.from_verdicts(["fully", "none"])
    >>> a.counts.tolist()
    [1.0, 0.0, 0.0, 0.0, 1.0]
    >>> Assessment.from_json(a.to_json()) == a
    True
    """

    stored_as = "assessment"
    called = "an assessment"

    criterion: str
    judge: str
    prompt_version: str
    claims: tuple[ClaimVerdict, ...] = ()
    sample_id: str | None = None
    metadata: Metadata = Field(default_factory=dict)
    members: tuple[Assessment, ...] = ()
    panel: tuple[Assessment, ...] = ()
    form: str = ""
    marked_of_one: float = Field(default=0.0, exclude=True)
    earlier_contexts: bool = False
    judged_by: Json = Field(default_factory=dict)

    @model_validator(mode="after")
    def _scored_or_not(self) -> Self:
        if self.unscored is None and not self.verdicts:
            raise ValueError(
                "an assessment without a verdict must say why it is unscored"
            )
        return self

    def __hash__(self) -> int:
        return hash((self.criterion, self.judge, self.claims, self.sample_id))

    @property
    def is_lexical(self) -> bool:
        """Whether its judge is the lexical one, which compares words."""
        return self.judge.startswith("lexical/")

    @property
    def repeats(self) -> tuple[Assessment, ...]:
        """The independent judgements of one judge that this one combines; empty for a panel."""
        # A panel has no two judges of one name.
        judges = {repeat.judge for repeat in self.panel}
        return self.panel if len(judges) == 1 < len(self.panel) else ()

    @classmethod
    def from_verdicts(
        cls,
        verdicts: Sequence[Verdict | str],
        *,
        criterion: str = "faithfulness",
        judge: str = "given",
        sample_id: str | None = None,
    ) -> Assessment:
        """Make an assessment of given verdicts; without any it is unscored as ``no_claims``.

        Raises:
            InvalidValueError: A word names no level, or ``verdicts`` is not a list.
        """
        claims = tuple(
            ClaimVerdict(claim=f"claim {number}", verdict=Verdict.parse(verdict))
            for number, verdict in enumerate(as_list("verdicts", verdicts), start=1)
        )
        nothing = Unscored(reason=Reason.NO_CLAIMS, detail="no verdicts given")
        return cls(
            criterion=criterion,
            judge=judge,
            prompt_version="given",
            claims=claims,
            sample_id=sample_id,
            unscored=None if claims else nothing,
        )

    @property
    def failed_judges(self) -> list[str]:
        """The names of the judges in the panel and members that failed; repeats are numbered."""
        names = []
        for number, part in enumerate((*self.panel, *self.members), start=1):
            name = f"{part.judge} #{number}" if part in self.repeats else part.judge
            names += [name] if part.failure else part.failed_judges
        return names

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The levels of the scored claims, in order."""
        return tuple(claim.verdict for claim in self.claims if claim.verdict)

    @property
    def non_claims(self) -> Counter[bool]:
        """How many sentences claim nothing, by whether the judge alone says so."""
        return Counter(
            claim.marked_by_judge for claim in self.claims if claim.verdict is None
        )

    @property
    def marked_share(self) -> float:
        """The share of an answer's characters in sentences that only its judge marks as no claim.

        In [0, 1]. For several answers, or with additional judges, it is the largest share. No gate
        passes an answer with more than `MAX_MARKED`. Greetings, offers and questions that the
        lists know count only in an answer that refuses; otherwise an answer could lower its share
        by courtesies.

        >>> marked = ClaimVerdict(claim="Servus!", verdict=None, marked_by_judge=True)
        >>> Assessment.from_verdicts(["fully"]).model_copy(update={"claims": (marked,)}).marked_share
        1.0
        """
        sizes = Counter[str]()
        for claim in self.claims:
            kind = "claim" if claim.verdict else claim.reason
            sizes["marked" if claim.marked_by_judge else kind] += len(claim.claim)
        counted = sizes["marked"] + sizes["claim"]
        if sizes["refusal"]:
            counted = sizes.total()
        own_share = sizes["marked"] / max(counted, 1)
        return max(
            own_share,
            self.marked_of_one,
            *[member.marked_share for member in self.members],
        )

    @property
    def counts(self) -> FloatArray:
        """Claims per level, shape (5,), fully first; all zeros where the sample is unscored.

        Where claims carry probabilities these are expected counts.
        """
        return np.array(self.level_counts, dtype=np.float64)

    @property
    def level_counts(self) -> tuple[float, ...]:
        """`counts` as five plain numbers."""
        if self.unscored is not None:
            return (0.0,) * len(LEVELS)
        return tuple(
            map(
                math.fsum,
                zip(
                    *[claim.shares for claim in self.claims if claim.shares],
                    strict=True,
                ),
            )
        )

    @property
    def is_soft(self) -> bool:
        """Whether some verdict has probabilities, so that the levels alone do not give the score."""
        return any(claim.is_soft for claim in self.claims)

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal assessment.

        Metadata that JSON cannot hold is written as text.
        """
        return self.model_dump_json()


class AssessmentView:
    """Base of classes that show fields of their ``assessment`` as attributes of their own."""

    assessment: Assessment

    unscored: Unscored | None
    """Why there is no score; None where there is one."""
    judge: str
    """The name of the judge."""
    criterion: str
    """The name of the criterion."""
    prompt_version: str
    """The version of the judge's prompt or algorithm."""
    form: str
    """The form of the verdicts, see `Assessment`."""
    from_store: bool
    """Whether the judgement was read from a store."""
    shared: bool
    """Whether another evaluator asked for it."""
    metadata: Json
    """The sample's metadata."""
    members: tuple[Assessment, ...]
    """The assessments of additional judges."""
    panel: tuple[Assessment, ...]
    """The assessments of the judges of a panel."""
    schema_version: int
    """The version of the layout."""
    judged_by: Json
    """What the judge is known by."""
    earlier_contexts: bool
    """Whether contexts of earlier turns were shown."""
    sample_id: str | None
    """The id of the sample."""


for _name in AssessmentView.__annotations__.keys() - {"assessment"}:
    setattr(AssessmentView, _name, property(attrgetter(f"assessment.{_name}")))

"""What a judgement leaves behind: claims with verdicts and evidence, cached and re-scored at will."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Self

import numpy as np
from pydantic import (
    Field,
    model_validator,
)

from tcva_adapters.core.checks import listed
from tcva_adapters.core.verdicts import (
    LEVELS,
    FloatArray,
    Verdict,
)
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.results.json_values import Json, Metadata
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.results.reasons import Reason, Unscored

MOST_MARKED = 0.5
"""The largest `Assessment.marked_share` of what a gate passes."""


class Assessment(Judgement):
    """A judgement of one sample under one criterion. Scores are views of it and cost no call.

    Attributes:
        criterion: Name of the criterion.
        judge: Name of the judge, with its version or model.
        claims: Claims in the order of the text, non-claims included.
        sample_id: The sample's id.
        metadata: The sample's metadata.
        prompt_version: Version of the prompt, or of the algorithm of a judge without prompts.
        members: What additional judges said of the same sample, for a fused score.
        panel: The single assessments that this one was made of: those of a panel's judges, or the
            repeats of one judge.
        form: In which form verdicts were asked for in the end, e.g. ``written`` or ``yes_no, 5
            draws``; empty for judges that are not asked.
        marked_of_one: Of several answers, the largest `marked_share`; not written, as their own
            assessments are.
        earlier_contexts: Whether the claims were checked against contexts of earlier turns, as
            ``uncontexted="earlier"`` allows.
        judged_by: What criterion and judges are known by, see `TCVA.judged_by`; empty where nobody
            says it.

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
        """Whether its judge compares words."""
        return self.judge.startswith("lexical/")

    @property
    def repeats(self) -> tuple[Assessment, ...]:
        """The independent judgements of one judge that this one was made of; none for a panel."""
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
        """An assessment from given verdicts; none at all is ``no_claims``.

        Raises:
            InvalidValueError: A word names no level, or there is no list of them.
        """
        claims = tuple(
            ClaimVerdict(claim=f"claim {number}", verdict=Verdict.parse(verdict))
            for number, verdict in enumerate(listed("verdicts", verdicts), start=1)
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
        """The names of those of several judges that failed; repeats are numbered."""
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

        In [0, 1]. Of several answers, or with additional judges, it is the largest one. No gate
        passes an answer most of which is no claim by the judge's word alone. Greetings, offers and
        questions that the lists know count only in an answer that refuses; otherwise an answer could
        lower its share by courtesies.

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
        of_members = [member.marked_share for member in self.members]
        return max(own_share, self.marked_of_one, *of_members)

    @property
    def counts(self) -> FloatArray:
        """Claims per level, shape (5,), fully first; all zeros where the sample is unscored.

        Where claims carry probabilities these are expected counts.
        """
        return np.array(self.level_counts, dtype=np.float64)

    @property
    def level_counts(self) -> tuple[float, ...]:
        """The same as five numbers."""
        if self.unscored is not None:
            return (0.0,) * len(LEVELS)
        rows = [claim.shares for claim in self.claims if claim.shares]
        return tuple(map(math.fsum, zip(*rows, strict=True)))

    @property
    def is_soft(self) -> bool:
        """Whether probabilities stand behind its verdicts, so that these alone make no score."""
        return any(claim.is_soft for claim in self.claims)

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal assessment.

        Metadata that JSON cannot hold is written as text.
        """
        return self.model_dump_json()

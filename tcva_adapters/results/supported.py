"""Answers without their unsupported claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import MAX_MARKED, Assessment, ClaimVerdict
from tcva_adapters.results.judgement import SILENT
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.json_values import Json
from tcva_adapters.text.lists import word_list
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.stretches import begins_with_pronoun, stretches, without
from tcva_adapters.text.words import words_of

_ANSWERS = word_list("answers")
_SHOWN = ("level", "weight", "reason", "quote", "start", "end", "orphan")


@dataclass(frozen=True)
class AnswerPart:
    """A claim of an answer, and where it stands.

    Attributes:
        claim: The claim with its verdict. A sentence that was not judged has no verdict, and the
            failure as its reason.
        weight: Its weight, 0 where the evidence check lowered its level; None for a sentence that claims
            nothing, or was not judged.
        start: Where it begins in the answer: an item with its mark, a row with its line.
        end: Where it ends.
        stays: Whether it stays in the answer.
        orphan: Whether it begins with a pronoun right behind a claim that was removed, so that the
            pronoun may stand for something that is gone; or is a "Yes." or "No." at the beginning,
            and the sentence behind it is gone.
    """

    claim: ClaimVerdict
    weight: float | None
    start: int
    end: int
    stays: bool
    orphan: bool = False

    @property
    def level(self) -> str | None:
        """The level; None for a sentence that claims nothing, or was not judged."""
        return self.claim.verdict and self.claim.verdict.value

    @property
    def reason(self) -> str:
        """Why it has this level, was not judged, or goes as no claim by the judge alone."""
        if self.claim.marked_by_judge and not self.stays:
            return "no claim by the judge alone"
        return self.claim.reason

    @property
    def quote(self) -> str:
        """The quote that the verdict rests on."""
        return self.claim.evidence

    def to_dict(self) -> Json:
        """Convert to JSON values."""
        return {"claim": self.claim.claim} | {n: getattr(self, n) for n in _SHOWN}


@dataclass(frozen=True)
class SupportedAnswer:
    """An answer without the claims below a threshold.

    Attributes:
        text: The answer, which is unchanged but for what was cut. Empty where no claim is left, or
            ``max_removed`` refuses the answer.
        parts: The claims and the sentences that claim nothing, in order.
        is_empty: Whether no claim is left although there were some.
    """

    text: str
    parts: tuple[AnswerPart, ...]
    is_empty: bool

    @property
    def kept(self) -> tuple[AnswerPart, ...]:
        """The claims that stay, and sentences that claim nothing."""
        return tuple(part for part in self.parts if part.stays)

    @property
    def removed(self) -> tuple[AnswerPart, ...]:
        """The claims that were cut; all parts where ``max_removed`` refuses the answer."""
        return tuple(part for part in self.parts if not part.stays)

    def to_dict(self) -> Json:
        """Convert to JSON values."""
        return {
            "text": self.text,
            "is_empty": self.is_empty,
            "kept": [part.to_dict() for part in self.kept],
            "removed": [part.to_dict() for part in self.removed],
        }


def supported_answer(
    answer: str, judged: Assessment, scoring: ScoringConfig
) -> SupportedAnswer:
    """Cut the claims below ``claim_threshold`` out of an answer.

    Sentences that claim nothing stay. Of an answer that was not judged, or is mostly no claim by the
    judge alone, only those stay that the lists of phrases know as no claim.

    Args:
        answer: The text that was judged.
        judged: Its assessment, under the setting's view of the evidence.
        scoring: The setting.

    Raises:
        InvalidValueError: The claims are not the sentences of the answer.
    """
    why = judged.unscored
    is_judged = why is None or why.reason in SILENT
    split = stretches(answer)
    places = [part for part in split if part.kind == "claim"]
    claims: Sequence[ClaimVerdict] = judged.claims
    if not (claims and is_judged):
        failure = why.text if why else ""
        claims = [
            ClaimVerdict(
                claim=place.claim,
                verdict=None,
                reason=non_claim_kind(place.claim) or failure,
            )
            for place in places
        ]
    if [claim.claim for claim in claims] != [place.claim for place in places]:
        raise InvalidValueError(
            f"the claims of this result ({judged.criterion}) are not the sentences of the sample's response, "
            "so nothing can be cut or cited; pass the sample that was judged (or judge it again, if an earlier "
            "version split it), with claims='split' by a criterion that has claims='response' and no "
            "statements, e.g. faithfulness"
        )

    is_trusted = is_judged and judged.marked_share <= MAX_MARKED
    parts = []
    stays_before = True
    for claim, place in zip(claims, places, strict=True):
        weight = claim.support(scoring.scheme)
        if weight is None:
            stays = is_trusted or non_claim_kind(claim.claim) is not None
        else:
            stays = weight >= scoring.least_weight
        orphan = stays and not stays_before and begins_with_pronoun(claim.claim)
        parts.append(AnswerPart(claim, weight, place.body, place.end, stays, orphan))
        stays_before = stays
    text = without(answer, split, [part.stays for part in parts])
    return assembled(text, parts, scoring.max_removed)


def assembled(
    text: str, parts: Sequence[AnswerPart], max_removed: float
) -> SupportedAnswer:
    """Make what is left of an answer from its parts.

    Args:
        text: The text that is left.
        parts: The parts in order.
        max_removed: See `ScoringConfig`.
    """
    if [part.stays for part in parts[:2]] == [True, False]:
        is_answer = _ANSWERS.issuperset(words_of(parts[0].claim.claim))
        parts = [replace(parts[0], orphan=is_answer), *parts[1:]]
    n_removed = sum(not part.stays for part in parts)
    n_claims = sum(not part.stays or part.weight is not None for part in parts)
    if n_removed and n_removed / n_claims > max_removed:
        refused = tuple(replace(part, stays=False) for part in parts)
        return SupportedAnswer("", refused, is_empty=True)
    return SupportedAnswer(text, (*parts,), is_empty=0 < n_removed == n_claims)

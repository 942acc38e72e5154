"""Answers without their unsupported claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.judgement import SILENT, Unscored
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.json_values import Json
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.stretches import begins_with_pronoun, stretches, without

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
        orphan: Whether it begins with a pronoun right behind a claim that was removed, so that the
            pronoun may stand for something that is gone.
    """

    claim: ClaimVerdict
    weight: float | None
    start: int
    end: int
    orphan: bool = False

    @property
    def level(self) -> str | None:
        """The level; None for a sentence that claims nothing, or was not judged."""
        return self.claim.verdict and self.claim.verdict.value

    @property
    def reason(self) -> str:
        """Why it has this level, or was not judged."""
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
        kept: The claims that stay, and sentences that claim nothing, in order.
        removed: The claims that were cut; all parts where the text is empty.
        is_empty: Whether no claim is left although there were some.
    """

    text: str
    kept: tuple[AnswerPart, ...]
    removed: tuple[AnswerPart, ...]
    is_empty: bool

    @property
    def parts(self) -> list[tuple[AnswerPart, bool]]:
        """All parts in order, each with whether it stays."""
        parts = [(part, True) for part in self.kept]
        parts += [(part, False) for part in self.removed]
        return sorted(parts, key=lambda part: part[0].start)

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

    Sentences that claim nothing stay. Of an answer that was not judged, only the sentences stay that
    the lists of phrases know as no claim.

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
        claims = [_unjudged(place.claim, why) for place in places]
    if [claim.claim for claim in claims] != [place.claim for place in places]:
        raise InvalidValueError(
            f"the claims of this result ({judged.criterion}) are not the sentences of the sample's response, "
            "so nothing can be cut; pass the sample that was judged, and judge with claims='split' by a "
            "criterion that has claims='response' and no statements, e.g. faithfulness"
        )

    parts: list[tuple[AnswerPart, bool]] = []
    stays_before = True
    for claim, place in zip(claims, places, strict=True):
        weight = claim.support(scoring.scheme)
        if weight is None:
            stays = is_judged or non_claim_kind(claim.claim) is not None
        else:
            stays = weight >= scoring.least_weight
        orphan = stays and not stays_before and begins_with_pronoun(claim.claim)
        part = AnswerPart(claim, weight, place.body, place.end, orphan)
        parts.append((part, stays))
        stays_before = stays
    text = without(answer, split, [stays for _, stays in parts])
    return assembled(text, parts, scoring.max_removed)


def assembled(
    text: str, parts: Sequence[tuple[AnswerPart, bool]], max_removed: float
) -> SupportedAnswer:
    """Make what is left of an answer from its parts.

    Args:
        text: The text that is left.
        parts: The parts in order, each with whether it stays.
        max_removed: See `ScoringConfig`.
    """
    kept = tuple(part for part, stays in parts if stays)
    removed = tuple(part for part, stays in parts if not stays)
    n_claims = len(removed) + sum(part.weight is not None for part in kept)
    if removed and len(removed) / n_claims > max_removed:
        return SupportedAnswer("", (), tuple(part for part, _ in parts), is_empty=True)
    return SupportedAnswer(text, kept, removed, 0 < len(removed) == n_claims)


def _unjudged(sentence: str, why: Unscored | None) -> ClaimVerdict:
    """Make the entry of a sentence without a verdict: its kind if the lists know it, else the failure."""
    reason = non_claim_kind(sentence) or (why.text if why else "")
    return ClaimVerdict(claim=sentence, verdict=None, reason=reason)

"""Answers without their unsupported claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.judgement import SILENT
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.json_values import Json
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims
from tcva_adapters.text.stretches import stretches, without


@dataclass(frozen=True)
class AnswerPart:
    """A claim of an answer, and where it stands.

    Attributes:
        claim: The claim with its verdict. A sentence that was not judged has no verdict, and the
            failure as its reason.
        weight: Its weight; None for a sentence that claims nothing, or was not judged.
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
        return {
            "claim": self.claim.claim,
            "level": self.level,
            "weight": self.weight,
            "reason": self.reason,
            "quote": self.quote,
            "start": self.start,
            "end": self.end,
            "orphan": self.orphan,
        }


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
    verdicts = [*_verdicts(answer, judged)]
    stretched = stretches(answer)
    claims = [part for part in stretched if part.kind == "claim"]
    parts = [
        AnswerPart(verdict, verdict.weight(scoring.scheme), claim.body, claim.end)
        for verdict, claim in zip(verdicts, claims, strict=True)
    ]
    is_silent = judged.unscored is not None and judged.unscored.reason in SILENT
    least = scoring.least_weight
    stays = [
        is_silent
        or (
            bool(non_claim_kind(part.claim.claim)) or judged.unscored is None
            if part.weight is None
            else part.weight >= least
        )
        for part in parts
    ]
    is_claim = [
        part.weight is not None or not stay
        for part, stay in zip(parts, stays, strict=True)
    ]
    n_removed = stays.count(False)
    kept = tuple(part for part, stay in zip(parts, stays, strict=True) if stay)
    removed = tuple(part for part, stay in zip(parts, stays, strict=True) if not stay)
    if n_removed and n_removed > scoring.max_removed * sum(is_claim):
        return SupportedAnswer("", (), tuple(parts), is_empty=True)
    return SupportedAnswer(
        without(answer, stretched, stays),
        kept,
        removed,
        is_empty=n_removed > 0 and n_removed == sum(is_claim),
    )


def _verdicts(answer: str, judged: Assessment) -> Iterator[ClaimVerdict]:
    """Yield what is known of each sentence of an answer.

    Raises:
        InvalidValueError: The claims are not the sentences of the answer.
    """
    sentences = split_claims(answer)
    why = judged.unscored
    if why is None or (why.reason in SILENT and judged.claims):
        if [claim.claim for claim in judged.claims] != sentences:
            raise InvalidValueError(_other_claims(judged))
        yield from judged.claims
        return
    for sentence in sentences:
        kind = non_claim_kind(sentence)
        reason = kind or why.text
        yield ClaimVerdict(claim=sentence, verdict=None, reason=reason)


def _other_claims(judged: Assessment) -> str:
    """Say why claims are not the sentences of the answer."""
    if judged.judged_by.get("claims") == "llm":
        return (
            "the claims of this result are the judge's own words, which stand nowhere in the answer, "
            "so nothing can be cut; judge with claims='split'"
        )
    return (
        f"the claims of this result ({judged.criterion}) are not the sentences of the sample's response, "
        "so nothing can be cut; pass the sample that was judged, and judge by a criterion that has "
        "claims='response' and no statements, e.g. faithfulness"
    )

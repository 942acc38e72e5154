"""Sentences that claim nothing: known by lists of phrases, or marked by a judge, which is remembered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.text.non_claims import non_claim_kind


def listed_non_claims(sentences: Iterable[str]) -> dict[str, ClaimVerdict]:
    """The sentences that claim nothing by the lists of phrases.

    >>> listed_non_claims(["Hello!", "It opens at nine."])["Hello!"].reason
    'greeting'
    """
    kinds = {sentence: non_claim_kind(sentence) for sentence in sentences}
    return {
        sentence: ClaimVerdict(claim=sentence, verdict=None, reason=kind)
        for sentence, kind in kinds.items()
        if kind
    }


def marked_by_judge(sentence: str, kind: str) -> ClaimVerdict:
    """A sentence that claims nothing because the judge says so, and no list of phrases."""
    return ClaimVerdict(claim=sentence, verdict=None, reason=kind, marked_by_judge=True)


class SentenceMark(Judgement):
    """A judge's answer about a sentence that it was shown alone.

    Attributes:
        claims_nothing: Whether the sentence asserts nothing that could be right or wrong.
    """

    stored_as: ClassVar[str] = "sentence"
    called: ClassVar[str] = "the mark of a sentence"

    claims_nothing: bool


class SentenceMemory:
    """The marks that the same judge gave before. This class remembers nothing; a subclass may."""

    def setdefault(
        self,
        sentence: str,  # noqa: ARG002  # for those that remember
        mark: SentenceMark | None = None,
    ) -> SentenceMark | None:
        """The earlier mark of a sentence; where there is none, the given one, which is remembered."""
        return mark


FORGETFUL = SentenceMemory()
"""Where nothing is remembered, each sentence is asked about."""

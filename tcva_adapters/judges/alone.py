"""Asks a judge about a sentence alone, before its word that the sentence claims nothing is believed.

In a request for verdicts, the answer and its contexts can plead for a sentence ("this is no claim").
In a request that holds the sentence alone they cannot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Final

from tcva_adapters.judges.prompts import sentence_request
from tcva_adapters.judges.reply import parse_asserts
from tcva_adapters.results.assessment import Judgement

if TYPE_CHECKING:
    from tcva_adapters.judges.base import Turns
    from tcva_adapters.judges.llm import Calls

MOST_SENTENCES: Final = 24
"""Sentences of one sample that are asked about alone; further marks are not believed."""


class SentenceMark(Judgement):
    """What a judge said of a sentence that it was shown alone.

    Attributes:
        claims_nothing: Whether the sentence asserts nothing that could be right or wrong.
    """

    stored_as: ClassVar[str] = "sentence"
    called: ClassVar[str] = "the mark of a sentence"

    claims_nothing: bool


class SentenceMemory:
    """What the same judge said of sentences before. This class remembers nothing; a subclass may."""

    def setdefault(
        self,
        sentence: str,  # noqa: ARG002  # for those that remember
        mark: SentenceMark | None = None,
    ) -> SentenceMark | None:
        """The earlier mark of a sentence; where there is none, the given one, which is remembered."""
        return mark


FORGETFUL: Final = SentenceMemory()
"""Where nothing is remembered, each sentence is asked about."""


def without_assertion(calls: Calls, sentences: Iterable[str]) -> Turns[set[str]]:
    """Ask about sentences, each alone, and return those that claim nothing, in the judge's words.

    A sentence that was asked about before costs no call. After an unclear reply it counts as a claim.

    Raises:
        JudgeError: A call failed.
    """
    marks = {sentence: calls.memory.setdefault(sentence) for sentence in sentences}
    unknown = [sentence for sentence, mark in marks.items() if mark is None]
    asked = unknown[: MOST_SENTENCES - calls.sentences]
    calls.sentences += len(asked)
    replies = yield from calls.ask([*map(sentence_request, asked)])
    for sentence, reply in zip(asked, replies, strict=True):
        asserts = None if reply.truncated else parse_asserts(reply.text, sentence)
        if asserts is not None:
            mark = SentenceMark(claims_nothing=not asserts)
            marks[sentence] = calls.memory.setdefault(sentence, mark)
    return {
        sentence for sentence, mark in marks.items() if mark and mark.claims_nothing
    }

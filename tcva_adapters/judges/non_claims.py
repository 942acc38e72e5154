"""Sentences that claim nothing: known by lists of phrases, or marked by a judge.

In a request for verdicts, the answer and its contexts can influence the judge ("this is no claim"). So a
mark is accepted only after a request that holds the sentence alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from tcva_adapters.judges.prompts import sentence_request
from tcva_adapters.judges.reply import parse_asserts
from tcva_adapters.judges.rounds import Calls, Rounds, SentenceMark
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.non_claims import non_claim_kind

MAX_SENTENCES = 24
"""The most sentences of one sample that are asked about alone; further marks are not accepted."""


def listed_non_claims(sentences: Iterable[str]) -> dict[str, ClaimVerdict]:
    """Find the sentences that claim nothing by the lists of phrases.

    >>> listed_non_claims(["Hello!", "It opens at nine."])["Hello!"].reason
    'greeting'
    """
    non_claims = {}
    for sentence in sentences:
        kind = non_claim_kind(sentence)
        if kind:
            non_claims[sentence] = ClaimVerdict(
                claim=sentence, verdict=None, reason=kind
            )
    return non_claims


def marked_by_judge(sentence: str, kind: str) -> ClaimVerdict:
    """Make the entry of a sentence that claims nothing by the judge, and by no list of phrases."""
    return ClaimVerdict(claim=sentence, verdict=None, reason=kind, marked_by_judge=True)


def confirm_non_claims(calls: Calls, sentences: Iterable[str]) -> Rounds[set[str]]:
    """Ask the judge about sentences, each alone, and return those that claim nothing by its replies.

    A sentence that was asked about before costs no call. After an unclear reply, a sentence counts as
    a claim.

    Raises:
        JudgeError: A call failed.
    """
    marks = {sentence: calls.memory.first_mark(sentence) for sentence in sentences}
    unknown = [sentence for sentence, mark in marks.items() if mark is None]
    asked = unknown[: MAX_SENTENCES - calls.n_sentences]
    calls.n_sentences += len(asked)
    replies = yield from calls.ask([*map(sentence_request, asked)])

    for sentence, reply in zip(asked, replies, strict=True):
        asserts = None if reply.truncated else parse_asserts(reply.text, sentence)
        if asserts is not None:
            mark = SentenceMark(claims_nothing=not asserts)
            marks[sentence] = calls.memory.first_mark(sentence, mark)
    return {
        sentence for sentence, mark in marks.items() if mark and mark.claims_nothing
    }

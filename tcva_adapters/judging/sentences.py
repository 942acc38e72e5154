"""Passages with numbered sentences: a small model names the one that decides, and copies nothing.

Asked for a quote, small models copy what they have read last, which is the claim. A number costs them
one token, and the quote behind it is always the passage's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tcva_adapters.claims.splitting import split_claims
from tcva_adapters.judging.fences import neutralise
from tcva_adapters.results.assessment import ClaimVerdict

_ALL = 10**6
"""No sentence is merged with another."""


@lru_cache(maxsize=64)  # samples of one document share passages
def numbered(passages: tuple[str, ...]) -> tuple[tuple[tuple[int, str], ...], ...]:
    """Per passage its sentences, each one line with its number, counted from 1 through all passages.

    >>> numbered(("We open at nine. We close at noon.", "Parking is free."))
    (((1, 'We open at nine.'), (2, 'We close at noon.')), ((3, 'Parking is free.'),))
    """
    found, count = [], 0
    for passage in passages:
        lines = [" ".join(line.split()) for line in split_claims(passage, max_claims=_ALL)]
        found.append(tuple(enumerate(lines, start=count + 1)))
        count += len(lines)
    return tuple(found)


def with_numbers(sentences: Sequence[tuple[int, str]]) -> str:
    """A passage as it is shown: a line for each sentence, with its number in front."""
    return "\n".join(f"[{number}] {neutralise(text)}" for number, text in sentences)


def quoted(verdict: ClaimVerdict, named: Sequence[int], passages: tuple[str, ...]) -> ClaimVerdict:
    """A verdict with the sentences that it names as its evidence; numbers that there are not count for none."""
    places = {
        number: (place, text)
        for place, sentences in enumerate(numbered(passages), start=1)
        for number, text in sentences
    }
    found = [places[number] for number in dict.fromkeys(named) if number in places]
    if not found:
        return verdict
    evidence = " ... ".join(text for _, text in found)
    return verdict.model_copy(update={"evidence": evidence, "passage": found[0][0]})

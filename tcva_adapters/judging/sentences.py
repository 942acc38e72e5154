"""Passages with numbered sentences: a small model names the one that decides, and copies nothing.

Asked for a quote, small models copy what they have read last, which is the claim. A number costs them
one token, and the quote behind it is always the passage's own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tcva_adapters.judging.evidence.quote import MOST_FRAGMENTS
from tcva_adapters.judging.fences import neutralise
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.sentences import pieces

_LONGEST: Final = 800
"""Characters of a line: as many as a quote may have parts are together no longer than a quote may be."""


@lru_cache(maxsize=64)  # samples of one document share passages
def numbered(passages: tuple[str, ...]) -> tuple[tuple[tuple[int, str], ...], ...]:
    """Per passage its sentences, each one line with its number, counted from 1 through all passages.

    Text without full stops, such as JSON, is cut into lines of 800 characters at most.

    >>> numbered(("We open at nine. We close at noon.", "Parking is free."))
    (((1, 'We open at nine.'), (2, 'We close at noon.')), ((3, 'Parking is free.'),))
    """
    found, count = [], 0
    for passage in passages:
        lines = list(_lines(passage))
        found.append(tuple(enumerate(lines, start=count + 1)))
        count += len(lines)
    return tuple(found)


def _lines(passage: str) -> Iterator[str]:
    for _, start, end in pieces(passage):
        line = " ".join(passage[start:end].split())
        if len(line) <= _LONGEST:
            yield line
        else:
            yield from textwrap.wrap(line, _LONGEST, break_on_hyphens=False)


def with_numbers(sentences: Sequence[tuple[int, str]]) -> str:
    """A passage as it is shown: a line for each sentence, with its number in front."""
    return "\n".join(f"[{number}] {neutralise(text)}" for number, text in sentences)


def quoted(verdict: ClaimVerdict, named: Sequence[int], passages: tuple[str, ...]) -> ClaimVerdict:
    """A verdict with the sentences that it names, ten at most, as its evidence, in their order.

    Numbers that there are not count for none.
    """
    places = {
        number: (place, text)
        for place, sentences in enumerate(numbered(passages), start=1)
        for number, text in sentences
    }
    known = [number for number in dict.fromkeys(named) if number in places]
    found = [places[number] for number in sorted(known[:MOST_FRAGMENTS])]
    if not found:
        return verdict
    evidence = " ... ".join(text for _, text in found)
    return verdict.model_copy(update={"evidence": evidence, "passage": found[0][0]})

"""A quote, or a fragment of one, and what of it may not differ from the passage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tcva_adapters.judging.evidence.words import NEGATIONS, NUMBER_WORDS, listed, spaced, split
from tcva_adapters.lexical.contrast import opposites
from tcva_adapters.lexical.text_features import tokenise
from tcva_adapters.lexical.word_lists import FUNCTION_WORDS

LONGEST: Final = 10_000
"""In characters; what is longer is no quote and is not found."""

MOST_FRAGMENTS: Final = 10
"""Parts of a quote; of more than these none is found."""

_ELLIPSIS: Final = re.compile(r"[\[(]?\.(?:[ \t]?\.){2,}[\])]?|\[?…\]?")
_CAPITAL: Final = re.compile(r"\S+")
_CONTRARY: Final = ("un", "in", "im", "il", "ir", "dis", "non")


@dataclass(frozen=True)
class Quote:
    """Words that should stand in a passage side by side.

    Attributes:
        text: The quote or fragment.
    """

    text: str

    @cached_property
    def spaced(self) -> str:
        """Its words as they are looked up, with spaces around each."""
        return spaced(self.text)

    @cached_property
    def listed(self) -> list[str]:
        """The same as a list."""
        return split(self.spaced)

    @cached_property
    def names(self) -> frozenset[str]:
        """Those that are written with a capital, function words aside."""
        pieces = (piece.lstrip("\"'“‘„«([-") for piece in _CAPITAL.findall(self.text))
        capital = " ".join(piece for piece in pieces if piece[:1].isupper())
        return frozenset(listed(capital)) - FUNCTION_WORDS

    @classmethod
    def fragments(cls, text: str) -> list[Quote]:
        """The parts between ellipses; none at all where there are more than ten."""
        parts = [part for part in _ELLIPSIS.split(text) if any(map(str.isalnum, part))]
        if len(parts) > MOST_FRAGMENTS:
            return []
        return [quote for quote in map(cls, parts) if len(quote)]

    def __len__(self) -> int:
        return len(self.listed)

    def agrees(self, stretch: Sequence[str], covered: AbstractSet[int]) -> bool:
        """Whether a similar stretch says the same as far as lists of words can tell.

        Its numbers, signs, negations and names are those of the quote in the same order, and no
        word has become its opposite.

        Args:
            stretch: Words of a passage.
            covered: Indexes of the quote's words with the same neighbours in the stretch: numbers,
                signs and negations are among them.
        """
        decisive = [i for i, word in enumerate(self.listed) if _is_decisive(word)]
        if not covered >= set(decisive):
            return False
        here = [_as_negation(self.listed[i]) for i in decisive]
        there = [_as_negation(word) for word in stretch if _is_decisive(word)]
        if here != there or self._named(self.listed) != self._named(stretch):
            return False
        return not contrary(self.listed, stretch)

    def _named(self, words: Sequence[str]) -> list[str]:
        return [word for word in words if word in self.names]


def contrary(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one list of words has the opposite of a word that only the other one has.

    >>> contrary(["it", "is", "unsafe"], ["it", "is", "safe"])
    True
    """
    differing = set(one) ^ set(other)
    if any(prefix + word in differing for word in differing for prefix in _CONTRARY):
        return True
    return bool(opposites(tokenise(" ".join(one)), tokenise(" ".join(other))))


def _is_decisive(word: str) -> bool:
    return (
        word in NEGATIONS
        or word in NUMBER_WORDS
        or word[-1].isdigit()
        or not (word[0].isalnum() or word[0] == "-")
    )


def _as_negation(word: str) -> str:
    return "not" if word in NEGATIONS else word

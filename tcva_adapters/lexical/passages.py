"""The passages of a sample, cut into windows and indexed once for all claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from tcva_adapters.claims.splitting import split_claims
from tcva_adapters.lexical.text_features import END, Token, is_content, tokenise

Pair = tuple[str, str]

_WORDS_PER_WINDOW: Final = 60  # a passage without full stops is cut
_CHARACTERS_PER_WINDOW: Final = 400  # the same for scripts without spaces
_FINALISTS: Final = 5  # windows that word order decides between
_FUNCTION_SCORE: Final = 0.1  # enough to find a window for a claim of function words


def pairs_of(tokens: Iterable[Token]) -> list[Pair]:
    """The neighbouring keys of a text, its two ends included.

    >>> pairs_of(tokenise("It rains"))
    [('\\n', 'it'), ('it', 'rain'), ('rain', '\\n')]
    """
    return list(pairwise([END, *[token.key for token in tokens], END]))


class Sentence(NamedTuple):
    """What a sentence is made of; equal sentences share one.

    Attributes:
        tokens: Its tokens.
        keys: Their keys, with the second readings of numbers.
        pairs: Its neighbouring keys, see `pairs_of`.
        unspaced: How many tokens are character pairs of an unspaced script.
    """

    tokens: list[Token]
    keys: frozenset[str]
    pairs: frozenset[Pair]
    unspaced: int

    def has(self, token: Token) -> bool:
        """Whether the sentence has the token in one of its readings."""
        return token.key in self.keys or token.other in self.keys


class Window(NamedTuple):
    """One sentence of a passage, the unit of evidence.

    Attributes:
        passage: Which passage it is from, counted from 0.
        text: The sentence, white space made single.
        sentence: What it is made of.
    """

    passage: int
    text: str
    sentence: Sentence


class Passages:
    """All windows of the passages, with an index from keys to windows.

    Attributes:
        windows: The windows in the order of the text.
        places: For each key the positions of the windows that have it, rising.
        pairs: The neighbouring keys of all windows.
        length: Number of tokens.
        unspaced: How many of them are character pairs of an unspaced script.
    """

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts
        self.windows = [
            Window(passage, text, _read(text))
            for passage, whole in enumerate(texts)
            for text in _sentences(whole)
        ]
        self.places: dict[str, list[int]] = {}
        found: set[Pair] = set()
        self.length = self.unspaced = 0
        for position, (_, _, (tokens, keys, pairs, unspaced)) in enumerate(self.windows):
            for key in keys:
                if key in self.places:
                    self.places[key].append(position)
                else:
                    self.places[key] = [position]
            found |= pairs
            self.length += len(tokens)
            self.unspaced += unspaced
        self.pairs = frozenset(found)

    def has(self, token: Token) -> bool:
        """Whether any window has the token in one of its readings."""
        return token.key in self.places or token.other in self.places

    def best_window(self, tokens: Sequence[Token]) -> Window | None:
        """The window with the most content words of a claim, then the most of its word pairs.

        Among equals it is the first; None where no window has any word of the claim.
        """
        scores: dict[int, float] = {}
        for key, content in {token.key: is_content(token) for token in tokens}.items():
            worth = 1.0 if content else _FUNCTION_SCORE
            for position in self.places.get(key, ()):
                scores[position] = scores.get(position, 0.0) + worth
        if not scores:
            return None
        pairs = frozenset(pairwise([token.key for token in tokens]))
        finalists = sorted(scores, key=lambda at: (-scores[at], at))[:_FINALISTS]
        totals = {at: scores[at] + len(pairs & self.windows[at].sentence.pairs) for at in finalists}
        return self.windows[min(finalists, key=lambda at: (-totals[at], at))]

    def quote(self, window: Window) -> str:
        """The window as its passage writes it, with its line breaks."""
        passage = self._texts[window.passage]
        if window.text in passage:
            return window.text
        match = re.search(r"\s+".join(map(re.escape, window.text.split())), passage)
        return match[0] if match else window.text


@lru_cache(maxsize=4096)
def _read(sentence: str) -> Sentence:
    tokens = tokenise(sentence)
    keys = {token.key for token in tokens} | {token.other for token in tokens if token.other}
    unspaced = sum(token.kind == "pair" for token in tokens)
    return Sentence(tokens, frozenset(keys), frozenset(pairs_of(tokens)), unspaced)


@lru_cache(maxsize=64)
def prepare(texts: tuple[str, ...]) -> Passages:
    """The passages with their index; kept for the next call on the same texts."""
    return Passages(texts)


def _sentences(passage: str) -> Iterator[str]:
    for piece in split_claims(passage, max_claims=len(passage) + 1):
        words = piece.split()
        if len(piece) > len(words) * _CHARACTERS_PER_WINDOW:
            for start in range(0, len(piece), _CHARACTERS_PER_WINDOW):
                yield piece[start : start + _CHARACTERS_PER_WINDOW]
        elif len(words) > _WORDS_PER_WINDOW:
            for start in range(0, len(words), _WORDS_PER_WINDOW):
                yield " ".join(words[start : start + _WORDS_PER_WINDOW])
        else:
            yield piece

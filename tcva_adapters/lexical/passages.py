"""The passages of a sample, cut into windows and indexed once for all claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from tcva_adapters.claims.splitting import split_claims
from tcva_adapters.lexical.text_features import Token, is_content, ngrams, tokenise

Gram = tuple[str, ...]

_WORDS_PER_WINDOW: Final = 60  # a passage without full stops is cut
_CHARACTERS_PER_WINDOW: Final = 400  # the same for scripts without spaces
_FINALISTS: Final = 5  # windows that word order decides between
_FUNCTION_SCORE: Final = 0.1  # enough to find a window for a claim of function words


@dataclass(slots=True)
class Window:
    """One sentence of a passage, the unit of evidence.

    Attributes:
        position: Its place in the order of all windows.
        passage: Which passage it is from, counted from 0.
        text: The sentence, white space made single.
        tokens: Its tokens.
        keys: Their keys, with the second readings of numbers.
    """

    position: int
    passage: int
    text: str
    tokens: list[Token]
    keys: frozenset[str]
    _grams: dict[int, frozenset[Gram]] = field(default_factory=dict)

    def has(self, token: Token) -> bool:
        """Whether the sentence has the token in one of its readings."""
        return token.key in self.keys or token.other in self.keys

    def grams(self, n: int) -> frozenset[Gram]:
        """The n-grams of the sentence, its ends included."""
        if n not in self._grams:
            self._grams[n] = frozenset(ngrams(self.tokens, n, ends=True))
        return self._grams[n]


class Passages:
    """All windows of the passages, with an index from keys to windows.

    Attributes:
        windows: The windows in the order of the text.
        places: For each key the positions of the windows that have it, rising.
        length: Number of tokens.
        pairs: How many of them are character pairs of an unspaced script.
    """

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts
        self.windows: list[Window] = []
        self.places: dict[str, list[int]] = {}
        self.length = self.pairs = 0
        self._grams: dict[int, frozenset[Gram]] = {}
        for passage, text in enumerate(texts):
            for sentence in _sentences(text):
                self._add(passage, sentence)

    def _add(self, passage: int, sentence: str) -> None:
        tokens, keys, pairs = _read(sentence)
        position = len(self.windows)
        for key in keys:
            self.places.setdefault(key, []).append(position)
        self.length += len(tokens)
        self.pairs += pairs
        self.windows.append(Window(position, passage, sentence, tokens, keys))

    def grams(self, n: int) -> frozenset[Gram]:
        """The n-grams of all windows, their ends included."""
        if n not in self._grams:
            # Each sentence once, and not window by window, whose sets would all be kept.
            texts = {id(window.tokens): window.tokens for window in self.windows}
            found: set[Gram] = set()
            for tokens in texts.values():
                found.update(ngrams(tokens, n, ends=True))
            self._grams[n] = frozenset(found)
        return self._grams[n]

    def best_window(self, tokens: Sequence[Token]) -> Window | None:
        """The window with the most content words of a claim, then the most of its word pairs.

        Among equals it is the first; None where no window has any word of the claim.
        """
        scores: dict[int, float] = {}
        for key, content in {token.key: is_content(token) for token in tokens}.items():
            for position in self.places.get(key, ()):
                scores[position] = scores.get(position, 0.0) + (1.0 if content else _FUNCTION_SCORE)
        if not scores:
            return None
        pairs = frozenset(ngrams(tokens, 2, ends=False))
        finalists = sorted(scores, key=lambda at: (-scores[at], at))[:_FINALISTS]
        totals = {at: scores[at] + len(pairs & self.windows[at].grams(2)) for at in finalists}
        return self.windows[min(finalists, key=lambda at: (-totals[at], at))]

    def quote(self, window: Window) -> str:
        """The window as its passage writes it, with its line breaks."""
        passage = self._texts[window.passage]
        if window.text in passage:
            return window.text
        match = re.search(r"\s+".join(map(re.escape, window.text.split())), passage)
        return match[0] if match else window.text


@lru_cache(maxsize=4096)
def _read(sentence: str) -> tuple[list[Token], frozenset[str], int]:
    """Tokens, their keys with second readings, and how many are character pairs."""
    tokens = tokenise(sentence)
    keys = {token.key for token in tokens} | {token.other for token in tokens if token.other}
    return tokens, frozenset(keys), sum(token.kind == "pair" for token in tokens)


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

"""The passages of a sample, cut into windows and indexed once for all claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from heapq import nsmallest
from itertools import chain, pairwise
from typing import Final, NamedTuple

from tcva_adapters.lexical.text_features import END, Token, is_content, plain_keys, tokenise
from tcva_adapters.text.sentences import pieces

Pair = tuple[str, str]

_WORDS_PER_WINDOW: Final = 60  # a passage without full stops is cut
_SHORT: Final = 2 * _WORDS_PER_WINDOW  # characters that cannot be too many words
_CHARACTERS_PER_WINDOW: Final = 400  # the same for scripts without spaces
_LONG: Final = 50_000  # characters of passages
_FINALISTS: Final = 5  # windows that word order decides between
_FUNCTION_SCORE: Final = 0.1  # enough to find a window for a claim of function words


def pairs_of(keys: Iterable[str]) -> list[Pair]:
    r"""The neighbouring keys of a text, its two ends included.

    >>> pairs_of(["it", "rain"])
    [('\n', 'it'), ('it', 'rain'), ('rain', '\n')]
    """
    return list(pairwise([END, *keys, END]))


class Sentence(NamedTuple):
    """What a sentence is made of, as far as every claim needs it; equal sentences share one.

    Attributes:
        order: The keys of its tokens.
        keys: The same, with the second readings of numbers.
        unspaced: How many tokens are character pairs of an unspaced script.
    """

    order: list[str]
    keys: AbstractSet[str]
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
        source: The text as its passage writes it.
    """

    passage: int
    text: str
    sentence: Sentence
    source: str

    @property
    def tokens(self) -> list[Token]:
        """Its tokens, which are made for the best windows only."""
        return _tokens(self.text)


class Passages:
    """The windows of the passages, each sentence once.

    Attributes:
        windows: The windows in the order of the text; of equal ones the first.
        keys: The keys of all windows.
        pairs: Their neighbouring keys.
        length: Number of tokens.
        unspaced: How many of them are character pairs of an unspaced script.
    """

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts
        first: dict[str, tuple[int, str]] = {}
        for passage, text in enumerate(texts):
            for sentence, source in _sentences(text):
                first.setdefault(sentence, (passage, source))
        self.windows = [
            Window(passage, text, _read(text), source) for text, (passage, source) in first.items()
        ]
        sentences = [window.sentence for window in self.windows]
        self.keys: AbstractSet[str] = set[str]().union(*[sentence.keys for sentence in sentences])
        ordered = chain.from_iterable([END, *sentence.order, END] for sentence in sentences)
        self.pairs: AbstractSet[Pair] = set(pairwise(ordered))
        self.length = sum(len(sentence.order) for sentence in sentences)
        self.unspaced = sum(sentence.unspaced for sentence in sentences)

    def has(self, token: Token) -> bool:
        """Whether any window has the token in one of its readings."""
        return token.key in self.keys or token.other in self.keys

    def best_window(self, tokens: Sequence[Token]) -> Window | None:
        """The window with the most content words of a claim, then the most of its word pairs.

        Among equals it is the first; None where no window has any word of the claim.
        """
        content = {token.key for token in tokens if is_content(token)}
        functions = {token.key for token in tokens} - content
        if self.keys.isdisjoint(content) and self.keys.isdisjoint(functions):
            return None
        scores = [
            len(content & window.sentence.keys)
            + _FUNCTION_SCORE * len(functions & window.sentence.keys)
            for window in self.windows
        ]
        finalists = nsmallest(_FINALISTS, range(len(scores)), key=lambda at: (-scores[at], at))
        pairs = set(pairwise([token.key for token in tokens]))
        totals = {
            at: scores[at] + len(pairs.intersection(pairwise(self.windows[at].sentence.order)))
            for at in finalists
        }
        return self.windows[min(finalists, key=lambda at: (-totals[at], at))]

    def quote(self, window: Window) -> str:
        """The window as its passage writes it, with its line breaks."""
        is_there = window.text in self._texts[window.passage]
        return window.text if is_there else window.source.strip()


@lru_cache(maxsize=4096)
def _read(sentence: str) -> Sentence:
    keys = plain_keys(sentence)
    second: set[str] = set()
    unspaced = 0
    if keys is None:
        tokens = _tokens(sentence)
        keys = [token.key for token in tokens]
        second = {token.other for token in tokens if token.other}
        unspaced = sum(token.kind == "pair" for token in tokens)
    return Sentence(keys, second.union(keys), unspaced)


@lru_cache(maxsize=1024)
def _tokens(sentence: str) -> list[Token]:
    return tokenise(sentence)


def prepare(texts: tuple[str, ...]) -> Passages:
    """The passages with their index; kept for the next call on the same texts."""
    is_long = sum(map(len, texts)) > _LONG
    return (_prepared_long if is_long else _prepared)(texts)


# The index of a megabyte takes 35 MB.
_prepared: Final = lru_cache(maxsize=64)(Passages)
_prepared_long: Final = lru_cache(maxsize=2)(Passages)


def _sentences(passage: str) -> Iterator[tuple[str, str]]:
    """The windows of a passage, each with the text that it is from."""
    for text, start, end in pieces(passage):
        words = text.split()
        if len(text) > max(_SHORT, len(words) * _CHARACTERS_PER_WINDOW):
            step = _CHARACTERS_PER_WINDOW
            cut = [text[at : at + step] for at in range(0, len(text), step)]
        elif len(words) > _WORDS_PER_WINDOW:
            step = _WORDS_PER_WINDOW
            cut = [" ".join(words[at : at + step]) for at in range(0, len(words), step)]
        else:
            yield text, passage[start:end]
            continue
        yield from zip(cut, cut, strict=True)

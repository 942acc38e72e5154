"""The passages of a sample, cut into sentences and indexed once for all claims."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import pairwise
from typing import Final, NamedTuple

from tcva_adapters.text.sentences import pieces
from tcva_adapters.text.words import Token, is_content, tokenise

Pair = tuple[str, str]

_END: Final = "\n"  # no key of a token
_MOST_WORDS: Final = 60  # a passage without full stops is cut
_MOST_CHARACTERS: Final = 400  # the same for scripts without spaces
_LONG: Final = 50_000  # characters of passages
_FINALISTS: Final = 5  # sentences that word order decides between
_CONTENT: Final = 10  # what a word of content says about where a claim is from; others say 1
_MOST_PLACES: Final = 300  # sentences with a word; beyond, it finds none that rarer words do not
_GRAM: Final = 5


class Sentence(NamedTuple):
    """One sentence of a passage, the unit of evidence.

    Attributes:
        passage: Which passage it is from, counted from 0.
        text: The sentence as it is compared, white space made single.
        source: The sentence as its passage writes it.
    """

    passage: int
    text: str
    source: str

    @property
    def tokens(self) -> list[Token]:
        """Its tokens, which are kept for sentences that were read lately."""
        return _tokens(self.text)


class Passages:
    """The sentences of the passages, each once, and in which of them each key occurs.

    Attributes:
        sentences: In the order of the text; of equal ones the first.
        pairs: Their neighbouring keys.
    """

    def __init__(self, texts: tuple[str, ...]) -> None:
        first: dict[str, Sentence] = {}
        for passage, whole in enumerate(texts):
            for text, source in _sentences(whole):
                if text not in first:
                    quote = text if text in source else source.strip()
                    first[text] = Sentence(passage, text, quote)
        self.sentences = list(first.values())
        self.pairs: set[Pair] = set()
        self._where: defaultdict[str, list[int]] = defaultdict(list)
        for at, text in enumerate(first):
            order, keys = _keys(text)
            self.pairs.update(pairs_of(order))
            for key in keys:
                self._where[key].append(at)

    def has(self, token: Token) -> bool:
        """Whether any sentence has the token in one of its readings."""
        return token.key in self._where or token.other in self._where

    def best(self, tokens: Sequence[Token]) -> Sentence | None:
        """The sentence with the most content words of a claim, then the most of its word pairs.

        Among equals it is the first; None where no sentence has any word of the claim.
        """
        scores: Counter[int] = Counter()
        words = {token.key: is_content(token) for token in tokens if token.key in self._where}
        near: list[int] = []
        for key in sorted(words, key=lambda key: len(self._where[key])):
            places = self._where[key]
            if len(places) > _MOST_PLACES:
                near = near or [at for at, _ in scores.most_common(_MOST_PLACES)]
                near = near or places[:_MOST_PLACES]
                ends = len(places) - 1
                places = [at for at in near if places[bisect_left(places, at, hi=ends)] == at]
            for at in places:
                scores[at] += _CONTENT if words[key] else 1
        pairs = set(pairwise([token.key for token in tokens]))
        finalists = nsmallest(_FINALISTS, scores, key=lambda at: (-scores[at], at))
        for at in finalists:
            order, _ = _keys(self.sentences[at].text)
            scores[at] += _CONTENT * len(pairs.intersection(pairwise(order)))
        best = min(finalists, key=lambda at: (-scores[at], at), default=None)
        return None if best is None else self.sentences[best]


def pairs_of(keys: Iterable[str]) -> list[Pair]:
    r"""The neighbouring keys of a text, its two ends included.

    >>> pairs_of(["it", "rain"])
    [('\n', 'it'), ('it', 'rain'), ('rain', '\n')]
    """
    return list(pairwise([_END, *keys, _END]))


def grams_of(tokens: Sequence[Token]) -> list[str]:
    """The 5-grams of characters of a text, with single spaces between and around its words.

    >>> from tcva_adapters.text.words import tokenise
    >>> grams_of(tokenise("It rains!"))
    [' it r', 'it ra', 't rai', ' rain', 'rains', 'ains ']
    """
    line = " ".join(["", *(token.text for token in tokens), ""]).casefold()
    return [line[at : at + _GRAM] for at in range(max(1, len(line) - _GRAM + 1))]


@lru_cache(maxsize=4096)
def _keys(sentence: str) -> tuple[list[str], Collection[str]]:
    """The keys of a sentence in order, and all of them with the other readings of numbers."""
    tokens = tokenise(sentence)
    order = [token.key for token in tokens]
    return order, dict.fromkeys([*order, *(token.other for token in tokens if token.other)])


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
    """The sentences of a passage, each with the text that it is from."""
    for text, source in pieces(passage):
        words = text.split()
        if len(text) > _MOST_CHARACTERS * max(1, len(words)):
            step = _MOST_CHARACTERS
            cut = [text[at : at + step] for at in range(0, len(text), step)]
        elif len(words) > _MOST_WORDS:
            step = _MOST_WORDS
            cut = [" ".join(words[at : at + step]) for at in range(0, len(words), step)]
        else:
            yield text, source
            continue
        yield from zip(cut, cut, strict=True)

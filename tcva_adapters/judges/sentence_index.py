"""The passages of a sample, cut into sentences and indexed once for all claims."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import pairwise
from typing import NamedTuple

from tcva_adapters.core.verdicts import Shares, Verdict
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.sentences import pieces
from tcva_adapters.text.words import (
    Token,
    is_content,
    tokenise,
)

Pair = tuple[str, str]

_END = "\n"  # no key of a token
_MAX_WORDS = 60  # a passage without full stops is cut
_MAX_CHARACTERS = 400  # the same for scripts without spaces
_FINALISTS = 5  # sentences that word order decides between
_CONTENT = 10  # weight of a shared content word; of another word 1
_MAX_PLACES = 300  # sentences that one word may add to those of rarer words
_GRAM = 5

_tokens = lru_cache(maxsize=4096)(tokenise)


class Sentence(NamedTuple):
    """One sentence of a passage, the unit of evidence.

    Attributes:
        passage: The index of its passage, counted from 0.
        text: The sentence as it is compared, with single spaces.
        source: The sentence as it is written in its passage.
    """

    passage: int
    text: str
    source: str

    @property
    def tokens(self) -> list[Token]:
        """The tokens, cached for sentences that were read recently."""
        return _tokens(self.text)


class SentenceIndex:
    """The sentences of the passages, each once, with an index of the keys in them.

    Attributes:
        sentences: The sentences in the order of the text; of equal ones, the first.
        pairs: The pairs of neighbouring keys in them.
        grams: The 5-grams of characters in them.
    """

    def __init__(self, texts: tuple[str, ...]) -> None:
        first: dict[str, Sentence] = {}
        for passage, whole in enumerate(texts):
            for text, source in _sentences(whole):
                quote = text if text in source else source.strip()
                first.setdefault(text, Sentence(passage, text, quote))
        self.sentences = list(first.values())
        self.pairs: set[Pair] = set()
        self.grams: set[str] = set()
        self._where: defaultdict[str, list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            tokens = sentence.tokens
            self.pairs.update(pairs_of(tokens))
            self.grams.update(grams_of(tokens))
            for key in keys_of(tokens):
                self._where[key].append(at)

    def has(self, token: Token) -> bool:
        """Whether any sentence has the token in one of its readings."""
        return token.key in self._where or token.other in self._where

    def best(self, tokens: Sequence[Token]) -> Sentence | None:
        """Find the sentence nearest to a claim; None where no sentence has any word of it."""
        return next((self.sentences[at] for at in self.ranked(tokens)), None)

    def ranked(self, tokens: Sequence[Token], most: int = _FINALISTS) -> list[int]:
        """Return the indices of the sentences nearest to a claim, the nearest first.

        A shared content word counts ten, any other word one. Among the sentences found by these, a
        shared pair of neighbouring words counts ten as well; of equal ones, the first comes first.

        Args:
            tokens: The tokens of the claim.
            most: The most indices that are returned; word pairs are compared among these alone.
        """
        scores: Counter[int] = Counter()
        words = {
            token.key: is_content(token) for token in tokens if token.key in self._where
        }
        for key in sorted(words, key=lambda key: len(self._where[key])):
            places = self._where[key]
            if len(places) > _MAX_PLACES:
                known = [at for at in places if at in scores]
                places = known or places[:_MAX_PLACES]
            for at in places:
                scores[at] += _CONTENT if words[key] else 1

        def rank(at: int) -> tuple[int, int]:
            return -scores[at], at

        finalists = nsmallest(most, scores, key=rank)
        pairs = set(pairwise([token.key for token in tokens]))
        for at in finalists:
            keys = [token.key for token in self.sentences[at].tokens]
            scores[at] += _CONTENT * len(pairs.intersection(pairwise(keys)))
        return sorted(finalists, key=rank)


@lru_cache(maxsize=2)  # the index of a megabyte takes 40 MB
def index_of(texts: tuple[str, ...]) -> SentenceIndex:
    """Index the passages; the index is cached for the next call on the same texts."""
    return SentenceIndex(texts)


def verdict_with_quote(
    sentence: Sentence | None,
    claim: str,
    level: Verdict,
    shares: Shares,
    reason: str,
) -> ClaimVerdict:
    """Make a verdict with a sentence of the passages as its evidence, or without evidence."""
    return ClaimVerdict(
        claim=claim,
        verdict=level,
        evidence=sentence.source if sentence else "",
        reason=reason,
        context=sentence.passage + 1 if sentence else None,
        probabilities=shares,
    )


def keys_of(tokens: Sequence[Token]) -> set[str]:
    """The keys of tokens in all their readings."""
    return {key for token in tokens for key in (token.key, token.other) if key}


def pairs_of(tokens: Sequence[Token]) -> list[Pair]:
    r"""The pairs of neighbouring keys of a text, its two ends included.

    >>> from tcva_adapters.text.words import tokenise
    >>> pairs_of(tokenise("It rains!"))
    [('\n', 'it'), ('it', 'rain'), ('rain', '\n')]
    """
    return list(pairwise([_END, *(token.key for token in tokens), _END]))


def grams_of(tokens: Sequence[Token]) -> list[str]:
    """The 5-grams of characters of a text, with single spaces between and around its words.

    >>> from tcva_adapters.text.words import tokenise
    >>> grams_of(tokenise("It rains!"))
    [' it r', 'it ra', 't rai', ' rain', 'rains', 'ains ']
    """
    line = " ".join(["", *(token.text for token in tokens), ""]).casefold()
    return [line[at : at + _GRAM] for at in range(max(1, len(line) - _GRAM + 1))]


def _sentences(passage: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a passage with their source; one that is too long is cut."""
    for text, start, end in pieces(passage):
        words = text.split()
        if len(text) > _MAX_CHARACTERS * max(1, len(words)):
            for at in range(0, len(text), _MAX_CHARACTERS):
                part = text[at : at + _MAX_CHARACTERS]
                yield part, part
        elif len(words) > _MAX_WORDS:
            for at in range(0, len(words), _MAX_WORDS):
                part = " ".join(words[at : at + _MAX_WORDS])
                yield part, part
        else:
            yield text, passage[start:end]

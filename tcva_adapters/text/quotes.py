"""Find the quotes of a judge in the passages, for the evidence check and for citations.

Comparing character by character would reject an honest quote for a curly quotation mark, so texts are
compared by their words alone, and a longer quote may differ in a word or two. Numbers, names and
negations may not differ, as they change the meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tcva_adapters.text.contradiction import (
    denied_before,
    denied_behind,
    opposed,
)
from tcva_adapters.text.lists import variants
from tcva_adapters.text.words import (
    FUNCTION_WORDS,
    NEGATIONS,
    PAUSES,
    STOPS,
    UNSPACED,
    split_words,
    words_of,
)

NEAR_ENOUGH = 0.7
"""The share of a quote's three-word sequences that one stretch of a passage must have. A changed
word removes three of them, so it is allowed within a quote of twelve words, not of eight."""

LONGEST = 10_000
"""The most characters of a quote that is looked up, and of a claim that is compared with its quote."""

MAX_FRAGMENTS = 10
"""The most fragments of a quote; a quote with more is not found."""

_GRAM = 3
_SHORTEST_NEAR = 6  # quotes with fewer words must match exactly
_MAX_STRETCHES = 20
_MAX_HITS = 50_000
_MAX_PLACES = 2000
_SHIFT = 2  # words that a similar stretch may have more or fewer in its middle
_NEAREST = 3  # next places of a fragment that are tried behind another one
_REACH = 8  # words outside a quote in which a negation counts
_END = "\n"  # stands behind each passage; no word is like it
_AROUND = 50  # words on each side of a quote that are read to tell its language
_MARKS = STOPS | PAUSES
_ELLIPSIS = re.compile(r"[\[(]?\.(?:[ \t]?\.){2,}[\])]?|\[?…\]?")
Place: TypeAlias = tuple[int, int]
"""A stretch of words: the index of the first one, and of the one behind the last."""

_DECISIVE = (
    NEGATIONS | variants("numbers").keys() | variants("scales").keys() | {"percent"}
)


class QuotePlace(NamedTuple):
    """The place of a quote in the passages.

    Attributes:
        passages: The numbers of the passages that hold it, counted from 1, in ascending order; where
            some have it without a negation at its edge, only those.
        at: The index of the first word of its first place there.
        denied_before: Whether, wherever the quote occurs, a negation before it denies it.
        denied_behind: The same for a negation behind it.
    """

    passages: tuple[int, ...]
    at: int
    denied_before: bool = False
    denied_behind: bool = False


class _Fragment(NamedTuple):
    """A part of a quote between ellipses: its number of words, and its places in ascending order."""

    size: int
    places: list[Place]


class Passages:
    """Passages, prepared once for all quotes that are looked up in them.

    The work for one quote is bounded: a run of words is compared at the first 2000 candidate places,
    and similar stretches are looked for at 50 000 places that have three words of the quote in a row,
    divided evenly among its three-word sequences.

    Attributes:
        words: All words in lower case, with an end mark behind each passage.
        known: The quotes that were looked up, with their places; None for one that was not found.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: list[str] = []
        self.known: dict[str, QuotePlace | None] = {}
        self._firsts: list[int] = []
        self._stops: list[int] = []
        self._breaks = [0]
        words = self.words
        for text in texts:
            self._firsts.append(len(words))
            for piece in split_words(text):
                if piece in _MARKS:
                    self._breaks.append(len(words))
                    if piece in STOPS:
                        self._stops.append(len(words))
                elif piece.isascii() or not UNSPACED.match(piece):
                    words.append(piece.casefold())
                else:
                    words += piece
            words.append(_END)
            self._breaks += (len(words) - 1, len(words))
        self._firsts.append(len(words))
        self._negations = [at for at, word in enumerate(words) if word in NEGATIONS]
        barred = _barred(words)
        self._joined = "".join(barred)
        self._ends = [*accumulate(map(len, barred))]

    def passage(self, at: int) -> int:
        """The number of the passage that a word is in, counted from 1."""
        return bisect_right(self._firsts, at)

    def is_sentence(self, at: int, quote: str) -> bool:
        """Whether a quote that begins at a word is a whole passage, or a whole sentence of one."""
        edges = {first - 1 for first in self._firsts}.union(self._firsts, self._stops)
        return {at, at + len(quote_words(quote))} <= edges

    def around(self, at: int) -> list[str]:
        """The 50 words on each side of a word, as far as its passage goes."""
        number = self.passage(at)
        begin = max(self._firsts[number - 1], at - _AROUND)
        end = min(self._firsts[number] - 1, at + _AROUND)
        return self.words[begin:end]

    def exact(self, quote: Sequence[str]) -> list[Place]:
        """Find all places of a run of words, whether they are written together or apart."""
        wanted = "".join(_barred(quote))
        places: list[Place] = []
        start = self._joined.find(wanted)
        for _ in range(_MAX_PLACES):
            if start < 0:
                break
            stop = start + len(wanted)
            first = bisect_right(self._ends, start)
            last = bisect_left(self._ends, stop)
            is_begin = start == self._ends[first] - len(self.words[first])
            if is_begin and self._ends[last] == stop:
                places.append((first, last + 1))
            start = self._joined.find(wanted, self._ends[first])
        return places

    def near(self, quote: Sequence[str], names: frozenset[str]) -> list[Place]:
        """Find similar stretches, one per passage, with enough of a quote's three-word sequences."""
        size = len(quote)
        if size < _SHORTEST_NEAR:
            return []
        grams = {
            tuple(quote[i : i + _GRAM]): i for i in reversed(range(size - _GRAM + 1))
        }
        # Where the sequences stand, here and in the quote, by where the whole quote would begin.
        hits: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        hashes, order = self._sequences
        for gram, i in grams.items():
            begin, end = hashes.searchsorted([hash(gram), hash(gram) + 1])
            for at in order[begin:end][: _MAX_HITS // len(grams)].tolist():
                hits[at - i].append((at, i))

        def rank(start: int) -> tuple[int, int]:
            """Prefer more hits; of stretches with as many, the first ones."""
            return len(hits[start]), -min(hits[start])[0]

        places: dict[int, Place] = {}
        for start in nlargest(_MAX_STRETCHES, hits, key=rank):
            starts = range(start - _SHIFT, start + _SHIFT + 1)
            stretch = sorted(hit for near in starts for hit in hits.get(near, ()))
            first, before = stretch[0]
            last, behind = stretch[-1]
            shared = {i for _, i in stretch}
            passage = self.passage(first)
            if passage in places or len(shared) < NEAR_ENOUGH * len(grams):
                continue

            begin = max(self._firsts[passage - 1], first - before)
            end = min(self._firsts[passage] - 1, last + size - behind)
            covered = {i + k for i in shared for k in range(_GRAM)}
            if _agrees(
                quote,
                self.words[begin:end],
                covered,
                names,
            ):
                places[passage] = begin, end
        return list(places.values())

    @cached_property
    def _sequences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sorted hashes of all three-word sequences, and where these begin."""
        rows = zip(
            self.words,
            self.words[1:],
            self.words[2:],
            strict=False,
        )
        hashes = np.fromiter(map(hash, rows), np.int64)
        order = hashes.argsort(kind="stable")
        return hashes[order], order

    def chained(self, fragments: Sequence[_Fragment]) -> list[Place]:
        """Find stretches that hold all fragments of a quote in their order."""
        places = []
        for first, behind in fragments[0].places:
            end = behind
            for before, fragment in pairwise(fragments):
                after = bisect_left(fragment.places, (end,))
                is_single = 1 in (before.size, fragment.size)
                following = (
                    stop
                    for begin, stop in fragment.places[after : after + _NEAREST]
                    if self._follows(end, begin, is_single=is_single)
                )
                end = next(following, 0)
                if not end:
                    break
            else:
                places.append((first, end))
        return places

    def _follows(
        self,
        end: int,
        begin: int,
        *,
        is_single: bool,
    ) -> bool:
        """Whether an ellipsis may join a stretch that ends at a word with one that begins at another.

        It may not leave out a negation of a sentence that it breaks off or resumes, and a fragment of
        a single word must be in the same sentence as the other fragment.
        """
        if self.passage(begin) != self.passage(end - 1):
            return False
        stop = bisect_right(self._stops, end - 1)
        last = bisect_right(self._stops, begin) - 1
        gaps = [(end, begin)]
        if stop <= last:
            gaps = [(end, self._stops[stop]), (self._stops[last], begin)]
        for first, behind in gaps:
            negation = bisect_left(self._negations, first)
            if negation < bisect_left(self._negations, behind):
                return False
        return stop > last or not is_single

    def place_of(self, places: Sequence[Place]) -> QuotePlace:
        """Combine the places of a quote; where some are not denied at an edge, only those count."""
        asserted: list[int] = []
        any_before = any_behind = False
        for first, end in places:
            at = bisect_right(self._breaks, first)
            begin = max(first - _REACH, self._breaks[at - 1])
            stop = min(end + _REACH, self._breaks[bisect_left(self._breaks, end)])
            before = denied_before(
                self.words[begin:first],
                self.words[first : first + 2],
            )
            behind = denied_behind(
                self.words[end - 1],
                self.words[end:stop],
            )
            if not (before or behind):
                asserted.append(first)
            any_before = any_before or before
            any_behind = any_behind or behind
        begins = sorted(asserted or (first for first, _ in places))
        return QuotePlace(
            passages=tuple(dict.fromkeys(map(self.passage, begins))),
            at=begins[0],
            denied_before=any_before and not asserted,
            denied_behind=any_behind and not asserted,
        )


passages_of = lru_cache(maxsize=4)(Passages)
"""The passages in a tuple of texts, cached as a judgement and its views look for the same quotes in them."""

quote_words = lru_cache(maxsize=64)(words_of)
"""The words of a quote, cached because each quote is read more than once."""


def find_quote(text: str, passages: Passages) -> QuotePlace | None:
    """Find a quote in the passages; None where no passage holds it.

    Case, white space, punctuation, quotation marks, dashes, invisible characters and the spacing
    of tokenised text do not matter. Fragments joined by "..." must occur in one passage in their
    order, and the gap may not leave out a negation; fragments of three words or more may also be in
    several passages. A quote of six words or more may differ a little: one stretch of a passage must
    have at least 70 % of its three-word sequences, and exactly its numbers, negations and names. If a
    passage has the whole quote exactly, similar ones do not count.

    The work is bounded: a quote of more than 10 000 characters or ten fragments is not found; see
    `Passages` for the rest.

    >>> passages = Passages(["Other.", "the drug, it's not safe for children"])
    >>> find_quote("It's NOT safe", passages).passages
    (2,)
    >>> find_quote("it's ... safe", passages) is None
    True
    >>> find_quote("safe for children", passages).denied_before
    True
    """
    if text not in passages.known:
        passages.known[text] = _look_up(text, passages)
    return passages.known[text]


def _look_up(text: str, passages: Passages) -> QuotePlace | None:
    whole = quote_words(text) if len(text) <= LONGEST else []
    if not whole:
        return None
    places = passages.exact(whole)
    if places:
        return passages.place_of(places)

    parts = [
        part
        for part in _ELLIPSIS.split(text)
        if any(map(str.isalnum, "".join(words_of(part))))
    ]
    if len(parts) > MAX_FRAGMENTS:
        return None
    fragments: list[_Fragment] = []
    for part in parts:
        quote = words_of(part)
        exact = passages.exact(quote)
        numbers = {passages.passage(begin) for begin, _ in exact}
        similar = [
            place
            for place in passages.near(quote, _names(part))
            if passages.passage(place[0]) not in numbers
        ]
        fragments.append(_Fragment(len(quote), sorted(exact + similar)))
    if not fragments or not all(fragment.places for fragment in fragments):
        return None
    places = passages.chained(fragments)
    return passages.place_of(places) if places else _spread(passages, fragments)


def _spread(passages: Passages, fragments: Sequence[_Fragment]) -> QuotePlace | None:
    """The place of a quote's longest fragment, where several passages together hold all fragments."""
    places = [passages.place_of(fragment.places) for fragment in fragments]
    sizes = [fragment.size for fragment in fragments]
    is_in_one = set.intersection(*(set(place.passages) for place in places))
    if min(sizes) < _GRAM or is_in_one:
        return None
    return places[sizes.index(max(sizes))]._replace(
        denied_before=any(place.denied_before for place in places),
        denied_behind=any(place.denied_behind for place in places),
    )


def _barred(quote: Sequence[str]) -> list[str]:
    """Put a bar between adjacent figures: joined, "do n't" is "don't", and "1 5" is not "15"."""
    barred = list(quote)
    for at, (before, word) in enumerate(pairwise(quote), start=1):
        if word[0] in "-0123456789" and before[-1].isdigit():
            barred[at] = f"|{word}"
    return barred


def _names(text: str) -> frozenset[str]:
    """The capitalised words of a text in lower case, without function words."""
    capitals = (word.casefold() for word in split_words(text) if word[0].isupper())
    return frozenset(capitals) - FUNCTION_WORDS


def _agrees(
    quote: Sequence[str],
    stretch: Sequence[str],
    covered: set[int],
    names: frozenset[str],
) -> bool:
    """Whether a similar stretch says the same as a quote, as far as lists of words can tell.

    It has the numbers, signs, negations and names of the quote in the same order. All of these but
    the names have the same neighbours in it, and no word has become its opposite.
    """
    if not covered.issuperset(i for i, word in enumerate(quote) if _is_decisive(word)):
        return False

    def decisive(words: Sequence[str]) -> list[str]:
        """The words that must be the same; one negation is as good as another."""
        return [
            "not" if word in NEGATIONS else word
            for word in words
            if word in names or _is_decisive(word)
        ]

    if decisive(quote) != decisive(stretch):
        return False
    return not opposed(" ".join(quote), " ".join(stretch))


def _is_decisive(word: str) -> bool:
    return word in _DECISIVE or word[-1].isdigit() or not word[0].isalnum()

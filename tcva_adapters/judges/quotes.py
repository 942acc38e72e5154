"""Where a quote stands in passages: word for word, nearly so, or in parts joined by ellipses."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from tcva_adapters.text.contrast import denied_before, denied_behind, opposites
from tcva_adapters.text.lists import variants
from tcva_adapters.text.words import (
    FUNCTION_WORDS,
    NEGATIONS,
    PAUSES,
    STOPS,
    UNSPACED,
    listed,
    split_words,
    tokenise,
)

NEAR_ENOUGH: Final = 0.7
"""Share of a quote's three-word sequences that one stretch of a passage must have. One changed
word takes away three of them, so it is allowed within a quote of twelve words, not of eight."""

LONGEST: Final = 10_000
"""In characters; what is longer is no quote and is not found."""

MOST_FRAGMENTS: Final = 10
"""Parts of a quote; of more than these none is found."""

_GRAM: Final = 3
_SHORTEST_NEAR: Final = 6  # quotes with fewer words must match exactly
_LONGEST_NEAR: Final = 400
_MOST_HITS: Final = 50_000
_MOST_STRETCHES: Final = 20
_MOST_PLACES: Final = 2000
_SHIFT: Final = 2  # words that a similar stretch may have more or fewer in its middle
_NEAREST: Final = 3  # places of a fragment behind another that may follow on it
_REACH: Final = 8  # words outside a quote in which a negation counts
_LONGEST_PREPARED: Final = 50_000  # characters of passages that stay prepared for the next call
_END: Final = "\n"  # stands behind each passage; no word is like it
_ELLIPSIS: Final = re.compile(r"[\[(]?\.(?:[ \t]?\.){2,}[\])]?|\[?…\]?")
_DECISIVE: Final = NEGATIONS | variants("numbers").keys() | variants("scales").keys() | {"percent"}


class Place(NamedTuple):
    """A stretch of words: the index of the first one, and of the one behind the last."""

    begin: int
    end: int


class Found(NamedTuple):
    """Where a quote stands.

    Attributes:
        passages: The numbers of the passages that hold it, counted from 1, rising; where one has
            it without a negation at its edge, those alone.
        at: The index of the first word of its first place there.
        denied_before: Whether a negation stands just before it wherever it occurs.
        denied_behind: Whether one stands just behind it.
    """

    passages: tuple[int, ...]
    at: int
    denied_before: bool = False
    denied_behind: bool = False


class Passages:
    """Passages, prepared once for all quotes that are looked up in them.

    What one quote may cost is bounded: the first 2000 places that begin like a run of words count;
    a similar stretch is looked for at the first 50 000 places that have three of its words in a row.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: list[str] = []
        self.firsts: list[int] = []
        self._stops: list[int] = []
        self._breaks: list[int] = []
        for text in texts:
            self.firsts.append(len(self.words))
            for piece in split_words(text):
                if piece in STOPS:
                    self._stops.append(len(self.words))
                if piece in STOPS or piece in PAUSES:
                    self._breaks.append(len(self.words))
                elif UNSPACED.match(piece):
                    self.words += piece
                else:
                    self.words.append(piece.casefold())
            self.words.append(_END)
            self._breaks += (len(self.words) - 1, len(self.words))
        self.firsts.append(len(self.words))
        barred = _barred(self.words)
        self._joined = "".join(barred)
        self._ends = np.cumsum([len(word) for word in barred])
        self._begins = self._ends - [len(word) for word in self.words]

    def passage(self, at: int) -> int:
        """In which passage a word stands, counted from 1."""
        return bisect_right(self.firsts, at)

    def bounds(self, at: int) -> Place:
        """Where the passage of a word begins and ends."""
        number = self.passage(at)
        return Place(self.firsts[number - 1], self.firsts[number] - 1)

    def around(self, at: int, reach: int = 50) -> list[str]:
        """The words on both sides of one, which show the language that it is in."""
        begin, end = self.bounds(at)
        return self.words[max(begin, at - reach) : min(end, at + reach)]

    def exact(self, quote: Sequence[str]) -> list[Place]:
        """Where words stand one behind the other, however they are written together or apart."""
        wanted = "".join(_barred(quote))
        found, at = [], self._joined.find(wanted)
        for _ in range(_MOST_PLACES):
            if at < 0:
                break
            begin, end = self._begins.searchsorted(at), self._ends.searchsorted(at + len(wanted))
            if begin == len(self._begins):
                break
            is_begin = self._begins[begin] == at
            if is_begin and end < len(self._ends) and self._ends[end] == at + len(wanted):
                found.append(Place(int(begin), int(end) + 1))
            if begin + is_begin == len(self._begins):
                break
            at = self._joined.find(wanted, self._begins[begin + is_begin])
        return found

    def near(self, quote: Sequence[str], names: frozenset[str]) -> list[Place]:
        """Stretches, one in a passage, that have enough of the quote's sequences of three words."""
        size = len(quote)
        if not _SHORTEST_NEAR <= size <= _LONGEST_NEAR:
            return []
        inside = {tuple(quote[i : i + _GRAM]): i for i in reversed(range(size - _GRAM + 1))}
        grams = enumerate(zip(self.words, self.words[1:], self.words[2:], strict=False))
        hits = list(islice(((at, inside[g]) for at, g in grams if g in inside), _MOST_HITS))
        found: dict[int, Place] = {}
        starts = Counter(at - i for at, i in hits)
        for start, _ in starts.most_common(_MOST_STRETCHES):
            own = [(at, i) for at, i in hits if abs(at - i - start) <= _SHIFT]
            passage = self.passage(own[0][0])
            shared = {i for _, i in own}
            if passage in found or len(shared) < NEAR_ENOUGH * len(inside):
                continue
            (first, before), (last, behind) = own[0], own[-1]
            bounds = self.bounds(first)
            begin, end = max(bounds.begin, first - before), min(bounds.end, last + size - behind)
            covered = {i + k for i in shared for k in range(_GRAM)}
            if _agrees(quote, self.words[begin:end], covered, names):
                found[passage] = Place(begin, end)
        return sorted(found.values())

    def follows(self, end: int, begin: int, *, is_single: bool) -> bool:
        """Whether an ellipsis may join a stretch that ends there and one that begins there.

        It may not hide a negation in a sentence that it breaks off or takes up again, and a single
        word must belong to the sentence that it is quoted with.
        """
        if begin < end or self.passage(begin) != self.passage(end - 1):
            return False
        next_stop = bisect_right(self._stops, end - 1)
        last_stop = bisect_right(self._stops, begin)
        if next_stop == last_stop:
            return not self._denies(end, begin)
        return not (
            is_single
            or self._denies(end, self._stops[next_stop])
            or self._denies(self._stops[last_stop - 1], begin)
        )

    def _denies(self, begin: int, end: int) -> bool:
        return bisect_left(self._negations, begin) < bisect_left(self._negations, end)

    @cached_property
    def _negations(self) -> list[int]:
        return [at for at, word in enumerate(self.words) if word in NEGATIONS]

    def is_denied_before(self, begin: int) -> bool:
        """Whether a negation stands just before a stretch."""
        at = bisect_right(self._breaks, begin)
        since = max(begin - _REACH, self._breaks[at - 1] if at else 0)
        return denied_before(self.words[since:begin], self.words[begin : begin + 2])

    def is_denied_behind(self, end: int) -> bool:
        """Whether a negation stands just behind a stretch."""
        until = min(end + _REACH, self._breaks[bisect_left(self._breaks, end)])
        return denied_behind(self.words[end - 1], self.words[end:until])


def prepared(texts: tuple[str, ...]) -> Passages:
    """The passages, ready to be searched: most often those of a call before, of the same sample."""
    is_long = sum(map(len, texts)) > _LONGEST_PREPARED
    return Passages(texts) if is_long else _prepared(texts)


_prepared: Final = lru_cache(maxsize=32)(Passages)


def find_quote(text: str, passages: Passages) -> Found | None:
    """Where a quote stands; None where no passage holds it.

    Case, white space, punctuation, quotation marks, dashes, invisible characters and the spacing
    of tokenised text do not matter. Fragments joined by "..." must stand in one passage in their
    order, or, from three words on, each in some passage, and no negation may hide in the gap. A
    quote of six words or more may differ a little: one stretch of a passage must have at least 70
    % of its three-word sequences, and exactly its numbers, negations and names. Passages with the
    exact quote come before those with a similar one.

    The work is bounded: a quote of more than 10 000 characters is not found, nor are more than ten
    fragments; see `Passages` for the rest.

    >>> passages = Passages(["Other.", "the drug, it's not safe for children"])
    >>> find_quote("It's NOT safe", passages).passages
    (2,)
    >>> find_quote("it's ... safe", passages) is None
    True
    >>> find_quote("safe for children", passages).denied_before
    True
    """
    whole = listed(text) if len(text) <= LONGEST else []
    if not whole:
        return None
    places = passages.exact(whole)
    if places:
        return _chained(passages, [places], [len(whole)])
    parts = [part for part in _ELLIPSIS.split(text) if any(map(str.isalnum, part))]
    if len(parts) > MOST_FRAGMENTS:
        return None
    each, sizes = [], []
    for part in parts:
        quote = listed(part)
        exact = passages.exact(quote)
        own = {passages.passage(place.begin) for place in exact}
        near = passages.near(quote, _names(part))
        places = sorted(exact + [p for p in near if passages.passage(p.begin) not in own])
        if not places:
            return None
        each.append(places)
        sizes.append(len(quote))
    return _chained(passages, each, sizes) or _spread(passages, each, sizes)


def _chains(
    passages: Passages, each: Sequence[Sequence[Place]], sizes: Sequence[int]
) -> Iterator[Place]:
    """From where to where all fragments stand in order."""
    for first in each[0]:
        end = first.end
        for i, places in enumerate(each[1:], start=1):
            at = bisect_left(places, (end,))
            is_single = 1 in sizes[i - 1 : i + 1]
            following = (
                place
                for place in places[at : at + _NEAREST]
                if passages.follows(end, place.begin, is_single=is_single)
            )
            if (place := next(following, None)) is None:
                break
            end = place.end
        else:
            yield Place(first.begin, end)


def _chained(
    passages: Passages, each: Sequence[Sequence[Place]], sizes: Sequence[int]
) -> Found | None:
    """The passages that have all fragments in order, first those where no edge is denied."""
    chains = [
        (chain, passages.is_denied_before(chain.begin), passages.is_denied_behind(chain.end))
        for chain in _chains(passages, each, sizes)
    ]
    asserted = [found for found in chains if not any(found[1:])]
    best, before, behind = zip(*(asserted or chains), strict=True) if chains else ((), (), ())
    numbers = {passages.passage(place.begin) for place in best}
    return (
        Found(tuple(sorted(numbers)), min(best).begin, any(before), any(behind)) if best else None
    )


def _spread(
    passages: Passages, each: Sequence[Sequence[Place]], sizes: Sequence[int]
) -> Found | None:
    """The passages of the longest fragment, where several together hold all of them."""
    found = [_chained(passages, [places], [0]) for places in each]
    held = [found_.passages for found_ in found if found_]
    if min(sizes) < _GRAM or set(held[0]).intersection(*held[1:]):
        return None
    longest = found[max(range(len(sizes)), key=sizes.__getitem__)]
    return longest and longest._replace(
        denied_before=any(each_.denied_before for each_ in found if each_),
        denied_behind=any(each_.denied_behind for each_ in found if each_),
    )


def _barred(quote: Sequence[str]) -> list[str]:
    """The words with a bar between figures: "do n't" is "don't", and "1 5" is not "15"."""
    return [
        f"|{word}" if before[-1:].isdigit() and word[:1] in "-0123456789" else word
        for before, word in zip(("", *quote), quote, strict=False)
    ]


def _names(text: str) -> frozenset[str]:
    """The words with a capital, function words aside."""
    return (
        frozenset(word.casefold() for word in split_words(text) if word[0].isupper())
        - FUNCTION_WORDS
    )


def _agrees(
    quote: Sequence[str], stretch: Sequence[str], covered: set[int], names: frozenset[str]
) -> bool:
    """Whether a similar stretch says the same as far as lists of words can tell.

    Its numbers, signs, negations and names are those of the quote in the same order, those of the
    quote have the same neighbours there, and no word has become its opposite.
    """
    decisive = [i for i, word in enumerate(quote) if _is_decisive(word)]
    here = [_as_negation(quote[i]) for i in decisive]
    there = [_as_negation(word) for word in stretch if _is_decisive(word)]
    if not covered >= set(decisive) or here != there:
        return False
    if [word for word in quote if word in names] != [word for word in stretch if word in names]:
        return False
    one, other = tokenise(" ".join(quote)), tokenise(" ".join(stretch))
    return not (opposites(one, other) or opposites(other, one))


def _is_decisive(word: str) -> bool:
    return word in _DECISIVE or word[-1].isdigit() or not word[0].isalnum()


def _as_negation(word: str) -> str:
    return "not" if word in NEGATIONS else word

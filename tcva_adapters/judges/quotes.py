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

from tcva_adapters.text.contrast import opposites
from tcva_adapters.text.lists import variants
from tcva_adapters.text.negation import denied_before, denied_behind
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
_MOST_STRETCHES: Final = 10
_MOST_PLACES: Final = 2000
_MOST_TRIES: Final = 500
_MOST_LOOKED_AT: Final = 200
_NEAREST: Final = 3  # places before a fragment that it may follow on
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

    What one quote may cost is bounded: the first 2000 places of a run of words count; where it is
    written together or apart otherwise than there, the first 500 that begin like it are tried; a
    similar stretch is looked for at the first 50 000 places that have three of its words in a row.
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
        self._spaced = f" {' '.join(self.words)} "
        self._begins = np.cumsum([1, *(len(word) + 1 for word in self.words)])

    def passage(self, at: int) -> int:
        """In which passage a word stands, counted from 1."""
        return bisect_right(self.firsts, at)

    def around(self, at: int, reach: int = 50) -> list[str]:
        """The words on both sides of one, which show the language that it is in."""
        since = max(self.firsts[self.passage(at) - 1], at - reach)
        return self.words[since : min(self.words.index(_END, at), at + reach)]

    def exact(self, quote: Sequence[str]) -> list[Place]:
        """Where words stand one behind the other, however they are written together or apart."""
        found = list(islice(self._spaced_places(quote), _MOST_PLACES))
        return found or list(self._joined_places(quote))

    def _spaced_places(self, quote: Sequence[str]) -> Iterator[Place]:
        wanted = f" {' '.join(quote)} "
        at = self._spaced.find(wanted)
        while at >= 0:
            begin = int(self._begins.searchsorted(at + 1))
            yield Place(begin, begin + len(quote))
            # The space at its end begins what follows.
            at = self._spaced.find(wanted, at + len(wanted) - 1)

    def _joined_places(self, quote: Sequence[str]) -> Iterator[Place]:
        text, begins, ends = self._joined
        wanted = "".join(_barred(quote))
        at = text.find(wanted)
        for _ in range(_MOST_TRIES):
            if at < 0:
                return
            begin, end = begins.searchsorted(at), ends.searchsorted(at + len(wanted))
            if begin == len(begins):
                return
            is_begin = begins[begin] == at
            if is_begin and end < len(ends) and ends[end] == at + len(wanted):
                yield Place(int(begin), int(end) + 1)
            if begin + is_begin == len(begins):
                return
            at = text.find(wanted, begins[begin + is_begin])

    @cached_property
    def _joined(self) -> tuple[str, np.ndarray, np.ndarray]:
        barred = _barred(self.words)
        ends = np.cumsum([len(word) for word in barred])
        return "".join(barred), ends - [len(word) for word in self.words], ends

    def near(self, quote: Sequence[str], names: frozenset[str]) -> list[Place]:
        """In each passage the stretch that has most of the quote's sequences, if it has enough."""
        size = len(quote)
        if not _SHORTEST_NEAR <= size <= _LONGEST_NEAR:
            return []
        inside: dict[tuple[str, ...], list[int]] = {}
        for i in range(size - _GRAM + 1):
            inside.setdefault(tuple(quote[i : i + _GRAM]), []).append(i)
        grams = zip(self.words, self.words[1:], self.words[2:], strict=False)
        hits = list(islice(((i, g) for i, g in enumerate(grams) if g in inside), _MOST_HITS))
        best = self._best_windows(hits, inside, size)
        found = []
        for first, last in islice(best, _MOST_STRETCHES):
            number = self.passage(hits[first][0])
            end_of_passage = self.words.index(_END, hits[last][0])
            begin = max(self.firsts[number - 1], hits[first][0] - inside[hits[first][1]][0])
            end = min(end_of_passage, hits[last][0] + size - inside[hits[last][1]][-1])
            shared = {i for _, gram in hits[first : last + 1] for i in inside[gram]}
            covered = {i + k for i in shared for k in range(_GRAM)}
            if _agrees(quote, self.words[begin:end], covered, names):
                found.append(Place(begin, end))
        return found

    def _best_windows(
        self,
        hits: Sequence[tuple[int, tuple[str, ...]]],
        inside: dict[tuple[str, ...], list[int]],
        size: int,
    ) -> Iterator[tuple[int, int]]:
        """Of each passage with enough sequences of a quote the first and last hit that has most."""
        held: Counter[tuple[str, ...]] = Counter()
        first = count = passage = 0
        best, window = 0.0, (0, 0)
        enough = NEAR_ENOUGH * (size - _GRAM + 1)
        for last, (at, gram) in enumerate(hits):
            if passage != (passage := self.passage(at)):
                if best:
                    yield window
                held.clear()
                first, count, best = last, 0, 0.0
            count += 0 if held[gram] else len(inside[gram])
            held[gram] += 1
            while at - hits[first][0] > size - _GRAM + 2:
                gone = hits[first][1]
                held[gone] -= 1
                count -= 0 if held[gone] else len(inside[gone])
                first += 1
            if count >= enough and count > best:
                best, window = count, (first, last)
        if best:
            yield window

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
        since = max(begin - _REACH, self._breaks[at - 1] if at else 0, 0)
        since = max(since, self.firsts[self.passage(begin) - 1])
        return denied_before(self.words[since:begin], self.words[begin : begin + 2])

    def is_denied_behind(self, end: int) -> bool:
        """Whether a negation stands just behind a stretch."""
        at = bisect_left(self._breaks, end)
        until = min(end + _REACH, self._breaks[at] if at < len(self._breaks) else end + _REACH)
        behind = self.words[end:until]
        behind = behind[: behind.index(_END)] if _END in behind else behind
        return denied_behind(self.words[end - 1], behind)


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


class _Chain(NamedTuple):
    """Places of fragments one behind the other: how the first begins, and where the last ends."""

    denied_before: bool
    begin: int
    end: int


def _chained(
    passages: Passages, each: Sequence[Sequence[Place]], sizes: Sequence[int]
) -> Found | None:
    """The passages that have all fragments in order, first those where no edge is denied."""
    chains = [
        _Chain(i >= _MOST_LOOKED_AT or passages.is_denied_before(place.begin), *place)
        for i, place in enumerate(each[0])
    ]
    for i, places in enumerate(each[1:], start=1):
        chains.sort(key=lambda chain: chain.end)
        ends = [chain.end for chain in chains]
        is_single = 1 in sizes[i - 1 : i + 1]
        reached = []
        for place in places:
            at = bisect_right(ends, place.begin)
            before = [
                chain
                for chain in chains[max(0, at - _NEAREST) : at]
                if passages.follows(chain.end, place.begin, is_single=is_single)
            ]
            if before:
                reached.append(min(before)._replace(end=place.end))
        chains = reached
    if not chains:
        return None
    behind = [
        i >= _MOST_LOOKED_AT or passages.is_denied_behind(c.end) for i, c in enumerate(chains)
    ]
    asserted = [c for c, is_denied in zip(chains, behind, strict=True) if not is_denied]
    asserted = [chain for chain in asserted if not chain.denied_before]
    numbers = {passages.passage(chain.begin) for chain in asserted or chains}
    return Found(
        tuple(sorted(numbers)),
        min(chain.begin for chain in asserted or chains),
        not asserted and any(chain.denied_before for chain in chains),
        not asserted and any(behind),
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

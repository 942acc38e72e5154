"""Where a run of words stands in passages, word for word or nearly so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from tcva_adapters.judging.evidence.quote import Quote
from tcva_adapters.judging.evidence.words import NEGATIONS, Indexes, Words, joined

NEAR_ENOUGH: Final = 0.7
"""Share of a quote's three-word sequences that one stretch of a passage must have. One changed
word takes away three of them, so it is allowed within a quote of twelve words, not of eight."""

GRAM: Final = 3
_SHORTEST_NEAR: Final = 6
"""Quotes with fewer words must match exactly."""

_LONGEST_NEAR: Final = 400
_MOST_HITS: Final = 50_000
_MOST_STRETCHES: Final = 50
_ENOUGH_STRETCHES: Final = 10
_MOST_PLACES: Final = 5000
_MOST_TRIES: Final = 500
_AROUND: Final = 50
_MOST_PREPARED: Final = 32
_LONGEST_PREPARED: Final = 50_000
"""Characters of passages that stay prepared for the next call; longer ones take much memory."""

_MOST_KINDS: Final = 2_000_000  # its cube is a 64-bit number


class Places(NamedTuple):
    """Stretches of words, rising: the index of each first word, and of the one behind each last."""

    begins: Indexes
    ends: Indexes

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]]) -> Places:
        """From pairs of such indexes."""
        begins, ends = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
        return cls(begins, ends)

    def where(self, flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Places:
        """Some of them."""
        return Places(self.begins[flags], self.ends[flags])


class Passages:
    """Passages, prepared once for all quotes that are looked up in them.

    What one quote may cost is bounded: the first 5000 places of a run of words count; where it is
    written together or apart otherwise than there, the first 500 that begin like it are tried; a
    similar stretch is looked for at the first 50 000 places that have three of its words in a row,
    in 50 passages until ten have one, and for 400 words at most.

    Attributes:
        words: The passages, one behind the other.
        firsts: The index of the first word of each.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.words = Words.of(texts)
        self.firsts = np.concatenate(([0], self.words.ends + 1))[: len(texts)]

    def passage(self, at: Indexes) -> Indexes:
        """In which passage words stand, counted from 0."""
        return self.firsts.searchsorted(at, "right") - 1

    def around(self, at: int) -> list[str]:
        """The words on both sides of one, which show the language it is in."""
        passage = int(self.firsts.searchsorted(at, "right")) - 1
        begin, end = int(self.firsts[passage]), int(self.words.ends[passage])
        return self.words.between(max(begin, at - _AROUND), min(end, at + _AROUND))

    def own(self, places: Places) -> Indexes:
        """In which passage each place is, counted from 0."""
        return self.passage(places.begins)

    @cached_property
    def negations(self) -> Indexes:
        """Which words are negations."""
        listed = self.words.listed()
        return np.flatnonzero(
            np.fromiter(map(NEGATIONS.__contains__, listed), np.bool_, len(listed))
        )

    def exact(self, quote: Quote) -> Places:
        """Where it stands word for word, however its words are written together or apart."""
        starts = list(islice(self._spaced_starts(quote), _MOST_PLACES))
        if starts:
            begins = self.words.begins.searchsorted(starts)
            return Places(begins, begins + len(quote))
        return Places.of(list(self._joined_pairs(quote)))

    def _spaced_starts(self, quote: Quote) -> Iterator[int]:
        at = self.words.spaced.find(quote.spaced)
        while at >= 0:
            yield at + 1
            # The space at its end begins what follows.
            at = self.words.spaced.find(quote.spaced, at + len(quote.spaced) - 1)

    def _joined_pairs(self, quote: Quote) -> Iterator[tuple[int, int]]:
        wanted, (text, begins, ends) = joined(quote.spaced), self._joined
        at = text.find(wanted)
        for _ in range(_MOST_TRIES):
            if at < 0:
                return
            begin = int(np.searchsorted(begins, at))
            end = int(np.searchsorted(ends, at + len(wanted)))
            if begin == len(begins):
                return
            is_begin = begins[begin] == at
            if is_begin and end < len(ends) and ends[end] == at + len(wanted):
                yield begin, end + 1
            if is_begin and begin + 1 == len(begins):
                return
            at = text.find(wanted, int(begins[begin + is_begin]))

    @cached_property
    def _joined(self) -> tuple[str, Indexes, Indexes]:
        return self.words.joined()

    def near(self, quote: Quote) -> Places:
        """In each passage the stretch that has most of the quote's sequences, if it has enough."""
        size = len(quote)
        if not _SHORTEST_NEAR <= size <= _LONGEST_NEAR:
            return Places.of([])
        n_grams = size - GRAM + 1
        numbers: dict[tuple[str, ...], list[int]] = {}
        for i in range(n_grams):
            numbers.setdefault(tuple(quote.listed[i : i + GRAM]), []).append(i)
        at, gram = self._hits(numbers)
        inside = [*numbers.values()]
        own = self.passage(at)
        # So far apart that no window reaches into another passage.
        apart = at + own * (n_grams + GRAM)
        weights = np.array([len(each) for each in inside])[gram]
        counts = _in_windows(apart, gram, weights, n_grams + 1)
        good = np.flatnonzero(counts >= NEAR_ENOUGH * n_grams)
        found = []
        for passage in np.unique(own[good])[:_MOST_STRETCHES]:
            here = good[own[good] == passage]
            last = here[np.argmax(counts[here])]
            first = np.searchsorted(apart, apart[last] - n_grams - 1)
            head, tail = inside[gram[first]][0], inside[gram[last]][-1]
            begin = max(int(self.firsts[passage]), int(at[first]) - head)
            end = min(int(self.words.ends[passage]), int(at[last]) + size - tail)
            shared = {i for g in set(gram[first : last + 1].tolist()) for i in inside[g]}
            covered = {i + k for i in shared for k in range(GRAM)}
            if quote.agrees(self.words.between(begin, end), covered):
                found.append((begin, end))
            if len(found) == _ENOUGH_STRETCHES:
                break
        return Places.of(found)

    def _hits(self, grams: Iterable[tuple[str, ...]]) -> tuple[Indexes, Indexes]:
        """Where three-word sequences begin, rising, and the number of each among those given."""
        order, keys, index = self._grams
        n = len(index)
        at, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for number, gram in enumerate(grams):
            ids = [index.get(word, -1) for word in gram]
            if -1 in ids:
                continue
            key = (ids[0] * n + ids[1]) * n + ids[2]
            low, high = np.searchsorted(keys, [key, key + 1]).tolist()
            at.append(order[low:high])
            numbers.append(np.full(high - low, number))
        positions = np.concatenate(at)
        rising = np.argsort(positions, kind="stable")[:_MOST_HITS]
        return positions[rising], np.concatenate(numbers)[rising]

    @cached_property
    def _grams(self) -> tuple[Indexes, Indexes, Mapping[str, int]]:
        """Where each three-word sequence begins, and its number, rising; the number of each word.

        Nothing at all where the numbers of sequences would be too large.
        """
        listed = self.words.listed()
        index = {word: number for number, word in enumerate(dict.fromkeys(listed))}
        n = len(index)
        if n > _MOST_KINDS:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), {}
        ids = np.fromiter(map(index.__getitem__, listed), np.int64, len(listed))
        keys = (ids[:-2] * n + ids[1:-1]) * n + ids[2:]
        order = np.argsort(keys, kind="stable")
        return order, keys[order], index


def prepared(texts: tuple[str, ...]) -> Passages:
    """The passages, ready to be searched: most often those of a call before, of the same sample."""
    is_long = sum(map(len, texts)) > _LONGEST_PREPARED
    return Passages(texts) if is_long else _prepared(texts)


_prepared: Final = lru_cache(maxsize=_MOST_PREPARED)(Passages)


def _in_windows(at: Indexes, kind: Indexes, weights: Indexes, reach: int) -> Indexes:
    """For each position the weight of all kinds that occur there or at most so far before it.

    Args:
        at: Positions, rising.
        kind: Which kind stands at each.
        weights: Its weight; of several of one kind in reach one counts.
        reach: How far a window reaches back.
    """
    until = at + reach + 1
    order = np.argsort(kind, kind="stable")
    again = kind[order[1:]] == kind[order[:-1]]
    earlier, later = order[:-1][again], order[1:][again]
    until[earlier] = np.minimum(until[earlier], at[later])
    gone = np.argsort(until, kind="stable")
    lost = np.concatenate(([0], np.cumsum(weights[gone])))
    counts: Indexes = np.cumsum(weights) - lost[np.searchsorted(until[gone], at, "right")]
    return counts

"""Ranks and concordant pairs of many resamples at once, from counts per sample.

Everything here is in whole numbers, hence exact. Arrays have one row per resample and one column
per sample or per distinct value.
"""

from __future__ import annotations

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray


class Ranks:
    """One variable, whose values are ranked anew in every resample.

    Attributes:
        codes: The place of each sample's value among the distinct values, shape (n,).
        size: Distinct values.
    """

    def __init__(self, values: FloatArray | IntArray) -> None:
        distinct, codes = np.unique(values, return_inverse=True)
        self.codes: IntArray = codes.astype(np.int64)
        self.size = len(distinct)
        self._order = np.argsort(self.codes, kind="stable")
        self._starts = np.searchsorted(self.codes[self._order], np.arange(self.size))
        self._tied = self.size < len(values)

    def per_value(self, counts: IntArray) -> IntArray:
        """How often each distinct value was drawn, in ascending order of the values."""
        ordered: IntArray = np.take(counts, self._order, axis=1)
        if self._tied:
            ordered = np.add.reduceat(ordered, self._starts, axis=1)
        return ordered

    def centred(self, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Twice the ranks less twice their mean, per sample, and the sums of their squares.

        Equal values share the average of their places; twice it is whole.
        """
        drawn = self.per_value(counts)
        # c draws of a value, with u draws up to it, of m in all: the average rank is u - (c-1)/2,
        # the mean of all ranks (m+1)/2; twice their difference is 2u - c - m.
        places = np.cumsum(drawn, axis=1)
        total = places[:, -1:].copy()
        places *= 2
        places -= drawn
        places -= total
        ranks = places.astype(np.float64)
        squares = drawn * ranks
        squares *= ranks
        return np.take(ranks, self.codes, axis=1), squares.sum(axis=1)

    def tied_pairs(self, counts: IntArray) -> IntArray:
        """Ordered pairs of draws with equal values, a draw with itself included."""
        pairs: IntArray = np.square(self.per_value(counts)).sum(axis=1)
        return pairs


class Concordance:
    """Pairs of draws that two variables put in the same order, counted in O(n log k).

    Two different codes of the first variable agree in their leading bits and then differ in one.
    So for each bit it is enough to compare, among samples with the same leading bits, those with
    0 there to those with 1: sorted by the second variable, a running sum of the former says how
    many of them lie below each of the latter.
    """

    def __init__(self, first: Ranks, second: Ranks) -> None:
        if first.size > second.size:
            first, second = second, first
        self._first, self._second = first, second
        self._both = Ranks(first.codes * second.size + second.codes)
        self._bits: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
        for bit in range((first.size - 1).bit_length()):
            base = (first.codes >> (bit + 1)) * second.size
            keys = base + second.codes
            upper = (first.codes >> bit) & 1 == 1
            low, high = np.flatnonzero(~upper), np.flatnonzero(upper)
            low = low[np.argsort(keys[low], kind="stable")]
            start = np.searchsorted(keys[low], base[high])
            stop = np.searchsorted(keys[low], keys[high])
            some = stop > start
            self._bits.append((low, high[some], start[some], stop[some]))

    def tau_b(self, counts: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Concordant less discordant ordered pairs, and the pairs that differ on either side."""
        concordant = np.zeros(len(counts), dtype=np.int64)
        for low, high, start, stop in self._bits:
            passed = np.zeros((len(counts), len(low) + 1), dtype=np.int64)
            np.cumsum(np.take(counts, low, axis=1), axis=1, out=passed[:, 1:])
            below = np.take(passed, stop, axis=1)
            below -= np.take(passed, start, axis=1)
            below *= np.take(counts, high, axis=1)
            concordant += below.sum(axis=1)
        pairs = np.square(counts.sum(axis=1))
        first, second = self._first.tied_pairs(counts), self._second.tied_pairs(counts)
        different = pairs - first - second + self._both.tied_pairs(counts)
        # Ordered pairs: each concordant pair counts twice.
        balance: IntArray = 4 * concordant - different
        return balance, (pairs - first).astype(np.float64), (pairs - second).astype(np.float64)

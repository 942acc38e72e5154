"""Bootstrap resamples as counts: how often each sample was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tcva_adapters.stats.checks import IntArray, group_codes, whole

# Counts, and each array that is derived from them, have this many cells per block: 128 KiB of
# numbers. That stays in a processor's cache, bounds the memory, and does not make the allocator
# hand every array back to the system, which would cost more than the arithmetic.
_CELLS: Final = 1 << 14
_FEWEST: Final = 8


def resample(
    n: int, n_boot: int, *, seed: int = 0, groups: Sequence[object] | None = None
) -> Iterator[IntArray]:
    """Bootstrap resamples, block by block, each as counts per sample.

    Counts serve both ways of drawing: without groups, n samples are drawn with replacement; with
    groups (conversations, documents, raters), as many groups as there are, each with all of its
    samples, so that a resample may have more or fewer samples than n.

    Args:
        n: Samples.
        n_boot: Resamples.
        seed: Of ``Generator(PCG64(seed))``, whose ``integers(0, n, (n_boot, n))`` are the draws.
            The same seed gives the same resamples.
        groups: One per sample; equal objects are one group.

    Yields:
        Shape (rows, n): entry (b, i) says how often resample b has sample i. The rows of all
        blocks together are ``n_boot``. How they are cut depends on n alone and has no influence
        on the draws.

    Raises:
        InvalidValueError: n or n_boot below 1, a negative seed, or groups that do not fit.

    >>> np.concatenate(list(resample(4, 3)))
    array([[0, 1, 2, 1],
           [3, 1, 0, 0],
           [1, 0, 1, 2]])
    """
    n, n_boot = whole("n", n, least=1), whole("n_boot", n_boot, least=1)
    codes = None if groups is None else group_codes(groups, np.ones(n, dtype=np.bool_))
    return draw(n, n_boot, seed=seed, codes=codes)


def draw(n: int, n_boot: int, *, seed: int, codes: IntArray | None) -> Iterator[IntArray]:
    """The blocks of ``resample``, with groups as numbers from 0 up.

    Raises:
        InvalidValueError: A seed that is none.
    """
    seed = whole("seed", seed, least=0)
    generator = np.random.Generator(np.random.PCG64(seed))
    return _blocks(generator, n, n_boot, codes)


def _blocks(
    generator: np.random.Generator, n: int, n_boot: int, codes: IntArray | None
) -> Iterator[IntArray]:
    units = n if codes is None else int(codes.max()) + 1
    for start, stop in _spans(n_boot, n):
        rows = stop - start
        # 64-bit integers take the generator's words one after the other, so that cutting the
        # draws into blocks does not change them.
        drawn = generator.integers(0, units, size=(rows, units), dtype=np.int64)
        drawn += np.arange(0, rows * units, units)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
        yield counts if codes is None else counts[:, codes]


def leave_one_out(n: int, codes: IntArray | None) -> Iterator[IntArray]:
    """The jackknife as counts: row j has every sample once but the j-th, or the j-th group."""
    codes = np.arange(n) if codes is None else codes
    for start, stop in _spans(int(codes.max()) + 1, n):
        yield (codes != np.arange(start, stop)[:, None]).astype(np.int64)


def _spans(total: int, n: int) -> Iterator[tuple[int, int]]:
    """Starts and stops of blocks that cover ``total`` rows of n cells."""
    rows = max(_FEWEST, _CELLS // n)
    for start in range(0, total, rows):
        yield start, min(start + rows, total)

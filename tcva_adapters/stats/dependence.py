"""Does something depend on something else? A test by permutations, or by sign flips of groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tcva_adapters.stats.checks import FloatArray, IntArray, whole

DRAWS: Final = 9_999
"""So many permutations or flips have a smallest p of 1 / 10 000."""

_CELLS: Final = 1 << 18
_SAME: Final = 1e-9
_NOTHING: Final = 1e-12


def dependence(
    columns: FloatArray,
    targets: FloatArray,
    *,
    codes: IntArray | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> FloatArray:
    """Whether targets depend on columns: a p for each target.

    The statistic is the largest squared t over the columns: of the slope of a target on that column,
    by a standard error that does not take errors to be equally spread (HC0; by group with groups).
    So with ranks it is about a rank correlation, with an indicator of each part it is Welch's, and a
    spread alone that differs is, for many samples, no reason to reject (DiCiccio and Romano, Robust
    permutation tests for correlation and regression coefficients, JASA 112, 2017).

    Without groups the targets change places. Where targets do not depend on the columns, p is at most
    any level in at most that share of cases, however few samples there are. With groups, samples of
    one group resemble each other and cannot change places: the deviations of each group together take
    either sign instead (the wild cluster bootstrap of Cameron, Gelbach and Miller, Review of Economics
    and Statistics 90, 2008), which is approximate and gets better with the number of groups.

    Args:
        columns: Shape (N, K), finite.
        targets: Shape (N, M), finite.
        codes: The group of each sample, from 0 up; None where samples stand alone.
        draws: Permutations, or flips.
        seed: Of the draws; the same ones serve all targets.

    Returns:
        Shape (M,), each ``(hits + 1) / (draws + 1)``; nan where a target or every column is constant.

    Raises:
        InvalidValueError: Draws below 1, or a negative seed.

    >>> length = np.arange(20.0)[:, None]
    >>> dependence(length, -length, draws=999)
    array([0.001])
    """
    draws, seed = whole("draws", draws, least=1), whole("seed", seed, least=0)
    a, b = _centred(columns), _centred(targets)
    if codes is not None:
        return _by_signs(a, b, codes, draws, seed)
    observed = np.array([_by_places(one[None], a) for one in b.T])[:, 0]
    hits = np.zeros(len(observed))
    for places in _permutations(len(a), draws, seed):
        for number, one in enumerate(b.T):
            reached = _by_places(one[places], a) >= observed[number] * (1.0 - _SAME)
            hits[number] += np.count_nonzero(reached)
    return _p(hits, observed, draws)


def _centred(values: FloatArray) -> FloatArray:
    """Less their means; 0 exactly where all are equal but for rounding."""
    varies = np.ptp(values, axis=0) > _NOTHING * np.abs(values).max(axis=0)
    centred: FloatArray = np.where(varies, values - values.mean(axis=0), 0.0)
    return centred


def _by_places(targets: FloatArray, columns: FloatArray) -> FloatArray:
    """The statistic of targets of shape (rows, N)."""
    squares = columns**2
    power = squares.sum(axis=0)
    products, own = targets @ columns, targets**2 @ squares
    slopes = np.divide(products, power, out=np.zeros(products.shape), where=power > 0.0)
    # sum((a (b - slope a))^2), multiplied out.
    cross = targets @ (squares * columns)
    spreads = own - 2.0 * slopes * cross + slopes**2 * (squares**2).sum(axis=0)
    return _largest(products, spreads, own)


def _largest(products: FloatArray, spreads: FloatArray, own: FloatArray) -> FloatArray:
    """The largest ``products^2 / spreads`` over the columns."""
    ratio = np.where(products != 0.0, np.inf, 0.0)  # a line without any error
    np.divide(products**2, spreads, out=ratio, where=spreads > _NOTHING * own)
    largest: FloatArray = ratio.max(axis=-1)
    return largest


def _permutations(n: int, draws: int, seed: int) -> Iterator[IntArray]:
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _CELLS // n)
    for start in range(0, draws, rows):
        yield rng.permuted(np.tile(np.arange(n), (min(rows, draws - start), 1)), axis=1)


def _by_signs(
    columns: FloatArray, targets: FloatArray, codes: IntArray, draws: int, seed: int
) -> FloatArray:
    clusters = int(codes.max()) + 1
    sides = np.zeros((clusters, targets.shape[1]))
    by_group = np.zeros((clusters, targets.shape[1], columns.shape[1]))
    ones, powers = np.zeros((2, clusters, columns.shape[1]))
    np.add.at(sides, codes, targets)
    np.add.at(by_group, codes, targets[:, :, None] * columns[:, None, :])
    sums = by_group.swapaxes(0, 1)
    np.add.at(ones, codes, columns)
    np.add.at(powers, codes, columns**2)

    def statistic(signs: FloatArray, target: int) -> FloatArray:
        """Of targets whose groups have these signs, shape (rows, clusters)."""
        products = signs @ sums[target]
        slopes = np.divide(
            products, powers.sum(axis=0), out=np.zeros(products.shape), where=products != 0.0
        )
        means = signs @ sides[:, target] / len(codes)
        rest = (
            signs[:, :, None] * sums[target]
            - means[:, None, None] * ones
            - slopes[:, None, :] * powers
        )
        return _largest(products, (rest**2).sum(axis=1), (sums[target] ** 2).sum(axis=0))

    observed = [float(statistic(np.ones((1, clusters)), target)[0]) for target in range(len(sums))]
    rng = np.random.Generator(np.random.PCG64(seed))
    hits = np.zeros(len(sums))
    rows = max(1, _CELLS // (clusters * columns.shape[1]))
    for start in range(0, draws, rows):
        signs = rng.choice(np.array([-1.0, 1.0]), (min(rows, draws - start), clusters))
        for target, reached in enumerate(observed):
            at_least = statistic(signs, target) >= reached * (1.0 - _SAME)
            hits[target] += np.count_nonzero(at_least)
    return _p(hits, np.array(observed), draws)


def _p(hits: FloatArray, observed: FloatArray, draws: int) -> FloatArray:
    return np.where(observed > 0.0, (hits + 1.0) / (draws + 1.0), np.nan)

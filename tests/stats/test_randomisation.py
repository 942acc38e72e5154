"""Tukey's test by randomisation: against a loop, exact counts, scipy, and under the null."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.randomisation import TukeyHSD, shuffled_tables, tukey_hsd

NAN = math.nan


def scores(n: int, systems: int, *, gaps: float = 0.0, seed: int = 0) -> FloatArray:
    """Scores in steps of a tenth, so that many of them tie."""
    rng = np.random.default_rng(seed)
    table = np.round(
        np.clip(rng.normal(0.6, 0.3, (n, systems)) + 0.1 * rng.random(systems), 0, 1), 1
    )
    table[rng.random(table.shape) < gaps] = NAN
    return np.asarray(table, dtype=np.float64)


def direct(table: FloatArray, *, number: int, seed: int) -> FloatArray:
    """The definition, one copy and one pair at a time."""
    systems = table.shape[1]
    means = np.nanmean(table, axis=0)
    reached = np.zeros((systems, systems), dtype=int)
    for copy in shuffled_tables(table, permutations=number, seed=seed):
        shuffled = np.nanmean(copy, axis=0)
        q = shuffled.max() - shuffled.min()
        for i, j in product(range(systems), repeat=2):
            reached[i, j] += q >= abs(means[i] - means[j]) - 1e-12
    p = (1 + reached) / (number + 1)
    np.fill_diagonal(p, NAN)
    return np.asarray(p, dtype=np.float64)


@pytest.mark.parametrize(
    "table",
    [
        scores(25, 3),
        scores(40, 6, seed=1),
        scores(30, 5, gaps=0.3, seed=2),
        scores(12, 10, seed=3),  # too many orders to list
        scores(15, 11, gaps=0.25, seed=4),  # some rows are short, some long
        np.array([[0.5, 0.1], [0.2, 0.2], [NAN, 0.9], [0.7, 0.3]]),
    ],
    ids=["three", "six", "gaps", "wide", "wide with gaps", "tiny"],
)
def test_equal_to_a_direct_loop_over_the_same_copies(table: FloatArray) -> None:
    found = tukey_hsd(table, permutations=1500, seed=7)
    assert np.array_equal(found.p, direct(table, number=1500, seed=7), equal_nan=True)
    assert found.p[0, 1] == found.p[1, 0]


def test_ties_count_as_reached_by_exact_arithmetic() -> None:
    # Tenths as whole numbers: sums are exact, and so is the comparison.
    table = scores(30, 4, seed=5)
    tenths = np.round(table * 10).astype(int)
    observed = [Fraction(int(column.sum())) for column in tenths.T]
    reached = equal = 0
    for copy in shuffled_tables(table, permutations=3000, seed=1):
        sums = [Fraction(int(column.sum())) for column in np.round(copy * 10).astype(int).T]
        q = max(sums) - min(sums)
        reached += q >= abs(observed[0] - observed[1])
        equal += q == abs(observed[0] - observed[1])
    assert equal > 20  # or the case would show nothing
    found = tukey_hsd(table, permutations=3000, seed=1)
    assert found.p[0, 1] == (1 + reached) / 3001
    assert tukey_hsd(table, permutations=3000, seed=1, estimate="count").p[0, 1] == reached / 3000


def test_copies_shuffle_rows_and_leave_gaps_where_they_are() -> None:
    table = scores(20, 5, gaps=0.3, seed=6)
    seen = list(shuffled_tables(table, permutations=40, seed=2))
    assert len(seen) == 40
    for copy in seen:
        assert np.array_equal(np.isnan(copy), np.isnan(table))
        assert np.array_equal(np.sort(copy, axis=1), np.sort(table, axis=1), equal_nan=True)
    assert not np.array_equal(seen[0], seen[1], equal_nan=True)


def test_every_order_is_equally_likely() -> None:
    drawn = [tuple(copy[0]) for copy in shuffled_tables([[0.0, 1.0, 2.0]], permutations=12_000)]
    counts = [drawn.count(order) for order in permutations((0.0, 1.0, 2.0))]
    assert sum(counts) == 12_000
    assert stats.chisquare(counts).pvalue > 0.01


def test_against_all_tables_there_are() -> None:
    # Four queries and three systems have 6**4 = 1296 equally likely tables.
    table = np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.7, 0.1], [0.9, 0.4, 0.4]])
    ranges = np.array(
        [np.ptp(np.mean(rows, axis=0)) for rows in product(*map(permutations, table.tolist()))]
    )
    assert len(ranges) == 1296
    found = tukey_hsd(table, permutations=20_000, estimate="count")
    for i, j in found.pairs():
        exact = np.mean(ranges >= abs(found.differences[i, j]) - 1e-12)
        assert found.p[i, j] == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 20_000))


@pytest.mark.slow
def test_same_decisions_as_scipy_on_normal_data() -> None:
    # Differences small beside the noise: a system far off would make the shuffles wider.
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = rng.normal([0.0, 0.01, 0.35, 0.7], 1.0, (400, 4))
        ours = tukey_hsd(table, permutations=4000, seed=seed)
        theirs = stats.tukey_hsd(*table.T)
        off = ~np.eye(4, dtype=bool)
        assert np.array_equal(ours.p[off] < 0.05, theirs.pvalue[off] < 0.05)
        assert np.abs(ours.p[off] - theirs.pvalue[off]).max() < 0.05
        assert ours.differences[0, 3] == pytest.approx(theirs.statistic[0, 3], abs=1e-12)


@pytest.mark.slow
def test_under_the_null_p_is_uniform_and_the_level_is_kept() -> None:
    # 1000 data sets without any difference, but with hard and easy queries.
    rng = np.random.default_rng(12)
    smallest, pair = [], []
    for number in range(1000):
        table = rng.normal(rng.normal(0, 2, (25, 1)), 1.0, (25, 4))
        smallest.append(tukey_hsd(table, permutations=499, seed=number).pair_ps().min())
        pair.append(tukey_hsd(table[:, :2], permutations=499, seed=number).p[0, 1])
    assert stats.kstest(smallest, "uniform").pvalue > 0.01
    assert stats.kstest(pair, "uniform").pvalue > 0.01
    assert np.mean(np.array(smallest) < 0.05) == pytest.approx(0.05, abs=0.015)


def test_one_sided() -> None:
    found = tukey_hsd(np.tile([0.9, 0.6, 0.6], (6, 1)), permutations=999)
    p = found.p[0, 1]
    assert found.one_sided(0, 1) == p / 2
    assert found.one_sided(1, 0) == 1 - p / 2
    assert found.one_sided(1, 2) == found.one_sided(2, 1) == 0.5


def test_a_difference_that_is_rounding_alone_is_none() -> None:
    # 0.1 + 0.2 is not 0.3 in floats; on paper both means are 0.15.
    found = tukey_hsd([[0.1, 0.3], [0.2, 0.0]], permutations=99)
    assert found.p[0, 1] == 1.0
    assert found.one_sided(0, 1) == 0.5


def test_a_system_without_scores() -> None:
    found = tukey_hsd([[0.1, NAN, 0.9], [0.2, NAN, 0.8], [NAN, NAN, 0.9]], permutations=99)
    assert found.n.tolist() == [2, 0, 3]
    assert np.isnan(found.p[1]).all()
    assert np.isnan(found.means[1])
    assert math.isnan(found.one_sided(0, 1))
    assert list(found.pairs()) == [(0, 2)]
    assert len(found.pair_ps()) == 1


def test_systems_without_a_common_query_have_no_evidence() -> None:
    found = tukey_hsd([[0.1, NAN], [NAN, 0.9]], permutations=99)
    assert found.p[0, 1] == 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(2, 9), st.integers(0, 1000))
def test_properties(n: int, systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Eighths and whole numbers: all sums are exact.
    table = rng.integers(0, 9, (n, systems)) / 8
    found = tukey_hsd(table, permutations=64, seed=seed)
    ps = found.pair_ps()
    assert ((ps >= 1 / 65) & (ps <= 1)).all()
    assert (np.diff(found.ranges) >= 0).all()
    # A harder query, for all systems alike, changes no difference; nor does turning the scale.
    harder = table + rng.integers(-4, 5, (n, 1))
    assert np.array_equal(tukey_hsd(harder, permutations=64, seed=seed).pair_ps(), ps)
    assert np.array_equal(tukey_hsd(-table, permutations=64, seed=seed).pair_ps(), ps)


def test_a_longer_run_begins_with_the_shorter_one() -> None:
    table = scores(300, 4, gaps=0.1)
    short = list(shuffled_tables(table, permutations=30, seed=4))
    longer = list(shuffled_tables(table, permutations=1500, seed=4))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(short, longer, strict=False))
    same = tukey_hsd(table, permutations=1500, seed=4), tukey_hsd(table, permutations=1500, seed=4)
    assert np.array_equal(same[0].ranges, same[1].ranges)
    other = tukey_hsd(table, permutations=1500, seed=5)
    assert not np.array_equal(same[0].ranges, other.ranges)


def test_memory_is_bounded_and_progress_is_told() -> None:
    table = scores(4719, 6)
    told: list[tuple[int, int]] = []
    tracemalloc.start()
    tukey_hsd(table, permutations=300, progress=lambda done, of: told.append((done, of)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    assert told[-1] == (300, 300)
    assert len(told) > 3


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ([[0.5], [0.6]], {}, r"shape \(2, 1\)"),
        ([0.5, 0.6], {}, "2 dimension"),
        ([[0.5, math.inf]], {}, "infinite"),
        ([[0.5, 0.6]], {"permutations": 0}, "permutations is 0"),
        ([[0.5, 0.6]], {"seed": -1}, "seed is -1"),
        ([[0.5, 0.6]], {"estimate": "exact"}, "no estimate 'exact'"),
    ],
)
def test_mistakes(table: list[float], options: dict[str, int], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        tukey_hsd(table, **options)  # type: ignore[arg-type]  # the point


def test_nothing_differs_where_all_scores_are_equal() -> None:
    found: TukeyHSD = tukey_hsd([[0.5, 0.5, 0.5]] * 3, permutations=19)
    assert (found.pair_ps() == 1.0).all()

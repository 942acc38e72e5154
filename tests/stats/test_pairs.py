"""All pairs of systems: against exact counts, plain loops over the same draws, and moments of scipy."""

import math
from itertools import combinations, product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.system_pairs import (
    MIN_QUERIES,
    Pairs,
    _shuffled_sums,
    _signs,
    asl_curve,
    studentised,
    tukey,
)

NAN = math.nan


def scores(n: int, systems: int, *, gaps: float = 0.0, seed: int = 0) -> FloatArray:
    """Scores in steps of a tenth, so that many of them tie; spreads differ."""
    rng = np.random.default_rng(seed)
    spreads = np.linspace(0.1, 0.4, systems)
    table = np.round(np.clip(rng.normal(0.6, spreads, (n, systems)), 0, 1), 1)
    table[rng.random(table.shape) < gaps] = NAN
    return np.asarray(table, dtype=np.float64)


def pairs_with_p(pairs: Pairs) -> list[list[int]]:
    """The columns of each pair that has a p, the first below the second."""
    places: list[list[int]] = np.argwhere(np.triu(~np.isnan(pairs.p), k=1)).tolist()
    return places


def test_tukeys_p_of_two_systems_is_the_share_of_all_tables() -> None:
    table = scores(10, 2)
    apart = table[:, 0] - table[:, 1]
    sums = np.array(
        [abs(np.dot(signs, apart)) for signs in product([-1, 1], repeat=10)]
    )
    exact = np.mean(sums >= abs(apart.sum()) - 1e-12)
    found = tukey(table, permutations=20_000).p
    # Four standard errors of so many draws.
    assert (
        found[0, 1]
        == found[1, 0]
        == pytest.approx(exact, abs=4 * 0.5 / math.sqrt(20_000))
    )
    assert np.isnan(np.diag(found)).all()


SHAPES = [(25, 3, 0.0), (30, 5, 0.3), (12, 10, 0.0), (15, 11, 0.25)]


@pytest.mark.parametrize(("n", "systems", "gaps"), SHAPES)
def test_shuffles_keep_rows_and_holes(n: int, systems: int, gaps: float) -> None:
    table = scores(n, systems, gaps=gaps)
    sums = _shuffled_sums(table, 3000, 7)
    assert sums.shape == (3000, systems)
    # All that a query has stays in it: a column's sum is on average that of its rows' means.
    present = ~np.isnan(table)
    expected = np.where(present, np.nanmean(table, axis=1)[:, None], 0.0).sum(axis=0)
    spread = np.sqrt(
        np.where(present, np.nanvar(table, axis=1)[:, None], 0.0).sum(axis=0)
    )
    assert (
        np.abs(sums.mean(axis=0) - expected) <= 5 * spread / math.sqrt(3000) + 1e-9
    ).all()
    assert sums.sum(axis=1) == pytest.approx(np.full(3000, np.nansum(table)), abs=1e-9)
    assert (_shuffled_sums(table, 50, 7) == sums[:50]).all()
    # q* is the largest distance of two means.
    ranges = np.ptp(sums / present.sum(axis=0), axis=1)
    means = np.nanmean(table, axis=0)
    found = tukey(table, permutations=3000, seed=7)
    for i, j in combinations(range(systems), 2):
        reached = (ranges >= abs(means[i] - means[j]) - 1e-12).sum()
        assert found.p[i, j] == (1 + reached) / 3001
        assert found.differences[i, j] == pytest.approx(means[i] - means[j], abs=1e-12)


def hall(differences: FloatArray) -> float:
    """The size of Hall's transformed t, from scipy's moments."""
    n = len(differences)
    t = differences.mean() / differences.std() * math.sqrt(n)
    g = float(stats.skew(differences)) / math.sqrt(n)
    return abs(float(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6))


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_the_studentised_test_is_a_loop_over_the_same_signs(gaps: float) -> None:
    table = scores(60, 4, gaps=gaps)
    found = studentised(table, permutations=40, seed=3)
    rng = np.random.Generator(np.random.PCG64(3))
    signs = next(_signs(rng, 40, np.empty((60, 6))))
    largest, observed = np.zeros(40), {}
    for i, j in combinations(range(4), 2):
        d = table[:, i] - table[:, j]
        both = ~np.isnan(d)
        observed[i, j] = hall(d[both])
        assert found.differences[i, j] == pytest.approx(d[both].mean(), abs=1e-12)
        largest = np.maximum(largest, [hall((d * row)[both]) for row in signs])
    reach = np.quantile(largest, 0.95) + NormalDist().inv_cdf(0.8)
    for (i, j), size in observed.items():
        assert (
            found.p[i, j] == found.p[j, i] == (1 + (largest >= size - 1e-9).sum()) / 41
        )
        d = table[:, i] - table[:, j]
        spread = stats.sem(d, nan_policy="omit")
        assert found.smallest[i, j] == pytest.approx(reach * spread, rel=1e-9)


def test_a_difference_without_spread_is_found_and_none_is_not() -> None:
    found = studentised(np.tile([0.9, 0.6, 0.6], (25, 1)), permutations=999)
    # Of 2**25 draws two have all signs alike; none of 999 does.
    assert found.p[0, 1] == found.p[0, 2] == 1 / 1000
    assert (found.p[1, 2], found.one_sided(0, 1)) == (1.0, 1 / 2000)
    assert (found.one_sided(1, 0), found.one_sided(1, 2)) == (1 - 1 / 2000, 0.5)
    assert np.isnan(found.smallest).all()
    assert asl_curve(found).tolist() == [1 / 1000, 1 / 1000, 1.0]


def test_too_few_shared_queries_are_not_tested() -> None:
    table = scores(MIN_QUERIES + 5, 4)
    table[:6, 0] = NAN
    found = studentised(table, permutations=99)
    assert np.isnan(found.p[0, 1:]).all()
    assert pairs_with_p(found) == [[1, 2], [1, 3], [2, 3]]
    assert found.reason == "this test needs 20 queries, and two systems share 19"
    assert math.isnan(found.one_sided(0, 1))
    assert not len(asl_curve(studentised(table[:10], permutations=99)))


def test_columns_and_rows_without_a_score() -> None:
    table = scores(30, 3)
    table[:, 2], table[0] = NAN, NAN
    found = tukey(table, permutations=200)
    assert pairs_with_p(found) == [[0, 1]]
    assert math.isnan(found.means[2])
    assert math.isnan(studentised([[0.1, NAN], [NAN, 0.9]]).differences[0, 1])
    assert not pairs_with_p(tukey([[NAN, NAN]], permutations=9))


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidValueError, match=r"shape \(2, 1\)"):
        tukey([[0.5], [0.6]])
    with pytest.raises(InvalidValueError, match="infinite"):
        studentised([[0.5, np.inf]])
    with pytest.raises(InvalidValueError, match="permutations"):
        tukey([[0.5, 0.6]], permutations=0)


PS = st.lists(st.integers(0, 64).map(lambda i: i / 64), min_size=1, max_size=12)


def test_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04; the last may not
    # fall below the third.
    assert holm([0.01, 0.04, 0.03, 0.005]).round(12).tolist() == [
        0.03,
        0.06,
        0.06,
        0.02,
    ]
    assert (holm([0.5, 0.9]).tolist(), holm([]).tolist()) == ([1.0, 1.0], [])


def test_a_missing_p_counts_as_a_hypothesis() -> None:
    found = holm([0.01, math.nan, 0.02]).tolist()
    assert found == pytest.approx([0.03, math.nan, 0.04], nan_ok=True)


def rejected(ps: list[float], alpha: float) -> list[bool]:
    """The procedure as a textbook has it: stop at the first p that is too large."""
    out = [False] * len(ps)
    for step, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        if ps[place] > alpha / (len(ps) - step):
            break
        out[place] = True
    return out


@given(PS, st.integers(1, 63))
def test_adjusted_p_decide_as_the_procedure_does(ps: list[float], level: int) -> None:
    # No product of 64ths meets alpha by rounding: it lies half way between two 64ths of 1/12!.
    alpha = (level + 1 / (2 * math.factorial(12))) / 64
    assert (holm(ps) <= alpha).tolist() == rejected(ps, alpha)


@given(PS)
def test_adjusted_p_keep_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert (adjusted >= np.array(ps)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0).all()


def test_a_p_beyond_its_range_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"1\.5"):
        holm([1.5])

"""The path of a guarantee: exact sums, scipy's intervals, and what a path may not do."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.guarantee import certify, needed


def rows(n: int, *hits: int) -> Any:
    """At each setting so many of n answers pass."""
    return np.arange(n) < np.array(hits)[:, None]


@pytest.mark.parametrize(("n", "limit"), [(1, 0.5), (30, 0.05), (108, 0.1), (400, 0.2)])
def test_p_is_the_binomial_sum_and_the_bound_is_scipys(n: int, limit: float) -> None:
    hits = sorted({0, 1, n // 20, n // 10, n // 2, n - 1, n})
    path = certify(rows(n, *hits), limit, error=0.05)
    share = Fraction(limit)
    for k, p, bound in zip(hits, path.p, path.bounds, strict=True):
        exact = sum(
            math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(k + 1)
        )
        assert p == pytest.approx(float(exact), abs=1e-12)
        scipys = stats.binomtest(k, n, alternative="less").proportion_ci(0.95, "exact")
        assert bound == pytest.approx(scipys.high, abs=1e-12)
    assert path.shares == pytest.approx(np.array(hits) / n, abs=1e-15)
    assert (path.n, path.groups) == (n, None)


def test_groups_count_one_by_the_share_within_each() -> None:
    # 40 groups of 1, 2 and 3 answers; what passes: 0, then one of two in 4 groups, then 5 whole ones.
    sizes = [1, 2, 3] * 13 + [3]
    groups = np.repeat(np.arange(40), sizes)
    first = np.r_[True, groups[1:] != groups[:-1]]
    halves = first & np.isin(groups, [1, 4, 7, 10])
    whole = np.isin(groups, [0, 1, 2, 3, 4])
    path = certify(
        [halves & ~halves, halves, whole], 0.2, error=0.1, groups=groups.tolist()
    )
    assert path.shares == pytest.approx([0, 2 / 40, 5 / 40], abs=1e-12)
    assert (path.n, path.groups, path.place) == (81, 40, 1)

    def p_of(share: float, limit: float) -> float:
        if share >= limit:
            return 1.0
        h = 0.0 if share == 0 else share * math.log(share / limit)
        h += (1 - share) * math.log((1 - share) / (1 - limit))
        tail = stats.binom.cdf(math.ceil(round(share * 40, 6)), 40, limit)
        return float(min(math.exp(-40 * h), math.e * tail, 1.0))

    for share, p, bound in zip([0, 0.05, 0.125], path.p, path.bounds, strict=True):
        assert p == pytest.approx(p_of(share, 0.2), abs=1e-12)
        end = optimize.brentq(
            lambda x, s=share: p_of(s, x) - 0.1, share + 1e-9, 1 - 1e-9, xtol=1e-14
        )
        assert bound == pytest.approx(end, abs=1e-12)


def test_a_sum_that_is_whole_on_paper_is_not_rounded_up() -> None:
    halves = [[i % 2 == 0 and i < 12 for i in range(20)]]  # 6 / 2 of 10 groups
    path = certify(halves, 0.7, error=0.1, groups=[i // 2 for i in range(20)])
    assert path.p[0] == pytest.approx(math.e * stats.binom.cdf(3, 10, 0.7), abs=1e-12)


def test_groups_of_one_answer_each_are_answers_alone() -> None:
    passes = rows(50, 0, 2, 7)
    alone, grouped = (
        certify(passes, 0.2, error=0.05, groups=g) for g in (None, list(range(50)))
    )
    assert alone.p.tolist() == grouped.p.tolist()
    assert alone.bounds.tolist() == grouped.bounds.tolist()


def test_the_path_ends_at_the_first_setting_that_fails() -> None:
    """However many of the later ones would pass: the shares need not rise."""
    assert certify(rows(60, 0, 1, 9, 0, 0), 0.1, error=0.05).place == 1
    assert certify(rows(60, 9, 0, 0), 0.1, error=0.05).place is None
    assert certify(rows(60, 0, 0), 0.1, error=0.05).place == 1
    nothing = certify(np.zeros((3, 0)), 0.1, error=0.05)
    assert (nothing.place, nothing.n, nothing.bounds.tolist()) == (
        None,
        0,
        [1.0, 1.0, 1.0],
    )
    assert certify(np.zeros((3, 0)), 0.1, error=0.05, groups=[]).place is None


@given(
    st.integers(1, 60).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=12)
        )
    ),
    st.floats(0.01, 0.99),
    st.floats(0.001, 0.5),
    st.sampled_from([1, 3]),
)
def test_any_path(
    drawn: tuple[int, list[int]], limit: float, error: float, per_group: int
) -> None:
    n, hits = drawn
    groups = None if per_group == 1 else [i // per_group for i in range(n)]
    path = certify(rows(n, *hits), limit, error=error, groups=groups)
    last = -1 if path.place is None else path.place
    assert (path.p[: last + 1] <= error).all()
    assert last == len(hits) - 1 or path.p[last + 1] > error
    assert (path.bounds >= path.shares - 1e-12).all()
    clear = np.abs(path.bounds - limit) > 1e-9
    assert ((path.p <= error) == (path.bounds <= limit))[clear].all()
    # A stricter limit, a smaller error or more that pass never certify more.
    for other in (
        certify(rows(n, *hits), limit / 2, error=error, groups=groups),
        certify(rows(n, *hits), limit, error=error / 2, groups=groups),
        certify(
            rows(n, *np.minimum(np.add(hits, 1), n)), limit, error=error, groups=groups
        ),
    ):
        assert (-1 if other.place is None else other.place) <= last


@pytest.mark.parametrize(
    ("limit", "error"),
    [(0.1, 0.05), (0.05, 0.05), (0.2, 0.01), (0.5, 0.5), (0.5, 0.25)],
)
def test_the_fewest_that_are_needed(limit: float, error: float) -> None:
    n = needed(limit, error)
    assert n is not None
    assert (1 - limit) ** n <= error < (1 - limit) ** (n - 1)
    more = needed(limit, error, limit / 2)
    assert more is not None
    for n in range(1, more + 1):
        p = stats.binom.cdf(math.ceil(round(n * limit / 2, 9)), n, limit)
        assert (p <= error) == (n == more)
    assert needed(limit, error, limit) is None
    assert needed(0.5, 0.05, 0.4999) is None
    assert needed(0.0001, 0.05) == 29_956


@pytest.mark.parametrize(("passes", "limit", "error", "groups", "said"), [
    ([True], 0.1, 0.05, None, "one row per setting"),
    ([[True]], 0.0, 0.05, None, "limit must be between 0 and 1, e.g. 0.1, got 0.0"),
    ([[True]], 0.1, 1, None, "error must be between 0 and 1"),
    ([[True]], 0.1, 0.05, ["a", "b"], "2 groups for 1 samples"),
])  # fmt: skip
def test_refusals(
    passes: Any, limit: float, error: float, groups: Any, said: str
) -> None:
    with pytest.raises(InvalidValueError, match=said):
        certify(passes, limit, error=error, groups=groups)

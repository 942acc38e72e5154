"""The path of a guarantee: exact sums, scipy's intervals, and what a path may not do."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from functools import partial
from hashlib import sha256
from itertools import combinations_with_replacement
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


Kinds = list[tuple[int, int]]
"""Of each group the answers that pass, and all answers."""


def by_hand(
    groups: Kinds, against: float, limit: float, error: float, largest: int | None
) -> float:
    """The largest capital of groups that bet in this order against a share, in plain Python."""
    n, highest = len(groups), 0.0
    least = min(1.0, 1.2 * math.sqrt(math.log(error) / math.log(1 - limit) / n))
    bets = [least + (1 - least) * step / 7 for step in range(8)]
    bets += [1.0] * 8 * (largest is not None)
    capital = [1.0] * len(bets)
    for passed, size in groups:
        part = (passed / size, 1.0) if largest is None else (passed, size)
        # Where all of a largest group pass, a bet of 1 loses everything.
        gain = -1.0
        if part[0] < (largest or 1):
            gain = (against * part[1] - part[0]) / ((1 - against) * (largest or 1))
        capital = [c * (1 + bet * gain) for c, bet in zip(capital, bets, strict=True)]
        highest = max(highest, sum(capital) / len(bets))
    return highest


@pytest.mark.parametrize("largest", [None, 3, 5])
@pytest.mark.parametrize(("limit", "error"), [(0.2, 0.1), (0.4, 0.01), (0.05, 0.05)])
def test_groups_bet_against_the_limit(
    limit: float, error: float, largest: int | None
) -> None:
    # 40 groups of 1, 2 and 3 answers; what passes: 0, then one of two in 4 groups, then 5 whole ones.
    sizes = [1, 2, 3] * 13 + [3]
    groups = np.repeat(np.arange(40), sizes)
    first = np.r_[True, groups[1:] != groups[:-1]]
    halves = first & np.isin(groups, [1, 4, 7, 10])
    whole = np.isin(groups, [0, 1, 2, 3, 4])
    passes = np.array([halves & ~halves, halves, whole])
    order = np.random.default_rng(0).permutation(81)  # the order of the file
    path = certify(
        passes[:, order],
        limit,
        error=error,
        groups=[f"group {number}" for number in groups[order]],
        largest_group=largest,
    )
    shares = [0, 2 / 40, 5 / 40] if largest is None else [0, 4 / 81, 9 / 81]
    assert path.shares == pytest.approx(shares, abs=1e-15)
    assert (path.n, path.groups) == (81, 40)
    hashes = [sha256(f"group {number}".encode()).hexdigest() for number in range(40)]
    for marks, share, p, bound in zip(
        passes, path.shares, path.p, path.bounds, strict=True
    ):
        hits = np.bincount(groups, weights=marks).astype(int).tolist()
        kinds = [(hits[g], sizes[g]) for g in np.argsort(hashes)]
        capital = partial(by_hand, kinds, limit=limit, error=error, largest=largest)
        p_by_hand = 1 / max(capital(limit), 1.0) if share <= limit else 1.0
        assert p == pytest.approx(p_by_hand, rel=1e-10)
        end = optimize.brentq(
            lambda share, c=capital: c(share) - 1 / error, 1e-9, 1 - 1e-9, xtol=1e-15
        )
        assert bound == pytest.approx(end, abs=1e-11)
    # An early capital does not certify a share above the limit.
    late = np.isin(groups, np.argsort(hashes)[-12:])
    path = certify(
        late[None], 0.2, error=0.3, groups=[f"group {number}" for number in groups]
    )
    early = [(0, 1)] * 28
    assert by_hand(early, 0.2, 0.2, 0.3, None) > 1 / 0.3
    assert path.shares[0] == pytest.approx(0.3, abs=1e-15)
    assert path.bounds[0] == pytest.approx(0.3, abs=1e-12)
    assert path.p[0] == 1.0


@pytest.mark.parametrize("n", [5, 20, 28, 29])
def test_where_nothing_passes_groups_are_as_good_as_answers(n: int) -> None:
    """Up to the number that certifies the strictest setting they bet everything."""
    groups = [i // 2 for i in range(2 * n)]
    path = certify(np.zeros((1, 2 * n)), 0.1, error=0.05, groups=groups)
    assert path.p[0] == pytest.approx(0.9**n, rel=0.02)
    assert (path.place == 0) == (n == 29) == (n == needed(0.1, 0.05))
    same = certify(
        np.zeros((1, 2 * n)), 0.1, error=0.05, groups=groups, largest_group=2
    )
    assert same.p == pytest.approx(path.p, rel=1e-12)


def chance_of_rejecting(
    kinds: dict[tuple[int, int], float], n: int, limit: float, largest: int | None
) -> float:
    """The chance that n groups, drawn from kinds with these shares, reject at an error of .2."""
    total = 0.0
    for drawn in combinations_with_replacement(kinds, n):
        counts = Counter(drawn)
        chance = float(math.factorial(n))
        for kind, count in counts.items():
            chance *= kinds[kind] ** count / math.factorial(count)
        marks = [i < passed for passed, size in drawn for i in range(size)]
        groups = [g for g, (_, size) in enumerate(drawn) for _ in range(size)]
        path = certify([marks], limit, error=0.2, groups=groups, largest_group=largest)
        total += chance * (path.place == 0)
    return total


def test_the_error_rate_is_exact_where_large_groups_pass_more() -> None:
    """Over all samples of 8 groups: two kinds of pairs that hardly pass, and six answers that do."""
    kinds = {(0, 2): 0.7, (1, 2): 0.1, (6, 6): 0.2}
    mean = 0.1 * 0.5 + 0.2
    answers = (0.1 * 1 + 0.2 * 6) / (0.8 * 2 + 0.2 * 6)
    assert 0.0 < chance_of_rejecting(kinds, 8, mean, None) <= 0.2
    assert 0.0 < chance_of_rejecting(kinds, 8, answers, 6) <= 0.2
    # What holds for the mean over groups does not hold for answers.
    assert chance_of_rejecting(kinds, 8, answers, None) > 0.2


def test_groups_of_one_answer_each_are_answers_alone() -> None:
    passes = rows(50, 0, 2, 7)
    alone, grouped = (
        certify(passes, 0.2, error=0.05, groups=g) for g in (None, list(range(50)))
    )
    assert alone.p.tolist() == grouped.p.tolist()
    assert alone.bounds.tolist() == grouped.bounds.tolist()


@pytest.mark.parametrize("largest", [None, 12])
def test_long_paths_take_few_evaluations(
    largest: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds as by hand, found in a third of 40 halvings, and once for neighbours that are equal."""
    rng = np.random.default_rng(0)
    groups = np.sort(rng.integers(0, 60, 240))
    ranks = rng.permutation(240)
    hits = [0, 0, 0, 1, 24, 24, 100, 239, 240]
    calls = []
    reduce = np.fmax.reduce

    class Counted:
        @staticmethod
        def reduce(values: Any) -> Any:
            calls.append(len(values))
            return reduce(values)

    monkeypatch.setattr(np, "fmax", Counted)
    names = [f"group {number}" for number in groups]
    passes = ranks < np.array(hits)[:, None]
    path = certify(passes, 0.2, error=0.05, groups=names, largest_group=largest)
    distinct = len({*hits})
    assert 0 < len(calls) <= 20 * distinct
    present, sizes = np.unique(groups, return_counts=True)
    hashes = [sha256(f"group {number}".encode()).hexdigest() for number in present]
    for marks, share, bound in zip(passes, path.shares, path.bounds, strict=True):
        passed = np.bincount(groups, weights=marks)[present].astype(int)
        kinds = [(int(passed[g]), int(sizes[g])) for g in np.argsort(hashes)]
        low, high = float(share), 1.0 - 1e-12
        for _ in range(60):
            middle = (low + high) / 2
            grown = by_hand(kinds, middle, 0.2, 0.05, largest) * 0.05
            low, high = (middle, high) if grown < 1.0 else (low, middle)
        assert bound == pytest.approx(high, abs=1e-11)


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
    st.sampled_from([None, 3, 10]),
)
def test_any_path(
    drawn: tuple[int, list[int]],
    limit: float,
    error: float,
    per_group: int,
    largest: int | None,
) -> None:
    n, hits = drawn
    groups = None if per_group == 1 else [i // per_group for i in range(n)]
    test = partial(certify, groups=groups, largest_group=largest)
    path = test(rows(n, *hits), limit, error=error)
    last = -1 if path.place is None else path.place
    assert (path.p[: last + 1] <= error).all()
    assert last == len(hits) - 1 or path.p[last + 1] > error
    assert (path.bounds >= path.shares - 1e-12).all()
    clear = np.abs(path.bounds - limit) > 1e-9
    assert ((path.p <= error) == (path.bounds <= limit))[clear].all()
    # A stricter limit, a smaller error or more that pass never certify more.
    for other in (
        test(rows(n, *hits), limit / 2, error=error),
        test(rows(n, *hits), limit, error=error / 2),
        test(rows(n, *np.minimum(np.add(hits, 1), n)), limit, error=error),
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
    ([[True] * 4], 0.1, 0.05, "aaab", "a group has 3 answers, and largest_group (--largest-group) is 2"),
])  # fmt: skip
def test_refusals(
    passes: Any, limit: float, error: float, groups: Any, said: str
) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(said)):
        certify(passes, limit, error=error, groups=groups, largest_group=2)


def test_single_answers_do_not_show_how_large_other_groups_are() -> None:
    """One group in a hundred has fifty answers, all of which pass: a third of the answers.

    Forty groups hold none of them in two of three sets, and look like answers alone.
    """
    none_passes = np.zeros((1, 40), dtype=bool)
    test = partial(certify, none_passes, 0.1, error=0.05, groups=range(40))
    assert test().place == 0
    assert test(largest_group=50).place is None
    largest_bet_always_won = (1 + 0.1 / 0.9 / 50) ** 40
    p = test(largest_group=50).p[0]
    assert p == pytest.approx(1 / largest_bet_always_won, rel=1e-9)

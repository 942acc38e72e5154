"""Whether a gate tells good answers from rejected ones: scipy's test, all orders, and all signs."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.stats.p_values import passes_more_p


@given(*[st.integers(0, 40)] * 4)
def test_it_is_fishers_exact_test(a: int, b: int, c: int, d: int) -> None:
    passes = np.repeat([True, False, True, False], [a, b, c, d])
    is_good = np.repeat([True, True, False, False], [a, b, c, d])
    if len(passes):
        wanted = stats.fisher_exact([[a, b], [c, d]], "greater").pvalue
        assert passes_more_p(passes, is_good) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("good", "bad", "above"), [(4, 5, 0), (5, 4, 1), (3, 6, 2)])
def test_it_holds_its_level_where_the_threshold_is_set_by_the_rejected_answers(
    good: int, bad: int, above: int
) -> None:
    """Of all orders of the scores, as many as p says have such a p: not more."""
    found: list[float] = []
    for places in combinations(range(good + bad), bad):  # the highest score first
        ranks = np.arange(good + bad)
        passes = ranks < places[above]
        found.append(passes_more_p(passes, ~np.isin(ranks, places)))
    for p in found:
        assert np.mean(np.array(found) <= p + 1e-12) <= p + 1e-12
    assert min(found) < 0.2


@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.booleans(), st.booleans()),
        min_size=12,
        max_size=40,
    )
)
def test_with_groups_it_counts_all_signs(answers: list[Any]) -> None:
    names, passes, is_good = map(np.array, zip(*answers, strict=True))
    codes = np.unique(names, return_inverse=True)[1]
    apart = (passes - passes.mean()) * (is_good - is_good.mean())
    units = [apart[codes == code].sum() for code in range(codes.max() + 1)]
    sums = [
        float(np.dot(signs, units)) for signs in product([1, -1], repeat=len(units))
    ]
    total = sum(units)
    reached = np.mean([abs(each) >= abs(total) - 1e-10 for each in sums])
    wanted = reached / 2 if total > 1e-13 else 1 - reached / 2
    p = passes_more_p(passes, is_good, codes)
    if abs(total) > 1e-9:
        assert p == pytest.approx(wanted, abs=1e-12)
    else:
        assert p >= 0.5 - 1e-12


def test_with_groups_it_holds_its_level_and_finds_what_is_there() -> None:
    """40 groups of 1 to 8 answers that have much in common; 1 000 sets."""
    rng = np.random.default_rng(0)
    below = {True: 0, False: 0}
    for number in range(1000):
        is_apart = number % 2 == 0
        codes = np.repeat(np.arange(40), rng.integers(1, 9, 40))
        shift = rng.normal(size=40)[codes]
        is_good = rng.normal(size=40)[codes] + rng.normal(size=len(codes)) > 0
        scores = shift + rng.normal(size=len(codes)) + 1.0 * is_good * is_apart
        passes = scores > np.quantile(scores[~is_good], 0.9)
        below[is_apart] += passes_more_p(passes, is_good, codes) <= 0.05
    assert below[False] / 500 <= 0.05 + 3 * 0.0097
    assert below[True] / 500 > 0.7

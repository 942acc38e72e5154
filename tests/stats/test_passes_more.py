"""Whether a gate tells good answers from rejected ones: scipy's test, all orders, and groups."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.stats.p_values import passes_more_p
from tcva_adapters.stats.sampling_units import Units


def units_of(groups: list[int] | None, n: int = 0) -> Units:
    return Units(groups, np.ones(len(groups) if groups else n, dtype=np.bool_))


@given(*[st.integers(0, 40)] * 4)
def test_it_is_fishers_exact_test(a: int, b: int, c: int, d: int) -> None:
    passes = np.repeat([True, False, True, False], [a, b, c, d])
    is_good = np.repeat([True, True, False, False], [a, b, c, d])
    if len(passes):
        wanted = stats.fisher_exact([[a, b], [c, d]], "greater").pvalue
        assert passes_more_p(
            passes, is_good, units_of(None, len(passes))
        ) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("good", "bad", "above"), [(4, 5, 0), (5, 4, 1), (3, 6, 2)])
def test_it_holds_its_level_where_the_threshold_is_set_by_the_rejected_answers(
    good: int, bad: int, above: int
) -> None:
    """Of all orders of the scores, as many as p says have such a p: not more."""
    found: list[float] = []
    for places in combinations(range(good + bad), bad):  # the highest score first
        ranks = np.arange(good + bad)
        passes = ranks < places[above]
        units = units_of(None, len(ranks))
        found.append(passes_more_p(passes, ~np.isin(ranks, places), units))
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
def test_groups_divide_the_quantile_by_the_design_effect(answers: list[Any]) -> None:
    names, passes, is_good = map(np.array, zip(*answers, strict=True))
    p = passes_more_p(passes, is_good, units_of(names.tolist()))
    table = [[(passes & is_good).sum(), (~passes & is_good).sum()]]
    table += [[(passes & ~is_good).sum(), (~passes & ~is_good).sum()]]
    fisher = stats.fisher_exact(table, "greater").pvalue
    within = between = 0.0
    sizes = []
    for name in set(names.tolist()):
        total = 0.0
        for each, hit, good in answers:
            if each == name:
                part = (hit - passes.mean()) * (good - is_good.mean())
                total += part
                within += part**2
        between += total**2
        sizes.append(int((names == name).sum()))
    if len(sizes) < len(answers) and within > 0:
        effect = max(1.0, between / within)
        degrees = len(answers) ** 2 / sum(size**2 for size in sizes) - 1
        if degrees > 0.1:
            quantile = stats.norm.ppf(fisher) / math.sqrt(effect)
            assert p == pytest.approx(stats.t.cdf(quantile, degrees), abs=1e-9)
            assert (p - 0.5) * (fisher - 0.5) >= -1e-12


def test_it_holds_its_level_in_groups_and_finds_what_is_there() -> None:
    """40 groups of 1 to 8 answers that have much in common; Fisher's test alone finds too much."""
    rng = np.random.default_rng(0)
    below = {(apart, grouped): 0 for apart in (0, 1) for grouped in (0, 1)}
    for number in range(1000):
        apart = number % 2
        codes = np.repeat(np.arange(40), rng.integers(1, 9, 40))
        n = len(codes)
        is_good = 2 * rng.normal(size=40)[codes] + rng.normal(size=n) > 0
        scores = 2 * rng.normal(size=40)[codes] + rng.normal(size=n)
        scores += 2.5 * is_good * apart
        passes = scores > np.quantile(scores[~is_good], 0.9)
        for grouped in (0, 1):
            units = units_of(codes.tolist() if grouped else None, n)
            below[apart, grouped] += passes_more_p(passes, is_good, units) <= 0.05
    assert below[0, 0] / 500 > 0.1
    assert below[0, 1] / 500 <= 0.05 + 3 * 0.0097
    assert below[1, 1] / 500 > 0.7

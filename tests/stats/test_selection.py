"""Samples drawn with known chances: how often each comes, and that estimates from them are unbiased."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.selection import (
    chances,
    disagreement,
    draw,
    round_weights,
    shares,
    spreads,
)


def test_each_sample_comes_as_often_as_its_chance_says() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(40)
    probability = chances(shares(rng.exponential(size=40)), 8)
    assert probability.sum() == pytest.approx(8, abs=1e-12)
    assert probability.min() >= 0.5 * 8 / 40 * (1 - 1e-12)
    counts, runs = np.zeros(40), 4000
    for seed in range(runs):
        taken = draw(probability, scores, seed=seed)
        assert len(taken) == 8
        counts[taken] += 1
    # Four standard errors of so many draws.
    assert np.abs(counts / runs - probability).max() < 4 * (0.25 / runs) ** 0.5


def test_a_draw_along_an_order_spreads_over_it() -> None:
    scores = np.random.default_rng(2).random(300)
    systems = np.arange(300) % 3
    for seed in range(20):
        taken = draw(np.full(300, 0.1), np.column_stack([systems, scores]), seed=seed)
        assert np.bincount(systems[taken]).tolist() == [10, 10, 10]
        # Of each ten neighbours by score within a system one is taken.
        order = np.lexsort((scores, systems))
        places = np.flatnonzero(np.isin(order, taken))
        assert (places // 10).tolist() == list(range(30))


def test_more_than_there_are_takes_all() -> None:
    assert chances([1.0, 2.0], 5).tolist() == [1.0, 1.0]
    assert draw([1.0, 1.0], [1, 2]).tolist() == [0, 1]


def test_two_rounds_are_unbiased_over_every_outcome() -> None:
    # All first rounds of 2 of 5 samples, each followed by all second rounds of 1 of the 3 left,
    # whose chances depend on what the first round showed: the mean of the estimated sums over
    # all outcomes is the true sum.
    y = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    mean = 0.0
    for first in combinations(range(5), 2):
        rest = [i for i in range(5) if i not in first]
        probability = chances([1.0 + y[first[0]] * (i + 1) for i in rest], 1)
        for place, i in enumerate(rest):
            weights = round_weights([0.4, 0.4, probability[place]], [1, 1, 2])
            mean += 0.1 * probability[place] * float(weights @ y[[*first, i]])
    assert mean == pytest.approx(y.sum(), abs=1e-12)


def test_disagreement_by_hand() -> None:
    # Mid-ranks over n: first method 1/4, 3/4, 3/4 (ties share), none; second 1, 1/3, 2/3.
    found = disagreement([[0.1, 9], [0.5, 1], [0.5, 2], [np.nan, np.nan]])
    assert found[:3] == pytest.approx(
        [abs(0.5 / 3 - 2.5 / 3) / 2, abs(2 / 3 - 0.5 / 3) / 2, abs(2 / 3 - 1.5 / 3) / 2], abs=1e-12
    )
    assert np.isnan(found[3])


def test_spreads_are_larger_where_ratings_lie_far_off() -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(1000)
    ratings = np.where(scores > 0.5, scores, scores + 0.4 * rng.normal(size=1000))
    ratings[200:] = np.nan
    found = spreads(scores, ratings)
    assert found[scores < 0.4].min() > 2 * found[scores > 0.85].max()
    assert spreads([0.2, 0.8], [np.nan, np.nan]).tolist() == pytest.approx([0.4, 0.4])


def test_what_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="above 0"):
        chances([1.0, 0.0], 1)
    with pytest.raises(InvalidValueError, match="from 0 up"):
        shares([-1.0])
    with pytest.raises(InvalidValueError, match="inclusion probability"):
        round_weights([0.0], [1])

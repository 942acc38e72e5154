"""Samples spread evenly over human ratings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.strata import stratified


def test_the_same_number_of_each_fifth() -> None:
    ratings = np.random.default_rng(0).beta(8, 1, 5000)  # as in the source: most are near 1
    found = stratified(ratings, 200)
    assert found.drawn == tuple(min(40, n) for n in found.available) or sum(found.drawn) == 200
    drawn = np.histogram(ratings[found.places], found.edges)[0]
    assert drawn.tolist() == list(found.drawn)


def test_a_scale_of_five_has_a_stratum_for_each() -> None:
    ratings = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]
    found = stratified(ratings, 10, seed=3)
    assert found.available == (3,) * 5
    assert sorted(np.array(ratings)[found.places].tolist()) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert found.weights.tolist() == [1.5] * 10


def _one_by_one(available: list[int], size: int) -> list[int]:
    """Deal one at a time to whoever has least and has some left."""
    quotas = [0] * len(available)
    for _ in range(min(size, sum(available))):
        open_ = [i for i, of in enumerate(available) if quotas[i] < of]
        quotas[min(open_, key=lambda i: quotas[i])] += 1
    return quotas


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=80),
    st.integers(1, 90),
    st.integers(0, 5),
)
def test_any_ratings(ratings: list[int], size: int, seed: int) -> None:
    found = stratified([np.nan, *ratings], size, seed=seed)
    assert sorted(found.drawn) == sorted(_one_by_one(list(found.available), size))
    assert len(set(found.places.tolist())) == len(found.places) == min(size, len(ratings))
    assert 0 not in found.places  # nobody rated it
    assert found.places.tolist() == sorted(found.places.tolist())
    again = stratified([np.nan, *ratings], size, seed=seed)
    assert again.places.tolist() == found.places.tolist()
    # Each stratum that gave any stands for all of its samples.
    for quota, of in zip(found.drawn, found.available, strict=True):
        assert quota or not of or size < 5
    if all(quota or not of for quota, of in zip(found.drawn, found.available, strict=True)):
        assert found.weights.sum() == pytest.approx(len(ratings), abs=1e-9)


def test_weights_make_the_mean_that_of_all() -> None:
    ratings = np.random.default_rng(1).beta(6, 1, 800)
    scores = ratings + np.random.default_rng(2).normal(0, 0.1, 800)
    plain, weighted = [], []
    for seed in range(400):
        found = stratified(ratings, 60, seed=seed)
        plain.append(scores[found.places].mean())
        weighted.append(np.average(scores[found.places], weights=found.weights))
    spread = np.std(weighted, ddof=1) / np.sqrt(len(weighted))
    assert abs(np.mean(weighted) - scores.mean()) < 4 * spread
    assert np.mean(plain) < scores.mean() - 0.1


def test_other_seeds_draw_others() -> None:
    ratings = np.linspace(0, 1, 500)
    assert (
        stratified(ratings, 50, seed=0).places.tolist()
        != stratified(ratings, 50, seed=1).places.tolist()
    )


def test_what_cannot_be_drawn_from_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no sample has a human rating"):
        stratified([np.nan, np.nan], 5)
    with pytest.raises(InvalidValueError, match="size"):
        stratified([1.0], 0)
    assert stratified([0.5, 0.5, 0.5], 2).drawn == (0, 0, 0, 0, 2)

"""All pairs of systems by sign flips: against a loop over the same signs, and its level."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.studentised import LEAST_QUERIES, _signs, studentised_pairs

NAN = math.nan


def hall(differences: FloatArray) -> float:
    """The size of Hall's transformed t, from scipy's moments."""
    n = len(differences)
    t = differences.mean() / differences.std() * math.sqrt(n)
    g = float(stats.skew(differences)) / math.sqrt(n)
    return abs(float(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6))


def table(n: int, *, gaps: float = 0.0, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    raw = rng.beta(0.5, 0.2, (n, 1)) + rng.normal(0, [0.05, 0.2, 0.4, 0.4], (n, 4))
    raw[rng.random(raw.shape) < gaps] = NAN
    return raw


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_equal_to_a_loop_over_the_same_signs(gaps: float) -> None:
    scores = table(60, gaps=gaps)
    found = studentised_pairs(scores, permutations=40, seed=3)
    rng = np.random.Generator(np.random.PCG64(3))
    signs = next(_signs(rng, 40, np.empty((60, 6))))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    largest, observed = np.zeros(40), {}
    for i, j in combinations(range(4), 2):
        d = scores[:, i] - scores[:, j]
        both = ~np.isnan(d)
        observed[i, j] = hall(d[both])
        assert found.differences[i, j] == pytest.approx(d[both].mean(), abs=1e-12)
        assert found.queries[i, j] == both.sum()
        largest = np.maximum(largest, [hall((d * row)[both]) for row in signs])
    assert found.largest == pytest.approx(np.sort(largest), abs=1e-9)
    for (i, j), size in observed.items():
        assert found.p[i, j] == found.p[j, i] == (1 + (largest >= size - 1e-9).sum()) / 41


def test_a_difference_without_spread_is_found_and_none_is_not() -> None:
    found = studentised_pairs(np.tile([0.9, 0.6, 0.6], (25, 1)), permutations=999)
    # Of 2**25 draws two have all signs alike; none of 999 does.
    assert found.p[0, 1] == found.p[0, 2] == 1 / 1000
    assert found.p[1, 2] == 1.0
    assert found.one_sided(0, 1) == 1 / 2000
    assert found.one_sided(1, 2) == 0.5
    assert found.reason == ""


def test_too_few_shared_queries_are_not_tested() -> None:
    scores = table(LEAST_QUERIES + 5)
    scores[:6, 0] = NAN
    found = studentised_pairs(scores, permutations=99)
    assert np.isnan(found.p[0, 1:]).all()
    assert not np.isnan(found.p[1, 2:]).any()
    assert found.reason == "two systems share 19 of the 20 queries that this test needs"
    assert list(found.pairs()) == [(1, 2), (1, 3), (2, 3)]
    assert np.isnan(studentised_pairs(scores[:10], permutations=99).p).all()
    assert math.isnan(studentised_pairs([[0.1, NAN], [NAN, 0.9]]).differences[0, 1])


def test_scale_order_and_blocks_do_not_matter() -> None:
    scores = table(30)
    found = studentised_pairs(scores, permutations=300)
    moved = studentised_pairs(5 - 100 * scores[:, ::-1], permutations=300)
    assert np.array_equal(found.p, moved.p[::-1, ::-1], equal_nan=True)
    longer = studentised_pairs(scores, permutations=301)
    assert set(found.largest) <= set(longer.largest)
    assert np.array_equal(studentised_pairs(scores, permutations=300).largest, found.largest)
    assert not np.array_equal(
        studentised_pairs(scores, permutations=300, seed=1).largest, found.largest
    )


@pytest.mark.parametrize("shift", [0.0, 1.0], ids=["all alike", "one far off"])
def test_the_level_holds_for_unequal_spreads(shift: float) -> None:
    rng = np.random.default_rng(7)
    finds = 0
    for number in range(400):
        scores = rng.normal([0.0, 0.0, 0.0, shift], [0.05, 0.2, 0.4, 0.2], (30, 4))
        p = studentised_pairs(scores, permutations=199, seed=number).p
        finds += int((p[:3, :3][np.triu_indices(3, k=1)] <= 0.05).any())
    # Three standard errors of 400 data sets at 0.05.
    assert finds / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_mistakes() -> None:
    for options, message in (
        ({"permutations": 0}, "permutations is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"estimate": "none"}, "no estimate 'none'"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            studentised_pairs(table(30), **options)

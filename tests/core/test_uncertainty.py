"""The interval of a score, against a walk through every combination of levels."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tcva_adapters import aggregate
from tcva_adapters.core import uncertainty
from tcva_adapters.core.aggregation import PENALTIES, sweep
from tcva_adapters.core.uncertainty import central_interval, count_distribution
from tcva_adapters.core.verdicts import LEVELS, FloatArray


def interval(rows: FloatArray, temperature: float = 0.5, level: float = 0.95) -> Any:
    counts, chances = count_distribution(rows)
    return central_interval(sweep(counts, [temperature])[:, 0], chances, level)


def some_rows(seed: int, claims: int) -> FloatArray:
    """Probabilities of claims, some of them certain, some without all levels."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(5, 0.5), size=claims)
    if seed % 3 == 0:
        rows[0] = np.eye(5)[rng.integers(5)]
    if seed % 3 == 1:
        rows[:, 1:4] = 0.0
        rows /= rows.sum(axis=1, keepdims=True)
    return rows


@pytest.mark.parametrize("penalty", PENALTIES)
def test_exact_against_brute_force(penalty: Any) -> None:
    for claims, temperature in enumerate((0.1, 0.4, 0.5, 0.9), start=1):
        rows = some_rows(claims, claims)
        truth: dict[float, float] = defaultdict(float)
        for levels in itertools.product(range(5), repeat=claims):
            chance = math.prod(float(row[level]) for row, level in zip(rows, levels, strict=True))
            words = [LEVELS[level] for level in levels]
            truth[aggregate(words, temperature, penalty=penalty)] += chance
        counts, chances = count_distribution(rows)
        scores = sweep(counts, [temperature], penalty=penalty)[:, 0]
        found: dict[float, float] = defaultdict(float)
        for score, chance in zip(scores, chances, strict=True):
            found[score] += chance
        assert found == pytest.approx({s: chance for s, chance in truth.items() if chance})
        low, high = central_interval(scores, chances)
        assert sum(chance for score, chance in truth.items() if score < low) <= 0.025 + 1e-12
        assert sum(chance for score, chance in truth.items() if score > high) <= 0.025 + 1e-12


def test_the_interval_is_the_narrowest_of_its_kind() -> None:
    # Scores 0 (.02), 1 (.98): 2 % lie below 1, which may be left out; 3 % may not.
    assert interval(np.array([[0.98, 0, 0, 0, 0.02]])) == (1.0, 1.0)
    assert interval(np.array([[0.97, 0, 0, 0, 0.03]])) == (0.0, 1.0)
    assert interval(np.array([[0.97, 0, 0, 0, 0.03]]), level=0.9) == (1.0, 1.0)
    score = aggregate(["fully", "mostly", "minor"], 0.3)
    assert interval(np.eye(5)[[0, 1, 3]], 0.3) == (score, score)


def test_draws_stand_in_for_many_claims_and_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(5, 12)
    exact = interval(rows)
    assert interval(rows[::-1]) == exact  # the order of the claims does not count
    monkeypatch.setattr(uncertainty, "MOST_VECTORS", 10)
    drawn = interval(rows)
    assert drawn == pytest.approx(exact, abs=0.03)
    assert interval(rows[::-1]) == drawn
    assert 0.0 < interval(some_rows(2, 240))[0] < 1.0

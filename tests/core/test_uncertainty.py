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
from tcva_adapters.core.uncertainty import (
    ScoreDistribution,
    joined_distribution,
    score_distribution,
)
from tcva_adapters.core.verdicts import LEVELS, FloatArray


def found(rows: FloatArray, temperature: float = 0.5, **settings: Any) -> ScoreDistribution:
    return score_distribution(rows, lambda each: sweep(each, [temperature], **settings)[:, 0])


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
        truth = {score: chance for score, chance in truth.items() if chance}
        counted = found(rows, temperature, penalty=penalty)
        assert dict(zip(counted.scores, counted.chances, strict=True)) == pytest.approx(truth)
        low, high = counted.interval()
        assert sum(chance for score, chance in truth.items() if score < low) <= 0.025 + 1e-12
        assert sum(chance for score, chance in truth.items() if score > high) <= 0.025 + 1e-12


def test_the_interval_is_the_narrowest_of_its_kind() -> None:
    # Scores 0 (.02), 1 (.98): 2 % lie below 1, which may be left out; 3 % may not.
    assert found(np.array([[0.98, 0, 0, 0, 0.02]])).interval() == (1.0, 1.0)
    assert found(np.array([[0.97, 0, 0, 0, 0.03]])).interval() == (0.0, 1.0)
    assert found(np.array([[0.97, 0, 0, 0, 0.03]])).interval(level=0.9) == (1.0, 1.0)
    score = aggregate(["fully", "mostly", "minor"], 0.3)
    assert found(np.eye(5)[[0, 1, 3]], 0.3).interval() == (score, score)


def test_draws_stand_in_for_many_claims_and_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(5, 12)
    exact = found(rows)
    monkeypatch.setattr(uncertainty, "MOST_VECTORS", 10)
    drawn = found(rows)
    assert drawn.interval() == pytest.approx(exact.interval(), abs=0.03)
    for one in (exact, drawn):
        again = found(rows[::-1]) if one is drawn else one
        assert np.array_equal(one.chances, again.chances)  # the order of the claims does not count
    assert 0.0 < found(some_rows(2, 240)).interval()[0] < 1.0


def test_independent_scores_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [found(np.array([[0.5, 0, 0, 0, 0.5]])), found(np.array([[0.25, 0, 0.75, 0, 0]]))]
    for most, close in ((20_000, 1e-12), (1, 0.02)):
        monkeypatch.setattr(uncertainty, "MOST_VECTORS", most)
        # Means of (1, 1), (1, .7), (0, 1), (0, .7).
        joined = joined_distribution(parts, lambda each: (each[0] + each[1]) / 2.0)
        assert joined.scores == pytest.approx([0.35, 0.5, 0.85, 1.0])
        assert joined.chances == pytest.approx([0.375, 0.125, 0.375, 0.125], abs=close)

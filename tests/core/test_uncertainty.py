"""The distribution of a score, against a walk through every combination of levels."""

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
    MOST_VECTORS,
    ScoreDistribution,
    joined_distribution,
    score_distribution,
    score_uncertainty,
)
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidValueError


def every_combination(rows: FloatArray, temperature: float, **settings: Any) -> dict[float, float]:
    """How likely each score is."""
    found: dict[float, list[float]] = defaultdict(list)
    for levels in itertools.product(range(5), repeat=len(rows)):
        chance = math.prod(float(row[level]) for row, level in zip(rows, levels, strict=True))
        if chance:
            words = [LEVELS[level] for level in levels]
            found[aggregate(words, temperature, **settings)].append(chance)
    return {score: math.fsum(chances) for score, chances in found.items()}


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


@pytest.mark.parametrize("claims", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_exact_against_brute_force(claims: int, penalty: Any) -> None:
    for seed, temperature in enumerate((0.1, 0.4, 0.5, 0.9)):
        rows = some_rows(seed, claims)
        truth = every_combination(rows, temperature, penalty=penalty)
        threshold = sorted(truth)[len(truth) // 2]  # a score of its own: ties pass
        found = score_uncertainty(rows, temperature, threshold=threshold, penalty=penalty)
        mean = math.fsum(score * chance for score, chance in truth.items())
        variance = math.fsum(chance * (score - mean) ** 2 for score, chance in truth.items())
        assert found.is_exact
        assert found.mean == pytest.approx(mean, abs=1e-12)
        assert found.deviation == pytest.approx(math.sqrt(variance), abs=1e-12)
        passes = math.fsum(chance for score, chance in truth.items() if score >= threshold)
        assert found.pass_probability == pytest.approx(passes, abs=1e-12)
        below = math.fsum(chance for score, chance in truth.items() if score < found.low)
        above = math.fsum(chance for score, chance in truth.items() if score > found.high)
        assert max(below, above) <= 0.025 + 1e-12
        assert found.low in truth
        assert found.high in truth


def test_the_interval_is_the_narrowest_of_its_kind() -> None:
    # Scores 0 (.02), 1 (.98): 2 % lie below 1, which may be left out; 3 % may not.
    narrow = score_uncertainty([[0.98, 0, 0, 0, 0.02]])
    assert (narrow.low, narrow.high) == (1.0, 1.0)
    wide = score_uncertainty([[0.97, 0, 0, 0, 0.03]])
    assert (wide.low, wide.high, wide.is_undecided) == (0.0, 1.0, True)
    less = score_uncertainty([[0.97, 0, 0, 0, 0.03]], level=0.9)
    assert (less.low, less.high, less.is_undecided) == (1.0, 1.0, False)


def test_certain_verdicts_have_one_score() -> None:
    found = score_uncertainty(np.eye(5)[[0, 1, 3]], 0.3, threshold=0.2)
    score = aggregate(["fully", "mostly", "minor"], 0.3)
    assert (found.mean, found.low, found.high, found.deviation) == (score, score, score, 0.0)
    assert found.pass_probability == 1.0


def test_the_order_of_the_claims_does_not_change_a_bit() -> None:
    rows = some_rows(2, 8)
    assert score_uncertainty(rows) == score_uncertainty(rows[::-1])
    many = np.concatenate([rows] * 4)
    assert score_uncertainty(many) == score_uncertainty(many[::-1])


def test_draws_stand_in_for_many_claims_and_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(5, 12)
    exact = score_uncertainty(rows, 0.5, threshold=0.4)
    monkeypatch.setattr(uncertainty, "MOST_VECTORS", 10)
    drawn = score_uncertainty(rows, 0.5, threshold=0.4)
    assert (exact.is_exact, drawn.is_exact) == (True, False)
    assert drawn == score_uncertainty(rows, 0.5, threshold=0.4)
    assert drawn.pass_probability == pytest.approx(exact.pass_probability, abs=0.02)
    assert drawn.mean == pytest.approx(exact.mean, abs=0.005)
    assert drawn.low == pytest.approx(exact.low, abs=0.03)


@pytest.mark.parametrize(
    ("claims", "levels", "is_exact"), [(23, 5, True), (24, 5, False), (100, 2, True)]
)
def test_what_is_exact_is_bounded_by_count_vectors(
    claims: int, levels: int, is_exact: bool
) -> None:
    assert is_exact is (math.comb(claims + levels - 1, claims) <= MOST_VECTORS)
    rows = np.zeros((claims, 5))
    rows[:, :levels] = 1.0 / levels
    assert score_uncertainty(rows).is_exact is is_exact


def test_independent_scores_are_joined() -> None:
    def score(counts: FloatArray) -> FloatArray:
        return sweep(counts, [0.5])[:, 0]

    first, second = (
        score_distribution([[0.5, 0, 0, 0, 0.5]], score),
        score_distribution([[0.25, 0, 0.75, 0, 0]], score),
    )
    # Means of (1, 1), (1, .7), (0, 1), (0, .7).
    found = joined_distribution([first, second], lambda parts: (parts[0] + parts[1]) / 2.0)
    assert found.scores == pytest.approx([0.35, 0.5, 0.85, 1.0])
    assert found.chances == pytest.approx([0.375, 0.125, 0.375, 0.125])
    assert found.is_exact
    drawn = ScoreDistribution(second.scores, second.chances, is_exact=False)
    told = joined_distribution([first, drawn], lambda parts: (parts[0] + parts[1]) / 2.0)
    assert not told.is_exact
    assert told.chances == pytest.approx(found.chances, abs=0.02)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.empty((0, 5)), "at least one"),
        ([[1, 0, 0, 0]], r"\(N, 5\)"),
        ([0.5, 0.5], r"\(N, 5\)"),
        ([[1, 0, 0, 0, 0], [0.5, 0, 0, 0, 0.4]], "row 1"),
        ([[1.5, 0, 0, 0, -0.5]], "row 0"),
        ([[math.nan, 0, 0, 0, 1]], "row 0"),
        ([["a", 0, 0, 0, 1]], "matrix of numbers"),
    ],
)
def test_what_is_no_probability_is_refused(rows: Any, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        score_uncertainty(rows)


@pytest.mark.parametrize(
    "options", [{"level": 1.0}, {"level": 0}, {"threshold": 2}, {"temperature": 7}]
)
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match=str(next(iter(options.values())))):
        score_uncertainty([[1, 0, 0, 0, 0]], **options)

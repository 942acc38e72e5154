"""Objectives against scipy and hand-derived values, with and without weights."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.compare.calibration.objectives import (
    OBJECTIVES,
    Objective,
    ObjectiveName,
    mid_ranks,
)
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray, IntArray

PASS_FAIL: Final[tuple[ObjectiveName, ...]] = ("f1", "kappa")
RANK: Final[tuple[ObjectiveName, ...]] = ("spearman", "kendall")


def draw(seed: int, n: int = 25, levels: int = 6) -> tuple[FloatArray, FloatArray, IntArray]:
    """Tied scores of three candidates, tied human ratings, and seven resamples."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (n, 3)) / (levels - 1)
    human = rng.integers(0, 4, n) / 3
    return scores, human, rng.multinomial(n, np.full(n, 1 / n), size=7)


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlations_are_scipys(seed: int) -> None:
    scores, human, _ = draw(seed)
    references = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}
    for name in RANK:
        reference = references[name]
        expected = [reference(scores[:, j], human)[0] for j in range(3)]
        got = Objective(name).values(scores, human)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_a_repetition(name: ObjectiveName, seed: int) -> None:
    scores, human, weights = draw(seed)
    if name in PASS_FAIL:
        scores, human = (scores > 0.5).astype(float), (human > 0.5).astype(float)
    objective = Objective(name)
    got = objective.values(scores, human, weights)
    assert got.shape == (3, 7)
    for row, weighting in zip(got.T, weights, strict=True):
        repeated = np.repeat(np.arange(len(human)), weighting.astype(int))
        expected = objective.values(scores[repeated], human[repeated])
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)


@given(st.integers(0, 10_000), st.sampled_from(RANK))
def test_order_is_all_that_rank_objectives_see(seed: int, name: ObjectiveName) -> None:
    scores, human, weights = draw(seed, n=12, levels=4)
    objective = Objective(name)
    plain = objective.values(scores, human, weights)
    np.testing.assert_array_equal(plain, objective.values(np.exp(3 * scores), human, weights))
    np.testing.assert_array_equal(plain, objective.values(mid_ranks(scores), human, weights))


def test_pass_fail_by_hand() -> None:
    # Ours passes samples 1, 2, 3; people pass 1, 2, 4: both 2, either 3 + 3.
    ours = np.array([[1.0], [1.0], [1.0], [0.0], [0.0]])
    people = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    # F1 = 2*2 / (3 + 3) = 2/3.
    assert Objective("f1").values(ours, people)[0] == pytest.approx(2 / 3, abs=1e-15)
    # They agree on samples 1, 2, 5: 3/5. By chance (3*3 + 2*2)/25 = 13/25. (15-13)/(25-13) = 1/6.
    assert Objective("kappa").values(ours, people)[0] == pytest.approx(1 / 6, abs=1e-15)


def test_mean_absolute_error_by_hand() -> None:
    scores = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.25]])
    # |0-0|, |.5-1|, |1-1| -> 1/6; |1-0|, |.5-1|, |.25-1| -> 2.25/3.
    got = Objective("mae").values(scores, np.array([0.0, 1.0, 1.0]))
    assert got.tolist() == pytest.approx([1 / 6, 0.75], abs=1e-15)


def test_undefined_is_nan() -> None:
    constant, varied = np.full((4, 1), 0.5), np.array([0.0, 0.0, 1.0, 1.0])
    zeros = np.zeros((4, 1))
    for name in RANK:
        assert np.isnan(Objective(name).values(constant, varied)[0])
        assert np.isnan(Objective(name).values(varied[:, None], constant[:, 0])[0])
    assert np.isnan(Objective("f1").values(zeros, zeros[:, 0])[0])
    assert np.isnan(Objective("kappa").values(zeros, zeros[:, 0])[0])
    assert Objective("kappa").values(zeros, varied)[0] == 0.0


def test_an_unknown_objective_names_the_known() -> None:
    with pytest.raises(InvalidValueError, match="'auc'; known are spearman, kendall, mae"):
        Objective("auc")  # type: ignore[arg-type]  # what is refused

"""The p of a single correlation, against scipy and a plain loop."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import Measure, value_of
from tcva_adapters.stats.correlation_test import correlation_test

stats = pytest.importorskip("scipy.stats", reason="the extra stats")
CORRELATIONS: list[Measure] = ["spearman", "kendall", "pearson"]


def data(n: int, seed: int = 2) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 5, n) / 4
    return np.round(human + rng.normal(0, 0.6, n), 1), human


@pytest.mark.parametrize("measure", CORRELATIONS)
@pytest.mark.parametrize("n", [4, 6])
def test_few_samples_are_exact(measure: Measure, n: int) -> None:
    scores, human = data(n)
    found = correlation_test(measure, scores, human)
    values = [value_of(measure, scores, human[list(order)]) for order in permutations(range(n))]
    expected = np.mean(np.abs(values) >= abs(found.value) - 1e-12)
    assert found.p_two_sided == pytest.approx(expected, abs=1e-12)
    assert (found.test, found.n) == ("permutations, exact", n)


@pytest.mark.parametrize("measure", CORRELATIONS)
def test_drawn_permutations_come_close_to_the_formula(measure: Measure) -> None:
    # Binomial error of 10,000 permutations is at most .005; the formulas are approximations, too.
    scores, human = data(40)
    human = human + 0.8 * np.random.default_rng(0).normal(size=40)
    function = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}
    found = correlation_test(measure, scores, human)
    assert found.p_two_sided == pytest.approx(function[measure](scores, human).pvalue, abs=0.015)
    assert found.test == "permutations, drawn"
    assert found == correlation_test(measure, scores, human)


@pytest.mark.parametrize(("measure", "n"), [("kendall", 60), ("spearman", 1200), ("pearson", 1200)])
def test_many_samples_have_scipys_formula(measure: Measure, n: int) -> None:
    rng = np.random.default_rng(1)
    scores, human = data(n)
    human = human + 8 * rng.normal(size=n)
    function: Any = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}.get(
        measure, stats.pearsonr
    )
    found = correlation_test(measure, scores, human)
    assert found.p_two_sided == pytest.approx(function(scores, human).pvalue, rel=1e-9)


def test_the_level_is_held_with_ties() -> None:
    # 600 independent data sets: .05 -+ 3 * sqrt(.05 * .95 / 600) is .023 to .077.
    rng = np.random.default_rng(5)
    ps = [
        correlation_test(
            "spearman", rng.integers(0, 5, 12), rng.integers(0, 3, 12), n_permutations=199, seed=i
        ).p_two_sided
        for i in range(600)
    ]
    assert 0.023 < np.mean(np.array(ps) <= 0.05) < 0.077


def test_what_has_no_p() -> None:
    assert np.isnan(correlation_test("pearson", [1, 1, 1], [1, 2, 3]).p_two_sided)
    assert np.isnan(correlation_test("mae", [0.1, 0.2], [0.1, 0.4]).p_two_sided)
    assert correlation_test("spearman", [1, np.nan, 2, 3], [1, 2, 2, 3]).n == 3
    with pytest.raises(InvalidValueError, match="n_permutations is 0"):
        correlation_test("spearman", [1, 2], [1, 2], n_permutations=0)


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_the_unit_of_the_scores_does_not_matter(measure: Measure) -> None:
    scores, human = np.random.default_rng(8).random((2, 12))
    plain = correlation_test(measure, scores, human, n_permutations=500)
    scaled = correlation_test(
        measure, np.ldexp(scores, 700), np.ldexp(human, -700), n_permutations=500
    )
    assert scaled.p_two_sided == plain.p_two_sided

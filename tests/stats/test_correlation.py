from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.stats.correlation import (
    MEASURES,
    Measure,
    agreement,
    fisher_average,
    higher_is_better,
)
from tcva_adapters.stats.inference import estimate


def test_values_by_hand() -> None:
    scores, human = [1.0, 2.0, 2.0, 4.0], [1.0, 3.0, 2.0, 4.0]
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: deviations -1.5, 0, 0, 1.5 and -1.5, .5, -.5, 1.5;
    # products sum up to 4.5, squares to 4.5 and 5.
    assert agreement("spearman", scores, human).value == pytest.approx(4.5 / 22.5**0.5, abs=1e-15)
    # Of six pairs one is tied in the scores, the other five are concordant: 5 / sqrt(5 * 6).
    assert agreement("kendall", scores, human).value == pytest.approx(5 / 30**0.5, abs=1e-15)
    # Means 2.25 and 2.5: products 1.25*1.5 + .25*-.5 + .25*.5 + 1.75*1.5 = 4.5; squares 4.75, 5.
    assert agreement("pearson", scores, human).value == pytest.approx(4.5 / 23.75**0.5, abs=1e-15)
    assert agreement("mae", scores, human).value == 0.25


@pytest.mark.parametrize("measure", MEASURES)
def test_samples_without_both_scores_are_left_out(measure: Measure) -> None:
    scores = [0.1, None, 0.5, 0.4, np.nan, 0.9, np.inf]
    human = [1, 2, 3, np.nan, 5, 2, 4]
    found = agreement(measure, scores, human)  # type: ignore[arg-type]  # None is a score too
    assert found == agreement(measure, [0.1, 0.5, 0.9], [1, 3, 2])
    assert found.n == 3


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("scores", "human", "n"),
    [([], [], 0), ([np.nan, 1.0], [1.0, np.nan], 0)],
    ids=["empty", "no pair"],
)
def test_nothing_to_measure(measure: Measure, scores: list[float], human: Any, n: int) -> None:
    found = agreement(measure, scores, human)
    assert np.isnan(found.value)
    assert found.n == n


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
@pytest.mark.parametrize(
    ("scores", "human"),
    [([0.5], [0.5]), ([0.5, 0.5, 0.5], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1])],
    ids=["one pair", "constant scores", "constant people"],
)
def test_correlations_are_undefined(measure: Measure, scores: Any, human: Any) -> None:
    assert np.isnan(agreement(measure, scores, human).value)


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_two_pairs_agree_or_do_not(measure: Measure) -> None:
    assert agreement(measure, [1, 2], [3, 9]).value == pytest.approx(1)
    assert agreement(measure, [1, 2], [9, 3]).value == pytest.approx(-1)


def test_one_pair_has_an_error() -> None:
    assert agreement("mae", [0.5], [0.75]).value == 0.25


def test_a_nearly_constant_side_warns_nobody() -> None:
    scores = 1 + np.arange(5) * 1e-15
    assert -1 <= agreement("pearson", scores, [1, 2, 3, 4, 5]).value <= 1


def test_only_of_the_error_less_is_better() -> None:
    assert [m for m in MEASURES if not higher_is_better(m)] == ["mae"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: agreement("rho", [1], [1]), r"no measure 'rho'; there are spearman, kendall"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: higher_is_better("r2"), "no measure 'r2'"),  # type: ignore[arg-type]  # likewise
        (lambda: agreement("mae", [1, 2], [1]), "2 of scores, 1 of human; give one value per"),
        (lambda: agreement("mae", [[1, 2]], [1]), r"scores must have 1 dim.*\(1, 2\)"),
        (lambda: agreement("mae", [1], "ab"), "human must be numbers .*'ab'"),
        (lambda: agreement("mae", [[1], [1, 2]], [1]), "scores must be numbers"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        call()


def test_the_references_are_scipys() -> None:
    rng = np.random.default_rng(0)
    scores, human = rng.integers(0, 9, 60) / 8, rng.integers(0, 6, 60) / 5
    for measure, function in (
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
        ("pearson", stats.pearsonr),
    ):
        found = agreement(measure, scores, human)  # type: ignore[arg-type]  # a literal in a tuple
        assert found.value == function(scores, human).statistic


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[stats\]"):
        agreement("spearman", [1, 2, 3], [1, 3, 2])
    with pytest.raises(MissingDependencyError, match=r"tcva-adapters\[stats\]"):
        estimate("mean", np.arange(12) / 12)
    assert estimate("mean", [1, 2, 3]).n == 3  # too few for an interval


def test_a_whole_number_larger_than_any_float_is_refused() -> None:
    with pytest.raises(InvalidValueError):
        agreement("spearman", [10**400, 1], [1, 2])


def test_fishers_average_by_hand() -> None:
    # atanh(r) is half of log((1 + r) / (1 - r)).
    z = (0.5 * math.log(1.2 / 0.8) + 0.5 * math.log(1.8 / 0.2)) / 2
    expected = (math.exp(2 * z) - 1) / (math.exp(2 * z) + 1)
    assert fisher_average([0.2, 0.8, math.nan]) == pytest.approx(expected, abs=1e-12)
    assert (fisher_average([1.0, 0.3]), fisher_average([-1.0, 0.3])) == (1.0, -1.0)
    assert math.isnan(fisher_average([-1.0, 1.0]))
    assert math.isnan(fisher_average([math.nan]))

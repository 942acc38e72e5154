"""Prediction-powered means: against least squares by numpy, and where the judge is left out."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.powered_mean import powered_mean

NAN = math.nan


def drawn(n: int, rated: int, noise: float, *, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.beta(4, 2, n)
    ratings = np.where(
        np.arange(n) < rated, np.clip(truth + rng.normal(0, 0.05, n), 0, 1), NAN
    )
    return ratings, 0.2 + 0.6 * truth + rng.normal(0, noise, n)


@pytest.mark.parametrize("groups", [None, np.arange(400) // 4], ids=["alone", "groups"])
def test_the_estimate_is_that_of_the_regression(groups: Any) -> None:
    ratings, scores = drawn(400, 80, 0.05)
    scores[3] = NAN
    found = powered_mean(
        ratings, scores, groups=None if groups is None else groups.tolist()
    )
    there = np.isfinite(scores)
    rated = there & np.isfinite(ratings)
    y, f, every = ratings[rated], scores[rated], scores[there]
    design = np.column_stack([np.ones(79), f - every.mean()])
    (intercept, slope), *_ = np.linalg.lstsq(design, y, rcond=None)
    assert found.estimate.value == pytest.approx(intercept, abs=1e-12)
    assert found.estimate.n == 79
    # The intercept's error leaves each sample out (HC3); that of the mean score over all is added.
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    weights = (np.linalg.inv(design.T @ design) @ design.T)[0]
    own = np.zeros(400)
    own[rated] = weights * (y - design @ [intercept, slope]) / (1 - np.diag(hat))
    own[there] += slope * (every - every.mean()) / 399
    units = np.arange(400) if groups is None else groups
    equal = (
        79.0
        if groups is None
        else 79**2 / float(np.sum(np.bincount(groups[rated]) ** 2))
    )
    variance = np.sum(np.bincount(units, weights=own) ** 2) * equal / (equal - 1)
    half = stats.t.ppf(0.975, equal - 2) * math.sqrt(variance)
    ends = intercept - half, intercept + half
    assert (found.estimate.low, found.estimate.high) == pytest.approx(ends, abs=1e-12)
    assert found.effective_n > 2 * 79
    narrower = (found.alone.high - found.alone.low) / (2 * half)
    assert found.effective_n == pytest.approx(79 * narrower**2, rel=1e-9)


@pytest.mark.parametrize(
    ("rated", "noise"), [(29, 0.05), (60, 50.0)], ids=["few", "useless"]
)
def test_the_judge_is_left_out(rated: int, noise: float) -> None:
    ratings, scores = drawn(300, rated, noise, seed=3)
    found = powered_mean(ratings, scores)
    assert found.estimate is found.alone
    assert repr(found.alone) == repr(estimate("mean", ratings))
    assert found.effective_n == rated


def test_a_judge_that_rates_the_others_far_off_and_bad_input() -> None:
    ratings, scores = drawn(300, 60, 0.02)
    scores[60:] += 0.4
    for judged in (scores, np.full(300, 0.5)):
        found = powered_mean(ratings, judged)
        assert found.estimate is found.alone
    with pytest.raises(InvalidValueError):
        powered_mean([NAN, 1.0], [0.5, NAN])
    with pytest.raises(InvalidValueError, match="different lengths"):
        powered_mean([1.0], [0.5, 0.5])


@pytest.mark.parametrize(("others", "is_left_out"), [(1, True), (4, True), (5, False)])
def test_a_few_scores_that_differ_are_too_few(
    others: int, *, is_left_out: bool
) -> None:
    scores = np.repeat([1.0, 0.0], [others, 600 - others])
    ratings = np.where(np.arange(600) < 60, scores, NAN)
    ratings[:60] += 0.01 * np.sin(np.arange(60))
    found = powered_mean(ratings, scores)
    assert (found.estimate is found.alone) == is_left_out


def test_a_difference_may_be_negative_although_none_that_is_rated_is() -> None:
    rng = np.random.default_rng(0)
    scores = np.append(rng.uniform(0, 1, 120), rng.uniform(-1, 0, 4000))
    ratings = np.where(np.arange(4120) < 120, scores, NAN)
    plain = powered_mean(ratings, scores).estimate
    signed = powered_mean(ratings, scores, signed=True).estimate
    assert plain.value == plain.low == 0.0
    assert signed.value == pytest.approx(scores.mean(), abs=1e-12)
    assert -1.0 < signed.low < signed.value < signed.high < 0.0

"""Fused scores against scipy's power mean, and what must not change a bit of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean, pmean

from tcva_adapters import exponent, fuse
from tcva_adapters.core.panel import evaluate_panel

NAN = float("nan")
scores = st.floats(0.001, 1.0)
rows = st.lists(scores, min_size=1, max_size=6)


@given(rows, st.floats(0.1, 1.0), st.data())
def test_the_dial_is_the_weighted_power_mean(
    row: list[float], temperature: float, data: st.DataObject
) -> None:
    weights = data.draw(
        st.lists(st.floats(0.1, 9.0), min_size=len(row), max_size=len(row)), label="weights"
    )
    expected = pmean(row, exponent(temperature), weights=weights)
    fused = fuse([row], temperature=temperature, weights=weights).scores[0]
    assert fuse([row]).scores[0] == pytest.approx(gmean(row), rel=6e-12)
    # Near exponent 0 the power mean takes the 1/p-th power, which loses digits in any formula.
    tolerance = 1e-12 / min(1.0, abs(exponent(temperature)) or 1.0)
    assert fused == pytest.approx(expected, rel=max(6e-12, min(1e-6, tolerance)))


@given(
    st.lists(
        st.tuples(st.one_of(scores, st.just(NAN)), st.floats(0.1, 9.0)), min_size=2, max_size=4
    ),
    st.sampled_from([None, 0.1, 0.5, 0.9]),
)
def test_the_order_of_the_methods_does_not_change_a_bit(
    members: list[tuple[float, float]], temperature: float | None
) -> None:
    fused = []
    for order in itertools.permutations(members):
        row, weights = zip(*order, strict=True)
        fused.append(fuse([row], weights=weights, temperature=temperature).scores[0])
    assert len(set(map(repr, fused))) == 1


@given(rows)
def test_the_mean_rises_with_the_temperature_and_stays_within(row: list[float]) -> None:
    fused = [fuse([row], temperature=t).scores[0] for t in np.linspace(0.1, 1.0, 10)]
    assert all(a <= b * (1 + 1e-11) for a, b in itertools.pairwise(fused))
    assert fuse([row[:1] * 3], temperature=0.9).scores[0] == pytest.approx(row[0], rel=6e-12)
    assert min(row) * (1 - 6e-12) <= fused[0] <= fused[-1] <= max(row) * (1 + 6e-12)


def test_missing_scores_are_left_out_and_counted() -> None:
    fused = fuse([[0.4, NAN, 0.9], [NAN, NAN, NAN], [NAN, 0.3, NAN]], weights=[1, 5, 1])
    # sqrt(.4 * .9) = .6: the 5 parts of the absent method go to nobody.
    assert fused.scores == pytest.approx([0.6, NAN, 0.3], abs=1e-12, nan_ok=True)
    assert fused.members.tolist() == [2, 0, 1]
    weightless = fuse([[0.4, 0.9], [NAN, 0.9]], weights=[1, 0])
    assert weightless.scores == pytest.approx([0.4, NAN], abs=1e-15, nan_ok=True)
    assert weightless.members.tolist() == [1, 0]


def test_zeros_are_floored_but_a_row_of_zeros_is_zero() -> None:
    fused = fuse([[0.0, 0.9], [0.0, 0.4], [0.0, 0.0]])
    # sqrt(1e-9 * .9) = 3e-5 and sqrt(1e-9 * .4) = 2e-5: still in the order of the other method.
    assert fused.scores == pytest.approx([3e-5, 2e-5, 0.0], rel=1e-12)
    assert fuse([[0.0, 1.0]], temperature=0.5).scores[0] == 0.5
    assert fuse([[0.0, 1.0]], temperature=1.0).scores[0] == pytest.approx(0.5 ** (1 / 12.25))
    assert fuse(np.empty((0, 3))).scores.shape == (0,)


@pytest.mark.parametrize(
    ("judges", "weights", "score", "criteria", "passes", "agreement"),
    [
        # .3*13/3 + .5*14/3 + .2*11/3 = 4.36667; every criterion's std is sqrt(2)/3 = .4714.
        ("453 444 554", [0.3, 0.5, 0.2], 4.3667, [4.3333, 4.6667, 3.6667], True, 0.8114),
        ("111 222", [0.4, 0.3, 0.3], 1.5, [1.5, 1.5, 1.5], False, 0.8),
    ],
)
def test_the_published_panels(
    judges: str,
    weights: list[float],
    score: float,
    criteria: list[float],
    passes: bool,
    agreement: float,
) -> None:
    scores = [list(map(int, judge)) for judge in judges.split()]
    rating = evaluate_panel(scores, weights, 0.6, 5.0)
    assert rating.weighted_score == pytest.approx(score, abs=5e-5)
    assert rating.normalized_score == pytest.approx(score / 5, abs=5e-5)
    assert rating.criterion_scores == pytest.approx(criteria, abs=5e-5)
    assert (rating.pass_status, rating.missing) == (passes, (0,) * len(weights))
    assert rating.judge_agreement == pytest.approx(agreement, abs=5e-5)


def test_a_missing_rating_is_left_out_of_its_criterion_and_counted() -> None:
    rating = evaluate_panel([[4, None], [2, 5], [NAN, 3]], [0.5, 0.5], 0.7, 5)
    # (4+2)/2 = 3 and (5+3)/2 = 4; each std is 1, over 2.5.
    assert rating.criterion_scores == (3.0, 4.0)
    assert (rating.weighted_score, rating.normalized_score, rating.pass_status) == (3.5, 0.7, True)
    assert rating.judge_agreement == pytest.approx(1 - 1 / 2.5, abs=1e-12)
    assert rating.to_dict()["missing"] == (1, 1)
    alone = evaluate_panel([[4, None], [None, 3]], [0.5, 0.5], 0.5, 5)
    assert math.isnan(alone.judge_agreement)
    assert alone.to_dict()["judge_agreement"] is None
    # The most divided panel has none either.
    assert evaluate_panel([[0], [5], [0], [5]], [1], 0.5, 5).judge_agreement == 0.0


@given(st.data())
def test_the_order_of_the_judges_does_not_change_a_bit(data: st.DataObject) -> None:
    judges = data.draw(st.integers(2, 4))
    ratings = data.draw(
        st.lists(st.lists(scores, min_size=2, max_size=2), min_size=judges, max_size=judges)
    )
    rated = {evaluate_panel(p, [0.3, 0.7], 0.5, 1.0) for p in itertools.permutations(ratings)}
    assert len(rated) == 1


def test_a_unanimous_panel_reaches_the_threshold_that_it_gives() -> None:
    # Ten times 0.1 x 3 sums to 2.9999999999999996 in floats.
    rating = evaluate_panel([[3] * 10, [3] * 10], [0.1] * 10, 0.6, 5)
    assert (rating.weighted_score, rating.pass_status) == (3.0, True)

"""Two and three levels, the frameworks' formulas, the ablation, and the way back."""

from __future__ import annotations

import math
from itertools import product

import pytest

from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.core.collapse import (
    ablation,
    binary_counts,
    deepeval_score,
    from_deepeval,
    from_ragas,
    ragas_score,
    ternary_counts,
    ternary_score,
)
from tcva_adapters.core.verdicts import Verdict, count_levels
from tcva_adapters.errors import InvalidValueError

WORDS = ["fully", "mostly", "partial", "minor", "none", "none"]


def test_counts_at_two_and_three_levels() -> None:
    counts = count_levels(WORDS)[None, :]
    assert binary_counts(counts).tolist() == [[2, 0, 0, 0, 4]]
    assert ternary_counts(counts).tolist() == [[2, 2, 2]]


def test_ablation_by_hand() -> None:
    # Weights 1, .9, .7, .3, 0, 0: mean 2.9/6; f = 1/3; at T = .9 the exponent is 10, alpha .6.
    result = ablation(count_levels(WORDS)[None, :], 0.9)
    power_mean = ((1 + 0.9**10 + 0.7**10 + 0.3**10) / 6) ** 0.1
    kept = (2 / 3) ** 0.6
    assert result.without_penalty[0] == pytest.approx(power_mean, abs=1e-12)
    assert result.full[0] == pytest.approx(power_mean * kept, abs=1e-12)
    assert result.arithmetic[0] == pytest.approx(2.9 / 6 * kept, abs=1e-12)
    # D: two ones of six; f counts all four zeros.
    assert result.binary[0] == pytest.approx((2 / 6) ** 0.1 * (2 / 6) ** 0.6, abs=1e-12)


def test_ablation_full_is_the_score() -> None:
    result = ablation(count_levels(WORDS)[None, :], 0.3)
    assert result.full[0] == aggregate(WORDS, 0.3)


def test_ablation_at_the_balanced_temperature_leaves_the_mean_as_it_is() -> None:
    # T = .5 has exponent 1: A and C are one formula there, down to the last bit and so to all ties.
    rows = [[a, b, c, d, e] for a, b, c, d, e in product(range(3), repeat=5)][1:]
    result = ablation(rows, "balanced")
    assert (result.arithmetic == result.full).all()


def test_ablation_of_nothing_is_nan() -> None:
    result = ablation([[0, 0, 0, 0, 0]], 0.5)
    assert all(map(math.isnan, (result.full[0], result.arithmetic[0], result.binary[0])))


def test_native_formulas() -> None:
    assert ragas_score([1, 1, 0, 0, 0]) == 0.4
    assert math.isnan(ragas_score([]))
    words = ["yes", "yes", "borderline", "no"]
    assert deepeval_score(words) == 0.75
    assert deepeval_score(words, penalize_ambiguous_claims=True) == 0.5
    assert deepeval_score([]) == 1.0
    assert ternary_score(words) == (1 + 1 + 0.5 + 0) / 4
    assert ternary_score(words, count_unsure=False) == pytest.approx(2 / 3, abs=1e-15)
    assert math.isnan(ternary_score(["idk"], count_unsure=False))


def test_native_verdicts_become_levels() -> None:
    assert from_ragas([1, 0]) == [Verdict.FULLY, Verdict.NONE]
    assert from_deepeval(["Yes", "idk", " borderline", "no"]) == [
        Verdict.FULLY,
        Verdict.PARTIAL,
        Verdict.PARTIAL,
        Verdict.NONE,
    ]


def test_unknown_native_verdicts_are_named() -> None:
    with pytest.raises(InvalidValueError, match="'maybe' is no DeepEval verdict"):
        from_deepeval(["maybe"])
    with pytest.raises(InvalidValueError, match="None is no DeepEval verdict"):
        from_deepeval([None])  # type: ignore[list-item]  # on purpose
    with pytest.raises(InvalidValueError, match="2 is no RAGAS verdict"):
        from_ragas([2])

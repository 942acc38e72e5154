"""Two and three levels, the frameworks' formulas, the ablation, the way back, and score_agg."""

from __future__ import annotations

import math
from itertools import product

import pytest

from tcva_adapters.core.aggregation import Penalty, aggregate
from tcva_adapters.core.collapse import (
    ablation,
    binary_counts,
    deepeval_score,
    from_deepeval,
    from_ragas,
    ragas_score,
    ternary_counts,
)
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.verdicts import Verdict, count_levels

WORDS = ["fully", "mostly", "partial", "minor", "none", "none"]
ROW = count_levels(WORDS)[None, :]


def test_counts_at_two_and_three_levels() -> None:
    assert binary_counts(ROW).tolist() == [[2, 0, 0, 0, 4]]
    assert ternary_counts(ROW).tolist() == [[2, 2, 2]]


def test_ablation_by_hand() -> None:
    # Weights 1, .9, .7, .3, 0, 0: mean 2.9/6; f = 1/3; at T = .9 the exponent is 10, alpha .6.
    result = ablation(ROW, 0.9)
    power_mean = ((1 + 0.9**10 + 0.7**10 + 0.3**10) / 6) ** 0.1
    kept = (2 / 3) ** 0.6
    assert result["full"][0] == aggregate(WORDS, 0.9) == pytest.approx(power_mean * kept, abs=1e-12)
    assert result["without_penalty"][0] == pytest.approx(power_mean, abs=1e-12)
    assert result["arithmetic"][0] == pytest.approx(2.9 / 6 * kept, abs=1e-12)
    # D: two ones of six; f counts all four zeros.
    assert result["binary"][0] == pytest.approx((2 / 6) ** 0.1 * (2 / 6) ** 0.6, abs=1e-12)


def test_ablation_at_the_balanced_temperature_leaves_the_mean_as_it_is() -> None:
    # T = .5 has exponent 1: A and C are one formula there, and so have all ties in common.
    rows = [[a, b, c, d, e] for a, b, c, d, e in product(range(3), repeat=5)]
    result = ablation(rows, "balanced")
    assert (result["arithmetic"][1:] == result["full"][1:]).all()
    assert all(map(math.isnan, (result["full"][0], result["arithmetic"][0], result["binary"][0])))


def test_native_formulas_and_the_way_back() -> None:
    assert ragas_score([1, 1, 0, 0, 0]) == 0.4
    assert from_ragas([1, 0]) == [Verdict.FULLY, Verdict.NONE]
    words = ["Yes", "yes", " borderline", "no"]
    assert [level.value for level in from_deepeval([*words, "idk"])] == [
        *("fully", "fully", "partial", "none", "partial")
    ]
    assert deepeval_score(words) == 0.75
    assert deepeval_score(words, penalize_ambiguous_claims=True) == 0.5
    assert deepeval_score([]) == 1.0
    assert math.isnan(ragas_score([]))


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([], {}, 0.0),
        ([0], {}, 0.0),
        ([1, 0.9, 0.7], {}, 0.8667),
        # Mean .5, half are 0; alpha = (n - 1)/4: 1/4 at n = 2, 3/4 at n = 4, then 1.
        ([1, 0], {}, 0.4204),
        ([1, 0] * 2, {}, 0.2973),
        ([1, 0] * 3, {}, 0.25),
        ([1, 0], {"penalty": 5}, 0.4204),  # without effect, as in the library
        # T = 2: exponent of T = 1 (12.25), alpha = 1.5 - 2 = -.5 at full ramp (n = 5, one 0).
        ([1, 1, 1, 1, 0], {"temperature": 2}, round(0.8 ** (1 / 12.25 - 0.5), 4)),
        ([1, 0], {"dialect": "paper"}, 0.25),
        ([1, 0], {"dialect": "absolute"}, 0.45),
        ([1, 0], {"dialect": "off"}, 0.5),
    ],
)
def test_score_agg_by_hand(
    scores: list[float], options: dict[str, Penalty], expected: float
) -> None:
    # benchmarks/compat.py compares it with the library itself.
    assert score_agg(scores, **options) == expected  # type: ignore[arg-type]  # of several kinds

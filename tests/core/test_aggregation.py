"""The power mean, the penalty and the sweep against independent references and properties."""

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcva_adapters import (
    Verdict,
    WeightScheme,
    aggregate,
    aggregate_counts,
    exponent,
    flip_temperature,
)
from tcva_adapters.core import aggregation
from tcva_adapters.core.aggregation import (
    FLOORS,
    PENALTIES,
    Floor,
    Penalty,
    Plan,
    make_plan,
    score_of,
)
from tcva_adapters.core.temperature import Bounds, exponent_within
from tcva_adapters.core.verdicts import LEVELS, SCHEMES, FloatArray, count_levels
from tcva_adapters.errors import InvalidValueError
from tests.support.ablation import ablation
from tests.support.paper import judged, needs_paper_data


def verdicts_of(*counts: int) -> list[Verdict]:
    """Repeat each level as often as it is counted."""
    return [
        level for level, count in zip(LEVELS, counts, strict=True) for _ in range(count)
    ]


WORDS = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=12)
TEMPERATURES = st.floats(0.1, 1.0)
WEIGHTS = st.lists(st.floats(0, 1), min_size=5, max_size=5).map(
    lambda w: sorted(w, reverse=True)
)


def reference(
    row: list[float], p: float, temperature: float, options: dict[str, Any]
) -> float:
    """Paper, eqs. 11 and 12, term by term with 60 decimal digits."""
    eps, penalty = options["eps"], options["penalty"]
    with localcontext() as context:
        context.prec = 60
        floored = p < 1e-12 or options["floor"] == "always"
        chosen = WeightScheme.resolve(options["scheme"]).weights
        weights = [max(w, eps) if floored else w for w in chosen]
        n = sum(map(Decimal, row), Decimal(0))
        terms = [
            (Decimal(k) / n, Decimal(w)) for k, w in zip(row, weights, strict=True) if k
        ]
        if abs(p) < 1e-12:
            mean = sum((share * w.ln() for share, w in terms), Decimal(0)).exp()
        else:
            total = sum(
                (share * w ** Decimal(p) for share, w in terms if w), Decimal(0)
            )
            mean = total ** (1 / Decimal(p)) if total else Decimal(0)
        kept = (n - Decimal(row[4])) / n
        alpha = Decimal("1.5") - Decimal(temperature)
        if penalty == "ramped":
            alpha *= min(Decimal(1), max(Decimal(0), (n - 1) / 4))
        if penalty == "absolute":
            kept, alpha = max(Decimal(0), 1 - Decimal(row[4]) / 10), Decimal(1)
        if penalty == "off" or not alpha:
            return float(mean)
        return float(mean * kept**alpha) if kept else 0.0


# Table 3 of the paper: [1, .9, .7] at exponents given directly.
def test_table_3() -> None:
    expected = (0.773, 0.809, 0.838, 0.848, 0.857, 0.867, 0.876, 0.899, 0.925)
    for p, score in zip((-10, -5, -2, -1, 0, 1, 2, 5, 10), expected, strict=True):
        # Bounds that map T = 0.5 to exactly p.
        bounds = Bounds(p_min=p - 1, p_max=p + 1, t_min=0.0, t_max=1.0)
        found = aggregate(["fully", "mostly", "partial"], 0.5, bounds=bounds)
        assert round(found, 3) == score
    infinite = Bounds(p_min=0, p_max=1e6, t_min=0.0, t_max=1.0)
    assert (
        round(aggregate(["fully", "mostly", "partial"], 1.0, bounds=infinite), 3) == 1.0
    )


COUNTS = st.integers(0, 12) | st.integers(0, 10**6) | st.floats(2.0**-30, 9.0)
ROWS = st.lists(COUNTS, min_size=5, max_size=5).filter(any)


@given(
    ROWS,
    st.integers(0, 10**6).map(lambda n: n / 10**6),
    st.sampled_from([*SCHEMES.values()]) | WEIGHTS,
    st.sampled_from(PENALTIES),
    st.sampled_from(
        [(1e-9, "paper"), (1e-9, "always"), (0.05, "always"), (1e-300, "paper")]
    ),
    st.sampled_from(
        [Bounds(), Bounds(0.5, 30.0, 0.0, 1.4), Bounds(-1e-11, 1e-11, 0.0, 1.5)]
    ),
)
@example(
    [0, 0, 0, 0, 1], 1.0, WeightScheme.DEFAULT, "ramped", (1e-9, "paper"), Bounds()
)
@example(
    [1, 0, 0, 0, 10**6], 1.0, WeightScheme.DEFAULT, "off", (1e-9, "paper"), Bounds()
)
def test_equals_the_formulas_to_12_digits(
    row: list[float],
    share: float,
    scheme: WeightScheme | list[float],
    penalty: Penalty,
    floored: tuple[float, Floor],
    bounds: Bounds,
) -> None:
    eps, floor = floored
    temperature = min(
        bounds.t_min + share * (bounds.t_max - bounds.t_min), bounds.t_max
    )
    options: dict[str, Any] = {
        "scheme": scheme,
        "penalty": penalty,
        "eps": eps,
        "floor": floor,
    }
    with np.errstate(all="raise"):  # which a user may have set
        [[got]] = aggregate_counts([row], [temperature], bounds=bounds, **options)
    expected = reference(
        row, exponent_within(temperature, bounds), temperature, options
    )
    assert got == pytest.approx(expected, rel=6e-12, abs=1e-280)
    with np.errstate(all="raise"):
        single = score_of(row, make_plan([temperature], bounds=bounds, **options))
    assert single == pytest.approx(float(got), rel=2e-16, abs=1e-280)
    assert got == float(f"{got:.12g}") or got < 1e-11
    assert 0.0 <= got <= 1.0


@given(WORDS, TEMPERATURES, st.sampled_from(PENALTIES), st.sampled_from(FLOORS))
@example(verdicts_of(5, 2, 0, 1, 5), 0.4556, "paper", "paper")
@example(verdicts_of(0, 3, 0, 0, 7), 0.45601553643460924, "paper", "paper")
def test_a_list_scores_the_same_alone_and_as_a_row(
    words: list[Verdict], temperature: float, penalty: Penalty, floor: Floor
) -> None:
    row = count_levels(words)
    [[expected]] = aggregate_counts([row], [temperature], penalty=penalty, floor=floor)
    assert aggregate(words, temperature, penalty=penalty, floor=floor) == expected


def test_a_list_alone_needs_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["fully", "mostly", "minor"]
    matrix = aggregation.scores_of
    calls = []

    def counting(rows: FloatArray, plan: Plan) -> FloatArray:
        calls.append(rows)
        return matrix(rows, plan)

    monkeypatch.setattr(aggregation, "scores_of", counting)
    assert aggregate(words, 0.5) == 0.733333333333
    assert not calls
    flip = flip_temperature(words, 0.75)
    assert flip is not None
    assert len(calls) == 1
    assert aggregate(words, flip) == 0.75


@given(WORDS, TEMPERATURES, st.randoms(use_true_random=False), st.integers(2, 10**5))
def test_order(
    words: list[Verdict], temperature: float, random: object, times: int
) -> None:
    score = aggregate(words, temperature)
    shuffled = list(words)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands over a Random
    assert aggregate(shuffled, temperature) == score
    counts = np.array(count_levels(words))
    assert (
        aggregate_counts([times * counts], [temperature])
        == aggregate_counts([counts], [temperature])
        == score
    )


def test_means_that_are_equal_numbers_are_equal_floats() -> None:
    # .9 + .9 + .3 = .7 + .7 + .7: a tie, which naive sums break in the last bit.
    tied = aggregate(["mostly", "mostly", "minor"]), aggregate(["partial"] * 3)
    assert tied == (0.7, 0.7)


@given(
    WORDS,
    TEMPERATURES,
    TEMPERATURES,
    st.sampled_from([*SCHEMES.values()]) | WEIGHTS,
    st.sampled_from(PENALTIES),
    st.floats(1e-300, 0.999) | st.sampled_from([1e-9, 0.05, 0.2]),
    st.sampled_from(FLOORS),
)
def test_never_falls_as_the_temperature_rises_or_is_refused(
    words: list[Verdict],
    one: float,
    two: float,
    scheme: WeightScheme | list[float],
    penalty: Penalty,
    eps: float,
    floor: Floor,
) -> None:
    low, high = sorted((one, two))

    def score(temperature: float) -> float:
        return aggregate(
            words, temperature, scheme=scheme, penalty=penalty, eps=eps, floor=floor
        )

    if floor == "paper" and eps > 1e-9 and exponent(high) > 0:
        with pytest.raises(InvalidValueError, match='floor="always"'):
            score(high)
        return
    weights = WeightScheme.resolve(scheme)
    is_raised = any(weights.weight(word) < eps for word in words)
    if floor == "paper" and is_raised and exponent(low) <= 0 < exponent(high):
        return  # the paper's own cliff
    assert score(low) <= score(high) * (1 + 1e-11)  # the 12th digit


def test_a_larger_eps_goes_with_the_floor_that_applies_everywhere() -> None:
    # Its scores were .574 at T = .4555, .000 at .4557 and .640 at .5 with the paper's floor.
    words = ["fully"] * 4 + ["none"]
    scores = [
        aggregate(words, t, eps=0.2, floor="always") for t in (0.4555, 0.4557, 0.5)
    ]
    assert [round(score, 3) for score in scores] == [0.574, 0.575, 0.672]
    assert aggregate(words, 0.4555, eps=0.2) == scores[0]
    counts = [4, 0, 0, 0, 1]
    with pytest.raises(InvalidValueError, match='floor="always"'):
        aggregate_counts([counts], [0.1, 0.5], eps=0.2)
    with pytest.raises(InvalidValueError, match='floor="always"'):
        ablation([counts], 0.5, eps=0.2)
    with pytest.raises(InvalidValueError, match='floor="always"'):
        flip_temperature(counts, 0.5, eps=1.1e-9)
    below = Bounds(p_min=-9.0, p_max=0.0)
    assert flip_temperature(words, 0.5, eps=0.2, bounds=below) is not None
    expected = [aggregate(words, t, eps=0.2) for t in (0.1, 0.45)]
    assert aggregate_counts([counts], [0.1, 0.45], eps=0.2).tolist() == [expected]


def test_no_verdicts_have_no_score() -> None:
    assert math.isnan(aggregate([]))
    assert np.isnan(aggregate_counts([[0, 0, 0, 0, 0]], [0.1, 0.9])).all()


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_row_scores_the_same_alone_and_among_others(is_whole: bool) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, size=(20_000, 5)) * (
        1.0 if is_whole else rng.random((20_000, 1))
    )
    grid = np.linspace(0.1, 1.0, 19)
    whole = aggregate_counts(rows, grid)
    for i in rng.choice(len(rows), size=50, replace=False):
        alone = [aggregate_counts(rows[[i]], [t])[0, 0] for t in grid]
        assert np.array_equal(whole[i], alone, equal_nan=True)


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, 1e-120, 1.0])
def test_shares_of_any_size_are_shares(tiny: float) -> None:
    assert aggregate_counts([[tiny, 0, 0, 0, tiny]], [0.5]).tolist() == [[0.25]]


def test_a_weight_of_zero_is_no_none() -> None:
    # The penalty counts the level: minor with weight 0 is not punished beyond its weight.
    scheme = WeightScheme("own", (1, 0.9, 0.7, 0, 0))
    assert aggregate(["fully", "minor"], scheme=scheme) == 0.5
    assert aggregate(["fully", "none"], scheme=scheme) == 0.25


@needs_paper_data
@pytest.mark.parametrize("name", ["summeval", "summeval_rel"])
def test_stored_scores_are_recomputed(name: str) -> None:
    counts, _, stored = judged(name)
    for key, scores in stored.items():
        ours = aggregate_counts(counts, [float(key[1:])])[:, 0]
        assert np.abs(ours - scores).max() <= 5e-5 + 1e-12
        differs = ours.round(4) != scores
        # What differs after rounding must have been a tie of the last digit.
        digits = np.abs(ours[differs] * 1e4 % 1 - 0.5)
        assert (digits < 1e-6).all()

"""Estimates, differences and bounds: against scipy, plain loops and figures by hand."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import Measure, value_of
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.inference import (
    STATISTICS,
    Statistic,
    difference,
    estimate,
)
from tcva_adapters.stats.labels_needed import labels_needed
from tcva_adapters.stats.lower_bound import lower_bound
from tcva_adapters.stats.p_values import correlation_p

NAN = math.nan
RNG = np.random.default_rng(3)
N = 60
HUMAN = np.round(RNG.random(N) * 8) / 8
ONE = np.clip(np.round(HUMAN + RNG.normal(0, 0.25, N), 1), 0, 1)
OTHER = np.clip(HUMAN + RNG.normal(0, 0.4, N), 0, 1)
GROUPS = (np.arange(N) // 3).tolist()
UNEVEN = np.repeat(np.arange(27), [6, 4, *[2] * 25]).tolist()
CORRELATIONS: tuple[Measure, ...] = ("spearman", "kendall", "pearson")
OF_SCIPY: dict[str, Any] = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}
OF_SCIPY["pearson"] = stats.pearsonr


def left_out(of: Any, groups: Sequence[int] | None) -> FloatArray:
    """Of the samples that are left, by a plain loop."""
    codes = np.arange(N) if groups is None else np.asarray(groups)
    return np.array([of(codes != unit) for unit in np.unique(codes)])


def jackknife(values: FloatArray) -> float:
    m = len(values)
    return math.sqrt((m - 1) / m * np.sum((values - values.mean()) ** 2))


def worth(groups: Sequence[int] | None) -> float:
    return (
        float(N) if groups is None else float(N**2 / np.sum(np.bincount(groups) ** 2))
    )


# A figure


def test_a_symmetric_mean_has_students_interval() -> None:
    values = np.concatenate([0.5 + np.arange(1, 13) / 50, 0.5 - np.arange(1, 13) / 50])
    found = estimate("mean", values, level=0.9)
    low, high = stats.t.interval(0.9, 23, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert (found.n, found.groups, found.level) == (24, None, 0.9)


def test_the_ends_of_a_skewed_mean_are_where_halls_t_meets_students() -> None:
    values = np.random.default_rng(1).beta(5, 1, 30)
    a = stats.skew(values) / math.sqrt(30)

    def hall(t: float) -> float:
        return float(t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6)

    q = stats.t.ppf(0.975, 29)
    below = optimize.brentq(lambda t: hall(t) - q, -20, 20, xtol=1e-14)
    above = optimize.brentq(lambda t: hall(t) + q, -20, 20, xtol=1e-14)
    found, error = estimate("mean", values), stats.sem(values)
    ends = values.mean() - below * error, values.mean() - above * error
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-12)
    # Where values lie on both sides, it is no narrower than the plain one on either.
    plain = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
    both = difference("mean", values, np.zeros(30))
    assert both.low == pytest.approx(min(found.low, plain[0]), abs=1e-12)
    assert both.high == pytest.approx(max(found.high, plain[1]), abs=1e-12)


@pytest.mark.parametrize(("passed", "n"), [(0, 1), (3, 4), (20, 20), (7, 60)])
def test_a_share_has_the_exact_interval(passed: int, n: int) -> None:
    found = estimate("share", [1] * passed + [0] * (n - passed), level=0.9)
    exact = stats.binomtest(passed, n).proportion_ci(0.9)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


@pytest.mark.parametrize(
    "groups", [None, GROUPS, UNEVEN], ids=["alone", "groups", "uneven"]
)
@pytest.mark.parametrize("measure", CORRELATIONS)
def test_intervals_of_correlations(measure: Measure, groups: list[int] | None) -> None:
    of = OF_SCIPY[measure]
    values = left_out(lambda kept: of(ONE[kept], HUMAN[kept]).statistic, groups)
    value = of(ONE, HUMAN).statistic
    error = jackknife(np.arctanh(values))
    half = stats.t.ppf(0.975, worth(groups) - 2) * error
    ends = math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)
    found = estimate(measure, [ONE, HUMAN], groups, test=groups is not None)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-10)
    if groups is not None:
        p = 2 * stats.t.sf(math.atanh(value) / error, worth(groups) - 2)
        assert found.p == pytest.approx(p, rel=1e-9)
        assert found.groups == len(set(groups))


@pytest.mark.parametrize(("statistic", "columns", "groups", "why"), [
    ("mean", [0.5], None, "it needs 10 samples, got 1"),
    ("mean", [], None, "got 0"),
    ("share", [], None, "it needs 1 samples, got 0"),
    ("mean", [0.5] * 20, None, "all values are equal"),
    ("mean", [1.0] * 26 + [0.0, 0.1, 0.2, 0.3], None, "all but 4 values are equal"),
    ("mean", ONE[:30], [0, 1] * 15, "it needs 10 groups, got 2 (effectively 2.0)"),
    ("mean", ONE, [0] * 49 + [*range(1, 12)], "got 12 (effectively 1.5)"),
    ("mean", np.tile([0.2, 0.5, 0.8], 20), GROUPS, "whichever group is left out"),
    ("spearman", [ONE, HUMAN], [*range(5)] * 12, "got 5 (effectively 5.0)"),
    ("pearson", [HUMAN, 2 * HUMAN], None, "agreement is perfect"),
    ("kendall", [ONE, [1.0] * N], None, "all ratings are equal"),
    ("mae", [ONE, ONE + 0.25], None, "all values are equal"),
    ("mae", [0.95 + ONE / 50, [1.0] * N], None, "all ratings are equal; at least 5"),
    ("error", [0.95 + ONE / 50, [0.0] * 4 + [1.0] * 56], None, "all but 4 ratings are"),
    ("error", [ONE, ONE + 0.25], None, "all values are equal"),
    ("error", [ONE, HUMAN], [0, 1] * 30, "it needs 10 groups, got 2"),
])  # fmt: skip
def test_what_is_not_offered(
    statistic: Statistic, columns: Any, groups: Any, why: str
) -> None:
    found = estimate(statistic, columns, groups, test=statistic in {"mean", "error"})
    assert why in found.reason
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(found.p)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_samples_without_a_number_are_left_out(statistic: Statistic) -> None:
    columns = [(ONE > 0.5) * 1.0] if statistic == "share" else [ONE, HUMAN]
    columns = columns[:1] if statistic == "mean" else columns
    holes = [np.append(column, [NAN, 0.5, np.inf]) for column in columns]
    holes[-1][-2] = NAN
    # Not the estimates themselves: nan in them is equal to nothing from Python 3.13 on.
    assert repr(estimate(statistic, holes)) == repr(estimate(statistic, columns))
    assert estimate(statistic, holes).n == N


# Chance


@pytest.mark.parametrize("measure", CORRELATIONS)
def test_p_of_a_correlation_counts_every_order_of_few_samples(measure: Measure) -> None:
    one, human = ONE[:6], HUMAN[[0, 1, 2, 2, 4, 5]]
    every = [
        value_of(measure, one, human[list(order)]) for order in permutations(range(6))
    ]
    value = value_of(measure, one, human)
    above = np.mean([each >= value - 1e-12 for each in every])
    below = np.mean([each <= value + 1e-12 for each in every])
    found = correlation_p(measure, one, human, permutations=9999, seed=0)
    assert found == pytest.approx(min(1.0, 2 * min(above, below)), abs=1e-12)


def test_p_of_many_samples_is_the_formulas() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 600))
    options: dict[str, Any] = {"permutations": 9, "seed": 0}
    for measure in CORRELATIONS:
        expected = OF_SCIPY[measure](x, y).pvalue
        assert correlation_p(measure, x, y, **options) == pytest.approx(
            expected, rel=1e-9
        )
    # Of fewer, the drawn one lies close to it.
    drawn = correlation_p("spearman", x[:200], y[:200], permutations=9999, seed=1)
    assert drawn == pytest.approx(stats.spearmanr(x[:200], y[:200]).pvalue, abs=0.04)


def test_the_p_of_a_symmetric_mean_is_students() -> None:
    steps = np.arange(1, 13) / 50
    values = 0.03 + np.concatenate([steps, -steps])
    expected = stats.ttest_1samp(values, 0.0).pvalue
    for side in (1.0, -1.0):
        found = estimate("mean", side * values, test=True)
        assert found.p == pytest.approx(expected, rel=1e-9)
    assert math.isnan(estimate("mean", values).p)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("shift", [-0.9, -0.55, 0.2])
def test_the_p_of_a_skewed_mean_is_the_larger_of_students_and_halls(
    shift: float, side: float
) -> None:
    errors = side * (stats.expon.ppf(np.arange(1, 20) / 20) + shift)
    human = np.arange(19.0) / 50
    a = stats.skew(errors) / math.sqrt(19)
    t = errors.mean() / stats.sem(errors)
    hall = t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6
    tail = max(stats.t.sf(abs(t), 18), stats.t.sf(math.copysign(hall, hall * t), 18))
    found = estimate("error", [human + errors, human], test=True)
    assert found.p == pytest.approx(min(1.0, 2 * tail), rel=1e-9)
    again = difference("mean", human + errors, human)
    assert (again.p, again.low) == pytest.approx((found.p, found.low), rel=1e-9)
    # An interval of this error ends at 0.
    touching = estimate("error", [human + errors, human], level=1 - found.p)
    assert min(abs(touching.low), abs(touching.high)) < 1e-9


# A difference


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["alone", "groups"])
def test_a_difference_of_errors_is_that_of_a_mean(groups: list[int] | None) -> None:
    apart = np.abs(ONE - HUMAN) - np.abs(OTHER - HUMAN)
    found = difference("mae", ONE, OTHER, HUMAN, groups)
    assert found == difference("mean", apart, np.zeros(N), groups=groups)
    touching = difference("mae", ONE, OTHER, HUMAN, groups, level=1 - found.p)
    assert min(abs(touching.low), abs(touching.high)) < 1e-9
    wide = difference("mae", ONE, OTHER, HUMAN, groups, level=0.9)
    assert found.narrow == (wide.low, wide.high)


@pytest.mark.parametrize("groups", [None, UNEVEN], ids=["alone", "uneven"])
@pytest.mark.parametrize("measure", ["kendall", "pearson"])
def test_differences_go_by_students_t(
    measure: Measure, groups: list[int] | None
) -> None:
    of = OF_SCIPY[measure]

    def apart(kept: Any) -> float:
        one, other = (of(side[kept], HUMAN[kept]).statistic for side in (ONE, OTHER))
        return float(np.arctanh(one) - np.arctanh(other))

    z, error = apart(np.arange(N)), jackknife(left_out(apart, groups))
    df = worth(groups) - 2
    found = difference(measure, ONE, OTHER, HUMAN, groups)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(z) / error, df), rel=1e-9)
    slope = found.value / z
    half = stats.t.ppf(0.975, df) * error
    ends = slope * (z - half), slope * (z + half)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-10)
    assert (found.p < 0.05) == (not found.low < 0 < found.high)


def test_a_difference_of_ranks_is_the_paired_bootstrap() -> None:
    drawn = np.random.Generator(np.random.PCG64(0)).integers(0, N, (400, N))
    rho = stats.spearmanr
    rhos = [[rho(side[r], HUMAN[r]).statistic for r in drawn] for side in (ONE, OTHER)]
    deltas = np.diff(rhos[::-1], axis=0)[0]
    found = difference("spearman", ONE, OTHER, HUMAN, resamples=400)
    ends = tuple(np.quantile(deltas, [0.025, 0.975]))
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-12)
    assert found.narrow == pytest.approx(
        tuple(np.quantile(deltas, [0.05, 0.95])), abs=1e-12
    )
    rarer = min((deltas <= 0).sum(), (deltas >= 0).sum())
    assert found.p == pytest.approx(2 * (rarer + 1) / 401, abs=1e-12)


def test_a_difference_of_ranks_by_groups_allows_for_few_of_them() -> None:
    options: dict[str, Any] = {"resamples": 400, "seed": 2}
    found = difference("spearman", ONE, OTHER, HUMAN, GROUPS, **options)
    drawn = np.random.Generator(np.random.PCG64(2)).integers(0, 20, (400, 20))
    places = [
        np.concatenate([[3 * g, 3 * g + 1, 3 * g + 2] for g in row]) for row in drawn
    ]
    rho = stats.spearmanr
    one, other = (
        np.array([rho(s[r], HUMAN[r]).statistic for r in places]) for s in (ONE, OTHER)
    )
    shares = stats.norm.cdf(math.sqrt(20 / 19) * stats.t.ppf([0.025, 0.975], 19))
    ends = tuple(np.quantile(one - other, shares))
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-12)
    rarer = (min((one <= other).sum(), (one >= other).sum()) + 1) / 401
    p = 2 * stats.t.cdf(math.sqrt(19 / 20) * stats.norm.ppf(rarer), 19)
    assert found.p == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("measure", CORRELATIONS)
def test_equal_methods_do_not_differ(measure: Measure) -> None:
    found = difference(measure, ONE, ONE, HUMAN, resamples=50)
    assert (found.value, found.p) == (0.0, 1.0)
    assert "the same on all resamples" in found.reason
    perfect = difference(measure, ONE, HUMAN, HUMAN, resamples=50)
    assert ("agreement is perfect" in perfect.reason) == (measure != "spearman")
    few = difference(measure, ONE[:49], OTHER[:49], HUMAN[:49])
    assert math.isnan(few.p) == (measure != "pearson")


def test_a_difference_of_means_that_one_more_sample_may_turn_round() -> None:
    near, top = 0.95 + ONE / 50, np.ones(N)
    for apart in (difference("mean", near, top), difference("mean", top, near)):
        assert "all values are equal; at least 5 must differ where" in apart.reason
        assert np.isnan([apart.low, apart.high, apart.p, *apart.narrow]).all()
        assert abs(apart.value) == pytest.approx(abs(near.mean() - 1), abs=1e-12)
    # Of 60, one more moves a mean by up to a sixtieth, and this interval is wider than two of these.
    wide = difference("mean", ONE, top)
    assert wide.high - wide.low > 2 / 60
    ratings_near = difference("mae", near, ONE, top)
    assert "all ratings are equal" in ratings_near.reason
    # It is the scale at hand that counts, where this is wider.
    assert "all values" in difference("mean", 5 * near, np.full(N, 10.0)).reason
    assert not difference("mean", near, ONE).reason


def test_errors_half_of_which_are_the_same_have_the_wider_interval() -> None:
    human = np.arange(24.0) / 50
    sizes = np.array([0.02] * 12 + [0.3, 0.31] * 2 + [0.05] * 8)
    found = estimate("mae", [human + sizes, human])
    plain = sizes.mean() - stats.t.ppf(0.975, 23) * stats.sem(sizes)
    assert found.low == pytest.approx(plain, abs=1e-12)
    corrected = estimate("mean", sizes)
    assert corrected.low > found.low
    assert corrected.high == pytest.approx(found.high, abs=1e-12)
    sizes[0] = 0.04
    fewer = estimate("mae", [human + sizes, human])
    assert fewer.low == pytest.approx(estimate("mean", sizes).low, abs=1e-12)


def test_the_mean_of_differences_may_be_on_either_side_of_0() -> None:
    human = np.arange(12.0) / 20
    errors = np.array([0.3, 0.2, 0.1] + [0.01] * 3 + [0.0] * 6)
    found = estimate("error", [human + errors, human], test=True)
    error = stats.sem(errors)
    assert found.low == pytest.approx(
        errors.mean() - stats.t.ppf(0.975, 11) * error, abs=1e-12
    )
    assert found.low < 0.0
    assert found.p > 0.05


def test_what_a_difference_says() -> None:
    assert Estimate(0.2, -1.96, 1.96).smallest == pytest.approx(
        1.959964 + 0.841621, rel=1e-4
    )
    assert math.isnan(Estimate(0.2).smallest)
    found = Estimate(0.0, -0.06, 0.06, narrow=(-0.05, 0.05))
    assert found.equivalent(0.051)
    assert not found.equivalent(0.05)
    assert not Estimate(0.0).equivalent(1.0)
    with pytest.raises(InvalidValueError, match="margin"):
        found.equivalent(0)


# Bounds and plans


def test_the_bound_of_a_pass_rate_is_exact() -> None:
    for passed, n in ((0, 5), (5, 5), (17, 20)):
        exact = stats.binomtest(passed, n, alternative="greater").proportion_ci(0.9).low
        found = lower_bound([1.0] * passed + [0.0] * (n - passed), 0.9)
        assert found == pytest.approx(exact, abs=1e-12)


def test_the_bound_of_a_mean_weights_values_and_the_low_end_at_random() -> None:
    # Of 0.5 and 1 and the low end 0 with Dirichlet's weights, v / 2 + w is below x with 2 x^2 for
    # x up to 1/2 (the area of a triangle): 5 % at the root of 1/40, where the density is 4 x.
    exact = math.sqrt(1 / 40)
    near = (
        4 * math.sqrt(0.05 * 0.95 / 10_000) / (4 * exact)
    )  # four errors of so many draws
    assert lower_bound([0.5, 1.0]) == pytest.approx(exact, abs=near)
    # In groups of one size the sums of groups take the place of values.
    twice = lower_bound([0.5, 0.5, 1.0, 1.0], groups="aabb")
    assert twice == pytest.approx(exact, abs=near)
    # On a scale from -1 all is twice as far.
    assert lower_bound([0.0, 1.0], low=-1.0) == pytest.approx(
        2 * exact - 1, abs=2 * near
    )
    assert lower_bound([0.0, 0.0]) == 0.0
    assert math.isnan(lower_bound([NAN]))


def test_many_values_are_looked_at_in_bins() -> None:
    values = np.random.default_rng(0).random(5000)
    normal = values.mean() - 1.6449 * stats.sem(values)
    assert lower_bound(values) == pytest.approx(normal, abs=0.001)
    assert lower_bound(values) == lower_bound(values)


def test_labels_needed() -> None:
    pilot = Estimate(0.5, 0.4, 0.6, n=50)
    assert labels_needed(pilot, width=0.1) == 200
    with pytest.raises(InvalidValueError, match="too small to plan"):
        labels_needed(Estimate(0.5, n=4, reason="4 samples"), width=0.1)
    for wrong in (0.0, math.inf):
        with pytest.raises(InvalidValueError, match="width must be above 0"):
            labels_needed(pilot, width=wrong)


# Properties

TENTHS = st.lists(st.integers(0, 10).map(lambda i: i / 10), min_size=12, max_size=30)


@given(
    TENTHS,
    st.sampled_from(("mean", "error", "mae", *CORRELATIONS)),
    st.randoms(use_true_random=False),
)
def test_order_and_lone_groups(
    values: list[float], statistic: Statistic, random: Any
) -> None:
    n = len(values)
    columns = np.array([values, HUMAN[:n]])[: 1 if statistic == "mean" else 2]
    found = estimate(statistic, columns)
    own = estimate(statistic, columns, [f"g{i}" for i in range(n)])
    assert own.groups == n
    assert str((found.value, found.low, found.high)) == str(
        (own.value, own.low, own.high)
    )
    order = list(range(n))
    random.shuffle(order)
    moved = estimate(statistic, columns[:, order])
    for name, value in found.record("x").items():
        assert moved.record("x")[name] == pytest.approx(value, abs=1e-9, nan_ok=True)
    assert found.reason or found.low <= found.value <= found.high


@given(
    st.lists(st.integers(-9, 10).map(lambda i: i / 10), min_size=10, max_size=25),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_a_mean_is_significant_where_its_interval_excludes_0(
    errors: list[float], level: float
) -> None:
    human = np.arange(len(errors)) / 100
    found = estimate("error", [human + errors, human], level=level, test=True)
    assert math.isnan(found.p) == bool(found.reason)
    if not found.reason and abs(found.p - (1 - level)) > 1e-9:
        assert (found.p < 1 - level) == (not found.low <= 0.0 <= found.high)
        assert 0.0 <= found.p <= 1.0


@pytest.mark.parametrize(("call", "why"), [
    (lambda: estimate("median", [1.0]), "unknown statistic 'median'"),  # type: ignore[arg-type]  # refused
    (lambda: estimate("mean", [[1.0], [2.0]]), "mean needs .*got 2"),
    (lambda: estimate("share", [0.5]), "0 and 1"),
    (lambda: estimate("mean", ONE, level=1.0), "got 1.0"),
    (lambda: estimate("mean", ONE, resamples=0), "resamples must .*got 0"),
    (lambda: estimate("mean", ONE, resamples="9"), "resamples must .*got '9'"),  # type: ignore[arg-type]  # refused
    (lambda: estimate("mean", ONE, [None] * 60), "group 0 is None"),
    (lambda: estimate("mean", ONE, [1, 2]), "2 groups for 60 samples"),
    (lambda: difference("mae", ONE, OTHER), "need them"),
    (lambda: difference("error", ONE, OTHER, HUMAN), "unknown statistic 'error'; use mean, mae"),  # type: ignore[arg-type]  # refused
    (lambda: difference("mean", ONE, OTHER, HUMAN), "takes no human ratings"),
    (lambda: difference("mae", ONE, OTHER[:3], HUMAN), "different lengths"),
    (lambda: lower_bound([-0.5]), "got -0.5"),
])  # fmt: skip
def test_mistakes_are_named(call: Any, why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        call()

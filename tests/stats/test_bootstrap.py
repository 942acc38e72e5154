from __future__ import annotations

import dataclasses
import tracemalloc
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from scipy import special, stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats import resampling
from tcva_adapters.stats.bootstrap import (
    IntervalMethod,
    interval,
    intervals,
    paired_difference,
)
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.clusters import interval_shares
from tcva_adapters.stats.correlation import MEASURES, Measure, agreement

CORRELATIONS = {
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
    "pearson": stats.pearsonr,
}


def statistic(measure: Measure, scores: FloatArray, human: FloatArray) -> float:
    if measure == "mae":
        return float(np.abs(scores - human).mean())
    return float(CORRELATIONS[measure](scores, human).statistic)


def data(n: int, seed: int = 3) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 11, n) / 10
    first = np.clip(np.round((human + rng.normal(0, 0.3, n)) * 10) / 10, 0, 1)
    return first, np.clip(human + rng.normal(0, 0.4, n), 0, 1), human


def draws(n: int, n_boot: int, seed: int) -> IntArray:
    return np.random.Generator(np.random.PCG64(seed)).integers(0, n, (n_boot, n))


def loop(
    measure: Measure, scores: FloatArray, human: FloatArray, n_boot: int, seed: int
) -> FloatArray:
    """A direct bootstrap, one call per resample."""
    rows = draws(len(human), n_boot, seed)
    return np.array([statistic(measure, scores[i], human[i]) for i in rows])


def same(first: object, second: object) -> bool:
    """Equal to the last bit, nan included; repr distinguishes all floats."""
    return repr(first) == repr(second)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_percentile_ends_are_the_loops_quantiles(measure: Measure, level: float) -> None:
    scores, _, human = data(110)
    found = interval(measure, scores, human, n_boot=400, level=level, seed=9, method="percentile")
    resampled = loop(measure, scores, human, 400, 9)
    expected = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=1e-12)
    assert found.value == agreement(measure, scores, human).value
    assert (found.n, found.n_boot, found.level, found.undefined) == (110, 400, level, 0)
    assert (found.method, found.clusters) == ("percentile", None)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("level", [0.95, 0.6])
def test_bca_ends_are_scipys_on_the_same_resamples(measure: Measure, level: float) -> None:
    tied, untied, human = data(110, seed=8)
    # scipy takes equal mean errors for different where they differ in the last bit.
    scores = untied if measure == "mae" else tied
    expected = stats.bootstrap(
        (scores, human),
        lambda x, y: statistic(measure, x, y),
        n_resamples=0,
        bootstrap_result=SimpleNamespace(
            bootstrap_distribution=loop(measure, scores, human, 300, 2)
        ),
        paired=True,
        vectorized=False,
        method="BCa",
        confidence_level=level,
    ).confidence_interval
    found = interval(measure, scores, human, n_boot=300, level=level, method="bca", seed=2)
    np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=1e-12)
    assert found.method == "bca"
    plain = interval(measure, scores, human, n_boot=300, level=level, seed=2, method="percentile")
    assert found.value == plain.value
    assert (found.low, found.high) != (plain.low, plain.high)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_groups_by_a_loop(method: IntervalMethod) -> None:
    scores, _, human = data(40, seed=5)
    codes = np.random.default_rng(6).integers(0, 12, 40)
    names = [f"document {code}" for code in codes]
    order = list(dict.fromkeys(codes.tolist()))  # groups are numbered by their first sample
    members = [np.flatnonzero(codes == code) for code in order]
    resampled = np.array(
        [
            statistic("spearman", scores[i], human[i])
            for i in (np.concatenate([members[g] for g in row]) for row in draws(12, 300, 4))
        ]
    )
    shares = interval_shares(0.95, 40, 40**2 / float(sum(len(m) ** 2 for m in members)))
    if method == "bca":
        # Efron and Tibshirani, 14.14 and 14.15, with groups left out one by one.
        kept = [codes != code for code in order]
        left = np.array([statistic("spearman", scores[k], human[k]) for k in kept])
        influence = left.mean() - left
        a = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
        value = statistic("spearman", scores, human)
        z0 = stats.norm.ppf(np.mean(resampled < value) + np.mean(resampled == value) / 2)
        z = z0 + special.ndtri(shares)
        shares = stats.norm.cdf(z0 + z / (1 - a * z))
    found = interval("spearman", scores, human, n_boot=300, seed=4, groups=names, method=method)
    expected = np.quantile(resampled, shares)
    np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=1e-12)
    assert found.clusters == 12
    assert found.n == 40


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["student", "percentile", "bca"])
def test_copies_in_one_group_add_no_certainty(measure: Measure, method: IntervalMethod) -> None:
    # All four measures are the same for every sample once and for every sample four times, so
    # groups of copies must give the interval of the originals; without groups it is too narrow.
    scores, _, human = data(100)
    fourfold = (np.repeat(scores, 4), np.repeat(human, 4))
    plain = interval(measure, scores, human, n_boot=500, method=method)
    grouped = interval(
        measure, *fourfold, n_boot=500, method=method, groups=np.repeat(np.arange(100), 4).tolist()
    )
    assert grouped.value == pytest.approx(plain.value, abs=1e-12)
    if method == "student":
        assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high), abs=1e-12)
    else:  # resamples of groups allow for their number
        assert grouped.low < plain.low < plain.high < grouped.high
    naive = interval(measure, *fourfold, n_boot=500, method=method)
    assert naive.high - naive.low < 0.7 * (grouped.high - grouped.low)


@pytest.mark.parametrize("measure", MEASURES)
def test_pairs_without_a_score_are_left_out_before_resampling(measure: Measure) -> None:
    scores, _, human = data(50)
    groups: list[object] = [i // 4 for i in range(50)]
    holes, unjudged = scores.copy(), human.copy()
    holes[[3, 20]] = np.nan
    unjudged[[7, 49]] = np.inf
    groups[7] = None  # a sample that is left out needs no group
    kept = [i for i in range(50) if i not in {3, 20, 7, 49}]
    found = interval(measure, holes, unjudged, n_boot=100, groups=groups)
    expected = interval(
        measure, scores[kept], human[kept], n_boot=100, groups=[groups[i] for i in kept]
    )
    assert same(found, expected)
    assert found.n == 46


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("cells", [1, 300, 1 << 20])
def test_blocks_do_not_change_a_bit(
    measure: Measure, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, human = data(70)
    table = np.stack([first, second], axis=1)

    def everything() -> list[object]:
        return [
            *intervals(measure, table, human, n_boot=203, seed=1, method="bca"),
            paired_difference(measure, first, second, human, n_boot=203, seed=1),
        ]

    expected = everything()
    monkeypatch.setattr(resampling, "_CELLS", cells)
    monkeypatch.setattr(resampling, "_FEWEST", 1)
    assert same(everything(), expected)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_table_equals_its_columns(measure: Measure, method: IntervalMethod) -> None:
    first, second, human = data(40)
    holes = second.copy()
    holes[4] = np.nan
    columns = [first, holes, second, np.full(40, 0.5), np.full(40, np.nan)]
    table = np.stack(columns, axis=1)
    found = intervals(measure, table, human, n_boot=90, method=method, seed=3)
    single = [interval(measure, c, human, n_boot=90, method=method, seed=3) for c in columns]
    assert same(found, single)
    assert [one.n for one in found] == [40, 39, 40, 40, 0]
    assert intervals(measure, np.empty((40, 0)), human) == []


def test_seeds() -> None:
    scores, _, human = data(30)
    drawn: dict[str, Any] = {"n_boot": 200, "method": "percentile"}
    first = interval("spearman", scores, human, seed=1, **drawn)
    assert first == interval("spearman", scores, human, seed=1, **drawn)
    assert first.low != interval("spearman", scores, human, seed=2, **drawn).low


def test_undefined_resamples_are_left_out_and_counted() -> None:
    # Three differing samples of 100 are missing from (97/100)**100 = 5 % of the resamples.
    rng = np.random.default_rng(4)
    scores, human = np.repeat([0.0, 1.0], [97, 3]), rng.random(100)
    rows = draws(100, 300, 0)
    missing = np.ptp(scores[rows], axis=1) == 0
    found = interval("pearson", scores, human, n_boot=300, method="percentile")
    assert found.undefined == missing.sum()
    assert 3 < found.undefined < 30
    resampled = [statistic("pearson", scores[i], human[i]) for i in rows[~missing]]
    np.testing.assert_allclose(
        [found.low, found.high], np.quantile(resampled, [0.025, 0.975]), atol=1e-12
    )
    paired = paired_difference("pearson", scores, human, human, n_boot=300)
    assert paired.undefined == missing.sum()


@pytest.mark.parametrize("method", get_args(IntervalMethod))
def test_too_many_undefined_resamples_leave_no_interval(method: IntervalMethod) -> None:
    # The one differing sample of 100 is missing from (99/100)**100 = 37 %.
    scores, human = np.repeat([0.0, 1.0], [99, 1]), np.random.default_rng(4).random(100)
    found = interval("pearson", scores, human, n_boot=300, method=method)
    assert np.isnan([found.low, found.high]).all()
    if method == "bca":  # without the one sample there is no value, so no acceleration to go by
        assert found.reason == "the correction of BCa is not defined"
    else:
        assert "of the resamples have no value" in found.reason


TEN = np.linspace(0.0, 0.9, 10)


@pytest.mark.parametrize("method", get_args(IntervalMethod))
@pytest.mark.parametrize(
    ("measure", "scores", "human", "groups", "reason"),
    [
        ("spearman", [], [], None, "0 samples: an interval needs 10"),
        ("mae", [0.5], [0.25], None, "1 sample: an interval needs 10"),
        ("kendall", [0.5, np.nan], [0.5, 0.1], None, "1 sample: an interval needs 10"),
        ("spearman", TEN[:9], TEN[:9], None, "9 samples: an interval needs 10"),
        ("pearson", np.ones(10), TEN, None, "one side is the same throughout"),
        ("spearman", TEN, TEN[::-1] ** 2, None, "perfect agreement on these samples"),
        ("kendall", TEN, TEN**2, ["a", "b"] * 5, "2 groups: an interval needs 10"),
        ("mae", TEN, TEN + 0.1, None, "all are equal"),
        ("mae", [], [], [], "0 samples: an interval needs 10"),
    ],
)
def test_no_interval_without_enough_that_varies(
    measure: Measure, scores: Any, human: Any, groups: Any, reason: str, method: IntervalMethod
) -> None:
    found = interval(measure, scores, human, n_boot=20, groups=groups, method=method)
    assert np.isnan([found.low, found.high]).all()
    # The others may need more samples still, and say that first.
    assert found.reason.startswith(reason) or (method != "student" and found.reason)
    assert same(found.value, agreement(measure, scores, human).value)
    paired = paired_difference(measure, scores, scores, human, n_boot=20, groups=groups)
    assert np.isnan([paired.low, paired.high]).all()
    assert paired.reason


@pytest.mark.parametrize("measure", MEASURES)
def test_paired_by_a_loop(measure: Measure) -> None:
    first, second, human = data(60, seed=12)
    found = paired_difference(measure, first, second, human, n_boot=400, level=0.9, seed=5)
    deltas = loop(measure, first, human, 400, 5) - loop(measure, second, human, 400, 5)
    delta = statistic(measure, first, human) - statistic(measure, second, human)
    ends = np.quantile(deltas, [0.05, 0.95])
    if measure == "mae":  # Student's interval of the mean of differences
        apart = np.abs(first - human) - np.abs(second - human)
        ends = np.array(stats.t.interval(0.9, 59, apart.mean(), stats.sem(apart)))
    if measure != "pearson":
        np.testing.assert_allclose([found.low, found.high], ends, rtol=0, atol=1e-12)
    assert found.first == statistic(measure, first, human)
    assert found.second == statistic(measure, second, human)
    assert found.delta == delta
    if found.test == "bootstrap":
        smaller = min((deltas <= 0).sum(), (deltas >= 0).sum())
        assert found.p_two_sided == min(1, 2 * (smaller + 1) / 401)
    sign = -1 if measure == "mae" else 1  # less is better: "ahead" is the other way round
    assert found.p_paper == np.mean(-sign * deltas >= sign * delta)
    assert (found.n, found.n_boot, found.undefined, found.level) == (60, 400, 0, 0.9)


def test_paired_is_on_the_samples_that_all_have() -> None:
    first, second, human = data(40)
    first[3], second[8], human[9] = np.nan, np.nan, np.nan
    kept = [i for i in range(40) if i not in {3, 8, 9}]
    found = paired_difference("kendall", first, second, human, n_boot=50)
    expected = paired_difference("kendall", first[kept], second[kept], human[kept], n_boot=50)
    assert same(found, expected)
    assert found.n == 37


@pytest.mark.parametrize("measure", MEASURES)
def test_a_method_does_not_differ_from_itself(measure: Measure) -> None:
    first, _, human = data(60)
    found = paired_difference(measure, first, first, human, n_boot=100)
    assert found.delta == 0
    assert np.isnan([found.low, found.high]).all()
    assert found.reason == "the two never differ by more or less: nothing varies"
    assert (found.p_two_sided, found.p_paper) == (1, 1)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_other_way_round(measure: Measure) -> None:
    first, second, human = data(60)
    one = paired_difference(measure, first, second, human, n_boot=150)
    other = paired_difference(measure, second, first, human, n_boot=150)
    assert (other.delta, other.p_two_sided) == (-one.delta, one.p_two_sided)
    np.testing.assert_allclose([other.low, other.high], [-one.high, -one.low], atol=1e-15)


def test_a_clear_difference_is_found_and_its_p_is_never_zero() -> None:
    rng = np.random.default_rng(0)
    human = rng.random(60)
    found = paired_difference("spearman", human, rng.random(60), human, n_boot=300)
    assert found.low > 0.5
    assert found.p_two_sided == 2 / 301
    assert found.p_paper == 0


def test_memory_is_bounded() -> None:
    scores, _, human = data(2000)
    tracemalloc.start()
    found = interval("spearman", scores, human, n_boot=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.low < found.value < found.high
    assert peak < 4_000_000  # all counts at once would be 16 MB


def test_results_are_plain_values() -> None:
    first, second, human = data(20)
    n_boot: Any = np.int64(20)  # whole numbers of numpy are common
    one = interval("spearman", first, human, n_boot=n_boot)
    paired = paired_difference("mae", first, second, human, n_boot=n_boot)
    values = [*dataclasses.asdict(one).values(), *dataclasses.asdict(paired).values()]
    assert {type(value) for value in values} <= {str, float, int, type(None)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "r"}, "no measure 'r'; there are spearman, kendall, pearson, mae"),
        ({"human": [1.0, 2.0]}, "different lengths: 3 of scores, 2 of human"),
        ({"n_boot": 0}, "n_boot is 0; it must be a whole number from 1 up"),
        ({"n_boot": 99.5}, "n_boot is 99.5"),
        ({"level": 95}, "level is 95; it must lie between 0 and 1, e.g. 0.95"),
        ({"level": 0.0}, "level is 0.0"),
        ({"level": float("nan")}, "level is nan"),
        ({"method": "basic"}, "no method 'basic'; there are student, percentile, bca"),
        ({"seed": -3}, "seed is -3"),
        ({"groups": ["a", "b"]}, "2 groups for 3 samples; give one group per sample"),
        ({"groups": ["a", None, "b"]}, "group 1 is None"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "measure": "spearman",
        "scores": [1.0, 2.0, 3.0],
        "human": [1.0, 3.0, 2.0],
        **options,
    }
    with pytest.raises(InvalidValueError, match=message):
        interval(**arguments)
    if "method" not in options:
        arguments["first"] = arguments["second"] = arguments.pop("scores")
        with pytest.raises(InvalidValueError, match=message.replace("scores", "first.*")):
            paired_difference(**arguments)


def test_tables_have_two_dimensions() -> None:
    with pytest.raises(InvalidValueError, match=r"scores must have 2 dimension\(s\)"):
        intervals("mae", [1.0, 2.0], [1.0, 2.0])

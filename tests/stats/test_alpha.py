"""Krippendorff's alpha: published values, a plain loop, and the coverage of its interval."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.alpha import Scale, krippendorff_alpha
from tcva_adapters.stats.checks import FloatArray

NAN = math.nan

# Krippendorff, Computing Krippendorff's alpha-reliability (2011), example C: four observers, twelve
# units, values missing.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def by_pairs(table: FloatArray, scale: Scale) -> float:
    """The definition, pair by pair."""
    units = [[v for v in column if not math.isnan(v)] for column in table.T]
    units = [unit for unit in units if len(unit) > 1]
    every = [v for unit in units for v in unit]
    used = Counter(every)

    def distance(a: float, b: float) -> float:
        if scale == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(number for v, number in used.items() if low <= v <= high)
        return (between - (used[a] + used[b]) / 2) ** 2

    seen = sum(distance(a, b) / (len(u) - 1) for u in units for a, b in permutations(u, 2))
    apart = sum(distance(a, b) for a, b in permutations(every, 2)) / (len(every) - 1)
    return 1 - seen / apart if apart else NAN


def test_the_published_values() -> None:
    assert krippendorff_alpha(PUBLISHED).value == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(PUBLISHED, "interval").value == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha(PUBLISHED).n == 11


@settings(max_examples=40)
@given(
    st.integers(2, 4).flatmap(
        lambda k: st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 2.5, 4.0, NAN]), min_size=k, max_size=k),
            min_size=1,
            max_size=9,
        )
    ),
    st.sampled_from(["ordinal", "interval"]),
)
def test_equal_to_the_definition(units: list[list[float]], scale: Scale) -> None:
    table = np.array(units).T
    expected = by_pairs(table, scale)
    found = krippendorff_alpha(table, scale).value
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("scale", ["ordinal", "interval"])
def test_the_interval_covers_for_skewed_ratings_too(scale: Scale) -> None:
    rng = np.random.default_rng(4)

    def drawn(n: int) -> FloatArray:
        truth = rng.choice(5, p=[0.7, 0.1, 0.1, 0.05, 0.05], size=n)
        slips = (rng.random((3, n)) < 0.4) * rng.integers(-2, 3, (3, n))
        return np.asarray(np.clip(truth + slips, 0, 4), dtype=np.float64)

    truth = krippendorff_alpha(drawn(20_000), scale).value
    n = 40 if scale == "ordinal" else 100
    found = [krippendorff_alpha(drawn(n), scale) for _ in range(300)]
    assert not any(each.reason for each in found)
    covered = np.mean([each.low <= truth <= each.high for each in found])
    # Two standard errors of 300 data sets below 0.95.
    assert covered >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / 300)


def test_groups_of_one_are_no_groups_and_copies_are_no_news() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(0, 5, (2, 30)).astype(float)
    alone, each = krippendorff_alpha(table), krippendorff_alpha(table, groups=range(30))
    assert (alone.low, alone.high) == (each.low, each.high)
    assert (alone.clusters, each.clusters) == (None, 30)
    wide = krippendorff_alpha(np.repeat(table, 4, axis=1), groups=np.repeat(range(30), 4).tolist())
    narrow = krippendorff_alpha(np.repeat(table, 4, axis=1))
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_groups_of_unequal_size_count_as_fewer() -> None:
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(23), [30] * 3 + [3] * 20)
    table = rng.normal(size=(2, 150)) + rng.normal(size=23)[groups]
    found = krippendorff_alpha(table, "interval", groups=groups.tolist())
    without = [
        krippendorff_alpha(table[:, groups != group], "interval").value for group in range(23)
    ]
    error = (22 * np.log(1 - np.array(without))).std(ddof=1) / math.sqrt(23)
    # 150 ** 2 / (3 * 30 ** 2 + 20 * 3 ** 2) groups of one size
    reach = stats.t.ppf(0.975, 150**2 / 2880 - 1) * error
    wide = math.log(1 - found.low) - math.log(1 - found.high)
    assert wide == pytest.approx(2 * reach, rel=1e-9)


@pytest.mark.parametrize("size", [1, 4])
def test_many_units_are_left_out_in_blocks(size: int) -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=30_000)
    table = truth + rng.normal(size=(2, 30_000))
    groups = None if size == 1 else np.repeat(range(30_000 // size), size).tolist()
    found = krippendorff_alpha(table, "interval", groups=groups)
    # Of normal ratings the error of a correlation is (1 - r^2) / sqrt(n).
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.75 / math.sqrt(30_000), rel=0.1)
    assert found.clusters == (None if groups is None else 7_500)


def test_crowded_ratings_need_more_units_on_the_interval_scale() -> None:
    def drawn(rng: np.random.Generator, n: int) -> FloatArray:
        noisy = rng.normal(0, 1.13, n) + rng.normal(0, 0.94, (3, n))
        return np.asarray(np.clip(np.round(1.5 * noisy + 5.5), 1, 5), dtype=np.float64)

    few = drawn(np.random.default_rng(0), 60)
    assert "% of the ratings are equal: an interval needs 100 samples" in (
        krippendorff_alpha(few, "interval").reason
    )
    assert not krippendorff_alpha(few, "ordinal").reason
    truth = krippendorff_alpha(drawn(np.random.default_rng(1), 100_000), "interval").value
    found = [
        krippendorff_alpha(drawn(np.random.default_rng([2, seed]), 100), "interval")
        for seed in range(300)
    ]
    covered = np.mean([each.low <= truth <= each.high for each in found])
    assert covered >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 300)


def test_where_there_is_none() -> None:
    # On the only unit that both rated they say the same: there is nothing to tell from chance.
    nothing: tuple[list[list[float]], ...] = (
        [[0.0, 4.0], [0.0, NAN]],
        [[0.0, NAN], [NAN, 4.0]],
        [[], []],
    )
    for table in nothing:
        assert math.isnan(krippendorff_alpha(np.array(table)).value)
    perfect = krippendorff_alpha(np.tile(np.arange(30.0) % 5, (2, 1)))
    assert perfect.value == 1.0
    assert math.isnan(perfect.low)
    assert "never differ" in perfect.reason
    with pytest.raises(InvalidValueError, match="no scale 'ratio'"):
        krippendorff_alpha([[1], [2]], "ratio")  # type: ignore[arg-type]  # the point

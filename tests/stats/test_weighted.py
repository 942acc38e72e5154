"""Every measure of every resample equals that of scipy on the drawn samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import MEASURES, Measure
from tcva_adapters.stats.resampling import resample
from tcva_adapters.stats.weighted import statistic_of


def mean_error(scores: FloatArray, human: FloatArray) -> float:
    return float(np.abs(scores - human).mean())


def correlation(function: Callable[..., object]) -> Callable[[FloatArray, FloatArray], float]:
    def value(scores: FloatArray, human: FloatArray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.ConstantInputWarning)
            return float(function(scores, human).statistic)  # type: ignore[attr-defined]  # scipy has no types

    return value


REFERENCES: dict[Measure, Callable[[FloatArray, FloatArray], float]] = {
    "spearman": correlation(stats.spearmanr),
    "kendall": correlation(stats.kendalltau),
    "pearson": correlation(stats.pearsonr),
    "mae": mean_error,
}


def reference(
    measure: Measure, scores: FloatArray, human: FloatArray, counts: IntArray
) -> list[float]:
    drawn = [np.repeat(np.arange(len(scores)), row) for row in counts]
    return [REFERENCES[measure](scores[i], human[i]) for i in drawn]


def columns(kind: str, n: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(11)
    human = rng.integers(0, 6, n) / 5
    noisy = human + rng.normal(0, 0.5, n)
    return {
        "tied": (np.round(noisy * 4) / 4, human),
        "binary": ((noisy > 0.5).astype(float), human),
        "untied": (noisy, rng.random(n)),
        "untied people": (np.round(noisy * 4) / 4, rng.random(n)),
        "equal": (human, human),
        "opposite": (noisy, -noisy),
        "an outlier": (np.where(np.arange(n) == 3, 1e9, noisy), human),
        "far from zero": (noisy + 1e6, human - 1e5),
    }[kind]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kind",
    [
        *("tied", "binary", "untied", "untied people", "equal", "opposite"),
        *("an outlier", "far from zero"),
    ],
)
def test_resamples_equal_scipy(measure: Measure, kind: str) -> None:
    scores, human = columns(kind, 40)
    counts = np.concatenate(list(resample(40, 60, seed=5)))
    found = statistic_of(measure, [scores], human)(counts)[0]
    # scipy itself loses digits of Pearson far from zero.
    tolerance = 1e-9 if (kind, measure) == ("far from zero", "pearson") else 1e-12
    expected = reference(measure, scores, human, counts)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


LEVELS = st.integers(0, 4).map(lambda level: level / 4)
NUMBERS = st.floats(0, 1).map(lambda number: round(number, 6))
PAIRS = st.lists(st.tuples(LEVELS | NUMBERS, LEVELS | NUMBERS), min_size=2, max_size=12)


@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS, data=st.data(), measure=st.sampled_from(MEASURES))
def test_any_counts_equal_scipy(
    pairs: list[tuple[float, float]], data: st.DataObject, measure: Measure
) -> None:
    scores, human = np.array(pairs).T
    row = st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs))
    drawn = data.draw(st.lists(row.filter(lambda r: sum(r) >= 2), min_size=1, max_size=4))
    counts = np.array(drawn)
    found = statistic_of(measure, [scores], human)(counts)[0]
    expected = reference(measure, scores, human, counts)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_a_constant_resample_has_no_value(measure: Measure) -> None:
    # 0.1 three times does not average to 0.1 in floating point: zero must still be seen.
    scores, human = np.array([0.1, 0.1, 0.1, 0.7]), np.array([0.3, 0.2, 0.9, 0.5])
    statistic = statistic_of(measure, [scores, human], human)
    values = statistic(np.array([[1, 1, 1, 0], [4, 0, 0, 0], [1, 1, 1, 1]]))
    np.testing.assert_array_equal(np.isnan(values), [[True, True, False], [False, True, False]])


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_perfect_agreement_is_one_and_never_more(measure: Measure) -> None:
    scores = np.random.default_rng(2).random(33)
    counts = np.concatenate(list(resample(33, 200)))
    values = statistic_of(measure, [scores, -scores], scores)(counts)
    assert np.abs(values).max() <= 1
    np.testing.assert_allclose(values[0], 1, atol=1e-15)
    np.testing.assert_allclose(values[1], -1, atol=1e-15)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**1000])
def test_pearson_survives_any_scale(scale: float) -> None:
    scores, human = columns("tied", 20)
    counts = np.concatenate(list(resample(20, 50)))
    expected = statistic_of("pearson", [scores], human)(counts)
    np.testing.assert_array_equal(
        statistic_of("pearson", [scores * scale], human)(counts), expected
    )


def test_spearman_of_any_monotone_transform_is_the_same_bits() -> None:
    scores, human = columns("untied", 50)
    counts = np.concatenate(list(resample(50, 100)))
    values = statistic_of("spearman", [scores, np.exp(scores)], human)(counts)
    np.testing.assert_array_equal(values[0], values[1])


def test_kendall_of_many_samples() -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(3000)
    human = scores + rng.random(3000)
    counts = np.concatenate(list(resample(3000, 3)))
    found = statistic_of("kendall", [scores], human)(counts)[0]
    expected = reference("kendall", scores, human, counts)
    np.testing.assert_allclose(found, expected, rtol=1e-12)

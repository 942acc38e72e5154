"""Student's intervals by the jackknife, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.correlation import Measure, value_of
from tcva_adapters.stats.means import mean_intervals
from tcva_adapters.stats.replicates import Replicates

stats = pytest.importorskip("scipy.stats", reason="the extra stats")


def data(n: int = 30, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 5, n) / 4
    return human + rng.normal(0, 0.3, n), human + rng.normal(0, 0.5, n), human


def ends(measure: Measure, scores: FloatArray, human: FloatArray, codes: IntArray) -> FloatArray:
    left = [value_of(measure, scores[codes != c], human[codes != c]) for c in np.unique(codes)]
    z = np.arctanh(left)
    m = len(z)
    error = np.sqrt((m - 1) / m * np.sum((z - z.mean()) ** 2))
    half = stats.t.ppf(0.975, m - 2) * error
    middle = np.arctanh(value_of(measure, scores, human))
    return np.tanh([middle - half, middle + half])


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_a_correlation_by_a_loop(measure: Measure, *, grouped: bool) -> None:
    scores, _, human = data()
    codes = np.arange(30) // 2 if grouped else np.arange(30)
    found = interval(measure, scores, human, groups=codes.tolist() if grouped else None)
    expected = ends(measure, scores, human, codes)
    np.testing.assert_allclose([found.low, found.high], expected, rtol=0, atol=1e-12)
    assert (found.n_boot, found.undefined, found.reason) == (0, 0, "")


def test_an_error_has_the_interval_of_a_mean() -> None:
    scores, _, human = data()
    found = interval("mae", scores, human)
    _, low, high = mean_intervals(np.abs(scores - human)[:, None])
    np.testing.assert_allclose([found.low, found.high], [low[0], high[0]], rtol=0, atol=1e-12)
    huge = interval("mae", 2.0**500 * scores, 2.0**500 * human)
    assert (huge.low, huge.high) == (2.0**500 * found.low, 2.0**500 * found.high)


def test_the_difference_of_two_correlations_by_hand() -> None:
    first, second, human = data()
    found = paired_difference("pearson", first, second, human, n_boot=10)
    codes = np.arange(30)
    (l1, u1), (l2, u2) = (ends("pearson", side, human, codes) for side in (first, second))
    z = [
        np.arctanh([value_of("pearson", s[codes != c], human[codes != c]) for c in codes])
        for s in (first, second)
    ]
    c = np.corrcoef(z[0], z[1])[0, 1]
    below, above = found.first - l1, u2 - found.second
    low = found.delta - np.sqrt(below**2 + above**2 - 2 * c * below * above)
    below, above = u1 - found.first, found.second - l2
    high = found.delta + np.sqrt(below**2 + above**2 - 2 * c * below * above)
    np.testing.assert_allclose([found.low, found.high], [low, high], rtol=0, atol=1e-12)


def test_many_samples_are_left_out_in_parts() -> None:
    # 1,000 parts of three samples: the error of the error is 1 / sqrt(2 * 1000) = 2 %.
    scores, _, human = data(3000)
    run = Replicates("pearson", [scores], human, n_boot=1, seed=0, codes=None)
    assert run.jackknife.shape == (1, 1000)
    found = interval("pearson", scores, human)
    expected = ends("pearson", scores, human, np.arange(3000))
    assert found.high - found.low == pytest.approx(np.ptp(expected), rel=0.08)

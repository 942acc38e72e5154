"""Correlations between metrics, against scipy, and their average."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.metric_correlation import (
    CorrelationMatrix,
    correlation_matrix,
    fisher_average,
)

NAN = math.nan
RNG = np.random.default_rng(3)
TABLE = np.round(RNG.random((50, 1)) + 0.5 * RNG.random((50, 4)), 1)
TABLE[RNG.random(TABLE.shape) < 0.1] = NAN


@pytest.mark.parametrize(
    ("measure", "reference"),
    [
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ],
)
def test_each_pair_is_scipys(measure: Measure, reference: object) -> None:
    found = correlation_matrix(measure, TABLE)
    for i in range(4):
        assert found.values[i, i] == 1.0
        for j in range(i):
            both = ~np.isnan(TABLE[:, i]) & ~np.isnan(TABLE[:, j])
            expected = reference(TABLE[both, i], TABLE[both, j]).statistic  # type: ignore[operator]  # of scipy
            assert found.values[i, j] == found.values[j, i] == pytest.approx(expected, abs=1e-12)
            assert found.n[i, j] == both.sum()


def matrix(r: float, n: int = 20) -> CorrelationMatrix:
    return CorrelationMatrix("pearson", np.array([[1.0, r], [r, 1.0]]), np.full((2, 2), n))


def test_fishers_average_by_hand() -> None:
    found = fisher_average([matrix(0.2), matrix(0.8), matrix(NAN)])
    # atanh(r) is half of log((1 + r) / (1 - r)).
    z = (0.5 * math.log(1.2 / 0.8) + 0.5 * math.log(1.8 / 0.2)) / 2
    expected = (math.exp(2 * z) - 1) / (math.exp(2 * z) + 1)
    assert found.values[0, 1] == pytest.approx(expected, abs=1e-12)
    assert (found.systems[0, 1], found.n[0, 1], found.perfect[0, 1]) == (2, 40, 0)
    assert found.values[0, 0] == 1.0


def test_weights_by_n() -> None:
    found = fisher_average([matrix(0.2, 13), matrix(0.8, 33), matrix(-0.9, 3)], weighting="n")
    z = (10 * math.atanh(0.2) + 30 * math.atanh(0.8)) / 40
    assert found.values[0, 1] == pytest.approx(math.tanh(z), abs=1e-12)
    assert found.systems[0, 1] == 2


def test_perfect_correlations() -> None:
    found = fisher_average([matrix(1.0), matrix(0.3)])
    assert (found.values[0, 1], found.perfect[0, 1]) == (1.0, 1)
    assert fisher_average([matrix(-1.0), matrix(0.3)]).values[0, 1] == -1.0
    assert math.isnan(fisher_average([matrix(-1.0), matrix(1.0)]).values[0, 1])
    assert math.isnan(fisher_average([matrix(NAN)]).values[0, 1])


def test_mistakes() -> None:
    with pytest.raises(InvalidValueError, match="'mae' is no correlation"):
        correlation_matrix("mae", TABLE)
    with pytest.raises(InvalidValueError, match="are none"):
        fisher_average([])
    other = CorrelationMatrix("kendall", np.ones((2, 2)), np.full((2, 2), 9))
    with pytest.raises(InvalidValueError, match="kendall"):
        fisher_average([matrix(0.1), other])
    with pytest.raises(InvalidValueError, match="no weighting 'z'"):
        fisher_average([matrix(0.1)], weighting="z")  # type: ignore[arg-type]  # the point

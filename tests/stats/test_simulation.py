"""What the intervals and p-values promise, on data whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.stats.bootstrap import IntervalMethod, interval, paired_difference

RUNS = 300


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(method: IntervalMethod) -> None:
    rng = np.random.default_rng(20)
    r = 0.6
    truth = 6 / np.pi * np.arcsin(r / 2)  # Spearman's rho of a bivariate normal
    covered = 0
    for run in range(RUNS):
        x, y = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], 50).T
        found = interval("spearman", x, y, n_boot=300, level=0.9, method=method, seed=run)
        covered += found.low <= truth <= found.high
    # 0.9 within three standard errors of 300 runs, and a bootstrap of 50 is a little short.
    assert 0.84 <= covered / RUNS <= 0.952


def test_p_values_of_equal_methods() -> None:
    rng = np.random.default_rng(21)
    two_sided, paper = [], []
    for run in range(RUNS):
        human = rng.normal(size=50)
        first, second = human + rng.normal(size=(2, 50))
        found = paired_difference("spearman", first, second, human, n_boot=300, seed=run)
        two_sided.append(found.p_two_sided)
        paper.append(found.p_paper)
    # Uniform: each share within three standard errors of 300 runs.
    for p in (0.05, 0.25, 0.5, 0.75):
        assert abs(np.mean(np.array(two_sided) <= p) - p) < 3 * (p * (1 - p) / RUNS) ** 0.5
    # The paper's figure is no p-value. With an observed difference d of spread s, its resamples
    # lie around d, so it is the normal share below -2d/s: under 0.05 for d/s > 0.82, in 21 %.
    assert 0.14 < np.mean(np.array(paper) <= 0.05) < 0.28

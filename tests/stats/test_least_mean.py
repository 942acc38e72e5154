"""Lower bounds of means: against exact ones, by hand, by simulation, and of groups."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.least_mean import least_mean, mean_between
from tcva_adapters.stats.means import least_share


@pytest.mark.parametrize("n", [1, 2, 10, 170, 3000])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999999])
def test_zeros_and_ones_have_the_exact_bound(n: int, confidence: float) -> None:
    for passed in {0, 1, n // 2, n - 1, n}:
        scores = np.repeat([1.0, 0.0], [passed, n - passed])
        exact = least_share(passed, n, confidence)
        assert least_mean(scores, confidence) == pytest.approx(exact, abs=1e-9)


def test_it_is_the_quantile_of_weighted_means() -> None:
    scores = np.array([0.2, 0.5, 0.5, 0.9, 1.0, 0.7])
    weights = np.random.default_rng(3).dirichlet(np.ones(7), 200_000)
    drawn = np.quantile(weights[:, :6] @ scores, 0.05)
    assert least_mean(scores, 0.95) == pytest.approx(drawn, abs=0.002)


def test_many_different_scores_are_gathered() -> None:
    scores = np.random.default_rng(4).random(5000)
    apart = least_mean(scores, 0.95)
    assert apart == pytest.approx(scores.mean() - 1.645 * scores.std() / 5000**0.5, abs=3e-4)
    # Rounded to few enough scores nothing is gathered.
    assert apart == pytest.approx(least_mean(np.round(scores * 300) / 300, 0.95), abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_one_sample_are_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random(int(rng.integers(1, 60)))
    alone = [f"g{i}" for i in rng.permutation(len(scores)).tolist()]
    assert least_mean(scores, 0.9, groups=alone) == least_mean(scores, 0.9)


def test_copies_in_a_group_add_no_certainty() -> None:
    scores, groups = [0.3, 0.9, 0.7, 1.0] * 3, [0, 1, 2, 3] * 3
    assert least_mean(scores, 0.9, groups=groups) == pytest.approx(least_mean(scores[:4], 0.9))


def test_both_sides_mirror_each_other() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 30)
    low, high = mean_between(values, 0.9, ends=(-1, 1))
    assert mean_between(-values, 0.9, ends=(-1, 1)) == pytest.approx((-high, -low))
    assert low < values.mean() < high
    assert mean_between([], ends=(-1, 1)) == pytest.approx((np.nan, np.nan), nan_ok=True)


def test_what_cannot_be_bounded_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"a value is -0\.5, below the least possible one"):
        least_mean([0.5, -0.5], 0.95)
    with pytest.raises(InvalidValueError, match="group 1 is None"):
        least_mean([0.5, 0.5], 0.95, groups=["a", None])


@pytest.mark.slow
def test_it_lies_above_the_mean_as_rarely_as_it_says() -> None:
    rng = np.random.default_rng(9)
    above = 0
    for _ in range(400):
        codes = np.repeat(np.arange(12), rng.integers(1, 9, 12))
        passed = rng.random(len(codes)) < rng.beta(4.5, 0.5, 12)[codes]
        above += least_mean(passed, 0.9, groups=codes.tolist()) > 0.9
    assert above <= 40 + 3 * 6  # a tenth of 400, and three times its Monte Carlo error


def test_hardly_any_confidence_is_bounded_by_the_largest_value() -> None:
    values = np.random.default_rng(3).random(30)
    assert values.mean() < least_mean(values, 1e-9) <= values.max()

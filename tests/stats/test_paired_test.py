"""The p of a paired difference by measure, against plain loops, and its level by simulation."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from tcva_adapters.stats.bootstrap import PairedDifference, paired_difference
from tcva_adapters.stats.correlation import MEASURES, Measure
from tcva_adapters.stats.sign_flip import sign_flip

scipy_stats = pytest.importorskip("scipy.stats", reason="the extra stats")

Column = npt.NDArray[np.float64]


def three(n: int, seed: int) -> tuple[Column, Column, Column]:
    """Two methods with equal errors, and human ratings."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=n)
    first, second = human + rng.normal(size=(2, n))
    return first, second, human


def jackknife(first: Column, second: Column, human: Column, groups: list[int]) -> float:
    """The p by leaving each group out in turn."""
    kept = [np.array([g != name for g in groups]) for name in dict.fromkeys(groups)]

    def z(side: Column, mask: npt.NDArray[np.bool_]) -> float:
        return math.atanh(float(np.corrcoef(side[mask], human[mask])[0, 1]))

    apart = [z(first, mask) - z(second, mask) for mask in kept]
    m, mean = len(kept), math.fsum(apart) / len(kept)
    error = math.sqrt((m - 1) / m * math.fsum((d - mean) ** 2 for d in apart))
    everything = np.ones(len(human), dtype=np.bool_)
    t = (z(first, everything) - z(second, everything)) / error
    return float(2 * scipy_stats.t.sf(abs(t), m - 2))


@pytest.mark.parametrize("size", [1, 3])
def test_pearson_is_a_jackknife_t(size: int) -> None:
    first, second, human = three(36, seed=size)
    groups = [i // size for i in range(36)]
    found = paired_difference(
        "pearson", first, second, human, n_boot=50, groups=None if size == 1 else groups
    )
    assert found.test == "jackknife t"
    expected = jackknife(first, second, human, groups)
    assert found.p_two_sided == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_mae_is_tested_by_sign_flips_of_the_errors(grouped: bool) -> None:
    first, second, human = three(40, seed=4)
    groups = [i // 4 for i in range(40)] if grouped else None
    errors = np.abs(first - human) - np.abs(second - human)
    expected = sign_flip(errors, groups=groups, seed=3)
    found = paired_difference("mae", first, second, human, n_boot=50, seed=3, groups=groups)
    assert (found.p_two_sided, found.test) == (expected.p_two_sided, expected.test)
    assert expected.is_exact is grouped  # ten groups are few enough


@pytest.mark.parametrize("measure", MEASURES)
def test_fewer_than_ten_samples_have_no_interval_and_only_mae_a_p(measure: Measure) -> None:
    found = paired_difference(measure, *three(9, seed=1), n_boot=50)
    assert np.isnan([found.low, found.high]).all()
    assert found.reason.startswith("9 samples: an interval needs ")
    assert np.isnan(found.p_two_sided) == (measure != "mae")
    enough = paired_difference(measure, *three(10, seed=1), n_boot=50)
    assert not np.isnan(enough.p_two_sided)
    # The percentile interval of ranks needs more.
    assert np.isnan(enough.low) == bool(enough.reason) == (measure in {"spearman", "kendall"})


def test_a_perfect_correlation_has_a_p() -> None:
    first, _, human = three(30, seed=2)
    against = paired_difference("pearson", human, first, human, n_boot=50)
    assert against.p_two_sided < 1e-6
    assert paired_difference("pearson", human, 2 * human, human, n_boot=50).p_two_sided == 1.0


def test_a_correlation_that_one_sample_makes_has_no_p() -> None:
    human = np.array([*[0.5] * 19, 1.0])
    first, second, _ = three(20, seed=3)
    found = paired_difference("pearson", first, second, human, n_boot=200)
    assert math.isnan(found.p_two_sided)  # without that sample there is nothing to correlate
    assert "no value" in found.reason


@pytest.mark.parametrize(("measure", "n"), [("pearson", 10), ("pearson", 50), ("mae", 8)])
def test_equal_methods_are_rarely_told_apart(measure: Measure, n: int) -> None:
    runs = 400
    found: list[PairedDifference] = [
        paired_difference(measure, *three(n, seed=run), n_boot=2, seed=run) for run in range(runs)
    ]
    share = np.mean([one.p_two_sided <= 0.05 for one in found])
    # Three standard errors of a share of 0.05 in 400 runs.
    assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)

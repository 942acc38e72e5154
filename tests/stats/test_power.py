"""The power view: beside the test itself on simulated data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.pairwise import Test
from tcva_adapters.stats.power import pair_power, power_view, variability
from tcva_adapters.stats.randomisation import tukey_hsd
from tcva_adapters.stats.studentised import studentised_pairs


def judged(n: int, systems: int, seed: int) -> FloatArray:
    """Scores in tenths: hard and easy queries, a ceiling, some systems steadier than others."""
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.1, 0.4, systems)
    raw = rng.beta(4, 1.5, (n, 1)) + rng.normal(0, 1, (n, systems)) * spread
    return np.asarray(np.round(np.clip(raw, 0, 1), 1), dtype=np.float64)


def p_of(test: Test, table: FloatArray, seed: int) -> FloatArray:
    if test == "tukey":
        return tukey_hsd(table, permutations=299, seed=seed).p
    return studentised_pairs(table, permutations=299, seed=seed).p


@pytest.mark.parametrize("test", ["studentised", "tukey"])
@pytest.mark.parametrize(("systems", "n", "difference"), [(2, 60, 0.1), (4, 80, 0.11)])
def test_as_often_found_as_predicted(systems: int, n: int, difference: float, test: Test) -> None:
    at_hand = judged(400, systems, 1)
    first, second = 0, systems - 1
    predicted = pair_power(variability(at_hand), difference, n, test=test)[first, second]
    assert 0.3 < predicted < 0.95
    # Draw queries from those at hand, without the systems' own differences and with this one.
    centred = at_hand - at_hand.mean(axis=0)
    rng = np.random.default_rng(2)
    found = []
    for number in range(500):
        table = centred[rng.integers(0, len(centred), n)]
        table[:, first] += difference
        found.append(p_of(test, table, number)[first, second] < 0.05)
    assert np.mean(found) == pytest.approx(predicted, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["studentised", "tukey"])
def test_the_predicted_number_of_queries_is_enough(test: Test) -> None:
    # From 300 queries at hand to as many new ones as the view asks for.
    view = power_view(variability(judged(300, 3, 3)), 0.08, test=test)
    assert view.needed is not None
    found = []
    for number in range(300):
        table = judged(view.needed, 3, 1000 + number)
        table -= judged(20_000, 3, 4).mean(axis=0)
        table[:, 1] += 0.08
        p = p_of(test, table, number)
        found.append(np.mean([p[1, 0] < 0.05, p[1, 2] < 0.05]))
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("test", ["studentised", "tukey"])
def test_two_systems_beside_the_formula_of_the_t_test(test: Test) -> None:
    # Differences of two systems are normal with standard deviation 1; a paired t-test of 40.
    rng = np.random.default_rng(5)
    raw = rng.normal(0, math.sqrt(0.5), (500, 2))
    raw = (raw - raw.mean(axis=0)) / np.std(raw[:, 0] - raw[:, 1], ddof=1)
    critical = stats.t.ppf(0.975, 39)
    shift = 0.45 * math.sqrt(40)
    expected = stats.nct.sf(critical, 39, shift) + stats.nct.cdf(-critical, 39, shift)
    assert pair_power(variability(raw), 0.45, 40, test=test)[0, 1] == pytest.approx(
        expected, abs=0.02
    )


def test_power_rises_with_queries_and_differences() -> None:
    about = variability(judged(100, 3, 6))
    by_n = [np.nanmean(pair_power(about, 0.1, n)) for n in (20, 40, 80, 160, 320)]
    by_d = [np.nanmean(pair_power(about, d, 50)) for d in (0.02, 0.05, 0.1, 0.2)]
    assert by_n == sorted(by_n)
    assert by_d == sorted(by_d)
    view = power_view(about, 0.1, queries=50)
    assert view.needed is not None
    assert view.needed_hardest is not None
    at = [np.nanmean(pair_power(about, 0.1, n)) for n in (view.needed - 1, view.needed)]
    assert at[0] < 0.8 <= at[1]
    assert view.least <= view.power <= view.most
    assert view.needed_hardest >= view.needed


def test_what_cannot_be_shown_has_no_number() -> None:
    about = variability(judged(50, 2, 7))
    assert power_view(about, 1e-6).needed is None


def test_incomplete_rows_are_left_out() -> None:
    table = judged(60, 3, 8)
    holed = np.vstack([table, [[0.5, math.nan, 0.1]] * 5])
    assert variability(holed).n == 60
    assert variability(holed).row_variance == variability(table).row_variance
    # The residual mean square is half the mean variance of the differences between systems.
    pairs = [np.var(table[:, i] - table[:, j], ddof=1) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert variability(table).row_variance == pytest.approx(np.mean(pairs) / 2, abs=1e-12)


def test_mistakes() -> None:
    about = variability(judged(20, 2, 9))
    with pytest.raises(InvalidValueError, match="2 queries have a score of each of 2"):
        variability([[0.1, 0.2], [0.3, 0.4], [0.5, math.nan]])
    with pytest.raises(InvalidValueError, match="difference is 0"):
        pair_power(about, 0, 20)
    with pytest.raises(InvalidValueError, match="queries is 1"):
        pair_power(about, 0.1, 1)
    with pytest.raises(InvalidValueError, match="level is 1"):
        power_view(about, 0.1, target=1)


@pytest.mark.parametrize("test", ["studentised", "tukey"])
def test_the_smallest_difference_is_mostly_found(test: Test) -> None:
    rng = np.random.default_rng(8)
    run = studentised_pairs if test == "studentised" else tukey_hsd
    spreads = np.array([0.1, 0.12, 0.15])

    def drawn() -> FloatArray:
        return rng.normal(0.5, 0.1, (40, 1)) + rng.normal(0, spreads, (40, 3))

    smallest = [run(drawn(), permutations=300).smallest()[0, 2] for _ in range(20)]
    raised = float(np.mean(smallest)) * np.array([0.0, 0.0, 1.0])
    found = [run(drawn() + raised, permutations=300).p[0, 2] < 0.05 for _ in range(300)]
    # .8 of 300 has a standard error of .023, that of the mean of 20 another .02.
    assert 0.70 < np.mean(found) < 0.90


def test_no_smallest_difference_without_a_test_or_without_spread() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(30)
    table = np.column_stack([first, first, rng.random(30), rng.random(30)])
    table[5:, 3] = math.nan  # shares too few queries with the others
    found = studentised_pairs(table, permutations=100).smallest()
    assert np.isnan(found[0, 1])
    assert np.isnan(found[:, 3]).all()
    assert found[0, 2] == found[2, 0] > 0.0
    apart = first - table[:, 2]
    error = apart.std(ddof=1) / math.sqrt(30)
    critical = np.quantile(studentised_pairs(table, permutations=100).largest, 0.95)
    assert found[0, 2] == pytest.approx((critical + stats.norm.ppf(0.8)) * error, abs=1e-12)

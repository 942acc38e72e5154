"""Sign flips against all assignments by hand, scipy, and their level by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.sign_flip import MOST_EXACT, sign_flip

scipy_stats = pytest.importorskip("scipy.stats", reason="the extra stats")


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_counts_all_assignments(n: int) -> None:
    differences = np.random.default_rng(n).integers(-6, 7, n) / 10
    observed = abs(math.fsum(differences))
    hits = [
        abs(math.fsum(sign * d for sign, d in zip(signs, differences, strict=True)))
        >= observed - 1e-9
        for signs in itertools.product([1, -1], repeat=n)
    ]
    found = sign_flip(differences)
    assert found.is_exact
    assert found.p_two_sided == pytest.approx(np.mean(hits), abs=1e-12)


def test_is_the_test_of_scipy() -> None:
    differences = np.random.default_rng(3).normal(0.2, 1, 12)
    expected = scipy_stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip(differences).p_two_sided == pytest.approx(expected.pvalue, abs=1e-12)


def test_draws_come_close_to_the_exact_share() -> None:
    rng = np.random.default_rng(4)
    differences = np.concatenate([rng.normal(0.3, 1, MOST_EXACT), [0.0, 0.0]])
    exact = sign_flip(differences)
    assert exact.is_exact  # zeros have no sign
    drawn = sign_flip([*differences, 1e-9], n_flips=200_000)
    assert not drawn.is_exact
    error = math.sqrt(exact.p_two_sided / 200_000)
    assert drawn.p_two_sided == pytest.approx(exact.p_two_sided, abs=4 * error)


def test_says_what_was_done() -> None:
    assert sign_flip([1.0] * 6).test == "sign flips, exact"
    assert sign_flip([1.0] * 6).p_two_sided == 2 / 2**6
    drawn = sign_flip([1.0] * 40, n_flips=999)
    assert (drawn.test, drawn.p_two_sided) == ("sign flips, drawn", 1 / 1000)
    assert sign_flip([1.0] * 40, seed=1) == sign_flip([1.0] * 40, seed=1)


def test_a_group_is_flipped_as_one() -> None:
    differences = [0.1, 0.3, -0.2, 0.5, math.nan, 0.4]
    groups = ["a", "a", "b", "b", None, "c"]
    found = sign_flip(differences, groups=groups)
    assert (found.n, found.clusters) == (5, 3)
    assert found.p_two_sided == sign_flip([0.4, 0.3, 0.4]).p_two_sided == 0.25


def test_values_that_are_stated_where_there_is_nothing_to_test() -> None:
    assert math.isnan(sign_flip([]).p_two_sided)
    assert math.isnan(sign_flip([math.inf, math.nan], groups=[None, None]).p_two_sided)
    assert sign_flip([0.0, 0.0]).p_two_sided == 1.0
    # Sums that are equal on paper count as equal: 0.1 + 0.2 - 0.3 is not 0 in floats.
    assert sign_flip([0.1, 0.2, -0.3]).p_two_sided == 1.0


@pytest.mark.parametrize("n", [5, 8, 30])
def test_holds_its_level(n: int) -> None:
    rng = np.random.default_rng(n)
    runs = 600
    ps = np.array(
        [sign_flip(rng.standard_t(3, n), n_flips=399, seed=i).p_two_sided for i in range(runs)]
    )
    # Three standard errors of a share of 0.05 in 600 runs.
    assert np.mean(ps <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"differences": [[1.0]]}, "dimension"),
        ({"differences": ["x"]}, "must be numbers"),
        ({"differences": [1.0], "groups": []}, "0 groups"),
        ({"differences": [1.0], "n_flips": 0}, "n_flips is 0"),
        ({"differences": [1.0], "seed": -1}, "seed is -1"),
        ({"differences": [1e308] * 3}, "too large"),
    ],
)
def test_refuses_what_it_cannot_test(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        sign_flip(**arguments)  # type: ignore[arg-type]  # wrong on purpose

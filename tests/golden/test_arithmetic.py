"""Scores of stored level counts, and everything else that is numbers only."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from tcva_adapters import aggregate, aggregate_counts, exponent, flip_temperature, fuse
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.panel import evaluate_panel
from tcva_adapters.core.verdicts import LEVELS

RELATIVE = 1e-11
"""Scores are rounded to 12 significant digits; that moves them by half of this at most."""
TINY = 1e-25
"""Right above exponent 0 a score with a `none` is 0 for every purpose, be it 1e-98 or 1e-302."""
GIVEN = ("counts", "table", "judges", "temperatures")
DECIDING = np.round(np.arange(0.05, 1.0, 0.05), 2)


@pytest.fixture(scope="module")
def golden() -> Arrays:
    with np.load(Path(__file__).with_name("arithmetic.npz")) as arrays:
        return {key: arrays[key] for key in arrays}


@pytest.fixture(scope="module")
def now(golden: Arrays) -> Arrays:
    return computed({key: golden[key] for key in GIVEN})


DECIDED = ["scores", "always", "lists", "library", "fused", "weighted"]


@pytest.mark.parametrize("name", [*DECIDED, "exponents", "ratings"])
def test_numbers_are_those_that_were(golden: Arrays, now: Arrays, name: str) -> None:
    np.testing.assert_allclose(now[name], golden[name], rtol=RELATIVE, atol=TINY)


@pytest.mark.parametrize("name", DECIDED)
def test_decisions_are_those_that_were(golden: Arrays, now: Arrays, name: str) -> None:
    for threshold in DECIDING:
        assert np.array_equal(now[name] >= threshold, golden[name] >= threshold), (
            threshold
        )


def test_flips_are_those_that_were(golden: Arrays, now: Arrays) -> None:
    np.testing.assert_allclose(now["flips"], golden["flips"], rtol=0, atol=FLIP)


Arrays = dict[str, npt.NDArray[Any]]

TEMPERATURES: Final = (0.1, 0.2, 0.3, 0.4, 0.45, 0.4556, 0.46, 0.5, 0.6, 0.8, 1.0)
SCHEMES: Final = ("default", "linear", "aggressive", "conservative")
PENALTIES: Final = ("paper", "ramped", "absolute", "off")
WAYS: Final = tuple(product(SCHEMES, PENALTIES))
SHARE: Final = 4
"""Each row of counts is scored in this many of the 16 ways, another four in the next row."""
THRESHOLDS: Final = (0.35, 0.5, 0.62, 0.8)
FUSING: Final = (None, 0.1, 0.3, 0.5, 0.7, 1.0)
EPS: Final = 0.05
FLIP: Final = 1e-9
"""How far a flip may move: where a score is nearly flat, its last digits decide."""


def ways_of(row: int) -> list[int]:
    """Numbers of the ways in which a row is scored."""
    return [(row + len(WAYS) // SHARE * k + k) % len(WAYS) for k in range(SHARE)]


def scores(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Shape (rows, ways of the row, temperatures)."""
    found = np.empty((len(counts), SHARE, len(TEMPERATURES)))
    for number, (scheme, penalty) in enumerate(WAYS):
        all_ways = [ways_of(row) for row in range(len(counts))]
        places = [
            (row, of.index(number)) for row, of in enumerate(all_ways) if number in of
        ]
        rows, ways = map(list, zip(*places, strict=True))
        options: Any = {"scheme": scheme, "penalty": penalty}
        found[rows, ways] = aggregate_counts(counts[rows], TEMPERATURES, **options)
    return found


def computed(given: Arrays) -> Arrays:
    """Everything that is computed of what is stored."""
    counts, table = given["counts"], given["table"]
    always = aggregate_counts(counts[::4], TEMPERATURES, floor="always", eps=EPS)
    found = [
        [flip_temperature(list(row), each) for each in THRESHOLDS]
        for row in counts[::2]
    ]
    flips = np.array(found, dtype=np.float64)  # None is nan
    lists = [row for row in counts if row.sum() <= 50 and (row % 1 == 0).all()]
    words = [
        [v for v, n in zip(LEVELS, row, strict=True) for _ in range(int(n))]
        for row in lists
    ]
    values = (1.0, 0.9, 0.7, 0.3, 0.0)
    every = [zip(values, row, strict=True) for row in lists]
    numbers = [[weight for weight, n in row for _ in range(int(n))] for row in every]
    rating: Any = ([0.2, 0.5, 0.3], 0.6, 5.0)
    ratings = [evaluate_panel(each.tolist(), *rating) for each in given["judges"]]
    weights = [3, 1, 0.5]
    shown = ("weighted_score", "normalized_score", "pass_status", "judge_agreement")
    return {
        "scores": scores(counts),
        "always": always,
        "flips": flips,
        "lists": np.array(
            [[aggregate(each, t) for t in (0.2, 0.5, 0.9)] for each in words]
        ),
        "library": np.array(
            [[score_agg(each, t) for t in (0.2, 0.5, 0.9)] for each in numbers]
        ),
        "exponents": np.array([exponent(t) for t in given["temperatures"]]),
        "fused": np.array([fuse(table, temperature=t).scores for t in FUSING]),
        "weighted": np.array(
            [fuse(table, weights=weights, temperature=t).scores for t in FUSING]
        ),
        "ratings": np.array(
            [[float(getattr(rating, key)) for key in shown] for rating in ratings]
        ),
    }

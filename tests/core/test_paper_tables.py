"""The paper's stored scores and its tables, from its own verdicts (Tables 5, 7 and 9)."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.collapse import ablation
from tcva_adapters.core.verdicts import SCHEMES
from tests.support.paper import judged, needs_paper_data

pytestmark = needs_paper_data

stats = pytest.importorskip("scipy.stats", reason="the extra stats")

SETS = ["summeval", "summeval_rel"]
BEST = {"summeval": 0.9, "summeval_rel": 0.5}


def rho(scores: np.ndarray, human: np.ndarray) -> float:
    # The paper's digits come from scores rounded to four decimals.
    return round(float(stats.spearmanr(scores.round(4), human).statistic), 4)


@pytest.mark.parametrize("name", SETS)
def test_stored_scores_are_recomputed(name: str) -> None:
    counts, _, stored = judged(name)
    for key, scores in stored.items():
        ours = sweep(counts, [float(key[1:])])[:, 0]
        assert np.abs(ours - scores).max() <= 5e-5 + 1e-12
        differs = ours.round(4) != scores
        # What differs after rounding must have been a tie of the last digit.
        digits = np.abs(ours[differs] * 1e4 % 1 - 0.5)
        assert (digits < 1e-6).all()


@pytest.mark.parametrize(
    ("name", "n", "expected"),
    [
        ("summeval", 169, [0.6415, 0.6415, 0.6630, 0.6638, 0.6669]),
        ("summeval_rel", 195, [0.4757, 0.4758, 0.4800, 0.4523, 0.4548]),
    ],
)
def test_table_5(name: str, n: int, expected: list[float]) -> None:
    counts, human, _ = judged(name)
    scores = sweep(counts, [0.2, 0.3, 0.5, 0.7, 0.9])
    assert len(human) == n
    assert [rho(column, human) for column in scores.T] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("summeval", [0.6669, 0.6676, 0.6637, 0.6685]),
        ("summeval_rel", [0.4800, 0.4718, 0.4916, 0.4778]),
    ],
)
def test_table_7(name: str, expected: list[float]) -> None:
    counts, human, _ = judged(name)
    got = [rho(sweep(counts, [BEST[name]], scheme=s)[:, 0], human) for s in SCHEMES.values()]
    assert got == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("summeval", [0.6669, 0.6104, 0.6629, 0.6148]),
        ("summeval_rel", [0.4800, 0.4854, 0.4800, 0.2363]),
    ],
)
def test_table_9(name: str, expected: list[float]) -> None:
    counts, human, _ = judged(name)
    parts = ablation(counts, BEST[name])
    columns = (parts.full, parts.without_penalty, parts.arithmetic, parts.binary)
    assert [rho(column, human) for column in columns] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("summeval", [0.6678, 0.6678, 0.6630, 0.6638, 0.6669]),
        ("summeval_rel", [0.4771, 0.4771, 0.4800, 0.4523, 0.4548]),
    ],
)
def test_unrounded_scores_rank_better_at_strict_temperatures(
    name: str, expected: list[float]
) -> None:
    # Rounding turns every strict score with one none into 0.0000 and so into ties.
    counts, human, _ = judged(name)
    scores = sweep(counts, [0.2, 0.3, 0.5, 0.7, 0.9])
    got = [round(float(stats.spearmanr(column, human).statistic), 4) for column in scores.T]
    assert got == expected

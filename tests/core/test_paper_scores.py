"""The paper's stored scores from its own verdicts; `tests.golden` has its tables."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.core.aggregation import sweep
from tests.support.paper import judged, needs_paper_data

pytestmark = needs_paper_data

stats = pytest.importorskip("scipy.stats", reason="the extra stats")

SETS = ["summeval", "summeval_rel"]


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

"""The paper's Table 8 from its stored scores: its intervals, within 0.01."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.inference import difference, estimate
from tests.support.paper import load, needs_paper_data

BEST = {"summeval": "T0.9", "summeval_rel": "T0.5"}
TABLE = {
    "summeval": [[0.561, 0.755], [0.571, 0.762], [0.251, 0.525]],
    "summeval_rel": [[0.367, 0.583], [0.286, 0.528], [0.183, 0.439]],
}


def stored(name: str) -> tuple[FloatArray, FloatArray]:
    """Scores of TCVA, RAGAS and DeepEval by sample, -1 turned into nan, and of people."""
    columns = []
    for method in ("tcva", "ragas", "deepeval"):
        records = load(f"{name}_{method}_scores")
        if method == "tcva":
            found = {
                r["id"]: r["tcva_scores"][BEST[name]] if r["verdicts"] else -1 for r in records
            }
        else:
            found = {r["id"]: r[f"{method}_score"] for r in records}
        columns.append(found)
    human = {r["id"]: r["human_score"] for r in load(f"{name}_prepared")}
    table = np.array([[column.get(key, -1) for column in columns] for key in human], dtype=float)
    return np.where(table < 0, np.nan, table), np.array(list(human.values()))


@needs_paper_data
@pytest.mark.parametrize("name", TABLE)
def test_intervals(name: str) -> None:
    table, human = stored(name)
    found = [estimate("spearman", [column, human], method="percentile") for column in table.T]
    np.testing.assert_allclose([[f.low, f.high] for f in found], TABLE[name], atol=0.01)


@needs_paper_data
def test_no_set_has_a_difference_that_a_test_calls_one() -> None:
    table, human = stored("summeval_rel")
    found = difference("spearman", table[:, 0], table[:, 1], human)
    figures = [found.value, found.low, found.high, found.p]
    assert [f"{figure:.3f}" for figure in figures] == ["0.062", "-0.081", "0.206", "0.396"]
    assert found.n == 195
    table, human = stored("summeval")
    assert difference("spearman", table[:, 0], table[:, 1], human).p > 0.3

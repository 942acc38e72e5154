"""What a comparison says where no difference shows, and which methods are as good as the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.views.as_good import as_good, shown_and_not
from tcva_adapters.compare.views.human_ratings import HumanRatings, compare_with_ratings
from tcva_adapters.printing import text_of
from tcva_adapters.stats.equivalence import equivalence
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.planning import smallest_from

N = 120


def compared(*, margin: float | None) -> tuple[ScoreTable, HumanRatings]:
    rng = np.random.default_rng(0)
    quality = rng.random(N)
    ours = quality + 0.15 * rng.normal(size=N)
    columns = {
        "ours": ours,
        "near": ours + 0.02 * rng.normal(size=N),
        "poor": quality + 0.6 * rng.normal(size=N),
    }
    rows = [Row(str(i), name, float(v)) for name, c in columns.items() for i, v in enumerate(c)]
    human = {str(i): float(q + 0.1 * rng.normal()) for i, q in enumerate(quality)}
    table = ScoreTable.of(rows, human=human)
    return table, compare_with_ratings(table, reference="ours", margin=margin, n_boot=500)


def test_the_smallest_difference_allows_for_all_comparisons() -> None:
    _, found = compared(margin=None)
    primary = {t.method: t for t in found.tests if t.result.measure == "spearman"}
    near, poor = primary["near"].result, primary["poor"]
    assert primary["near"].smallest == pytest.approx(
        smallest_from(near.low, near.high, 0.95, comparisons=2), rel=1e-12
    )
    assert all(math.isnan(t.smallest) for t in found.tests if t.result.measure != "spearman")
    said = text_of(list(shown_and_not(found)), 80)
    assert poor.p_holm < 0.05
    if primary["near"].p_holm >= 0.05:
        assert "not told from chance is not the same as equal" in said
        assert "(near)" in said
    assert "(poor)" not in said
    assert not list(as_good(found))


def test_equivalence_is_corrected_for_all_methods() -> None:
    table, found = compared(margin=0.05)
    tests = {t.method: t.equivalence for t in found.tests if t.equivalence is not None}
    alone = [
        equivalence(
            "spearman",
            table.column(m),
            table.column("ours"),
            np.asarray(table.human),
            0.05,
            n_boot=500,
        )
        for m in ("near", "poor")
    ]
    assert [t.p_equivalent for t in tests.values()] == pytest.approx(
        holm([each.p_equivalent for each in alone]).tolist(), abs=1e-12
    )
    said = text_of(list(as_good(found)), 80).splitlines()
    assert next(line for line in said if line.startswith("near")).endswith("as good")
    assert next(line for line in said if line.startswith("poor")).endswith("not shown")

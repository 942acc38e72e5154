"""Figures of samples that belong together: copies of a sample in its group narrow no interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from tcva_adapters import plots
from tcva_adapters.compare import compare_systems, sweep
from tcva_adapters.compare.systems.table import SystemTable
from tcva_adapters.plots.grouped import means_with_ends, share_ends
from tcva_adapters.stats.means import mean_intervals
from tests.compare.test_systems import table as systems_table
from tests.plots.examples import axes_of, counts

GROUPS = 40
OF = np.repeat(np.arange(GROUPS), 3)


def heights(figure: Figure, number: int) -> np.ndarray[Any, Any]:
    """The lower and the upper edge of a filled band, at its leftmost place."""
    vertices = np.asarray(axes_of(figure).collections[number].get_paths()[0].vertices)
    return np.unique(vertices[vertices[:, 0] == vertices[:, 0].min(), 1].round(9))[[0, -1]]


def test_bands_of_copies_are_those_of_one() -> None:
    table = np.asarray(counts(GROUPS), dtype=float)
    table[table.sum(axis=1) == 0, 0] = 1.0  # each has a score
    human = np.random.default_rng(0).random(GROUPS)
    once = plots.sweep_curve(sweep(table, [0.3, 0.7], human=human))
    copied = sweep(table[OF], [0.3, 0.7], human=human[OF], group=OF.tolist())
    assert heights(plots.sweep_curve(copied), 0) == pytest.approx(heights(once, 0), abs=1e-6)
    alone = sweep(table[OF], [0.3, 0.7], human=human[OF])
    assert np.ptp(heights(plots.sweep_curve(alone), 0)) < 0.7 * np.ptp(heights(once, 0))
    shares = [np.ptp(heights(plots.sweep_curve(each), 1)) for each in (alone, copied)]
    assert shares[0] < 0.8 * shares[1]


def test_boxes_of_systems_are_by_group() -> None:
    once = systems_table(n=GROUPS)
    copied = SystemTable(
        once.systems,
        tuple(f"q{i}" for i in range(len(OF))),
        once.metrics,
        once.scores[:, OF],
        groups=tuple(OF.tolist()),
    )
    figure = plots.boxes(compare_systems(copied, permutations=20), "qr")
    (stems,) = [c for c in axes_of(figure).collections if isinstance(c, LineCollection)]
    ends = np.array([segment[:, 1] for segment in stems.get_segments()])
    _, low, high = mean_intervals(once.metric("qr"))
    assert ends == pytest.approx(np.stack([low, high], axis=1), abs=1e-9)


def test_a_sample_without_a_group_leaves_no_interval() -> None:
    table = np.random.default_rng(1).random((30, 2))
    table[7, 1] = np.nan
    groups = [*range(7), None, *range(7, 29)]
    means, low, _ = means_with_ends(table, groups)
    assert np.isfinite(means).all()
    assert np.isnan(low).tolist() == [True, False]
    known = np.asarray(np.isfinite(table[:, 1]))
    assert share_ends(table[known, 0] > 0.5, groups, known)[0] > 0.0
    assert np.isnan(share_ends(table[:, 0] > 0.5, groups, np.ones(30, dtype=bool))).all()
    assert np.isnan(means_with_ends(np.full((30, 1), np.nan), groups)[0]).all()

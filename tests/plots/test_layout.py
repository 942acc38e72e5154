"""Labels: inside the figure, apart from each other, whatever their number and whatever stands in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from tcva_adapters import plots
from tcva_adapters.compare import compare_systems, sweep
from tcva_adapters.compare.systems.table import SystemTable
from tcva_adapters.core.aggregation import sweep as sweep_counts
from tcva_adapters.plots.canvas import label
from tcva_adapters.plots.saving import pictures_of
from tests.compare.test_systems import table as systems_table
from tests.plots.examples import MANY, axes_of, counts, drawn_texts, rated_comparison

Drawing = Callable[[], Figure]
LONG = "tcva T=0.5 + ragas legacy_context_recall + langchain labeled_criteria"
HOSTILE = [
    "$\\frac{",
    "a\x1b[2J\u202eb",
    "100 % $x$ and $",
    "_" * 90,
    "w" * 400,
    "<b>&amp;</b>",
    " ",
]


def check_labels(figure: Figure) -> None:
    """Every text inside the figure and legible; no two on each other."""
    with drawn_texts(figure) as found:
        assert found
    width, height = figure.canvas.get_width_height()
    for text, box in found:
        assert -1 <= box.x0 <= box.x1 <= width + 1, text
        assert -1 <= box.y0 <= box.y1 <= height + 1, text
        assert float(text.get_fontsize()) >= 4.0, text
    for (one, first), (other, second) in combinations(found, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        along = min(first.y1, second.y1) - max(first.y0, second.y0)
        # Boxes of lines reach a little beyond the letters.
        assert across <= 1.0 or along <= 2.5, (one, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, _ in pictures_of(rated_comparison())])
def test_a_comparison_of_eight_methods(name: str) -> None:
    assert len(rated_comparison().table.methods) == 8
    draw = dict(pictures_of(rated_comparison()))[name]
    check_labels(draw())


@pytest.mark.slow
def test_24_methods_of_bare_scores() -> None:
    human = np.random.default_rng(0).random(30)
    check_labels(plots.histograms(MANY, human=human))
    check_labels(plots.correlations(MANY, human=human))
    check_labels(plots.agreement(MANY, human=human, n_boot=20))


@pytest.mark.slow
@pytest.mark.parametrize("width", ["column", 5.0])
def test_widths_of_a_paper(width: Any) -> None:
    found = rated_comparison()
    inches = {"column": 3.3, "page": 7.0}.get(width, width)
    for draw in (
        plots.sweep_curve,
        plots.flips,
        plots.scatter,
        plots.decisions,
        plots.agreement,
        plots.reliability,
        plots.histograms,
    ):
        figure = draw(found, width=width)
        assert figure.get_figwidth() == inches
        check_labels(figure)
    lists = [["fully", "mostly", "partial"], ["fully", "none"], ["minor"]]
    check_labels(plots.exponent_curve(lists, width=width))


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 3, 1000, 10_000])
def test_few_and_many_samples(n: int) -> None:
    table = counts(n)
    scores = sweep_counts(table, [0.1, 0.5])
    rng = np.random.default_rng(n)
    named = {"tcva T=0.5": scores[:, 1], "theirs": rng.random(n).round(1), "tied": np.zeros(n)}
    human = rng.random(n).round(1)
    if n > 1:
        check_labels(plots.sweep_curve(table))
        check_labels(plots.flips(table))
        check_labels(plots.scatter(named, human=human))
        check_labels(plots.reliability(named, human=human))
        check_labels(plots.agreement(named, human=human, n_boot=20))
    named["tcva T=0.5"] = np.nan_to_num(named["tcva T=0.5"])
    check_labels(plots.scatter(named))
    check_labels(plots.scatter(named, "tied"))
    check_labels(plots.histograms(named))
    check_labels(plots.correlations(named, width="column"))


@pytest.mark.slow
def test_names_from_files_are_only_text() -> None:
    rng = np.random.default_rng(0)
    named: dict[str, Any] = {name: rng.random(30) for name in [*HOSTILE, LONG]}
    human = rng.random(30)
    check_labels(plots.histograms(named))
    check_labels(plots.correlations(named))
    check_labels(plots.agreement(named, human=human, n_boot=20))
    for across, up in zip(HOSTILE[::2], [*HOSTILE[1::2], LONG], strict=True):
        check_labels(plots.scatter(named, across, up, human=human))
    for name in HOSTILE:
        check_labels(plots.reliability(named, name, human=human))
    check_labels(plots.exponent_curve({name: ["fully", "minor"] for name in HOSTILE}))
    assert "\x1b" not in label(HOSTILE[1])
    assert len(label("x" * 500)) < 100


@pytest.mark.slow
def test_systems() -> None:
    data = systems_table(n=20)
    for names in (("a", "b", "c"), ("$x", LONG, "\x07" * 20)):
        table = SystemTable(names, data.queries, data.metrics, data.scores)
        for _, draw in pictures_of(compare_systems(table, permutations=20)):
            check_labels(draw())
    check_labels(plots.sweep_curve(sweep(counts(30), ablation=True)))


def test_curves_are_told_apart_without_colour() -> None:
    swept = sweep(counts(30), ablation=True)
    axes = axes_of(plots.sweep_curve(swept))
    looks = [(str(one.get_linestyle()), one.get_marker()) for one in axes.lines]
    assert len(set(looks)) == len(looks) == 9

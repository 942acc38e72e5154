"""What the tests draw: a real comparison of nine methods with human ratings, and made-up judgements."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from tcva_adapters import TCVA, Sample, aggregate
from tcva_adapters import compare as comparing
from tcva_adapters.compare import Comparison
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.samples.files import read_samples

MANY = {f"framework{i % 5} metric_of_{i}": np.random.default_rng(i).random(30) for i in range(24)}
"""Made-up scores of 24 methods."""
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/data/samples.jsonl"


@cache
def rated_comparison() -> Comparison:
    """Of the examples, by all frameworks; rated by what their hand-made labels amount to."""
    ratings = {}
    for line in EXAMPLES.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        levels = [label["level"] for label in record["labels"] if label["level"]]
        ratings[record["id"]] = aggregate(levels, 0.5) if levels else None
    samples = [
        Sample(**{**sample.model_dump(), "metadata": {"rating": ratings[str(sample.id)]}})
        for sample in read_samples(EXAMPLES).samples
    ]
    with warnings.catch_warnings(action="ignore"):  # the frameworks' own, as on the command line
        return comparing.compare(samples, TCVA(judge="lexical"), human="rating", n_boot=200)


def counts(n: int, seed: int = 0) -> FloatArray:
    """Level counts of up to eight claims; some without a claim, some with ``none`` alone."""
    rng = np.random.default_rng(seed)
    found = np.zeros((n, 5))
    for i in range(n):
        found[i] = rng.multinomial(rng.integers(1, 9), rng.dirichlet([2.0, 1.0, 0.7, 0.5, 0.8]))
    found[::17] = 0
    found[5::11] = [0, 0, 0, 0, 3]
    return found


@contextmanager
def drawn_texts(figure: Figure) -> Iterator[list[tuple[Text, Any]]]:
    """Every text that is really drawn, with its box in pixels."""
    found: list[tuple[Text, Any]] = []
    draw = Text.draw

    def recorded(self: Any, renderer: Any) -> None:
        draw(self, renderer)
        if self.get_visible() and self.get_text().strip():
            found.append((self, self.get_window_extent(renderer)))

    Text.draw = recorded  # type: ignore[method-assign]  # what else knows what is drawn?
    try:
        figure.canvas.draw()
        yield found
    finally:
        Text.draw = draw  # type: ignore[method-assign]  # as above


def axes_of(figure: Figure) -> Axes:
    """The first, which the data stand in."""
    return figure.axes[0]


def line(axes: Axes, name: str) -> FloatArray:
    """The points of the line with this label, shape (N, 2)."""
    (found,) = [each for each in axes.lines if each.get_label() == name]
    return np.asarray(found.get_xydata(), dtype=np.float64)

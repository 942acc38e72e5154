"""A comparison of systems as pictures (extra ``plots``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from tcva_adapters.compare.drawing import new_figure
from tcva_adapters.compare.systems.metrics import MetricFigures
from tcva_adapters.compare.systems.table import SystemTable
from tcva_adapters.stats.checks import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES: Final = ("-", "--", ":", "-.")
_RESAMPLES: Final = 2000


def pictures_of(
    table: SystemTable, figures: Sequence[MetricFigures], *, alpha: float, seed: int
) -> dict[str, Callable[[], Figure]]:
    """The pictures of `SystemsReport.save`."""
    pictures: dict[str, Callable[[], Figure]] = {"asl": lambda: _asl(figures, alpha)}
    for one in figures:
        name = re.sub(r"[^\w.=-]+", "-", one.metric)
        # Names that differ in such signs only must not share a file.
        name = name if f"scores-{name}" not in pictures else f"{name}-{len(pictures)}"
        pictures[f"scores-{name}"] = partial(_boxes, table, one, seed)
    return pictures


def mean_interval(
    scores: FloatArray, *, level: float = 0.95, resamples: int = _RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of finite scores; nan for fewer than two.

    >>> mean_interval(np.array([0.5, 0.5, 0.5]))
    (0.5, 0.5)
    """
    known = scores[np.isfinite(scores)]
    if len(known) < 2:
        return float("nan"), float("nan")
    rng = np.random.Generator(np.random.PCG64(seed))
    means = [rng.choice(known, len(known)).mean() for _ in range(resamples)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def _asl(figures: Sequence[MetricFigures], alpha: float) -> Figure:
    figure, (axes,) = new_figure(7.0)
    for i, one in enumerate(figures):
        falling = one.asl[::-1]
        label = f"{one.metric} ({one.discrimination.power:.2f})"
        places = np.arange(1, len(falling) + 1)
        axes.plot(places, falling, marker=".", ls=_LINES[i // 10 % len(_LINES)], label=label)
    axes.axhline(alpha, color="grey", lw=0.8)
    axes.locator_params(axis="x", integer=True)
    axes.set(xlabel="pairs of systems, by p", ylabel="achieved significance level")
    axes.set_title(f"Which metric tells systems apart (line: {alpha:g})")
    axes.legend(fontsize="small", title="discriminative power", title_fontsize="small")
    return figure


def _boxes(table: SystemTable, one: MetricFigures, seed: int) -> Figure:
    systems = table.systems
    figure, (axes,) = new_figure(max(5.0, 0.9 * len(systems) + 1.5))
    columns = table.metric(one.metric).T
    known = [column[np.isfinite(column)] for column in columns]
    places = np.arange(1, len(systems) + 1)
    axes.boxplot(
        known,
        positions=places,
        widths=0.5,
        flierprops={"marker": ".", "markersize": 3.0, "alpha": 0.4},
        medianprops={"color": "black"},
    )
    ends = np.array([mean_interval(column, seed=seed) for column in columns])
    means = one.test.means
    axes.errorbar(
        places,
        means,
        yerr=np.abs(ends - means[:, None]).T,
        ls="",
        marker="D",
        color="#d55e00",
        capsize=4.0,
        label="mean, 95 % interval",
    )
    axes.set_xticks(places, list(systems), rotation=30 if len(systems) > 5 else 0)
    axes.set(ylabel="score", title=one.metric)
    axes.legend(fontsize="small")
    return figure

"""A comparison of systems in pictures: which metric tells them apart, and their scores."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tcva_adapters.compare.systems.report import SystemsReport
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.plots.canvas import (
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    SMALL,
    Width,
    canvas,
    inches,
    label,
    legend,
)
from tcva_adapters.plots.grouped import means_with_ends

_UPRIGHT: Final = 5


def significance(
    report: SystemsReport, *, ax: Axes | None = None, width: Width = "column"
) -> Figure:
    """Which metric tells systems apart: the p of all pairs of systems, falling, for each metric.

    The curve of a metric that tells more apart falls earlier (ASL curve). A dotted line is the
    level of the tests; in brackets is the share of pairs below it, the discriminative power.

    Args:
        report: Of `compare_systems`.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: A width that no figure has.
    """
    figure, axes = canvas(ax, width, 2.2 + 0.15 * len(report.figures))
    for number, one in enumerate(report.figures):
        falling = one.asl[::-1]
        axes.plot(
            np.arange(1, len(falling) + 1), falling, lw=1.1, ms=3.0,
            color=COLOURS[number % len(COLOURS)], ls=LINES[number % len(LINES)],
            marker=MARKERS[number % len(MARKERS)],
            label=f"{label(one.metric)} ({one.discrimination.power:.2f})",
        )  # fmt: skip
    axes.axhline(report.alpha, color=GREY, ls=":", lw=1.0, label=f"level {report.alpha:g}")
    axes.locator_params(axis="x", integer=True)
    axes.set(xlabel="pairs of systems, by p", ylabel="achieved significance level")
    axes.set_ylim(-0.02, 1.02)
    legend(axes)
    return figure


def boxes(
    report: SystemsReport,
    metric: str | None = None,
    *,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """The scores of each system: a box plot, and the mean with Student's 95 % interval.

    Where queries have groups, that is about other groups. Boxes reach from quartile to quartile, whiskers to the last score within 1.5 of their length.

    Args:
        report: Of `compare_systems`.
        metric: Which; by default the first.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No such metric.
        MissingDependencyError: scipy is not installed.
    """
    metrics = report.table.metrics
    name = metrics[0] if metric is None else metric
    if name not in metrics:
        msg = f"no metric {name!r}; there are {', '.join(metrics)}"
        raise InvalidValueError(msg)
    scores = report.table.metric(name)
    systems = report.table.systems
    figure, axes = canvas(ax, width, 2.6)
    places = np.arange(1, len(systems) + 1)
    axes.boxplot(
        [column[np.isfinite(column)] for column in scores.T],
        positions=places,
        widths=0.5,
        boxprops={"lw": 0.8},
        whiskerprops={"lw": 0.8},
        capprops={"lw": 0.8},
        flierprops={"marker": ".", "markersize": 3.0, "alpha": 0.4},
        medianprops={"color": "black", "lw": 1.2},
    )
    # Queries without any score are left out of both.
    every = report.table.scores[metrics.index(name)]
    means, low, high = means_with_ends(every, report.table.groups)
    axes.errorbar(
        places,
        means,
        yerr=[means - low, high - means],
        ls="",
        marker="D",
        ms=3.5,
        color=COLOURS[1],
        capsize=3.0,
        lw=1.0,
        label="mean, 95% interval",
    )
    room = 0.8 * inches(width) * 72 / max(len(systems), 1)
    longest = max(len(system) for system in systems)
    upright = longest * 0.6 * SMALL > room or len(systems) > _UPRIGHT * inches(width)
    axes.set_xticks(places, labels=[label(s) for s in systems], rotation=90 if upright else 0)
    axes.set_ylabel(label(name, 24))
    legend(axes)
    return figure

"""Methods beside each other: scatter, histograms, correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.systems.report import SystemsReport
from tcva_adapters.compare.views.describe import MethodSummary
from tcva_adapters.compare.views.describe import describe as described
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.plots.canvas import (
    COLOURS,
    GREY,
    RATINGS,
    SIGNED,
    SMALL,
    TEXT,
    TINY,
    WIDTHS,
    Width,
    canvas,
    colour_bar,
    inches,
    label,
    new_figure,
)
from tcva_adapters.plots.rated import marginal
from tcva_adapters.plots.sources import Scores, leading, limits_of, table_of, with_ratings
from tcva_adapters.stats.checks import whole
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.metric_correlation import correlation_matrix

_FEW: Final = 12
_ALL_ALIKE: Final = 14.0
_LARGEST: Final = 150.0
_DOT: Final = 1.5
"""Areas of marks in square points: of one sample, of the most at a place, and the smallest."""
_CROWD: Final = 300
_PAD: Final = 0.05
_PANEL: Final = 1.45
_TITLE: Final = 24
_NUMBER: Final = 2.7
"""Width of a number in a cell, in units of its font size."""
_LEGIBLE: Final = 4.0
_CELL: Final = 0.12
_BESIDE: Final = 2.1
"""Inches that a cell needs with a name beside it, and that names and the colour bar take."""


def scatter(
    source: Scores,
    method: str | None = None,
    ours: str | None = None,
    *,
    human: npt.ArrayLike | None = None,
    bins: int = 20,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """TCVA against another method, sample by sample, with counts at both sides.

    Samples at one place are one mark, whose area is their number (but at least a dot). Where there are human ratings,
    its colour is their mean (dark is low); a cross stands for samples that nobody rated.

    Args:
        source: Scores, see `Scores`.
        method: The one across; by default the first that is not ours.
        ours: The one upwards; by default TCVA's middle temperature of a comparison, else the first.
        human: Ratings, shape (N,), in place of those that come with the scores.
        bins: Steps of the counts over the scale.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No such method, a single one, or no sample that both have scored.
    """
    bins = whole("bins", bins, least=1)
    table = table_of(source, human)
    lead, others = leading(source, table)
    across, up = method or next(iter(others), ""), ours or lead
    if not across:
        msg = f"{up!r} is the only method; a scatter needs another one to compare with"
        raise InvalidValueError(msg)
    pair = np.stack([table.column(across), table.column(up)], axis=1)
    both = np.isfinite(pair).all(axis=1)
    if not both.any():
        msg = f"no sample has a score of {across!r} and of {up!r}"
        raise InvalidValueError(msg)
    pair = pair[both]
    figure, axes = canvas(ax, width, inches(width) * 0.95 if ax is None else 0.0)
    ratings = None if table.human is None else table.human[both]
    marks = _marks(axes, pair, ratings)
    limits = [limits_of(pair[:, side]) for side in (0, 1)]
    if limits[0] == limits[1]:
        axes.plot(limits[0], limits[0], color=GREY, ls=":", lw=0.8, zorder=0)
    edges = [_centred(low, high, bins) for low, high in limits]
    above = axes.inset_axes((0.0, 1.03, 1.0, 0.16), sharex=axes)
    marginal(above, pair[:, 0], edges[0])
    beside = axes.inset_axes((1.03, 0.0, 0.16, 1.0), sharey=axes)
    marginal(beside, pair[:, 1], edges[1], upright=True)
    (left, right), (low, high) = limits
    axes.set_xlim(left - _PAD * (right - left), right + _PAD * (right - left))
    axes.set_ylim(low - _PAD * (high - low), high + _PAD * (high - low))
    axes.set(xlabel=label(across, _TITLE), ylabel=label(up, _TITLE))
    if marks is not None:
        colour_bar(axes, marks, 1.24, "mean human rating")
        figure.draw_without_rendering()  # the bar's label finds its place, for which the layout looks
    return figure


def histograms(
    source: SystemsReport | Scores,
    methods: Sequence[str] | None = None,
    *,
    human: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    width: Width = "page",
) -> Figure:
    """How the scores of each method are spread, with their mean and how many there are.

    Ten bins over [0, 1], or over a method's own range where it goes beyond. The scale upwards is
    that of each panel. Human ratings have a panel where there are any. Of a comparison of systems
    there is a panel for each metric, of its mean over systems for each query that all have answered
    (figure 2 of the CCRS paper).

    Args:
        source: Scores, see `Scores`, or a comparison of systems.
        methods: Which, in this order; by default all, and the human ratings last.
        human: Ratings, shape (N,), in place of those that come with the scores.
        ax: Axes to draw one method into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No such method, none at all, or several for one pair of axes.
    """
    table = _over_systems(source) if isinstance(source, SystemsReport) else table_of(source, human)
    table = with_ratings(table)
    wanted = list(table.methods if methods is None else methods)
    for name in wanted:
        table.column(name)  # refuses a name that is not there
    if not wanted or (ax is not None and len(wanted) > 1):
        msg = f"{len(wanted)} methods to draw{' into one pair of axes' * (ax is not None)}; "
        raise InvalidValueError(msg + "say which: methods=['...']")
    by_name = {m.method: m for m in described(table, dict.fromkeys(table.methods, 0.5))}
    if ax is not None:
        figure, axes = canvas(ax, width, 0.0)
        _histogram(axes, by_name[wanted[0]])
        return figure
    columns = min(len(wanted), max(1, int(inches(width) / _PANEL)))
    rows = math.ceil(len(wanted) / columns)
    lines = max(label(name, _TITLE).count("\n") for name in wanted)
    figure, grid = new_figure(width, rows * (1.1 + 0.1 * lines), rows, columns)
    titles = [_histogram(axes, by_name[name]) for axes, name in zip(grid, wanted, strict=False)]
    for axes in grid[len(wanted) :]:
        axes.set_axis_off()
    figure.supxlabel("score", fontsize=TEXT)
    figure.supylabel("samples", fontsize=TEXT)
    figure.draw_without_rendering()  # the layout says how much room a title has
    for axes, title in zip(grid, titles, strict=False):
        wide = title.get_window_extent().width / axes.get_window_extent().width
        title.set_fontsize(max(SMALL / max(wide, 1.0), _LEGIBLE))
    return figure


def correlations(
    source: SystemsReport | Scores,
    *,
    measure: Measure = "spearman",
    methods: Sequence[str] | None = None,
    human: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    width: Width | None = None,
) -> Figure:
    """Correlations between methods as a heat map (as in the CCRS paper).

    Each is of the samples that both have scored; those of a comparison of systems are averaged over
    systems by Fisher's z. Human ratings stand last, where there are any. Negative ones are hatched, and those that are not defined (a method that
    gives all the same score) are crossed out. Numbers stand in the cells where there is room.
    Few methods take less than the width.

    Args:
        source: Scores, see `Scores`, or a comparison of systems.
        measure: ``spearman``, ``pearson`` or ``kendall``.
        methods: Which, in this order; by default all.
        human: Ratings, shape (N,), in place of those that come with the scores.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches; by default ``page``, or what so
            many methods need.

    Raises:
        InvalidValueError: No such method, fewer than two, too many for the width, or a measure that is none or is not there.
        MissingDependencyError: scipy is not installed.
    """
    names, values = _matrix(source, measure, human)
    if methods is not None:
        unknown = [name for name in methods if name not in names]
        if unknown:
            msg = f"no method {unknown[0]!r}; there are {', '.join(names)}"
            raise InvalidValueError(msg)
        places = [names.index(name) for name in methods]
        names, values = tuple(methods), values[np.ix_(places, places)]
    if len(names) < 2:
        msg = f"{len(names)} methods have no correlation; give at least two"
        raise InvalidValueError(msg)
    needed = _BESIDE + _CELL * len(names)
    fitting = max(WIDTHS["page"], needed) if width is None else inches(width)
    if ax is None and fitting < needed:
        msg = f"{len(names)} methods need {needed:.1f} in; widen width={width!r}, or say which: methods=[...]"
        raise InvalidValueError(msg)
    side = min(fitting, _BESIDE + 0.45 * len(names))
    figure, axes = canvas(ax, side, 0.86 * side)
    image = axes.pcolormesh(values, cmap=SIGNED, vmin=-1.0, vmax=1.0, ec="white", lw=0.4)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    centres = np.arange(len(names)) + 0.5
    shown = [label(name, lines=2) for name in names]
    size = SMALL if len(names) <= _FEW else TINY
    axes.set_xticks(centres, labels=shown, rotation=90, fontsize=size)
    axes.set_yticks(centres, labels=shown, fontsize=size)
    axes.tick_params(length=0.0)
    axes.spines[:].set_visible(False)
    words = {"spearman": "Spearman's rho", "pearson": "Pearson's r", "kendall": "Kendall's tau"}
    colour_bar(axes, image, 1.03, words[measure])
    figure.draw_without_rendering()  # the layout says how large a cell is
    cell = axes.get_window_extent().width / figure.dpi * 72 / len(names)
    _cells(axes, values, min(SMALL, cell / _NUMBER))
    return figure


def _marks(axes: Axes, pair: FloatArray, ratings: FloatArray | None) -> Any:
    """Draw the samples; returns the marks with colours, None without ratings."""
    places, inverse, counts = np.unique(pair, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.ravel()
    most = _ALL_ALIKE * counts.max()
    sizes = np.maximum(_ALL_ALIKE * counts * min(1.0, _LARGEST / most), _DOT)
    order = np.argsort(-sizes, kind="stable")  # small marks above large ones
    rim = 0.4 if len(places) <= _CROWD else 0.1
    options: dict[str, Any] = {"lw": rim, "edgecolors": "black", "alpha": 0.85}
    if ratings is None:
        axes.scatter(
            places[order, 0], places[order, 1], s=sizes[order], color=COLOURS[4], **options
        )
        return None
    known = np.isfinite(ratings)
    totals = np.bincount(inverse[known], ratings[known], len(places))
    rated = np.bincount(inverse[known], minlength=len(places))
    means = np.divide(totals, rated, out=np.full(len(places), np.nan), where=rated > 0)
    coloured, bare = order[rated[order] > 0], order[rated[order] == 0]
    if len(bare):
        axes.scatter(
            places[bare, 0], places[bare, 1], s=sizes[bare], color="black", marker="x", lw=0.7
        )
    if not len(coloured):
        return None
    low, high = limits_of(ratings)
    return axes.scatter(
        places[coloured, 0], places[coloured, 1], s=sizes[coloured], c=means[coloured], cmap=RATINGS, vmin=low,
        vmax=high, **options,
    )  # fmt: skip


def _centred(low: float, high: float, bins: int) -> FloatArray:
    """Edges whose bins have their middles at the ends and at every step between.

    >>> _centred(0.0, 1.0, 2).tolist()
    [-0.25, 0.25, 0.75, 1.25]
    """
    step = (high - low) / bins
    edges: FloatArray = np.asarray(low + step * (np.arange(bins + 2) - 0.5), dtype=np.float64)
    return edges


def _histogram(axes: Axes, one: MethodSummary) -> Text:
    """Draw it; returns its title."""
    edges = np.array(one.edges)
    axes.bar(
        edges[:-1], one.histogram, np.diff(edges), align="edge", color=COLOURS[4], ec="black",
        lw=0.4,
    )  # fmt: skip
    if one.scored:
        axes.axvline(one.mean, color="black", ls="--", lw=1.0)
    said = f"mean {one.mean:.2f}, n = {one.scored}" if one.scored else "no score"
    title = f"{label(one.method, _TITLE)}\n{said}"
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xticks([edges[0], (edges[0] + edges[-1]) / 2, edges[-1]])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
    axes.locator_params(axis="y", nbins=3, integer=True)
    return axes.set_title(title, fontsize=SMALL, loc="left", pad=2.0)


def _over_systems(report: SystemsReport) -> ScoreTable:
    """Each metric's mean over systems, query by query; nan where a system has none."""
    table = report.table
    return ScoreTable(table.queries, table.metrics, table.scores.mean(axis=2).T)


def _matrix(
    source: SystemsReport | Scores, measure: Measure, human: npt.ArrayLike | None
) -> tuple[tuple[str, ...], FloatArray]:
    if not isinstance(source, SystemsReport):
        table = with_ratings(table_of(source, human))
        return table.methods, correlation_matrix(measure, table.scores).values
    if measure not in source.averaged:
        known = ", ".join(source.averaged) or "none (one metric)"
        msg = f"no {measure!r} between metrics in this report; there are {known}"
        raise InvalidValueError(msg)
    return source.table.metrics, source.averaged[measure].values


def _cells(axes: Axes, values: FloatArray, size: float) -> None:
    """What stands in the cells beside the colour."""
    colours = colormaps[SIGNED]
    for (row, column), value in np.ndenumerate(values):
        box = (column, row)
        if math.isnan(value):
            axes.add_patch(Rectangle(box, 1, 1, fc="white", ec="0.6", hatch="xxxx", lw=0.0))
            continue
        if value < 0:
            axes.add_patch(Rectangle(box, 1, 1, fill=False, ec=(0, 0, 0, 0.35), hatch="///", lw=0))
        if size >= _LEGIBLE:
            red, green, blue, _ = colours((value + 1) / 2)
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            text = f"{value:.2f}".replace("0.", ".")
            axes.text(
                column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size,
                color="white" if dark else "black",
            )  # fmt: skip

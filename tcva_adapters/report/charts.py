"""Charts of reports and score tables; pyplot's state stays untouched."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import visible
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.report.gates import records_of
from tcva_adapters.tables import (
    Record,
    Report,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers tell apart; line styles and marks differ, too.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#000000",
)
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_GREY = "#777777"
_WIDTH = 3.3
"""The width of a column of a paper, in inches."""

STYLE = {
    "font.size": 7.0,
    "axes.labelsize": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
}
"""Settings of matplotlib that the charts are drawn under."""

_MAX_NAMES = 12
"""The most methods for which the cells of the heat map show numbers."""


def draw_sweep(report: Report) -> Figure:
    """Draw the mean score over the temperature, a line per setting; for one, also the pass rate.

    Args:
        report: The report of `sweep`.
    """
    records = report.records("temperatures")
    figure, axes = _canvas(2.4)
    settings = dict.fromkeys(record["setting"] for record in records)
    for setting in settings:
        rows = [record for record in records if record["setting"] == setting]
        name = setting if len(settings) > 1 else "mean"
        _line(axes, _values(rows, "T"), _values(rows, "mean"), name)
    if len(settings) == 1:
        _line(axes, _values(records, "T"), _values(records, "pass_rate"), "pass rate")
    _finish(axes, "temperature T (low is strict)", "score")
    return figure


def draw_guarantee(report: Report) -> Figure:
    """Draw true and false passes over the threshold, with limits and the certified threshold.

    Args:
        report: The report of `calibrate` with ``max_false_pass`` or ``min_true_pass``.
    """
    records = report.records("thresholds")
    figure, axes = _canvas(2.4)
    curves = {
        "true_pass": "good answers that pass",
        "false_pass": "false passes",
        "bound": "upper bound",
    }
    places = _values(records, "up_to")
    for name, title in curves.items():
        _line(axes, places, _values(records, name), title, has_marks=False)
        axes.lines[-1].set_drawstyle("steps-post")  # from the highest threshold down
    for name in ("max_false_pass", "min_true_pass"):
        if limit := report.settings.get(name):
            axes.axhline(
                limit,
                color=_GREY,
                ls=":",
                label=f"limit {limit:g}",
            )
    if chosen := report.settings["guarantee"]:
        axes.axvline(
            chosen["setting"]["threshold"],
            color=_GREY,
            label="chosen"
            if report.settings["recommended"]
            else "certified, not recommended",
        )
    _finish(axes, "threshold", "share")
    return figure


def draw_agreement(report: Report) -> Figure:
    """Draw each method's rank correlation with human ratings and its interval, the best first.

    Args:
        report: The report of `validate`, or of `compare` with human ratings.
    """
    records = sorted(agreement_records(report), key=lambda record: -record["rho"])
    figure, axes = _canvas(0.8 + 0.22 * len(records))
    places = range(len(records))
    axes.hlines(
        places,
        _values(records, "low"),
        _values(records, "high"),
        color=_COLOURS[0],
    )
    axes.plot(_values(records, "rho"), places, "o", color=_COLOURS[0])
    axes.set_yticks(
        places,
        labels=[_label(f"{record['method']} (n={record['n']})") for record in records],
    )
    axes.set_ylim(len(records) - 0.5, -0.5)
    axes.axvline(0.0, color=_GREY)
    axes.set_xlabel("Spearman's rho with human ratings", x=1.0, ha="right")
    return figure


def draw_reliability(report: Report) -> Figure:
    """Draw the mean human rating by score, in bins with intervals; the dashed line is equality.

    Args:
        report: The report of `validate`.
    """
    bins = report.records("bins")
    figure, axes = _canvas(2.8)
    axes.plot((0.0, 1.0), (0.0, 1.0), color=_GREY, ls="--")
    scores = _values(bins, "score")
    axes.plot(scores, _values(bins, "rating"), "o", color=_COLOURS[0])
    axes.vlines(
        scores,
        _values(bins, "rating_low"),
        _values(bins, "rating_high"),
        color=_COLOURS[0],
    )
    axes.set(xlabel="mean score of the bin", ylabel="mean human rating")
    return figure


def draw_scatter(
    table: ScoreTable,
    across: str,
    up: str,
) -> Figure:
    """Draw one method against another; the area of a mark is its number of samples.

    Args:
        table: The scores; where people rated, the colour is their mean rating (dark is low), and
            hollow marks stand for samples that nobody rated.
        across: The method along the x-axis.
        up: The method along the y-axis.

    Raises:
        InvalidValueError: There is no such method.
    """
    both = table.common([across, up])
    places, inverse = np.unique(both.scores, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    sizes = np.clip(14.0 * np.bincount(inverse), 2.0, 150.0)
    known = np.isfinite(both.rating)
    rated = np.bincount(inverse[known], minlength=len(places))
    sums = np.bincount(
        inverse[known],
        both.rating[known],
        len(places),
    )
    ratings = np.divide(sums, rated, out=np.full(len(places), np.nan), where=rated > 0)

    figure, axes = _canvas(3.1)
    x, y = places.T
    marks = axes.scatter(
        x,
        y,
        sizes,
        ratings,
        cmap=colormaps["cividis"].with_extremes(bad="none"),
        plotnonfinite=True,
        edgecolors="black",
        lw=0.4,
        alpha=0.85,
    )
    if known.any():
        figure.colorbar(marks, ax=axes, shrink=0.7, label="mean human rating")
    axes.axline(
        (0.0, 0.0),
        slope=1.0,
        color=_GREY,
        ls=":",
        zorder=0,
    )
    axes.set(xlabel=_label(across), ylabel=_label(up))
    return figure


def draw_asl(report: Report) -> Figure:
    """Draw the p of all pairs of systems in falling order, a curve for each metric.

    The curve of a metric that separates more pairs falls earlier; its discriminative power is in
    brackets.

    Args:
        report: The report of `systems`.
    """
    rows = report.records("metrics")
    figure, axes = _canvas(2.2 + 0.15 * len(rows))
    for row in rows:
        name = f"{row['metric']} ({row['discriminative_power'] or 0.0:.2f})"
        levels = row["asl"][::-1]
        _line(
            axes,
            range(1, len(levels) + 1),
            levels,
            name,
        )
    axes.axhline(
        report.settings["alpha"],
        color=_GREY,
        ls=":",
    )
    axes.locator_params(axis="x", integer=True)
    _finish(axes, "pairs of systems, by p", "achieved significance level")
    return figure


def draw_correlations(report: Report) -> Figure:
    """Draw rank correlations of methods, or of metrics averaged over systems, as a heat map.

    Args:
        report: The report of `compare` or `systems`.
    """
    values = correlation_by_pair(report)
    names = list(dict.fromkeys(name for pair in values for name in pair))
    matrix: FloatArray = np.eye(len(names))
    matrix[matrix == 0.0] = np.nan
    for (first, second), value in values.items():
        i = names.index(first)
        j = names.index(second)
        matrix[i, j] = matrix[j, i] = np.nan if value is None else value

    side = 2.1 + 0.45 * len(names)
    figure, axes = _canvas(0.86 * side, side)
    image = axes.pcolormesh(
        matrix,
        cmap="PuOr",
        vmin=-1.0,
        vmax=1.0,
        ec="white",
        lw=0.4,
    )
    axes.set_aspect("equal")
    axes.invert_yaxis()
    centres = np.arange(len(names)) + 0.5
    labels = [_label(name) for name in names]
    axes.set_xticks(centres, labels=labels, rotation=90)
    axes.set_yticks(centres, labels=labels)
    if len(names) <= _MAX_NAMES:
        for (row, column), value in np.ndenumerate(matrix):
            axes.text(
                column + 0.5,
                row + 0.5,
                "-" if np.isnan(value) else f"{value:.2f}",
                ha="center",
                va="center",
                color="white" if abs(value) > 0.6 else "black",
            )
    figure.colorbar(image, ax=axes, shrink=0.7, label="Spearman's rho")
    return figure


def agreement_records(report: Report) -> list[Record]:
    """Return method, n, rho and its interval for each method whose rho is defined."""
    rows = records_of(report, "agreement")
    name = "spearman"
    if not rows:
        rows = records_of(report, "human ratings")
        name = "agreement"
    return [
        {
            "method": row["method"],
            "n": row["n"],
            "rho": row[name],
            "low": row[f"{name}_low"],
            "high": row[f"{name}_high"],
        }
        for row in map(plain, rows)
        if row.get(name) is not None and row.get("measure", "spearman") == "spearman"
    ]


def correlation_by_pair(report: Report) -> dict[tuple[str, str], float | None]:
    """Return the correlation of each pair of methods, or of metrics."""
    return {
        (row["metric"], row["other_metric"]): row["spearman"]
        for row in records_of(report, "correlations")
    } or {
        (row["first"], row["second"]): row["rho"]
        for row in records_of(report, "pairs")
        if "rho" in row
    }


def _values(records: Sequence[Record], name: str) -> FloatArray:
    return np.array([record.get(name) for record in records], dtype=np.float64)


def _canvas(height: float, width: float = _WIDTH) -> tuple[Figure, Axes]:
    """Make a figure and axes without pyplot, whose list of figures stays untouched."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def _line(
    axes: Axes,
    places: ArrayLike,
    heights: ArrayLike,
    name: str,
    *,
    has_marks: bool = True,
) -> None:
    """Draw a curve in a style of its own; a height of nan leaves a gap."""
    number = len(axes.lines)
    axes.plot(
        places,
        heights,
        color=_COLOURS[number % len(_COLOURS)],
        ls=_LINES[number % len(_LINES)],
        marker=_MARKS[number % len(_MARKS)] if has_marks else "",
        label=_label(name),
    )


def _finish(
    axes: Axes,
    across: str,
    up: str,
) -> None:
    """Label axes of shares, and put the legend above them, where it hides nothing."""
    axes.set(
        xlabel=across,
        ylabel=up,
        ylim=(-0.02, 1.02),
    )
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
    )


def _label(text: str) -> str:
    r"""Make a label of a name from a file: a few lines, cut at their end, in which $ begins no formula.

    >>> print(_label("costs $5"))
    costs \$5
    """
    line = visible(" ".join(text.split()))
    return "\n".join(
        textwrap.wrap(
            line,
            28,
            max_lines=3,
            placeholder="…",
        )
    ).replace("$", r"\$")

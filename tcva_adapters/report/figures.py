"""Figures for papers and notebooks, drawn of reports and score tables; pyplot's state stays untouched.

They need matplotlib, the extra ``plots``.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import visible
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError, MissingDependencyError, install_hint
from tcva_adapters.samples.whole_files import make_folder, replacing, usable_path
from tcva_adapters.tables import Record, Report

try:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError:
    msg = f"figures need matplotlib: {install_hint('plots')}"
    raise MissingDependencyError(msg) from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Source = Report | ScoreTable
_Look = dict[str, Any]
_Heights = Sequence[float | None]

# Okabe and Ito's colours, which colour-blind readers tell apart; line styles and marks differ, too.
_COLOURS: Final = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#000000",
)
_LINES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKS: Final = ("o", "s", "^", "D", "v", "P", "X")
_GREY: Final = "#777777"
_WIDTH, _DPI, _TEXT, _SMALL = 3.3, 200, 8.0, 7.0
"""Of a column of a paper in inches; dots per inch; points."""
_MOST: Final = 12
"""Methods whose correlations have their number written into the cell."""
_SOFTWARE: Final = "tcva-adapters"
# Without dates and matplotlib's version the same figures give the same bytes. By the mark a file
# is known for one that was drawn here.
_FORMATS: Final[dict[str, tuple[dict[str, str | None], bytes]]] = {
    "png": ({"Software": _SOFTWARE}, b"Software\0tcva-adapters"),
    "svg": (
        {
            "Date": None,
            "Creator": None,
            "Title": _SOFTWARE,
        },
        b"<dc:title>tcva-adapters</dc:title>",
    ),
    "pdf": (
        {
            "CreationDate": None,
            "Creator": None,
            "Producer": _SOFTWARE,
        },
        b"/Producer (tcva-adapters)",
    ),
}
_UNSAFE: Final = re.compile(r"[^\w.=-]+")
# Text stays text in vector files, and their inner names do not change from run to run.
_RC: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": _SOFTWARE,
}


def save_figures(
    source: Source,
    folder: str | Path,
    *,
    format: str = "png",  # noqa: A002  # what everyone calls it
    overwrite: bool = False,
) -> list[Path]:
    """Draw all figures of a report, or of a table, into a folder.

    A table has a scatter of its first method against each other one. A report has what its tables
    give: the ``sweep`` over temperatures, the thresholds of a ``guarantee``, ``agreement`` with
    human ratings, ``reliability``, ``asl`` of systems, and ``correlations`` of methods or metrics.

    Args:
        source: What a function of `tcva_adapters.compare` returned.
        folder: Made if it is not there; figures that were drawn here before are replaced.
        format: ``png``, ``svg`` or ``pdf``.
        overwrite: Replace other files of these names, too.

    Returns:
        The files; the same data give the same bytes.

    Raises:
        InvalidValueError: Nothing to draw, another format, or a file that cannot be written or is
            of something else.
        MissingDependencyError: matplotlib is not installed.
    """
    if format not in _FORMATS:
        msg = f"{format} is no format of figures; they are {', '.join(_FORMATS)}"
        raise InvalidValueError(msg)
    drawings = dict(figures_of(source))
    if not drawings:
        msg = (
            "nothing to draw: give a table of two methods, or a report that has figures"
        )
        raise InvalidValueError(msg)
    try:
        make_folder(usable_path(folder))
    except OSError as error:
        msg = f"cannot write figures to {folder}: {error.strerror or error}; give another folder"
        raise InvalidValueError(msg) from error
    metadata, mark = _FORMATS[format]
    written = []
    for name, draw in drawings.items():
        path = usable_path(folder) / f"{_UNSAFE.sub('-', name)}.{format}"
        stream = io.BytesIO()
        with mpl.rc_context(_RC):
            draw().savefig(
                stream,
                format=format,
                dpi=_DPI,
                metadata=metadata,
            )
        drawn_here = path.is_file() and mark in path.read_bytes()
        with replacing(
            path, ours=re.compile(rb"(?!)"), overwrite=overwrite or drawn_here
        ) as file:
            file.write(stream.getvalue())
        written.append(path)
    return written


def figures_of(source: Source) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """The figures of a report or a table by name, each drawn when it is called."""
    if isinstance(source, ScoreTable):
        first, *others = source.methods or ("",)
        for other in others:
            if len(source.common([first, other])):
                yield f"scatter-{other}", partial(scatter, source, other, first)
        return
    titles = {table.title for table in source.tables if table.records}
    drawings = {
        sweep_curve: "temperatures" in titles,
        guarantee: "thresholds" in titles,
        agreement: titles & {"agreement", "human ratings"} and _agreements(source),
        reliability: "bins" in titles,
        asl: "metrics" in titles,
        correlations: titles & {"correlations", "pairs"} and _correlations(source),
    }
    for draw, has_records in drawings.items():
        if has_records:
            yield draw.__name__.removesuffix("_curve"), partial(draw, source)


def sweep_curve(report: Report) -> Figure:
    """Mean score over the temperature, a line for each setting; of one setting also the pass rate.

    Args:
        report: Of `sweep`.
    """
    records = report.records("temperatures")
    figure, axes = _canvas(2.4)
    settings = list(dict.fromkeys(record["setting"] for record in records))
    figures = ("mean",) if len(settings) > 1 else ("mean", "pass_rate")
    curves = [(setting, name) for setting in settings for name in figures]
    for number, (setting, name) in enumerate(curves):
        own = [record for record in records if record["setting"] == setting]
        title = setting if len(settings) > 1 else name.replace("_", " ")
        _line(axes, [r["T"] for r in own], [r.get(name) for r in own], number, title)
    axes.set(
        xlabel="temperature T (low is strict)",
        ylabel="score",
        ylim=(-0.02, 1.02),
    )
    _legend(axes)
    return figure


def guarantee(report: Report) -> Figure:
    """What passes over the threshold, with the limits and the chosen threshold.

    Args:
        report: Of `calibrate` with ``max_false_pass`` or ``min_true_pass``.
    """
    records = report.records("thresholds")
    figure, axes = _canvas(2.4)
    lines = {"true_pass": "good answers that pass", "false_pass": "false passes"}
    lines["bound"] = "upper bound"
    for number, (name, title) in enumerate(lines.items()):
        places, heights = (
            [record[key] for record in records] for key in ("threshold", name)
        )
        _line(axes, places, heights, number, title, marker="")
    for limit in filter(
        None, map(report.settings.get, ("max_false_pass", "min_true_pass"))
    ):
        axes.axhline(
            limit,
            color=_GREY,
            ls=":",
            lw=1.0,
            label=f"limit {limit:g}",
        )
    if found := report.settings["guarantee"]:
        axes.axvline(
            found["setting"]["threshold"],
            color=_GREY,
            lw=1.0,
            label="chosen",
        )
    axes.set(
        xlabel="threshold",
        ylabel="share",
        ylim=(-0.02, 1.02),
    )
    _legend(axes)
    return figure


def agreement(report: Report) -> Figure:
    """Each method's rank correlation with human ratings, the best first, with its interval.

    Args:
        report: Of `validate`, or of `compare` with human ratings.
    """
    records = sorted(_agreements(report), key=lambda record: -record["rho"])
    figure, axes = _canvas(0.8 + 0.22 * len(records))
    for place, record in enumerate(records):
        if record["low"] is not None:
            axes.plot(
                [record["low"], record["high"]],
                [place, place],
                color=_COLOURS[0],
                lw=1.6,
            )
        axes.plot([record["rho"]], [place], "o", ms=4.0, color=_COLOURS[0])
    names = [_label(f"{record['method']} (n={record['n']})") for record in records]
    axes.set_yticks(range(len(records)), labels=names)
    axes.set_ylim(len(records) - 0.5, -0.5)
    axes.axvline(0.0, color=_GREY, lw=0.6)
    axes.set_xlabel("Spearman's rho with human ratings", x=1.0, ha="right")
    return figure


def reliability(report: Report) -> Figure:
    """Mean human rating by score, in bins with their intervals; on the dashed line the two agree.

    Args:
        report: Of `validate`.
    """
    bins = report.records("bins")
    figure, axes = _canvas(2.8)
    axes.plot(
        (0.0, 1.0),
        (0.0, 1.0),
        color=_GREY,
        ls="--",
        lw=0.8,
    )
    axes.plot(
        [b["score"] for b in bins],
        [b["rating"] for b in bins],
        "o",
        ms=4.0,
        color=_COLOURS[0],
    )
    for one in bins:
        if one["rating_low"] is not None:
            ends = [one["rating_low"], one["rating_high"]]
            axes.plot([one["score"]] * 2, ends, color=_COLOURS[0], lw=1.2)
    axes.set(xlabel="mean score of the bin", ylabel="mean human rating")
    return figure


def scatter(table: ScoreTable, across: str, up: str) -> Figure:
    """One method against another, sample by sample; the area of a mark is its number of samples.

    Args:
        table: The scores; where people rated, the colour is their mean rating (dark is low), and
            crosses stand for samples that nobody rated.
        across: The method along the x-axis.
        up: The other one.

    Raises:
        InvalidValueError: No such method.
    """
    both = table.common([across, up])
    places, inverse = np.unique(both.scores, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    sizes = np.clip(14.0 * np.bincount(inverse), 2.0, 150.0)
    known = np.isfinite(both.rating)
    rated = np.bincount(inverse[known], minlength=len(places))
    sums = np.bincount(inverse[known], both.rating[known], len(places))
    figure, axes = _canvas(3.1)
    shown = rated > 0
    marks: _Look = {
        "lw": 0.4,
        "edgecolors": "black",
        "alpha": 0.85,
    }
    if shown.any():
        colours = sums[shown] / rated[shown]
        x, y = places[shown].T
        drawn = axes.scatter(x, y, sizes[shown], colours, cmap="cividis", **marks)
        _bar(figure, axes, drawn, "mean human rating")
    if not shown.all():
        x, y = places[~shown].T
        axes.scatter(
            x,
            y,
            sizes[~shown],
            color=_COLOURS[4],
            marker="X",
            **marks,
        )
    axes.axline(
        (0.0, 0.0),
        slope=1.0,
        color=_GREY,
        ls=":",
        lw=0.8,
        zorder=0,
    )
    axes.set(xlabel=_label(across), ylabel=_label(up))
    return figure


def asl(report: Report) -> Figure:
    """Which metric tells systems apart: the p of all pairs of systems, falling, for each metric.

    The curve of a metric that tells more apart falls earlier; in brackets is its discriminative
    power.

    Args:
        report: Of `systems`.
    """
    rows = report.records("metrics")
    figure, axes = _canvas(2.2 + 0.15 * len(rows))
    for number, row in enumerate(rows):
        name = f"{row['metric']} ({row['discriminative_power'] or 0.0:.2f})"
        _line(axes, range(1, len(row["asl"]) + 1), row["asl"][::-1], number, name)
    axes.axhline(
        report.settings["alpha"],
        color=_GREY,
        ls=":",
        lw=1.0,
    )
    axes.locator_params(axis="x", integer=True)
    axes.set(
        xlabel="pairs of systems, by p",
        ylabel="achieved significance level",
        ylim=(-0.02, 1.02),
    )
    _legend(axes)
    return figure


def correlations(report: Report) -> Figure:
    """Rank correlations of methods, or of metrics averaged over systems, as a heat map.

    Args:
        report: Of `compare` or `systems`.
    """
    values = _correlations(report)
    names = list(dict.fromkeys(name for pair in values for name in pair))
    matrix: FloatArray = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(matrix, 1.0)
    for pair, value in values.items():
        i, j = map(names.index, pair)
        matrix[i, j] = matrix[j, i] = np.nan if value is None else value
    figure, axes = _canvas(0.86 * (side := 2.1 + 0.45 * len(names)), side)
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
    axes.set_xticks(centres, labels=[_label(name) for name in names], rotation=90)
    axes.set_yticks(centres, labels=[_label(name) for name in names])
    for (row, column), value in np.ndenumerate(matrix):
        if len(names) <= _MOST:
            text = "-" if np.isnan(value) else f"{value:.2f}"
            colour = "white" if abs(value) > 0.6 else "black"
            axes.text(
                column + 0.5,
                row + 0.5,
                text,
                ha="center",
                va="center",
                color=colour,
                fontsize=_SMALL,
            )
    _bar(figure, axes, image, "Spearman's rho")
    return figure


def _agreements(report: Report) -> list[Record]:
    """Method, n, rho and its ends; of those whose rho is defined."""
    titles = [table.title for table in report.tables]
    validated = "agreement" in titles
    name = "spearman" if validated else "agreement"
    rows = report.records("agreement" if validated else "human ratings")
    return [
        {
            "method": r["method"],
            "n": r["n"],
            "rho": r[name],
            "low": r[f"{name}_low"],
            "high": r[f"{name}_high"],
        }
        for r in rows
        if r.get(name) is not None and r.get("measure", "spearman") == "spearman"
    ]


def _correlations(report: Report) -> dict[tuple[str, str], float | None]:
    """By pair of methods, or of metrics."""
    if any(table.title == "correlations" for table in report.tables):
        rows = report.records("correlations")
        return {(r["metric"], r["other_metric"]): r["spearman"] for r in rows}
    return {
        (r["first"], r["second"]): r["rho"]
        for r in report.records("pairs")
        if "rho" in r
    }


def _canvas(height: float, width: float = _WIDTH) -> tuple[Figure, Axes]:
    """A figure of its own: pyplot's list of figures and its current one stay untouched."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(
        labelsize=_SMALL,
        width=0.6,
        length=2.5,
    )
    for each in (axes.xaxis, axes.yaxis):
        each.label.set_fontsize(_TEXT)
    axes.set_axisbelow(True)
    return figure, axes


def _line(
    axes: Axes,
    places: Sequence[float],
    heights: _Heights,
    number: int,
    name: str,
    **other: Any,
) -> None:
    looks = {
        "color": _COLOURS,
        "ls": _LINES,
        "marker": _MARKS,
    }
    look: _Look = {key: each[number % len(each)] for key, each in looks.items()} | other
    values = np.array(heights, dtype=np.float64)
    axes.plot(
        places,
        values,
        ms=3.0,
        lw=1.2,
        label=_label(name),
        **look,
    )


def _bar(
    figure: Figure,
    axes: Axes,
    coloured: Any,
    name: str,
) -> None:
    """What colours stand for."""
    bar = figure.colorbar(coloured, ax=axes, shrink=0.7)
    bar.set_label(name, fontsize=_SMALL)
    bar.ax.tick_params(labelsize=_SMALL)


def _legend(axes: Axes) -> None:
    """Above the axes, where it hides nothing."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        fontsize=_SMALL,
        frameon=False,
        ncols=2,
    )


def _label(text: str) -> str:
    r"""A name from a file as a label: visible, in a few lines, cut at their end; $ begins no formula.

    >>> print(_label("costs $5"))
    costs \$5
    """
    lines = textwrap.wrap(
        visible(" ".join(text.split())), 28, max_lines=3, placeholder="…"
    )
    return "\n".join(lines).replace("$", r"\$")

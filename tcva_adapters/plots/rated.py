"""Methods against human ratings: agreement with intervals, and reliability."""

from __future__ import annotations

import math
from itertools import compress
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tcva_adapters.compare.ccrs_ratings import RatedCCRS
from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.views.human_ratings import HumanRatings, compare_with_ratings
from tcva_adapters.compare.views.summary import TableSummary
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.plots.canvas import (
    COLOURS,
    GREY,
    SMALL,
    TICKS,
    Width,
    canvas,
    label,
    legend,
    name_x,
)
from tcva_adapters.plots.grouped import Groups, share_ends
from tcva_adapters.plots.sources import Scores, leading, limits_of, ratings_of, table_of
from tcva_adapters.stats.ceiling import Ceiling
from tcva_adapters.stats.checks import BoolArray, one_of, whole
from tcva_adapters.stats.correlation import Measure, check_measure
from tcva_adapters.stats.interval import Interval

_AXIS: Final[dict[Measure, str]] = {
    "spearman": "Spearman's rho with human ratings",
    "kendall": "Kendall's tau with human ratings",
    "pearson": "Pearson's r with human ratings",
    "mae": "mean absolute error to human ratings",
}


def agreement(
    source: TableSummary | HumanRatings | Scores,
    *,
    measure: Measure = "spearman",
    on: Literal["own", "common"] = "own",
    human: npt.ArrayLike | None = None,
    n_boot: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """How well each method agrees with human ratings, the best first, with its interval.

    Filled marks are TCVA's (of bare scores, the first method's). Methods whose agreement is not
    defined stand at the bottom without a mark. Of a comparison with several raters, lines are what
    one more rater reaches, and what a method that gives the truth does.

    Args:
        source: A comparison, its summary or its human ratings; or scores, see `Scores`.
        measure: ``spearman``, ``kendall``, ``pearson`` or ``mae``.
        on: ``own``: the samples that the method has scored; ``common``: those that all have.
        human: Ratings for bare scores, shape (N,).
        n_boot: Resamples, for bare scores.
        level: Of their intervals.
        seed: Of their resamples.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No human ratings, or a measure that is unknown or was left out.
        MissingDependencyError: scipy is not installed.
    """
    check_measure(measure)
    one_of("set of samples", on, ("own", "common"))
    ratings, ours = _ratings(
        source, measure, human, {"n_boot": n_boot, "level": level, "seed": seed}
    )
    found = {a.method: getattr(a, on) for a in ratings.agreements if a.measure == measure}
    if not found:
        why = dict(ratings.left_out).get(measure, "it was not computed")
        msg = f"no {measure} with human ratings: {why}"
        raise InvalidValueError(msg)
    sign = 1.0 if measure == "mae" else -1.0
    ranked = sorted(found.items(), key=lambda item: _rank(sign * item[1].value))
    names = [label(f"{method} (n={one.n})") for method, one in ranked]
    figure, axes = canvas(ax, width, 0.75 + 0.125 * sum(1.35 + name.count("\n") for name in names))
    place = 0.0
    places = []
    for name in names:  # a name in several lines has more room
        half = (1.35 + name.count("\n")) / 2
        places.append(place + half)
        place += 2 * half
    for height, (method, one) in zip(places, ranked, strict=True):
        _interval(axes, height, one, filled=method in ours)
    axes.set_yticks(places, labels=names)
    axes.tick_params(axis="y", length=0.0)
    axes.set_ylim(place + 0.4, -0.4)
    if measure != "mae":
        axes.axvline(0.0, color=GREY, lw=0.6)
    if isinstance(source, Comparison) and source.raters is not None and human is None:
        _ceilings(axes, source.raters.ceiling, measure)
    axes.grid(axis="x", lw=0.3, color="0.85")
    name_x(axes, f"{_AXIS[measure]}, {next(iter(found.values())).level:.0%} interval")
    return figure


def reliability(
    source: Scores,
    method: str | None = None,
    *,
    human: npt.ArrayLike | None = None,
    pass_from: float = 0.5,
    bins: int = 10,
    level: float = 0.95,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """Do scores say how often humans would pass an answer? Scores in bins, and humans' pass share.

    Each mark stands at the mean score of its bin, with the exact interval of the share of its
    samples whose human rating passes, by group where the comparison is. The bars above count the samples of each bin. On the dashed
    line a score is that share.

    Args:
        source: Scores, see `Scores`.
        method: Which; by default TCVA's middle temperature of a comparison, else the first.
        human: Ratings, shape (N,), in place of those that come with the scores.
        pass_from: A human rating passes from here on, on its own scale.
        bins: Of one width, over [0, 1] or the method's own range where it goes beyond.
        level: Of the intervals.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No such method, no human ratings, or no sample with both.
    """
    bins = whole("bins", bins, least=1)
    if not isinstance(pass_from, int | float) or not math.isfinite(pass_from):
        msg = f"pass_from is {pass_from!r}; give the human rating from which on an answer passes"
        raise InvalidValueError(msg)
    table = table_of(source, human)
    ratings = ratings_of(table)
    name = leading(source, table)[0] if method is None else method
    column = table.column(name)
    both = np.isfinite(column) & np.isfinite(ratings)
    if not both.any():
        msg = f"no sample has a score of {name!r} and a human rating"
        raise InvalidValueError(msg)
    scores, passed = column[both], ratings[both] >= pass_from
    edges = np.linspace(*limits_of(scores), bins + 1)
    places = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, bins - 1)
    figure, axes = canvas(ax, width, 2.9)
    shown = np.unique(places)
    groups = source.groups if isinstance(source, Comparison | RatedCCRS) else None
    points = np.array(
        [_bin(scores, passed, places == i, _some(groups, both), level) for i in shown]
    )
    axes.plot(edges[[0, -1]], (0.0, 1.0), color=GREY, ls="--", lw=0.8, label="score = share")
    axes.errorbar(
        points[:, 0], points[:, 1], yerr=points[:, 2:].T, fmt="o", ms=3.5, lw=1.0, capsize=2.0,
        color=COLOURS[0], label=f"share, {level:.0%} interval",
    )  # fmt: skip
    axes.set(xlim=edges[[0, -1]], ylim=(-0.03, 1.03))
    axes.set(xlabel=label(name, 30), ylabel=f"share of human ratings ≥ {pass_from:g}")
    axes.legend(fontsize=SMALL, frameon=False, loc="best")
    above = axes.inset_axes((0.0, 1.04, 1.0, 0.2), sharex=axes)
    marginal(above, scores, edges)
    return figure


def marginal(axes: Axes, scores: FloatArray, edges: FloatArray, *, upright: bool = False) -> None:
    """A histogram beside the axes of a figure, with its largest count."""
    counts = np.histogram(scores, edges)[0]
    options: dict[str, Any] = {"color": "0.8", "ec": "0.3", "lw": 0.4, "align": "edge"}
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(**TICKS)
    most = max(1, int(counts.max()))
    if upright:
        axes.barh(edges[:-1], counts, np.diff(edges), **options)
        axes.tick_params(labelleft=False)
        axes.set_xticks([most])
        axes.set_xlim(0, most)
    else:
        axes.bar(edges[:-1], counts, np.diff(edges), **options)
        axes.tick_params(labelbottom=False)
        axes.set_yticks([most])
        axes.set_ylim(0, most)


def _ratings(
    source: TableSummary | HumanRatings | Scores,
    measure: Measure,
    human: npt.ArrayLike | None,
    resampled: dict[str, Any],
) -> tuple[HumanRatings, set[str]]:
    """The agreements, and which methods are ours."""
    if isinstance(source, HumanRatings):
        return source, {a.method for a in source.agreements if a.method.startswith("tcva ")}
    if isinstance(source, Comparison | TableSummary) and human is None:
        summary = source.summary if isinstance(source, Comparison) else source
        if summary.human_ratings is None:
            why = [note for note in summary.notes if "human ratings" in note]
            msg = "; ".join(["there are no human ratings; compare with human=...", *why])
            raise InvalidValueError(msg)
        return _ratings(summary.human_ratings, measure, None, resampled)
    if isinstance(source, TableSummary):
        msg = "a summary has its own human ratings; give the comparison, or its table, with human="
        raise InvalidValueError(msg)
    table = table_of(source, human)
    ratings_of(table)
    lead, others = leading(source, table)
    ours = set() if isinstance(source, RatedCCRS) else {lead, *(set(table.methods) - set(others))}
    groups = source.groups if isinstance(source, RatedCCRS) else None
    return compare_with_ratings(table, measures=[measure], groups=groups, **resampled), ours


def _rank(value: float) -> tuple[bool, float]:
    return math.isnan(value), value


def _ceilings(axes: Axes, found: Ceiling, measure: Measure) -> None:
    """How good a method can get, where the raters tell."""
    if measure != found.measure or math.isnan(found.best.value):
        return
    for style, value, name in (
        (":", found.one_more.value, "one more rater"),
        ("--", found.best.value, "the truth"),
    ):
        axes.axvline(value, color=GREY, ls=style, lw=1.0, label=f"{name} ({value:.2f})")
    legend(axes)


def _interval(axes: Axes, height: float, one: Interval, *, filled: bool) -> None:
    colour = COLOURS[0] if filled else "black"
    axes.plot([one.low, one.high], [height, height], color=colour, lw=1.8 if filled else 1.0)
    axes.plot(
        [one.value], [height], ls="", marker="o" if filled else "s", ms=4.0, mew=1.0, mec=colour,
        mfc=colour if filled else "white",
    )  # fmt: skip


def _some(groups: Groups, kept: BoolArray) -> Groups:
    return None if groups is None else list(compress(groups, kept.tolist()))


def _bin(
    scores: FloatArray, passed: BoolArray, here: BoolArray, groups: Groups, level: float
) -> list[float]:
    """Mean score, share that passes, and how far the interval reaches below and above it."""
    share = float(passed[here].mean())
    low, high = share_ends(passed[here], groups, here, level)
    return [float(scores[here].mean()), share, share - low, high - share]

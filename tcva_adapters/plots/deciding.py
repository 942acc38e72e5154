"""Decisions in pictures: from which temperature on samples pass, and what that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.views.decisions import DecisionView, MethodDecisions, SampleDecision
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.plots.canvas import COLOURS, SMALL, Width, canvas, label, legend, mark_cliff
from tcva_adapters.plots.sources import Dial, DialSource
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import whole

_BINS: Final = 18


def flips(
    source: DialSource,
    *,
    scoring: ScoringConfig | None = None,
    bins: int = _BINS,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """How many samples begin to pass at which temperature.

    Bars of their own stand for the samples that pass at every temperature, that never pass, and
    that have no score; only what lies between depends on the dial.

    Args:
        source: Judgements, see `DialSource`.
        scoring: Settings, the threshold among them; by default the source's own.
        bins: Of the histogram.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: A setting out of range. Further errors as for `Judged.of`.
    """
    bins = whole("bins", bins, least=1)
    dial = Dial.of(source, scoring)
    bounds = dial.scoring.bounds
    found = dial.flips()
    always = int((found <= bounds.t_min).sum())
    never, unscored = int(np.isposinf(found).sum()), int(np.isnan(found).sum())
    between = found[np.isfinite(found) & (found > bounds.t_min)]
    edges = np.linspace(bounds.t_min, bounds.t_max, bins + 1)
    counts = np.histogram(between, edges)[0]
    figure, axes = canvas(ax, width, 2.3)
    step = edges[1] - edges[0]
    beside = max(step, (bounds.t_max - bounds.t_min) / 14)
    ends = {
        "always": (bounds.t_min - 1.5 * beside, always, "", "always passes"),
        "never": (bounds.t_max + 1.5 * beside, never, "////", "never passes"),
    }
    if unscored:
        ends["no score"] = (bounds.t_max + 3.7 * beside, unscored, "....", "no score")
    axes.bar(
        edges[:-1], counts, step, align="edge", color=COLOURS[4], ec="black", lw=0.4,
        label="passes from T on",
    )  # fmt: skip
    for place, height, hatch, _ in ends.values():
        bar = axes.bar(place, height, beside, color="white", ec="black", lw=0.6, hatch=hatch)
        axes.bar_label(bar, fontsize=SMALL, padding=1.0)
    ticks = np.linspace(bounds.t_min, bounds.t_max, 4)
    axes.set_xticks(
        [*ticks, *(end[0] for end in ends.values())],
        labels=[*(f"{tick:.2g}" for tick in ticks), *ends],
    )
    _turn(axes, len(ends))
    axes.locator_params(axis="y", integer=True)
    axes.margins(y=0.12)
    mark_cliff(axes, dial.cliff)
    axes.set(xlabel=f"passes {dial.scoring.threshold:g} from temperature T on", ylabel="samples")
    legend(axes)
    return figure


def decisions(
    source: Comparison | DecisionView | MethodDecisions,
    method: str | None = None,
    *,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """Which decisions TCVA changes against another method, over the temperature.

    Above the line stand samples that pass under TCVA and fail under the other method, below it
    those that fail under TCVA and pass under the other. The curves are exact steps. A dashed line
    is where the two agree most often.

    Args:
        source: A comparison, its decisions, or those against one method.
        method: The other method; by default the first.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No such method, or no sample that both have scored.
    """
    bounds = source.tcva.scoring.bounds if isinstance(source, Comparison) else PAPER_BOUNDS
    found = _decisions(source, method)
    if not found.samples:
        msg = f"no sample has a score of TCVA and of {found.method!r}; choose another method"
        raise InvalidValueError(msg)
    gained = changed_at([s for s in found.samples if not s.passes], bounds)
    lost = changed_at([s for s in found.samples if s.passes], bounds)
    figure, axes = canvas(ax, width, 2.4)
    for (edges, counts), sign, number, hatch, name in (
        (gained, 1, 0, "", "passes under TCVA only"),
        (lost, -1, 1, "////", "fails under TCVA only"),
    ):
        axes.stairs(
            sign * counts, edges, fill=True, fc=(COLOURS[number], 0.5), ec=COLOURS[number],
            hatch=hatch, lw=0.9, label=name,
        )  # fmt: skip
    axes.axhline(0.0, color="black", lw=0.6)
    if found.best is not None:
        best = found.best
        axes.axvline(
            best.temperature, color="black", ls="--", lw=1.0,
            label=f"most agreement: {best.most} of {best.of}, T = {best.temperature:.2f}",
        )  # fmt: skip
    up, down = float(gained[1].max()), float(lost[1].max())
    least = max(1.0, up, down) / 8  # so that an empty side is seen to be empty
    axes.set(
        xlim=(bounds.t_min, bounds.t_max), ylim=(-1.1 * max(down, least), 1.1 * max(up, least))
    )
    axes.locator_params(axis="y", integer=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    axes.set(xlabel="temperature T (low is strict)", ylabel="samples")
    against = f"against {found.method} ≥ {found.threshold:g}"
    legend(axes, title=label(against, 36), title_fontsize=SMALL, alignment="left")
    return figure


def changed_at(samples: Sequence[SampleDecision], bounds: Bounds) -> tuple[FloatArray, FloatArray]:
    """How many of these decisions differ from ours, as steps over the temperature.

    Args:
        samples: The decisions of another method.
        bounds: The scale's ends.

    Returns:
        Edges, shape (K + 1,), and counts between them, shape (K,).
    """
    ends = {bounds.t_min, bounds.t_max}
    ends |= {span.start for each in samples for span in each.agrees}
    ends |= {span.end for each in samples for span in each.agrees if span.end is not None}
    edges = np.array(sorted(end for end in ends if end <= bounds.t_max))
    steps = np.zeros(len(edges))
    for each in samples:
        for span in each.agrees:
            steps[np.searchsorted(edges, span.start)] += 1
            if span.end is not None and span.end <= bounds.t_max:
                steps[np.searchsorted(edges, span.end)] -= 1
    return edges, len(samples) - np.cumsum(steps)[:-1]


def _decisions(
    source: Comparison | DecisionView | MethodDecisions, method: str | None
) -> MethodDecisions:
    if isinstance(source, MethodDecisions):
        return source
    given: Any = source.decisions if isinstance(source, Comparison) else source
    if not isinstance(given, DecisionView):
        msg = f"no decisions in {type(source).__name__!r}; give a comparison or its decisions"
        raise InvalidValueError(msg)
    known = {found.method: found for found in given.methods}
    name = next(iter(known), "") if method is None else method
    if name not in known:
        msg = f"no method {name!r} beside TCVA; there are {', '.join(known) or 'none'}"
        raise InvalidValueError(msg)
    return known[name]


def _turn(axes: Axes, ends: int) -> None:
    """Words at the ends stand upright: they have no room beside the numbers."""
    for text in axes.get_xticklabels()[-ends:]:
        text.set_rotation(90)

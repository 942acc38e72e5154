"""Figures 4 to 9 of the paper from reproduced tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from tcva_adapters.compare.paper.digits import CONFIGURATIONS, METHODS, PaperDigits
from tcva_adapters.compare.paper.reproduction import Reproduction
from tcva_adapters.compare.paper.tables import paper_scores
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.core.verdicts import SCHEMES
from tcva_adapters.plots.canvas import (
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    TEXT,
    canvas,
    label,
    legend,
    name_x,
    new_figure,
)

_RHO: Final = "Spearman's rho with human ratings"
_PAPER: Final = "the paper's figure"
_HATCHES: Final = ("", "////", "....", "xxxx")

Heights = Mapping[str, float]
"""Of the bars of one set, by series."""


def pictures_of(found: Sequence[Reproduction]) -> dict[str, Callable[[], Figure]]:
    """Figures 4 to 9 of the paper by name, drawn of these sets.

    4 rho by method, 5 rho by temperature with RAGAS as lines, 6 weight schemes, 7 the intervals of
    Table 8, 8 ablation, 9 scores at T=0.5 against human ratings, one panel per set. What a set has
    no data for is left out of its figure.
    """
    schemes = dict(zip(SCHEMES, SCHEMES, strict=True))
    bars = partial(_bars, found)
    return {
        "figure4": lambda: bars(METHODS, _rhos, _paper_rhos),
        "figure5": lambda: _by_temperature(found),
        "figure6": lambda: bars(schemes, lambda r: r.table7, PaperDigits.table7),
        "figure7": lambda: _intervals(found),
        "figure8": lambda: bars(CONFIGURATIONS, lambda r: r.table9, PaperDigits.table9),
        "figure9": lambda: _scatter(found),
    }


def _rhos(one: Reproduction) -> Heights:
    return _by_method({key: row.rho for key, row in one.table5.items()}, one.temperature)


def _paper_rhos(paper: PaperDigits) -> Heights:
    return _by_method(paper.table5(), paper.temperature)


def _by_method(rhos: Heights, temperature: float) -> Heights:
    rows = {"tcva": f"T={temperature:g}", "ragas": "ragas", "deepeval": "deepeval"}
    return {method: rhos[row] for method, row in rows.items() if row in rhos}


def _bars(
    found: Sequence[Reproduction],
    series: Mapping[str, str],
    ours: Callable[[Reproduction], Heights],
    theirs: Callable[[PaperDigits], Heights],
) -> Figure:
    """A bar for each series, a group for each set that has any, the paper's height as a dash."""
    figure, axes = canvas(None, "page", 2.8)
    shown = [one for one in found if ours(one)]
    width = 0.8 / len(series)
    for i, (key, name) in enumerate(series.items()):
        places = np.arange(len(shown)) + (i - (len(series) - 1) / 2) * width
        values = [ours(one).get(key, np.nan) for one in shown]
        axes.bar(
            places, values, width * 0.92, label=name, color=COLOURS[i % len(COLOURS)],
            hatch=_HATCHES[i % len(_HATCHES)], ec="white", lw=0.0,
        )  # fmt: skip
        printed = [theirs(one.paper)[key] if one.paper else np.nan for one in shown]
        axes.hlines(
            printed, places - width * 0.42, places + width * 0.42, color="black", lw=1.4,
            label=_PAPER if i == len(series) - 1 and any(one.paper for one in shown) else "",
        )  # fmt: skip
    sets = [label(f"{one.name} (T={one.temperature:g})") for one in shown]
    axes.set_xticks(range(len(shown)), labels=sets)
    axes.axhline(0.0, color=GREY, lw=0.6)
    axes.set_ylabel(_RHO)
    legend(axes, columns=5)
    return figure


def _by_temperature(found: Sequence[Reproduction]) -> Figure:
    figure, axes = canvas(None, "column", 2.8)
    for i, one in enumerate(found):
        colour = COLOURS[i % len(COLOURS)]
        name = label(one.name)
        points = [(float(k[2:]), r.rho) for k, r in one.table5.items() if k.startswith("T=")]
        if points:
            mark = MARKERS[i % len(MARKERS)]
            axes.plot(*zip(*points, strict=True), marker=mark, ms=4.0, color=colour, label=name)
        if "ragas" in one.table5:
            rho = one.table5["ragas"].rho
            line = LINES[1 + i % (len(LINES) - 1)]
            axes.axhline(rho, color=colour, ls=line, lw=1.0, label=f"{name}, RAGAS")
    axes.set(xlabel="temperature T (low is strict)", ylabel=_RHO)
    legend(axes, columns=2)
    return figure


def _intervals(found: Sequence[Reproduction]) -> Figure:
    rows = [(one, key, row) for one in found for key, row in one.table8.items()]
    figure, axes = canvas(None, "column", 1.0 + 0.2 * len(rows))
    for place, (one, key, row) in enumerate(rows):
        number = list(METHODS).index(key)
        axes.plot([row.low, row.high], [place, place], color=COLOURS[number], lw=2.0)
        axes.plot([row.rho], [place], marker=MARKERS[number], ms=4.5, color=COLOURS[number])
        if one.paper:
            ends = one.paper.table8()[key]
            axes.plot(
                ends, [place, place], ls="", marker="|", color="black", ms=9, mew=1.2,
                label=None if axes.get_legend_handles_labels()[1] else _PAPER,
            )  # fmt: skip
    axes.set_yticks(range(len(rows)), labels=[label(f"{o.name} {METHODS[k]}") for o, k, _ in rows])
    axes.invert_yaxis()
    axes.axvline(0.0, color=GREY, lw=0.6)
    name_x(axes, f"{_RHO}, 95% interval")
    legend(axes)
    return figure


def _scatter(found: Sequence[Reproduction]) -> Figure:
    figure, panels = new_figure(max(3.3, 2.4 * len(found)), 2.6, columns=len(found))
    for axes, one in zip(panels, found, strict=True):
        if one.data.counts is not None:
            scores = paper_scores(one.data, BALANCED)
            axes.plot(one.data.human, scores, "o", ms=3.0, alpha=0.4, color=COLOURS[0])
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.set_title(label(one.name), fontsize=TEXT)
        axes.set(xlabel="human rating", ylabel=f"TCVA at T={BALANCED:g}")
    return figure

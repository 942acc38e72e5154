"""Figures 4 to 9 of the paper from reproduced tables, as png files (extra ``plots``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from tcva_adapters.compare.drawing import new_figure
from tcva_adapters.compare.paper.digits import CONFIGURATIONS, METHODS, PaperDigits
from tcva_adapters.compare.paper.reproduction import Reproduction
from tcva_adapters.compare.paper.tables import paper_scores
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.core.verdicts import SCHEMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_RHO: Final = "Spearman's rho with human ratings"

Heights = Mapping[str, float]
"""Of the bars of one set, by series."""


def pictures_of(found: Sequence[Reproduction]) -> dict[str, Callable[[], Figure]]:
    """The pictures of `PaperReport.save`."""
    schemes = dict(zip(SCHEMES, SCHEMES, strict=True))
    bars = partial(_bars, found)
    return {
        "figure4": lambda: bars("Rho by method", METHODS, _rhos, _paper_rhos),
        "figure5": lambda: _by_temperature(found),
        "figure6": lambda: bars(
            "Rho by weight scheme", schemes, lambda r: r.table7, PaperDigits.table7
        ),
        "figure7": lambda: _intervals(found),
        "figure8": lambda: bars(
            "Rho of the ablation", CONFIGURATIONS, lambda r: r.table9, PaperDigits.table9
        ),
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
    title: str,
    series: Mapping[str, str],
    ours: Callable[[Reproduction], Heights],
    theirs: Callable[[PaperDigits], Heights],
) -> Figure:
    """A colour for each series, a group for each set that has any, the paper's height as a dash."""
    figure, (axes,) = new_figure(7.0)
    shown = [one for one in found if ours(one)]
    width = 0.8 / len(series)
    for i, (key, name) in enumerate(series.items()):
        places = np.arange(len(shown)) + (i - (len(series) - 1) / 2) * width
        values = [ours(one).get(key, np.nan) for one in shown]
        axes.bar(places, values, width * 0.92, label=name, color=_COLOURS[i % len(_COLOURS)])
        printed = [theirs(one.paper)[key] if one.paper else np.nan for one in shown]
        axes.hlines(printed, places - width * 0.42, places + width * 0.42, color="black", lw=1.2)
    axes.set_xticks(range(len(shown)), [f"{one.name} (T={one.temperature:g})" for one in shown])
    axes.axhline(0.0, color="grey", lw=0.8)
    title = f"{title} (black: the paper)" if any(one.paper for one in shown) else title
    axes.set(ylabel=_RHO, title=title)
    if shown:
        axes.legend(fontsize="small", ncols=2)
    return figure


def _by_temperature(found: Sequence[Reproduction]) -> Figure:
    figure, (axes,) = new_figure(7.0)
    for i, one in enumerate(found):
        colour = _COLOURS[i % len(_COLOURS)]
        points = [(float(k[2:]), r.rho) for k, r in one.table5.items() if k.startswith("T=")]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, label=one.name)
        if "ragas" in one.table5:
            rho = one.table5["ragas"].rho
            axes.axhline(rho, color=colour, ls="--", lw=1.0, label=f"{one.name}, RAGAS")
    axes.set(xlabel="temperature T", ylabel=_RHO, title="Rho by temperature")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small")
    return figure


def _intervals(found: Sequence[Reproduction]) -> Figure:
    figure, (axes,) = new_figure(7.0)
    names: list[str] = []
    for one in found:
        for key, row in one.table8.items():
            place, colour = len(names), _COLOURS[list(METHODS).index(key)]
            axes.plot([row.low, row.high], [place, place], color=colour, lw=3.0)
            axes.plot([row.rho], [place], marker="o", color=colour)
            if one.paper:
                ends = one.paper.table8()[key]
                axes.plot(ends, [place, place], ls="", marker="|", color="black", ms=14)
            names.append(f"{one.name} {METHODS[key]}")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.axvline(0.0, color="grey", lw=0.8)
    axes.set(xlabel=_RHO, title="95 % bootstrap intervals (black: the paper)")
    return figure


def _scatter(found: Sequence[Reproduction]) -> Figure:
    figure, panels = new_figure(max(7.0, 4.5 * len(found)), len(found))
    for axes, one in zip(panels, found, strict=True):
        if one.data.counts is not None:
            scores = paper_scores(one.data, BALANCED)
            axes.plot(one.data.human, scores, "o", ms=4.0, alpha=0.4, color=_COLOURS[0])
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), title=one.name)
        axes.set(xlabel="human rating", ylabel=f"TCVA at T={BALANCED:g}")
    return figure

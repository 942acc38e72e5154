"""Figures 4 to 9 of the paper from reproduced tables, as png files (extra ``plots``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from tcva_adapters.compare.drawing import new_figure, write_figures
from tcva_adapters.compare.paper.data import PaperSet
from tcva_adapters.compare.paper.digits import CONFIGURATIONS, PAPER
from tcva_adapters.compare.paper.reproduction import Reproduction
from tcva_adapters.compare.paper.tables import paper_scores
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.core.verdicts import SCHEMES
from tcva_adapters.errors import InvalidValueError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METHODS: Final = {"tcva": "TCVA", "ragas": "RAGAS", "deepeval": "DeepEval"}
_COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_RHO: Final = "Spearman's rho with people"

Bars = Mapping[str, Mapping[str, float]]
"""Heights by series (a colour each) and group (a set each)."""


def draw_figures(
    found: Sequence[Reproduction], sets: Sequence[PaperSet], folder: str | Path
) -> list[Path]:
    """Write ``figure4.png`` to ``figure9.png`` and return their paths.

    4 rho by method, 5 rho by temperature with RAGAS dashed, 6 weight schemes, 7 the intervals of
    Table 8, 8 ablation, 9 scores at T=0.5 against people, one panel per set. A black dash is the
    paper's own figure. What a set has no data for is left out of its picture.

    Args:
        found: Reproductions.
        sets: The sets they were made of, in the same order.
        folder: Made if it is not there; files of these names are replaced.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: Nothing to draw, reproductions that do not belong to the sets, or a
            folder that cannot be written.
    """
    if [r.name for r in found] != [s.name for s in sets] or not found:
        msg = (
            f"reproductions of {[r.name for r in found]} for the sets {[s.name for s in sets]}; "
            "give one for each, in the same order"
        )
        raise InvalidValueError(msg)
    pictures: dict[int, Callable[[], Figure]] = {
        4: lambda: _bars(_by_method(found), _paper_by_method(found), "Rho by method"),
        5: lambda: _by_temperature(found),
        6: lambda: _bars(_by_scheme(found), _paper_by_scheme(found), "Rho by weight scheme"),
        7: lambda: _intervals(found),
        8: lambda: _bars(_by_part(found), _paper_by_part(found), "Rho of the ablation"),
        9: lambda: _scatter(sets),
    }
    return write_figures(folder, {f"figure{n}": draw for n, draw in pictures.items()})


def _by_method(found: Sequence[Reproduction]) -> Bars:
    rows: dict[str, dict[str, float]] = {name: {} for name in _METHODS.values()}
    for one in found:
        keys = {f"T={one.temperature:g}": "TCVA", "ragas": "RAGAS", "deepeval": "DeepEval"}
        for key, name in keys.items():
            if key in one.table5:
                rows[name][_label(one)] = one.table5[key].rho
    return rows


def _paper_by_method(found: Sequence[Reproduction]) -> Bars:
    rows: dict[str, dict[str, float]] = {name: {} for name in _METHODS.values()}
    for one in _in_paper(found):
        paper = PAPER[one.name]
        rhos = paper.table5()
        rows["TCVA"][_label(one)] = rhos[f"T={paper.temperature:g}"]
        for key in ("ragas", "deepeval"):
            rows[_METHODS[key]][_label(one)] = rhos[key]
    return rows


def _by_scheme(found: Sequence[Reproduction]) -> Bars:
    return {s: {_label(r): r.table7[s] for r in found if s in r.table7} for s in SCHEMES}


def _paper_by_scheme(found: Sequence[Reproduction]) -> Bars:
    return {s: {_label(r): PAPER[r.name].table7()[s] for r in _in_paper(found)} for s in SCHEMES}


def _by_part(found: Sequence[Reproduction]) -> Bars:
    return {
        f"{key} {words}": {_label(r): r.table9[key] for r in found if key in r.table9}
        for key, words in CONFIGURATIONS.items()
    }


def _paper_by_part(found: Sequence[Reproduction]) -> Bars:
    return {
        f"{key} {words}": {_label(r): PAPER[r.name].table9()[key] for r in _in_paper(found)}
        for key, words in CONFIGURATIONS.items()
    }


def _in_paper(found: Sequence[Reproduction]) -> list[Reproduction]:
    """Those that the paper has at the same temperature."""
    return [r for r in found if r.name in PAPER and PAPER[r.name].temperature == r.temperature]


def _label(one: Reproduction) -> str:
    return f"{one.name} (T={one.temperature:g})"


def _bars(ours: Bars, paper: Bars, title: str) -> Figure:
    figure, (axes,) = new_figure(7.0)
    groups = list(dict.fromkeys(group for row in ours.values() for group in row))
    width = 0.8 / max(1, len(ours))
    for i, (series, heights) in enumerate(ours.items()):
        places = np.arange(len(groups)) + (i - (len(ours) - 1) / 2) * width
        values = [heights.get(group, np.nan) for group in groups]
        axes.bar(places, values, width * 0.92, label=series, color=_COLOURS[i % len(_COLOURS)])
        printed = [paper.get(series, {}).get(group, np.nan) for group in groups]
        axes.hlines(printed, places - width * 0.42, places + width * 0.42, color="black", lw=1.2)
    axes.set_xticks(range(len(groups)), groups)
    axes.axhline(0.0, color="grey", lw=0.8)
    axes.set_ylabel(_RHO)
    axes.set_title(f"{title} (black: the paper)" if any(paper.values()) else title)
    if groups:
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
    axes.set_xlabel("temperature T")
    axes.set_ylabel(_RHO)
    axes.set_title("Rho by temperature")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small")
    return figure


def _intervals(found: Sequence[Reproduction]) -> Figure:
    figure, (axes,) = new_figure(7.0)
    names: list[str] = []
    for one in found:
        for key, row in one.table8.items():
            place, colour = len(names), _COLOURS[list(_METHODS).index(key)]
            axes.plot([row.low, row.high], [place, place], color=colour, lw=3.0)
            axes.plot([row.rho], [place], marker="o", color=colour)
            if one in _in_paper([one]):
                ends = PAPER[one.name].table8()[key]
                axes.plot(ends, [place, place], ls="", marker="|", color="black", ms=14)
            names.append(f"{one.name} {_METHODS[key]}")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.axvline(0.0, color="grey", lw=0.8)
    axes.set_xlabel(_RHO)
    axes.set_title("95 % bootstrap intervals (black: the paper)")
    return figure


def _scatter(sets: Sequence[PaperSet]) -> Figure:
    figure, panels = new_figure(max(7.0, 4.5 * len(sets)), len(sets))
    for axes, one in zip(panels, sets, strict=True):
        if one.counts is not None:
            axes.plot(
                one.human,
                paper_scores(one, BALANCED),
                ls="",
                marker="o",
                ms=4.0,
                alpha=0.4,
                color=_COLOURS[0],
            )
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("people")
        axes.set_ylabel(f"TCVA at T={BALANCED:g}")
        axes.set_title(one.name)
    return figure

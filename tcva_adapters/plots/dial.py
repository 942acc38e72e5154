"""The dial in pictures: scores over temperatures and exponents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tcva_adapters.compare.sweeping import Sweep
from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    DEFAULT_FLOOR,
    Floor,
    Penalty,
    SchemeLike,
    sweep,
)
from tcva_adapters.core.checks import listed
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, check_temperature, exponent_within
from tcva_adapters.core.verdicts import FloatArray, WeightScheme, count_levels
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.plots.canvas import (
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    TEXT,
    TICKS,
    Width,
    canvas,
    label,
    legend,
    mark_cliff,
)
from tcva_adapters.plots.grouped import Curve, Groups, means_with_ends, share_ends
from tcva_adapters.plots.sources import Dial, DialSource, cliff_of, groups_of
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import BoolArray, one_of

Curves = Literal["both", "mean", "pass_rate"]

_MEASURES: Final = {"both": slice(0, 2), "mean": slice(0, 1), "pass_rate": slice(1, 2)}
_STEPS: Final = 90
_MARKS: Final = 12


def sweep_curve(
    source: Sweep | DialSource,
    *,
    scoring: ScoringConfig | None = None,
    temperatures: Sequence[float | str] | None = None,
    show: Curves | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """Mean score and pass rate over the temperature, with intervals and the cliff.

    Bands are `mean_intervals` around a mean and the exact ones around a pass rate, at each temperature
    for itself. A dotted line is the cliff at exponent 0, where there is a ``none`` verdict: below
    it, one of them takes a score to almost nothing.

    Args:
        source: A sweep (a curve for each of its rows, over its own temperatures), or judgements as
            in `DialSource`.
        scoring: Settings, the threshold among them; by default the source's own.
        temperatures: Numbers or presets; by default a hundredth of the scale apart.
        show: ``mean``, ``pass_rate`` or ``both``; by default both, and the mean for several rows.
        level: Of the intervals, in (0, 1).
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: A setting out of range, or temperatures beside a sweep that has its own.
            Further errors as for `Judged.of`.
        MissingDependencyError: scipy is not installed.
    """
    if show is not None:
        one_of("curve", show, ("both", "mean", "pass_rate"))
    if isinstance(source, Sweep):
        if temperatures is not None:
            msg = "a sweep has temperatures of its own; give them to compare.sweep"
            raise InvalidValueError(msg)
        dial = Dial(source.judged, scoring or ScoringConfig())
        grid = np.array(source.temperatures)
        curves = {row.name: row.scores for row in (*source.ablation, *source.rows)}
        if len({row.penalty for row in source.rows}) > 1:
            curves = {f"{row.name}, {row.penalty}": row.scores for row in source.rows}
    else:
        dial = Dial.of(source, scoring)
        grid = _grid(temperatures, dial.scoring.bounds, dial.cliff)
        curves = {"": dial.scores(grid)}
    several = len(curves) > 1
    show = show or ("mean" if several else "both")
    figure, axes = canvas(ax, width, 2.4 + 0.14 * (len(curves) // 2))
    threshold = dial.scoring.threshold
    groups = groups_of(source, dial)
    shown: dict[str, Callable[[FloatArray], Curve]] = {
        "mean": lambda scores: means_with_ends(scores, groups, level),
        f"share ≥ {threshold:g}": lambda scores: _pass_rates(scores, threshold, groups, level),
    }
    measures = list(shown.items())[_MEASURES[show]]
    for row, (name, scores) in enumerate(curves.items()):
        for place, (word, measured) in enumerate(measures):
            words = [label(name)] * several + [word] * (not several or len(measures) > 1)
            _band(axes, grid, measured(scores), ": ".join(words), len(measures) * row + place)
    mark_cliff(axes, dial.cliff)
    bounds = dial.scoring.bounds
    axes.set(xlim=(bounds.t_min, bounds.t_max), ylim=(-0.02, 1.02))
    axes.set(xlabel="temperature T (low is strict)", ylabel=_ylabel(show))
    legend(axes, columns=1 if several and show == "both" else 2)
    return figure


def exponent_curve(
    verdict_lists: Mapping[str, Sequence[str | float]] | Sequence[Sequence[str]],
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    penalty: Penalty = "off",
    eps: float = DEFAULT_EPS,
    floor: Floor = DEFAULT_FLOOR,
    bounds: Bounds = PAPER_BOUNDS,
    ax: Axes | None = None,
    width: Width = "column",
) -> Figure:
    """The score of verdict lists over the exponent p of the power mean (the paper's figure 2).

    The scale above is the temperature that stands for each exponent.

    Args:
        verdict_lists: By name, verdicts or the five level counts; or verdicts alone, which are
            named by themselves.
        scheme: As for `aggregate`, like the next three.
        penalty: Off by default, as in the paper's figure: the power mean alone.
        eps: See there.
        floor: See there.
        bounds: Ends of the scales.
        ax: Axes to draw into; by default those of a new figure.
        width: Of a new figure: ``column``, ``page``, or inches.

    Raises:
        InvalidValueError: No list, or one that is no verdicts, or as for `aggregate`.
    """
    named = _named(verdict_lists)
    counts = [_counts(name, verdicts) for name, verdicts in named.items()]
    cliff = cliff_of(bounds) if any(row[-1] for row in counts) else None
    grid = _grid(None, bounds, cliff)
    scores = sweep(
        counts, grid.tolist(), scheme=scheme, penalty=penalty, eps=eps, floor=floor, bounds=bounds
    )
    figure, axes = canvas(ax, width, 2.5 + 0.15 * len(named))
    exponents = np.array([exponent_within(t, bounds) for t in grid.tolist()])
    for number, (name, row) in enumerate(zip(named, scores, strict=True)):
        _line(axes, exponents, row, label(name, 30), number)
    if cliff is not None:
        axes.axvline(0.0, color=GREY, ls=":", lw=1.0, label="cliff, p = 0")
    span = (bounds.t_max - bounds.t_min) / (bounds.p_max - bounds.p_min)
    above = axes.secondary_xaxis(
        1.0,
        functions=(
            lambda p: bounds.t_min + (np.asarray(p, float) - bounds.p_min) * span,
            lambda t: bounds.p_min + (np.asarray(t, float) - bounds.t_min) / span,
        ),
    )
    above.tick_params(**TICKS)
    above.set_xlabel("temperature T", fontsize=TEXT)
    axes.locator_params(axis="x", steps=[1, 2, 4, 10], integer=True)
    axes.set(xlim=(bounds.p_min, bounds.p_max), ylim=(-0.02, 1.02))
    axes.set(xlabel="exponent p of the power mean", ylabel="score")
    # Below the axes: the temperatures stand above them.
    legend(axes, loc="upper left", bbox_to_anchor=(0.0, -0.22))
    return figure


def _ylabel(show: Curves) -> str:
    words = {"mean": "mean score", "pass_rate": "pass rate", "both": "mean score, pass rate"}
    return words[show]


def _grid(
    temperatures: Sequence[float | str] | None, bounds: Bounds, cliff: float | None
) -> FloatArray:
    """Where curves are computed: at both sides of the cliff as well, where they jump."""
    if temperatures is not None:
        found = [check_temperature(t, bounds) for t in listed("temperatures", temperatures)]
        if not found:
            msg = "temperatures are an empty list; give at least one"
            raise InvalidValueError(msg)
        return np.unique(found)
    even = np.linspace(bounds.t_min, bounds.t_max, _STEPS + 1)
    # Hundredths as they are written: 0.3, not the float beside it.
    even = np.clip(even.round(12), bounds.t_min, bounds.t_max)
    sides = [] if cliff is None else [cliff, float(np.nextafter(cliff, np.inf))]
    grid: FloatArray = np.unique([*even, *sides])
    return grid


def _pass_rates(scores: FloatArray, threshold: float, groups: Groups, level: float) -> Curve:
    known: BoolArray = np.isfinite(scores[:, 0])
    n = int(known.sum())
    passed = scores[known] >= threshold
    ends = np.array([share_ends(each, groups, known, level) for each in passed.T]).T
    rates = passed.mean(axis=0) if n else np.full(scores.shape[1], np.nan)
    return rates, ends[0], ends[1]


def _band(
    axes: Axes,
    grid: FloatArray,
    curve: Curve,
    name: str,
    number: int,
) -> None:
    middle, low, high = curve
    _line(axes, grid, middle, name, number)
    colour = COLOURS[number % len(COLOURS)]
    axes.fill_between(grid, low, high, color=colour, alpha=0.16, lw=0)


def _line(
    axes: Axes, places: npt.NDArray[np.float64], heights: FloatArray, name: str, number: int
) -> None:
    every = max(1, len(places) // _MARKS)
    axes.plot(
        places,
        heights,
        color=COLOURS[number % len(COLOURS)],
        ls=LINES[number % len(LINES)],
        lw=1.2,
        marker=MARKERS[number % len(MARKERS)],
        ms=3.0,
        # Marks of different curves stand at different places.
        markevery=((number * every // 3) % every, every) if every > 2 else 1,
        label=name,
    )


def _named(
    lists: Mapping[str, Sequence[str | float]] | Sequence[Sequence[str]],
) -> Mapping[str, Sequence[str | float]]:
    if not isinstance(lists, Mapping):
        every = [listed("verdicts", one) for one in listed("verdict lists", lists)]
        lists = {", ".join(map(str, one)): one for one in every}
    if not lists:
        msg = "there are no verdict lists; give at least one, e.g. [['fully', 'partial']]"
        raise InvalidValueError(msg)
    return lists


def _counts(name: str, verdicts: Sequence[str | float]) -> FloatArray:
    items = listed(f"verdicts of {name!r}", verdicts)
    if items and all(isinstance(item, str) for item in items):
        return count_levels(items)
    if len(items) != 5:
        msg = f"{name!r} has {verdicts!r}; give verdicts, or the five level counts"
        raise InvalidValueError(msg)
    return np.array(items, dtype=np.float64)

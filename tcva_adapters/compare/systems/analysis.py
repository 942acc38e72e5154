"""Which system is better: every metric described, and all pairs of systems tested under it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Final, TypedDict, get_args

import numpy as np

from tcva_adapters.compare.grouping import group_note
from tcva_adapters.compare.systems.hypotheses import Hypothesis, check_hypotheses, read_hypotheses
from tcva_adapters.compare.systems.metrics import MetricFigures
from tcva_adapters.compare.systems.read import TEMPERATURES, SystemSources, read_systems
from tcva_adapters.compare.systems.report import SystemsReport
from tcva_adapters.compare.systems.table import SystemTable
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.printing import counted
from tcva_adapters.stats.checks import FloatArray, check_level, one_of, whole
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.describe import check_bounds, describe
from tcva_adapters.stats.metric_correlation import (
    CorrelationMatrix,
    correlation_matrix,
    fisher_average,
)
from tcva_adapters.stats.pairwise import PERMUTATIONS, Estimate, Test
from tcva_adapters.stats.power import PowerView, check_difference, power_view, variability
from tcva_adapters.stats.randomisation import tukey_hsd
from tcva_adapters.stats.studentised import studentised_pairs

CORRELATIONS: Final[tuple[Measure, ...]] = ("pearson", "spearman", "kendall")

Progress = Callable[[str, int, int], None]


class _Drawn(TypedDict):
    """What the tests of one report share."""

    permutations: int
    seed: int
    estimate: Estimate


def compare_systems(
    scores: SystemTable | SystemSources,
    *,
    metrics: Sequence[str] | None = None,
    temperatures: Sequence[float | str] = TEMPERATURES,
    system_field: str | None = None,
    group: str | None = None,
    hypotheses: str | Path | Sequence[Hypothesis] = (),
    test: Test = "studentised",
    alpha: float = 0.05,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    estimate: Estimate = "add_one",
    bounds: tuple[float, float] = (0.0, 1.0),
    difference: float | None = None,
    queries: int | None = None,
    progress: Progress | None = None,
) -> SystemsReport:
    """Describe every metric, test all pairs of systems under it, and test hypotheses.

    Args:
        scores: Files, or results by system; see `read_systems`.
        metrics: These alone; ``faithfulness`` takes it at every temperature.
        temperatures: For what `TCVA` judged.
        system_field: The metadata field that names the system.
        group: The column, or metadata field, of what queries belong to (a document): the tests then
            shuffle the systems in all queries of a group at once.
        hypotheses: A file of them, see `read_hypotheses`; or what it holds.
        test: Which of two tests of all pairs is read, for what is significant and for hypotheses:
            ``studentised``, which lets systems spread differently (`studentised_pairs`), or
            ``tukey``, as the CCRS paper has it (`tukey_hsd`). Both are in the report.
        alpha: Level of the tests, for each metric over all its pairs.
        permutations: Draws of either test per metric.
        seed: Of the draws; every metric has the same ones.
        estimate: See `tukey_hsd`.
        bounds: Of the scale of scores.
        difference: For a power view: the difference that should be found.
        queries: For a power view: how many there are; by default those at hand.
        progress: Called with the metric, and the shuffled tables done and to do over all metrics.

    Raises:
        InvalidSampleError: Fewer than two systems, or no metric (or none of a hypothesis) under
            which a query has scores of two systems (with groups: of all). Such a metric is left out
            beside others. Or a query belongs to no group.
        InvalidValueError: A setting out of range.
        MissingDependencyError: Correlations or a power view without scipy.
        UnreadableInputError: As for `read_systems` and `read_hypotheses`.
    """
    one_of("test", test, get_args(Test))
    _check(alpha, bounds, difference, queries, group)
    table = _table_of(scores, metrics, temperatures, system_field, group)
    if isinstance(hypotheses, str | Path):
        hypotheses = read_hypotheses(hypotheses, table)
    table = _comparable(table, hypotheses)
    said = [*table.notes, *table.gaps()]
    drawn: _Drawn = {"permutations": permutations, "seed": seed, "estimate": estimate}
    figures = []
    for number, metric in enumerate(table.metrics):
        report = _reporter(progress, metric, number, len(table.metrics))
        one, notes = _figures_of(
            table, metric, drawn, report, read=(test, alpha, bounds), power=(difference, queries)
        )
        figures.append(one)
        said += notes
    correlations = _correlations(table)
    tests = {each.metric: each.test for each in figures}
    return SystemsReport(
        table=table,
        figures=tuple(figures),
        correlations=correlations,
        averaged={m: fisher_average(list(each.values())) for m, each in correlations.items()},
        hypotheses=tuple(check_hypotheses(hypotheses, tests, table.systems, alpha=alpha)),
        bounds=bounds,
        test=test,
        alpha=alpha,
        permutations=permutations,
        estimate=estimate,
        seed=seed,
        notes=tuple(said),
    )


def _check(
    alpha: float,
    bounds: tuple[float, float],
    difference: float | None,
    queries: int | None,
    group: str | None,
) -> None:
    check_level(alpha)
    check_bounds(bounds)
    if difference is not None:
        check_difference(difference)
    if queries is not None:
        whole("queries", queries, least=2)
        if difference is None:
            msg = f"queries={queries!r} belongs to a power view; give the difference too"
            raise InvalidValueError(msg)
    if group is not None and difference is not None:
        msg = "a power view counts single queries, not groups of them; leave one of the two out"
        raise InvalidValueError(msg)


def _table_of(
    scores: SystemTable | SystemSources,
    metrics: Sequence[str] | None,
    temperatures: Sequence[float | str],
    system_field: str | None,
    group: str | None,
) -> SystemTable:
    if not isinstance(scores, SystemTable):
        scores = read_systems(
            scores, temperatures=temperatures, system_field=system_field, group=group
        )
    return scores.only(metrics) if metrics else scores


def _figures_of(
    table: SystemTable,
    metric: str,
    drawn: _Drawn,
    progress: Callable[[int, int], None] | None,
    *,
    read: tuple[Test, float, tuple[float, float]],
    power: tuple[float | None, int | None],
) -> tuple[MetricFigures, list[str]]:
    """One metric with both tests, and what there is to note.

    Args:
        table: Of all metrics.
        metric: Which.
        drawn: How the tests draw.
        progress: Called with the shuffled tables done and to do.
        read: The test that is read, its level, and the bounds of the scale.
        power: The difference and the number of queries of a power view.
    """
    test, alpha, bounds = read
    column = table.metric(metric)
    tested, notes = _tested(table, metric)
    tukey = tukey_hsd(tested, progress=progress, **drawn)
    studentised = studentised_pairs(tested, **drawn)
    described = tuple(describe(each, bounds=bounds) for each in column.T)
    view = _power(column, *power, test=test, alpha=alpha, seed=drawn["seed"])
    found = MetricFigures(metric, described, studentised, tukey, test, alpha, view)
    return found, [*notes, *_notes(found, bounds, wants_power=power[0] is not None)]


def _tested(table: SystemTable, metric: str) -> tuple[FloatArray, list[str]]:
    """What the tests look at: a row for each query, or for each group of them."""
    if table.groups is None:
        return table.metric(metric), []
    rows, left_out = table.by_group(metric)
    known = np.isfinite(table.scores[table.metrics.index(metric)]).all(axis=1)
    said = f"{metric}: tested by group, {group_note(compress(table.groups, known.tolist()))}"
    if left_out:
        said += (
            f"; {counted(left_out, 'query', 'queries')} without a score of every system left out"
        )
    return rows, [said]


def _comparable(table: SystemTable, hypotheses: Sequence[Hypothesis]) -> SystemTable:
    """The metrics that can be compared, with a note for each of the others."""
    if len(table.systems) < 2:
        msg = f"there is one system, {table.systems[0]!r}; a comparison needs two or more"
        raise InvalidSampleError(msg)
    needed = 2 if table.groups is None else len(table.systems)
    shared = (np.isfinite(table.scores).sum(axis=2) >= needed).any(axis=1)
    alone = [metric for metric, has in zip(table.metrics, shared, strict=True) if not has]
    wanted = {c.metric for hypothesis in hypotheses for c in hypothesis.comparisons}
    lacking = sorted(wanted.intersection(alone)) or (alone if not shared.any() else [])
    if lacking:
        msg = (
            f"{', '.join(lacking)}: no query has scores of two systems; queries must have the same "
            "ids in all systems"
        )
        raise InvalidSampleError(msg)
    kept = tuple(metric for metric in table.metrics if metric not in alone)
    notes = (f"{metric}: left out, no query has scores of two systems" for metric in alone)
    return replace(table, metrics=kept, scores=table.scores[shared], notes=(*table.notes, *notes))


def _reporter(
    progress: Progress | None, metric: str, number: int, metrics: int
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, of: progress(metric, number * of + done, metrics * of)


def _notes(
    figures: MetricFigures, bounds: tuple[float, float], *, wants_power: bool
) -> Iterator[str]:
    metric = figures.metric
    if figures.studentised.reason:
        yield f"{metric}: no studentised p; {figures.studentised.reason}"
    low, high = bounds
    ends = [(d.minimum, d.maximum) for d in figures.descriptions if d.n]
    smallest, largest = min(e[0] for e in ends), max(e[1] for e in ends)
    if not low <= smallest <= largest <= high:
        yield (
            f"{metric}: scores from {smallest:g} to {largest:g} lie outside the bounds {low:g} to "
            f"{high:g}; shares at the bounds mean nothing then (--bounds)"
        )
    if wants_power and figures.power is None:
        yield f"{metric}: no power view; under 3 queries have scores of all systems"


def _power(
    scores: FloatArray,
    difference: float | None,
    queries: int | None,
    *,
    test: Test,
    alpha: float,
    seed: int,
) -> PowerView | None:
    if difference is None or np.isfinite(scores).all(axis=1).sum() < 3:
        return None
    return power_view(
        variability(scores), difference, queries=queries, test=test, alpha=alpha, seed=seed
    )


def _correlations(table: SystemTable) -> dict[Measure, dict[str, CorrelationMatrix]]:
    if len(table.metrics) < 2:
        return {}
    return {
        measure: {
            system: correlation_matrix(measure, table.scores[:, :, place].T)
            for place, system in enumerate(table.systems)
        }
        for measure in CORRELATIONS
    }

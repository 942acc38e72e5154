"""Which system is better: every metric described, and all pairs of systems tested under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.systems.hypotheses import Hypothesis, HypothesisResult, check_hypotheses
from tcva_adapters.compare.systems.table import SystemTable, at_temperature
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.stats.checks import FloatArray, check_level, whole
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.describe import Description, check_bounds, describe
from tcva_adapters.stats.discrimination import Discrimination, asl_curve, discrimination
from tcva_adapters.stats.metric_correlation import (
    AveragedMatrix,
    CorrelationMatrix,
    correlation_matrix,
    fisher_average,
)
from tcva_adapters.stats.power import PowerView, check_difference, power_view, variability
from tcva_adapters.stats.randomisation import PERMUTATIONS, Estimate, TukeyHSD, tukey_hsd

CORRELATIONS: Final[tuple[Measure, ...]] = ("pearson", "spearman", "kendall")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class MetricFigures:
    """One metric.

    Attributes:
        metric: Its name.
        descriptions: One per system.
        test: Tukey's test of all pairs of systems.
        discrimination: How many pairs it tells apart.
        asl: The p of all pairs, ascending.
        power: What the queries at hand can show; None where it was not asked for, or where fewer
            than three queries have a score of every system.
    """

    metric: str
    descriptions: tuple[Description, ...]
    test: TukeyHSD
    discrimination: Discrimination
    asl: FloatArray
    power: PowerView | None


@dataclass(frozen=True, eq=False)
class SystemsReport:
    """All figures.

    Attributes:
        table: The scores.
        figures: One per metric.
        correlations: Between metrics, by measure and system; empty with one metric.
        averaged: The same, averaged over systems.
        hypotheses: After the test.
        bounds: Of the scale of scores.
        alpha: Level of the tests.
        permutations: Shuffled tables per metric.
        estimate: How p was made of counts.
        seed: Of the shuffles.
        notes: What a reader must know beside the figures, in sentences.
    """

    table: SystemTable
    figures: tuple[MetricFigures, ...]
    correlations: Mapping[Measure, Mapping[str, CorrelationMatrix]]
    averaged: Mapping[Measure, AveragedMatrix]
    hypotheses: tuple[HypothesisResult, ...]
    bounds: tuple[float, float]
    alpha: float
    permutations: int
    estimate: Estimate
    seed: int
    notes: tuple[str, ...]

    def by_temperature(self) -> dict[str, dict[float, Discrimination]]:
        """Pairs told apart by metric and temperature: does a stricter dial separate more?"""
        found: dict[str, dict[float, Discrimination]] = {}
        for one in self.figures:
            base, temperature = at_temperature(one.metric)
            if temperature is not None:
                found.setdefault(base, {})[temperature] = one.discrimination
        return {base: dict(sorted(row.items())) for base, row in found.items()}

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; figures that are not defined are None."""
        systems = self.table.systems
        whole: dict[str, Any] = jsonable(
            {
                "systems": systems,
                "queries": len(self.table.queries),
                "metrics": {one.metric: _metric_dict(one, systems) for one in self.figures},
                "correlations": {
                    measure: {system: _matrix_dict(m) for system, m in by_system.items()}
                    for measure, by_system in self.correlations.items()
                },
                "averaged": {measure: _matrix_dict(m) for measure, m in self.averaged.items()},
                "by_temperature": {
                    base: {f"{t:g}": found.power for t, found in row.items()}
                    for base, row in self.by_temperature().items()
                },
                "hypotheses": self.hypotheses,
                "bounds": self.bounds,
                "alpha": self.alpha,
                "permutations": self.permutations,
                "estimate": self.estimate,
                "seed": self.seed,
                "notes": self.notes,
            }
        )
        return whole


def compare_systems(
    table: SystemTable,
    *,
    hypotheses: Sequence[Hypothesis] = (),
    alpha: float = 0.05,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    estimate: Estimate = "add_one",
    bounds: tuple[float, float] = (0.0, 1.0),
    difference: float | None = None,
    queries: int | None = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> SystemsReport:
    """Describe every metric, test all pairs of systems under it, and test hypotheses.

    Args:
        table: Scores of two systems or more.
        hypotheses: From `read_hypotheses`.
        alpha: Level of the tests, for each metric over all its pairs.
        permutations: Shuffled tables per metric.
        seed: Of the shuffles; every metric has the same ones.
        estimate: See `tukey_hsd`.
        bounds: Of the scale of scores.
        difference: For a power view: the difference that should be found.
        queries: For a power view: how many there are; by default those at hand.
        notes: Of the reader.
        progress: Called with the metric, and the shuffled tables done and to do over all metrics.

    Raises:
        InvalidSampleError: Fewer than two systems, or no metric (or none of a hypothesis) under
            which a query has scores of two systems. Such a metric is left out beside others.
        InvalidValueError: A setting out of range.
        MissingDependencyError: Correlations or a power view without scipy.
    """
    check_level(alpha)
    check_bounds(bounds)
    if difference is not None:
        check_difference(difference)
    if queries is not None:
        whole("queries", queries, least=2)
        if difference is None:
            msg = f"queries={queries!r} belongs to a power view; give the difference too"
            raise InvalidValueError(msg)
    if len(table.systems) < 2:
        msg = f"there is one system, {table.systems[0]!r}; a comparison needs two or more"
        raise InvalidSampleError(msg)
    table, alone = _comparable(table, hypotheses)
    said = [*notes, *alone, *table.notes()]
    figures = []
    for number, metric in enumerate(table.metrics):
        scores = table.metric(metric)
        report = _reporter(progress, metric, number, len(table.metrics))
        test = tukey_hsd(
            scores, permutations=permutations, seed=seed, estimate=estimate, progress=report
        )
        described = tuple(describe(column, bounds=bounds) for column in scores.T)
        said += _notes(metric, described, bounds)
        view = None
        if difference is not None:
            view = _power(scores, difference, queries, alpha=alpha, seed=seed)
            if view is None:
                said.append(f"{metric}: no power view; under 3 queries have scores of all systems")
        figures.append(
            MetricFigures(
                metric,
                described,
                test,
                discrimination(test.pair_ps(), alpha=alpha),
                asl_curve(test.pair_ps()),
                view,
            )
        )
    correlations = _correlations(table)
    tests = {one.metric: one.test for one in figures}
    return SystemsReport(
        table=table,
        figures=tuple(figures),
        correlations=correlations,
        averaged={m: fisher_average(list(each.values())) for m, each in correlations.items()},
        hypotheses=tuple(check_hypotheses(hypotheses, tests, table.systems, alpha=alpha)),
        bounds=bounds,
        alpha=alpha,
        permutations=permutations,
        estimate=estimate,
        seed=seed,
        notes=tuple(said),
    )


def _comparable(
    table: SystemTable, hypotheses: Sequence[Hypothesis]
) -> tuple[SystemTable, list[str]]:
    """The metrics that can be compared, and a note for each of the others."""
    shared = (np.isfinite(table.scores).sum(axis=2) > 1).any(axis=1)
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
    notes = [f"{metric}: left out, no query has scores of two systems" for metric in alone]
    return SystemTable(table.systems, table.queries, kept, table.scores[shared]), notes


def _reporter(
    progress: Progress | None, metric: str, number: int, metrics: int
) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, of: progress(metric, number * of + done, metrics * of)


def _notes(metric: str, described: Sequence[Description], bounds: tuple[float, float]) -> list[str]:
    low, high = bounds
    ends = [(d.minimum, d.maximum) for d in described if d.n]
    smallest, largest = min(e[0] for e in ends), max(e[1] for e in ends)
    if low <= smallest and largest <= high:
        return []
    note = (
        f"{metric}: scores from {smallest:g} to {largest:g} lie outside the bounds {low:g} to "
        f"{high:g}; shares at the bounds mean nothing then (--bounds)"
    )
    return [note]


def _power(
    scores: FloatArray, difference: float, queries: int | None, *, alpha: float, seed: int
) -> PowerView | None:
    if np.isfinite(scores).all(axis=1).sum() < 3:
        return None
    return power_view(variability(scores), difference, queries=queries, alpha=alpha, seed=seed)


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


def _metric_dict(one: MetricFigures, systems: Sequence[str]) -> dict[str, Any]:
    found = one.discrimination
    return {
        "systems": dict(zip(systems, one.descriptions, strict=True)),
        "pairs": [
            {
                "first": systems[i],
                "second": systems[j],
                "difference": float(one.test.differences[i, j]),
                "p": float(one.test.p[i, j]),
            }
            for i, j in one.test.pairs()
        ],
        "significant": found.significant,
        "discriminative_power": found.power,
        "asl": one.asl.tolist(),
        "power": one.power,
    }


def _matrix_dict(matrix: CorrelationMatrix | AveragedMatrix) -> dict[str, Any]:
    whole: dict[str, Any] = {"values": matrix.values.tolist(), "n": matrix.n.tolist()}
    if isinstance(matrix, AveragedMatrix):
        whole |= {"systems": matrix.systems.tolist(), "perfect": matrix.perfect.tolist()}
    return whole

"""A comparison of systems: its figures, and what ``tcva systems`` prints of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.systems.hypotheses import HypothesisResult
from tcva_adapters.compare.systems.metrics import MetricFigures
from tcva_adapters.compare.systems.table import SystemTable, at_temperature
from tcva_adapters.printing import Part, Table, Tabular, Wrapped, counted, figure, share
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.describe import Description
from tcva_adapters.stats.discrimination import Discrimination
from tcva_adapters.stats.metric_correlation import AveragedMatrix, CorrelationMatrix
from tcva_adapters.stats.pairwise import Estimate, Test
from tcva_adapters.stats.power import MOST_QUERIES, PowerView

MOST_PAIRS: Final = 45

# What columns are called where it is not the attribute's name.
_SHORT: Final = {
    "geometric_mean": "geometric",
    "minimum": "min",
    "maximum": "max",
    "iqr": "IQR",
    "skewness": "skew",
}
_SHOWN_PS: Final = 6


@dataclass(frozen=True, eq=False)
class SystemsReport(Tabular):
    """All figures.

    Attributes:
        table: The scores.
        figures: One per metric.
        correlations: Between metrics, by measure and system; empty with one metric.
        averaged: The same, averaged over systems.
        hypotheses: After the test.
        bounds: Of the scale of scores.
        test: Which test of all pairs is read.
        alpha: Level of the tests.
        permutations: Sign flips and shuffled tables per metric.
        estimate: How p was made of counts.
        seed: Of the flips and shuffles.
        notes: What a reader must know beside the figures, in sentences.
    """

    table: SystemTable
    figures: tuple[MetricFigures, ...]
    correlations: Mapping[Measure, Mapping[str, CorrelationMatrix]]
    averaged: Mapping[Measure, AveragedMatrix]
    hypotheses: tuple[HypothesisResult, ...]
    bounds: tuple[float, float]
    test: Test
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

    def records(self) -> list[dict[str, Any]]:
        """Every pair of systems under every metric."""
        systems = self.table.systems
        return [{"metric": o.metric, **pair} for o in self.figures for pair in o.pairs(systems)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; figures that are not defined are None."""
        systems = self.table.systems
        settings = ("bounds", "test", "alpha", "permutations", "estimate", "seed", "notes")
        metrics = {
            one.metric: {
                "systems": dict(zip(systems, one.descriptions, strict=True)),
                "pairs": one.pairs(systems),
                "significant": one.discrimination.significant,
                "discriminative_power": one.discrimination.power,
                "asl": one.asl,
                "power": one.power,
            }
            for one in self.figures
        }
        whole: dict[str, Any] = jsonable(
            {
                "sentence": self.sentence,
                "systems": systems,
                "queries": len(self.table.queries),
                "groups": None if (groups := self.table.groups) is None else len(set(groups)),
                "metrics": metrics,
                "correlations": self.correlations,
                "averaged": self.averaged,
                "by_temperature": {
                    base: {f"{t:g}": found.power for t, found in row.items()}
                    for base, row in self.by_temperature().items()
                },
                "hypotheses": self.hypotheses,
                **{name: getattr(self, name) for name in settings},
            }
        )
        return whole

    @property
    def sentence(self) -> str:
        """Which system has the highest mean, and whether that can be told from chance."""
        one = max(self.figures, key=lambda one: one.discrimination.significant)
        means = [found.mean for found in one.descriptions]
        order = np.argsort(-np.array(means), kind="stable").tolist()  # nan comes last
        first, second = order[0], order[1]
        p = float(one.test.p[first, second])
        names = [f"{self.table.systems[i]} ({figure(means[i])})" for i in (first, second)]
        is_most = len(self.figures) > 1 and one.discrimination.significant > 0
        several = ", the metric that tells most apart" if is_most else ""
        said = f"By {one.metric}{several}, {names[0]} is highest"
        if math.isnan(p):
            return f"{said}, {names[1]} comes next; not tested: {one.studentised.reason}"
        told = one.discrimination
        of = f"; {told.significant} of {told.pairs} pairs differ" if told.pairs > 1 else ""
        tested = f"p {p_text(p, self.permutations)}"
        queries = self._queries
        if p < self.alpha:
            return f"{said}, and {names[1]} differs from it ({tested}, {queries}){of}"
        smallest = float(one.smallest[first, second])
        shown = f": a difference of {figure(smallest)} would mostly show" if smallest > 0.0 else ""
        return (
            f"{said}; {names[1]} does not differ from it significantly ({tested}), which at "
            f"{queries} does not show that they are alike{shown}{of}"
        )

    @property
    def _queries(self) -> str:
        said = counted(len(self.table.queries), "query", "queries")
        groups = self.table.groups
        return said if groups is None else f"{said} in {counted(len(set(groups)), 'group')}"

    @property
    def title(self) -> str:
        """What was compared, and how, in a line."""
        metrics = len(self.table.metrics)
        how = "" if self.estimate == "add_one" else ", p as count / B"
        test = (
            f"studentised test by {self.permutations} sign flips"
            if self.test == "studentised"
            else f"Tukey's HSD by {self.permutations} randomisations"
        )
        return (
            f"{len(self.table.systems)} systems, {self._queries}, "
            f"{metrics} metric{'s' * (metrics > 1)}; {test}, alpha {self.alpha:g}, seed "
            f"{self.seed}{how}"
        )

    def brief(self) -> Iterator[Part]:
        """The means, which metric tells systems apart, and what was asked for."""
        yield self.title
        yield _means(self)
        yield from self._findings()
        systems = len(self.table.systems)
        yield ""
        yield (
            f"more (distributions, correlations, {counted(systems * (systems - 1) // 2, 'pair')} by "
            "metric): --all, or show(full=True)"
        )

    def parts(self) -> Iterator[Part]:
        """Everything, the most important last, where a terminal stops."""
        yield self.title
        for one in self.figures:
            yield f"\n{one.metric}: scores"
            yield _described(self, one)
        for measure, matrix in self.averaged.items():
            yield f"\n{measure.capitalize()} between metrics, averaged over systems by Fisher's z"
            yield from _correlated(self, matrix)
        for one in self.figures:
            yield f"\n{one.metric}: differences of means"
            yield from _tested(self, one)
        yield from self._findings()

    def _findings(self) -> Iterator[Part]:
        yield "\nWhich metric tells systems apart"
        yield _discriminated(self)
        if any(len(one.missed) for one in self.figures):
            yield Wrapped(
                "would show: true differences that this test finds in 80 % of cases with such queries; "
                "smaller ones are mostly missed",
                indent=2,
            )
        if self.by_temperature():
            yield "\nDiscriminative power by temperature (low is strict)"
            yield _by_temperature(self)
        views = {one.metric: one.power for one in self.figures if one.power is not None}
        if views:
            difference = next(iter(views.values())).difference
            yield f"\nTo find a difference of {difference:g} between two systems"
            yield _powers(views)
        if self.hypotheses:
            yield f"\nHypotheses, corrected by Holm, at {self.alpha:g}"
            yield _hypotheses(self.hypotheses)


def p_text(p: float, permutations: int) -> str:
    """A p with the digits that so many randomisations support.

    >>> p_text(0.0123456, 10_000), p_text(0.00009999, 10_000), p_text(0.3, 99)
    ('0.0123', '0.0001', '0.30')
    """
    return figure(p, min(6, max(2, math.ceil(math.log10(permutations)))))


def _means(report: SystemsReport) -> Table:
    rows = [
        (system, *(figure(one.descriptions[place].mean) for one in report.figures))
        for place, system in enumerate(report.table.systems)
    ]
    return Table(("mean", *(one.metric for one in report.figures)), rows, "lr")


def _described(report: SystemsReport, one: MetricFigures) -> Table:
    low, high = report.bounds
    names = [each.name for each in fields(Description)][2:-3]  # without counts and shares
    headings = (_SHORT.get(name, name) for name in names)
    header = ("system", "n", *headings, f"at {low:g}", f"at {high:g}", "ties")
    rows = []
    for system, found in zip(report.table.systems, one.descriptions, strict=True):
        figures = [figure(getattr(found, name)) for name in names]
        shares = [share(s, 1) for s in (found.at_lower, found.at_upper, found.ties)]
        rows.append((system, str(found.n), *figures, *shares))
    return Table(header, rows)


def _correlated(report: SystemsReport, matrix: AveragedMatrix) -> Iterator[Part]:
    metrics = report.table.metrics
    rows = [
        (name, *map(figure, row)) for name, row in zip(metrics, matrix.values.tolist(), strict=True)
    ]
    yield Table(("", *metrics), rows)
    off = ~np.eye(len(metrics), dtype=bool)
    if matrix.perfect[off].any():
        yield (
            "a 1.000 or -1.000 may come from a single system: such a correlation has an infinite z "
            "(--json counts them)"
        )
    if (matrix.systems[off] < len(report.table.systems)).any():
        yield "some systems have no correlation (constant scores) and are left out"


def _tested(report: SystemsReport, one: MetricFigures) -> Iterator[Part]:
    pairs = sorted(one.pairs(report.table.systems), key=lambda pair: -abs(pair["difference"]))
    rows = []
    for pair in pairs[:MOST_PAIRS]:
        names, p = [pair["first"], pair["second"]], pair["p"]
        higher, lower = names if pair["difference"] >= 0 else reversed(names)
        significant = "-" if math.isnan(p) else "yes" if p < report.alpha else "no"
        difference = figure(abs(pair["difference"]))
        ps = [p_text(pair[name], report.permutations) for name in ("p_studentised", "p_tukey")]
        shows = figure(pair["smallest"]) if significant == "no" else ""
        rows.append((higher, lower, difference, *ps, significant, shows))
    header = ("higher", "lower", "difference", "p", "p(Tukey)", "significant", "would show")
    yield Table(header, rows)
    yield Wrapped(one.advice, 2)
    if len(pairs) > MOST_PAIRS:
        more = len(pairs) - MOST_PAIRS
        yield f"{more} more pairs with smaller differences (--json has all)"


def _discriminated(report: SystemsReport) -> Table:
    rows = []
    for one in report.figures:
        found = one.discrimination
        shown = [p_text(p, report.permutations) for p in one.asl[:_SHOWN_PS].tolist()]
        more = " ..." if len(one.asl) > _SHOWN_PS else ""
        told_apart = f"{found.significant}/{found.pairs}"
        rows.append(
            (one.metric, told_apart, figure(found.power), _missed(one), " ".join(shown) + more)
        )
    header = (
        *("metric", "pairs\ntold apart", "discriminative\npower", "the others\nwould show"),
        "p of the pairs, ascending",
    )
    return Table(header, rows, "lrrrp")


def _missed(one: MetricFigures) -> str:
    """The true differences that the pairs that are not told apart would mostly show."""
    missed = one.missed
    if not len(missed):
        return "-"
    least, most = figure(missed[0]), figure(missed[-1])
    return least if least == most else f"{least} to {most}"


def _by_temperature(report: SystemsReport) -> Table:
    table = report.by_temperature()
    temperatures = sorted({t for row in table.values() for t in row})
    rows = [
        (base, *(figure(row[t].power if t in row else None) for t in temperatures))
        for base, row in table.items()
    ]
    return Table(("metric", *(f"T={t:g}" for t in temperatures)), rows)


def _powers(views: Mapping[str, PowerView]) -> Table:
    target = next(iter(views.values())).target
    rows = [
        (
            metric,
            str(view.queries),
            *(figure(power, 2) for power in (view.power, view.least, view.most)),
            *map(_needed, (view.needed, view.needed_hardest)),
        )
        for metric, view in views.items()
    ]
    header = (
        *("metric", "queries", "power", "hardest\npair", "easiest\npair"),
        *(f"queries\nfor {target:g}", "for the\nhardest pair"),
    )
    return Table(header, rows)


def _hypotheses(found: Sequence[HypothesisResult]) -> Table:
    rows = []
    for one in found:
        number = len(one.ps)
        joined = "1 comparison" if number == 1 else f"{one.hypothesis.join} of {number} comparisons"
        digits = [figure(p, 5) for p in (one.p, one.adjusted)]
        rows.append((one.hypothesis.name, joined, *digits, "yes" if one.supported else "no"))
    return Table(("hypothesis", "joins", "p", "adjusted p", "supported"), rows)


def _needed(queries: int | None) -> str:
    return f"over {MOST_QUERIES}" if queries is None else str(queries)

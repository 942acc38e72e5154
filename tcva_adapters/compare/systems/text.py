"""A comparison of systems as blocks of text: what ``tcva systems`` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tcva_adapters.compare.systems.analysis import MetricFigures, SystemsReport
from tcva_adapters.compare.systems.hypotheses import HypothesisResult
from tcva_adapters.stats.power import MOST_QUERIES, PowerView

MOST_PAIRS: Final = 45

_COLUMNS: Final = {
    "n": "n",
    "mean": "mean",
    "geometric_mean": "geometric",
    "median": "median",
    "midhinge": "midhinge",
    "variance": "variance",
    "minimum": "min",
    "maximum": "max",
    "range": "range",
    "iqr": "IQR",
    "skewness": "skew",
    "kurtosis": "kurtosis",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A table with its heading.

    Attributes:
        title: One line above it.
        header: Headings of its columns.
        rows: Cells, as many in each row.
        lines: Lines below it.
    """

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()


def blocks(report: SystemsReport) -> Iterator[Block]:
    """Everything, the most important last, where a terminal stops."""
    for one in report.figures:
        yield _described(report, one)
    if report.averaged:
        yield from _correlated(report)
    for one in report.figures:
        yield _tested(report, one)
    yield _discriminated(report)
    if report.by_temperature():
        yield _by_temperature(report)
    views = [(one.metric, one.power) for one in report.figures if one.power is not None]
    if views:
        yield _powers(views)
    if report.hypotheses:
        yield _hypotheses(report.hypotheses, report.alpha)


def title(report: SystemsReport) -> str:
    """What was compared, and how, in a line."""
    systems, queries, metrics = (
        len(report.table.systems),
        len(report.table.queries),
        len(report.table.metrics),
    )
    how = "" if report.estimate == "add_one" else ", p as count / B"
    return (
        f"{systems} systems, {queries} queries, {metrics} metric{'s' * (metrics > 1)}; Tukey's HSD "
        f"by {report.permutations} randomisations, alpha {report.alpha:g}, seed {report.seed}{how}"
    )


def p_text(p: float, permutations: int) -> str:
    """A p with the digits that so many randomisations support.

    >>> p_text(0.0123456, 10_000), p_text(0.00009999, 10_000), p_text(0.3, 99)
    ('0.0123', '0.0001', '0.30')
    """
    if math.isnan(p):
        return "-"
    return f"{p:.{min(6, max(2, math.ceil(math.log10(permutations))))}f}"


def _described(report: SystemsReport, one: MetricFigures) -> Block:
    low, high = report.bounds
    header = ("system", *_COLUMNS.values(), f"at {low:g}", f"at {high:g}", "ties")
    rows = []
    for system, found in zip(report.table.systems, one.descriptions, strict=True):
        figures = [_figure(getattr(found, name)) for name in list(_COLUMNS)[1:]]
        shares = [_share(s) for s in (found.at_lower, found.at_upper, found.ties)]
        rows.append((system, str(found.n), *figures, *shares))
    return Block(f"{one.metric}: scores", header, tuple(rows))


def _correlated(report: SystemsReport) -> Iterator[Block]:
    metrics = report.table.metrics
    for measure, matrix in report.averaged.items():
        rows = [
            (name, *(_figure(value) for value in row))
            for name, row in zip(metrics, matrix.values.tolist(), strict=True)
        ]
        off = ~np.eye(len(metrics), dtype=bool)
        lines = []
        if matrix.perfect[off].any():
            lines.append(
                "a 1.000 or -1.000 may come from a single system: such a correlation has an "
                "infinite z (--json counts them)"
            )
        if (matrix.systems[off] < len(report.table.systems)).any():
            lines.append("some systems have no correlation (constant scores) and are left out")
        heading = f"{measure.capitalize()} between metrics, averaged over systems by Fisher's z"
        yield Block(heading, ("", *metrics), tuple(rows), tuple(lines))


def _tested(report: SystemsReport, one: MetricFigures) -> Block:
    systems = report.table.systems
    pairs = sorted(one.test.pairs(), key=lambda ij: -abs(one.test.differences[ij]))
    rows = []
    for i, j in pairs[:MOST_PAIRS]:
        p = float(one.test.p[i, j])
        better, worse = (i, j) if one.test.differences[i, j] >= 0 else (j, i)
        rows.append(
            (
                systems[better],
                systems[worse],
                _figure(float(one.test.differences[better, worse])),
                p_text(p, report.permutations),
                "yes" if p < report.alpha else "no",
            )
        )
    more = len(pairs) - len(rows)
    lines = (f"{more} more pairs with smaller differences (--json has all)",) if more else ()
    header = ("higher", "lower", "difference", "p", "significant")
    return Block(f"{one.metric}: differences of means", header, tuple(rows), lines)


def _discriminated(report: SystemsReport) -> Block:
    rows = []
    for one in report.figures:
        found = one.discrimination
        asl = one.asl.tolist()
        shown = [p_text(p, report.permutations) for p in asl[:6]]
        rows.append(
            (
                one.metric,
                f"{found.significant}/{found.pairs}",
                _figure(found.power),
                " ".join(shown) + (" ..." if len(asl) > 6 else ""),
            )
        )
    header = ("metric", "pairs told apart", "discriminative power", "p of the pairs, ascending")
    return Block("Which metric tells systems apart", header, tuple(rows))


def _by_temperature(report: SystemsReport) -> Block:
    table = report.by_temperature()
    temperatures = sorted({t for row in table.values() for t in row})
    rows = [
        (base, *(_figure(row[t].power) if t in row else "-" for t in temperatures))
        for base, row in table.items()
    ]
    heading = "Discriminative power by temperature (low is strict)"
    return Block(heading, ("metric", *(f"T={t:g}" for t in temperatures)), tuple(rows))


def _powers(views: Sequence[tuple[str, PowerView]]) -> Block:
    first = views[0][1]
    rows = [
        (
            metric,
            str(view.queries),
            f"{view.power:.2f}",
            f"{view.least:.2f}",
            f"{view.most:.2f}",
            _needed(view.needed),
            _needed(view.needed_hardest),
        )
        for metric, view in views
    ]
    header = (
        *("metric", "queries", "power", "hardest pair", "easiest pair"),
        *(f"queries for {first.target:g}", "for the hardest pair"),
    )
    heading = f"To find a difference of {first.difference:g} between two systems"
    return Block(heading, header, tuple(rows))


def _hypotheses(found: Sequence[HypothesisResult], alpha: float) -> Block:
    rows = []
    for one in found:
        number = len(one.ps)
        joined = "1 comparison" if number == 1 else f"{one.hypothesis.join} of {number} comparisons"
        digits = ["-" if math.isnan(p) else f"{p:.5f}" for p in (one.p, one.adjusted)]
        rows.append((one.hypothesis.name, joined, *digits, "yes" if one.supported else "no"))
    header = ("hypothesis", "joins", "p", "adjusted p", "supported")
    return Block(f"Hypotheses, corrected by Holm, at {alpha:g}", header, tuple(rows))


def _needed(queries: int | None) -> str:
    return f"over {MOST_QUERIES}" if queries is None else str(queries)


def _figure(value: float) -> str:
    if math.isnan(value):
        return "-"
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1%}"

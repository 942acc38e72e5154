"""The tables of a comparison that need no human rating: methods, decisions, pairs, ranks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.results.summary import MissingScores
from tcva_adapters.stats.correlation import Measure, agreement
from tcva_adapters.stats.describe import as_shown, describe, mean, seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.kappa import weighted_kappa
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.tables import (
    Column,
    Kind,
    Record,
    Records,
    Table,
    cell,
    counted,
    named_columns,
)

_REASON = 60
_QUANTILES = (
    "minimum",
    "lower_quartile",
    "median",
    "upper_quartile",
    "maximum",
)
_BOTH = ("both_pass", "only_tcva", "only_method", "both_fail")
_CORRELATIONS: dict[str, Measure] = {
    "rho": "spearman",
    "tau": "kendall",
    "r": "pearson",
}
REASONS = named_columns(
    "method",
    "reason",
    samples="int",
    example="prose",
)
"""Columns of tables that say why scores are missing."""

LEXICAL = "The lexical judge only compares words."


def method_records(table: ScoreTable) -> list[Record]:
    """Describe each method alone: n, mean and sd, quantiles, ties, ends of the scale, pass rate.

    ``tied`` is the share of pairs of samples with scores that are equal at three digits, which a
    reader cannot rank; ``mean_common`` is the mean over the samples that every method has scored.
    """
    common = np.isfinite(table.scores).all(axis=1)
    records = []
    for method, scores in table.columns:
        figures = describe(scores)
        records.append(
            {
                "method": method,
                "scored": figures["n"],
                "mean": figures["mean"],
                "mean_common": mean(scores[common]),
                "sd": math.sqrt(figures["variance"]),
                **{name: figures[name] for name in _QUANTILES},
                "tied": figures["ties"],
                "at_0": figures["at_lower"],
                "at_1": figures["at_upper"],
                "threshold": table.threshold(method),
                "pass_rate": mean(table.passes(method)[np.isfinite(scores)]),
            }
        )
    return records


def distribution_table(records: list[Record]) -> Table:
    """Tabulate the spread of scores, from the records of `method_records`."""
    columns = [
        Column("method"),
        *(Column(name, "score") for name in ("mean_common", "sd", *_QUANTILES)),
        *named_columns(at_0="share", at_1="share", threshold="score"),
    ]
    return Table(
        "distribution",
        columns,
        [
            {column.name: record[column.name] for column in columns}
            for record in records
        ],
        detail=True,
        notes=["mean common: over the samples that every method has scored"],
    )


def unscored(table: ScoreTable) -> Table:
    """Tabulate why scores are missing, with the details of the first sample for each reason."""
    records = []
    for method in table.methods:
        if method in table.views[1:]:
            continue
        missing = reasons_of_missing(table, method)
        records += missing.records(_judgement_name(table, method))
    return Table("unscored", REASONS, records)


def with_interval(figure: Estimate, kind: Kind = "interval") -> str:
    """Write a figure with its interval for a sentence.

    >>> with_interval(Estimate(0.61, 0.4, 0.75))
    '0.610 [0.40, 0.75]'
    """
    return cell(figure.value, kind, figure.low, figure.high)


def figure_row(**figures: Estimate) -> Record:
    """The cells of figures with their intervals; n, p and reason are those of the first figure.

    >>> figure_row(mean=Estimate(0.5, 0.25, 0.75, n=9))
    {'n': 9, 'p': nan, 'reason': '', 'mean': 0.5, 'mean_low': 0.25, 'mean_high': 0.75}
    """
    first = next(iter(figures.values()))
    row = {"n": first.n, "p": first.p, "reason": first.reason}
    for name, figure in figures.items():
        row |= figure.record(name)
    return row


def reason_notes(records: Records, *columns: str) -> list[str]:
    """Note why rows have no interval, each reason once with the names of its rows.

    >>> few = "too few ratings"
    >>> rows = [{"by": "a", "reason": few}, {"by": "b", "reason": ""}, {"by": "c", "reason": few}]
    >>> reason_notes(rows, "by")
    ['no interval (a, c): too few ratings']
    """
    rows: dict[str, dict[str, None]] = {}
    for record in records:
        if record["reason"]:
            name = " - ".join(record[column] for column in columns)
            rows.setdefault(record["reason"], {})[name] = None
    return [f"no interval ({', '.join(rows[reason])}): {reason}" for reason in rows]


def reasons_of_missing(table: ScoreTable, method: str) -> MissingScores:
    """Count why a method has no score, with the details of the first sample for each reason."""
    missing = MissingScores()
    for row in np.flatnonzero(np.isnan(table.column(method))).tolist():
        reason, _, detail = table.reason(table.samples[row], method).partition(":")
        reason = reason[:_REASON]
        missing.reasons[reason] += 1
        missing.details.setdefault(reason, detail.strip())
    return missing


def decisions(table: ScoreTable) -> Table:
    """Tabulate TCVA's decisions at each temperature against those of every other method."""
    views = table.views or (table.main,)
    records = [
        {"method": method, "tcva": view, **crosstab(table, view, method)}
        for method in table.methods
        if method not in views
        for view in views
    ]
    return Table(
        "decisions",
        named_columns(
            "method",
            "tcva",
            n="int",
            both_pass="int",
            only_tcva="int",
            only_method="int",
            both_fail="int",
            same="share",
            kappa="score",
        ),
        records,
        detail=True,
    )


def crosstab(table: ScoreTable, first: str, second: str) -> Record:
    """Count how often two methods' decisions coincide, on the samples that both have scored."""
    common = table.common([first, second])
    first_passes = common.passes(first)
    second_passes = common.passes(second)
    cells = 2 * ~first_passes + ~second_passes  # from 0, both pass, to 3, both fail
    return {
        "n": len(common),
        **dict(zip(_BOTH, np.bincount(cells, minlength=4), strict=True)),
        "same": mean(first_passes == second_passes),
        "kappa": weighted_kappa(first_passes, second_passes, levels=2),
    }


def pairs(table: ScoreTable) -> Table:
    """Compare every two methods on the samples that both have scored."""
    records = []
    for first, second in combinations(table.methods, 2):
        scores = table.common([first, second]).scores
        decided = crosstab(table, first, second)
        record = {
            "first": first,
            "second": second,
            "n": len(scores),
            "difference": mean(scores[:, 0] - scores[:, 1]),
            "same": decided["same"],
            "kappa": decided["kappa"],
        }
        for name, measure in _CORRELATIONS.items():
            record[name] = agreement(measure, *as_shown(measure, scores.T)).value
        records.append(record)
    return Table(
        "pairs",
        named_columns(
            "first",
            "second",
            n="int",
            rho="score",
            tau="score",
            r="score",
            difference="signed",
            same="share",
            kappa="score",
        ),
        records,
        detail=True,
        notes=[
            "rho, tau, r: Spearman, Kendall, Pearson; same, kappa: agreement on pass and fail"
        ],
    )


def ranked_differently(table: ScoreTable, most: int) -> Table:
    """List the samples that two methods rank most differently, by the share of samples below.

    Scores that are equal at three digits are ties, which count half. A sample appears once, with
    the pair of methods that differs most on it. Pairs that give it the same score, and pairs of two
    views of one judgement, are left out.
    """
    by_row: dict[int, Record] = {}
    for pair in combinations(table.methods, 2):
        if {*pair} <= {*table.views}:
            continue
        scores = table.select(methods=pair).scores
        rows = np.flatnonzero(np.isfinite(scores).all(axis=1))
        shown = seen(scores[rows])
        ranks = share_below(shown)
        gaps = np.where(np.ptp(shown, axis=1) > 0.0, np.ptp(ranks, axis=1), 0.0)
        for place in np.argsort(-gaps, kind="stable")[:most]:
            row = rows[place]
            gap = gaps[place]
            if gap <= by_row.get(row, {"difference": 0.0})["difference"]:
                continue
            lower, higher = ranks[place].argsort()
            by_row[row] = {
                "sample": table.samples[row],
                "higher": pair[higher],
                "lower": pair[lower],
                "higher_score": scores[row, higher],
                "lower_score": scores[row, lower],
                "higher_rank": ranks[place, higher],
                "lower_rank": ranks[place, lower],
                "difference": gap,
            }
    in_order = [by_row[row] for row in sorted(by_row)]
    return Table(
        "ranked differently",
        named_columns(
            "sample",
            "higher",
            "lower",
            higher_score="score",
            lower_score="score",
        ),
        sorted(in_order, key=lambda record: -record["difference"])[:most],
    )


def share_below(scores: FloatArray) -> FloatArray:
    """Compute the share of a column's scores below each of them; ties count half.

    >>> share_below(np.array([0.2, 0.9, 0.9, 0.4])).tolist()
    [0.125, 0.75, 0.75, 0.375]
    """
    ranks: FloatArray = scipy_module("stats").rankdata(scores, axis=0)
    return (ranks - 0.5) / len(scores)


def usage(table: ScoreTable) -> Table:
    """Tabulate the cost of the methods: judgements made now and before, calls, tokens, seconds."""
    return Table(
        "usage",
        named_columns(
            "method",
            judged="int",
            cached="int",
            calls="int",
            input_tokens="int",
            output_tokens="int",
            seconds="score",
        ),
        [
            {"method": _judgement_name(table, method), **spent}
            for method, spent in table.usage.items()
        ],
        detail=True,
    )


def _judgement_name(table: ScoreTable, method: str) -> str:
    """Name a method's judgement; all views of TCVA's judgement share one name."""
    return "tcva" if method in table.views else method


def usage_notes(table: ScoreTable) -> Iterator[str]:
    """Note the total cost of all methods, where it was counted."""
    total = Counter[str]()
    for spent in table.usage.values():
        total.update({name: int(number) for name, number in spent.items()})
    if total["judged"] or total["cached"]:
        yield (
            f"{counted(total['judged'], 'judgement')} made, {total['cached']} cached; "
            f"{counted(total['calls'], 'call')}, {total['input_tokens']} input and "
            f"{total['output_tokens']} output tokens"
        )

"""The parts of a comparison that need no human rating: methods, decisions, pairs, and what differs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.stats.agreement import kappa_of_table
from tcva_adapters.stats.checks import BoolArray, IntArray
from tcva_adapters.stats.correlation import Measure, agreement
from tcva_adapters.stats.describe import as_shown, seen, tie_probability
from tcva_adapters.tables import Record, Table, counted, named_columns

_REASON: Final = 60
_BOTH: Final = ("both_pass", "only_tcva", "only_method", "both_fail")
REASONS: Final = named_columns(
    method="text",
    reason="text",
    samples="int",
    example="prose",
)
"""Of tables that say why scores are missing."""

LEXICAL: Final = "The lexical judge only compares words."


def views_of(table: ScoreTable) -> tuple[str, ...]:
    """The methods that are views of TCVA's one judgement at several temperatures."""
    return table.views


def main_of(table: ScoreTable) -> str:
    """The main method, which others are compared with: TCVA at the middle temperature, else the first."""
    return table.main


def method_records(table: ScoreTable) -> list[Record]:
    """Each method alone: n, mean and sd, quantiles, ties, ends of the scale, pass rate.

    ``tied`` is the share of pairs of samples with scores that are equal at three digits, which a
    reader cannot rank; ``mean_common`` is of the samples that every method has scored.
    """
    common = np.isfinite(table.scores).all(axis=1)
    records = []
    for method, column in table.columns:
        scored = np.isfinite(column)
        known = column[scored]
        five = (
            np.quantile(known, [0, 0.25, 0.5, 0.75, 1])
            if len(known)
            else np.full(5, np.nan)
        )
        names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
        records.append(
            {
                "method": method,
                "scored": len(known),
                "mean": mean(known),
                "mean_common": mean(column[common]),
                "sd": float(known.std(ddof=1)) if len(known) > 1 else math.nan,
                **dict(zip(names, five.tolist(), strict=True)),
                "tied": tie_probability(known),
                "at_0": mean(seen(known) == 0.0),
                "at_1": mean(seen(known) == 1.0),
                "threshold": table.threshold(method),
                "pass_rate": mean(table.passes(method)[scored]),
            }
        )
    return records


def distribution(records: list[Record]) -> Table:
    """What `method_records` says of the spread of scores."""
    columns = named_columns(
        method="text",
        mean_common="score",
        sd="score",
        minimum="score",
        lower_quartile="score",
        median="score",
        upper_quartile="score",
        maximum="score",
        at_0="share",
        at_1="share",
        threshold="score",
    )
    shown = [
        {column.name: record[column.name] for column in columns} for record in records
    ]
    notes = ["mean common: over the samples that every method has scored"]
    return Table("distribution", columns, shown, detail=True, notes=notes)


def unscored(table: ScoreTable) -> Table:
    """Why scores are missing, with what the first sample says of it."""
    records: list[Record] = []
    views = views_of(table)
    for method, column in table.columns:
        if method in views[1:]:
            continue
        found: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for row in np.flatnonzero(np.isnan(column)).tolist():
            reason, _, detail = table.reason(table.samples[row], method).partition(":")
            word = reason[:_REASON]
            found[word] += 1
            examples.setdefault(word, detail.strip())
        shown = "tcva" if method in views else method
        records += [
            {
                "method": shown,
                "reason": word,
                "samples": number,
                "example": examples[word],
            }
            for word, number in found.most_common()
        ]
    return Table("unscored", REASONS, records)


def decisions(table: ScoreTable) -> Table:
    """Pass and fail under TCVA at each temperature against every other method's own."""
    views = views_of(table) or (main_of(table),)
    records = [
        {
            "method": other,
            "tcva": view,
            **crosstab(table, view, other),
        }
        for other in table.methods
        if other not in views
        for view in views
    ]
    columns = named_columns(
        method="text",
        tcva="text",
        n="int",
        both_pass="int",
        only_tcva="int",
        only_method="int",
        both_fail="int",
        same="share",
        kappa="score",
    )
    return Table("decisions", columns, records, detail=True)


def crosstab(table: ScoreTable, first: str, second: str) -> Record:
    """How often two methods' decisions coincide, on the samples that both have scored."""
    a, b = table.column(first), table.column(second)
    both = np.isfinite(a) & np.isfinite(b)
    ours, theirs = table.passes(first)[both], table.passes(second)[both]
    counts = counted_decisions(ours, theirs)
    return {
        "n": int(both.sum()),
        **dict(zip(_BOTH, counts.ravel().tolist(), strict=True)),
        "same": mean(ours == theirs),
        "kappa": kappa_of_table(counts),
    }


def counted_decisions(first: BoolArray, second: BoolArray) -> IntArray:
    """Passes and fails of the first by those of the second, shape (2, 2).

    >>> counted_decisions(np.array([True, True, False]), np.array([True, False, False])).tolist()
    [[1, 1], [0, 1]]
    """
    cells = 2 * ~first + ~second  # from 0, both pass, to 3, both fail
    return np.bincount(cells, minlength=4).reshape(2, 2)


def pairs(table: ScoreTable) -> Table:
    """Every two methods on the samples that both have scored."""
    measures: dict[str, Measure] = {
        "rho": "spearman",
        "tau": "kendall",
        "r": "pearson",
    }
    records = []
    for first, second in combinations(table.methods, 2):
        both = table.common([first, second]).scores
        found = crosstab(table, first, second)
        records.append(
            {
                "first": first,
                "second": second,
                "n": len(both),
                **{
                    name: agreement(m, *as_shown(m, both.T)).value
                    for name, m in measures.items()
                },
                "difference": mean(both[:, 0] - both[:, 1]),
                "same": found["same"],
                "kappa": found["kappa"],
            }
        )
    columns = named_columns(
        first="text",
        second="text",
        n="int",
        rho="score",
        tau="score",
        r="score",
        difference="signed",
        same="share",
        kappa="score",
    )
    notes = [
        "rho, tau, r: Spearman, Kendall, Pearson; same, kappa: agreement on pass and fail"
    ]
    return Table("pairs", columns, records, detail=True, notes=notes)


def ranked_differently(table: ScoreTable, most: int) -> Table:
    """The samples that two methods rank most differently, by the share of samples below.

    Ties, equal to three digits, count half. A sample appears once, with the pair that differs most about it; a
    pair that gives it the same score, or of two views of one judgement, is left out.
    """
    views = set(views_of(table))
    found: dict[int, Record] = {}
    for pair in combinations(table.methods, 2):
        if views.issuperset(pair):
            continue
        scores = np.stack([table.column(name) for name in pair], axis=1)
        rows = np.flatnonzero(np.isfinite(scores).all(axis=1))
        shown = seen(scores[rows])
        ranks = np.stack([share_below(column) for column in shown.T], axis=1)
        gaps = np.abs(ranks[:, 0] - ranks[:, 1]) * (np.ptp(shown, axis=1) > 0.0)
        for at in np.argsort(-gaps, kind="stable")[:most].tolist():
            row = int(rows[at])
            if gaps[at] <= found.get(row, {"difference": 0.0})["difference"]:
                continue
            up = int(ranks[at, 1] > ranks[at, 0])
            found[row] = {
                "sample": table.samples[row],
                "higher": pair[up],
                "lower": pair[1 - up],
                "higher_score": float(scores[row, up]),
                "lower_score": float(scores[row, 1 - up]),
                "higher_rank": float(ranks[at, up]),
                "lower_rank": float(ranks[at, 1 - up]),
                "difference": float(gaps[at]),
            }
    ordered = sorted(found.items(), key=lambda item: (-item[1]["difference"], item[0]))
    columns = named_columns(
        sample="text",
        higher="text",
        lower="text",
        higher_score="score",
        lower_score="score",
    )
    return Table("ranked differently", columns, [each for _, each in ordered[:most]])


def share_below(scores: FloatArray) -> FloatArray:
    """The share of the scores below each, ties counted half.

    >>> share_below(np.array([0.2, 0.9, 0.9, 0.4])).tolist()
    [0.125, 0.75, 0.75, 0.375]
    """
    ordered = np.sort(scores)
    below, up_to = (
        np.searchsorted(ordered, scores, side) for side in ("left", "right")
    )
    return (below + up_to) / 2 / max(len(scores), 1)


def usage(table: ScoreTable) -> Table:
    """What the methods took: judgements made now and before, calls, tokens, seconds."""
    views = views_of(table)
    records = [
        {"method": "tcva" if method in views else method, **spent}
        for method, spent in table.usage.items()
    ]
    columns = named_columns(
        method="text",
        judged="int",
        cached="int",
        calls="int",
        input_tokens="int",
        output_tokens="int",
        seconds="score",
    )
    return Table("usage", columns, records, detail=True)


def used(table: ScoreTable) -> Iterator[str]:
    """The same in a sentence; nothing where nobody counted."""
    total: Counter[str] = Counter()
    for spent in table.usage.values():
        total.update({name: int(number) for name, number in spent.items()})
    if total["judged"] or total["cached"]:
        yield (
            f"{counted(total['judged'], 'judgement')} made, {total['cached']} cached; "
            f"{counted(total['calls'], 'call')}, {total['input_tokens']} input and "
            f"{total['output_tokens']} output tokens"
        )


def mean(values: FloatArray | BoolArray) -> float:
    """The mean; nan of nothing."""
    return float(values.mean()) if len(values) else math.nan

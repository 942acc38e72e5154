"""Agreement with human ratings within groups and between them, and between systems."""

from __future__ import annotations

import math

import numpy as np

from tcva_adapters.compare.agreement.method_tables import reason_notes
from tcva_adapters.compare.scores.table import ScoreTable, rows_by_label
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.correlation import value_of
from tcva_adapters.stats.describe import mean, seen
from tcva_adapters.stats.inference import estimate
from tcva_adapters.tables import Column, Record, Table, cell, named_columns

_SYSTEMS = "systems"
_FEWEST = 5
"""From fewer means, a correlation says too little for a sentence."""

_MOST_SYSTEMS = 100
"""With more, the field holds something else, such as prompts."""


def within_and_between(table: ScoreTable, level: float = 0.95) -> Table:
    """Tabulate each method's Spearman correlation with ratings within and between groups.

    Within groups it is the mean of the groups' own correlations, of those in which both scores and
    ratings vary. Between groups, and between systems (the field ``system`` of the metadata), it is
    that of mean scores and mean ratings. For systems it stands beside pairwise accuracy: the share of
    pairs that the method orders as people do, of those with different mean ratings (T. Kocmi et al.,
    To ship or not to ship, WMT 2021).

    Args:
        table: A table with ratings.
        level: Level of the intervals.

    Returns:
        Rows by method; none where there is neither a group nor a system.
    """
    records: list[Record] = []
    for method in table.methods:
        known = table.common([method]).rated
        pairs = np.column_stack([known.scores, known.rating])
        systems = [metadata.get("system") for metadata in known.metadata]
        for name, labels, most in (
            ("groups", known.groups, len(pairs)),
            (_SYSTEMS, systems, _MOST_SYSTEMS),
        ):
            parts = [pairs[rows].T for rows in rows_by_label(labels).values()]
            if not 2 <= len(parts) <= most:
                continue
            means = np.array([part.mean(axis=1) for part in parts]).T
            own, human = means
            figures = {}
            accuracy = math.nan
            if name == _SYSTEMS:
                accuracy = pairwise_accuracy(means)
            else:
                rhos = [value_of("spearman", seen(part[0]), part[1]) for part in parts]
                figures["within"] = estimate("mean", rhos, level=level)
            figures["between"] = estimate("spearman", [seen(own), human], level=level)
            records += [
                {
                    "method": method,
                    "where": f"{where} {name}",
                    "n": figure.n,
                    **figure.record("spearman"),
                    "pairwise_accuracy": accuracy,
                    "reason": figure.reason.replace("samples", name),
                }
                for where, figure in figures.items()
            ]
    return Table(
        "within and between",
        named_columns(
            "method",
            "where",
            n="int",
            spearman="interval",
            pairwise_accuracy="share",
        ),
        records,
        detail=True,
        notes=[
            "within groups: the mean of their correlations, of those n in which scores and ratings vary; between: of n means",
            "pairwise accuracy: of the pairs of systems whose mean ratings differ, those in the same order by score",
            *reason_notes(records, "where"),
        ],
    )


def parts_text(table: Table, method: str) -> str:
    """Write a method's correlations from `within_and_between` for a sentence; empty without any.

    Those of fewer than five groups or systems are left to the table.
    """
    column = Column("spearman", "interval")
    texts = []
    for record in table.records:
        if record["method"] == method:
            n = record["n"]
            if n >= _FEWEST:
                texts.append(f"{column.cell(record)} {record['where']} (n = {n})")
            if not math.isnan(record["pairwise_accuracy"]):
                share = cell(record["pairwise_accuracy"], "share")
                texts.append(f"{share} of pairs of {n} systems in the same order")
    return ", ".join(texts)


def pairwise_accuracy(means: FloatArray) -> float:
    """The share of pairs of different mean ratings whose mean scores have the same order.

    Args:
        means: Mean scores and mean ratings, shape (2, systems).

    >>> round(pairwise_accuracy(np.array([[0.2, 0.5, 0.4], [0.1, 0.3, 0.9]])), 3)
    0.667
    """
    scores, ratings = np.sign((means[:, :, None] - means[:, None, :]).round(12))
    return mean((scores == ratings)[ratings > 0.0])

"""Compare a method's decisions, pass or fail by score, with those of people, by rating."""

from __future__ import annotations

import numpy as np

from tcva_adapters.compare.agreement.method_tables import figure_row, reason_notes
from tcva_adapters.compare.scores.ratings import is_on_scale, passes_by_rating
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.stats.decisions import auc, decision_estimate, kappa
from tcva_adapters.stats.describe import seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.inference import estimate
from tcva_adapters.tables import Record, Table, named_columns

AUC_NOTE = "auc: how often an answer whose rating passes scores higher than one whose rating does not"


def rated_decisions(
    table: ScoreTable, method: str, passes_at: float, level: float = 0.95
) -> dict[str, Estimate]:
    """Estimate how a method's decisions agree with those by rating, on samples that have both.

    Args:
        table: A table with ratings.
        method: The method.
        passes_at: The lowest rating that passes.
        level: Level of the intervals.

    Returns:
        ``precision`` and ``recall`` of passing by score, ``same_decision``, ``rating_passes``,
        Cohen's ``kappa``, and ``auc`` of the scores, which depends on no threshold.
    """
    known = table.common([method]).rated
    groups = known.known_groups
    passes = known.passes(method)
    is_good = passes_by_rating(known.rating, passes_at)
    shares = {
        "precision": np.where(passes, is_good, np.nan),
        "recall": np.where(is_good, passes, np.nan),
        "same_decision": passes == is_good,
        "rating_passes": is_good,
    }
    figures = {
        name: estimate("share", values, groups, level=level)
        for name, values in shares.items()
    }
    scores = seen(known.column(method))
    figures["kappa"] = decision_estimate(kappa, passes, is_good, groups, level=level)
    figures["auc"] = decision_estimate(auc, scores, is_good, groups, level=level)
    return figures


def decisions_by_rating(table: ScoreTable, passes_at: float) -> Table:
    """Tabulate every method's decisions against those by ratings in [0, 1]; otherwise empty."""
    records: list[Record] = []
    for method in table.methods if is_on_scale(table.rating) else ():
        figures = rated_decisions(table, method, passes_at)
        beyond = figures.pop("kappa")
        records.append({"method": method, **figure_row(kappa=beyond, **figures)})
    return Table(
        "decisions by rating",
        named_columns(
            "method",
            n="int",
            rating_passes="share",
            kappa="interval",
            auc="interval",
            precision="interval",
            recall="interval",
        ),
        records,
        detail=True,
        notes=[
            f"a rating passes from {passes_at:g}; precision: of the samples that the method passes, recall: of those whose rating passes",
            AUC_NOTE,
            *reason_notes(records, "method"),
        ],
    )

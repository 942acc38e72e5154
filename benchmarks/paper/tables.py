"""Tables 5 to 9 of the paper from stored verdicts and scores, each as records of one set.

The paper's digits come from scores rounded to four decimals, so its tables are made of those. A
sample without a score is left out, never counted as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from benchmarks.paper.digits import CONFIGURATIONS, TEMPERATURES, Rows
from tcva_adapters.compare.combined_methods import gains, members_of, with_fused
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.aggregation import scores_of
from tcva_adapters.core.collapse import ablation_plans, binary_counts
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.core.verdicts import SCHEMES, FloatArray
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.bootstrap import interval_shares
from tcva_adapters.stats.checks import in_all
from tcva_adapters.stats.correlation import agreement, value_of
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.inference import MIN_SAMPLES_OF_RANKS, difference, estimate
from tcva_adapters.stats.p_values import spearman_resamples
from tcva_adapters.stats.sampling_units import Units
from tcva_adapters.tables import counted

_DECIMALS: Final = 4
_SAME: Final = 1e-12
_FUSED: Final = ("tcva + ragas", "tcva + lexical", "tcva + ragas + lexical")


def _others(table: ScoreTable, *names: str) -> dict[str, FloatArray]:
    return {name: table.column(name) for name in names if name in table.methods}


def paper_scores(
    table: ScoreTable, temperature: float, *, count_empty: bool = False
) -> FloatArray:
    """TCVA's scores as the paper has them: stored, or recomputed and rounded to four decimals.

    Args:
        table: A set with verdicts.
        temperature: Any.
        count_empty: Keep the score that is stored for a sample without verdicts.

    Returns:
        Shape (N,); nan where there are no verdicts.
    """
    computed = table.at(temperature).round(_DECIMALS)
    if (name := f"T={temperature:g}") not in table.methods:
        return computed
    stored = table.column(name)
    scores = np.where(np.isnan(stored), computed, stored)
    return scores if count_empty else np.where(np.isnan(computed), np.nan, scores)


def tables_5_and_6(table: ScoreTable, *, count_empty: bool = False) -> dict[str, Rows]:
    """Agreement of each method with human ratings over all samples it scored, by table and method.

    >>> ratings, verdicts = np.array([0.0, 0.5, 1.0]), np.eye(5)[[4, 2, 0]][:, None]
    >>> table = ScoreTable(("a", "b", "c"), (), np.empty((3, 0)), ratings, counts=verdicts)
    >>> found = tables_5_and_6(table)
    >>> found["Table 5"]["T=0.5"]["n"], round(found["Table 6"]["T=0.5"]["mae"], 3)
    (3, 0.067)
    """
    columns = {
        f"T={t:g}": paper_scores(table, t, count_empty=count_empty)
        for t in TEMPERATURES
    }
    columns |= _others(table, "ragas", "deepeval")
    five: Rows = {}
    six: Rows = {}
    for name, scores in columns.items():
        rho, tau, mae = (
            agreement(m, scores, table.rating) for m in ("spearman", "kendall", "mae")
        )
        five[name] = {"n": rho.n, "rho": rho.value}
        six[name] = {"tau": tau.value, "mae": mae.value}
    for t in TEMPERATURES:
        five[f"T={t:g}"]["unrounded"] = _rho(table, table.at(t))
    return {"Table 5": five, "Table 6": six}


def _rho(table: ScoreTable, scores: FloatArray) -> float:
    return agreement("spearman", scores, table.rating).value


def table_8(
    table: ScoreTable, temperature: float, *, count_empty: bool, **drawn: Any
) -> dict[str, Rows]:
    """Bootstrap intervals of rho by method, and TCVA minus RAGAS on the samples that both scored."""
    columns = {"tcva": paper_scores(table, temperature, count_empty=count_empty)}
    columns |= _others(table, "ragas", "deepeval")
    eight: Rows = {}
    for name, scores in columns.items():
        found = bootstrapped(scores, table.rating, **drawn)
        eight[name] = {"n": found.n, **found.record("rho"), "reason": found.reason}
    if "ragas" not in columns:
        return {"Table 8": eight}
    sides = columns["tcva"], columns["ragas"]
    test = difference("spearman", *sides, table.rating, **drawn)
    one_sided = _one_sided(*sides, table.rating, **drawn)
    row = {
        "n": test.n,
        **test.record("difference"),
        "p": test.p,
        "p_one_sided": one_sided,
    }
    return {"Table 8": eight, "Table 8, difference": {"TCVA minus RAGAS": row}}


def bootstrapped(
    scores: FloatArray,
    human: FloatArray,
    groups: Sequence[object] | None = None,
    *,
    resamples: int,
    seed: int,
) -> Estimate:
    """Spearman's rho with the quantiles of bootstrap resamples as its 95 % interval."""
    found = estimate("spearman", [scores, human], groups)
    (scores, human), used = in_all({"scores": scores, "human": human})
    units = Units(groups, used)
    if (
        reason := units.why_no_interval(MIN_SAMPLES_OF_RANKS, scores, human)
        or found.reason
    ):
        return replace(found, low=math.nan, high=math.nan, reason=reason)
    [rhos] = spearman_resamples([scores], human, units.codes, resamples, seed)
    low, high = np.nanquantile(
        rhos, interval_shares(found.level, units.clusters)
    ).tolist()
    return replace(found, low=low, high=high)


def _one_sided(
    first: FloatArray,
    second: FloatArray,
    human: FloatArray,
    *,
    resamples: int,
    seed: int,
) -> float:
    """The share of resamples in which the second leads by what the first one leads by on all samples."""
    (*sides, ratings), _ = in_all({"first": first, "second": second, "human": human})
    if len(ratings) < 2:
        return math.nan
    drawn = spearman_resamples(sides, ratings, None, resamples, seed)
    ahead = drawn[0] - drawn[1]
    one, other = (value_of("spearman", side, ratings) for side in sides)
    ahead_by = one - other
    known = ahead[np.isfinite(ahead)]
    if np.isnan(ahead_by) or not len(known):
        return math.nan
    return float(
        np.mean(-known >= ahead_by - _SAME)
    )  # the same on paper, but for the last bits


def tables_7_and_9(table: ScoreTable, temperature: float) -> dict[str, Rows]:
    """Rho of TCVA under each weight scheme, and with parts of the method taken out."""
    parts = []
    if table.counts is not None:
        rows = table.counts[:, 0]
        parts = [
            scores_of(binary_counts(rows) if part == "binary" else rows, plan)[:, 0]
            for part, plan in ablation_plans([temperature]).items()
        ]
    at = ScoringConfig(temperature=temperature)
    scores = {
        "Table 7": {
            name: table.at(at.changed(scheme=scheme))
            for name, scheme in SCHEMES.items()
        },
        "Table 9": dict(zip(CONFIGURATIONS, parts, strict=False)),
    }
    return {
        title: {
            row: {"rho": _rho(table, column.round(_DECIMALS))}
            for row, column in of.items()
        }
        for title, of in scores.items()
    }


def fused(table: ScoreTable, **drawn: Any) -> Rows:
    """Geometric means of TCVA (T=0.5, unrounded) with RAGAS and with the lexical judge."""
    table = table.with_method("tcva", table.at(BALANCED))
    known = [text for text in _FUSED if {*members_of(text)} <= {*table.methods}]
    for text in known:
        table = with_fused(table, text)
    return dict(zip(known, map(dict, gains(table, **drawn).records), strict=True))


def empty_note(table: ScoreTable) -> str:
    """How many samples have no verdict, and how many of them a stored score."""
    empty = table.select(np.isnan(table.at(BALANCED)))
    stored = [name for name in table.methods if name.startswith("T=")]
    used = int(np.isfinite(empty.select(methods=stored).scores).any(axis=1).sum())
    verb = "has" if len(empty) == 1 else "have"
    what = "--count-empty counts these in Tables 5, 6 and 8"
    number = counted(len(empty), "sample")
    return f"{number} {verb} no verdicts, {used} of them a stored score ({what})."

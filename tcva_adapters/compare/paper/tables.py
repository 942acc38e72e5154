"""Tables 5 to 9 of the paper from stored verdicts and scores, each a function of a set.

The paper's digits come from scores rounded to four decimals, so its tables are made of those. A
sample without a score is left out, never counted as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.fused import FEWEST  # as in the paper, for every interval
from tcva_adapters.compare.paper.data import PaperSet
from tcva_adapters.compare.paper.digits import TEMPERATURES
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.collapse import ablation
from tcva_adapters.core.verdicts import LEVELS, SCHEMES, FloatArray
from tcva_adapters.stats.bootstrap import PairedDifference, interval, paired_difference
from tcva_adapters.stats.correlation import agreement

LEVEL: Final = 0.95
"""Confidence of every interval."""

_PAPER_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class Agreement:
    """A row of Tables 5 and 6: agreement with human ratings, nan where it is not defined.

    Attributes:
        n: Samples with a score of the method and one human rating.
        rho: Spearman's rank correlation, in [-1, 1].
        tau: Kendall's tau-b, in [-1, 1].
        mae: Mean absolute difference, in [0, 1].
    """

    n: int
    rho: float
    tau: float
    mae: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """A row of Table 8: Spearman's rho and its 95 % bootstrap percentile interval."""

    rho: float
    low: float
    high: float


def temperatures_of(data: PaperSet) -> list[float]:
    """The paper's five temperatures and whatever else is stored; none without a verdict file."""
    return [] if data.counts is None else sorted({*TEMPERATURES, *data.stored})


def paper_scores(data: PaperSet, temperature: float, *, count_empty: bool = False) -> FloatArray:
    """TCVA's scores as the paper has them: stored, or recomputed and rounded to four decimals.

    Args:
        data: A set with verdicts.
        temperature: Any.
        count_empty: Keep the score that is stored for a sample without verdicts.

    Returns:
        Shape (N,); nan where there are no verdicts.
    """
    computed = full_scores(data, [temperature])[:, 0].round(_PAPER_DECIMALS)
    stored = data.stored.get(temperature)
    if stored is None:
        return computed
    scores = np.where(np.isnan(stored), computed, stored)
    return scores if count_empty else np.where(np.isnan(computed), np.nan, scores)


def full_scores(data: PaperSet, temperatures: Sequence[float]) -> FloatArray:
    """TCVA's scores from the verdicts, unrounded: shape (N, temperatures), nan without verdicts."""
    counts = np.zeros((len(data.ids), len(LEVELS))) if data.counts is None else data.counts
    return sweep(counts, temperatures)


def table5(data: PaperSet, *, count_empty: bool = False) -> dict[str, Agreement]:
    """Tables 5 and 6: agreement of each method with human ratings, over all samples it scored.

    Args:
        data: A set.
        count_empty: Count samples without verdicts with the score stored for them.

    Returns:
        Rows ``T=0.2`` and so on (with verdicts), then ``ragas`` and ``deepeval`` (with their files).

    Raises:
        MissingDependencyError: scipy is not installed.

    >>> ratings, verdicts = np.array([0.0, 0.5, 1.0]), np.eye(5)[[4, 2, 0]]  # none, partial, fully
    >>> row = table5(PaperSet("mine", ("a", "b", "c"), ratings, verdicts))["T=0.5"]
    >>> row.n, round(row.rho, 3), round(row.tau, 3), round(row.mae, 3)  # |0.7 - 0.5| / 3
    (3, 1.0, 1.0, 0.067)
    """
    columns = {
        f"T={t:g}": paper_scores(data, t, count_empty=count_empty) for t in temperatures_of(data)
    }
    columns |= data.framework_scores
    return {name: _agreement(scores, data.human) for name, scores in columns.items()}


def _agreement(scores: FloatArray, human: FloatArray) -> Agreement:
    rho = agreement("spearman", scores, human)
    tau = agreement("kendall", scores, human)
    mae = agreement("mae", scores, human)
    return Agreement(rho.n, rho.value, tau.value, mae.value)


def table7(data: PaperSet, temperature: float) -> dict[str, float]:
    """Rho of TCVA under each weight scheme, scores rounded as in the paper."""
    if data.counts is None:
        return {}
    return {
        name: _rho(sweep(data.counts, [temperature], scheme=scheme)[:, 0], data.human)
        for name, scheme in SCHEMES.items()
    }


def _rho(scores: FloatArray, human: FloatArray) -> float:
    return agreement("spearman", scores.round(_PAPER_DECIMALS), human).value


def table8(
    data: PaperSet, temperature: float, *, n_boot: int, seed: int, count_empty: bool = False
) -> tuple[dict[str, Confidence], PairedDifference | None]:
    """Bootstrap intervals of rho, and the paired test of TCVA against RAGAS."""
    columns: dict[str, FloatArray] = {}
    if data.counts is not None:
        columns["tcva"] = paper_scores(data, temperature, count_empty=count_empty)
    columns |= data.framework_scores
    drawn: dict[str, Any] = {"n_boot": n_boot, "level": LEVEL, "seed": seed}
    rows = {}
    for name, scores in columns.items():
        found = interval("spearman", scores, data.human, method="percentile", **drawn)
        if found.n >= FEWEST:
            rows[name] = Confidence(found.value, found.low, found.high)
    if not {"tcva", "ragas"} <= rows.keys():
        return rows, None
    test = paired_difference("spearman", columns["tcva"], columns["ragas"], data.human, **drawn)
    return rows, test if test.n >= FEWEST else None


def table9(data: PaperSet, temperature: float) -> dict[str, float]:
    """Rho with parts of the method taken out, scores rounded as in the paper."""
    if data.counts is None:
        return {}
    parts = ablation(data.counts, temperature)
    columns = zip("ABCD", parts.values(), strict=True)
    return {name: _rho(scores, data.human) for name, scores in columns}


def unrounded(data: PaperSet) -> dict[str, float]:
    """Rho by temperature from the verdicts alone, without the rounding of stored scores."""
    temperatures = temperatures_of(data)
    scores = full_scores(data, temperatures)
    return {
        f"T={t:g}": agreement("spearman", column, data.human).value
        for t, column in zip(temperatures, scores.T, strict=True)
    }

"""What the check of the quotes does to scores and decisions: three views of the same judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.judged import Judged
from tcva_adapters.compare.sweep_views import View
from tcva_adapters.core.aggregation import make_plan
from tcva_adapters.core.evidence import EVIDENCE, Evidence
from tcva_adapters.printing import Table, share
from tcva_adapters.results.level_table import LevelTable
from tcva_adapters.results.scoring import Scoring
from tcva_adapters.stats.exact_mean import ExactMean

_OWN: Evidence = "off"
"""The judges' own levels, which the others are held against."""


@dataclass(frozen=True, slots=True)
class EvidenceEffect:
    """What one view of the evidence makes of the judgements.

    Attributes:
        evidence: The view.
        mean: Mean score of the samples with a score.
        passed: How many of them pass.
        scored: How many there are.
        lowered: How many verdicts it lowers. Of a panel these are its judges', and those of
            additional judges count, too.
        decisions: How many samples pass here and do not by the judges' own levels, or the other
            way round.
    """

    evidence: Evidence
    mean: float
    passed: int
    scored: int
    lowered: int
    decisions: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "evidence": self.evidence,
            "mean_score": self.mean,
            "pass_rate": self.passed / self.scored,
            "scored": self.scored,
            "verdicts_lowered": self.lowered,
            "decisions_changed": self.decisions,
        }


def evidence_effects(judged: Judged, scoring: Scoring) -> tuple[EvidenceEffect, ...]:
    """The views beside each other, at one setting of the dial; none where they are all alike.

    Args:
        judged: What was judged.
        scoring: The setting; several judges are fused by their geometric mean.
    """
    if not judged.quotes.has_faults:
        return ()
    view = View(make_plan([scoring.temperature], **scoring.options))
    own = judged.tables[_OWN]
    found: dict[int, tuple[float, int, int]] = {}
    for table in judged.tables.values():
        if id(table) not in found:
            found[id(table)] = _looked_at(table, own, view, scoring.threshold)
    return tuple(
        EvidenceEffect(
            *(evidence, mean, passed, judged.scored),
            lowered=judged.quotes.under(evidence).lowered,
            decisions=decisions,
        )
        for evidence in reversed(EVIDENCE)
        for mean, passed, decisions in [found[id(judged.tables[evidence])]]
    )


def _looked_at(
    table: LevelTable, own: LevelTable, view: View, threshold: float
) -> tuple[float, int, int]:
    """The mean score, how many pass, and how many decisions differ from those by another table."""
    mean, passed, decisions = ExactMean(1), 0, 0
    for counts, others in zip(table.blocks(), own.blocks(), strict=True):
        scores = view(counts)
        passes = _passes(scores, threshold)
        mean.add(scores)
        passed += int(passes.sum())
        if table is not own:
            decisions += int((passes != _passes(view(others), threshold)).sum())
    return mean.values()[0], passed, decisions


def _passes(scores: npt.NDArray[np.float64], threshold: float) -> npt.NDArray[np.bool_]:
    passes: npt.NDArray[np.bool_] = scores[:, 0] >= threshold  # nan does not
    return passes


def effect_table(effects: Sequence[EvidenceEffect]) -> Table:
    """The same for reading."""
    cells = [
        (
            each.evidence,
            f"{each.mean:.3f}",
            share(each.passed / each.scored),
            str(each.lowered),
            str(each.decisions),
        )
        for each in effects
    ]
    return Table(("evidence", "mean", "pass", "verdicts lowered", "decisions changed"), cells, "lr")

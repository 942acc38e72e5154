"""Ways to score a table of level counts, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcva_adapters.core.aggregation import Plan, scores_of
from tcva_adapters.core.collapse import binary_counts
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.results.level_table import LevelTable
from tcva_adapters.results.scoring import GEOMETRIC
from tcva_adapters.stats.exact_mean import ExactMean


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One way to score, at several temperatures.

    Attributes:
        plan: The settings.
        is_binary: Two levels in place of five.
    """

    plan: Plan
    is_binary: bool = False

    def __call__(self, counts: FloatArray) -> FloatArray:
        """The scores of checked counts of shape (n, J, 5), fused where J > 1: (n, temperatures)."""
        by_judge = counts.swapaxes(0, 1)
        return GEOMETRIC.joined(
            [scores_of(binary_counts(c) if self.is_binary else c, self.plan) for c in by_judge]
        )


def means_of(table: LevelTable, views: Sequence[View]) -> list[list[float]]:
    """The mean scores of all samples with a score, per view and temperature."""
    means = [ExactMean(len(view.plan.temperatures)) for view in views]
    for block in table.blocks():
        for view, mean in zip(views, means, strict=True):
            mean.add(view(block))
    return [mean.values() for mean in means]

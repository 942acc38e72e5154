"""Ways to score a table of level counts, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tcva_adapters.core.aggregation import Plan, scores_of
from tcva_adapters.core.collapse import binary_counts
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.exact_mean import ExactMean

BLOCK: Final = 65_536
"""Samples that are looked at together: enough of them for equal ones to be scored once."""


def blocks(counts: FloatArray) -> Iterator[FloatArray]:
    """The counts of all samples some at a time."""
    for start in range(0, len(counts), BLOCK):
        yield counts[start : start + BLOCK]


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
        return ScoringConfig().joined(
            [scores_of(binary_counts(c) if self.is_binary else c, self.plan) for c in by_judge]
        )


def means_of(counts: FloatArray, views: Sequence[View]) -> list[list[float]]:
    """The mean scores of all samples with a score, per view and temperature."""
    means = [ExactMean(len(view.plan.temperatures)) for view in views]
    for block in blocks(counts):
        for view, mean in zip(views, means, strict=True):
            mean.add(view(block))
    return [mean.values() for mean in means]

"""Scores with parts of the method taken out, by the plans that sweeps use."""

from typing import Any

import numpy.typing as npt

from tcva_adapters.core.aggregation import check_counts, scores_of
from tcva_adapters.core.collapse import ablation_plans, binary_counts
from tcva_adapters.core.verdicts import FloatArray


def ablation(
    counts: npt.ArrayLike, temperature: float | str, **options: Any
) -> dict[str, FloatArray]:
    """The scores of each variant, shape (N,)."""
    rows = check_counts(counts)
    return {
        name: scores_of(binary_counts(rows) if name == "binary" else rows, plan)[:, 0]
        for name, plan in ablation_plans([temperature], **options).items()
    }

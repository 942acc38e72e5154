"""What fusing several judges gains over the best one of them, before any setting is chosen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tcva_adapters.compare.calibration.candidates import score_matrix
from tcva_adapters.compare.calibration.nested import Resampling
from tcva_adapters.compare.fused import FusedRow, gain_of
from tcva_adapters.compare.judged import Judged
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import FloatArray


def fusing_gain(
    judged: Judged,
    ratings: FloatArray,
    scoring: ScoringConfig,
    groups: Sequence[Hashable] | None,
    drawn: Resampling,
) -> FusedRow | None:
    """The gain of the fused score by Spearman, at the setting in use, which saw no rating.

    All judges together are the one combination that is looked at.

    Args:
        judged: Whose judges were fused.
        ratings: Shape (N,); nan where there is none.
        scoring: The setting in use.
        groups: Shape (N,), or None; samples of one group are drawn together.
        drawn: Resamples and seed.

    Returns:
        None for a single judge, and for fewer than ten samples with all scores and a rating.
    """
    counts = judged.counts
    judges = counts.shape[1]
    if judges < 2:
        return None
    names = [f"{judged.criterion} by {judged.judge}", *judged.fused] if judged.judge else []
    if len(set(names)) != judges:
        names = [f"judge {number}" for number in range(1, judges + 1)]
    members = {
        name: score_matrix(counts[:, [number]], [scoring])[:, 0]
        for number, name in enumerate(names)
    }
    return gain_of(
        score_matrix(counts, [scoring])[:, 0],
        members,
        ratings,
        n_boot=drawn.n_boot,
        seed=drawn.seed,
        groups=groups,
    )

"""What fusing TCVA with other methods gives on the paper's sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tcva_adapters.compare.paper import PaperSet
from tcva_adapters.compare.reproduce_tables import FEWEST, LEVEL, full_scores, scored_by_all
from tcva_adapters.core.panel import fuse
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.sample import Sample
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.correlation import agreement


@dataclass(frozen=True, slots=True)
class FusedRow:
    """A geometric mean of several methods, and its gain over the best of them.

    Attributes:
        n: Samples that every member has scored, and people too.
        rho: Spearman's rho of the fused score.
        low: Lower end of its 95 % interval.
        high: Its upper end.
        best: The member with the highest rho on the same samples.
        best_rho: That rho.
        gain: ``rho - best_rho``.
        gain_low: Lower end of the 95 % interval of the gain, from resamples of the same samples.
        gain_high: Its upper end.
        p_two_sided: The paired bootstrap's p against no gain.
    """

    n: int
    rho: float
    low: float
    high: float
    best: str
    best_rho: float
    gain: float
    gain_low: float
    gain_high: float
    p_two_sided: float


def lexical_scores(data: PaperSet) -> FloatArray | None:
    """The embedded judge's faithfulness at T=0.5, nan where it has none. No model.

    Faithfulness for every set, as in the paper's RAGAS column: what overlap of words can see is
    whether an answer stays with its context. Held against a question that all samples share, it
    gives one score to all.

    Returns:
        Shape (N,); None where no sample can be judged.
    """
    if data.samples is None:
        return None
    results = TCVA("faithfulness", judge="lexical", temperature=BALANCED).evaluate_many(
        [sample or Sample() for sample in data.samples]
    )
    scores = np.array([np.nan if r.score is None else r.score for r in results], dtype=np.float64)
    return scores if np.isfinite(scores).any() else None


def fused(
    data: PaperSet, lexical: FloatArray | None, *, n_boot: int, seed: int
) -> dict[str, FusedRow]:
    """Geometric means of TCVA (T=0.5, unrounded) with RAGAS and with the lexical judge.

    Each row stands on the samples that all of its members and people have scored, and its gain is
    the one over its best member there.
    """
    if data.counts is None:
        return {}
    methods = {"tcva": full_scores(data, [BALANCED])[:, 0]}
    if "ragas" in data.natives:
        methods["ragas"] = data.natives["ragas"]
    if lexical is not None:
        methods["lexical"] = lexical
    rows = {}
    for members in (("tcva", "ragas"), ("tcva", "lexical"), ("tcva", "ragas", "lexical")):
        if not set(members) <= methods.keys():
            continue
        columns = [methods[name] for name in members]
        kept = scored_by_all(data.human, *columns)
        if kept.sum() >= FEWEST:
            chosen = {name: methods[name][kept] for name in members}
            rows["+".join(members)] = _fused_row(chosen, data.human[kept], n_boot=n_boot, seed=seed)
    return rows


def _fused_row(
    members: Mapping[str, FloatArray], human: FloatArray, *, n_boot: int, seed: int
) -> FusedRow:
    scores = fuse(np.stack(list(members.values()), axis=1)).scores
    whole = interval(
        "spearman", scores, human, n_boot=n_boot, level=LEVEL, method="percentile", seed=seed
    )
    rhos = {name: agreement("spearman", column, human).value for name, column in members.items()}
    best = max(rhos, key=lambda name: rhos[name] if math.isfinite(rhos[name]) else -math.inf)
    gain = paired_difference(
        "spearman", scores, members[best], human, n_boot=n_boot, level=LEVEL, seed=seed
    )
    return FusedRow(
        n=len(human),
        rho=whole.value,
        low=whole.low,
        high=whole.high,
        best=best,
        best_rho=rhos[best],
        gain=gain.delta,
        gain_low=gain.low,
        gain_high=gain.high,
        p_two_sided=gain.p_two_sided,
    )

"""What fusing TCVA with other methods gives on the paper's sets."""

from __future__ import annotations

import numpy as np

from tcva_adapters.compare.fused import FusedRow, gain_of
from tcva_adapters.compare.paper.data import PaperSet
from tcva_adapters.compare.paper.tables import full_scores
from tcva_adapters.core.panel import fuse
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA


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

    Each row stands on the samples that all of its members and a human have scored, and its gain is
    the one over its best member there.
    """
    if data.counts is None:
        return {}
    methods = {"tcva": full_scores(data, [BALANCED])[:, 0]}
    if "ragas" in data.framework_scores:
        methods["ragas"] = data.framework_scores["ragas"]
    if lexical is not None:
        methods["lexical"] = lexical
    rows = {}
    for names in (("tcva", "ragas"), ("tcva", "lexical"), ("tcva", "ragas", "lexical")):
        if not set(names) <= methods.keys():
            continue
        members = {name: methods[name] for name in names}
        scores = fuse(np.stack(list(members.values()), axis=1)).scores
        row = gain_of(scores, members, data.human, n_boot=n_boot, seed=seed)
        if row is not None:
            rows["+".join(names)] = row
    return rows

"""The paper's stored scores from its own verdicts; `tests.golden` has its tables."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.core.aggregation import sweep
from tests.support.paper import judged, needs_paper_data

pytestmark = needs_paper_data


@pytest.mark.parametrize("name", ["summeval", "summeval_rel"])
def test_stored_scores_are_recomputed(name: str) -> None:
    counts, _, stored = judged(name)
    for key, scores in stored.items():
        ours = sweep(counts, [float(key[1:])])[:, 0]
        assert np.abs(ours - scores).max() <= 5e-5 + 1e-12
        differs = ours.round(4) != scores
        # What differs after rounding must have been a tie of the last digit.
        digits = np.abs(ours[differs] * 1e4 % 1 - 0.5)
        assert (digits < 1e-6).all()

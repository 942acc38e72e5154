"""What is printed by group: copies of a sample in its group tell nothing new."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.ccrs.summary import summarise_ccrs
from tcva_adapters.compare import rated_ccrs
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.printing import Report

COPIES = 4
GROUPS = 40
RNG = np.random.default_rng(5)
COUNTS: FloatArray = RNG.multinomial(6, [0.3, 0.2, 0.2, 0.1, 0.2], size=GROUPS).astype(float)
HUMAN: FloatArray = COUNTS @ [1, 0.9, 0.7, 0.3, 0] / 6 + RNG.normal(0, 0.2, GROUPS)
OF = np.repeat(np.arange(GROUPS), COPIES)
NOTE = "40 groups of samples, the largest with 4 of 160"


def printed(report: Report) -> str:
    return " ".join("\n".join(map(str, report.parts())).split())


def ratings() -> list[CCRSResult]:
    rated = (100 * np.clip(HUMAN + RNG.normal(0, 0.1, GROUPS), 0, 1)).round()
    return [
        CCRSResult(
            judge="j",
            prompt_version="1",
            answers={"cc": MetricAnswer(rating=rated[group])},
            sample_id=f"s{number}",
            metadata={"rating": float(HUMAN[group]), "document": int(group)},
        )
        for number, group in enumerate(OF)
    ]


def test_direct_metrics_agree_on_other_groups() -> None:
    every = ratings()
    found = rated_ccrs(summarise_ccrs(every), "rating", "document")
    once = rated_ccrs(summarise_ccrs(every[::COPIES]), "rating")
    for measure, (one,) in once.agreements.items():
        (other,) = found.agreements[measure]
        assert (other.n, other.clusters) == (GROUPS * COPIES, GROUPS)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-3), measure
    assert np.isnan(found.p_holm).all()
    said = printed(found)
    assert NOTE in said
    assert "a single correlation has no p by groups" in said
    assert found.to_dict()["human"]["groups"] == NOTE

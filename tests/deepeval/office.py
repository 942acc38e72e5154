"""A test case about an office with a wrong claim in it, and what a scripted judge says of it."""

from __future__ import annotations

from typing import Final

from tcva_adapters import TCVA, Sample
from tcva_adapters.deepeval import TCVAMetric
from tests.deepeval.entry import case_of
from tests.support.scripted import verdict_json

OPENS: Final = "The office opens at nine."
PARKING: Final = "Parking is free."
SAMPLE: Final = Sample(
    input="When does the office open?",
    response=f"{OPENS} {PARKING}",
    contexts=(f"{OPENS} Parking costs two coins.",),
    reference=OPENS,
    id="one",
)
CASE: Final = case_of(SAMPLE)
HALF: Final = verdict_json((1, "fully", OPENS), (2, "none", ""))
# p(T) runs linearly from -8 at T=0.1 to 12.25 at T=1, so p(0.5) = 1. The weights 1 and 0 have the
# mean 0.5; half of the claims are none, which leaves 0.5 ** (1.5 - 0.5) of it.
HALF_AT_HALF: Final = 0.25


def tcva_of(metric: TCVAMetric) -> TCVA:
    """The scorer in the metric."""
    assert isinstance(metric.scorer, TCVA)
    return metric.scorer

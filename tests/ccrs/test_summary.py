"""Many ratings in a few figures, and the report's faces."""

from __future__ import annotations

import json

import pytest

from tcva_adapters.ccrs import CCRS, summarise_ccrs
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.samples.sample import Sample

SAMPLES = [
    Sample(input="Which red car?", response="The car.", reference="A car.", id="<b>one"),
    Sample(input="Which red car?", response="The red car."),
    Sample(input="Which red car?"),
]


def test_a_summary_prints_itself_and_is_plain_values() -> None:
    results = CCRS(("qr", "ir"), judge="lexical").evaluate_many(SAMPLES)
    found = summarise_ccrs(results, weights={"qr": 1.0}, threshold=0.6)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
    assert "qr question relevance" in str(found)
    assert "passed 1/2" in str(found)
    assert "<b>" not in found._repr_html_()
    assert [row["metric"] for row in found.records()] == ["qr", "ir"]


def test_weights_alone_pass_from_a_half() -> None:
    results = CCRS("qr", judge="lexical").evaluate_many(SAMPLES[:2])
    assert summarise_ccrs(results).to_dict()["composite"] is None
    whole = summarise_ccrs(results, weights={"qr": 1.0}).composites
    assert (whole.scored, whole.passed) == (2, 2)


def test_nothing_to_sum_up() -> None:
    with pytest.raises(InvalidValueError, match="give at least one"):
        summarise_ccrs([])
    with pytest.raises(
        InvalidSampleError, match="no sample has a score: 1 missing_field; the first: the"
    ):
        summarise_ccrs(CCRS("qr", judge="lexical").evaluate_many(SAMPLES[2:])).check()

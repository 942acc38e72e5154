"""What has no score says why, in the framework's own runner, and touches no other sample."""

from __future__ import annotations

from typing import Any

import pytest

from tcva_adapters.results.assessment import Reason
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import verdict_json


@each_adapter
@pytest.mark.parametrize(
    ("change", "reply", "reason"),
    [
        ({"contexts": ()}, TWO, Reason.EMPTY_CONTEXT),
        ({"response": "I do not know."}, verdict_json((1, "refusal", "")), Reason.REFUSAL),
    ],
)
def test_a_sample_without_a_score_says_why_or_counts_as_told(
    adapter: Adapter, change: dict[str, Any], reply: str, reason: Reason
) -> None:
    llm = adapter.llm(lambda _: reply)
    evaluators = [adapter.built(llm), adapter.built(llm, on_unscored=1.0)]
    sample = SAMPLE.model_copy(update=change)
    (found,), (counted,) = adapter.suite(evaluators, [sample], False)
    assert (found.score, found.unscored and found.unscored.reason) == (None, reason)
    assert counted.score == 1.0


@each_adapter
@both_ways
def test_a_row_without_a_needed_field_keeps_its_place(adapter: Adapter, asynchronous: bool) -> None:
    if adapter.name == "langchain":
        pytest.skip("a step raises, which batches of LangChain's return on demand")
    bare = SAMPLE.model_copy(update={"contexts": None})
    (results,) = adapter.suite([adapter.built("lexical")], [SAMPLE, bare], asynchronous)
    assert results[0].score is not None
    assert results[1].unscored is not None
    assert results[1].unscored.reason is Reason.MISSING_FIELD

"""What has no score says why, in the framework's own runner, and touches no other sample."""

from __future__ import annotations

import pytest

from tcva_adapters.results.assessment import Reason
from tests.adapters.table import Adapter, both_ways, each_adapter
from tests.support.office import SAMPLE
from tests.support.scripted import verdict_json


@each_adapter
def test_a_refusal_says_why_or_counts_as_told(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: verdict_json((1, "refusal", "")))
    evaluators = [adapter.built(llm), adapter.built(llm, on_unscored=1.0)]
    sample = SAMPLE.model_copy(update={"response": "I do not know."})
    (found,), (counted,) = adapter.suite(evaluators, [sample], False)
    assert (found.score, found.unscored and found.unscored.reason) == (None, Reason.REFUSAL)
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

"""What has no score or cannot be read, alone and in batches. The model is scripted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import Runnable, RunnableLambda

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain import TCVAEvaluator
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import TWO


def test_unscored_samples_say_why_and_may_be_given_a_score() -> None:
    record = {"answer": "It opens at nine.", "context": []}
    output = TCVAEvaluator("lexical").invoke(record)
    assert (output["score"], output["passed"], output["value"]) == (None, None, "unscored")
    assert output["unscored"] is not None
    assert output["unscored"]["reason"] == "empty_context"
    assert TCVAEvaluator("lexical", on_unscored=0.0).invoke(record)["value"] == "fail"


def test_a_missing_field_is_a_value_error_that_names_it() -> None:
    with pytest.raises(InvalidSampleError, match="no contexts, which faithfulness needs") as caught:
        TCVAEvaluator("lexical").invoke({"answer": "It opens at nine."})
    assert isinstance(caught.value, ValueError)
    good = {"answer": "Yes.", "context": ["Yes."]}
    found: list[Any] = TCVAEvaluator("lexical").batch(
        [good, {"answer": "Yes."}], return_exceptions=True
    )
    assert isinstance(found[1], InvalidSampleError)
    assert found[0]["value"] in ("pass", "unscored")


def test_a_missing_field_is_told_with_the_names_that_were_given() -> None:
    with pytest.raises(
        InvalidSampleError, match=r"no response.*names read: response,.*names given: said, context;"
    ):
        TCVAEvaluator("lexical").invoke({"said": "At nine.", "context": ["It opens at nine."]})


def test_a_chain_that_returns_a_string_is_told_how_to_keep_its_documents() -> None:
    chain: Runnable[Any, Any] = RunnableLambda(lambda _: "At nine.") | TCVAEvaluator("lexical")
    with pytest.raises(InvalidSampleError, match=r"no contexts.*answer alone.*assign\(answer="):
        chain.invoke("When?")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_with_exceptions_as_values_keeps_what_was_judged(asynchronous: bool) -> None:
    model = scripted(TWO, ValueError("boom"), TWO)
    evaluator = TCVAEvaluator(model, share=False)
    records: list[Any] = [RECORD, {"answer": "At nine."}, RECORD, 7, RECORD]
    config: Any = {"max_concurrency": 1}
    found: list[Any] = (
        asyncio.run(evaluator.abatch(records, config, return_exceptions=True))
        if asynchronous
        else evaluator.batch(records, config, return_exceptions=True)
    )
    kinds = [f["value"] if isinstance(f, dict) else type(f) for f in found]
    assert kinds == ["pass", InvalidSampleError, "unscored", InvalidSampleError, "pass"]
    assert len(model.prompts) == 3

"""What has no score or cannot be read is an invalid result. The LLM is scripted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.llamaindex import TCVAEvaluator
from tcva_adapters.results.assessment import Reason
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import CONTEXTS, evaluated, reason_of
from tests.support.office import QUERY, RESPONSE


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("what a lovely day", Reason.UNREADABLE_REPLY),
        (TimeoutError("slow"), Reason.TIMEOUT),
        (RuntimeError("the server went away"), Reason.JUDGE_ERROR),
    ],
)
def test_a_failed_judgement_is_an_invalid_result(answer: Any, reason: Reason) -> None:
    llm = scripted(answer, answer)
    evaluator = TCVAEvaluator(llm, on_unscored=0.0)
    result = evaluated(evaluator)
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert result.result.unscored is not None
    assert result.result.unscored.reason is reason
    assert reason.value in (result.invalid_reason or "")
    assert result.feedback == result.invalid_reason  # retry engines refuse None


def test_on_unscored_scores_what_has_no_score_of_its_own() -> None:
    evaluator = TCVAEvaluator(scripted(), on_unscored=1.0)
    result = evaluator.evaluate(query=QUERY, response=RESPONSE, contexts=[])
    assert (result.score, result.passing, result.invalid_result) == (1.0, True, False)
    assert TCVAEvaluator(scripted()).evaluate(response=RESPONSE, contexts=[]).invalid_result


@pytest.mark.parametrize(
    ("criterion", "missing", "named"),
    [
        ("faithfulness", "contexts", "contexts"),
        ("faithfulness", "response", "response"),
        ("answer_relevancy", "query", "input"),
        ("correctness", "reference", "reference"),
        ("completeness", "reference", "reference"),
        ("context_recall", "contexts", "contexts"),
    ],
)
def test_a_missing_field_is_named(criterion: str, missing: str, named: str) -> None:
    given: dict[str, Any] = {
        "query": QUERY,
        "response": RESPONSE,
        "contexts": CONTEXTS,
        "reference": "At nine.",
    }
    given[missing] = None
    llm = scripted()
    evaluator = TCVAEvaluator(llm, criterion=criterion)
    with pytest.raises(ValueError, match=f"no {named}, which {criterion} needs"):
        evaluator.evaluate(**given)
    # The async face is what BatchEvalRunner calls: an exception there would lose the batch.
    result = asyncio.run(evaluator.aevaluate(**given))
    assert result.invalid_result
    assert reason_of(result) is Reason.MISSING_FIELD
    assert f"no {named}" in (result.invalid_reason or "")
    assert llm.prompts == []


def test_a_field_of_the_wrong_type_is_named() -> None:
    evaluator = TCVAEvaluator(scripted())
    wrong: Any = [1, 2]
    with pytest.raises(InvalidSampleError, match="contexts"):
        evaluator.evaluate(response=RESPONSE, contexts=wrong)
    result = asyncio.run(evaluator.aevaluate(query=QUERY, response=RESPONSE, contexts=wrong))
    assert "contexts" in (result.invalid_reason or "")
    assert reason_of(result) is Reason.INVALID_INPUT
    assert (result.query, result.response, result.contexts) == (QUERY, RESPONSE, None)
    no_text: Any = 5
    result = asyncio.run(evaluator.aevaluate(query=QUERY, response=no_text, contexts=CONTEXTS))
    assert "response" in (result.invalid_reason or "")
    assert (result.query, result.response, result.contexts) == (QUERY, None, CONTEXTS)

"""What has no score, is an error, or is not judged at all. The model is scripted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn

from tcva_adapters.deepeval import TCVAMetric
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.assessment import Reason
from tests.deepeval.entry import scripted
from tests.deepeval.office import CASE, HALF, unscored


def test_a_failure_of_the_judge_is_an_error_and_no_score() -> None:
    metric = TCVAMetric(model=scripted(TimeoutError("too slow")), on_unscored=1.0)
    assert metric.measure(CASE) is None
    assert metric.error == "timeout: TimeoutError: too slow"
    assert metric.success is False
    assert metric.result is not None
    assert metric.result.unscored is not None


def test_a_type_error_of_the_model_does_not_ask_twice() -> None:
    llm = scripted(TypeError("broken"), HALF)
    metric = TCVAMetric(model=llm)
    assert metric.measure(CASE) is None
    assert len(llm.prompts) == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"actual_output": ""}, "empty_response"),
        ({"retrieval_context": []}, "empty_context"),
        ({"actual_output": "I am sorry, I cannot answer that."}, "refusal"),
    ],
)
def test_samples_without_a_score_are_no_errors(changes: dict[str, Any], reason: str) -> None:
    case = CASE.model_copy(update=changes)
    metric = TCVAMetric(model="lexical")
    assert metric.measure(case) is None
    assert (metric.error, metric.success) == (None, False)
    assert metric.reason is not None
    assert metric.reason.startswith(f"unscored: {reason}: ")
    lenient = TCVAMetric(model="lexical", on_unscored=1.0)
    assert lenient.measure(case) == 1.0
    assert lenient.success is True


def test_nothing_is_left_of_the_case_before() -> None:
    metric = TCVAMetric(model=scripted(TimeoutError("slow"), HALF))
    assert (metric.measure(CASE), metric.error) == (None, "timeout: TimeoutError: slow")
    assert (metric.measure(CASE) is not None, metric.error) == (True, None)
    with pytest.raises(MissingTestCaseParamsError):
        metric.measure(LLMTestCase(input="q", actual_output="a"))
    assert (metric.score, metric.reason, metric.success, metric.score_breakdown) == (None,) * 4
    said = "'retrieval_context' cannot be None for the 'TCVA faithfulness' metric"
    assert (metric.error, *unscored(metric)) == (said, Reason.MISSING_FIELD, said)


def test_conversations_are_refused_with_the_way_out() -> None:
    conversation = ConversationalTestCase(turns=[Turn(role="user", content="Hello")])
    metric = TCVAMetric(model="lexical")
    wrong: Any = conversation
    with pytest.raises(InvalidSampleError, match="not a ConversationalTestCase; judge each answer"):
        metric.measure(wrong)
    with pytest.raises(ValueError, match="as an LLMTestCase"):
        asyncio.run(metric.a_measure(wrong))


def test_pictures_are_refused() -> None:
    with pytest.raises(InvalidSampleError, match="multimodal"):
        TCVAMetric(model="lexical").measure(CASE.model_copy(update={"multimodal": True}))

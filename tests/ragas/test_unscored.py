"""What has no score is NaN, with its reason, or raises as RAGAS is told."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from ragas import RunConfig

from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.ragas import TCVAMetric, claims_to_pandas, results_of
from tcva_adapters.results.assessment import Reason
from tests.ragas.entry import ScriptedLLM, run, scripted
from tests.ragas.office import COLUMN, evaluated
from tests.support.office import ONE, SAMPLE, SCORE, TWO
from tests.support.scripted import verdict_json


@pytest.mark.parametrize(
    ("change", "reply", "reason"),
    [
        ({"contexts": ()}, TWO, Reason.EMPTY_CONTEXT),
        ({"response": " "}, TWO, Reason.EMPTY_RESPONSE),
        ({"response": "I do not know."}, verdict_json((1, "refusal", "")), Reason.REFUSAL),
        ({"response": "Hello!"}, verdict_json((1, "not_a_claim", "")), Reason.NO_CLAIMS),
    ],
)
def test_a_sample_without_a_score_is_nan_with_its_reason(
    change: dict[str, Any], reply: str, reason: Reason
) -> None:
    sample = SAMPLE.model_copy(update=change)
    llm = ScriptedLLM(lambda _: reply)
    score = evaluated([TCVAMetric(llm=llm)], sample, raise_exceptions=True).scores[0][COLUMN]
    assert math.isnan(score)
    assert score.result.unscored.reason is reason
    counted = TCVAMetric(llm=llm, on_unscored=1.0)
    assert evaluated([counted], sample)[counted.name] == [1.0]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("What a nice day.", Reason.UNREADABLE_REPLY),
        (ONE, Reason.INCOMPLETE_VERDICTS),
        (TimeoutError("late"), Reason.TIMEOUT),
        (type("RateLimitError", (Exception,), {})("slow down"), Reason.RATE_LIMIT),
        (ValueError("odd"), Reason.JUDGE_ERROR),
    ],
    ids=["garbage", "missing verdict", "timeout", "rate limit", "error"],
)
def test_a_failing_judge_is_nan_or_raises_as_ragas_is_told(
    reply: str | Exception, reason: Reason, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(_: str) -> str:
        if isinstance(reply, Exception):
            raise reply
        return reply

    metric = TCVAMetric(name=COLUMN, llm=ScriptedLLM(answer), on_unscored=1.0)
    result = evaluated([metric])
    assert math.isnan(result.scores[0][COLUMN])  # a failure never becomes a score
    assert reason.value in caplog.text
    (found,) = results_of(result)
    assert found.unscored is not None
    assert found.unscored.reason is reason
    assert claims_to_pandas(result)["unscored"].tolist() == [reason.value]
    with pytest.raises(JudgeError, match=reason.value):
        evaluated([metric], raise_exceptions=True)


def test_one_failing_sample_does_not_touch_the_others(caplog: pytest.LogCaptureFixture) -> None:
    samples = [SAMPLE.model_copy(update={"input": f"Question {i}?"}) for i in range(5)]

    def reply(prompt: str) -> str:
        if "Question 2?" in prompt:
            msg = "down"
            raise ConnectionError(msg)
        return TWO

    results = run(samples, reply)
    assert [r.score is None for r in results] == [False, False, True, False, False]
    assert "down" in caplog.text


def test_missing_columns_are_refused_by_ragas_and_a_missing_value_is_nan(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bare = SAMPLE.model_copy(update={"contexts": None})
    with pytest.raises(ValueError, match="retrieved_contexts"):
        evaluated([TCVAMetric(llm="lexical")], bare)
    # RAGAS looks at the first row only.
    result = evaluated([TCVAMetric(llm="lexical")], SAMPLE, bare)
    assert math.isnan(result[COLUMN][1])
    assert "has no contexts" in caplog.text
    assert results_of(result)[1].reason.startswith("unscored: missing_field")
    with pytest.raises(InvalidSampleError, match="contexts"):
        evaluated([TCVAMetric(llm="lexical")], SAMPLE, bare, raise_exceptions=True)


def test_a_judge_slower_than_ragas_waits_is_a_timeout(caplog: pytest.LogCaptureFixture) -> None:
    class Slow(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            del args, kwargs
            await asyncio.Event().wait()

    config = RunConfig(timeout=1, max_retries=1)
    config.timeout = 0.05  # type: ignore[assignment]  # whole seconds would make a slow test
    result = evaluated([TCVAMetric(llm=Slow(lambda _: TWO))], run_config=config)
    (found,) = results_of(result)
    assert found.unscored is not None
    assert found.unscored.reason is Reason.TIMEOUT
    assert "TimeoutError" in caplog.text


def test_retries_are_those_of_the_run_config() -> None:
    config = RunConfig(max_retries=2, max_wait=0)
    limited = type("RateLimitError", (Exception,), {"status_code": 429})
    llm = ScriptedLLM(scripted(limited("slow down"), TWO))
    result = evaluated([TCVAMetric(llm=llm)], run_config=config)
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)

"""TCVAEvaluator called from loops and threads, cancelled, with settings of one sample."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatResponse

from tcva_adapters import Result
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.llamaindex import ScorerEvaluationResult, TCVAEvaluator
from tcva_adapters.results.assessment import Reason
from tests.llamaindex.entry import ScriptedLLM, scripted
from tests.llamaindex.office import CONTEXTS, evaluated, reason_of
from tests.support.office import QUERY, RESPONSE, SCORE, TWO


def test_sync_and_async_are_the_same_in_every_place() -> None:
    evaluator = TCVAEvaluator(ScriptedLLM(reply=lambda _: TWO))

    async def inside() -> list[ScorerEvaluationResult[Result]]:
        awaited = await evaluator.aevaluate(query=QUERY, response=RESPONSE, contexts=CONTEXTS)
        return [awaited, evaluated(evaluator)]

    results = [evaluated(evaluator), *asyncio.run(inside()), evaluated(evaluator)]
    with ThreadPoolExecutor(4) as pool:
        results += pool.map(lambda _: evaluated(evaluator), range(8))
    assert {result.score for result in results} == {results[0].score}


def test_the_sync_face_does_not_use_the_async_one() -> None:
    class SyncOnly(ScriptedLLM):
        async def achat(self, *_: Any, **__: Any) -> ChatResponse:
            raise AssertionError

    assert evaluated(TCVAEvaluator(SyncOnly(reply=lambda _: TWO))).score == pytest.approx(SCORE)


def test_cancelling_leaves_the_evaluator_usable() -> None:
    class Slow(ScriptedLLM):
        async def achat(self, *_: Any, **__: Any) -> ChatResponse:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    asked = asyncio.Event()

    async def cancelled() -> None:
        task = asyncio.create_task(
            evaluator.aevaluate(query=QUERY, response=RESPONSE, contexts=CONTEXTS)
        )
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    evaluator = TCVAEvaluator(Slow(reply=lambda _: TWO))
    asyncio.run(cancelled())
    assert evaluated(evaluator).score == pytest.approx(SCORE)


@pytest.mark.parametrize("is_async", [False, True])
def test_one_sample_may_have_its_own_setting(is_async: bool) -> None:
    llm = ScriptedLLM(reply=lambda _: TWO)
    evaluator = TCVAEvaluator(llm)
    arguments: dict[str, Any] = {
        "query": QUERY,
        "response": RESPONSE,
        "contexts": CONTEXTS,
        "temperature": 0.1,
        "threshold": 0.9,
        "something_for_another_evaluator": 1,
        "sleep_time_in_seconds": 0.001,
    }
    result = (
        asyncio.run(evaluator.aevaluate(**arguments))
        if is_async
        else evaluator.evaluate(**arguments)
    )
    assert result.score == pytest.approx(((1 + 0.3**-8) / 2) ** (-1 / 8), abs=1e-12)
    assert result.result.scoring.threshold == 0.9
    assert evaluated(evaluator).score == pytest.approx(SCORE)
    assert len(llm.prompts) == 1  # settings of the dial ask for no other judgement
    assert "at T=0.2" in (evaluated(evaluator, temperature="strict").feedback or "")


@pytest.mark.parametrize(
    "setting",
    [
        {"temperature": 7},
        {"temperature": True},
        {"temperature": math.nan},
        {"temperature": "sharp"},
        {"threshold": 2},
        {"threshold": True},
        {"threshold": "0.5"},
    ],
)
def test_a_wrong_setting_of_one_sample_costs_no_call_and_no_batch(setting: dict[str, Any]) -> None:
    llm = scripted()
    evaluator = TCVAEvaluator(llm, on_unscored=1.0)
    (name,) = setting
    with pytest.raises(InvalidValueError, match=name):
        evaluated(evaluator, **setting)
    given: dict[str, Any] = {"query": QUERY, "response": RESPONSE, "contexts": CONTEXTS}
    result = asyncio.run(evaluator.aevaluate(**given, **setting))
    assert (result.score, result.invalid_result) == (None, True)
    assert reason_of(result) is Reason.INVALID_INPUT
    assert name in (result.invalid_reason or "")
    assert (result.query, result.response, result.contexts) == (QUERY, RESPONSE, CONTEXTS)
    assert llm.prompts == []

"""measure and a_measure from loops and threads, many at once, and cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from deepeval.test_case import LLMTestCase

from tcva_adapters.deepeval import TCVAMetric
from tcva_adapters.results.assessment import Reason
from tests.deepeval.entry import ScriptedLLM, scripted
from tests.deepeval.office import CASE, HALF, HALF_AT_HALF, unscored
from tests.support.scripted import verdict_json


async def in_loop(call: Callable[[], Any]) -> Any:
    return call()


def test_a_measure_agrees() -> None:
    metric = TCVAMetric(model=scripted(HALF))
    assert asyncio.run(metric.a_measure(CASE)) == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert metric.result == metric.collected[0].result


def test_measure_needs_no_loop_and_patches_none() -> None:
    metric = TCVAMetric(model=scripted(*[HALF] * 3))
    native = asyncio.run
    expected = metric.measure(CASE)
    assert asyncio.run(in_loop(lambda: metric.measure(CASE))) == expected
    found: list[float | None] = []
    thread = threading.Thread(target=lambda: found.append(metric.measure(CASE)))
    thread.start()
    thread.join()
    assert found == [expected]
    assert asyncio.run is native


def test_many_at_once_keep_their_own_results() -> None:
    # Sample i has the verdict of its number in every case, whatever finishes first.
    words = ("fully", "mostly", "partial", "minor", "none")

    def reply(prompt: str) -> str:
        number = int(prompt.split("Claim number ")[1].split(" ", maxsplit=1)[0])
        return verdict_json((1, words[number % 5], f"Claim number {number} here."))

    metric = TCVAMetric(model=ScriptedLLM(reply))
    cases = [
        LLMTestCase(
            input="q",
            actual_output=f"Claim number {i} here.",
            retrieval_context=[f"Claim number {i} here."],
            name=str(i),
        )
        for i in range(50)
    ]

    async def all_of_them() -> None:
        await asyncio.gather(*(metric.a_measure(case) for case in cases))

    asyncio.run(all_of_them())
    assert len(metric.collected) == 50
    for case, result in metric.collected:
        number = int(case.name or "")
        assert result.assessment.sample_id == case.name
        assert result.assessment.verdicts[0].value == words[number % 5]


def test_cancelling_is_not_a_verdict() -> None:
    async def never() -> None:
        class Slow(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
            async def a_generate(self, prompt: str) -> str:
                await asyncio.Event().wait()
                return prompt

        metric = TCVAMetric(model=Slow(lambda _: ""))
        task = asyncio.create_task(metric.a_measure(CASE))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert metric.collected == []
        assert unscored(metric)[0] is Reason.TIMEOUT

    asyncio.run(never())

"""TCVAEvaluator called from loops and threads, streamed and cancelled. The model is scripted."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tcva_adapters.langchain import TCVAEvaluator
from tests.langchain.entry import ScriptedChatModel, scripted
from tests.langchain.office import RECORD
from tests.support.office import TWO


def test_sync_calls_work_in_a_running_loop_after_asyncio_run_and_from_threads() -> None:
    evaluator = TCVAEvaluator(scripted(*[TWO] * 8))

    async def inside() -> float | None:
        return evaluator.invoke(RECORD)["score"]

    async def awaited() -> float | None:
        return (await evaluator.ainvoke(RECORD))["score"]

    scores = [asyncio.run(inside()), asyncio.run(awaited()), asyncio.run(awaited())]
    scores.append(evaluator.invoke(RECORD)["score"])
    threads = [
        threading.Thread(target=lambda: scores.append(evaluator.invoke(RECORD)["score"]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scores == [scores[0]] * 8


def test_a_stream_is_one_chunk() -> None:
    (chunk,) = TCVAEvaluator(scripted(TWO)).stream(RECORD)
    assert chunk["score"] == pytest.approx(0.65, abs=1e-12)


def test_cancelling_ends_the_judgement() -> None:
    class Waiting(ScriptedChatModel):
        async def _agenerate(self, *_: Any, **__: Any) -> Any:
            await asyncio.Event().wait()

    async def cancelled() -> None:
        task = asyncio.create_task(TCVAEvaluator(Waiting(reply=str)).ainvoke(RECORD))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_a_cancelled_stream_leaves_no_call_behind() -> None:
    async def left() -> int:
        asked = asyncio.Event()

        class Waiting(ScriptedChatModel):
            async def _agenerate(self, *_: Any, **__: Any) -> Any:
                asked.set()
                await asyncio.Event().wait()

        async def consume() -> None:
            async for _ in TCVAEvaluator(Waiting(reply=str)).astream(RECORD):
                pass

        task = asyncio.create_task(consume())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(left()) == 0

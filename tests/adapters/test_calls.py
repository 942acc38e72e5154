"""Calls inside running loops, which are not patched, in threads, and cancelled."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.adapters.table import Adapter, each_adapter
from tests.support.office import SAMPLE, SCORE, TWO


@each_adapter
def test_one_sample_needs_no_loop_and_patches_none(adapter: Adapter) -> None:
    native, evaluator = asyncio.run, adapter.built(adapter.llm(lambda _: TWO), share=False)
    found: list[Any] = []

    def score() -> None:
        found.append(adapter.score(evaluator, SAMPLE).score)

    async def inside() -> None:
        score()

    asyncio.run(inside())
    thread = threading.Thread(target=score)
    thread.start()
    thread.join()
    assert found == pytest.approx([SCORE] * 2, abs=1e-12)
    assert asyncio.run is native
    assert not hasattr(asyncio, "_nest_patched")


@each_adapter
def test_a_cancelled_judgement_is_cancelled(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: TWO)
    llm.hangs = True

    async def cancelled() -> None:
        task = asyncio.ensure_future(adapter.ascore(adapter.built(llm), SAMPLE))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert llm.prompts == []

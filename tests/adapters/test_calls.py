"""Calls inside running loops, which are not patched, in threads, many at once, and cancelled."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tcva_adapters import Sample
from tests.adapters.table import Adapter, each_adapter
from tests.support.office import SAMPLE, SCORE, TWO
from tests.support.scripted import verdict_json

WORDS = ("fully", "mostly", "partial", "minor", "none")


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
def test_many_at_once_keep_their_own_results(adapter: Adapter) -> None:
    # Sample i has the verdict of its number in every case, whatever finishes first.
    def reply(prompt: str) -> str:
        number = int(prompt.split("Claim number ")[1].split(" ", maxsplit=1)[0])
        return verdict_json((1, WORDS[number % 5], f"Claim number {number} here."))

    texts = [f"Claim number {number} here." for number in range(50)]
    evaluator = adapter.built(adapter.llm(reply))

    async def all_of_them() -> Any:
        samples = (Sample(input="q", response=text, contexts=(text,)) for text in texts)
        return await asyncio.gather(*(adapter.ascore(evaluator, sample) for sample in samples))

    found = asyncio.run(all_of_them())
    assert [result.claims[0].claim for result in found] == texts
    assert [result.claims[0].verdict.value for result in found] == [*WORDS] * 10


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

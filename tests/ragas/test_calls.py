"""TCVAMetric called inside running loops, which are not patched, and cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ragas import EvaluationDataset, aevaluate
from ragas.dataset_schema import EvaluationResult

from tcva_adapters.ragas import TCVAMetric
from tests.ragas.entry import ScriptedLLM
from tests.ragas.office import turn
from tests.support.office import SCORE, TWO


def test_a_single_sample_is_scored_inside_a_running_loop_without_patching_it() -> None:
    metric = TCVAMetric(llm=ScriptedLLM(lambda _: TWO))

    async def inside() -> float:
        return metric.single_turn_score(turn())

    assert asyncio.run(inside()) == pytest.approx(SCORE, abs=1e-12)
    assert not hasattr(asyncio, "_nest_patched")


# RAGAS announces the end of its main function on every call.
@pytest.mark.filterwarnings(r"ignore:aevaluate\(\) is deprecated:DeprecationWarning")
def test_aevaluate_leaves_the_loop_alone() -> None:
    async def inside() -> Any:
        data = EvaluationDataset(samples=[turn()])
        return await aevaluate(data, metrics=[TCVAMetric(llm="lexical")], show_progress=False)

    assert isinstance(asyncio.run(inside()), EvaluationResult)


def test_a_cancelled_evaluation_stops() -> None:
    class Hanging(ScriptedLLM):
        started = asyncio.Event()

        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            del args, kwargs
            self.started.set()
            await asyncio.Event().wait()

    async def cancelled() -> None:
        llm = Hanging(lambda _: TWO)
        task = asyncio.ensure_future(TCVAMetric(llm=llm).single_turn_ascore(turn()))
        await llm.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())

"""Our client keeps its connections whatever event loops ask it, in each adapter.

Frameworks call ``asyncio.run`` for each batch, and a connection belongs to the loop that opened it:
ours are of a loop of their own. They are closed without a word.
"""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from deepeval.test_case import LLMTestCase

from benchmarks.adapter_methods import limited, samples
from benchmarks.answering_server import Remote, started
from tcva_adapters import Sample
from tcva_adapters.deepeval import TCVAMetric
from tcva_adapters.langchain import TCVAEvaluator
from tcva_adapters.llamaindex import TCVAEvaluator as LlamaIndexEvaluator
from tcva_adapters.ragas import TCVACollectionMetric

AT_ONCE = 2
BATCHES = 3
JUDGE = "openai:m"

Scores = Callable[[Sample], Awaitable[float | None]]


def langchain() -> Scores:
    evaluator = TCVAEvaluator(JUDGE)

    async def score(sample: Sample) -> float | None:
        return (await evaluator.ainvoke(sample))["score"]

    return score


def llamaindex() -> Scores:
    evaluator = LlamaIndexEvaluator(JUDGE)

    async def score(sample: Sample) -> float | None:
        contexts = list(sample.contexts or ())
        return (await evaluator.aevaluate(sample.input, sample.response, contexts)).score

    return score


def ragas() -> Scores:
    metric = TCVACollectionMetric(JUDGE)

    async def score(sample: Sample) -> float | None:
        contexts = list(sample.contexts or ())
        found = await metric.ascore(sample.input, sample.response, contexts)
        return float(found)

    return score


def deepeval() -> Scores:
    metric = TCVAMetric(model=JUDGE)

    async def score(sample: Sample) -> float | None:
        contexts: Any = list(sample.contexts or ())
        said: Any = {"input": sample.input, "actual_output": sample.response}
        case = LLMTestCase(**said, retrieval_context=contexts)
        return await metric.changed().a_measure(case, _show_indicator=False)

    return score


@pytest.fixture(scope="module")
def server() -> Iterator[Remote]:
    with started() as remote:
        yield remote


@pytest.mark.parametrize("adapter", [langchain, llamaindex, ragas, deepeval])
def test_all_loops_share_connections(
    adapter: Callable[[], Scores], server: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    rows = samples(8 * BATCHES)
    server.reset(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        score = adapter()
        for start in range(0, len(rows), 8):
            batch = limited(score, rows[start : start + 8], AT_ONCE)
            assert asyncio.run(batch) == [1.0] * 8
        gc.collect()
    connections, bodies = server.reset(0)
    assert len(bodies) == len(rows)
    assert connections <= AT_ONCE

"""DeepEval: `evaluate`, and a loop over ``a_measure``; `LocalModel` is its LLM."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from deepeval.evaluate import configs, evaluate
from deepeval.metrics import FaithfulnessMetric
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase

from benchmarks.adapter_methods import CLIENT, LOOP, Method, Run, limited
from tcva_adapters import Sample
from tcva_adapters.deepeval import TCVAMetric


def case(sample: Sample) -> Any:
    contexts: Any = [*(sample.contexts or ())]
    said: Any = {"input": sample.input, "actual_output": sample.response}
    return LLMTestCase(**said, retrieval_context=contexts, name=sample.id)


def evaluated(metric: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        built = metric(url, limit)

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)  # DeepEval runs on the thread's own
            found = evaluate(
                [case(sample) for sample in rows],
                [built],
                async_config=configs.AsyncConfig(max_concurrent=limit),
                display_config=configs.DisplayConfig(
                    show_indicator=False, print_results=False, inspect_after_run=False
                ),
                cache_config=configs.CacheConfig(write_cache=False),
            )
            asyncio.set_event_loop(None)
            loop.close()
            return [(test.metrics_data or [])[0].score for test in found.test_results]

        return run

    return make


def measured(metric: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        # A metric holds one test case at a time: so many, as DeepEval copies it.
        free = [metric(url, limit) for _ in range(limit)]

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            async def one(case: Any) -> Any:
                own = free.pop()
                try:
                    return await own.a_measure(case, _show_indicator=False)
                finally:
                    free.append(own)

            return LOOP.run(limited(one, [case(sample) for sample in rows], limit))

        return run

    return make


def llm(url: str) -> Any:
    return LocalModel(model="m", base_url=url, api_key="none")


def theirs(url: str, _: int) -> Any:
    return FaithfulnessMetric(model=llm(url))


def ours(url: str, limit: int) -> Any:
    return TCVAMetric(model=llm(url), max_concurrency=limit)


def our_client(_: str, limit: int) -> Any:
    return TCVAMetric(model=CLIENT, max_concurrency=limit)


METHODS: Final = [
    Method("FaithfulnessMetric", evaluated(theirs)),
    Method("TCVAMetric", evaluated(ours), is_ours=True),
    Method("TCVAMetric", evaluated(our_client), is_ours=True, with_our_client=True),
    Method("FaithfulnessMetric.a_measure", measured(theirs)),
    Method("TCVAMetric.a_measure", measured(ours), is_ours=True),
    Method("TCVAMetric.a_measure", measured(our_client), is_ours=True, with_our_client=True),
]

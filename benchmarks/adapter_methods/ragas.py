"""RAGAS: `evaluate`, and the collections family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import openai
from ragas import EvaluationDataset, RunConfig, evaluate
from ragas.llms import llm_factory
from ragas.metrics._faithfulness import Faithfulness
from ragas.metrics.collections import Faithfulness as Collected

from benchmarks.adapter_methods import CLIENT, LOOP, Method, Run, limited
from tcva_adapters import Sample
from tcva_adapters.ragas import TCVACollectionMetric, TCVAMetric


def llm(url: str) -> Any:
    return llm_factory("m", client=openai.AsyncOpenAI(base_url=url, api_key="none"))


def columns(sample: Sample) -> dict[str, Any]:
    said = {"user_input": sample.input, "response": sample.response}
    return {**said, "retrieved_contexts": [*(sample.contexts or ())]}


def evaluated(metric: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        built = metric(url, limit)

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            config = RunConfig(max_workers=limit)
            data = EvaluationDataset.from_list([columns(sample) for sample in rows])
            options: Any = {"show_progress": False, "run_config": config}
            found: Any = evaluate(data, metrics=[built], **options)
            return [score[built.name] for score in found.scores]

        return run

    return make


def collected(metric: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        built = metric(url, limit)

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            given = [columns(sample) for sample in rows]
            done = LOOP.run(limited(lambda row: built.ascore(**row), given, limit))
            return [each.value for each in done]

        return run

    return make


def ours(kind: Any) -> list[Callable[[str, int], Any]]:
    return [
        lambda url, limit: kind(llm=llm(url), max_concurrency=limit),
        lambda _, limit: kind(llm=CLIENT, max_concurrency=limit),
    ]


theirs, our_client = ours(TCVAMetric)
newer, newer_client = ours(TCVACollectionMetric)
METHODS: Final = [
    Method("Faithfulness", evaluated(lambda u, _: Faithfulness(llm=llm(u)))),
    Method("TCVAMetric", evaluated(theirs), is_ours=True),
    Method("TCVAMetric", evaluated(our_client), is_ours=True, with_our_client=True),
    Method("collections.Faithfulness", collected(lambda u, _: Collected(llm=llm(u)))),
    Method("TCVACollectionMetric", collected(newer), is_ours=True),
    Method("TCVACollectionMetric", collected(newer_client), is_ours=True, with_our_client=True),
]

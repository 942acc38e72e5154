"""Calls of one judge for three evaluators at three temperatures, through each framework's runner.

The judge says something else each time it is asked, so evaluators that do not share a judgement
show it: more calls than samples, and a strict score above a lenient one. `share=False` is the
control. The last lines ask for 50 samples from 16 threads and 4 event loops at once.

Run: python -m benchmarks.shared_calls
"""

from __future__ import annotations

import asyncio
import io
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported

# isort: split
from deepeval.evaluate import evaluate as deepeval_evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.test_case import LLMTestCase
from langchain_core.runnables import RunnableParallel
from langsmith import aevaluate as langsmith_aevaluate
from langsmith import evaluate as langsmith_evaluate
from langsmith.schemas import Example
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import BatchEvalRunner
from ragas import EvaluationDataset
from ragas import aevaluate as ragas_aevaluate
from ragas import evaluate as ragas_evaluate

from tcva_adapters import TCVA, clear_shared
from tcva_adapters.deepeval import TCVAMetric as DeepEvalMetric
from tcva_adapters.deepeval import results_of as deepeval_results
from tcva_adapters.langchain import TCVAEvaluator, TCVARunEvaluator, local_client
from tcva_adapters.llamaindex import TCVAEvaluator as LlamaIndexEvaluator
from tcva_adapters.ragas import TCVACollectionMetric, TCVAMetric
from tcva_adapters.runner import SHARED
from tests.ragas.entry import dataset_of
from tests.test_sharing import STRICTNESS, VaryingModel, sample

SAMPLES = [sample(number) for number in range(6)]
RECORDS = [
    {"question": "-", "answer": each.response, "context": list(each.contexts or ())}
    for each in SAMPLES
]
Rows = Sequence[Sequence[float]]
"""Of each sample, the scores from strict to lenient."""

Way = Callable[[Any, dict[str, Any]], Rows]


def by_sample(columns: Sequence[Sequence[Any]]) -> Rows:
    return list(zip(*columns, strict=True))


def ragas(run: Callable[..., Any]) -> Way:
    def way(llm: Any, settings: dict[str, Any]) -> Rows:
        metrics = [TCVAMetric(llm=llm, temperature=t, **settings) for t in STRICTNESS]
        found = run(dataset_of(SAMPLES), metrics)
        return [[row[metric.name] for metric in metrics] for row in found.scores]

    return way


def ragas_sync(dataset: EvaluationDataset, metrics: list[Any]) -> Any:
    return ragas_evaluate(dataset, metrics, show_progress=False, allow_nest_asyncio=False)


def ragas_async(dataset: EvaluationDataset, metrics: list[Any]) -> Any:
    return asyncio.run(ragas_aevaluate(dataset, metrics, show_progress=False))


def ragas_collections(llm: Any, settings: dict[str, Any]) -> Rows:
    rows = [
        {"response": each.response, "retrieved_contexts": list(each.contexts or ())}
        for each in SAMPLES
    ]
    metrics = [TCVACollectionMetric(llm, temperature=t, **settings) for t in STRICTNESS]

    async def together() -> list[Any]:
        return await asyncio.gather(*(metric.abatch_score(rows) for metric in metrics))

    return by_sample([[each.value for each in found] for found in asyncio.run(together())])


def deepeval(*, run_async: bool) -> Way:
    def way(llm: Any, settings: dict[str, Any]) -> Rows:
        metrics: list[Any] = [
            DeepEvalMetric(model=llm, temperature=t, **settings) for t in STRICTNESS
        ]
        cases = [
            LLMTestCase(
                input="-",
                actual_output=each.response,
                retrieval_context=list(each.contexts or ()),
                name=each.id,
            )
            for each in SAMPLES
        ]
        found = deepeval_evaluate(
            cases,
            metrics,
            async_config=AsyncConfig(run_async=run_async),
            display_config=DisplayConfig(print_results=False, show_indicator=False),
            cache_config=CacheConfig(use_cache=False, write_cache=False),
        )
        names = [metric.name for metric in metrics]
        return by_sample([[r.score for r in deepeval_results(found, name)] for name in names])

    return way


def llamaindex(llm: Any, settings: dict[str, Any]) -> Rows:
    suite = [LlamaIndexEvaluator(llm, temperature=t, **settings) for t in STRICTNESS]
    evaluators = {each.scorer.name: each for each in suite}
    runner = BatchEvalRunner({**evaluators}, workers=8)
    found = asyncio_run(
        runner.aevaluate_response_strs(
            queries=["-"] * len(SAMPLES),
            response_strs=[each.response or "" for each in SAMPLES],
            contexts_list=[list(each.contexts or ()) for each in SAMPLES],
        )
    )
    return by_sample([[each.score for each in found[name]] for name in evaluators])


def langchain_suite(llm: Any, settings: dict[str, Any]) -> dict[str, Any]:
    suite = [TCVAEvaluator(llm, temperature=t, **settings) for t in STRICTNESS]
    return {each.scorer.name: each for each in suite}


def langchain(run: Callable[[Any], Sequence[dict[str, Any]]]) -> Way:
    def way(llm: Any, settings: dict[str, Any]) -> Rows:
        found = run(RunnableParallel(langchain_suite(llm, settings)))
        return [[output["score"] for output in row.values()] for row in found]

    return way


def langsmith(run: Callable[..., Any]) -> Way:
    def way(llm: Any, settings: dict[str, Any]) -> Rows:
        evaluators = langchain_suite(llm, settings).values()
        rows = run([TCVARunEvaluator(each) for each in evaluators])
        return [[each.score for each in row["evaluation_results"]["results"]][::1] for row in rows]

    return way


def examples() -> list[Example]:
    dataset = uuid4()
    return [Example(id=uuid4(), inputs=record, dataset_id=dataset) for record in RECORDS]


def target(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"answer": inputs["answer"], "context": inputs["context"]}


async def atarget(inputs: dict[str, Any]) -> dict[str, Any]:
    return target(inputs)


def langsmith_sync(evaluators: list[Any]) -> list[Any]:
    return list(
        langsmith_evaluate(
            target,
            data=examples(),
            evaluators=evaluators,
            upload_results=False,
            client=local_client(),
            max_concurrency=3,
        )
    )


def langsmith_async(evaluators: list[Any]) -> list[Any]:
    async def rows() -> list[Any]:
        found = await langsmith_aevaluate(
            atarget,
            data=examples(),
            evaluators=evaluators,
            upload_results=False,
            client=local_client(),
            max_concurrency=3,
        )
        return [row async for row in found]

    return asyncio.run(rows())


async def parallel_abatch(suite: Any) -> Any:
    return await suite.abatch(RECORDS)


WAYS: dict[str, tuple[str, Way]] = {
    "RAGAS evaluate": ("ragas", ragas(ragas_sync)),
    "RAGAS aevaluate": ("ragas", ragas(ragas_async)),
    "RAGAS collections, abatch_score": ("ragas", ragas_collections),
    "DeepEval evaluate, sync": ("deepeval", deepeval(run_async=False)),
    "DeepEval evaluate, async": ("deepeval", deepeval(run_async=True)),
    "LlamaIndex BatchEvalRunner": ("llamaindex", llamaindex),
    "LangChain RunnableParallel.invoke": (
        "langchain",
        langchain(lambda suite: [suite.invoke(record) for record in RECORDS]),
    ),
    "LangChain RunnableParallel.batch": (
        "langchain",
        langchain(lambda suite: list(suite.batch(RECORDS))),
    ),
    "LangChain RunnableParallel.abatch": (
        "langchain",
        langchain(lambda suite: list(asyncio.run(parallel_abatch(suite)))),
    ),
    "LangSmith evaluate": ("langchain", langsmith(langsmith_sync)),
    "LangSmith aevaluate": ("langchain", langsmith(langsmith_async)),
}


def measured(framework: str, way: Way, settings: dict[str, Any]) -> tuple[int, bool]:
    """How often the judge was asked, and whether strict is never above lenient."""
    clear_shared()
    model = VaryingModel(seconds=0.01)
    llm = import_module(f"tcva_adapters.{framework}.llm").from_judge_model(model)
    said = io.StringIO()  # what the frameworks print and deprecate is not the point here
    with warnings.catch_warnings(action="ignore"), redirect_stdout(said), redirect_stderr(said):
        rows = way(llm, settings)
    monotone = len(rows) == len(SAMPLES) and all(sorted(row) == list(row) for row in rows)
    return model.calls, monotone


def at_once() -> tuple[int, int]:
    """Calls for 50 samples that 16 threads and 4 loops ask for at once, and what is left over."""
    clear_shared()
    model = VaryingModel(seconds=0.02)
    samples = [sample(number) for number in range(50)]

    def evaluator(number: int) -> TCVA:
        return TCVA(judge=model, temperature=STRICTNESS[number % 3], max_concurrency=4)

    threads = [
        threading.Thread(target=evaluator(n).evaluate_many, args=(samples,)) for n in range(16)
    ]
    threads += [
        threading.Thread(target=lambda n=n: asyncio.run(evaluator(n).aevaluate_many(samples)))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return model.calls, SHARED.under_way


def main() -> None:
    failed = False
    print(f"{'3 evaluators, 6 samples':34} {'calls':>5} {'store':>6} {'alone':>6}  monotone")
    for name, (framework, way) in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            store = {"store": Path(folder) / "verdicts.sqlite"}
            found = [measured(framework, way, settings) for settings in ({}, store)]
        alone, _ = measured(framework, way, {"share": False})
        monotone = all(each for _, each in found)
        failed |= not monotone or any(calls != len(SAMPLES) for calls, _ in found)
        says = "yes" if monotone else "NO"
        print(f"{name:34} {found[0][0]:5} {found[1][0]:6} {alone:6}  {says}")
    calls, left = at_once()
    print(f"16 threads and 4 event loops, 50 samples at once: {calls} calls, {left} left over")
    sys.exit(failed or (calls, left) != (50, 0))


if __name__ == "__main__":
    main()

"""LangChain: a criteria evaluator and ours in ``abatch``; both in LangSmith's `aevaluate`."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from langchain_classic.evaluation import load_evaluator
from langchain_openai import ChatOpenAI
from langsmith import evaluation, schemas

from benchmarks.adapter_methods import CLIENT, LOOP, Method, Run, limited
from tcva_adapters import Sample
from tcva_adapters.langchain import (
    TCVAEvaluator,
    TCVARunEvaluator,
    local_client,
)


def llm(url: str) -> Any:
    options: Any = {"api_key": "none"}
    return ChatOpenAI(model="m", base_url=url, **options)


def criteria(url: str) -> Any:
    options: Any = {"llm": llm(url), "criteria": "correctness"}
    evaluator: Any = load_evaluator("labeled_criteria", **options)  # type: ignore[arg-type]  # or the name
    return evaluator


def judged(evaluator: Any, sample: Sample) -> Any:
    reference = "\n\n".join(sample.contexts or ())
    return evaluator.aevaluate_strings(
        prediction=sample.response, input=sample.input, reference=reference
    )


def theirs(url: str, _: int) -> Run:
    evaluator = criteria(url)

    def run(rows: Sequence[Sample], limit: int) -> list[Any]:
        done = LOOP.run(limited(lambda row: judged(evaluator, row), rows, limit))
        return [each["score"] for each in done]

    return run


def batched(evaluator: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        built = evaluator(url, limit)

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            given = [row.model_dump() for row in rows]
            found = LOOP.run(built.abatch(given, {"max_concurrency": limit}))
            return [each["score"] for each in found]

        return run

    return make


def experiment(evaluator: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
    def make(url: str, limit: int) -> Run:
        built = evaluator(url, limit)

        def run(rows: Sequence[Sample], limit: int) -> list[Any]:
            return LOOP.run(_run_experiment(built, rows, limit))

        return run

    return make


async def _run_experiment(evaluator: Any, rows: Sequence[Sample], limit: int) -> list[Any]:
    now, dataset = datetime.now(UTC), uuid.uuid4()
    examples = [
        schemas.Example(
            id=uuid.uuid4(), dataset_id=dataset, created_at=now, inputs={"number": number}
        )
        for number in range(len(rows))
    ]

    async def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return {**rows[inputs["number"]].model_dump(), "question": rows[inputs["number"]].input}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of upload_results, which is in beta
        found = await evaluation.aevaluate(
            target,
            examples,
            evaluators=[evaluator],
            max_concurrency=limit,
            upload_results=False,
            client=local_client(),
        )
        done = [row async for row in found]
    return [row["evaluation_results"]["results"][0].score for row in done]


def own_judge(url: str, _: int) -> Any:
    evaluator = criteria(url)

    async def correctness(outputs: dict[str, Any]) -> dict[str, Any]:
        found = await judged(evaluator, Sample.from_record(outputs))
        return {"key": "correctness", "score": found["score"], "comment": found["reasoning"]}

    return correctness


def openevals(url: str, _: int) -> Run:
    openevals: Any = import_module("openevals.llm")
    prompts: Any = import_module("openevals.prompts")
    evaluator = openevals.create_async_llm_as_judge(
        prompt=prompts.RAG_GROUNDEDNESS_PROMPT, judge=llm(url)
    )

    def run(rows: Sequence[Sample], limit: int) -> list[Any]:
        async def one(row: Sample) -> Any:
            return await evaluator(outputs=row.response, context="\n\n".join(row.contexts or ()))

        return [each["score"] for each in LOOP.run(limited(one, rows, limit))]

    return run


def ours(url: str, limit: int) -> Any:
    return TCVAEvaluator(llm(url), max_concurrency=limit)


def our_client(_: str, limit: int) -> Any:
    return TCVAEvaluator(CLIENT, max_concurrency=limit)


# openevals is none of the requirements of the tests; `make bench` installs it.
judge = [Method("openevals LLM-as-judge", openevals)] if find_spec("openevals") else []
METHODS: Final = [
    Method("labeled_criteria", theirs),
    *judge,
    Method("TCVAEvaluator.abatch", batched(ours), is_ours=True),
    Method("TCVAEvaluator.abatch", batched(our_client), is_ours=True, with_our_client=True),
    Method("LangSmith labeled_criteria", experiment(own_judge)),
    Method(
        "LangSmith TCVARunEvaluator",
        experiment(lambda u, n: TCVARunEvaluator(ours(u, n))),
        is_ours=True,
    ),
    Method(
        "LangSmith TCVARunEvaluator",
        experiment(lambda u, n: TCVARunEvaluator(our_client(u, n))),
        is_ours=True,
        with_our_client=True,
    ),
]

"""The methods that `make bench` measures, and the process that runs one of them.

A method is built once for a server's address, outside of what is timed, and then scores samples through
the entry point that the framework's users have, with so many samples under way at once. Each peer is
used as its documentation shows it, asynchronously where it can be.

Run by `benchmarks.bench`: python -m benchmarks.peers METHOD FILE, where FILE holds samples, or bodies of
requests for the bare client, as jsonl. Each line on standard input asks for a part of them:
[address, first, last, samples at once]; the answer is a line with what it took.
"""

# ruff: noqa: PLC0415  # a process imports the framework that it measures, and no other

import asyncio
import gc
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

Record = dict[str, Any]
Run = Callable[[Sequence[Record]], Sequence[Any]]
"""Scores samples; None or NaN where there is no score."""

SERVER_JUDGE: Final = "openai:m"
"""TCVA's judge where it asks the server itself, and not by the framework's LLM object."""
LOOP: Final = asyncio.Runner()
"""One loop for all that is awaited: some clients keep their connections for longer than one."""


class Method(NamedTuple):
    """One way to score.

    Attributes:
        make: Builds it from an address with ``/v1``, the samples at once, and `judge`.
        judge: None for the framework's own metric, "llm" for TCVA with the framework's LLM
            object, `SERVER_JUDGE` for TCVA that asks the server itself.
        own: The framework's own metric that TCVA is held against.
    """

    make: Callable[[str, int, str | None], Run]
    judge: str | None = None
    own: str = ""


def limited(ask: Callable[[Any], Awaitable[Any]], limit: int) -> Run:
    """Awaits all, in order, with so many under way at once."""

    async def scores(rows: Sequence[Record]) -> list[Any]:
        gate = asyncio.Semaphore(limit)

        async def one(row: Record) -> Any:
            async with gate:
                return await ask(row)

        return list(await asyncio.gather(*map(one, rows)))

    return lambda rows: LOOP.run(scores(rows))


def bare(url: str, limit: int, _: str | None) -> Run:
    """What any method has to do at least: the openai package posts bodies and reads the replies."""
    client = import_module("openai").AsyncOpenAI(base_url=url, api_key="none")

    async def post(body: Record) -> float:
        await client.chat.completions.create(**body)
        return 1.0

    return limited(post, limit)


def core(_: str, limit: int, judge: str | None) -> Run:  # noqa: ARG001  # as all are called
    """`TCVA.evaluate_many`."""
    from tcva_adapters import TCVA, Sample

    tcva = TCVA(judge=SERVER_JUDGE, max_concurrency=limit)

    def run(rows: Sequence[Record]) -> list[Any]:
        samples = [Sample(**row) for row in rows]
        return [each.score for each in tcva.evaluate_many(samples, progress=False)]

    return run


def ragas(url: str, limit: int, judge: str | None) -> Run:
    """`evaluate`, with the LLM of `llm_factory` on `AsyncOpenAI`."""
    from openai import AsyncOpenAI
    from ragas import EvaluationDataset, RunConfig, evaluate
    from ragas.llms import llm_factory
    from ragas.metrics._faithfulness import Faithfulness

    from tcva_adapters.ragas import TCVAMetric

    llm: Any = llm_factory("m", client=AsyncOpenAI(base_url=url, api_key="none"))
    metric: Any = Faithfulness(llm=llm)
    if judge:
        metric = TCVAMetric(
            llm=SERVER_JUDGE if judge == SERVER_JUDGE else llm, max_concurrency=limit
        )
    names = {
        "input": "user_input",
        "response": "response",
        "contexts": "retrieved_contexts",
    }

    def run(rows: Sequence[Record]) -> list[Any]:
        given = [{there: row[here] for here, there in names.items()} for row in rows]
        data = EvaluationDataset.from_list(given)
        options: Any = {
            "show_progress": False,
            "run_config": RunConfig(max_workers=limit),
        }
        found: Any = evaluate(data, metrics=[metric], **options)
        return [score[metric.name] for score in found.scores]

    return run


def deepeval(url: str, limit: int, judge: str | None) -> Run:
    """`evaluate`, with `LocalModel`."""
    from deepeval.evaluate import evaluate
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase

    from tcva_adapters.deepeval import TCVAMetric

    llm = LocalModel(model="m", base_url=url, api_key="none")
    metric: Any = FaithfulnessMetric(model=llm)
    if judge:
        metric = TCVAMetric(
            model=SERVER_JUDGE if judge == SERVER_JUDGE else llm, max_concurrency=limit
        )

    def run(rows: Sequence[Record]) -> list[Any]:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # DeepEval runs on the thread's own
        names = {"id": "name", "input": "input", "response": "actual_output"}
        names["contexts"] = "retrieval_context"
        cases = [
            LLMTestCase(**{names[name]: row[name] for name in names}) for row in rows
        ]
        quiet: Any = {"print_results": False, "inspect_after_run": False}
        found = evaluate(
            cases,
            [metric],
            async_config=AsyncConfig(max_concurrent=limit),
            display_config=DisplayConfig(show_indicator=False, **quiet),
            cache_config=CacheConfig(write_cache=False),
        )
        asyncio.set_event_loop(None)
        loop.close()
        return [(test.metrics_data or [])[0].score for test in found.test_results]

    return run


def llamaindex(url: str, limit: int, judge: str | None) -> Run:
    """`BatchEvalRunner`. Its package for OpenAI asks for an older openai: a `CustomLLM` instead."""
    from llama_index.core.base.llms.types import (
        ChatMessage,
        ChatResponse,
        LLMMetadata,
        MessageRole,
    )
    from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator
    from llama_index.core.llms import CustomLLM
    from llama_index.core.llms.callbacks import llm_chat_callback
    from openai import AsyncOpenAI

    from tcva_adapters.llamaindex import TCVAEvaluator

    class ServerLLM(CustomLLM):
        client: Any

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name="m", is_chat_model=True)

        @llm_chat_callback()
        async def achat(
            self, messages: Sequence[ChatMessage], **_: Any
        ) -> ChatResponse:
            said = [
                {"role": each.role.value, "content": each.content} for each in messages
            ]
            done = await self.client.chat.completions.create(model="m", messages=said)
            text = done.choices[0].message.content
            message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
            return ChatResponse(message=message, raw=done)

        def complete(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        stream_complete = complete

    llm = ServerLLM(client=AsyncOpenAI(base_url=url, api_key="none"))
    evaluator: Any = FaithfulnessEvaluator(llm=llm)
    if judge:
        evaluator = TCVAEvaluator(
            SERVER_JUDGE if judge == SERVER_JUDGE else llm, max_concurrency=limit
        )

    def run(rows: Sequence[Record]) -> list[Any]:
        runner = BatchEvalRunner({"e": evaluator}, workers=limit)
        names = {
            "queries": "input",
            "response_strs": "response",
            "contexts_list": "contexts",
        }
        given: Any = {
            theirs: [row[ours] for row in rows] for theirs, ours in names.items()
        }
        found = LOOP.run(runner.aevaluate_response_strs(**given))
        return [each.score for each in found["e"]]

    return run


def langchain(url: str, limit: int, judge: str | None) -> Run:
    """`TCVAEvaluator.abatch`, or `labeled_criteria`, on `ChatOpenAI`."""
    from langchain_classic.evaluation import load_evaluator
    from langchain_openai import ChatOpenAI

    from tcva_adapters.langchain import TCVAEvaluator

    options: Any = {"api_key": "none"}
    llm: Any = ChatOpenAI(model="m", base_url=url, **options)
    if judge:
        tcva = TCVAEvaluator(
            SERVER_JUDGE if judge == SERVER_JUDGE else llm, max_concurrency=limit
        )
        config: Any = {"max_concurrency": limit}
        return lambda rows: [
            row["score"] for row in LOOP.run(tcva.abatch(list(rows), config))
        ]
    options = {"llm": llm, "criteria": "correctness"}
    criteria: Any = load_evaluator("labeled_criteria", **options)  # type: ignore[arg-type]  # or the name

    async def ask(row: Record) -> Any:
        given = {
            "prediction": row["response"],
            "reference": "\n\n".join(row["contexts"]),
        }
        return (await criteria.aevaluate_strings(**given, input=row["input"]))["score"]

    return limited(ask, limit)


def _both(
    name: str, make: Callable[[str, int, str | None], Run], own: str
) -> dict[str, Method]:
    ours = {"its LLM": "llm", "openai:MODEL": SERVER_JUDGE}
    return {own: Method(make)} | {
        f"{name}, {how}": Method(make, j, own) for how, j in ours.items()
    }


BARE: Final = "bare client"
METHODS: Final = {
    "TCVA evaluate_many": Method(core, SERVER_JUDGE),
    **_both("RAGAS TCVAMetric", ragas, "RAGAS Faithfulness"),
    **_both("DeepEval TCVAMetric", deepeval, "DeepEval FaithfulnessMetric"),
    **_both("LlamaIndex TCVAEvaluator", llamaindex, "LlamaIndex FaithfulnessEvaluator"),
    **_both("LangChain TCVAEvaluator", langchain, "LangChain labeled_criteria"),
}


def measured(run: Run, rows: Sequence[Record]) -> dict[str, float]:
    """Seconds of this process's CPU and of the clock, and how many samples got a score."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    scores = run(rows)
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    return {**spent, "scored": sum(s is not None and not math.isnan(s) for s in scores)}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what packages print themselves goes to standard error
    warnings.simplefilter(
        "ignore"
    )  # frameworks announce the end of what they are measured by
    name, file = sys.argv[1:]
    method = Method(bare) if name == BARE else METHODS[name]
    rows = [json.loads(line) for line in Path(file).read_bytes().splitlines()]
    for line in sys.stdin:
        url, first, last, limit = json.loads(line)
        os.environ.update(
            OPENAI_BASE_URL=url, OPENAI_API_KEY="none"
        )  # of `openai:MODEL`
        run = method.make(url, limit, method.judge)
        answers.write(json.dumps(measured(run, rows[first:last])) + "\n")


if __name__ == "__main__":
    main()

"""TCVA through each adapter, and each framework's own metric, on the same samples.

A method is made once for an address, outside of what is measured, and then scores samples with so
many calls under way at once, through the entry point that the framework's users have. Each
framework is imported by its own function below, and by none where it is not measured.
"""

from __future__ import annotations

import asyncio
import os
import uuid
import warnings
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported
from benchmarks.answering_server import statements
from tcva_adapters import TCVA, Sample

Run = Callable[[Sequence[Sample], int], Sequence[Any]]
"""Scores samples with so many calls under way; a score per sample, None or NaN where there is none."""

CLIENT: Final = "openai:m"

_LOOP: Final = asyncio.Runner()
"""One loop for all that is awaited here: some clients keep their connections for longer than one."""


class Method(NamedTuple):
    """One way to score.

    Attributes:
        name: What tables call it.
        make: Builds it for the server at an address (with ``/v1``) and a number of calls.
        is_ours: Whether it is TCVA.
        is_awaited: Whether the framework needs no more than a client of ours: the LLM is not its.
    """

    name: str
    make: Callable[[str, int], Run]
    is_ours: bool = False
    with_our_client: bool = False


def samples(number: int) -> list[Sample]:
    """Samples of four claims, each stated in one of three passages; no two are the same."""
    return [_sample(i) for i in range(number)]


def _sample(i: int) -> Sample:
    facts = statements(i)
    filler = (
        "The street was laid out when the old town grew beyond its walls, and most of its houses "
        "were put up by the merchants who traded on the river. Many were rebuilt after the fire. "
    )
    passages = (
        f"{filler}{facts[0]} {facts[1]} Its first owner sold timber.",
        f"{filler}{facts[2]} It holds the papers of three families.",
        f"{filler}{facts[3]} It has two gates and a pond.",
    )
    question = f"What is there to know about house {i}?"
    return Sample(id=f"s{i}", input=question, response=" ".join(facts), contexts=passages)


async def limited(
    work: Callable[[Any], Awaitable[Any]], items: Sequence[Any], limit: int
) -> list[Any]:
    """What becomes of each item, in order, with so many under way at once."""
    gate = asyncio.Semaphore(limit)

    async def one(item: Any) -> Any:
        async with gate:
            return await work(item)

    return list(await asyncio.gather(*map(one, items)))


def bare(bodies: Sequence[dict[str, Any]]) -> Callable[[str, int], Run]:
    """The openai package and nothing else, posting these bodies."""
    import openai  # noqa: PLC0415  # see the top

    def make(url: str, limit: int) -> Run:
        def run(_: Sequence[Sample], __: int) -> list[Any]:
            async def post() -> list[Any]:
                async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
                    create: Any = client.chat.completions.create
                    done = await limited(lambda body: create(**body), bodies, limit)
                return [each.choices[0].finish_reason for each in done]

            return _LOOP.run(post())

        return run

    return make


def core() -> list[Method]:
    """TCVA itself."""

    def many(_: str, limit: int) -> Run:
        tcva = TCVA(judge=CLIENT, max_concurrency=limit)
        return lambda rows, _: [r.score for r in tcva.evaluate_many(rows, progress=False)]

    def amany(_: str, limit: int) -> Run:
        tcva = TCVA(judge=CLIENT, max_concurrency=limit)
        return lambda rows, _: [
            r.score for r in _LOOP.run(tcva.aevaluate_many(rows, progress=False))
        ]

    return [
        Method("evaluate_many", many, is_ours=True, with_our_client=True),
        Method("aevaluate_many", amany, is_ours=True, with_our_client=True),
    ]


def ragas() -> list[Method]:
    """RAGAS: `evaluate`, and the collections family."""
    import openai  # noqa: PLC0415  # see the top
    from ragas import EvaluationDataset, RunConfig, evaluate  # noqa: PLC0415  # see the top
    from ragas.llms import llm_factory  # noqa: PLC0415  # see the top
    from ragas.metrics._faithfulness import Faithfulness  # noqa: PLC0415  # see the top
    from ragas.metrics.collections import Faithfulness as Collected  # noqa: PLC0415  # see the top

    from tcva_adapters.ragas import TCVACollectionMetric, TCVAMetric  # noqa: PLC0415  # see the top

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
                done = _LOOP.run(limited(lambda row: built.ascore(**row), given, limit))
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
    return [
        Method("Faithfulness", evaluated(lambda u, _: Faithfulness(llm=llm(u)))),
        Method("TCVAMetric", evaluated(theirs), is_ours=True),
        Method("TCVAMetric", evaluated(our_client), is_ours=True, with_our_client=True),
        Method("collections.Faithfulness", collected(lambda u, _: Collected(llm=llm(u)))),
        Method("TCVACollectionMetric", collected(newer), is_ours=True),
        Method("TCVACollectionMetric", collected(newer_client), is_ours=True, with_our_client=True),
    ]


def deepeval() -> list[Method]:
    """DeepEval: `evaluate`, and a loop over ``a_measure``; `LocalModel` is its LLM."""
    from deepeval.evaluate import configs, evaluate  # noqa: PLC0415  # see the top
    from deepeval.metrics import FaithfulnessMetric  # noqa: PLC0415  # see the top
    from deepeval.models import LocalModel  # noqa: PLC0415  # see the top
    from deepeval.test_case import LLMTestCase  # noqa: PLC0415  # see the top

    from tcva_adapters.deepeval import TCVAMetric  # noqa: PLC0415  # see the top

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
            def run(rows: Sequence[Sample], limit: int) -> list[Any]:
                # A metric holds one test case at a time: so many, as DeepEval copies it.
                free = [metric(url, limit) for _ in range(limit)]

                async def one(case: Any) -> Any:
                    own = free.pop()
                    try:
                        return await own.a_measure(case, _show_indicator=False)
                    finally:
                        free.append(own)

                return _LOOP.run(limited(one, [case(sample) for sample in rows], limit))

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

    return [
        Method("FaithfulnessMetric", evaluated(theirs)),
        Method("TCVAMetric", evaluated(ours), is_ours=True),
        Method("TCVAMetric", evaluated(our_client), is_ours=True, with_our_client=True),
        Method("FaithfulnessMetric.a_measure", measured(theirs)),
        Method("TCVAMetric.a_measure", measured(ours), is_ours=True),
        Method("TCVAMetric.a_measure", measured(our_client), is_ours=True, with_our_client=True),
    ]


def llamaindex() -> list[Method]:
    """LlamaIndex: `BatchEvalRunner`. Its package for OpenAI is not needed: a `CustomLLM` is."""
    import openai  # noqa: PLC0415  # see the top
    from llama_index.core.base.llms.types import (  # noqa: PLC0415  # see the top
        ChatMessage,
        ChatResponse,
        LLMMetadata,
        MessageRole,
    )
    from llama_index.core.evaluation import (  # noqa: PLC0415  # see the top
        BatchEvalRunner,
        FaithfulnessEvaluator,
    )
    from llama_index.core.llms import CustomLLM  # noqa: PLC0415  # see the top
    from llama_index.core.llms.callbacks import llm_chat_callback  # noqa: PLC0415  # see the top

    from tcva_adapters.llamaindex import TCVAEvaluator  # noqa: PLC0415  # see the top

    class ServerLLM(CustomLLM):
        """A chat model on one client, as LlamaIndex's package for OpenAI has it."""

        client: Any

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name="m", is_chat_model=True)

        @llm_chat_callback()
        async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
            del kwargs
            said = [{"role": each.role.value, "content": each.content} for each in messages]
            done = await self.client.chat.completions.create(model="m", messages=said)
            text = done.choices[0].message.content
            message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
            return ChatResponse(message=message, raw=done)

        def complete(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        def stream_complete(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    def llm(url: str) -> Any:
        return ServerLLM(client=openai.AsyncOpenAI(base_url=url, api_key="none"))

    def batched(evaluator: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
        def make(url: str, limit: int) -> Run:
            built = evaluator(url, limit)

            def run(rows: Sequence[Sample], limit: int) -> list[Any]:
                runner = BatchEvalRunner({"e": built}, workers=limit)
                found = _LOOP.run(
                    runner.aevaluate_response_strs(
                        queries=[sample.input or "" for sample in rows],
                        response_strs=[sample.response or "" for sample in rows],
                        contexts_list=[[*(sample.contexts or ())] for sample in rows],
                    )
                )
                return [each.score for each in found["e"]]

            return run

        return make

    def ours(url: str, limit: int) -> Any:
        return TCVAEvaluator(llm(url), max_concurrency=limit)

    def our_client(_: str, limit: int) -> Any:
        return TCVAEvaluator(CLIENT, max_concurrency=limit)

    return [
        Method("FaithfulnessEvaluator", batched(lambda u, _: FaithfulnessEvaluator(llm=llm(u)))),
        Method("TCVAEvaluator", batched(ours), is_ours=True),
        Method("TCVAEvaluator", batched(our_client), is_ours=True, with_our_client=True),
    ]


def langchain() -> list[Method]:
    """LangChain: a criteria evaluator and ours in ``abatch``; both in LangSmith's `aevaluate`."""
    from langchain_classic.evaluation import load_evaluator  # noqa: PLC0415  # see the top
    from langchain_openai import ChatOpenAI  # noqa: PLC0415  # see the top
    from langsmith import evaluation, schemas  # noqa: PLC0415  # see the top

    from tcva_adapters.langchain import (  # noqa: PLC0415  # see the top
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
            done = _LOOP.run(limited(lambda row: judged(evaluator, row), rows, limit))
            return [each["score"] for each in done]

        return run

    def batched(evaluator: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
        def make(url: str, limit: int) -> Run:
            built = evaluator(url, limit)

            def run(rows: Sequence[Sample], limit: int) -> list[Any]:
                given = [row.model_dump() for row in rows]
                found = _LOOP.run(built.abatch(given, {"max_concurrency": limit}))
                return [each["score"] for each in found]

            return run

        return make

    def experiment(evaluator: Callable[[str, int], Any]) -> Callable[[str, int], Run]:
        def make(url: str, limit: int) -> Run:
            built = evaluator(url, limit)

            def run(rows: Sequence[Sample], limit: int) -> list[Any]:
                return _LOOP.run(_experiment(built, rows, limit))

            return run

        return make

    async def _experiment(evaluator: Any, rows: Sequence[Sample], limit: int) -> list[Any]:
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
                return await evaluator(
                    outputs=row.response, context="\n\n".join(row.contexts or ())
                )

            return [each["score"] for each in _LOOP.run(limited(one, rows, limit))]

        return run

    def ours(url: str, limit: int) -> Any:
        return TCVAEvaluator(llm(url), max_concurrency=limit)

    def our_client(_: str, limit: int) -> Any:
        return TCVAEvaluator(CLIENT, max_concurrency=limit)

    # openevals is none of the requirements of the tests; `make bench` installs it.
    judge = [Method("openevals LLM-as-judge", openevals)] if find_spec("openevals") else []
    return [
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


GROUPS: Final[dict[str, Callable[[], list[Method]]]] = {
    "core": core,
    "ragas": ragas,
    "deepeval": deepeval,
    "llamaindex": llamaindex,
    "langchain": langchain,
}
"""The methods by framework; the first one of a pair is the framework's own."""


def use_server(url: str) -> None:
    """Let ``openai:MODEL`` mean this server."""
    os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="none")

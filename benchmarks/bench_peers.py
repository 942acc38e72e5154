"""Methods that none of the four frameworks brings: openevals, eval-ai-library, and a bare client.

Each is used as its documentation shows, asynchronously, with as many samples at once as are asked for.
Packages are imported when a method is made: eval-ai-library has an environment of its own, in which
tcva-adapters is not installed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, Final

Record = dict[str, Any]
Run = Callable[[], list[float]]

_LOOP: Final = asyncio.Runner()
"""One loop for all cells: the clients of LangChain's models keep their connections for longer."""


def _limited(ask: Callable[[Any], Awaitable[float]], items: Sequence[Any], concurrency: int) -> Run:
    """Scores of all items, in order, with so many under way at once."""

    async def run() -> list[float]:
        free = asyncio.Semaphore(concurrency)

        async def one(item: Any) -> float:
            async with free:
                return await ask(item)

        return list(await asyncio.gather(*map(one, items)))

    return lambda: _LOOP.run(run())


def openevals(url: str, concurrency: int, records: Sequence[Record]) -> Run:
    """Its judge with the prompt for groundedness, on LangChain's chat model."""
    chat = import_module("langchain_openai").ChatOpenAI
    create = import_module("openevals.llm").create_async_llm_as_judge
    prompt = import_module("openevals.prompts").RAG_GROUNDEDNESS_PROMPT
    judge = create(prompt=prompt, judge=chat(model="m", base_url=url, api_key="none"))

    async def one(record: Record) -> float:
        found = await judge(context={"documents": record["contexts"]}, outputs=record["response"])
        return float(found["score"])

    return _limited(one, records, concurrency)


def eval_ai_library(url: str, concurrency: int, records: Sequence[Record]) -> Run:
    """Its faithfulness, several samples at once: its own `evaluate` asks one after the other."""
    os.environ |= {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # litellm would fetch its table of prices
    }
    library, schema = import_module("eval_lib"), import_module("eval_lib.testcases_schema")
    metric = library.FaithfulnessMetric(model="openai:m")

    async def one(record: Record) -> float:
        case = schema.EvalTestCase(
            input=record["input"],
            actual_output=record["response"],
            retrieval_context=record["contexts"],
        )
        return float((await metric.evaluate(case))["score"])

    return _limited(one, records, concurrency)


PEERS: Final[dict[str, Callable[[str, int, Sequence[Record]], Run]]] = {
    "openevals": openevals,
    "eval-ai-library": eval_ai_library,
}


def posting(url: str, bodies: Sequence[Record], concurrency: int) -> Run:
    """What any method has to do at least: the openai package posts bodies and reads the replies."""
    client = import_module("openai").AsyncOpenAI(base_url=url, api_key="none")

    async def one(body: Record) -> float:
        await client.chat.completions.create(**body)
        return 1.0

    return _limited(one, bodies, concurrency)

"""Methods outside of the four frameworks: eval-ai-library, and a bare client.

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
"""One loop for all cells: litellm keeps its clients for longer than one."""


def _limited(ask: Callable[[Any], Awaitable[float]], items: Sequence[Any], concurrency: int) -> Run:
    """Scores of all items, in order, with so many under way at once."""

    async def run() -> list[float]:
        free = asyncio.Semaphore(concurrency)

        async def one(item: Any) -> float:
            async with free:
                return await ask(item)

        return list(await asyncio.gather(*map(one, items)))

    return lambda: _LOOP.run(run())


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


PEERS: Final = {"eval-ai-library": eval_ai_library}


def posting(url: str, bodies: Sequence[Record], concurrency: int) -> Run:
    """What any method has to do at least: the openai package posts bodies and reads the replies."""
    client = import_module("openai").AsyncOpenAI(base_url=url, api_key="none")

    async def one(body: Record) -> float:
        await client.chat.completions.create(**body)
        return 1.0

    return _limited(one, bodies, concurrency)

"""What a call costs in this process: ours, one at a time and in batches, beside a bare client.

Each round posts the same bodies to the same server (in another process) by a bare
`openai.AsyncOpenAI`, by our model alone, and by `evaluate_many`, `aevaluate_many` and `evaluate`
one after the other. Given are medians over the rounds, so that what else the machine does meets
all of them.

Run: python -m benchmarks.transport [SAMPLES] [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import openai

from benchmarks.adapter_methods import samples
from benchmarks.answering_server import Remote, started
from tcva_adapters import TCVA, Sample, clear_shared
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeRequest

CELLS = ((0.0, 8), (0.0, 32), (0.2, 8), (0.2, 32))
"""Seconds that the server waits before it answers, and calls under way at once."""

Run = Callable[[], Any]
Measured = tuple[float, float, int]
"""CPU and wall seconds, and connections."""


def bare(url: str, limit: int, bodies: Sequence[dict[str, Any]]) -> Run:
    async def main() -> None:
        gate = asyncio.Semaphore(limit)
        async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:

            async def one(body: dict[str, Any]) -> None:
                async with gate:
                    await client.chat.completions.create(**body)

            await asyncio.gather(*map(one, bodies))

    return lambda: asyncio.run(main())


def model_alone(url: str, limit: int, bodies: Sequence[dict[str, Any]]) -> Run:
    model = OpenAICompatibleModel("m", base_url=url, max_concurrency=limit)
    requests = []
    for body in bodies:
        system, user = (message["content"] for message in body["messages"])
        form = body["response_format"]["json_schema"]
        requests.append(JudgeRequest(system, user, form["schema"], form["name"]))

    async def main() -> None:
        await asyncio.gather(*map(model.acomplete, requests))

    return lambda: asyncio.run(main())


def ways(
    url: str, limit: int, rows: Sequence[Sample], bodies: Sequence[dict[str, Any]]
) -> dict[str, Run]:
    model = OpenAICompatibleModel("m", base_url=url, max_concurrency=limit)
    tcva = TCVA(judge=model, max_concurrency=limit, share=False)
    return {
        "bare AsyncOpenAI": bare(url, limit, bodies),
        "our client alone": model_alone(url, limit, bodies),
        "aevaluate_many": lambda: asyncio.run(tcva.aevaluate_many(rows)),
        "evaluate_many": lambda: tcva.evaluate_many(rows),
        "evaluate, one by one": lambda: [tcva.evaluate(row) for row in rows[: len(rows) // limit]],
    }


def measured(run: Run, server: Remote, delay: float) -> Measured:
    clear_shared()
    server.reset(delay)
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    found = time.process_time() - cpu, time.perf_counter() - wall
    return *found, server.reset(delay)[0]


def print_cell(
    server: Remote, delay: float, limit: int, rows: Sequence[Sample], rounds: int
) -> None:
    server.reset(0.0)
    TCVA(judge=OpenAICompatibleModel("m", base_url=server.base_url)).evaluate_many(rows)
    bodies = [json.loads(body) for body in server.reset(0.0)[1]]
    runs = ways(server.base_url, limit, rows, bodies)
    seen: dict[str, list[Measured]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seen[name].append(measured(run, server, delay))
    print(f"\n{delay * 1000:.0f} ms, {limit} at once")
    print(
        f"{'':22} {'CPU ms a sample':>16} {'above bare':>11} {'wall/ideal':>11} {'connections':>12}"
    )
    reference = 0.0
    for name, found in seen.items():
        alone = name == "evaluate, one by one"
        number, at_once = (len(rows) // limit, 1) if alone else (len(rows), limit)
        cpu, wall, connections = (statistics.median(column) for column in zip(*found, strict=True))
        each = cpu / number * 1000
        reference = reference or each
        over = f"{wall / (delay * number / at_once):11.2f}" if delay else f"{'-':>11}"
        print(f"{name:22} {each:16.2f} {each - reference:11.2f} {over} {connections:12.0f}")


def main() -> None:
    number, rounds = (int(word) for word in (*sys.argv[1:3], *("500", "3")[len(sys.argv) - 1 :]))
    rows = samples(number)
    with started() as server:
        for delay, limit in CELLS:
            print_cell(server, delay, limit, rows, rounds)


if __name__ == "__main__":
    main()

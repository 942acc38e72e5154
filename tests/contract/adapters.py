"""A scenario through an adapter, by its framework's own runner, and through TCVA as the reference."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.models.judge_model import JudgeRequest
from tests.adapters.table import Adapter
from tests.contract.scenarios import Scenario, Script, Way
from tests.support.scripted import ScriptedModel

Results = list[Result]

ASKED, NINE = "When does the office open?", "The office opens at nine."
FREE: Final = "is free for visitors."
SAMPLES: Final = [
    Sample(
        input=ASKED,
        response=f"{NINE} {desk} costs money.",
        contexts=(f"{NINE} {desk} {FREE}",),
    )
    for desk in ("Desk 0", "Desk 1", "Desk 2")
]


@dataclass(frozen=True)
class Run:
    """One run of a scenario: what came of it, and what the LLM was asked."""

    results: Results
    script: Script


def run(adapter: Adapter, scenario: Scenario, *, asynchronous: bool) -> list[Run]:
    """Run the scenario, several times where it says so."""
    samples = scenario.samples

    async def in_a_loop(evaluator: Any) -> Any:
        return await asyncio.gather(
            *(adapter.ascore(evaluator, sample) for sample in samples)
        )

    def once(way: Way) -> Run:
        script = Script(scenario.cases)
        evaluator = adapter.built(adapter.llm(script), **scenario.options)
        results: Any
        if way == "running loop":
            results = asyncio.run(in_a_loop(evaluator))
        elif way == "thread":
            with ThreadPoolExecutor(1) as pool:
                (results,) = pool.submit(
                    adapter.suite, [evaluator], samples, asynchronous
                ).result()
        else:
            (results,) = adapter.suite([evaluator], samples, asynchronous)
        return Run(results, script)

    ways: list[Way] = [scenario.way]
    if scenario.way == "after asyncio.run":
        ways = ["running loop", "running loop", "plain"]
    with _own_loop():
        return [once(way) for way in ways]


@contextmanager
def _own_loop() -> Iterator[None]:
    """A loop for LlamaIndex, which runs on the thread's own, makes one and leaves it open.

    After ``asyncio.run`` the thread has none, and what is run then meets that state.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def reference(scenario: Scenario) -> tuple[Results, dict[str, list[JudgeRequest]]]:
    """What `TCVA` makes of the same replies, and what it asked about each question."""
    results: Results = []
    asked: dict[str, list[JudgeRequest]] = {}
    for case in scenario.cases:
        model = ScriptedModel(case.answers)
        results.append(TCVA(judge=model, **scenario.options).evaluate(case.sample))
        asked[case.sample.input or ""] = model.requests
    return results, asked

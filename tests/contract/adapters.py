"""The four adapters, each through its framework's own entry point, and TCVA as their reference."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol
from unittest.mock import patch

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.models.protocol import JudgeRequest
from tests.contract.scenarios import RateLimitError, Scenario, Script, Way
from tests.support import server
from tests.support.scripted import ScriptedModel

Reply = Callable[[str], str]
Results = list[Result]

SAMPLES: Final = [
    Sample(
        input="When does the office open?",
        response=f"The office opens at nine. Desk {number} costs money.",
        contexts=(f"The office opens at nine. Desk {number} is free for visitors.",),
    )
    for number in range(3)
]


class Entry(Protocol):
    """What ``tests/<framework>/entry.py`` offers."""

    def run(
        self, samples: Sequence[Sample], reply: Reply, *, asynchronous: bool = ..., **options: Any
    ) -> Results:
        """Judge the samples through the framework."""

    async def arun(self, samples: Sequence[Sample], reply: Reply, **options: Any) -> Results:
        """The same, awaited."""


@dataclass(frozen=True)
class Run:
    """One run of a scenario: what came of it, and what the LLM was asked."""

    results: Results
    script: Script


@dataclass(frozen=True)
class Adapter:
    """One of the four.

    Attributes:
        name: Name of the adapter's folder.
        title: Name of the framework.
        through: The entry point that the samples go through.
        retrying: Judges with the framework's own retries switched on; None where an LLM class of
            the user's has none from the framework.
        has_ids: Whether the framework's samples have a name that comes back with the result.
    """

    name: str
    title: str
    through: str
    retrying: Callable[[Sequence[Sample], Reply, dict[str, Any], bool], Results] | None = None
    has_ids: bool = False

    def entry(self) -> Entry:
        """Its entry point; the framework is imported here, not before."""
        module: Any = import_module(f"tests.{self.name}.entry")
        return module  # type: ignore[no-any-return]  # a module as a protocol

    def retries(self, scenario: Scenario) -> bool:
        """Whether the judge is asked again after an exception in this scenario."""
        return scenario.retried and self.retrying is not None

    def run(self, scenario: Scenario, *, asynchronous: bool) -> list[Run]:
        """Run the scenario, several times where it says so."""
        entry, samples, options = self.entry(), scenario.samples, dict(scenario.options)

        def once(way: Way) -> Run:
            script = Script(scenario.cases)
            if way == "running loop":
                results = asyncio.run(entry.arun(samples, script, **options))
            elif way == "thread":
                with ThreadPoolExecutor(1) as pool:
                    results = pool.submit(
                        entry.run, samples, script, asynchronous=asynchronous, **options
                    ).result()
            elif scenario.retried and self.retrying is not None:
                results = self.retrying(samples, script, options, asynchronous)
            else:
                results = entry.run(samples, script, asynchronous=asynchronous, **options)
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


def reference(
    scenario: Scenario, *, retries: bool
) -> tuple[Results, dict[str, list[JudgeRequest]]]:
    """What `TCVA` makes of the same replies, and what it asked about each question.

    Args:
        scenario: The scenario.
        retries: Leave out the exceptions that the framework's retries swallow.
    """
    results: Results = []
    asked: dict[str, list[JudgeRequest]] = {}
    for case in scenario.cases:
        swallowed = RateLimitError if retries else ()
        answers = [answer for answer in case.answers if not isinstance(answer, swallowed)]
        model = ScriptedModel(answers)
        results.append(TCVA(judge=model, **scenario.options).evaluate(case.sample))
        asked[case.sample.input or ""] = model.requests
    return results, asked


def _retrying_chain(
    samples: Sequence[Sample], reply: Reply, options: dict[str, Any], asynchronous: bool
) -> Results:
    """LangChain: a chat model ``with_retry``."""
    from langchain_core.runnables import RunnablePassthrough  # loaded on demand

    from tcva_adapters.langchain import TCVAEvaluator, result_of
    from tests.langchain import entry

    llm = entry.ScriptedChatModel(reply=reply).with_retry(wait_exponential_jitter=False)
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(llm, **options))
    records = entry.records(samples)
    outputs = asyncio.run(chain.abatch(records)) if asynchronous else chain.batch(records)
    return [result_of(output["tcva"]) for output in outputs]


def _retrying_evaluate(
    samples: Sequence[Sample], reply: Reply, options: dict[str, Any], asynchronous: bool
) -> Results:
    """RAGAS: ``RunConfig(max_retries=...)``."""
    from ragas import RunConfig, aevaluate, evaluate
    from ragas.dataset_schema import EvaluationResult  # loaded on demand

    from tests.ragas import entry

    arguments = entry._arguments(samples, reply, options)
    arguments["run_config"] = RunConfig(max_retries=3, max_wait=0)
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function on every call.
        warnings.simplefilter("ignore", DeprecationWarning)
        if asynchronous:
            found: Any = asyncio.run(aevaluate(**arguments))
        else:
            found = evaluate(**arguments, allow_nest_asyncio=False)
    assert isinstance(found, EvaluationResult)
    return entry.ours_of(found)


def _retrying_class(
    samples: Sequence[Sample], reply: Reply, options: dict[str, Any], asynchronous: bool
) -> Results:
    """DeepEval: one of its own LLM classes, at a server that answers with the replies."""
    from deepeval.config.settings import get_settings  # loaded on demand
    from deepeval.models import LocalModel

    from tcva_adapters.deepeval import TCVAMetric, results_of
    from tests.deepeval import entry

    def answer(body: server.Body, _: int) -> server.Scripted:
        try:
            return reply("\n\n".join(message["content"] for message in body["messages"]))
        except RateLimitError as error:
            return server.error(error.status_code, str(error))

    cases = [entry.case_of(sample) for sample in samples]
    with (
        server.ScriptedServer(entry.hanging_up(answer)) as there,
        patch.object(get_settings(), "DEEPEVAL_RETRY_CAP_SECONDS", 0),
    ):
        llm = LocalModel(model="m", base_url=there.base_url, api_key="none")
        metric = TCVAMetric(model=llm, **options)
        found = entry.evaluated(cases, [metric], asynchronous=asynchronous)
    return results_of(found, metric.name)


ADAPTERS: Final[tuple[Adapter, ...]] = (
    Adapter(
        "langchain", "LangChain", "`batch` and `abatch` of a chain", _retrying_chain, has_ids=True
    ),
    Adapter("llamaindex", "LlamaIndex", "`BatchEvalRunner`, sync and awaited"),
    Adapter("ragas", "RAGAS", "`evaluate` and `aevaluate`", _retrying_evaluate),
    Adapter(
        "deepeval",
        "DeepEval",
        "`evaluate`, with `run_async` and without",
        _retrying_class,
        has_ids=True,
    ),
)

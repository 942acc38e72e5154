"""The four adapters, each through its framework's own entry point, and TCVA as their reference."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from tests.contract.scenarios import RateLimitError, Scenario
from tests.support.scripted import ScriptedModel

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.judging.prompts import JudgeRequest

Reply = Callable[[str], str]
Results = list[Result]


class Entry(Protocol):
    """What ``tests/<framework>/entry.py`` offers."""

    def run(
        self, samples: Sequence[Sample], reply: Reply, *, asynchronous: bool = ..., **options: Any
    ) -> Results:
        """Judge the samples through the framework."""

    async def arun(self, samples: Sequence[Sample], reply: Reply, **options: Any) -> Results:
        """The same, awaited."""


@dataclass(frozen=True)
class Adapter:
    """One of the four.

    Attributes:
        name: Name of the adapter's folder.
        title: Name of the framework.
        through: The entry point that the samples go through.
        retrying: Judges with the framework's own retries switched on; None where an LLM class of
            the user's has none from the framework.
    """

    name: str
    title: str
    through: str
    retrying: Callable[[Sequence[Sample], Reply, dict[str, Any], bool], Results] | None = None

    def entry(self) -> Entry:
        """Its entry point; the framework is imported here, not before."""
        module: Any = import_module(f"tests.{self.name}.entry")
        return module  # type: ignore[no-any-return]  # a module as a protocol

    def retries(self, scenario: Scenario) -> bool:
        """Whether the judge is asked again after an exception in this scenario."""
        return scenario.retried and self.retrying is not None

    def run(self, scenario: Scenario, reply: Reply, *, asynchronous: bool) -> list[Results]:
        """The results of the scenario, once for each time that it is run."""
        entry, samples, options = self.entry(), scenario.samples, dict(scenario.options)

        def once() -> Results:
            return entry.run(samples, reply, asynchronous=asynchronous, **options)

        if scenario.retried and self.retrying is not None:
            return [self.retrying(samples, reply, options, asynchronous)]
        if scenario.way == "running loop":
            return [asyncio.run(entry.arun(samples, reply, **options))]
        if scenario.way == "thread":
            with ThreadPoolExecutor(1) as pool:
                return [pool.submit(once).result()]
        if scenario.way == "after asyncio.run":
            awaited = [asyncio.run(entry.arun(samples, reply, **options)) for _ in range(2)]
            return [*awaited, once()]
        return [once()]


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
    from langchain_core.runnables import RunnablePassthrough  # noqa: PLC0415  # loaded on demand
    from tests.langchain import entry  # noqa: PLC0415

    from tcva_adapters.langchain import TCVAEvaluator, result_of  # noqa: PLC0415

    llm = entry.ScriptedChatModel(reply=reply).with_retry(wait_exponential_jitter=False)
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(llm, **options))
    records = entry._records(samples)
    outputs = asyncio.run(chain.abatch(records)) if asynchronous else chain.batch(records)
    return [result_of(output["tcva"]) for output in outputs]


def _retrying_evaluate(
    samples: Sequence[Sample], reply: Reply, options: dict[str, Any], asynchronous: bool
) -> Results:
    """RAGAS: ``RunConfig(max_retries=...)``."""
    import warnings  # noqa: PLC0415

    from tests.ragas import entry  # noqa: PLC0415  # loaded on demand

    from ragas import RunConfig, aevaluate, evaluate  # noqa: PLC0415
    from ragas.dataset_schema import EvaluationResult  # noqa: PLC0415
    from tcva_adapters.ragas import results_of  # noqa: PLC0415

    arguments = entry._arguments(samples, reply, options)
    arguments["run_config"] = RunConfig(max_retries=3, max_wait=0)
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function on every call.
        warnings.simplefilter("ignore", DeprecationWarning)
        if asynchronous:
            found = asyncio.run(aevaluate(**arguments))
        else:
            found = evaluate(**arguments, allow_nest_asyncio=False)  # type: ignore[assignment]
    assert isinstance(found, EvaluationResult)
    return results_of(found)


ADAPTERS: Final[tuple[Adapter, ...]] = (
    Adapter("langchain", "LangChain", "`batch`, `abatch` of a chain", _retrying_chain),
    Adapter("llamaindex", "LlamaIndex", "`BatchEvalRunner`"),
    Adapter("ragas", "RAGAS", "`evaluate`, `aevaluate`", _retrying_evaluate),
    Adapter("deepeval", "DeepEval", "`evaluate`"),
)

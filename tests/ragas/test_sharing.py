"""One judgement for all metrics of a suite. The judge says something else each time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ragas import RunConfig, aevaluate, evaluate
from ragas.cost import get_token_usage_for_openai
from ragas.dataset_schema import EvaluationResult
from ragas.run_config import RunConfig as Config

from tcva_adapters import CCRS, Result, Sample
from tcva_adapters.ragas import (
    ScorerMetric,
    TCVACollectionMetric,
    TCVAMetric,
    results_of,
)
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.sharing import SHARED
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM, dataset_of
from tests.ragas.office import Counted
from tests.support.scripted import verdict_json

pytestmark = [
    pytest.mark.filterwarnings(r"ignore:a?evaluate\(\) is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:LangchainLLMWrapper is deprecated:DeprecationWarning"),
]

TEMPERATURES = (0.2, 0.5, 0.9)


def suite(**settings: Any) -> list[TCVAMetric]:
    return [TCVAMetric(temperature=each, **settings) for each in TEMPERATURES]


SAMPLES = [
    Sample(
        input=f"Question {number}?",
        response="The office opens at nine. Parking is free.",
        contexts=(f"Note {number}. The office opens at nine. Parking is free for visitors.",),
    )
    for number in range(6)
]


class Varying:
    """Replies with other levels each time.

    Attributes:
        calls: How often it was asked.
    """

    WORDS = ("fully", "mostly", "partial", "minor", "none")

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _: str) -> str:
        self.calls += 1
        first, second = (self.WORDS[n % 5] for n in (self.calls, self.calls * 3))
        return verdict_json((1, first, "The office opens"), (2, second, "Parking"))


def run(
    metrics: Sequence[Any], llm: Any, *, asynchronous: bool = False, config: Config | None = None
) -> EvaluationResult:
    arguments: dict[str, Any] = {
        "dataset": dataset_of(SAMPLES),
        "metrics": list(metrics),
        "llm": llm,
        "run_config": config or RunConfig(max_retries=1),
        "show_progress": False,
    }
    if asynchronous:
        found: Any = asyncio.run(aevaluate(**arguments))
    else:
        found = evaluate(**arguments, allow_nest_asyncio=False)
    assert isinstance(found, EvaluationResult)
    return found


def by_row(found: EvaluationResult) -> list[list[float]]:
    return [list(row.values()) for row in found.scores]


def are_monotone(rows: Sequence[Sequence[float]]) -> bool:
    return all(list(row) == sorted(row) for row in rows)


class Slow(ScriptedLLM):
    """Answers after a moment, so that all metrics of a row ask before it has."""

    async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0.02)
        return await super().agenerate_text(*args, **kwargs)


both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["evaluate", "aevaluate"])


@both_ways
@pytest.mark.parametrize("family", [ScriptedLLM, Slow, ScriptedInstructorLLM])
def test_three_metrics_on_six_samples_are_six_calls(
    family: Callable[[Varying], Any], asynchronous: bool
) -> None:
    varying = Varying()
    metrics = [TCVAMetric(temperature=temperature) for temperature in TEMPERATURES]
    found = run(metrics, family(varying), asynchronous=asynchronous)
    assert varying.calls == 6
    assert are_monotone(by_row(found))
    results = [results_of(found, metric.name) for metric in metrics]
    assert [sum(r.usage.calls for r in row) for row in zip(*results, strict=True)] == [1] * 6
    assert {r.claims for rows in results for r in rows} == {r.claims for r in results[0]}


@both_ways
def test_with_one_store_for_all_as_well(tmp_path: Path, asynchronous: bool) -> None:
    varying, path = Varying(), tmp_path / "verdicts.sqlite"
    metrics = [TCVAMetric(temperature=each, store=path) for each in TEMPERATURES]
    assert are_monotone(by_row(run(metrics, ScriptedLLM(varying), asynchronous=asynchronous)))
    store = VerdictStore(path)
    metrics = [TCVAMetric(temperature=each, store=store) for each in TEMPERATURES]
    found = run(metrics, ScriptedLLM(varying), asynchronous=asynchronous)
    assert varying.calls == 6
    assert are_monotone(by_row(found))
    assert sum(r.usage.calls for m in metrics for r in results_of(found, m.name)) == 0


def test_a_langchain_model_that_ragas_wraps_anew_each_time_is_one_judge() -> None:
    varying = Varying()
    llm = Counted(responses=[varying("") for _ in range(18)])
    found = run(suite(), llm)
    again = run(suite(), llm)
    assert are_monotone(by_row(found))
    assert by_row(again) == by_row(found)
    assert llm.i == 6
    counted: Any = evaluate(
        dataset_of(SAMPLES[:1]),
        metrics=[*suite(criterion="answer_relevancy")],
        llm=llm,
        token_usage_parser=get_token_usage_for_openai,
        show_progress=False,
        allow_nest_asyncio=False,
    )
    assert counted.total_tokens().input_tokens == 10  # RAGAS counts a shared call once


def test_retries_of_ragas_belong_to_the_one_call() -> None:
    varying, refused = Varying(), set[str]()
    limited = type("RateLimitError", (Exception,), {"status_code": 429})

    def reply(prompt: str) -> str:
        if prompt not in refused:
            refused.add(prompt)
            msg = "slow down"
            raise limited(msg)
        return varying(prompt)

    llm = Slow(reply)
    metrics = suite()
    found = run(metrics, llm, config=RunConfig(max_retries=3, max_wait=0))
    assert varying.calls == 6
    assert len(llm.prompts) == 12
    assert are_monotone(by_row(found))


def test_a_judgement_that_ragas_ends_is_made_by_the_next_one() -> None:
    class SlowAtFirst(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            self.started += 1
            await asyncio.sleep(5 if self.started == 1 else 0.01)
            return await super().agenerate_text(*args, **kwargs)

        started = 0

    varying = Varying()
    llm, metrics = SlowAtFirst(varying), suite()
    config = RunConfig(timeout=1, max_retries=3, max_workers=1)
    config.timeout = 0.2  # type: ignore[assignment]  # whole seconds would make a slow test
    started = time.monotonic()
    found = run(metrics, llm, config=config)
    assert time.monotonic() - started < 4
    first, *others = [results_of(found, metric.name)[0] for metric in metrics]
    assert isinstance(first, Result)
    assert first.unscored is not None
    assert first.unscored.reason is Reason.TIMEOUT
    assert (first.assessment.criterion, first.scoring.temperature) == ("faithfulness", 0.2)
    assert others[0].claims == others[1].claims
    assert varying.calls == 6
    assert SHARED.under_way == 0
    again = by_row(run(metrics, llm, config=config))
    assert varying.calls == 6
    assert are_monotone(again)


def test_a_rating_that_ragas_ends_is_a_rating_without_a_score() -> None:
    class Hanging(ScriptedLLM):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.Event().wait()

    config = RunConfig(timeout=1, max_retries=1)
    config.timeout = 0.05  # type: ignore[assignment]  # as above
    found = run([ScorerMetric(CCRS("qr"), None)], Hanging(Varying()), config=config)
    results = results_of(found)
    assert [result.kind for result in results] == ["ccrs"] * 6
    assert {result.unscored and result.unscored.reason for result in results} == {Reason.TIMEOUT}


def test_the_newer_family_shares_as_well() -> None:
    varying = Varying()
    llm = ScriptedInstructorLLM(varying)
    metrics = [TCVACollectionMetric(llm, temperature=each) for each in TEMPERATURES]
    rows: Any = [
        {
            "user_input": each.input,
            "response": each.response,
            "retrieved_contexts": list(each.contexts or ()),
        }
        for each in SAMPLES
    ]
    batches = [metric.batch_score(rows) for metric in metrics]

    async def together() -> Any:
        return await asyncio.gather(*(metric.abatch_score(rows) for metric in metrics))

    for columns in (batches, asyncio.run(together())):
        table = list(zip(*([r.value for r in column] for column in columns), strict=True))
        assert are_monotone(table)
        assert len(table) == 6
    assert varying.calls == 6


def test_independent_judgements_are_to_be_had() -> None:
    varying = Varying()
    metrics = suite(share=False)
    run(metrics, ScriptedLLM(varying))
    run(metrics, ScriptedLLM(varying))
    assert varying.calls == 36

"""One judgement for all views of a sample, in LangChain's and LangSmith's own runners.

The judge says something else each time it is asked; LangChain and LangSmith are real.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.outputs import ChatResult
from langchain_core.runnables import RunnableParallel, RunnablePassthrough
from langsmith.evaluation import aevaluate, evaluate
from langsmith.schemas import Example

from tcva_adapters import CCRS, Result
from tcva_adapters.langchain import (
    ScorerEvaluator,
    TCVAEvaluator,
    TCVARunEvaluator,
    create_async_tcva_judge,
    create_tcva_judge,
    local_client,
    result_of,
)
from tests.langchain.entry import ScriptedChatModel
from tests.support.scripted import verdict_json

# LangSmith says so whenever upload_results is used.
pytestmark = pytest.mark.filterwarnings("ignore:'upload_results' parameter is in beta")

STRICTNESS = (0.2, 0.5, 0.9)
WORDS = ("fully", "mostly", "partial", "minor", "none")
RECORDS: list[dict[str, Any]] = [
    {
        "answer": "The office opens at nine. Parking is free.",
        "context": [f"Note {number}. The office opens at nine. Parking is free for visitors."],
    }
    for number in range(6)
]


class Varying:
    """Two verdicts that differ from call to call.

    Attributes:
        calls: How often it was asked.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._lock = threading.Lock()

    def __call__(self, _prompt: str) -> str:
        with self._lock:
            self.calls += 1
            number = self.calls
        return verdict_json(
            (1, WORDS[number % 5], "The office opens"), (2, WORDS[number * 3 % 5], "Parking")
        )


class SlowChatModel(ScriptedChatModel):
    """Takes its time, so that evaluators that run side by side ask at the same moment."""

    def _generate(self, *arguments: Any, **options: Any) -> ChatResult:
        time.sleep(0.02)
        return super()._generate(*arguments, **options)

    async def _agenerate(self, *arguments: Any, **options: Any) -> ChatResult:
        await asyncio.sleep(0.02)
        return super()._generate(*arguments, **options)


def suite(varying: Varying, **settings: Any) -> dict[str, Any]:
    llm = SlowChatModel(reply=varying)
    evaluators = [TCVAEvaluator(llm, temperature=each, **settings) for each in STRICTNESS]
    return {evaluator.scorer.name: evaluator for evaluator in evaluators}


def are_views_of_one(results: Sequence[Result]) -> bool:
    scores = [result.score for result in results]
    same = all(result.assessment == results[0].assessment for result in results)
    return same and None not in scores and scores == sorted(scores)  # type: ignore[type-var]  # no None


def check_views(rows: Sequence[Sequence[Any]]) -> None:
    """Six samples, three views each: monotone in T, and paid for by one of the three."""
    assert [len(row) for row in rows] == [3] * len(RECORDS)
    for row in rows:
        results = [result_of(output) for output in row]
        assert are_views_of_one(results)
        assert sorted(result.usage.calls for result in results) == [0, 0, 1]
        assert sorted(result.assessment.shared for result in results) == [False, True, True]


def one_by_one(evaluators: dict[str, Any]) -> list[list[Any]]:
    return [[each.invoke(record) for each in evaluators.values()] for record in RECORDS]


def parallel(evaluators: dict[str, Any]) -> list[list[Any]]:
    step = RunnableParallel[Any](evaluators)
    return [list(step.invoke(record).values()) for record in RECORDS]


def aparallel(evaluators: dict[str, Any]) -> list[list[Any]]:
    step = RunnableParallel[Any](evaluators)
    return [list(asyncio.run(step.ainvoke(record)).values()) for record in RECORDS]


def batch(evaluators: dict[str, Any]) -> list[list[Any]]:
    step: Any = RunnablePassthrough() | evaluators
    return [list(outputs.values()) for outputs in step.batch(RECORDS)]


def abatch(evaluators: dict[str, Any]) -> list[list[Any]]:
    step: Any = RunnablePassthrough() | evaluators
    return [list(outputs.values()) for outputs in asyncio.run(step.abatch(RECORDS))]


def each_in_a_batch_of_its_own(evaluators: dict[str, Any]) -> list[list[Any]]:
    columns = [each.batch(RECORDS) for each in evaluators.values()]
    return [list(row) for row in zip(*columns, strict=True)]


WAYS = [one_by_one, parallel, aparallel, batch, abatch, each_in_a_batch_of_its_own]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@every_way
@pytest.mark.parametrize("stored", [False, True], ids=["", "store"])
def test_three_temperatures_are_one_call_a_sample_and_monotone(
    way: Callable[[dict[str, Any]], list[list[Any]]], stored: bool, tmp_path: Path
) -> None:
    varying = Varying()
    settings = {"store": tmp_path / "verdicts.sqlite"} if stored else {}
    evaluators = suite(varying, **settings)
    assert list(evaluators) == [
        "tcva_faithfulness(T=0.2)",
        "tcva_faithfulness",
        "tcva_faithfulness(T=0.9)",
    ]
    rows = way(evaluators)
    assert varying.calls == len(RECORDS)
    if not stored:
        check_views(rows)
    for row in rows:
        assert are_views_of_one([result_of(output) for output in row])


def test_independent_judgements_are_had_without_sharing() -> None:
    varying = Varying()
    batch(suite(varying, share=False))
    assert varying.calls == 3 * len(RECORDS)


def test_views_of_one_rating_are_shared_too() -> None:
    asked: list[str] = []

    def rate(prompt: str) -> str:
        asked.append(prompt)
        return json_score(len(asked))

    ccrs = CCRS("ac", judge=SlowChatModel(reply=rate), lambda_=0.0)
    step = RunnableParallel(
        judged=ScorerEvaluator(ccrs), half=ScorerEvaluator(ccrs.changed(lambda_=0.5))
    )
    seen = step.invoke({"answer": "At nine.", "ground_truth": "At nine.", "context": ["-"]})
    assert (seen["judged"]["score"], seen["half"]["score"]) == (0.1, 0.55)
    assert len(asked) == 1


def json_score(number: int) -> str:
    return f'{{"score": {number * 10}}}'


# --- LangSmith ---------------------------------------------------------------------------------


def examples() -> list[Example]:
    now = datetime.now(UTC)
    return [
        Example(id=uuid.uuid4(), dataset_id=uuid.uuid4(), created_at=now, inputs={"number": number})
        for number in range(len(RECORDS))
    ]


def answer(inputs: dict[str, Any]) -> dict[str, Any]:
    return RECORDS[int(inputs["number"])]


async def aanswer(inputs: dict[str, Any]) -> dict[str, Any]:
    return RECORDS[int(inputs["number"])]


def feedback(rows: Sequence[Any]) -> list[list[Any]]:
    return [row["evaluation_results"]["results"] for row in rows]


def evaluated(evaluators: list[Any], **options: Any) -> list[list[Any]]:
    options |= {"upload_results": False, "client": local_client()}
    return feedback(list(evaluate(answer, data=examples(), evaluators=evaluators, **options)))


def aevaluated(evaluators: list[Any], **options: Any) -> list[list[Any]]:
    async def rows() -> list[Any]:
        client = local_client()
        found = await aevaluate(
            aanswer,
            examples(),
            evaluators=evaluators,
            upload_results=False,
            client=client,
            **options,
        )
        return [row async for row in found]

    return feedback(asyncio.run(rows()))


@pytest.mark.parametrize(
    ("run", "make"),
    [
        (evaluated, TCVARunEvaluator),
        (evaluated, create_tcva_judge),
        (aevaluated, TCVARunEvaluator),
        (aevaluated, create_async_tcva_judge),
        (aevaluated, create_tcva_judge),
    ],
)
def test_langsmith_asks_once_a_sample(run: Any, make: Any) -> None:
    varying = Varying()
    rows = run([make(each) for each in suite(varying).values()], max_concurrency=4)
    assert varying.calls == len(RECORDS)
    check_views([sorted(row, key=lambda found: found.score) for row in rows])
    assert {found.key for row in rows for found in row} == {
        "tcva_faithfulness(T=0.2)",
        "tcva_faithfulness",
        "tcva_faithfulness(T=0.9)",
    }


@pytest.mark.parametrize(("share", "calls"), [(True, 6), (False, 18)])
def test_repetitions_have_one_judgement_unless_they_are_to_be_independent(
    share: bool, calls: int
) -> None:
    varying = Varying()
    evaluator = TCVAEvaluator(SlowChatModel(reply=varying), share=share)
    rows = evaluated([TCVARunEvaluator(evaluator)], num_repetitions=3)
    assert (len(rows), varying.calls) == (18, calls)

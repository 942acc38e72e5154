"""One judgement for all views of a sample in LangSmith's runner, which is real.

The judge says something else each time it is asked.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.outputs import ChatResult
from langsmith.evaluation import aevaluate, evaluate
from langsmith.schemas import Example

from tcva_adapters.langchain import (
    TCVAEvaluator,
    TCVARunEvaluator,
    create_async_tcva_judge,
    create_tcva_judge,
    local_client,
    result_of,
)
from tests.adapters.test_sharing import SAMPLES, TEMPERATURES, Varying, check_are_views
from tests.langchain.entry import ScriptedChatModel, records

# LangSmith says so whenever upload_results is used.
pytestmark = pytest.mark.filterwarnings("ignore:'upload_results' parameter is in beta")

RECORDS = records(SAMPLES)
NAMES = ["tcva_faithfulness(T=0.2)", "tcva_faithfulness", "tcva_faithfulness(T=0.9)"]


class SlowChatModel(ScriptedChatModel):
    """Takes its time, so that evaluators that run side by side ask at the same moment."""

    def _generate(self, *arguments: Any, **options: Any) -> ChatResult:
        time.sleep(0.02)
        return super()._generate(*arguments, **options)


def answer(inputs: dict[str, Any]) -> dict[str, Any]:
    return RECORDS[int(inputs["number"])]


async def aanswer(inputs: dict[str, Any]) -> dict[str, Any]:
    return answer(inputs)


def evaluated(evaluators: list[Any], *, asynchronous: bool, **options: Any) -> list[list[Any]]:
    """The feedback by example."""
    now = datetime.now(UTC)
    examples = [
        Example(id=uuid.uuid4(), dataset_id=uuid.uuid4(), created_at=now, inputs={"number": number})
        for number in range(len(RECORDS))
    ]
    options |= {"evaluators": evaluators, "upload_results": False, "client": local_client()}

    async def rows() -> list[Any]:
        return [row async for row in await aevaluate(aanswer, examples, **options)]

    found = asyncio.run(rows()) if asynchronous else evaluate(answer, data=examples, **options)
    return [row["evaluation_results"]["results"] for row in found]


@pytest.mark.parametrize(
    ("asynchronous", "make"),
    [
        (False, TCVARunEvaluator),
        (False, create_tcva_judge),
        (True, TCVARunEvaluator),
        (True, create_async_tcva_judge),
        (True, create_tcva_judge),
    ],
)
def test_langsmith_asks_once_a_sample(asynchronous: bool, make: Any) -> None:
    varying = Varying()
    llm = SlowChatModel(reply=varying)
    makers: Any = [make(TCVAEvaluator(llm, temperature=each)) for each in TEMPERATURES]
    rows = evaluated(makers, asynchronous=asynchronous, max_concurrency=4)
    by_key = [{found.key: result_of(found) for found in row} for row in rows]
    check_are_views([[row[name] for row in by_key] for name in NAMES], paid=len(RECORDS))
    assert varying.calls == len(RECORDS)


@pytest.mark.parametrize(("share", "calls"), [(True, 6), (False, 18)])
def test_repetitions_have_one_judgement_unless_they_are_to_be_independent(
    share: bool, calls: int
) -> None:
    varying = Varying()
    evaluator = TCVARunEvaluator(TCVAEvaluator(SlowChatModel(reply=varying), share=share))
    rows = evaluated([evaluator], asynchronous=False, num_repetitions=3)
    assert (len(rows), varying.calls) == (18, calls)

"""A judge that nobody named says what it is, once; what names no judge is refused."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from deepeval.test_case import LLMTestCase

from tcva_adapters import CCRS, TCVA, Panel, Sample
from tcva_adapters.compare import compare
from tcva_adapters.deepeval import ScorerMetric as DeepEvalScorer
from tcva_adapters.errors import DefaultJudgeWarning, InvalidValueError
from tcva_adapters.judges import resolve
from tcva_adapters.langchain import TCVAEvaluator
from tcva_adapters.llamaindex import ScorerEvaluator

OPENS = "The office opens at nine."
SAMPLE = Sample(input="When does it open?", response=OPENS, contexts=(OPENS,), id="s")


@pytest.fixture(autouse=True)
def _not_told_yet() -> None:
    resolve.warn_of_default_judge.cache_clear()


@pytest.mark.parametrize("use", [
    lambda: asyncio.run(TCVA().changed(temperature=0.2).aevaluate(SAMPLE)),
    lambda: TCVA(judge="lexical", fuse=TCVA("answer_relevancy")).evaluate(SAMPLE),
    lambda: CCRS("qr").changed(threshold=0.2).evaluate(SAMPLE),
    lambda: TCVAEvaluator().invoke({"answer": OPENS, "context": [OPENS]}),
    lambda: compare([SAMPLE], frameworks="none"),
])  # fmt: skip
def test_the_default_judge_warns_once(use: Callable[[], Any]) -> None:
    with pytest.warns(DefaultJudgeWarning, match=r"'openai:MODEL'.*'lexical'"):
        use()
    with warnings.catch_warnings(action="error"):
        use()
        TCVA().evaluate(SAMPLE)
        CCRS("qr").evaluate(SAMPLE)


def test_a_judge_that_was_named_or_is_the_frameworks_does_not_warn() -> None:
    case = LLMTestCase(input="When?", actual_output=OPENS, retrieval_context=[OPENS])
    with warnings.catch_warnings(action="error"):
        TCVA().changed(judge="lexical").evaluate(SAMPLE)
        TCVAEvaluator("lexical").invoke({"answer": OPENS, "context": [OPENS]})
        # Given a judge of the framework's, the scorer's own is never asked.
        ScorerEvaluator(CCRS("qr"), llm="lexical").evaluate("When?", OPENS)
        DeepEvalScorer(CCRS("qr").changed(judge="lexical")).measure(case)
        TCVA().evaluate_many([Sample(response=OPENS)])  # nobody is asked


def test_what_is_no_judge_is_refused() -> None:
    # Neither a wrong name nor what equals everything or has any attribute.
    judges: list[Any] = [
        "anthropic:claude",
        "openai:",
        5,
        mock.ANY,
        mock.Mock(),
        mock.MagicMock(),
    ]
    for judge in judges:
        with pytest.raises(InvalidValueError):
            TCVA(judge=judge)
    with pytest.raises(InvalidValueError, match="must not contain None"):
        TCVA(judge="lexical", fuse=["lexical", None])
    with pytest.raises(InvalidValueError):
        Panel(["lexical", None])

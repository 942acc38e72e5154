"""One judgement for every evaluator of a batch. The judge says something else each time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from pydantic import PrivateAttr

from tcva_adapters import CCRS, Result, clear_shared
from tcva_adapters.llamaindex import (
    ScorerEvaluator,
    TCVAEvaluator,
    result_of,
)
from tcva_adapters.models.request import JudgeRequest
from tests.llamaindex.entry import ScriptedLLM
from tests.test_sharing import STRICTNESS, VaryingModel, are_views_of_one, sample

# BatchEvalRunner of llama-index-core 0.14.25 calls a helper that the same package deprecates.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:asyncio_module\(\) is deprecated:DeprecationWarning:llama_index\.core\.evaluation"
)

REQUEST = JudgeRequest(system="", user="", schema={}, schema_name="")
NAMES = ["tcva_faithfulness(T=0.2)", "tcva_faithfulness", "tcva_faithfulness(T=0.9)"]
SAMPLES = [sample(number) for number in range(6)]


class VaryingLLM(CustomLLM):
    """A LlamaIndex LLM that judges two claims otherwise each time."""

    _model: VaryingModel = PrivateAttr(default_factory=VaryingModel)

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return self._model.calls

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="varying")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        del prompt, formatted, kwargs
        return CompletionResponse(text=self._model.complete(REQUEST).text)

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        del prompt, formatted, kwargs
        return CompletionResponse(text=(await self._model.acomplete(REQUEST)).text)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


def judged(evaluators: dict[str, TCVAEvaluator], *, asynchronous: bool) -> dict[str, list[Result]]:
    """The results of a batch over six samples, by the evaluators' names."""
    runner = BatchEvalRunner({**evaluators}, workers=8)
    given: dict[str, Any] = {
        "response_strs": [each.response for each in SAMPLES],
        "contexts_list": [list(each.contexts or ()) for each in SAMPLES],
    }
    if asynchronous:
        found = asyncio_run(runner.aevaluate_response_strs(**given))
    else:
        found = runner.evaluate_response_strs(**given)
    results = {name: [result_of(each) for each in found[name]] for name in evaluators}
    return {
        name: [each for each in rows if isinstance(each, Result)] for name, rows in results.items()
    }


def suite(llm: VaryingLLM, **settings: Any) -> dict[str, TCVAEvaluator]:
    evaluators = [TCVAEvaluator(llm, temperature=t, **settings) for t in STRICTNESS]
    return {evaluator.scorer.name: evaluator for evaluator in evaluators}


def check_are_views(found: dict[str, list[Result]]) -> None:
    assert list(found) == NAMES
    assert [len(results) for results in found.values()] == [6] * 3
    for views in zip(*found.values(), strict=True):
        assert are_views_of_one(views)
        assert sum(view.usage.calls for view in views) <= 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_three_strictnesses_of_six_samples_are_six_calls(asynchronous: bool) -> None:
    llm = VaryingLLM()
    evaluators = [TCVAEvaluator(llm, temperature=t) for t in STRICTNESS]
    found = judged(dict(zip(NAMES, evaluators, strict=True)), asynchronous=asynchronous)
    assert llm.calls == 6
    check_are_views(found)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_with_one_store_for_all_they_are_six_calls_as_well(
    tmp_path: Path, asynchronous: bool
) -> None:
    llm = VaryingLLM()
    evaluators = suite(llm, store=tmp_path / "verdicts.sqlite")
    check_are_views(judged(evaluators, asynchronous=asynchronous))
    assert llm.calls == 6
    clear_shared()
    check_are_views(judged(evaluators, asynchronous=asynchronous))
    assert llm.calls == 6


def test_a_second_batch_has_the_judgements_of_the_first() -> None:
    llm = VaryingLLM()
    first = judged(suite(llm), asynchronous=False)
    assert judged(suite(llm), asynchronous=True) == first
    assert llm.calls == 6


def test_independent_judgements_are_to_be_had() -> None:
    llm = VaryingLLM()
    judged(suite(llm, share=False), asynchronous=True)
    assert llm.calls == 18


def test_awaited_at_once_without_a_runner() -> None:
    llm = VaryingLLM()

    async def together() -> list[Result]:
        (first,) = SAMPLES[:1]
        texts: Any = (first.input, first.response, first.contexts)
        evaluators = suite(llm).values()
        found = await asyncio.gather(*(each.aevaluate(*texts) for each in evaluators))
        return [each.result for each in found]

    assert are_views_of_one(asyncio.run(together()))
    assert llm.calls == 1


def test_ratings_at_two_thresholds_are_one_call() -> None:
    llm = ScriptedLLM(reply=lambda _: "80")
    passing = [
        ScorerEvaluator(CCRS("qr", judge=llm, threshold=threshold)).evaluate("Q?", "A.").passing
        for threshold in (0.5, 0.9)
    ]
    assert passing == [True, False]
    assert len(llm.prompts) == 1

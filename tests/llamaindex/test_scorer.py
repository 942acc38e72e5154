"""Any scorer as a LlamaIndex evaluator: the direct metrics, in batches and by themselves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

from tcva_adapters import CCRS, TCVA
from tcva_adapters.ccrs import METRICS
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.llamaindex import ScorerEvaluator, TCVAEvaluator
from tests.ccrs.entries import PASSAGE, SAMPLES, expected, judge
from tests.llamaindex.entry import ScriptedLLM


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_keeps_its_scores_when_one_sample_fails(asynchronous: bool) -> None:
    llm = ScriptedLLM(reply=judge)
    runner = BatchEvalRunner(
        {name: ScorerEvaluator(CCRS(name, judge="lexical"), llm=llm) for name in METRICS}
    )
    arguments: dict[str, Any] = {
        "queries": [sample.input for sample in SAMPLES],
        "response_strs": [sample.response for sample in SAMPLES],
        "contexts_list": [list(sample.contexts or ()) for sample in SAMPLES],
        "reference": [sample.reference for sample in SAMPLES],
    }
    if asynchronous:
        found = asyncio_run(runner.aevaluate_response_strs(**arguments))
    else:
        found = runner.evaluate_response_strs(**arguments)
    for metric in METRICS:
        assert [e.score for e in found[metric]] == pytest.approx(expected(metric))
        failed = found[metric][1]
        assert failed.invalid_result
        assert failed.invalid_reason.startswith("unscored: unreadable_reply")
        assert failed.result.answers[metric].unscored.raw_reply.count("cannot put") == 2
    assert len(llm.prompts) == 20  # three samples and a second try, five metrics


def test_a_response_object_brings_its_nodes() -> None:
    node = NodeWithScore(node=TextNode(text=PASSAGE))
    response = Response(response="At nine.", source_nodes=[node])
    evaluator = ScorerEvaluator(CCRS("cc", judge=ScriptedLLM(reply=judge)))
    evaluation = evaluator.evaluate_response("When?", response)
    assert (evaluation.score, evaluation.passing) == (0.95, True)


def test_a_missing_field_raises_or_is_invalid_as_with_other_evaluators() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge="lexical"))
    with pytest.raises(InvalidSampleError, match="no input, which qr needs"):
        evaluator.evaluate(response="Yes.")
    evaluation = asyncio.run(evaluator.aevaluate(response="Yes."))
    assert evaluation.invalid_result
    assert "missing_field" in str(evaluation.invalid_reason)
    unreadable: Any = [7]
    evaluation = asyncio.run(evaluator.aevaluate("Q?", "Yes.", contexts=unreadable))
    assert (evaluation.invalid_result, evaluation.query) == (True, "Q?")
    assert "invalid_input" in str(evaluation.invalid_reason)


def test_it_has_no_prompts_to_change() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge="lexical"))
    assert evaluator.get_prompts() == {}
    with pytest.raises(InvalidValueError, match=r"prompts=\['wording'\]; there are none"):
        evaluator._update_prompts({"wording": "x"})  # type: ignore[dict-item]  # refused before it is read


@pytest.mark.parametrize(
    "options", [{"metrics": "xx"}, {"em": "loose"}, {"threshold": -1}, {"llm": 5}]
)
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any]) -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge="lexical"))
    with pytest.raises(InvalidValueError):
        evaluator.changed(**options)


def test_what_is_no_scorer_is_refused() -> None:
    wrong: Any = "faithfulness"
    with pytest.raises(
        InvalidValueError, match=r"scorer='faithfulness'; ScorerEvaluator takes what scores"
    ):
        ScorerEvaluator(wrong)


def test_a_scorer_keeps_its_judge_unless_an_llm_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    own, given, from_settings = (ScriptedLLM(reply=judge) for _ in range(3))
    monkeypatch.setattr(Settings, "_llm", from_settings)
    texts = (SAMPLES[0].input, SAMPLES[0].response)
    ScorerEvaluator(CCRS("qr", judge=own)).evaluate(*texts)
    ScorerEvaluator(CCRS("qr", judge=own), llm=given).evaluate(*texts)
    assert [len(llm.prompts) for llm in (own, given, from_settings)] == [1, 1, 0]


def test_the_scorers_threshold_and_that_of_one_sample_hold() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge=ScriptedLLM(reply=judge), threshold=0.95))
    texts: Any = (SAMPLES[0].input, SAMPLES[0].response)  # rated 0.9
    assert evaluator.evaluate(*texts).passing is False
    assert evaluator.evaluate(*texts, threshold=0.6).passing is True
    awaited = asyncio.run(evaluator.aevaluate(*texts, threshold=0.6, temperature="no dial here"))
    assert (awaited.passing, awaited.score) == (True, 0.9)
    with pytest.raises(InvalidValueError, match="threshold=7"):
        evaluator.evaluate(*texts, threshold=7)


def test_a_tcva_in_it_is_the_drop_in() -> None:
    texts: Any = ("When?", "The office opens at nine. Dogs bark.", [PASSAGE])
    evaluator = ScorerEvaluator[Any](TCVA(judge="lexical", temperature="strict"))
    ours = TCVAEvaluator("lexical", temperature="strict")
    assert evaluator.evaluate(*texts) == ours.evaluate(*texts)
    assert evaluator.evaluate(*texts, temperature=0.9) == ours.evaluate(*texts).at(0.9)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_all_kinds_of_responses_are_read(asynchronous: bool) -> None:
    def parts() -> Any:
        yield from ("At ", "nine.")

    async def tokens() -> Any:
        yield "At nine."

    node = NodeWithScore(node=TextNode(text=PASSAGE))
    evaluator = ScorerEvaluator(CCRS("cc", judge=ScriptedLLM(reply=judge)))
    for response in (
        StreamingResponse(parts(), source_nodes=[node]),
        AsyncStreamingResponse(tokens(), source_nodes=[node]),
    ):
        if asynchronous:
            evaluation = asyncio.run(evaluator.aevaluate_response("When?", response))
        else:
            evaluation = evaluator.evaluate_response("When?", response)
        assert evaluation.score == 0.95
    with pytest.raises(InvalidValueError, match="what a query engine returns"):
        evaluator.evaluate_response("When?", 7)
    unread = asyncio.run(evaluator.aevaluate_response("When?", 7))
    assert (unread.invalid_result, unread.query) == (True, "When?")


def test_a_setting_that_would_not_be_used_is_refused() -> None:
    evaluator: Any = ScorerEvaluator(CCRS("qr", judge="lexical"))
    with pytest.raises(InvalidValueError, match=r"threshold=0\.9; a built ScorerEvaluator"):
        evaluator.threshold = 0.9

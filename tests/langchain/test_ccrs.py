"""The direct metrics as steps of LangChain chains, with a real chat model class."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from tcva_adapters.ccrs import METRICS, CCRSResult
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.langchain import CCRSEvaluator
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.langchain.entry import ScriptedChatModel, _records

every_metric = pytest.mark.parametrize("metric", METRICS)


def model() -> ScriptedChatModel:
    return ScriptedChatModel(reply=judge)


@every_metric
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_keeps_its_scores_when_one_sample_fails(metric: str, asynchronous: bool) -> None:
    llm = model()
    chain: Any = RunnablePassthrough.assign(rated=CCRSEvaluator(metric, llm))
    records = _records(SAMPLES)
    outputs = asyncio.run(chain.abatch(records)) if asynchronous else chain.batch(records)
    rated = [output["rated"] for output in outputs]
    assert [r["score"] for r in rated] == pytest.approx(expected(metric))
    assert rated[1]["value"] == "unscored"
    assert rated[1]["reasoning"].startswith("unscored: unreadable_reply")
    assert len(llm.prompts) == 4  # one per sample, and a second try for the one that fails
    result = CCRSResult.model_validate(rated[1]["result"])
    assert result.answers[metric].replies == ("I cannot put a number on that.",) * 2


def test_the_judges_call_is_a_child_of_the_step() -> None:
    collector = RunCollectorCallbackHandler()
    CCRSEvaluator("qr", model()).invoke(_records(SAMPLES)[0], {"callbacks": [collector]})
    (run,) = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["tcva_judge"]


def test_a_missing_field_is_told_with_its_name() -> None:
    with pytest.raises(InvalidSampleError, match="no input, which qr needs"):
        CCRSEvaluator("qr", "lexical").invoke({"answer": "Yes."})


def test_it_composes_with_other_steps_and_a_mapper() -> None:
    chain: Any = RunnableLambda(lambda text: {"mine": text}) | CCRSEvaluator(
        "qr",
        "lexical",
        threshold=0.9,
        mapper=lambda seen: {"question": "red car?", "answer": seen["mine"]},
    )
    output = chain.invoke("A red bus.")
    assert (output["score"], output["value"], output["passed"]) == (0.5, "fail", False)


def test_settings_that_change_are_followed(tmp_path: Path) -> None:
    evaluator = CCRSEvaluator("ac", "lexical", store=tmp_path / "v.sqlite")
    record = {"answer": "At nine.", "context": ["-"], "ground_truth": "at nine"}
    assert evaluator.invoke(record)["result"]["exact"] is False
    evaluator.em = "normalised"
    assert evaluator.invoke(record)["result"]["exact"] is True
    with pytest.raises(InvalidValueError, match="threshold=7"):
        evaluator.threshold = 7
    assert evaluator.threshold == 0.5
    copied = copy.deepcopy(evaluator)  # a store cannot be copied: it is shared
    assert copied.store is evaluator.store
    copied.metric = "qr"
    assert (copied.metric, evaluator.metric) == ("qr", "ac")


def test_copies_follow_their_settings() -> None:
    evaluator = CCRSEvaluator("ac", "lexical", name="mine")
    other = evaluator.model_copy(update={"lambda_": 0.0})
    record = {"answer": "At nine.", "context": ["-"], "ground_truth": "At nine."}
    assert other.invoke(record)["result"]["lambda_"] == 0.0
    assert (evaluator.lambda_, other.name) == (0.7, "mine")
    with pytest.raises(InvalidValueError, match="unknown setting 'lamda'"):
        evaluator.model_copy(update={"lamda": 0.1})


@pytest.mark.parametrize(
    "options", [{"metric": "xx"}, {"em": "loose"}, {"lambda_": 2}, {"threshold": 7}, {"store": 1}]
)
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        CCRSEvaluator(**{"metric": "qr", **options})


def test_settings_can_be_left_to_the_run() -> None:
    field = ConfigurableField(id="least")
    evaluator = CCRSEvaluator("qr", "lexical").configurable_fields(threshold=field)
    record = {"question": "red car?", "answer": "A red bus."}
    for least, value in ((0.4, "pass"), (0.6, "fail")):
        output = evaluator.with_config(configurable={"least": least}).invoke(record)
        assert output["value"] == value

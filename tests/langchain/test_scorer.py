"""Any scorer as a step of LangChain chains: the direct metrics, with a real chat model class."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import (
    ConfigurableField,
    ConfigurableFieldSingleOption,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from tcva_adapters import CCRS, TCVA
from tcva_adapters.ccrs import METRICS
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.langchain import ScorerEvaluator, TCVAEvaluator, result_of
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.langchain.entry import ScriptedChatModel, _records

every_metric = pytest.mark.parametrize("metric", METRICS)


def model() -> ScriptedChatModel:
    return ScriptedChatModel(reply=judge)


@every_metric
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_keeps_its_scores_when_one_sample_fails(metric: str, asynchronous: bool) -> None:
    llm = model()
    evaluator = ScorerEvaluator(CCRS(metric, judge=llm))
    chain: Any = RunnablePassthrough.assign(rated=evaluator)
    records = _records(SAMPLES)
    outputs = asyncio.run(chain.abatch(records)) if asynchronous else chain.batch(records)
    rated = [output["rated"] for output in outputs]
    assert [r["score"] for r in rated] == pytest.approx(expected(metric))
    assert rated[1]["value"] == "unscored"
    assert rated[1]["reasoning"].startswith("unscored: unreadable_reply")
    assert len(llm.prompts) == 4  # one per sample, and a second try for the one that fails
    result = result_of(rated[1])
    assert result.answers[metric].replies == ("I cannot put a number on that.",) * 2


def test_the_judges_call_is_a_child_of_the_step() -> None:
    collector = RunCollectorCallbackHandler()
    evaluator = ScorerEvaluator(CCRS("qr", judge=model()))
    evaluator.invoke(_records(SAMPLES)[0], {"callbacks": [collector]})
    (run,) = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["tcva_judge"]


def test_a_missing_field_is_told_with_its_name() -> None:
    with pytest.raises(InvalidSampleError, match="no input, which qr needs"):
        ScorerEvaluator(CCRS("qr", judge="lexical")).invoke({"answer": "Yes."})


def test_it_composes_with_other_steps_and_a_mapper() -> None:
    chain: Any = RunnableLambda(lambda text: {"mine": text}) | ScorerEvaluator(
        CCRS("qr", judge="lexical", threshold=0.9),
        mapper=lambda seen: {"question": "red car?", "answer": seen["mine"]},
    )
    output = chain.invoke("A red bus.")
    assert (output["score"], output["value"], output["passed"]) == (0.5, "fail", False)


def test_copies_have_another_scorer_and_share_its_store(tmp_path: Path) -> None:
    ccrs = CCRS("ac", judge="lexical", store=tmp_path / "v.sqlite")
    evaluator = ScorerEvaluator(ccrs, name="mine")
    record = {"answer": "At nine.", "context": ["-"], "ground_truth": "at nine"}
    assert result_of(evaluator.invoke(record)).exact is False
    other = evaluator.model_copy(update={"scorer": ccrs.changed(em="normalised", lambda_=0.0)})
    assert (result_of(other.invoke(record)).exact, other.name) == (True, "mine")
    assert result_of(other.invoke(record)).lambda_ == 0.0
    assert (evaluator.scorer, evaluator.scorer.store) == (ccrs, other.scorer.store)
    copied = copy.deepcopy(evaluator)  # a store cannot be copied: it is shared
    assert copied.scorer.store is ccrs.store


def test_what_cannot_be_changed_says_so() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge="lexical"))
    with pytest.raises(InvalidValueError, match=r"unknown setting 'lamda' of ScorerEvaluator"):
        evaluator.model_copy(update={"lamda": 0.1})
    with pytest.raises(InvalidValueError, match=r"scorer=.*model_copy\(update="):
        evaluator.scorer = CCRS("ac", judge="lexical")
    with pytest.raises(InvalidValueError, match=r"scorer='qr'; ScorerEvaluator takes what scores"):
        ScorerEvaluator("qr")  # type: ignore[arg-type]  # the point
    assert evaluator.scorer.name == "ccrs_qr"


@pytest.mark.parametrize(
    "options", [{"metrics": "xx"}, {"em": "loose"}, {"lambda_": 2}, {"threshold": 7}, {"store": 1}]
)
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        ScorerEvaluator(CCRS(**{"metrics": "qr", **options}))


def test_settings_can_be_left_to_the_run() -> None:
    ccrs = CCRS("qr", judge="lexical", threshold=0.4)
    record = {"question": "red car?", "answer": "A red bus."}
    strict = ccrs.changed(threshold=0.6)
    by_name = ScorerEvaluator(ccrs).configurable_fields(
        scorer=ConfigurableFieldSingleOption(
            id="rating", options={"mild": ccrs, "strict": strict}, default="mild"
        )
    )
    by_object = ScorerEvaluator(ccrs).configurable_fields(scorer=ConfigurableField(id="rating"))
    assert [step.with_config().config_specs[0].id for step in (by_name, by_object)] == [
        "rating"
    ] * 2
    for chosen, scorer, value in (("mild", ccrs, "pass"), ("strict", strict, "fail")):
        output = by_name.with_config(configurable={"rating": chosen}).invoke(record)
        assert output["value"] == value
        output = by_object.with_config(configurable={"rating": scorer}).invoke(record)
        assert output["value"] == value


def test_a_tcva_that_is_there_already_scores_as_its_own_evaluator_does() -> None:
    record = {"answer": "It opens at nine. Bananas ripen.", "context": ["It opens at nine."]}
    tcva = TCVA(judge="lexical", temperature="strict", scheme="linear")
    seen = ScorerEvaluator(tcva).invoke(record)
    ours = TCVAEvaluator("lexical", temperature="strict", scheme="linear").invoke(record)
    assert result_of(seen) == result_of(ours)
    assert isinstance(TCVAEvaluator("lexical"), ScorerEvaluator)

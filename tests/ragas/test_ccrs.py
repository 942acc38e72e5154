"""The direct metrics in both families of RAGAS, through its own entry points."""

from __future__ import annotations

import asyncio
import copy
import math
import pickle
import warnings
from typing import Any

import pytest
from ragas import RunConfig, SingleTurnSample, aevaluate, evaluate
from ragas.dataset_schema import EvaluationResult

from tcva_adapters.ccrs import METRICS
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.ragas import CCRSCollectionMetric, CCRSMetric, CCRSScore, LexicalLLM
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM, dataset_of

pytestmark = [
    # RAGAS reads the id of its telemetry, also where that is off, and leaves the file open.
    pytest.mark.filterwarnings("ignore:unclosed file.*uuid.json:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def nan_for_none(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def evaluated(metrics: list[Any], llm: Any = None, *, asynchronous: bool = False) -> Any:
    arguments: dict[str, Any] = {
        "dataset": dataset_of(SAMPLES),
        "metrics": metrics,
        "llm": llm,
        "run_config": RunConfig(max_retries=1),
        "show_progress": False,
    }
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function on every call.
        warnings.simplefilter("ignore", DeprecationWarning)
        if asynchronous:
            found = asyncio.run(aevaluate(**arguments))
        else:
            found = evaluate(**arguments, allow_nest_asyncio=False)
    assert isinstance(found, EvaluationResult)
    return found


@pytest.mark.parametrize("asynchronous", [False, True])
def test_evaluate_keeps_its_scores_when_one_sample_fails(asynchronous: bool) -> None:
    llm = ScriptedLLM(judge)
    found = evaluated([CCRSMetric(name) for name in METRICS], llm, asynchronous=asynchronous)
    for metric in METRICS:
        wanted = nan_for_none(expected(metric))
        assert found[f"ccrs_{metric}"] == pytest.approx(wanted, nan_ok=True)
        assert isinstance(found.scores[0][f"ccrs_{metric}"], CCRSScore)
    assert len(llm.prompts) == 20
    assert all(callbacks is not None for callbacks in llm.callbacks)  # RAGAS' traces see the calls


def test_the_newer_family_of_llms_judges_too() -> None:
    found = evaluated([CCRSMetric("qr", llm=ScriptedInstructorLLM(lambda _: '{"score": 42}'))])
    assert found["ccrs_qr"] == [0.42] * 3


def test_one_sample_by_itself_raises_what_a_batch_turns_into_nan() -> None:
    metric = CCRSMetric("qr", llm=ScriptedLLM(judge))
    rows = [
        SingleTurnSample(user_input=s.input, response=s.response, reference="-") for s in SAMPLES
    ]
    score = metric.single_turn_score(rows[0])
    assert isinstance(score, CCRSScore)
    assert (score, score.result.answers["qr"].rating) == (0.9, 90.0)
    assert pickle.loads(pickle.dumps(score)).result == copy.deepcopy(score).result == score.result
    with pytest.raises(JudgeError, match="unreadable_reply"):
        metric.single_turn_score(rows[1])
    with pytest.raises(InvalidSampleError, match="no input"):
        metric.single_turn_score(SingleTurnSample(response="Yes."))


def test_without_an_llm_it_says_so() -> None:
    with pytest.raises(JudgeError, match="pass llm="):
        CCRSMetric("qr").single_turn_score(SingleTurnSample(user_input="Q?", response="Yes."))
    assert CCRSMetric("qr").get_prompts() == {}


def test_names_tell_what_is_not_usual() -> None:
    names = [
        CCRSMetric("ac").name,
        CCRSMetric("answer correctness", lambda_=0.5, em="normalised").name,
        CCRSMetric("qr", lambda_=0.5).name,
        CCRSMetric("qr", name="mine").name,
    ]
    assert names == ["ccrs_ac", "ccrs_ac(lambda=0.5,em=normalised)", "ccrs_qr", "mine"]


def test_the_lexical_llm_is_the_lexical_judge() -> None:
    metric = CCRSMetric("qr", llm=LexicalLLM())
    assert metric.ccrs.rater.name == "lexical/ccrs-1"


@pytest.mark.parametrize("metric", METRICS)
def test_the_newer_family_of_metrics_gives_the_same_scores(metric: str) -> None:
    rated = CCRSCollectionMetric(metric, ScriptedLLM(judge))
    rows = [
        {
            "user_input": sample.input,
            "response": sample.response,
            "retrieved_contexts": list(sample.contexts or ()),
            "reference": sample.reference,
        }
        for sample in SAMPLES
    ]
    wanted = nan_for_none(expected(metric))
    assert [r.value for r in rated.batch_score(rows)] == pytest.approx(wanted, nan_ok=True)
    batch = asyncio.run(rated.abatch_score(rows))
    assert [r.value for r in batch] == pytest.approx(wanted, nan_ok=True)
    assert "unreadable_reply" in str(batch[1].reason)


def test_a_row_that_cannot_be_read_is_nan_with_its_reason() -> None:
    rated = CCRSCollectionMetric("qr", "lexical")
    wrong = rated.score(user_input=7, response="Yes.")
    assert math.isnan(wrong.value)
    assert "must be a string" in str(wrong.reason)
    lacking = asyncio.run(rated.ascore(response="Yes."))
    assert math.isnan(lacking.value)
    assert "missing_field" in str(lacking.reason)


@pytest.mark.parametrize("options", [{"metric": "xx"}, {"em": "loose"}, {"lambda_": -1}])
def test_wrong_settings_are_refused_when_built(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        CCRSMetric(**{"metric": "qr", **options})


def test_settings_that_change_are_followed() -> None:
    metric = CCRSMetric("ac", llm="lexical")
    row = SingleTurnSample(response="At nine.", reference="at nine", retrieved_contexts=["-"])
    score: Any = metric.single_turn_score(row)
    metric.em, metric.lambda_ = "normalised", 1.0
    again: Any = metric.single_turn_score(row)
    assert (score.result.exact, again.result.exact, float(again)) == (False, True, 1.0)
    assert metric.name == "ccrs_ac(lambda=1,em=normalised)"
    metric.lambda_ = 7
    with pytest.raises(InvalidValueError, match="lambda_=7"):
        metric.single_turn_score(row)
    metric.lambda_, metric.metric = 0.7, "qr"  # which needs other columns
    with pytest.raises(InvalidValueError, match="build a new one"):
        metric.single_turn_score(row)


def test_the_newer_family_refuses_what_would_not_be_used() -> None:
    metric: Any = CCRSCollectionMetric("qr", "lexical")
    with pytest.raises(InvalidValueError, match="on a built metric would not be used"):
        metric.em = "normalised"
    for option in ("judge", "suite", "temperature"):
        options: dict[str, Any] = {option: True}
        with pytest.raises(InvalidValueError, match=f"no option '{option}'"):
            CCRSCollectionMetric("qr", "lexical", **options)

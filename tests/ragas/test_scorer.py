"""Any scorer in both families of RAGAS, through its own entry points; here the direct metrics."""

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

from tcva_adapters.ccrs import CCRS, METRICS, CCRSResult
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.ragas import (
    ScorerMetric,
    ScorerScore,
    results_of,
)
from tcva_adapters.results.assessment import Reason
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.ragas.entry import ScriptedLLM, dataset_of

# RAGAS deprecates its main function and the metrics that it takes.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


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
    metrics = [ScorerMetric(CCRS(name, judge="lexical")) for name in METRICS]
    for each in metrics:
        each.llm = None  # waits for that of the evaluation
    found = evaluated(metrics, llm, asynchronous=asynchronous)
    for metric in METRICS:
        wanted = nan_for_none(expected(metric))
        assert found[f"ccrs_{metric}"] == pytest.approx(wanted, nan_ok=True)
        assert isinstance(found.scores[0][f"ccrs_{metric}"], ScorerScore)
        failed = results_of(found, f"ccrs_{metric}")[1].unscored
        assert failed is not None
        assert failed.reason is Reason.UNREADABLE_REPLY
    assert len(llm.prompts) == 20
    assert all(callbacks is not None for callbacks in llm.callbacks)  # RAGAS' traces see the calls
    assert [metric.llm for metric in metrics] == [None] * 5


def test_a_scorer_keeps_its_judge_unless_an_llm_is_given() -> None:
    own, other = ScriptedLLM(lambda _: "90"), ScriptedLLM(lambda _: "20")
    scorer = CCRS("qr", judge=own)
    metrics = [ScorerMetric(scorer, name=name) for name in ("own", "given")]
    metrics[1].llm = other
    found = evaluated(
        [*metrics, ScorerMetric(CCRS("qr", judge="lexical"), name="lexical")], ScriptedLLM(judge)
    )
    assert (found["own"], found["given"]) == ([0.9] * 3, [0.2] * 3)
    lexical = CCRS("qr", judge="lexical").evaluate_many(SAMPLES)
    assert found["lexical"] == [result.score for result in lexical]
    assert [metric.llm for metric in metrics] == [own, other]
    assert own.run_config.max_retries == other.run_config.max_retries == 1  # of the evaluation


def test_an_llm_that_is_set_later_is_asked() -> None:
    metric = ScorerMetric(CCRS("qr", judge=ScriptedLLM(lambda _: "90")))
    metric.llm = ScriptedLLM(lambda _: "20")
    assert evaluated([metric])["ccrs_qr"] == [0.2] * 3
    changed = metric.changed(llm=ScriptedLLM(lambda _: "30"), threshold=0.3)
    assert evaluated([changed])["ccrs_qr(threshold=0.3)"] == [0.3] * 3
    with pytest.raises(InvalidValueError, match="judge"):
        metric.llm = 7
    with pytest.raises(InvalidValueError, match="called llm"):
        metric.changed(judge="lexical")


def test_one_sample_by_itself_raises_what_a_batch_turns_into_nan() -> None:
    metric = ScorerMetric(CCRS("qr", judge=ScriptedLLM(judge)))
    rows = [
        SingleTurnSample(user_input=s.input, response=s.response, reference="-") for s in SAMPLES
    ]
    score = metric.single_turn_score(rows[0])
    assert isinstance(score, ScorerScore)
    assert isinstance(score.result, CCRSResult)
    assert (score, score.result.answers["qr"].rating) == (0.9, 90.0)
    assert pickle.loads(pickle.dumps(score)).result == copy.deepcopy(score).result == score.result
    with pytest.raises(JudgeError, match="unreadable_reply"):
        metric.single_turn_score(rows[1])
    with pytest.raises(InvalidSampleError, match="no input"):
        metric.single_turn_score(SingleTurnSample(response="Yes."))


ROWS: list[dict[str, Any]] = [
    {
        "user_input": sample.input,
        "response": sample.response,
        "retrieved_contexts": list(sample.contexts or ()),
        "reference": sample.reference,
    }
    for sample in SAMPLES
]

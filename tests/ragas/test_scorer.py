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

from tcva_adapters import TCVA
from tcva_adapters.ccrs import CCRS, METRICS, CCRSResult
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.ragas import (
    LexicalLLM,
    ScorerCollectionMetric,
    ScorerMetric,
    ScorerScore,
    claims_to_pandas,
    results_of,
)
from tcva_adapters.results.assessment import Reason
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM, dataset_of

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
    metrics = [ScorerMetric(CCRS(name, judge="lexical"), None) for name in METRICS]
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
    assert claims_to_pandas(found).empty


def test_the_newer_family_of_llms_judges_too() -> None:
    llm = ScriptedInstructorLLM(lambda _: '{"score": 42}')
    assert evaluated([ScorerMetric(CCRS("qr", judge=llm))])["ccrs_qr"] == [0.42] * 3


def test_a_scorer_keeps_its_judge_unless_an_llm_is_given() -> None:
    own, other = ScriptedLLM(lambda _: "90"), ScriptedLLM(lambda _: "20")
    scorer = CCRS("qr", judge=own)
    metrics = [ScorerMetric(scorer, name="own"), ScorerMetric(scorer, other, name="given")]
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


def test_tcva_is_a_scorer_like_the_others() -> None:
    tcva = TCVA(judge="lexical", temperature=0.2)
    found = evaluated([ScorerMetric(tcva), ScorerMetric(CCRS(("qr", "id"), judge="lexical"))])
    assert list(found.scores[0]) == ["tcva_faithfulness(T=0.2)", "ccrs_qr_id"]
    assert results_of(found, tcva.name) == [
        tcva.evaluate(sample.model_copy(update={"id": None})) for sample in SAMPLES
    ]
    rated = CCRS(("qr", "id"), judge="lexical").evaluate_many(SAMPLES)
    assert found["ccrs_qr_id"] == [result.score for result in rated]
    assert ScorerMetric(tcva).get_prompts() == {}


@pytest.mark.parametrize("family", [ScorerMetric, ScorerCollectionMetric])
def test_what_is_no_scorer_is_refused(family: Any) -> None:
    with pytest.raises(
        InvalidValueError, match=r"scorer='faithfulness'; Scorer.*Metric takes what scores"
    ):
        family("faithfulness")
    strict = TCVA(judge="lexical", profiles={"domain": {"medical": 0.2}})
    with pytest.raises(InvalidValueError, match="carry no metadata"):
        family(strict)


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


def test_a_score_is_seen_under_other_settings_without_a_call() -> None:
    row: Any = {"response": "At nine.", "reference": "at nine", "retrieved_contexts": ["-"]}
    score: Any = ScorerMetric(CCRS("ac", judge="lexical")).single_turn_score(
        SingleTurnSample(**row)
    )
    assert score.at(lambda_=0.0) == score.result.judged("ac")
    collected: Any = ScorerCollectionMetric(CCRS("ac", judge="lexical")).score(**row)
    assert collected.at(lambda_=0.0).value == score.at(lambda_=0.0)


def test_without_an_llm_it_says_so() -> None:
    metric = ScorerMetric(CCRS("qr", judge="lexical"), None)
    with pytest.raises(JudgeError, match="pass llm="):
        metric.single_turn_score(SingleTurnSample(user_input="Q?", response="Yes."))
    with pytest.raises(ValueError, match="no valid LLM"):
        metric.init(RunConfig())
    assert metric.get_prompts() == {}


def test_names_tell_what_is_not_usual() -> None:
    scorers = [
        CCRS("ac", judge="lexical"),
        CCRS("answer correctness", judge="lexical", lambda_=0.5, em="normalised"),
        CCRS("qr", judge="lexical", lambda_=0.5),
    ]
    names = ["ccrs_ac", "ccrs_ac(lambda=0.5,em=normalised)", "ccrs_qr"]
    assert [ScorerMetric(scorer).name for scorer in scorers] == names
    assert [ScorerCollectionMetric(scorer).name for scorer in scorers] == names
    assert ScorerMetric(scorers[0], name="mine").name == "mine"


def test_the_lexical_llm_is_the_lexical_judge() -> None:
    metric = ScorerMetric(CCRS("qr", judge=LexicalLLM()))
    assert metric.scorer.evaluate(SAMPLES[0]).judge == "lexical/ccrs-1"


ROWS: list[dict[str, Any]] = [
    {
        "user_input": sample.input,
        "response": sample.response,
        "retrieved_contexts": list(sample.contexts or ()),
        "reference": sample.reference,
    }
    for sample in SAMPLES
]


@pytest.mark.parametrize("metric", METRICS)
def test_the_newer_family_of_metrics_gives_the_same_scores(metric: str) -> None:
    rated = ScorerCollectionMetric(CCRS(metric, judge="lexical"), ScriptedLLM(judge))
    wanted = nan_for_none(expected(metric))
    assert [r.value for r in rated.batch_score(ROWS)] == pytest.approx(wanted, nan_ok=True)
    batch = asyncio.run(rated.abatch_score(ROWS))
    assert [r.value for r in batch] == pytest.approx(wanted, nan_ok=True)
    assert "unreadable_reply" in str(batch[1].reason)
    assert batch[0].traces is not None
    assert CCRSResult.from_dict(batch[0].traces["output"]) == batch[0].result


def test_a_row_that_cannot_be_read_is_nan_with_its_reason() -> None:
    rated = ScorerCollectionMetric(CCRS("qr", judge="lexical"))
    rows: list[dict[str, Any]] = [{"user_input": 7, "response": "Yes."}, {"response": "Yes."}]
    for batch in (rated.batch_score(rows), asyncio.run(rated.abatch_score(rows))):
        assert all(math.isnan(result.value) for result in batch)
        assert "invalid_input: field 'user_input' must be a string" in str(batch[0].reason)
        assert "missing_field" in str(batch[1].reason)
    for row, said in zip(rows, ("must be a string", "has no input"), strict=True):
        with pytest.raises(InvalidSampleError, match=said):
            rated.score(**row)
        with pytest.raises(InvalidSampleError, match=said):
            asyncio.run(rated.ascore(**row))


@pytest.mark.parametrize("options", [{"metrics": "xx"}, {"em": "loose"}, {"lambda_": -1}])
def test_wrong_settings_are_refused_when_built(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        ScorerMetric(CCRS(**{"metrics": "qr", **options}))


def test_settings_are_changed_in_a_copy() -> None:
    metric = ScorerMetric(CCRS("ac", judge="lexical"))
    row = SingleTurnSample(response="At nine.", reference="at nine", retrieved_contexts=["-"])
    score: Any = metric.single_turn_score(row)
    copied = metric.changed(em="normalised", lambda_=1.0)
    again: Any = copied.single_turn_score(row)
    assert (score.result.exact, again.result.exact, float(again)) == (False, True, 1.0)
    assert (metric.name, copied.name) == ("ccrs_ac", "ccrs_ac(lambda=1,em=normalised)")
    with pytest.raises(InvalidValueError, match="lambda_=7"):
        metric.changed(lambda_=7)
    other = metric.changed(metrics="qr")  # which needs other columns
    assert other.required_columns["SINGLE_TURN"] == {"user_input", "response"}
    with pytest.raises(InvalidValueError, match=r"em='normalised'; a built .*changed\("):
        metric.em = "normalised"


def test_the_newer_family_refuses_what_would_not_be_used() -> None:
    metric: Any = ScorerCollectionMetric(CCRS("ac", judge="lexical"))
    with pytest.raises(InvalidValueError, match="a built ScorerCollectionMetric is not changed"):
        metric.em = "normalised"
    with pytest.raises(InvalidValueError, match="llm='lexical'; a built"):
        metric.llm = "lexical"
    assert metric.changed(em="normalised").name == "ccrs_ac(em=normalised)"
    asked = metric.changed(llm=ScriptedLLM(lambda _: "50"))
    # 0.3 of the rating: it is no exact match
    assert asked.score(**ROWS[2]).value == pytest.approx(0.3 * 0.5)

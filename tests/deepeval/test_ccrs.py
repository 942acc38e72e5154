"""The direct metrics in DeepEval's `evaluate`, on copies and by themselves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.test_case import LLMTestCase
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.deepeval.entry import ScriptedLLM, case_of, evaluated

from tcva_adapters.ccrs import METRICS, CCRSResult
from tcva_adapters.deepeval import CCRSMetric
from tcva_adapters.errors import InvalidValueError


@pytest.mark.parametrize("asynchronous", [False, True])
def test_evaluate_keeps_its_scores_when_one_case_fails(asynchronous: bool) -> None:
    llm = ScriptedLLM(judge)
    metrics = [CCRSMetric(name, model=llm) for name in METRICS]
    found = evaluated(list(map(case_of, SAMPLES)), metrics, asynchronous=asynchronous)
    tests = {test.name: test for test in found.test_results}
    for index, metric in enumerate(METRICS):
        data = [(tests[str(sample.id)].metrics_data or [])[index] for sample in SAMPLES]
        assert [d.name for d in data] == [f"CCRS {METRICS[metric].title}"] * 3
        assert [d.score for d in data] == pytest.approx(expected(metric))
        assert [d.error is None for d in data] == [True, False, True]
        assert "unreadable_reply" in str(data[1].error)
        rated = {case.name: result for case, result in metrics[index].collected}
        assert rated["mute"].answers[metric].replies == ("I cannot put a number on that.",) * 2
    assert len(llm.prompts) == 20


def test_answer_correctness_shows_its_parts() -> None:
    metric = CCRSMetric("ac", threshold=0.95, model=ScriptedLLM(judge))
    assert metric.measure(case_of(SAMPLES[0])) == pytest.approx(0.94)
    assert metric.score_breakdown == {"exact match": 1.0, "judged": 0.8}
    assert metric.success is False
    assert str(metric.reason).startswith(
        "answer correctness 0.940 by deepeval:scripted: exact match"
    )
    assert metric.verbose_logs is not None
    first = metric.verbose_logs.splitlines()[0].strip()
    assert CCRSResult.from_json(first).scores == {"ac": metric.score}


def test_strict_mode_and_no_threshold_are_deepevals() -> None:
    strict = CCRSMetric("qr", model=ScriptedLLM(judge), strict_mode=True)
    assert strict.measure(case_of(SAMPLES[0])) == 0.0
    free = CCRSMetric("qr", threshold=None, model=ScriptedLLM(judge), include_reason=False)
    assert asyncio.run(free.a_measure(case_of(SAMPLES[0]))) == 0.9
    assert (free.success, free.reason) == (None, None)


def test_a_missing_field_is_told_in_deepevals_way() -> None:
    metric = CCRSMetric("ir", model="lexical")
    with pytest.raises(MissingTestCaseParamsError, match="'retrieval_context'"):
        metric.measure(LLMTestCase(input="Q?", actual_output="Yes."))


def test_settings_of_a_built_metric_stay() -> None:
    metric = CCRSMetric("ac", model="lexical")
    with pytest.raises(InvalidValueError, match=r"lambda_=0\.1 on a built metric"):
        metric.lambda_ = 0.1
    metric.threshold = 0.9  # it only decides what passes
    other = CCRSMetric("ac", model="lexical", em="normalised")
    assert metric.criteria != other.criteria
    assert metric.criteria == CCRSMetric("ac", model="lexical").criteria


@pytest.mark.parametrize("options", [{"metric": "xx"}, {"em": "loose"}, {"threshold": 7}])
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        CCRSMetric(**{"metric": "qr", "model": "lexical", **options})

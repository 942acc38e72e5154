"""The direct metrics in DeepEval's `evaluate`, on copies and by themselves."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.test_case import LLMTestCase

from tcva_adapters.ccrs import METRICS, CCRSResult
from tcva_adapters.deepeval import CCRSMetric
from tcva_adapters.errors import InvalidValueError
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.deepeval.entry import ScriptedLLM, case_of, evaluated


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


def test_settings_that_change_are_followed(tmp_path: Path) -> None:
    metric: Any = CCRSMetric("ac", model=ScriptedLLM(judge), store=tmp_path / "v.sqlite")
    before = metric.criteria
    metric.lambda_ = 0.0
    assert metric.measure(case_of(SAMPLES[0])) == 0.8
    assert metric.criteria != before
    metric.metric = "qr"
    assert (metric.name, metric.measure(case_of(SAMPLES[0]))) == ("CCRS question relevance", 0.9)
    metric.strict_mode = True
    assert (metric.threshold, metric.measure(case_of(SAMPLES[0]))) == (1.0, 0.0)
    refused: list[tuple[str, Any]] = [("threshold", 7), ("flaky", "no"), ("name", " "), ("em", "x")]
    for name, value in refused:
        with pytest.raises(InvalidValueError, match=name):
            setattr(metric, name, value)
    copied = copy.deepcopy(metric)  # clients and stores are shared
    assert (copied.store, copied.model) == (metric.store, metric.model)
    assert copied.collected is not metric.collected


def test_the_rating_behind_the_last_test_case_is_at_hand() -> None:
    metric = CCRSMetric("qr", model=ScriptedLLM(judge))
    seen = [metric.result]
    metric.measure(case_of(SAMPLES[0]))
    seen.append(metric.result)
    metric.error = None  # where DeepEval begins another test case
    seen.append(metric.result)
    assert [None if one is None else one.scores for one in seen] == [None, {"qr": 0.9}, None]
    assert metric.score is None


def test_square_brackets_do_not_reach_deepevals_console() -> None:
    def fails(_: str) -> str:
        msg = "[/INST] is no markup"
        raise RuntimeError(msg)

    metric = CCRSMetric("qr", model=ScriptedLLM(fails))
    metric.measure(case_of(SAMPLES[0]))
    assert "(/INST) is no markup" in str(metric.error)
    assert "[" not in f"{metric.error}{metric.reason}"


def test_the_cache_tells_settings_apart() -> None:
    metric = CCRSMetric("ac", model="lexical")
    other = CCRSMetric("ac", model="lexical", em="normalised")
    assert metric.criteria != other.criteria
    assert metric.criteria == CCRSMetric("ac", model="lexical").criteria


@pytest.mark.parametrize("options", [{"metric": "xx"}, {"em": "loose"}, {"threshold": 7}])
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        CCRSMetric(**{"metric": "qr", "model": "lexical", **options})

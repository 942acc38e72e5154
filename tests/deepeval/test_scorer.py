"""Any scorer in DeepEval's `evaluate`, on copies and by itself: here the direct metrics."""

from __future__ import annotations

import asyncio
import copy
import inspect
from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from tcva_adapters import CCRS, TCVA
from tcva_adapters.ccrs import METRICS, CCRSResult
from tcva_adapters.deepeval import ScorerMetric, TCVAMetric, results_of
from tcva_adapters.errors import InvalidValueError
from tests.ccrs.entries import SAMPLES, expected, judge
from tests.deepeval.entry import ScriptedLLM, case_of, evaluated


@pytest.mark.parametrize("asynchronous", [False, True])
def test_evaluate_keeps_its_scores_when_one_case_fails(asynchronous: bool) -> None:
    llm = ScriptedLLM(judge)
    metrics = [ScorerMetric(CCRS(name, judge=llm)) for name in METRICS]
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
        read = results_of(found, f"CCRS {METRICS[metric].title}")
        assert read == [rated[sample.id] for sample in SAMPLES]
    assert len(llm.prompts) == 20


def test_answer_correctness_shows_its_parts() -> None:
    metric = ScorerMetric(CCRS("ac", judge=ScriptedLLM(judge), threshold=0.95))
    assert metric.measure(case_of(SAMPLES[0])) == pytest.approx(0.94)
    assert metric.score_breakdown == {"exact match": 1.0, "judged": 0.8}
    assert metric.success is False
    assert str(metric.reason).startswith(
        "answer correctness 0.940 by deepeval:scripted: exact match"
    )
    assert metric.threshold == 0.95
    assert metric.verbose_logs is not None
    assert CCRSResult.from_json(metric.verbose_logs).scores == {"ac": metric.score}


def test_strict_mode_and_no_threshold_are_deepevals() -> None:
    strict = ScorerMetric(CCRS("qr", judge=ScriptedLLM(judge)), strict_mode=True)
    assert strict.measure(case_of(SAMPLES[0])) == 0.0
    scorer = CCRS("qr", judge=ScriptedLLM(judge))
    free = ScorerMetric(scorer, threshold=None, include_reason=False)
    assert asyncio.run(free.a_measure(case_of(SAMPLES[0]))) == 0.9
    assert (free.success, free.reason) == (None, None)


def test_a_missing_field_is_told_in_deepevals_way() -> None:
    metric = ScorerMetric(CCRS("ir", judge="lexical"))
    with pytest.raises(MissingTestCaseParamsError, match="'retrieval_context'"):
        metric.measure(LLMTestCase(input="Q?", actual_output="Yes."))


def test_settings_change_in_copies(tmp_path: Path) -> None:
    scorer = CCRS("ac", judge=ScriptedLLM(judge), store=tmp_path / "v.sqlite")
    metric = ScorerMetric(scorer)
    light = metric.changed(lambda_=0.0)
    assert light.measure(case_of(SAMPLES[0])) == 0.8
    assert light.criteria != metric.criteria
    other = light.changed(metrics="qr")
    assert (other.name, other.measure(case_of(SAMPLES[0]))) == ("CCRS question relevance", 0.9)
    other.strict_mode = True
    assert (other.threshold, other.measure(case_of(SAMPLES[0]))) == (1.0, 0.0)
    refused: list[tuple[str, Any]] = [("threshold", 7), ("strict_mode", "no"), ("name", "mine")]
    refused += [("scorer", scorer), ("model", "lexical"), ("lambda_", 0.0)]
    for name, value in refused:
        with pytest.raises(InvalidValueError, match=name):
            setattr(other, name, value)
    with pytest.raises(
        InvalidValueError, match="unknown setting 'em_' of ScorerMetric; was 'em' meant"
    ):
        other.changed(em_="strict")
    copied = copy.deepcopy(other)  # clients and stores are shared
    assert copied.scorer.store is other.scorer.store is scorer.store
    assert copied.collected is not other.collected
    assert scorer.store is not None
    scorer.store.close()


def test_a_copy_of_deepevals_has_every_setting() -> None:
    changed: dict[str, Any] = {
        "scorer": CCRS("qr", judge="lexical", threshold=0.6),
        "threshold": 0.7,
        "name": "mine",
        "include_reason": False,
        "async_mode": False,
        "strict_mode": False,
        "verbose_mode": True,
        "flaky": True,
        "collected": [],
    }
    assert inspect.signature(ScorerMetric).parameters.keys() == changed.keys()
    metric = ScorerMetric(**changed)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, ScorerMetric)
    assert {name: vars(copied)[name] for name in changed} == changed
    assert copied.scorer.threshold == 0.7
    metric.threshold = None
    (copied,) = copy_metrics([metric])
    assert (copied.threshold, metric.threshold) == (None, None)


class Named(TCVAMetric):  # type: ignore[no-untyped-call]  # DeepEval's __init_subclass__
    """A user's own, with a parameter of its own."""

    def __init__(self, team: str, **options: Any) -> None:
        self.team = team
        super().__init__(**options)


def test_a_subclass_with_a_parameter_of_its_own_is_copied() -> None:
    metric = Named("search", model="lexical", temperature=0.2)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, Named)
    assert (copied.team, copied.name) == ("search", "TCVA faithfulness (T=0.2)")
    lenient = metric.changed(temperature=0.9)
    assert (lenient.team, lenient.temperature) == ("search", 0.9)
    assert metric.changed(team="answers").team == "answers"


def test_a_tcva_is_a_scorer_like_any_other() -> None:
    tcva = TCVA(judge="lexical", temperature="strict", threshold=0.8)
    metric, own = (
        ScorerMetric(tcva),
        TCVAMetric(temperature="strict", threshold=0.8, model="lexical"),
    )
    assert metric.measure(case_of(SAMPLES[0])) == own.measure(case_of(SAMPLES[0]))
    for name in ("name", "threshold", "criteria", "result", "reason", "evaluation_model"):
        assert getattr(metric, name) == getattr(own, name), name
    with pytest.raises(InvalidValueError, match="scorer='lexical'; ScorerMetric takes what scores"):
        ScorerMetric("lexical")  # type: ignore[arg-type]  # wrong on purpose


def test_the_rating_behind_the_last_test_case_is_at_hand() -> None:
    metric = ScorerMetric(CCRS("qr", judge=ScriptedLLM(judge)))
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

    metric = ScorerMetric(CCRS("qr", judge=ScriptedLLM(fails)))
    metric.measure(case_of(SAMPLES[0]))
    assert "(/INST) is no markup" in str(metric.error)
    assert "[" not in f"{metric.error}{metric.reason}"


def test_the_cache_tells_settings_apart() -> None:
    metric = ScorerMetric(CCRS("ac", judge="lexical"))
    other = ScorerMetric(CCRS("ac", judge="lexical", em="normalised"))
    assert metric.criteria != other.criteria
    assert metric.criteria == ScorerMetric(CCRS("ac", judge="lexical")).criteria


@pytest.mark.parametrize("options", [{"flaky": "no"}, {"name": " "}, {"threshold": 7}, {"em": "x"}])
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        ScorerMetric(CCRS("qr", judge="lexical"), **options)

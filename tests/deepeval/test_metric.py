"""What only DeepEval has of our metrics: its attributes, thresholds, modes, copies and prices."""

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import DeepEvalError, MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import (
    ConversationalTestCase,
    LLMTestCase,
    RetrievedContextData,
    Turn,
)

from tcva_adapters import CCRS, TCVA
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.deepeval import ScorerMetric, TCVAMetric
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.judgement import Reason
from tests.deepeval.entry import (
    CASE,
    HALF,
    HALF_AT_HALF,
    OPENS,
    ScriptedLLM,
    evaluated,
    scripted,
    tcva_of,
)
from tests.support.scripted import verdict_json

OTHER = verdict_json((1, "fully", OPENS), (2, "minor", ""))


def copy_of(metric: Any) -> Any:
    """As DeepEval copies it for a test case."""
    (copied,) = copy_metrics([metric])
    assert type(copied) is type(metric)
    return copied


def test_a_copy_has_every_setting_and_shares_judge_store_and_list(
    tmp_path: Path,
) -> None:
    changed: dict[str, Any] = {
        "criterion": "correctness", "threshold": 0.7, "temperature": 0.3, "model": "lexical",
        "scheme": (1.0, 0.8, 0.5, 0.2, 0.0), "penalty": "ramped", "eps": 1e-6, "floor": "always",
        "bounds": Bounds(p_min=-4), "on_unscored": 0.25, "uncontexted": "skip", "max_claims": 3,
        "claims": "split",  # the lexical judge knows no other
        "verdicts": "written", "repeats": 1, "evidence": "off", "events": True, "name": "mine",
        "fuse": [TCVA("faithfulness", judge="lexical")], "fuse_weights": (2.0, 1.0),
        "profiles": {"domain": {"medical": 0.2}}, "store": tmp_path / "verdicts.sqlite",
        "strict_mode": False,  # with it, the threshold is 1
        "include_reason": False, "async_mode": False, "verbose_mode": True, "flaky": True,
        "collected": [], "share": False, "max_concurrency": 2, "guarantee": None,
        "claim_threshold": 0.8, "max_removed": 0.5, "citations": "<([0-9]+)>", "require_citations": True,
        "streamed": False,  # the lexical judge makes no requests
    }  # fmt: skip
    parameters = list(inspect.signature(TCVAMetric).parameters)
    assert (parameters[:4], set(parameters)) == (list(changed)[:4], set(changed))
    metric = TCVAMetric(**changed)
    copied = copy_of(metric)
    for name in changed:
        assert getattr(copied, name) == getattr(metric, name), name
    for name in changed.keys() - {"criterion", "fuse", "model", "scheme", "store"}:
        assert getattr(copied, name) == changed[name], name
    assert copied.collected is metric.collected
    assert copied.store is metric.store
    assert copied.model is metric.model
    assert copied.scorer.fingerprint == metric.scorer.fingerprint
    assert copied.scorer.share is False
    if metric.store is not None:
        metric.store.close()
    # These three were given above what a metric that lost them would say as well.
    copied = copy_of(TCVAMetric(model="lexical", strict_mode=True))
    assert (copied.include_reason, copied.strict_mode, copied.threshold) == (
        True,
        True,
        1,
    )


def test_a_copy_of_any_scorers_metric_has_every_setting_too() -> None:
    scorer = CCRS("qr", judge="lexical", threshold=0.6)
    metric = ScorerMetric(scorer, 0.7, name="mine", include_reason=False, flaky=True)
    copied = copy_of(metric)
    for name in inspect.signature(ScorerMetric).parameters:
        assert vars(copied)[name] == vars(metric)[name]
    assert (vars(copied)["scorer"], copied.scorer.threshold) == (scorer, 0.7)
    metric.threshold = None
    assert (copy_of(metric).threshold, metric.threshold) == (None, None)


@pytest.mark.parametrize("model", [None, "gpt-4.1-mini"])
def test_other_names_are_left_to_deepeval(model: str | None) -> None:
    # No key is set: DeepEval's own metrics fail when built, with the same error.
    with pytest.raises(DeepEvalError, match="OPENAI_API_KEY"):
        TCVAMetric(model=model)


def test_strict_mode_is_all_or_nothing_and_holds_the_threshold_at_one() -> None:
    metric = TCVAMetric(model=scripted(HALF), strict_mode=True, threshold=0.1)
    assert (metric.threshold, metric.measure(CASE)) == (1, 0.0)
    assert metric.result is not None
    assert metric.result.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    whole = verdict_json((1, "fully", OPENS), (2, "fully", "Parking costs two coins."))
    assert TCVAMetric(model=scripted(whole), strict_mode=True).measure(CASE) == 1.0
    metric.threshold = 0.2
    assert metric.threshold == 1.0
    metric.strict_mode = False
    metric.threshold = 0.2
    assert (metric.threshold, tcva_of(metric).scoring.threshold) == (0.2, 0.2)


def test_each_call_is_booked_once() -> None:
    class Priced(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
        def generate(self, prompt: str) -> Any:
            return super().generate(prompt), 0.01

    llm = Priced(lambda _: HALF)
    metrics = [TCVAMetric(model=llm, temperature=each) for each in (0.2, 0.9)]
    evaluation = evaluated([CASE], metrics, asynchronous=False)
    data = [
        each for test in evaluation.test_results for each in test.metrics_data or ()
    ]
    assert [each.evaluation_cost for each in data] == [0.01, 0.0]


def test_a_context_with_a_source_is_judged_by_its_text() -> None:
    passage = RetrievedContextData(context=OPENS, source="handbook")
    case = LLMTestCase(input="When?", actual_output=OPENS, retrieval_context=[passage])
    llm = scripted(verdict_json((1, "fully", OPENS)))
    assert TCVAMetric(model=llm).measure(case) == 1.0
    assert "handbook" not in llm.prompts[0]


def test_a_reason_can_be_left_out_and_a_result_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metric = TCVAMetric(model="lexical", include_reason=False)
    metric.measure(CASE)
    assert (metric.reason, capsys.readouterr().out) == (None, "")
    TCVAMetric(model="lexical", verbose_mode=True).measure(CASE)
    assert OPENS in capsys.readouterr().out


class Named(TCVAMetric):  # type: ignore[no-untyped-call]  # DeepEval's __init_subclass__
    """A user's own, with a parameter of its own."""

    def __init__(self, team: str, **options: Any) -> None:
        self.team = team
        super().__init__(**options)


def test_a_subclass_with_a_parameter_of_its_own_is_copied() -> None:
    metric = Named("search", model="lexical", temperature=0.2)
    copied = copy_of(metric)
    assert (copied.team, copied.name) == ("search", "TCVA faithfulness (T=0.2)")
    lenient = metric.changed(temperature=0.9)
    assert (lenient.team, lenient.temperature) == ("search", 0.9)
    assert metric.changed(team="answers").team == "answers"


def test_equal_names_are_the_same_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one-1234567890")
    one, two = TCVAMetric(model="gpt-4o"), TCVAMetric(model="gpt-4o", temperature=0.9)
    assert one.model is two.model is one.changed(temperature=0.2).model
    others = [TCVAMetric(model="gpt-4o-mini")]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    others.append(TCVAMetric(model="gpt-4o"))
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-two-1234567890")
    others.append(TCVAMetric(model="gpt-4o"))
    assert len({id(metric.model) for metric in [one, *others]}) == 4
    # An object that the user made is itself.
    mine = type(one.model)("gpt-4o")
    assert TCVAMetric(model=mine).model is mine


def test_nothing_is_left_of_the_case_before() -> None:
    metric = TCVAMetric(model=scripted(TimeoutError("slow"), HALF))
    assert (metric.measure(CASE), metric.error) == (None, "timeout: TimeoutError: slow")
    assert (metric.measure(CASE) is not None, metric.error) == (True, None)
    with pytest.raises(MissingTestCaseParamsError):
        metric.measure(LLMTestCase(input="q", actual_output="a"))
    assert [metric.score, metric.reason, metric.success] == [None] * 3
    said = "'retrieval_context' cannot be None for the 'TCVA faithfulness' metric"
    why: Any = metric.result and metric.result.unscored
    assert (metric.error, why.reason, why.detail) == (said, Reason.MISSING_FIELD, said)


def test_conversations_are_refused_with_the_way_out() -> None:
    conversation = ConversationalTestCase(turns=[Turn(role="user", content="Hello")])
    metric = TCVAMetric(model="lexical")
    wrong: Any = conversation
    said = "needs a test case of class LLMTestCase.*got a Conv.*; TCVAConversationalMetric judges"
    with pytest.raises(InvalidSampleError, match=said):
        metric.measure(wrong)
    with pytest.raises(ValueError, match=said):
        asyncio.run(metric.a_measure(wrong))
    with pytest.raises(InvalidSampleError, match="multimodal"):
        metric.measure(CASE.model_copy(update={"multimodal": True}))


def test_the_name_has_the_threshold_and_follows_it() -> None:
    metric = TCVAMetric(model="lexical", temperature=0.2)
    assert metric.name == "TCVA faithfulness (T=0.2)"
    metric.threshold = 0.7
    assert metric.name == metric.__name__ == "TCVA faithfulness (T=0.2, threshold=0.7)"
    assert copy_of(metric).name == metric.name
    assert metric.changed(temperature=0.5).name == "TCVA faithfulness (threshold=0.7)"
    metric.threshold = 0.5
    assert metric.name == "TCVA faithfulness (T=0.2)"
    named = TCVAMetric(model="lexical", threshold=0.7, name="mine")
    named.threshold = 0.2
    assert named.name == "mine"

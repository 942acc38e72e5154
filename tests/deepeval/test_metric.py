"""TCVAMetric by itself: measure, a_measure, options and errors. The model is scripted."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import DeepEvalError, MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import ConversationalTestCase, LLMTestCase, RetrievedContextData, Turn
from tests.deepeval.entry import ScriptedLLM, case_of, scripted
from tests.support.scripted import ScriptedModel, verdict_json

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.deepeval import TCVAMetric, result_of
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.judging.criteria import rubric
from tcva_adapters.judging.judge import ModelJudge

OPENS = "The office opens at nine."
PARKING = "Parking is free."
SAMPLE = Sample(
    input="When does the office open?",
    response=f"{OPENS} {PARKING}",
    contexts=(f"{OPENS} Parking costs two coins.",),
    reference=OPENS,
    id="one",
)
CASE = case_of(SAMPLE)
HALF = verdict_json((1, "fully", OPENS), (2, "none", ""))
# p(T) runs linearly from -8 at T=0.1 to 12.25 at T=1, so p(0.5) = 1. The weights 1 and 0 have the
# mean 0.5; half of the claims are none, which leaves 0.5 ** (1.5 - 0.5) of it.
HALF_AT_HALF = 0.25


async def in_loop(call: Callable[[], Any]) -> Any:
    return call()


def test_measure_gives_the_score_of_the_paper_and_fills_what_deepeval_reads() -> None:
    llm = scripted(HALF)
    metric = TCVAMetric(model=llm)
    assert metric.measure(CASE) == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert metric.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert (metric.success, metric.is_successful(), metric.error) == (False, False, None)
    assert metric.reason is not None
    assert metric.reason.startswith("0.250 < 0.5 at T=0.5: 1 fully, 1 none; worst: ")
    assert PARKING in metric.reason
    assert metric.score_breakdown == {"fully": 1, "mostly": 0, "partial": 0, "minor": 0, "none": 1}
    assert metric.evaluation_model == "deepeval:scripted"
    assert metric.__name__ == "TCVA faithfulness"
    assert len(llm.prompts) == 1


def test_the_score_is_that_of_tcva_to_the_last_bit() -> None:
    for temperature in (0.1, 0.37, 0.5, 0.93, 1.0):
        metric = TCVAMetric(model=scripted(HALF), temperature=temperature)
        tcva = TCVA(judge=ScriptedModel([HALF]), temperature=temperature)
        assert metric.measure(CASE) == tcva.evaluate(SAMPLE).score


def test_another_temperature_costs_no_call() -> None:
    llm = scripted(HALF)
    metric = TCVAMetric(model=llm)
    metric.measure(CASE)
    result = metric.result
    assert result is not None
    # The floor under a weight of 0 is 1e-9; p(0.1) = -8 keeps the mean next to it.
    assert result.at("strict").score == pytest.approx(0.0, abs=1e-8)
    assert 0.25 < (result.at("lenient").score or 0) < 1
    assert len(llm.prompts) == 1


def test_the_result_survives_the_logs_unchanged() -> None:
    metric = TCVAMetric(model=scripted(HALF), temperature="strict", penalty="ramped")
    metric.measure(CASE)
    ((case, result),) = metric.collected
    assert case is CASE
    assert isinstance(result, Result)
    assert metric.result == result_of(metric) == result
    assert result.assessment.sample_id == "one"
    assert [claim.claim for claim in result.claims] == [OPENS, PARKING]
    assert result.claims[0].evidence == OPENS


def test_a_measure_agrees() -> None:
    metric = TCVAMetric(model=scripted(HALF))
    assert asyncio.run(metric.a_measure(CASE)) == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert metric.result == metric.collected[0].result


@pytest.mark.parametrize("model", ["lexical", ScriptedModel([HALF])], ids=["lexical", "object"])
def test_other_judges(model: Any) -> None:
    score = TCVAMetric(model=model).measure(CASE)
    assert score is not None
    assert 0 < score < 1


def test_measure_needs_no_loop_and_patches_none() -> None:
    metric = TCVAMetric(model=scripted(*[HALF] * 3))
    native = asyncio.run
    expected = metric.measure(CASE)
    assert asyncio.run(in_loop(lambda: metric.measure(CASE))) == expected
    found: list[float | None] = []
    thread = threading.Thread(target=lambda: found.append(metric.measure(CASE)))
    thread.start()
    thread.join()
    assert found == [expected]
    assert asyncio.run is native


def test_many_at_once_keep_their_own_results() -> None:
    # Sample i has the verdict of its number in every case, whatever finishes first.
    words = ("fully", "mostly", "partial", "minor", "none")

    def reply(prompt: str) -> str:
        number = int(prompt.split("Claim number ")[1].split(" ", maxsplit=1)[0])
        return verdict_json((1, words[number % 5], f"Claim number {number} here."))

    metric = TCVAMetric(model=ScriptedLLM(reply))
    cases = [
        LLMTestCase(
            input="q",
            actual_output=f"Claim number {i} here.",
            retrieval_context=[f"Claim number {i} here."],
            name=str(i),
        )
        for i in range(50)
    ]

    async def all_of_them() -> None:
        await asyncio.gather(*(metric.a_measure(case) for case in cases))

    asyncio.run(all_of_them())
    assert len(metric.collected) == 50
    for case, result in metric.collected:
        number = int(case.name or "")
        assert result.assessment.sample_id == case.name
        assert result.assessment.verdicts[0].value == words[number % 5]


def test_cancelling_is_not_a_verdict() -> None:
    async def never() -> None:
        class Slow(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
            async def a_generate(self, prompt: str) -> str:
                await asyncio.Event().wait()
                return prompt

        metric = TCVAMetric(model=Slow(lambda _: ""))
        task = asyncio.create_task(metric.a_measure(CASE))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert metric.collected == []

    asyncio.run(never())


def test_unicode_arrives_and_returns() -> None:
    text = "Zoë misst 40 µg – täglich 🌿."
    llm = scripted(verdict_json((1, "fully", text)))
    metric = TCVAMetric(model=llm)
    case = LLMTestCase(input="Wie viel?", actual_output=text, retrieval_context=[text])
    assert metric.measure(case) == 1.0
    assert text in llm.prompts[0]
    assert metric.result is not None
    assert metric.result.claims[0].claim == text


def test_a_context_with_a_source_is_judged_by_its_text() -> None:
    passage = RetrievedContextData(context=OPENS, source="handbook")
    case = LLMTestCase(input="When?", actual_output=OPENS, retrieval_context=[passage])
    llm = scripted(verdict_json((1, "fully", OPENS)))
    assert TCVAMetric(model=llm).measure(case) == 1.0
    assert "handbook" not in llm.prompts[0]


@pytest.mark.parametrize(
    ("criterion", "fields"),
    [
        ("faithfulness", {"actual_output", "retrieval_context"}),
        ("answer_relevancy", {"input", "actual_output"}),
        ("correctness", {"actual_output", "expected_output"}),
        ("completeness", {"actual_output", "expected_output"}),
        ("context_recall", {"retrieval_context", "expected_output"}),
    ],
)
def test_every_criterion_takes_its_own_fields(criterion: str, fields: set[str]) -> None:
    metric = TCVAMetric(criterion, model="lexical")
    assert {param.value for param in metric._required_params} == fields
    assert metric.measure(CASE) is not None
    for field in fields - {"input"}:
        with pytest.raises(MissingTestCaseParamsError, match=f"'{field}' cannot be None"):
            metric.measure(CASE.model_copy(update={field: None}))


def test_criteria_texts_are_claims() -> None:
    metric = TCVAMetric(
        rubric("tone", ["Is polite.", "Is short."]),
        model=scripted(verdict_json((1, "fully", ""), (2, "fully", ""))),
    )
    assert metric.measure(LLMTestCase(input="Hi", actual_output="Good morning.")) == 1.0
    assert metric.__name__ == "TCVA tone"


# Judge failures and samples without a score


def test_a_failure_of_the_judge_is_an_error_and_no_score() -> None:
    metric = TCVAMetric(model=scripted(TimeoutError("too slow")), on_unscored=1.0)
    assert metric.measure(CASE) is None
    assert metric.error == "timeout: TimeoutError: too slow"
    assert metric.success is False
    assert metric.result is not None
    assert metric.result.unscored is not None


def test_a_type_error_of_the_model_does_not_ask_twice() -> None:
    llm = scripted(TypeError("broken"), HALF)
    metric = TCVAMetric(model=llm)
    assert metric.measure(CASE) is None
    assert len(llm.prompts) == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"actual_output": ""}, "empty_response"),
        ({"retrieval_context": []}, "empty_context"),
        ({"actual_output": "I am sorry, I cannot answer that."}, "refusal"),
    ],
)
def test_samples_without_a_score_are_no_errors(changes: dict[str, Any], reason: str) -> None:
    case = CASE.model_copy(update=changes)
    metric = TCVAMetric(model="lexical")
    assert metric.measure(case) is None
    assert (metric.error, metric.success) == (None, False)
    assert metric.reason is not None
    assert metric.reason.startswith(f"unscored: {reason}: ")
    lenient = TCVAMetric(model="lexical", on_unscored=1.0)
    assert lenient.measure(case) == 1.0
    assert lenient.success is True


def test_nothing_is_left_of_the_case_before() -> None:
    metric = TCVAMetric(model=scripted(TimeoutError("slow"), HALF))
    metric.measure(CASE)
    assert metric.measure(CASE) is not None
    assert metric.error is None
    with pytest.raises(MissingTestCaseParamsError):
        metric.measure(LLMTestCase(input="q", actual_output="a"))
    assert (metric.score, metric.reason, metric.verbose_logs, metric.result) == (None,) * 4
    assert metric.error == "'retrieval_context' cannot be None for the 'TCVA faithfulness' metric"


# Options


def test_strict_mode_is_all_or_nothing() -> None:
    metric = TCVAMetric(model=scripted(HALF), strict_mode=True, threshold=0.1)
    assert metric.threshold == 1
    assert metric.measure(CASE) == 0.0
    assert metric.result is not None
    assert metric.result.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    whole = verdict_json((1, "fully", OPENS), (2, "fully", OPENS))
    assert TCVAMetric(model=scripted(whole), strict_mode=True).measure(CASE) == 1.0


def test_without_a_threshold_nothing_passes_or_fails() -> None:
    metric = TCVAMetric(model=scripted(HALF), threshold=None)
    metric.measure(CASE)
    assert metric.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    assert metric.success is None


def test_the_reason_can_be_left_out() -> None:
    metric = TCVAMetric(model="lexical", include_reason=False)
    metric.measure(CASE)
    assert metric.reason is None


def test_verbose_mode_prints(capsys: pytest.CaptureFixture[str]) -> None:
    TCVAMetric(model="lexical").measure(CASE)
    assert capsys.readouterr().out == ""
    TCVAMetric(model="lexical", verbose_mode=True).measure(CASE)
    assert OPENS in capsys.readouterr().out


def test_a_copy_has_every_setting_and_shares_judge_store_and_list(tmp_path: Path) -> None:
    changed: dict[str, Any] = {
        "criterion": "correctness",
        "threshold": 0.7,
        "temperature": 0.3,
        "model": "lexical",
        "scheme": (1.0, 0.8, 0.5, 0.2, 0.0),
        "penalty": "ramped",
        "eps": 1e-6,
        "floor": "always",
        "on_unscored": 0.25,
        "claims": "split",  # the lexical judge knows no other
        "max_claims": 3,
        "store": tmp_path / "verdicts.sqlite",
        "name": "mine",
        "include_reason": False,
        "async_mode": False,
        "strict_mode": False,  # with it, the threshold is 1
        "verbose_mode": True,
        "flaky": True,
        "collected": [],
    }
    assert list(inspect.signature(TCVAMetric).parameters) == list(changed)
    metric = TCVAMetric(**changed)
    (copy,) = copy_metrics([metric])
    assert isinstance(copy, TCVAMetric)
    for name in changed:
        assert getattr(copy, name) == getattr(metric, name), name
    for name in changed.keys() - {"criterion", "model", "scheme", "store"}:
        assert getattr(copy, name) == changed[name], name
    # These three were given above what a metric that lost them would say as well.
    (copy,) = copy_metrics([TCVAMetric(model="lexical", strict_mode=True)])
    assert (copy.include_reason, copy.strict_mode, copy.threshold) == (True, True, 1)
    (copy,) = copy_metrics([metric])
    assert isinstance(copy, TCVAMetric)
    assert copy.collected is metric.collected
    assert copy.store is metric.store
    assert copy.model is metric.model
    assert copy._tcva.scoring == metric._tcva.scoring
    assert copy.criteria == metric.criteria
    assert copy._tcva.judge.parameters["max_claims"] == 3
    if metric.store is not None:
        metric.store.close()


@pytest.mark.parametrize("claims", ["split", "llm"])
@pytest.mark.parametrize("kind", [scripted, lambda: ScriptedModel([])], ids=["deepeval", "other"])
def test_a_copy_asks_for_claims_as_its_original(kind: Callable[[], Any], claims: Any) -> None:
    llm = kind()
    (copy,) = copy_metrics([TCVAMetric(model=llm, claims=claims, max_claims=4)])
    assert isinstance(copy, TCVAMetric)
    assert copy.model is llm
    parameters = copy._tcva.judge.parameters
    assert (parameters["claims"], parameters["max_claims"]) == (claims, 4)


def test_copies_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    metric = TCVAMetric(model="openai:m", claims="llm")
    (copy,) = copy_metrics([metric])
    assert isinstance(copy, TCVAMetric)
    ours, theirs = metric._tcva.judge, copy._tcva.judge
    assert isinstance(ours, ModelJudge)
    assert isinstance(theirs, ModelJudge)
    assert theirs.model is ours.model
    assert theirs.claims == "llm"


def test_a_judge_of_its_own_is_taken_as_it_is() -> None:
    judge = ModelJudge(ScriptedModel([]), claims="llm", max_claims=3)
    (copy,) = copy_metrics([TCVAMetric(model=judge)])
    assert isinstance(copy, TCVAMetric)
    assert copy._tcva.judge is judge


def test_the_store_serves_what_was_judged_before(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    first = TCVAMetric(model=scripted(HALF), store=path)
    first.measure(CASE)
    assert first.store is not None
    second = TCVAMetric(model=scripted(), store=first.store, temperature=0.9)
    assert second.measure(CASE) == first.collected[0].result.at(0.9).score
    first.store.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 1.5}, "1.5"),
        ({"temperature": "harsh"}, "harsh"),
        ({"threshold": 1.2}, "1.2"),
        ({"criterion": "truth"}, "truth"),
        ({"penalty": "soft"}, "soft"),
        ({"scheme": "steep"}, "steep"),
        ({"on_unscored": 2}, "on_unscored=2"),
        ({"max_claims": 0}, "max_claims=0"),
        ({"claims": "llm"}, "llm"),
        ({"model": 7}, "unknown judge 7"),
    ],
)
def test_wrong_options_fail_when_built(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**{"model": "lexical", **options})


def test_unknown_options_fail_when_built() -> None:
    unknown: dict[str, Any] = {"temprature": 0.5}
    with pytest.raises(TypeError, match="temprature"):
        TCVAMetric(model="lexical", **unknown)


@pytest.mark.parametrize("model", [None, "gpt-4.1-mini"])
def test_other_names_are_left_to_deepeval(model: str | None) -> None:
    # No key is set: DeepEval's own metrics fail when built, with the same error.
    with pytest.raises(DeepEvalError, match="OPENAI_API_KEY"):
        TCVAMetric(model=model)


# What it does not judge


def test_conversations_are_refused_with_the_way_out() -> None:
    conversation = ConversationalTestCase(turns=[Turn(role="user", content="Hello")])
    metric = TCVAMetric(model="lexical")
    wrong: Any = conversation
    with pytest.raises(InvalidSampleError, match="not a ConversationalTestCase; judge each answer"):
        metric.measure(wrong)
    with pytest.raises(ValueError, match="as an LLMTestCase"):
        asyncio.run(metric.a_measure(wrong))


def test_pictures_are_refused() -> None:
    with pytest.raises(InvalidSampleError, match="multimodal"):
        TCVAMetric(model="lexical").measure(CASE.model_copy(update={"multimodal": True}))


@pytest.mark.parametrize("logs", ["Truths (limit=None):\n[]", "{}", ""])
def test_logs_of_other_metrics_are_no_result(logs: str) -> None:
    metric = TCVAMetric(model="lexical")
    metric.verbose_logs = logs
    with pytest.raises(UnreadableInputError, match="not written by a TCVAMetric"):
        result_of(metric)


def test_what_was_never_judged_has_no_result() -> None:
    metric = TCVAMetric(model="lexical")
    assert metric.result is None
    with pytest.raises(UnreadableInputError, match="no verbose_logs"):
        result_of(metric)

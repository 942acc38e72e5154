"""TCVAMetric by itself: measure, a_measure, options and errors. The model is scripted."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import math
import pickle
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepeval.errors import DeepEvalError, MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import ConversationalTestCase, LLMTestCase, RetrievedContextData, Turn

from tcva_adapters import TCVA, Fusion, HumanScale, Profiles, Result, Sample
from tcva_adapters.claims.criteria import rubric
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.deepeval import Collected, TCVAMetric, result_of
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.judging.model_judge import ModelJudge
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.store import VerdictStore
from tests.deepeval.entry import ScriptedLLM, case_of, scripted
from tests.support.scripted import ScriptedModel, verdict_json

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


def tcva_of(metric: TCVAMetric) -> TCVA:
    assert isinstance(metric.scorer, TCVA)
    return metric.scorer


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
        assert unscored(metric)[0] is Reason.TIMEOUT

    asyncio.run(never())


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
    assert (metric.measure(CASE), metric.error) == (None, "timeout: TimeoutError: slow")
    assert (metric.measure(CASE) is not None, metric.error) == (True, None)
    with pytest.raises(MissingTestCaseParamsError):
        metric.measure(LLMTestCase(input="q", actual_output="a"))
    assert (metric.score, metric.reason, metric.success, metric.score_breakdown) == (None,) * 4
    said = "'retrieval_context' cannot be None for the 'TCVA faithfulness' metric"
    assert (metric.error, *unscored(metric)) == (said, Reason.MISSING_FIELD, said)


def unscored(metric: TCVAMetric) -> tuple[Reason, str]:
    assert metric.result is not None
    assert metric.result.unscored is not None
    return metric.result.unscored.reason, metric.result.unscored.detail


# Options


def test_strict_mode_is_all_or_nothing() -> None:
    metric = TCVAMetric(model=scripted(HALF), strict_mode=True, threshold=0.1)
    assert metric.threshold == 1
    assert metric.measure(CASE) == 0.0
    assert metric.result is not None
    assert metric.result.score == pytest.approx(HALF_AT_HALF, abs=1e-12)
    whole = verdict_json((1, "fully", OPENS), (2, "fully", "Parking costs two coins."))
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
        "bounds": Bounds(p_min=-4),
        "on_unscored": 0.25,
        "claims": "split",  # the lexical judge knows no other
        "max_claims": 3,
        "prompt": "full",  # the lexical judge has none, nor the next four
        "verdicts": "written",
        "samples": 5,
        "yes_no_points": (1.0, 0.9, 0.7, 0.3, 0.0),
        "repeats": 1,
        "evidence": "strict",
        "store": tmp_path / "verdicts.sqlite",
        "fuse": [TCVA("faithfulness", judge="lexical")],
        "fusion": Fusion(temperature=0.5),
        "mapping": HumanScale((0.0, 1.0), (1.0, 5.0)),
        "profiles": Profiles("domain", {"medical": {"temperature": 0.2}}),
        "name": "mine",
        "include_reason": False,
        "async_mode": False,
        "strict_mode": False,  # with it, the threshold is 1
        "verbose_mode": True,
        "flaky": True,
        "collected": [],
        "share": False,
        "max_concurrency": 2,
    }
    parameters = list(inspect.signature(TCVAMetric).parameters)
    assert parameters[:4] == list(changed)[:4]
    assert set(parameters) == set(changed) == TCVAMetric.setting_names
    metric = TCVAMetric(**changed)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    for name in changed:
        assert getattr(copied, name) == getattr(metric, name), name
    for name in changed.keys() - {"criterion", "fuse", "model", "scheme", "store"}:
        assert getattr(copied, name) == changed[name], name
    # These three were given above what a metric that lost them would say as well.
    (copied,) = copy_metrics([TCVAMetric(model="lexical", strict_mode=True)])
    assert (copied.include_reason, copied.strict_mode, copied.threshold) == (True, True, 1)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    assert copied.collected is metric.collected
    assert copied.store is metric.store
    assert copied.model is metric.model
    assert tcva_of(copied).scoring == tcva_of(metric).scoring
    assert copied.scorer.fingerprint == metric.scorer.fingerprint
    assert copied.scorer.share is False
    assert tcva_of(copied).judge.parameters["max_claims"] == 3
    if metric.store is not None:
        metric.store.close()


# Copies with other settings

CHANGES: list[dict[str, Any]] = [
    {"criterion": "correctness"},
    {"threshold": 0.2},
    {"threshold": None},
    {"temperature": 0.9},
    {"temperature": "strict"},
    {"model": "lexical"},
    {"scheme": "linear"},
    {"scheme": (1, 0.5, 0.4, 0.3, 0)},
    {"penalty": "off"},
    {"temperature": 0.2, "eps": 1e-12},
    {"temperature": 0.5, "floor": "always", "eps": 0.05},
    {"on_unscored": 1.0},
    {"claims": "llm"},
    {"max_claims": 1},
    {"name": "mine"},
    {"include_reason": False},
    {"strict_mode": True},
    {"verbose_mode": True},
    {"flaky": True},
]
NOT_IN_A_SCORE = {"name", "include_reason", "verbose_mode", "flaky"}


def plenty() -> ScriptedLLM:
    """Answers whatever it is asked, for claims or for verdicts."""
    claims = json.dumps({"claims": [OPENS, PARKING]})
    return ScriptedLLM(lambda prompt: HALF if "<<<CLAIM 1>>>" in prompt else claims)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_changed_setting_counts_everywhere(changes: dict[str, Any]) -> None:
    llm = plenty()
    metric = TCVAMetric(model=llm)
    metric.measure(CASE)
    before = dict(vars(metric))
    changed = metric.changed(**changes)
    (copied,) = copy_metrics([changed])
    assert isinstance(copied, TCVAMetric)
    new = TCVAMetric(**{"model": llm, **changes})
    assert new.measure(CASE) == changed.measure(CASE) == copied.measure(CASE)
    for other in (changed, copied):
        assert {s: getattr(other, s) for s in TCVAMetric.setting_names - {"collected"}} == {
            s: getattr(new, s) for s in TCVAMetric.setting_names - {"collected"}
        }
        for name in ("reason", "success", "criteria", "evaluation_model", "__name__"):
            assert getattr(other, name) == getattr(new, name), name
        assert other._required_params == new._required_params
        assert other.result is not None
        assert other.result.scoring == tcva_of(new).scoring
    same = changed.criteria == TCVAMetric(model=llm).criteria
    assert same is bool(changes.keys() & NOT_IN_A_SCORE)
    assert vars(metric) == before
    assert changed.collected is not metric.collected


FOLLOWED: dict[str, list[Any]] = {
    "threshold": [0.2, None],
    "strict_mode": [True],
    "async_mode": [False],
    "verbose_mode": [True],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in FOLLOWED.items() for v in vs])
def test_what_deepeval_or_its_users_set_is_followed(name: str, value: Any) -> None:
    llm = plenty()
    metric = TCVAMetric(model=llm)
    metric.measure(CASE)
    setattr(metric, name, value)
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    options: dict[str, Any] = {"model": llm, name: value}
    new = TCVAMetric(**options)
    assert new.measure(CASE) == metric.measure(CASE) == copied.measure(CASE)
    for other in (metric, copied):
        for same in ("reason", "success", "criteria", "threshold", *FOLLOWED, "__name__"):
            assert getattr(other, same) == getattr(new, same), same
        assert other.result is not None
        assert other.result.scoring == tcva_of(new).scoring


@pytest.mark.parametrize("name", sorted(TCVAMetric.setting_names - FOLLOWED.keys()))
def test_everything_else_is_frozen(name: str) -> None:
    metric = TCVAMetric(model="lexical")
    with pytest.raises(InvalidValueError, match=rf"{name}=.* changed\({name}=...\) gives a copy"):
        setattr(metric, name, getattr(metric, name))
    with pytest.raises(InvalidValueError, match=r"temprature=0.9 on a built metric is not used"):
        metric.temprature = 0.9


def test_an_unknown_setting_of_a_copy_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"'judge' of TCVAMetric; .* model"):
        TCVAMetric(model="lexical").changed(judge="lexical")


@pytest.mark.parametrize(
    ("fuse", "name", "criteria"),
    [
        # A judge has no criterion of its own, so it takes the metric's.
        ("lexical", "TCVA correctness (fuse=lexical/2 correctness)", ["correctness"]),
        (
            [TCVA("faithfulness", judge="lexical"), "lexical"],
            "TCVA correctness (fuse=lexical/2 faithfulness+lexical/2 correctness)",
            ["faithfulness", "correctness"],
        ),
    ],
)
def test_judges_that_are_fused_follow_the_criterion(
    fuse: Any, name: str, criteria: list[str]
) -> None:
    metric = TCVAMetric(model=scripted(HALF), fuse=fuse).changed(criterion="correctness")
    assert metric.name == name
    metric.measure(CASE)
    assert metric.result is not None
    assert [each.criterion for each in metric.result.assessment.members] == criteria


# Two claims at weight 0.7: the score is 0.7 at every temperature, between the two thresholds.
PARTIAL = verdict_json((1, "partial", OPENS), (2, "partial", ""))
THRESHOLDS = Profiles("domain", {"medical": {"threshold": 0.9}, "chat": {"threshold": 0.1}})


@pytest.mark.parametrize(
    ("threshold", "domain", "passes"),
    [(0.5, "medical", False), (0.5, "other", True), (0.8, "chat", True), (0.8, "other", False)],
)
def test_a_test_case_passes_by_the_threshold_of_its_profile(
    threshold: float, domain: str, passes: bool
) -> None:
    metric = TCVAMetric(model=scripted(PARTIAL), threshold=threshold, profiles=THRESHOLDS)
    case = case_of(SAMPLE)
    case.metadata = {"domain": domain}
    assert metric.measure(case) == pytest.approx(0.7, abs=1e-12)
    assert (metric.success, metric.is_successful()) == (passes, passes)
    assert metric.result is not None
    assert metric.result.passed is passes
    assert metric.threshold == threshold


def test_profiles_do_not_change_what_strict_mode_or_no_threshold_or_a_failure_means() -> None:
    case = case_of(SAMPLE)
    case.metadata = {"domain": "chat"}
    strict = TCVAMetric(model=scripted(PARTIAL), strict_mode=True, profiles=THRESHOLDS)
    assert strict.measure(case) == 0.0
    assert strict.success is False
    assert str(strict.reason).startswith("0.700 < 1 at T=0.5")
    assert strict.profiles is THRESHOLDS  # as given, for copies
    free = TCVAMetric(model=scripted(PARTIAL), threshold=None, profiles=THRESHOLDS)
    free.measure(case)
    assert free.success is None
    failed = TCVAMetric(model=scripted(TimeoutError("slow")), profiles=THRESHOLDS)
    failed.measure(case)
    assert failed.success is False


def test_the_list_and_the_store_can_be_changed(tmp_path: Path) -> None:
    results = list[Collected[Result]]()
    metric = TCVAMetric(model="lexical").changed(collected=results, store=tmp_path / "v.sqlite")
    metric.measure(CASE)
    (copied,) = copy_metrics([metric])
    assert len(results) == 1
    assert vars(copied)["collected"] is results
    assert isinstance(metric.scorer.store, VerdictStore)
    assert metric.measure(CASE) == results[0].result.score
    metric.scorer.store.close()


def test_strict_mode_holds_the_threshold_at_one() -> None:
    metric = TCVAMetric(model="lexical", strict_mode=True)
    metric.threshold = 0.2
    assert metric.threshold == 1.0
    metric.strict_mode = False
    metric.threshold = 0.2
    assert (metric.threshold, tcva_of(metric).scoring.threshold) == (0.2, 0.2)


def test_another_model_setting_is_another_fingerprint() -> None:
    # DeepEval's cache asks for it before every test case.
    llm = scripted()
    metric = TCVAMetric(model=llm)
    before = metric.criteria
    llm.temperature = 0.7
    assert metric.criteria != before
    assert TCVAMetric(model=llm).criteria == metric.criteria


def test_what_deepeval_sets_from_its_cache_is_taken() -> None:
    (copied,) = copy_metrics([TCVAMetric(model="lexical", threshold=0.7)])
    copied.score, copied.success = 0.8, True
    copied.threshold, copied.strict_mode, copied.evaluation_model = 0.7, False, "lexical/2"
    assert (copied.score, copied.threshold, copied.is_successful()) == (0.8, 0.7, True)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "TCVA faithfulness"),
        ({"temperature": 0.5, "threshold": 0.9, "strict_mode": True}, "TCVA faithfulness"),
        ({"temperature": "strict"}, "TCVA faithfulness (T=0.2)"),
        ({"criterion": "correctness", "temperature": 0.9}, "TCVA correctness (T=0.9)"),
        (
            {"scheme": "linear", "penalty": "off", "eps": 0.05, "floor": "always"},
            "TCVA faithfulness (scheme=linear, penalty=off, eps=0.05, floor=always)",
        ),
        ({"scheme": (1, 0.9, 0.7, 0.2, 0)}, "TCVA faithfulness (scheme=1/0.9/0.7/0.2/0)"),
        ({"scheme": (1, 0.9, 0.7, 0.3, 0)}, "TCVA faithfulness"),
        ({"on_unscored": 1, "max_claims": 3}, "TCVA faithfulness (on_unscored=1, max_claims=3)"),
        ({"temperature": 0.2, "name": "mine"}, "mine"),
    ],
)
def test_the_default_name_tells_the_settings(options: dict[str, Any], name: str) -> None:
    metric = TCVAMetric(**{"model": "lexical", **options})
    assert metric.__name__ == metric.name == name
    assert vars(copy_metrics([metric])[0])["name"] == name


def test_a_name_follows_the_settings_until_it_is_given() -> None:
    metric = TCVAMetric(model="lexical", temperature=0.2).changed(temperature=0.9)
    assert metric.name == "TCVA faithfulness (T=0.9)"
    named = metric.changed(name="mine").changed(temperature=0.3)
    assert named.name == "mine"


# Other copies


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_pythons_own_copies_work_with_clients_and_stores(
    again: Callable[[TCVAMetric], TCVAMetric], tmp_path: Path
) -> None:
    metric = TCVAMetric(model=scripted(HALF), store=tmp_path / "verdicts.sqlite", temperature=0.9)
    metric.measure(CASE)
    other = again(metric)
    assert (other.result, other.name, other.store) == (metric.result, metric.name, metric.store)
    strict = other.changed(temperature=0.1, collected=other.collected)
    assert strict.measure(CASE) != metric.score  # from the store
    assert len(metric.collected) == (1 if again is copy.deepcopy else 2)
    assert metric.store is not None
    metric.store.close()


def test_it_can_be_pickled() -> None:
    metric = TCVAMetric(model="lexical", temperature=0.2, name="mine")
    metric.measure(CASE)
    again = pickle.loads(pickle.dumps(metric))
    assert (again.result, again.score, again.name) == (metric.result, metric.score, "mine")
    assert again.changed(temperature=0.9).measure(CASE) != metric.score


def test_it_says_what_it_is() -> None:
    assert repr(TCVAMetric(model="lexical", temperature=0.2)) == (
        "TCVAMetric(name='TCVA faithfulness (T=0.2)', scorer=TCVA('faithfulness', "
        "judge='lexical/2', temperature=0.2, threshold=0.5))"
    )


@pytest.mark.parametrize("claims", ["split", "llm"])
@pytest.mark.parametrize("kind", [scripted, lambda: ScriptedModel([])], ids=["deepeval", "other"])
def test_a_copy_asks_for_claims_as_its_original(kind: Callable[[], Any], claims: Any) -> None:
    llm = kind()
    (copied,) = copy_metrics([TCVAMetric(model=llm, claims=claims, max_claims=4)])
    assert isinstance(copied, TCVAMetric)
    assert copied.model is llm
    parameters = tcva_of(copied).judge.parameters
    assert (parameters["claims"], parameters["max_claims"]) == (claims, 4)


def test_copies_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    metric = TCVAMetric(model="openai:m", claims="llm")
    (copied,) = copy_metrics([metric])
    assert isinstance(copied, TCVAMetric)
    ours, theirs = tcva_of(metric).judge, tcva_of(copied).judge
    assert isinstance(ours, ModelJudge)
    assert isinstance(theirs, ModelJudge)
    assert theirs.model is ours.model
    assert theirs.claims == "llm"


def test_a_judge_of_its_own_is_taken_as_it_is() -> None:
    judge = ModelJudge(ScriptedModel([]), claims="llm", max_claims=3)
    (copied,) = copy_metrics([TCVAMetric(model=judge)])
    assert isinstance(copied, TCVAMetric)
    assert tcva_of(copied).judge is judge


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
        ({"prompt": "compact"}, "compact"),
        ({"model": 7}, "unknown judge 7"),
        ({"scheme": (1, 0)}, "has 5 weights"),
        ({"scheme": (math.nan,) * 5}, "nan"),
        ({"strict_mode": True, "threshold": 7}, "threshold=7; it "),
        ({"strict_mode": True, "threshold": math.nan}, "threshold=nan; it "),
    ],
)
def test_wrong_options_fail_when_built(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**{"model": "lexical", **options})


WRONG: dict[str, list[Any]] = {
    "criterion": [None, True, 3],
    "threshold": [True, "0.5", math.nan, -1],
    "temperature": [None, True, math.nan, -1.0],
    "model": [True, [], b"lexical"],
    "scheme": [None, 3],
    "penalty": [None, True, 3],
    "eps": [None, True, math.nan, -1, 0],
    "floor": [None, True, 3],
    "bounds": [None, True, 3, {"p_low": -4}],
    "on_unscored": [True, "1", math.nan, -1],
    "claims": [None, True, 3],
    "prompt": [None, True, "short"],
    "verdicts": [None, True, "letters"],
    "samples": [None, True, math.nan, 0, 2.5],
    "yes_no_points": [None, True, (1.0, 0.9), (0.0, 0.3, 0.7, 0.9, 1.0)],
    "repeats": [None, True, math.nan, 0, 2.5],
    "evidence": [None, True, "lowered"],
    "max_claims": [None, True, math.nan, -1, 2.5],
    "store": [3, True, b"verdicts.sqlite"],
    "name": [3, True, "", " ", math.nan],
    "include_reason": [None, 1, "no", math.nan],
    "async_mode": [None, 0],
    "strict_mode": [None, 1, "yes"],
    "verbose_mode": [None, -1],
    "flaky": [None, "no"],
    "collected": [3, True, (), "results"],
    "fuse": [True, 3, "lexcial"],
    "fusion": [None, 3, "geometric"],
    "mapping": [3, "isotonic", [0, 1]],
    "profiles": [3, "domain", {}],
    "share": [None, 0],
    "max_concurrency": [None, 0],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_a_wrong_value_is_refused_when_built_and_when_set(name: str, value: Any) -> None:
    assert WRONG.keys() == TCVAMetric.setting_names
    said = re.escape(repr(value))
    with pytest.raises(InvalidValueError, match=said):
        TCVAMetric(**{"model": "lexical", name: value})
    metric = TCVAMetric(model="lexical", temperature=0.3)
    before = dict(vars(metric))
    with pytest.raises(InvalidValueError, match=said):
        setattr(metric, name, value)
    assert vars(metric) == before


def test_nothing_is_opened_for_wrong_options(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    with pytest.raises(InvalidValueError, match="flaky=3"):
        TCVAMetric(model="lexical", store=path, flaky=3)  # type: ignore[arg-type]  # wrong on purpose
    assert not path.exists()


def test_unknown_options_fail_when_built() -> None:
    unknown: dict[str, Any] = {"temprature": 0.5}
    with pytest.raises(InvalidValueError, match=r"'temprature' of TCVAMetric; .* temperature"):
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

"""CCRS over samples: calls, scores, failures, stores, batches."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import CCRS, TCVA, CCRSResult, Panel, Sample
from tcva_adapters.ccrs import METRICS, MetricAnswer, exact_match
from tcva_adapters.errors import InvalidValueError, JudgeError, UnreadableInputError
from tcva_adapters.models.judge_model import ModelReply
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.scale import judge_batch
from tests.ccrs.entries import SAMPLES, SCORES, asked_metric, judge
from tests.support.scripted import ScriptedModel

GOOD, MUTE, HALF = SAMPLES
FIVE = tuple(METRICS)


def answering(
    reply: Callable[[str], Any] = judge, name: str = "prompt:one"
) -> ScriptedModel:
    """A judge model whose text is a function of the prompt."""
    return ScriptedModel(lambda each: reply(f"{each.system}\n\n{each.user}"), name=name)


def many(ccrs: CCRS, samples: list[Sample], *, asynchronous: bool) -> list[CCRSResult]:
    if asynchronous:
        return asyncio.run(ccrs.aevaluate_many(samples))
    return ccrs.evaluate_many(samples)


both_faces = pytest.mark.parametrize("asynchronous", [False, True])


@both_faces
def test_scores_are_those_derived_by_hand(asynchronous: bool, tmp_path: Path) -> None:
    path, model = tmp_path / "verdicts.sqlite", answering()
    results = many(
        CCRS(judge=model, store=path), list(SAMPLES), asynchronous=asynchronous
    )
    assert [r.sample_id for r in results] == ["good", "mute", "half"]
    for result in results:
        assert result.scores == pytest.approx(SCORES[str(result.sample_id)], abs=1e-12)
    # One call per metric, and as many again for the sample that gets no number.
    assert sum(r.usage.calls for r in results) == len(model.requests) == 20
    asked = [asked_metric(each.system) for each in model.requests]
    assert {name: asked.count(name) for name in FIVE} == dict.fromkeys(FIVE, 4)
    assert {why.reason for why in results[1].unscored_by.values()} == {
        Reason.UNREADABLE_REPLY
    }
    # Lambda and the exact match are views: another setting finds the same ratings in the store.
    again = CCRS(judge=model, store=path, lambda_=0.2, em="normalised")
    second = many(again, [GOOD, HALF], asynchronous=asynchronous)
    assert all(a.from_store for r in second for a in r.answers.values())
    assert (len(model.requests), [r.usage.calls for r in second]) == (20, [0, 0])
    assert second[0].at(lambda_=0.7).scores["ac"] == results[0].scores["ac"]
    # The sample without a number is a failure, which is tried again.
    assert many(again, [MUTE], asynchronous=asynchronous)[0].scores == dict.fromkeys(
        FIVE
    )
    assert len(model.requests) == 30


def test_answer_correctness_shows_its_parts_and_its_lambda() -> None:
    result = CCRS("ac", judge=answering()).evaluate(GOOD)
    assert (result.exact, result.judged["ac"], result.em) == (True, 0.8, "strict")
    scores = [result.at(lambda_=x).scores["ac"] for x in (0.0, 0.7, 1.0)]
    assert scores == [0.8, pytest.approx(0.7 + 0.3 * 0.8, abs=1e-12), 1.0]
    assert (
        "0.940 by prompt:one: exact match (strict, weight 0.7)" in result.reasons["ac"]
    )
    loud = GOOD.model_copy(update={"response": "AT NINE."})
    modes = [
        CCRS("ac", judge=ScriptedModel(["80"]), em=em)
        for em in ("strict", "normalised")
    ]
    assert [each.evaluate(loud).exact for each in modes] == [False, True]
    for wrong in (-0.1, 1.1, "much", True):
        with pytest.raises(InvalidValueError, match="lambda_"):
            result.at(lambda_=wrong)  # type: ignore[arg-type]  # refused


@pytest.mark.parametrize(("metric", "change", "found"), [
    (FIVE, {"response": " \n", "reference": " \n"}, 0.0),
    ("cc", {"contexts": (" ",)}, Reason.EMPTY_CONTEXT),
    ("qr", {"input": ""}, Reason.EMPTY_INPUT),
    ("id", {"input": " "}, Reason.EMPTY_INPUT),
    (("ac", "ir"), {"reference": ""}, Reason.EMPTY_REFERENCE),
])  # fmt: skip
def test_without_a_judge(
    metric: Any, change: dict[str, object], found: Reason | float
) -> None:
    result = CCRS(metric, judge=ScriptedModel([])).evaluate(
        GOOD.model_copy(update=change)
    )
    said = {name: result.unscored_by.get(name) for name in result.answers}
    assert {
        result.scores[n] if why is None else why.reason for n, why in said.items()
    } == {found}
    assert result.usage.calls == 0


def test_a_missing_field_unscores_its_metrics_alone() -> None:
    model = answering()
    result = CCRS(judge=model).evaluate(GOOD.model_copy(update={"reference": None}))
    reasons = {name: why.reason for name, why in result.unscored_by.items()}
    assert reasons == dict.fromkeys(("ac", "ir"), Reason.MISSING_FIELD)
    assert "no reference, which ac needs" in result.reasons["ac"]
    assert (result.scores["qr"], result.exact, len(model.requests)) == (0.9, None, 3)
    # Passages that only help may be none.
    bare = CCRS(("id", "ac", "ir"), judge=model).evaluate(
        GOOD.model_copy(update={"contexts": ()})
    )
    assert bare.unscored_by == {}


@both_faces
def test_a_failed_call_is_a_value_and_costs_the_others_nothing(
    asynchronous: bool,
) -> None:
    def reply(prompt: str) -> Any:
        if METRICS["qr"].instruction in prompt:
            return JudgeError("slow down", reason="rate_limit")
        return judge(prompt)

    results = many(
        CCRS(judge=answering(reply)), [GOOD, HALF], asynchronous=asynchronous
    )
    for result in results:
        assert result.unscored_by["qr"].reason is Reason.RATE_LIMIT
        assert result.scores == pytest.approx(
            {**SCORES[str(result.sample_id)], "qr": None}
        )


def test_a_second_call_that_fails_keeps_the_first_reply() -> None:
    model = ScriptedModel(["fine", JudgeError("wrong key", fatal=True)])
    why = CCRS("qr", judge=model).evaluate(GOOD).unscored_by["qr"]
    assert (why.reason, why.raw_reply, why.fatal) == (Reason.JUDGE_ERROR, "fine", True)
    assert why.detail == "wrong key"


def test_a_reply_that_was_cut_off_is_not_believed() -> None:
    model = ScriptedModel([ModelReply("8", truncated=True), "9"])
    result = CCRS("qr", judge=model).evaluate(GOOD)
    assert (result.scores, result.usage.calls) == ({"qr": 0.09}, 2)


def test_keys_hold_what_can_change_a_rating_and_nothing_else(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")

    def calls(metric: str = "qr", name: str = "prompt:one", **changes: Any) -> int:
        model = answering(lambda _: "5", name=name)
        CCRS(metric, judge=model, store=store).evaluate(GOOD.model_copy(update=changes))
        return len(model.requests)

    assert [calls(), calls(), calls(id="x", contexts=("y",), reference="z")] == [
        1,
        0,
        0,
    ]
    assert [
        calls(input="Other?"),
        calls(response="Other."),
        calls(name="prompt:two"),
    ] == [1, 1, 1]
    assert [calls("id"), calls("id"), calls("id", contexts=("y",))] == [1, 0, 1]


def test_one_file_holds_verdicts_and_ratings(tmp_path: Path) -> None:
    path = tmp_path / "both.sqlite"
    TCVA(judge="lexical", store=path).evaluate(GOOD)
    CCRS(("qr", "ir"), judge="lexical", store=path).evaluate(GOOD)
    assert TCVA(judge="lexical", store=path).evaluate(GOOD).assessment.from_store
    assert (
        CCRS("qr", judge="lexical", store=path).evaluate(GOOD).answers["qr"].from_store
    )


def test_a_failure_comes_before_a_field_that_is_missing() -> None:
    wrong = JudgeError("wrong key", reason="authentication", fatal=True)
    ccrs = CCRS(("cc", "qr"), judge=ScriptedModel([wrong, wrong]))
    (result,) = ccrs.evaluate_many([GOOD.model_copy(update={"contexts": None})])
    assert result.unscored_by["cc"].reason is Reason.MISSING_FIELD
    assert result.unscored == result.unscored_by["qr"]
    with pytest.raises(JudgeError, match="wrong key"):
        judge_batch({"question": ["Who?"], "answer": ["Ada."]}, settings=ccrs)


def test_results_come_back_from_json_and_what_cannot_be_is_refused() -> None:
    sample = MUTE.model_copy(update={"metadata": {"domain": "office", "odd": {1, 2}}})
    result = CCRS(judge=answering()).evaluate(sample)
    line = result.to_json()
    again = CCRSResult.from_json(line)
    assert json.loads(line)["scores"] == dict.fromkeys(FIVE)
    assert (again.answers, again.metadata["domain"]) == (result.answers, "office")
    assert CCRSResult.from_json(again.to_json()) == again
    for wrong in (
        "",
        "[]",
        "{}",
        "{",
        line.replace('"schema_version": 4', '"schema_version": 9'),
    ):
        with pytest.raises(UnreadableInputError, match="not a CCRS result"):
            CCRSResult.from_json(wrong)
    plain = json.loads(CCRS("qr", judge=answering()).evaluate(GOOD).to_json())
    answer = plain["answers"]["qr"]
    for changes, said in (
        ({"lambda_": 5}, "lambda_"),
        ({"answers": {"zz": answer}}, "zz"),
        (
            {"answers": {"qr": {**answer, "rating": None}}},
            "either a rating or a reason",
        ),
    ):
        with pytest.raises(UnreadableInputError, match=said):
            CCRSResult.from_json(json.dumps({**plain, **changes}))


@pytest.mark.parametrize(("options", "said"), [
    ({"metrics": ("qr", "nope")}, r"one or more of cc \(contextual coherence\).*got \('qr', 'nope'\)"),
    ({"metrics": ("qr", "qr")}, r"at most once, got \('qr', 'qr'\)"),
    ({"metrics": ()}, r"cc \(contextual coherence\), qr .*got \(\)"),
    ({"metrics": replace(METRICS["qr"], instruction="Otherwise.")}, r"got Metric\(name='qr'"),
    ({"em": "loose"}, "em must be 'strict' or 'normalised', got 'loose'"),
    ({"lambda_": 1.5}, "lambda_ .*got 1.5"), ({"suite": True}, "unknown setting 'suite'"),
    ({"judge": "nobody"}, "unknown judge"),
    ({"judge": Panel(["lexical", answering()])}, "gives no ratings"),
])  # fmt: skip
def test_wrong_settings_are_refused_before_any_call(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidValueError, match=said):
        CCRS(**options)


def result(**ratings: float | None) -> CCRSResult:
    why = Unscored(reason=Reason.UNREADABLE_REPLY, detail="words")
    failed = {name: why if rating is None else None for name, rating in ratings.items()}
    answers = {
        n: MetricAnswer(rating=ratings[n], unscored=each) for n, each in failed.items()
    }
    return CCRSResult(judge="j", prompt_version="1", answers=answers)


CASES = [
    ("Paris", "Paris", True, True),
    ("Paris.", "paris", False, True),
    ("The  Nile", "nile", False, True),
    ("an apple", "apple", False, True),
    ("Paris ", "Paris", False, True),
    ("state-of-the-art", "stateoftheart", False, True),
    ("anthem", "them", False, False),
    ("Paris, France", "Paris", False, False),
    ("10.5", "105", False, True),  # the price of looking past punctuation
    ("", "", False, False),  # an empty response is no answer
    (" ", " ", False, False),
    ("The", "a", False, False),  # nothing is left of either, which is no match
    ("The", "The", True, True),
    ("STRASSE", "straße", False, True),
]


def test_exact_match() -> None:
    for one, other, strict, normalised in CASES:
        found = (exact_match(one, other), exact_match(one, other, "normalised"))
        assert found == (strict, normalised), (one, other)


@given(st.text(), st.text())
def test_strict_is_equality_and_normalised_never_refuses_what_it_accepts(
    a: str, b: str
) -> None:
    assert exact_match(a, b) == (a == b and bool(a.strip()))
    assert exact_match(a, b, "normalised") == exact_match(b, a, "normalised")
    if exact_match(a, b):
        assert exact_match(a, b, "normalised")

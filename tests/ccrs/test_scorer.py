"""CCRS over samples: calls, scores, failures, stores, batches; against models and a real server."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS, METRICS, CCRSResult
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    JudgeError,
    UnreadableInputError,
)
from tcva_adapters.judges.panel import Panel
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.scale import judge_batch
from tests.ccrs.entries import SAMPLES, SCORES, judge
from tests.support import server
from tests.support.scripted import ScriptedModel
from tests.support.server import Body, ScriptedServer

GOOD, MUTE, HALF = SAMPLES
FIVE = tuple(METRICS)


class PromptModel:
    """A judge model whose text is a function of the prompt."""

    def __init__(self, reply: Callable[[str], str] = judge, name: str = "prompt:one") -> None:
        self.name = name
        self.parameters = {"seed": 0}
        self.requests: list[JudgeRequest] = []
        self._reply = reply
        self._lock = threading.Lock()

    def complete(self, request: JudgeRequest) -> ModelReply:
        with self._lock:
            self.requests.append(request)
        text = self._reply(f"{request.system}\n\n{request.user}")
        return ModelReply(text, input_tokens=10, output_tokens=5)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        await asyncio.sleep(0)
        return self.complete(request)


def many(ccrs: CCRS, samples: list[Sample], *, asynchronous: bool) -> list[CCRSResult]:
    if asynchronous:
        return asyncio.run(ccrs.aevaluate_many(samples))
    return ccrs.evaluate_many(samples)


both_faces = pytest.mark.parametrize("asynchronous", [False, True])
both_protocols = pytest.mark.parametrize("suite", [False, True])


@both_faces
@both_protocols
def test_scores_are_those_derived_by_hand(suite: bool, asynchronous: bool) -> None:
    model = PromptModel()
    results = many(CCRS(judge=model, suite=suite), list(SAMPLES), asynchronous=asynchronous)
    assert [r.sample_id for r in results] == ["good", "mute", "half"]
    for result in results:
        assert result.scores == pytest.approx(SCORES[str(result.sample_id)])
        assert result.protocol == ("suite" if suite else "single")
    # One call per metric or one for all, and as many again for the sample that gets no number.
    assert len(model.requests) == (4 if suite else 20)
    assert sum(r.usage.calls for r in results) == len(model.requests)
    mute = results[1]
    assert {why.reason for why in mute.unscored_by.values()} == {Reason.UNREADABLE_REPLY}


def test_answer_correctness_shows_its_parts_and_its_dial() -> None:
    result = CCRS("ac", judge=PromptModel()).evaluate(GOOD)
    assert (result.exact, result.judged("ac"), result.em) == (True, 0.8, "strict")
    assert result.scores["ac"] == pytest.approx(0.7 + 0.3 * 0.8)
    assert result.at(lambda_=0.0).scores["ac"] == 0.8
    assert result.at(lambda_=1.0).scores["ac"] == 1.0
    assert result.reasons["ac"] == (
        "answer correctness 0.940 by prompt:one: exact match (strict, weight 0.7), judged 0.800"
    )
    loud = GOOD.model_copy(update={"response": "AT NINE."})
    strict, loose = (
        CCRS("ac", judge=PromptModel(lambda _: "80"), em=em).evaluate(loud)
        for em in ("strict", "normalised")
    )
    assert (strict.exact, loose.exact) == (False, True)
    for wrong in (-0.1, 1.1, "much", True):
        with pytest.raises(InvalidValueError, match="lambda_"):
            result.at(lambda_=wrong).scores["ac"]  # type: ignore[arg-type]  # refused
    with pytest.raises(InvalidValueError, match="no metric 'qr'"):
        result.judged("qr")


@both_protocols
@pytest.mark.parametrize("response", ["", " \n"])
def test_an_empty_response_scores_zero_without_a_call(response: str, suite: bool) -> None:
    model = PromptModel()
    sample = GOOD.model_copy(update={"response": response, "reference": response or "x"})
    result = CCRS(judge=model, suite=suite).evaluate(sample)
    assert result.scores == dict.fromkeys(FIVE, 0.0)
    assert (model.requests, result.usage.calls, result.unscored_by) == ([], 0, {})


@both_protocols
def test_a_missing_field_unscores_its_metrics_alone(suite: bool) -> None:
    model = PromptModel()
    sample = GOOD.model_copy(update={"reference": None})
    result = CCRS(judge=model, suite=suite).evaluate(sample)
    assert {name: why.reason for name, why in result.unscored_by.items()} == {
        "ac": Reason.MISSING_FIELD,
        "ir": Reason.MISSING_FIELD,
    }
    assert result.scores["qr"] == 0.9
    assert "no reference, which ac needs" in result.reasons["ac"]
    assert len(model.requests) == (1 if suite else 3)
    assert result.exact is None


@pytest.mark.parametrize(
    ("metric", "field", "value", "reason"),
    [
        ("cc", "contexts", (), Reason.EMPTY_CONTEXT),
        ("cc", "contexts", (" ",), Reason.EMPTY_CONTEXT),
        ("qr", "input", "", Reason.EMPTY_INPUT),
        ("id", "input", " ", Reason.EMPTY_INPUT),
        ("ac", "reference", "", Reason.EMPTY_REFERENCE),
        ("ir", "reference", "", Reason.EMPTY_REFERENCE),
    ],
)
def test_nothing_is_rated_against_nothing(
    metric: str, field: str, value: object, reason: Reason
) -> None:
    model = PromptModel()
    result = CCRS(metric, judge=model).evaluate(GOOD.model_copy(update={field: value}))
    assert result.unscored_by[metric].reason is reason
    assert model.requests == []


def test_passages_that_only_help_may_be_none() -> None:
    result = CCRS(("id", "ac", "ir"), judge=PromptModel()).evaluate(
        GOOD.model_copy(update={"contexts": ()})
    )
    assert result.unscored_by == {}


@both_faces
def test_a_failed_call_is_a_value_and_costs_the_others_nothing(asynchronous: bool) -> None:
    def reply(prompt: str) -> str:
        if METRICS["qr"].wording in prompt:
            msg = "slow down"
            raise JudgeError(msg, reason="rate_limit")
        return judge(prompt)

    results = many(CCRS(judge=PromptModel(reply)), [GOOD, HALF], asynchronous=asynchronous)
    for result in results:
        assert result.unscored_by["qr"].reason is Reason.RATE_LIMIT
        assert {n: s for n, s in result.scores.items() if n != "qr"} == pytest.approx(
            {n: s for n, s in SCORES[str(result.sample_id)].items() if n != "qr"}
        )


def test_a_second_call_that_fails_keeps_the_first_reply() -> None:
    model = ScriptedModel(["fine", JudgeError("wrong key", fatal=True)])
    why = CCRS("qr", judge=model).evaluate(GOOD).unscored_by["qr"]
    assert (why.reason, why.raw_reply, why.fatal) == (Reason.UNREADABLE_REPLY, "fine", True)
    assert "the further call failed: wrong key" in why.detail


def test_a_reply_that_was_cut_off_is_not_believed() -> None:
    class Cut(PromptModel):
        def complete(self, request: JudgeRequest) -> ModelReply:
            self.requests.append(request)
            return ModelReply("8", truncated=len(self.requests) == 1)

    result = CCRS("qr", judge=Cut()).evaluate(GOOD)
    assert (result.scores, result.usage.calls) == ({"qr": 0.08}, 2)


def test_a_suite_keeps_what_it_got_and_asks_for_the_rest() -> None:
    model = ScriptedModel(['{"cc":90,"qr":80,"id":"?","ac":50}', '{"id":40}'])
    result = CCRS(judge=model, suite=True).evaluate(HALF)
    assert result.scores == pytest.approx(
        {"cc": 0.9, "qr": 0.8, "id": 0.4, "ac": 0.3 * 0.5, "ir": None}
    )
    assert result.unscored_by["ir"].detail == "it has no ir"
    assert list(model.requests[1].schema["properties"]) == ["id", "ir"]
    assert (result.usage.calls, result.usage.input_tokens) == (2, 20)


@both_faces
@both_protocols
def test_a_fatal_failure_ends_the_calls_and_not_the_batch(suite: bool, asynchronous: bool) -> None:
    samples = [GOOD.model_copy(update={"response": f"Answer {n}."}) for n in range(30)]
    with ScriptedServer(server.in_turn(server.WRONG_KEY)) as local:
        model = OpenAICompatibleModel("m", base_url=local.base_url, api_key="k", max_retries=0)
        ccrs = CCRS(judge=model, suite=suite, max_concurrency=2)
        results = many(ccrs, samples, asynchronous=asynchronous)
        assert local.count <= 4
    assert len(results) == 30
    for result in results:
        assert result.scores == dict.fromkeys(FIVE)
        assert all(why.fatal for why in result.unscored_by.values())


def test_calls_per_sample_at_a_real_server() -> None:
    def script(body: Body, _n: int) -> str:
        return judge("\n\n".join(message["content"] for message in body["messages"]))

    samples = [
        sample.model_copy(
            update={"input": f"{sample.input} {n}", "reference": f"r{n}", "contexts": (f"c{n}",)}
        )
        for n in range(4)
        for sample in (GOOD, HALF)
    ]
    counts = {}
    with ScriptedServer(script) as local:
        model = OpenAICompatibleModel("m", base_url=local.base_url)
        for suite in (False, True):
            before = local.count
            results = CCRS(judge=model, suite=suite).evaluate_many(samples)
            assert all(not result.unscored_by for result in results)
            counts[suite] = (local.count - before) / len(samples)
        form = local.bodies[0]["response_format"]["json_schema"]
    assert counts == {False: 5.0, True: 1.0}
    assert form["name"] == "ccrs_score"
    assert form["schema"]["required"] == ["score"]


@both_faces
def test_equal_questions_are_asked_once(asynchronous: bool) -> None:
    model = PromptModel()
    # The same question and answer with other passages: QR does not look at those.
    other = GOOD.model_copy(
        update={"id": "other", "contexts": ("Elsewhere.",), "metadata": {"k": 1}}
    )
    first, second = many(CCRS(("qr", "cc"), judge=model), [GOOD, other], asynchronous=asynchronous)
    assert len(model.requests) == 3
    assert (first.usage.calls, second.usage.calls) == (2, 1)
    assert (second.scores["qr"], second.sample_id, second.metadata) == (0.9, "other", {"k": 1})


@both_faces
@both_protocols
def test_the_store_serves_what_was_rated_before(
    tmp_path: Path, suite: bool, asynchronous: bool
) -> None:
    path = tmp_path / "verdicts.sqlite"
    model = PromptModel()
    ccrs = CCRS(judge=model, suite=suite, store=path)
    first = many(ccrs, list(SAMPLES), asynchronous=asynchronous)
    calls = len(model.requests)
    # λ and the exact match are views: another setting finds the same ratings.
    again = CCRS(judge=model, suite=suite, store=path, lambda_=0.2, em="normalised")
    second = many(again, [GOOD, HALF], asynchronous=asynchronous)
    assert len(model.requests) == calls
    assert all(a.from_store for r in second for a in r.answers.values())
    assert [r.usage.calls for r in second] == [0, 0]
    assert second[0].at(lambda_=0.7).scores["ac"] == first[0].scores["ac"]
    # The sample without a number is a failure, which is tried again.
    assert many(again, [MUTE], asynchronous=asynchronous)[0].scores == dict.fromkeys(FIVE)
    assert len(model.requests) > calls


def test_keys_hold_what_can_change_a_rating_and_nothing_else(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    CCRS("qr", judge=PromptModel(), store=store).evaluate(GOOD)

    def calls(sample: Sample = GOOD, *, name: str = "prompt:one", **options: Any) -> int:
        model = PromptModel(lambda _: '{"score": 5, "qr": 5, "cc": 5}', name=name)
        CCRS(options.pop("metrics", "qr"), judge=model, store=store, **options).evaluate(sample)
        return len(model.requests)

    assert calls() == 0
    assert calls(GOOD.model_copy(update={"id": "x", "contexts": ("y",), "reference": "z"})) == 0
    assert calls(GOOD.model_copy(update={"input": "Other?"})) == 1
    assert calls(GOOD.model_copy(update={"response": "Other."})) == 1
    assert calls(name="prompt:two") == 1
    assert calls(suite=True) == 1
    assert calls(suite=True, metrics=("qr", "cc")) == 1
    assert calls(suite=True, metrics=("qr", "cc")) == 0


def test_one_file_holds_verdicts_and_ratings(tmp_path: Path) -> None:
    path = tmp_path / "both.sqlite"
    TCVA(judge="lexical", store=path).evaluate(GOOD)
    CCRS(("qr", "ir"), judge="lexical", store=path).evaluate(GOOD)
    with VerdictStore(path) as store:
        assert store.counts() == {"scored": 1, "unscored": 0, "failed": 0}
    assert TCVA(judge="lexical", store=path).evaluate(GOOD).assessment.from_store
    assert CCRS("qr", judge="lexical", store=path).evaluate(GOOD).answers["qr"].from_store


def test_a_suite_asks_only_for_what_the_store_lacks(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    replies = ['{"cc":90,"qr":"?"}', "no", '{"qr":80}']
    model = ScriptedModel(replies)
    ccrs = CCRS(("cc", "qr"), judge=model, suite=True, store=store)
    assert ccrs.evaluate(GOOD).scores == {"cc": 0.9, "qr": None}
    assert ccrs.evaluate(GOOD).scores == {"cc": 0.9, "qr": 0.8}
    assert list(model.requests[2].schema["properties"]) == ["qr"]
    # The key says that both were asked together, so the judge sees both again.
    assert model.requests[2].system.count("contextual coherence") == 1
    assert model.requests[2].system.partition("REPLY")[0] in model.requests[0].system


def test_what_was_paid_for_is_kept_beside_a_failure_that_ends_the_calls(tmp_path: Path) -> None:
    failed = threading.Event()

    def reply(prompt: str) -> str:
        if "half" in prompt:
            failed.set()
            msg = "wrong key"
            raise JudgeError(msg, fatal=True)
        assert failed.wait(5)
        time.sleep(0.05)  # the failure is known by the time that this call ends
        return "90"

    half = GOOD.model_copy(update={"response": "half"})
    store = VerdictStore(tmp_path / "v.sqlite")
    ccrs = CCRS("qr", judge=PromptModel(reply), store=store, max_concurrency=2)
    good, bad = ccrs.evaluate_many([GOOD, half])
    assert (good.scores, bad.unscored_by["qr"].fatal) == ({"qr": 0.9}, True)
    assert CCRS("qr", judge=PromptModel(), store=store).evaluate(GOOD).usage.calls == 0


def test_a_failure_is_told_before_a_field_that_is_missing() -> None:
    wrong = JudgeError("wrong key", reason="authentication", fatal=True)
    ccrs = CCRS(("cc", "qr"), judge=ScriptedModel([wrong, wrong]))
    (result,) = ccrs.evaluate_many([GOOD.model_copy(update={"contexts": None})])
    assert result.unscored_by["cc"].reason is Reason.MISSING_FIELD
    assert result.unscored == result.unscored_by["qr"]
    batch = {"question": ["Who?"], "answer": ["Ada."]}
    with pytest.raises(JudgeError, match="wrong key"):
        judge_batch(batch, settings=ccrs)


def test_parameters_that_are_no_json_are_named() -> None:
    model = PromptModel()
    model.parameters = {"stop": {"a", "b"}}  # type: ignore[dict-item]  # what the test is about
    with pytest.raises(InvalidValueError, match="parameters of a judgement must be JSON values"):
        CCRS("qr", judge=model).evaluate(GOOD)


def test_a_damaged_record_is_asked_again(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    model = PromptModel()
    ccrs = CCRS("qr", judge=model, store=store)
    metric = METRICS["qr"]
    store.put_record(ccrs.key(GOOD, metric, [metric]), "{broken", failed=False)
    assert ccrs.evaluate(GOOD).scores == {"qr": 0.9}
    assert len(model.requests) == 1


@both_faces
def test_a_broken_store_costs_the_store_alone(tmp_path: Path, asynchronous: bool) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    store.close()
    ccrs = CCRS("qr", judge=PromptModel(), store=store)
    with pytest.warns(RuntimeWarning, match="the verdict store failed"):
        (result,) = many(ccrs, [GOOD], asynchronous=asynchronous)
    assert result.scores == {"qr": 0.9}


def test_a_framework_s_context_reaches_the_calls_in_threads() -> None:
    seen: list[str] = []
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="lost")

    def reply(prompt: str) -> str:
        seen.append(variable.get())
        return judge(prompt)

    token = variable.set("here")
    try:
        CCRS(judge=PromptModel(reply)).evaluate_many([GOOD, HALF])
    finally:
        variable.reset(token)
    assert seen == ["here"] * 10


def test_results_come_back_from_json() -> None:
    sample = MUTE.model_copy(update={"metadata": {"domain": "office", "odd": {1, 2}}})
    result = CCRS(judge=PromptModel()).evaluate(sample)
    line = result.to_json()
    plain = json.loads(line)
    assert plain["scores"] == dict.fromkeys(FIVE)
    again = CCRSResult.from_json(line)
    assert again.answers == result.answers
    assert again.metadata["domain"] == "office"
    assert CCRSResult.from_json(again.to_json()) == again
    for wrong in ("", "[]", "{}", "{", line.replace('"schema_version": 3', '"schema_version": 9')):
        with pytest.raises(UnreadableInputError, match="not a CCRS result"):
            CCRSResult.from_json(wrong)


def test_results_that_cannot_be_are_refused() -> None:
    plain = json.loads(CCRS("qr", judge=PromptModel()).evaluate(GOOD).to_json())
    answer = plain["answers"]["qr"]
    for wrong, said in (
        ({"lambda_": 5}, "lambda_"),
        ({"answers": {"zz": {**answer, "metric": "zz"}}}, "unknown metric 'zz'"),
        ({"answers": {"cc": answer}}, "the answer of 'qr' stands under 'cc'"),
        ({"answers": {"qr": {**answer, "rating": None}}}, "not both or neither"),
    ):
        with pytest.raises(UnreadableInputError, match=said):
            CCRSResult.from_json(json.dumps({**plain, **wrong}))


def test_settings_may_be_numbers_of_numpy() -> None:
    half: Any = np.float32(0.5)
    assert CCRS("ac", judge="lexical", lambda_=half).lambda_ == 0.5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metrics": ("qr", "nope")}, "unknown metric 'nope'"),
        ({"metrics": ()}, "at least one"),
        ({"em": "loose"}, "it should be 'strict' or 'normalised'"),
        ({"lambda_": 1.5}, "lambda_=1.5"),
        ({"max_concurrency": 0}, "max_concurrency=0"),
        ({"max_concurrency": "8"}, "max_concurrency='8'"),
        ({"store": 7}, "store=7"),
        ({"suite": "yes"}, "suite='yes'"),
        ({"metrics": replace(METRICS["qr"], name="mine")}, "unknown metric 'mine'"),
        ({"metrics": replace(METRICS["qr"], wording="Otherwise.")}, "unknown metric 'qr'"),
        ({"suite": True}, "the lexical judge makes none"),
        ({"judge": "nobody"}, "unknown judge"),
        ({"judge": Panel(["lexical", PromptModel()])}, "cannot be asked for a number"),
    ],
)
def test_wrong_settings_are_refused_before_any_call(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        CCRS(**options)


def test_what_is_no_sample_is_refused() -> None:
    wrong: Any = {"input": "Q?"}
    with pytest.raises(InvalidSampleError, match=r"Sample\.from_record"):
        CCRS(judge="lexical").evaluate(wrong)
    assert CCRS(judge="lexical").evaluate_many([]) == []
    assert "judge='lexical/ccrs-1'" in repr(CCRS("qr", judge="lexical"))

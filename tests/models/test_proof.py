"""A failure stays with its sample: what ends a run, and what does not, over every kind of model."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.ccrs import CCRS
from tcva_adapters.errors import JudgeError
from tcva_adapters.judging.panel import Panel
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.proof import acomplete, complete
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tests.support.server import (
    DROP,
    NO_MODEL,
    WRONG_KEY,
    Answer,
    ScriptedServer,
    auto_judge,
    error,
)

REQUEST = JudgeRequest("be strict", "claim 1", {"type": "object"}, "verdicts")
SAMPLES = [
    Sample(
        id=str(n), response=f"The office number {n} is open.", contexts=(f"Office {n} is open.",)
    )
    for n in range(12)
]
ODD = "number 0 "
"""In the prompt of the first sample alone."""

Ask = Callable[[Any], ModelReply]


def _acomplete(model: Any) -> ModelReply:
    return asyncio.run(acomplete(model, REQUEST))


faces = pytest.mark.parametrize("ask", [lambda model: complete(model, REQUEST), _acomplete])


class Model:
    """Fails as told for questions with these words, and for the neutral one where told so."""

    parameters: Mapping[str, Any] = {}
    name = "scripted:m"

    def __init__(
        self, failure: BaseException, *, on: str = "", neutral: Exception | None = None
    ) -> None:
        self.failure = failure
        self.on = on
        self.neutral = neutral
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def complete(self, request: JudgeRequest) -> ModelReply:
        with self._lock:
            self.asked["neutral" if request is NEUTRAL else "sample"] += 1
        if request is NEUTRAL:
            if self.neutral is not None:
                raise self.neutral
            return ModelReply('{"ok": true}')
        if self.on in request.user:
            raise self.failure
        return ModelReply(
            auto_judge({"messages": [{"content": request.user}]}, 1),
            input_tokens=1,
            output_tokens=1,
        )

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        await asyncio.sleep(0.01)
        return self.complete(request)


class ForbiddenError(Exception):
    status_code = 403


class MissingError(Exception):
    status_code = 404


class UnauthorizedError(Exception):
    status_code = 401


class PaymentError(Exception):
    status_code = 402


class SpentError(Exception):
    status_code = 429
    code = "insufficient_quota"


def refused() -> Exception:
    """As packages raise it for an address where nobody listens."""
    outer: Exception = type("APIConnectionError", (Exception,), {})("Connection error.")
    outer.__cause__ = ConnectionRefusedError(111, "refused")
    return outer


SUSPICIONS = [ForbiddenError("no"), MissingError("no page"), refused()]


@faces
@pytest.mark.parametrize("failure", SUSPICIONS, ids=repr)
def test_a_suspicion_that_a_neutral_question_denies_is_the_samples(
    ask: Ask, failure: Exception
) -> None:
    model = Model(failure)
    for _ in range(3):
        with pytest.raises(JudgeError) as caught:
            ask(model)
        assert not caught.value.fatal
        assert caught.value.__cause__ is failure
    assert model.asked == {"sample": 3, "neutral": 1}  # what it proved is remembered


@faces
@pytest.mark.parametrize("failure", SUSPICIONS, ids=repr)
def test_a_suspicion_that_a_neutral_question_shares_is_fatal_and_says_so(
    ask: Ask, failure: Exception
) -> None:
    with pytest.raises(JudgeError, match="a question without the sample failed, too") as caught:
        ask(Model(failure, neutral=failure))
    assert caught.value.fatal


@faces
@pytest.mark.parametrize("failure", SUSPICIONS, ids=repr)
def test_a_model_that_has_answered_is_not_suspected(ask: Ask, failure: Exception) -> None:
    model = Model(failure, on="nothing", neutral=failure)
    ask(model)
    model.on = ""
    with pytest.raises(JudgeError) as caught:
        ask(model)
    assert not caught.value.fatal
    assert "neutral" not in model.asked


@faces
def test_a_neutral_question_that_fails_otherwise_proves_nothing(ask: Ask) -> None:
    model = Model(ForbiddenError("no"), neutral=TimeoutError("late"))
    with pytest.raises(JudgeError) as caught:
        ask(model)
    assert (caught.value.reason, caught.value.fatal) == ("permission", False)


@faces
def test_a_neutral_question_that_meets_a_wrong_key_says_it(ask: Ask) -> None:
    model = Model(ForbiddenError("no"), neutral=UnauthorizedError("wrong key"))
    with pytest.raises(JudgeError, match="wrong key") as caught:
        ask(model)
    assert caught.value.fatal


@faces
@pytest.mark.parametrize(
    "failure", [UnauthorizedError("x"), PaymentError("x"), SpentError("x")], ids=repr
)
def test_what_refuses_everybody_is_fatal_at_once(ask: Ask, failure: Exception) -> None:
    model = Model(failure)
    with pytest.raises(JudgeError) as caught:
        ask(model)
    assert caught.value.fatal
    assert "neutral" not in model.asked


@faces
@pytest.mark.parametrize(
    "failure",
    [
        ConnectionResetError("gone"),
        TimeoutError("late"),
        type("InternalServerError", (Exception,), {"status_code": 500})("the model was not found"),
        type("BadGateway", (Exception,), {"status_code": 520})("invalid api key"),
        FileNotFoundError("no such prompt"),
        ValueError("insufficient_quota"),
    ],
    ids=repr,
)
def test_what_holds_for_the_moment_is_never_fatal(ask: Ask, failure: Exception) -> None:
    model = Model(failure, neutral=failure)
    with pytest.raises(JudgeError) as caught:
        ask(model)
    assert not caught.value.fatal
    assert "neutral" not in model.asked


@faces
def test_something_that_is_no_reply_is_fatal_where_every_reply_is_none(ask: Ask) -> None:
    class Odd(Model):
        def complete(self, request: JudgeRequest) -> Any:
            reply = super().complete(request)
            return reply.text if request is NEUTRAL and self.neutral else None

    with pytest.raises(JudgeError, match=r"NoneType.*ModelReply.*without the sample") as caught:
        ask(Odd(ValueError(), on="never"))
    assert caught.value.fatal


def test_suspicions_at_the_same_time_share_one_neutral_question() -> None:
    model = Model(ForbiddenError("no"), neutral=ForbiddenError("no"))
    tcva = TCVA(judge=model, max_concurrency=8)
    results = asyncio.run(tcva.aevaluate_many(SAMPLES))
    assert all(_why(result).fatal for result in results)
    assert model.asked["neutral"] == 1
    assert model.asked["sample"] <= 8


@faces
def test_a_cancellation_inside_the_model_is_its_failure(ask: Ask) -> None:
    with pytest.raises(JudgeError, match="CancelledError") as caught:
        ask(Model(asyncio.CancelledError("a task of its own")))
    assert not caught.value.fatal


def test_a_cancellation_inside_the_model_costs_its_sample_alone() -> None:
    tcva = TCVA(judge=Model(asyncio.CancelledError(), on=ODD))
    for many in (tcva.evaluate_many(SAMPLES), asyncio.run(tcva.aevaluate_many(SAMPLES))):
        assert _scored(many) == len(SAMPLES) - 1


def test_who_cancels_the_asker_is_obeyed() -> None:
    class Slow(Model):
        async def acomplete(self, request: JudgeRequest) -> ModelReply:
            await asyncio.sleep(60)
            return await super().acomplete(request)

    async def cancelled() -> None:
        asking = asyncio.create_task(acomplete(Slow(ValueError()), REQUEST))
        await asyncio.sleep(0.01)
        asking.cancel()
        await asking

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def _why(result: Result) -> Any:
    assert result.unscored is not None
    return result.unscored


def _scored(results: Sequence[Result]) -> int:
    return sum(result.score is not None for result in results)


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("failure", SUSPICIONS, ids=repr)
def test_a_batch_goes_on_behind_the_first_sample_that_is_refused(
    concurrency: int, asynchronous: bool, failure: Exception
) -> None:
    tcva = TCVA(judge=Model(failure, on=ODD), max_concurrency=concurrency)
    many = (
        asyncio.run(tcva.aevaluate_many(SAMPLES)) if asynchronous else tcva.evaluate_many(SAMPLES)
    )
    assert _scored(many) == len(SAMPLES) - 1
    assert not _why(many[0]).fatal


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_ccrs_and_panels_go_on_as_well(asynchronous: bool) -> None:
    class Rated(Model):
        def complete(self, request: JudgeRequest) -> ModelReply:
            super().complete(request)
            return ModelReply("85")

    samples = [each.model_copy(update={"input": "Which office?"}) for each in SAMPLES]
    ccrs = CCRS(["qr"], judge=Rated(ForbiddenError("no"), on=ODD))
    panel = TCVA(judge=Panel([Model(ForbiddenError("no"), on=ODD), "lexical"], least=2))
    rated: Any = (
        asyncio.run(ccrs.aevaluate_many(samples)) if asynchronous else ccrs.evaluate_many(samples)
    )
    assert sum(result.score is not None for result in rated) == len(samples) - 1
    judged = (
        asyncio.run(panel.aevaluate_many(SAMPLES)) if asynchronous else panel.evaluate_many(SAMPLES)
    )
    assert _scored(judged) == len(SAMPLES) - 1


def test_others_prompts_are_proven_in_the_same_way() -> None:
    model = Model(ForbiddenError("no"))
    for _ in range(2):  # a new one for each judgement, as a comparison makes them
        asked = Prompted(model)
        with pytest.raises(JudgeError):
            asked.text("a prompt")
        assert (asked.failures, asked.fatal) == (1, None)
    model.neutral = ForbiddenError("no")
    asked = Prompted(Model(ForbiddenError("no"), neutral=ForbiddenError("no")))
    with pytest.raises(JudgeError):
        asyncio.run(asked.atext("a prompt"))
    assert asked.fatal is not None


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_two_judges_of_one_name_fail_apart(asynchronous: bool) -> None:
    good = Model(ValueError(), on="never")
    bad = Model(UnauthorizedError("wrong key"))
    for judge, fused in ((good, bad), (bad, good)):
        tcva = TCVA(judge=judge, fuse=[fused])
        many = (
            asyncio.run(tcva.aevaluate_many(SAMPLES))
            if asynchronous
            else tcva.evaluate_many(SAMPLES)
        )
        assert _scored(many) == (len(SAMPLES) if judge is good else 0)
    assert good.asked["sample"] == len(SAMPLES)


# The same over HTTP


def _odd(answer: Answer) -> Callable[[dict[str, Any], int], Any]:
    """Answers the first sample like this, and all else well."""

    def script(body: dict[str, Any], n: int) -> Any:
        return answer if ODD in body["messages"][-1]["content"] else auto_judge(body, n)

    return script


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    "answer",
    [
        error(403, "Blocked by the firewall."),
        error(404, "no page"),
        NO_MODEL,
        error(400, "Model Not Exist"),
        error(500, 'cannot digest "the model was not found"'),
        error(500, "invalid model output"),
        DROP,
        Answer("not gzip", headers={"Content-Encoding": "gzip"}),
        Answer(status=307, headers={"Location": "https://block.example.org/why"}),
    ],
    ids=str,
)
def test_one_odd_answer_costs_one_sample(answer: Answer, concurrency: int) -> None:
    with ScriptedServer(_odd(answer)) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_retries=0)
        results = TCVA(judge=model, max_concurrency=concurrency).evaluate_many(SAMPLES)
    assert _scored(results) == len(SAMPLES) - 1
    assert not _why(results[0]).fatal


@pytest.mark.parametrize(
    ("answer", "asked", "proof"),
    [
        (WRONG_KEY, 1, "answered 401"),
        (error(402, "Pay."), 1, "answered 402"),
        (error(429, "x", code="insufficient_quota"), 1, "no credit left"),
        (error(403, "No."), 2, "a question without the sample"),
        (NO_MODEL, 2, "a question without the sample"),
        (Answer(status=307, headers={"Location": "https://a.example.org/v1"}), 2, "set base_url"),
    ],
    ids=str,
)
def test_what_no_call_can_escape_ends_the_run_and_says_what_proved_it(
    answer: Answer, asked: int, proof: str
) -> None:
    with ScriptedServer(lambda *_: answer) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_retries=0)
        results = TCVA(judge=model, max_concurrency=1).evaluate_many(SAMPLES)
        assert server.count == asked
    assert all(_why(result).fatal and proof in _why(result).detail for result in results)

"""Nothing that a judge replies or raises comes out of an evaluation, or costs another sample."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from tcva_adapters.ccrs import CCRS, Rating
from tcva_adapters.criteria import Criterion
from tcva_adapters.judges import written as judging
from tcva_adapters.judges.panel import Panel
from tcva_adapters.judges.yes_no import read_yes
from tcva_adapters.models.openai_reply import read_completion
from tcva_adapters.models.protocol import ModelReply, TokenLogprob
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.results.assessment import Assessment, Reason
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA
from tests.support.scripted import verdict_json

SAMPLES = [
    Sample(
        id=str(i),
        input="When?",
        response=f"It opens at nine on day {i}.",
        contexts=("It opens at nine.",),
        reference="At nine.",
    )
    for i in range(3)
]
GOOD = verdict_json((1, "partial", ""))
HUGE = 10**400
DIGITS = "9" * 5000


class OddModel:
    """Answers as it is told to; the second sample gets the odd answer."""

    parameters: dict[str, Any] = {}  # noqa: RUF012  # nobody changes it

    def __init__(self, odd: Any, *, good: str = GOOD, name: str = "odd") -> None:
        self.name = name
        self.odd = odd
        self.good = good

    def complete(self, request: JudgeRequest) -> ModelReply:
        if "day 1" not in request.user:
            return ModelReply(self.good)
        if isinstance(self.odd, BaseException):
            raise self.odd
        return self.odd  # type: ignore[no-any-return]  # anything at all

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


def tokens(token: Any = "yes", logprob: Any = -0.1, top: Any = ()) -> list[dict[str, Any]]:
    """One token, which is odd."""
    return [{"token": token, "logprob": logprob, "top_logprobs": top}]


TOP = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -3.0}]
ODD_LOGPROBS: dict[str, Any] = {
    "token is a number": [{"token": 7, "logprob": -0.1, "top_logprobs": TOP}],
    "token is null": [{"token": None, "logprob": -0.1, "top_logprobs": TOP}],
    "logprob is a word": tokens(logprob="low", top=TOP),
    "logprob is null": tokens(logprob=None, top=TOP),
    "logprob is nan": tokens(logprob=math.nan, top=[{"token": "yes", "logprob": math.nan}]),
    "logprob is positive": tokens(top=[{"token": "yes", "logprob": 4.0}]),
    "logprob is huge": tokens(top=[{"token": "yes", "logprob": HUGE}]),
    "logprob is true": tokens(top=[{"token": "yes", "logprob": True}]),
    "top is a word": tokens(top="yes"),
    "top is a mapping": tokens(top={"yes": -0.1}),
    "top is a number": tokens(top=5),
    "top holds null": tokens(top=[None]),
    "top token is null": tokens(top=[{"token": None, "logprob": -0.1}]),
    "tokens are another text": [{"token": "x", "logprob": -0.1, "top_logprobs": TOP}],
    "content is a word": "content",
    "content is a number": 5,
    "entries are words": ["yes"],
    "no tokens": [],
    "nothing": tokens(top=TOP),
}


@pytest.mark.parametrize("odd", ODD_LOGPROBS)
def test_a_reply_with_odd_log_probabilities_is_read_without_them(odd: str) -> None:
    choice = {"message": {"content": "yes"}, "logprobs": {"content": ODD_LOGPROBS[odd]}}
    completion = read_completion(json.dumps({"choices": [choice]}))
    assert completion is not None
    found = read_yes("It opens at nine.", completion.reply)
    assert found is not None or odd != "nothing"
    assert found is None or found.reason.startswith("P(yes) 0.95;")  # e^-.1 of .905 + .050


TOKENS_OF_A_MODEL: dict[str, Any] = {
    "token is null": (TokenLogprob(None, -0.1),),  # type: ignore[arg-type]  # the point
    "token is a number": (TokenLogprob(7, -0.1),),  # type: ignore[arg-type]  # the point
    "top holds triples": (TokenLogprob(GOOD, -0.1, (("a", -0.1, 3),)),),  # type: ignore[arg-type]  # the point
    "top holds words": (TokenLogprob(GOOD, -0.1, (("partial", "x"),)),),  # type: ignore[arg-type]  # the point
    "top token is null": (TokenLogprob(GOOD, -0.1, ((None, -0.1),)),),  # type: ignore[arg-type]  # the point
    "top is a number": (TokenLogprob(GOOD, -0.1, 5),),  # type: ignore[arg-type]  # the point
    "logprob is null": (TokenLogprob(GOOD, None, (("none", -0.1),)),),  # type: ignore[arg-type]  # the point
    "plain mappings": ({"token": "a"},),
    "a number": 5,
}


USAGES: dict[str, dict[str, Any]] = {
    "huge": {"input_tokens": HUGE, "output_tokens": HUGE, "retries": HUGE, "cost": HUGE},
    "negative": {"input_tokens": -1, "output_tokens": -HUGE, "retries": -1, "cost": -1.0},
    "not a number": {"input_tokens": math.nan, "output_tokens": math.inf, "cost": math.nan},
    "words": {"input_tokens": "7", "output_tokens": [], "retries": {}, "cost": "0.1"},
    "nothing": {"input_tokens": None, "output_tokens": None, "retries": None, "cost": None},
    "truth values": {"input_tokens": True, "output_tokens": True, "cost": True},
}


NUMBERS = [str(HUGE), DIGITS, "1e999", "-1e999", "NaN", "-0", "0.5", "true", "[[1]]", "{}"]
ODD_REPLIES: dict[str, ModelReply] = {
    **{odd: ModelReply(GOOD, token_logprobs=given) for odd, given in TOKENS_OF_A_MODEL.items()},
    **{f"usage is {odd}": ModelReply(GOOD, **usage) for odd, usage in USAGES.items()},
    **{
        f"{number[:9]} at other keys": ModelReply(
            '{"verdicts":[{"claim":1,"passage":%s,"evidence":%s,"reason":%s,"extra":%s,'
            '"verdict":"partial"}]}' % ((number,) * 4)
        )
        for number in NUMBERS
    },
}


@pytest.mark.parametrize("odd", ODD_REPLIES)
def test_what_is_odd_in_a_reply_costs_no_verdict(odd: str) -> None:
    for results in both_ways(TCVA(judge=OddModel(ODD_REPLIES[odd]), share=False)):
        assert [result.score for result in results] == [0.7] * 3
        assert results[1].claims[0].passage in {None, 1}
        usage = results[1].usage
        assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.retries) == (1, 0, 0, 0)
        assert usage.cost is None


@pytest.mark.parametrize("count", [str(HUGE), DIGITS, "-1", "1e999", "NaN", '"7"', "true", "[]"])
def test_a_completion_with_absurd_usage_is_read(count: str) -> None:
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": {count}}}'
    body = (
        f'{{"choices": [{{"message": {{"content": "hi"}}}}], "usage": {usage}, "created": {count}}}'
    )
    completion = read_completion(body)
    assert completion is not None
    assert completion.reply == ModelReply("hi")


@pytest.mark.parametrize("body", ["[" * 100_000, '{"choices":' * 50_000, "null", "5", '"a"', ""])
def test_what_is_no_completion_is_none(body: str) -> None:
    assert read_completion(body) is None


def test_content_parts_of_another_form_are_left_out() -> None:
    parts = [None, 5, "x", {"type": "text", "text": "hi"}, {"type": "text", "text": 5}, {}]
    body = json.dumps({"choices": [{"message": {"content": parts}}]})
    completion = read_completion(body)
    assert completion is not None
    assert completion.reply.text == "hi"


@pytest.mark.parametrize("number", [str(HUGE), DIGITS, "1e999", "NaN", "-0", "true", "null", "[1]"])
def test_an_absurd_claim_number_costs_its_sample_alone(number: str) -> None:
    reply = (
        f'{{"verdicts":[{{"claim":{number},"verdict":"partial"}},{{"claim":2,"verdict":"none"}}]}}'
    )
    for results in both_ways(TCVA(judge=OddModel(ModelReply(reply)), share=False)):
        assert results[0].score == results[2].score is not None
        assert results[1].score is None or results[1].claims[0].verdict == "partial"


@pytest.mark.parametrize(
    "number", [str(HUGE), DIGITS, "1e999", "NaN", "-0", "true", "null", "[87]"]
)
def test_absurd_ratings_are_no_ratings(number: str) -> None:
    model = OddModel(ModelReply(f'{{"score":{number}}}'), good='{"score":40}')
    for results in both_ways(CCRS(judge=model, share=False)):
        assert results[0].scores["cc"] == results[2].scores["cc"] == 0.4
        assert results[1].scores.get("cc") in {None, 0.0}


FAULTS = [
    TypeError("a"),
    RecursionError("b"),
    MemoryError("c"),
    AssertionError(),
    ValueError("\ud800"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("step", ["parse_verdicts", "check_evidence", "whole_characters"])
def test_a_fault_of_ours_costs_its_sample_and_keeps_the_paid_reply(
    step: str, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = getattr(judging, step)

    def failing(first: Any, *rest: Any, **options: Any) -> Any:
        first = list(first) if step == "check_evidence" else first
        if "odd" in str(first):
            raise fault
        return ours(first, *rest, **options)

    monkeypatch.setattr(judging, step, failing)
    odd = verdict_json((1, "partial", "odd"))
    for results in both_ways(TCVA(judge=OddModel(ModelReply(odd)), share=False)):
        assert results[0].score == results[2].score is not None
        why = results[1].unscored
        assert why is not None
        assert (why.reason, why.raw_reply, why.fatal) == (Reason.JUDGE_ERROR, odd, False)
        assert type(fault).__name__ in why.detail
        results[1].to_json().encode()


def test_so_does_one_while_ratings_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tcva_adapters.ccrs.question.read_rating",
        lambda text, *_: 1 / 0 if "odd" in text else Rating(40.0),
    )
    model = OddModel(ModelReply("odd"), good='{"score": 40}')
    for results in both_ways(CCRS("cc", judge=model, share=False)):
        assert results[0].score == results[2].score == 0.4
        answer = results[1].answers["cc"]
        assert answer.unscored is not None
        assert answer.unscored.reason is Reason.JUDGE_ERROR
        assert "ZeroDivisionError" in answer.unscored.detail
        assert answer.replies == ("odd",)


class OwnJudge:
    """A judge of somebody's own that raises."""

    name = "own"
    prompt_version = "1"
    parameters: dict[str, Any] = {}  # noqa: RUF012  # nobody changes it
    is_local = False

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised

    def check(self, criterion: Criterion) -> None:
        """Any will do."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        if sample.id == "1":
            raise self.raised
        return Assessment.from_verdicts(["partial"])

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        return self.assess(sample, criterion)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_judge_that_raises_costs_its_sample(fault: Exception, *, share: bool) -> None:
    for results in both_ways(TCVA(judge=OwnJudge(fault), share=share)):
        assert [result.score for result in results] == [0.7, None, 0.7]
        why = results[1].unscored
        assert why is not None
        assert (why.reason, why.fatal) == (Reason.JUDGE_ERROR, False)


def test_one_of_a_panel_that_raises_is_left_out() -> None:
    panel = Panel([OwnJudge(TypeError("a")), "lexical"])
    for results in both_ways(TCVA(judge=panel, share=False)):
        assert results[1].score is not None


@pytest.mark.parametrize(
    "raised", [KeyboardInterrupt(), SystemExit()], ids=lambda r: type(r).__name__
)
def test_what_ends_a_program_is_not_held_back(raised: BaseException) -> None:
    for make in (OwnJudge, OddModel):
        tcva = TCVA(judge=make(raised), share=False, max_concurrency=1)
        with pytest.raises(type(raised)):
            tcva.evaluate(SAMPLES[1])


def test_a_cancelled_evaluation_is_cancelled() -> None:
    tcva = TCVA(judge=OwnJudge(asyncio.CancelledError()), share=False)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(tcva.aevaluate(SAMPLES[1]))


def both_ways(scorer: Any) -> list[list[Any]]:
    """The results of the three samples in a batch, awaited, and one by one."""
    ways: list[Callable[[], list[Any]]] = [
        lambda: scorer.evaluate_many(SAMPLES),
        lambda: asyncio.run(scorer.aevaluate_many(SAMPLES)),
        lambda: [scorer.evaluate(sample) for sample in SAMPLES],
    ]
    return [way() for way in ways]

"""Answers that are served while they arrive, judged by a model; only the model is scripted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample, clear_shared
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.models.judge_model import JudgeRequest
from tcva_adapters.serving import REFUSAL, OnFail, serve
from tcva_adapters.streaming import AnswerStream
from tcva_adapters.text.sentences import split_claims
from tests.support.scripted import ScriptedModel
from tests.support.server import CLAIM, auto_judge

FACTS = (
    "It opens at nine.",
    "It closes at five.",
    "Lunch is at noon.",
    "Tea is at four.",
)
CONTEXTS = (" ".join(FACTS),)
ANSWER = (
    "It opens at nine. Parking is free. It closes at five. The roof is green. "
    "Lunch is at noon. Tea is at four."
)
KEPT = "It opens at nine. It closes at five. Lunch is at noon. Tea is at four."
SAMPLE = Sample(input="When?", contexts=CONTEXTS)


@pytest.fixture(autouse=True)
def _forgets() -> None:
    clear_shared()


def reply(request: JudgeRequest) -> str:
    """``fully`` where a passage holds the claim, else ``none``."""
    return auto_judge({"messages": [{"content": request.user}]}, 0)


def asked(model: ScriptedModel) -> list[list[str]]:
    """The claims of each request."""
    return [[text for _, text in CLAIM.findall(r.user)] for r in model.requests]


def words(text: str = ANSWER) -> Iterator[str]:
    for word in text.split(" "):
        yield word + " "


async def awords(text: str = ANSWER) -> AsyncIterator[str]:
    for word in words(text):
        await asyncio.sleep(0)
        yield word


def served(stream: AnswerStream, *, is_async: bool, text: str = ANSWER) -> str:
    """All text that comes out of a stream."""
    if not is_async:
        return "".join(part.text for part in stream.chunks(words(text)))

    async def collect() -> str:
        return "".join([part.text async for part in stream.achunks(awords(text))])

    return asyncio.run(collect())


def ended(stream: AnswerStream) -> Any:
    """What was served in all."""
    assert stream.served is not None
    return stream.served


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@both
@pytest.mark.parametrize("is_streamed", [False, True], ids=["calls", "streamed"])
@pytest.mark.parametrize(
    ("on_fail", "text"),
    [
        ("flag", ANSWER + " "),
        ("remove", KEPT + " "),
        ("refuse", f"It opens at nine.\n\n{REFUSAL}"),
        ("raise", "It opens at nine."),
    ],
)
def test_what_a_stream_serves(
    on_fail: OnFail, text: str, *, is_streamed: bool, is_async: bool
) -> None:
    tcva = TCVA(judge=ScriptedModel(reply), streamed=is_streamed)
    stream = AnswerStream(tcva, SAMPLE, on_fail=on_fail)
    assert served(stream, is_async=is_async) == text
    answer = ended(stream)
    assert answer.text == text
    assert answer.is_refused == (on_fail == "refuse")
    assert answer.result.assessment.judged_by["streamed"] == (
        True if is_streamed else "in parts"
    )
    assert not answer.split_moved
    levels = [mark["level"] for mark in answer.marks]
    whole = ["fully", "none", "fully", "none", "fully", "fully"]
    assert levels == (whole if on_fail in {"flag", "remove"} else whole[: len(levels)])
    if on_fail in {"flag", "remove"}:
        assert answer.result.sample == SAMPLE.model_copy(
            update={"response": ANSWER + " "}
        )
        assert answer.result.supported().text == answer.supported.text


@both
def test_a_streamed_judge_makes_the_requests_of_a_stream(*, is_async: bool) -> None:
    whole, live = ScriptedModel(reply), ScriptedModel(reply)
    sample = SAMPLE.model_copy(update={"response": ANSWER + " "})
    result = TCVA(judge=whole, streamed=True, share=False).evaluate(sample)
    stream = AnswerStream(
        TCVA(judge=live, streamed=True, share=False), SAMPLE, on_fail="remove"
    )
    served(stream, is_async=is_async)

    assert stream.served == serve(result, "remove")
    assert ended(stream).result.usage.calls == result.usage.calls == 6
    assert sorted(asked(whole)) == sorted([claim] for claim in split_claims(ANSWER))
    assert {r.user for r in whole.requests} == {r.user for r in live.requests}


def test_calls_never_queue() -> None:
    """One call asks about what has arrived while the last one ran."""
    model = ScriptedModel(reply)
    free = threading.Event()

    def slow(request: JudgeRequest) -> str:
        if len(model.requests) == 1:
            assert free.wait(10)
        return reply(request)

    model = ScriptedModel(slow)
    stream = AnswerStream(TCVA(judge=model), SAMPLE, on_fail="remove")

    def chunks() -> Iterator[str]:
        yield from words()
        free.set()

    assert "".join(part.text for part in stream.chunks(chunks())).strip() == KEPT
    first, *rest = asked(model)
    assert first == ["It opens at nine."]
    assert [claim for request in rest for claim in request] == split_claims(ANSWER)[1:]
    assert len(rest) <= 2


def test_parts_are_emitted_in_order_whatever_call_ends_first() -> None:
    n_running, most = 0, 0

    def uneven(request: JudgeRequest) -> str:
        nonlocal n_running, most
        n_running += 1
        most = max(most, n_running)
        time.sleep(0.2 if "opens" in request.user.rpartition("<<<CLAIM")[2] else 0.01)
        n_running -= 1
        return reply(request)

    tcva = TCVA(judge=ScriptedModel(uneven), streamed=True, max_concurrency=3)
    stream = AnswerStream(tcva, SAMPLE, on_fail="flag")
    parts = [*stream.chunks(words())]
    assert "".join(part.text for part in parts) == ANSWER + " "
    assert [mark["claim"] for part in parts for mark in part.marks] == split_claims(
        ANSWER
    )
    assert 1 < most <= 3


@both
@pytest.mark.parametrize("is_streamed", [False, True], ids=["calls", "streamed"])
def test_what_a_failed_call_leaves_unjudged_is_not_served(
    *, is_streamed: bool, is_async: bool
) -> None:
    def broken(request: JudgeRequest) -> Any:
        if "Parking" in request.user.rpartition("<<<CLAIM")[2]:
            raise JudgeError("the server is busy", reason="rate_limit")
        return reply(request)

    tcva = TCVA(judge=ScriptedModel(broken), streamed=is_streamed)
    flagged = AnswerStream(tcva, SAMPLE, on_fail="flag")
    assert served(flagged, is_async=is_async) == ANSWER + " "
    (mark,) = [m for m in ended(flagged).marks if m["claim"] == "Parking is free."]
    assert (mark["level"], mark["supported"]) == (None, False)
    assert "the server is busy" in mark["reason"]

    clear_shared()
    cut = AnswerStream(tcva, SAMPLE, on_fail="remove")
    assert "Parking" not in served(cut, is_async=is_async)
    assert ended(cut).failed
    assert ended(cut).result.unscored.reason == "rate_limit"


@both
@pytest.mark.parametrize("is_streamed", [False, True], ids=["calls", "streamed"])
def test_a_stream_with_too_many_claims_fails_as_the_whole_answer_does(
    *, is_streamed: bool, is_async: bool
) -> None:
    model = ScriptedModel(reply)
    tcva = TCVA(
        judge=model, streamed=is_streamed, max_claims=5, threshold=0, share=False
    )
    sample = SAMPLE.model_copy(update={"response": ANSWER})
    whole: Any = serve(tcva.evaluate(sample), "refuse")
    stream = AnswerStream(tcva, SAMPLE, on_fail="refuse")
    text = served(stream, is_async=is_async)
    assert text == f"It opens at nine.\n\n{REFUSAL}"
    assert ended(stream).failed
    assert whole.failed
    assert ended(stream).result.unscored.reason == whole.result.unscored.reason
    assert "max_claims=5" in ended(stream).marks[-1]["reason"]


@both
def test_a_failure_that_every_call_would_meet_ends_the_calls(*, is_async: bool) -> None:
    model = ScriptedModel(JudgeError("wrong key", fatal=True))
    stream = AnswerStream(TCVA(judge=model), SAMPLE, on_fail="remove")
    assert served(stream, is_async=is_async) == REFUSAL
    assert len(model.requests) == 1
    assert all("wrong key" in mark["reason"] for mark in ended(stream).marks)


def test_a_stream_that_is_closed_early_ends_cleanly() -> None:
    source = words()
    stream = AnswerStream(TCVA(judge=ScriptedModel(reply)), SAMPLE, on_fail="flag")
    with closing(stream.chunks(source)) as parts:
        next(parts)
    assert next(source, None) is None
    assert stream.served is None


def test_an_async_stream_that_is_closed_early_cancels_its_call() -> None:
    is_cancelled = False

    class Slow(ScriptedModel):
        async def acomplete(self, request: JudgeRequest) -> Any:
            nonlocal is_cancelled
            self.requests.append(request)
            if len(self.requests) > 1:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    is_cancelled = True
                    raise
            return await super().acomplete(request)

    async def source() -> AsyncIterator[str]:
        async for word in awords():
            yield word
            await asyncio.sleep(0.01)

    async def close() -> None:
        stream = AnswerStream(TCVA(judge=Slow(reply)), SAMPLE, on_fail="flag")
        async with aclosing(stream.achunks(source())) as parts:
            await anext(parts)
            await asyncio.sleep(0.1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(parts), 0.3)

    asyncio.run(close())
    assert is_cancelled


def test_an_error_of_the_source_is_raised_behind_what_was_served() -> None:
    def source() -> Iterator[str]:
        yield "It opens at nine. It closes at five. Lunch is at noon. Tea"
        raise ConnectionError("the answer broke off")

    stream = AnswerStream(TCVA(judge="lexical"), SAMPLE, on_fail="remove")
    parts = stream.chunks(source())
    assert next(parts).text == "It opens at nine. It closes at five."
    with pytest.raises(ConnectionError):
        next(parts)
    assert stream.served is None


@pytest.mark.parametrize("max_removed", [0.5, 0.0])
def test_a_limit_on_what_is_cut_holds_the_answer_back(max_removed: float) -> None:
    tcva = TCVA(judge=ScriptedModel(reply), max_removed=max_removed)
    stream = AnswerStream(tcva, SAMPLE, on_fail="remove")
    texts = [part.text for part in stream.chunks(words())]
    assert texts == ([KEPT + " "] if max_removed else [REFUSAL])
    sample = SAMPLE.model_copy(update={"response": ANSWER + " "})
    whole = serve(tcva.evaluate(sample), "remove")
    assert (ended(stream).text, ended(stream).supported) == (
        whole.text,
        whole.supported,
    )


@pytest.mark.parametrize("on_fail", ["refuse", "raise"])
def test_at_the_end_an_answer_that_does_not_pass_is_not_sent_to_its_end(
    on_fail: OnFail,
) -> None:
    tcva = TCVA(judge=ScriptedModel(reply), claim_threshold=0.0, threshold=0.9)
    stream = AnswerStream(tcva, SAMPLE, on_fail=on_fail)
    text = served(stream, is_async=False)
    assert ended(stream).failed
    assert "Tea" not in text
    assert text.endswith(REFUSAL) == (on_fail == "refuse")


def test_greetings_wait_for_a_claim_that_stays() -> None:
    tcva = TCVA(judge=ScriptedModel(reply))
    stream = AnswerStream(tcva, SAMPLE, on_fail="remove")
    assert served(stream, is_async=False, text="Hello! Parking is free.") == REFUSAL
    stream = AnswerStream(tcva, SAMPLE, on_fail="remove")
    assert served(stream, is_async=False, text="Hello! How can I help?").startswith(
        "Hello!"
    )
    assert not ended(stream).failed


@both
def test_an_empty_answer_becomes_the_refusal(*, is_async: bool) -> None:
    tcva = TCVA(judge=ScriptedModel([]))
    stream = AnswerStream(tcva, SAMPLE, on_fail="remove")
    assert served(stream, is_async=is_async, text="") == REFUSAL
    whole = tcva.evaluate(SAMPLE.model_copy(update={"response": " "}))
    assert serve(whole, "remove") == stream.served
    assert ended(stream).result.unscored.reason == "empty_response"


@pytest.mark.parametrize(
    "settings", [{"claims": "llm"}, {"criterion": "context_recall"}]
)
def test_claims_that_are_not_the_sentences_of_the_answer_are_refused(
    settings: dict[str, Any],
) -> None:
    model = ScriptedModel(reply)
    with pytest.raises(InvalidValueError, match="sentences"):
        AnswerStream(TCVA(judge=model, **settings), SAMPLE)
    with pytest.raises(InvalidValueError, match="streamed=True"):
        TCVA(judge=model, streamed=True, **settings)


def test_a_judge_that_makes_no_requests_is_not_streamed() -> None:
    with pytest.raises(InvalidValueError, match="makes no requests"):
        TCVA(judge="lexical", streamed=True)


def test_streamed_is_part_of_what_a_judge_is_known_by() -> None:
    model = ScriptedModel(reply)
    usual, streamed = TCVA(judge=model), TCVA(judge=model, streamed=True)
    assert "streamed" not in usual.judged_by()
    assert streamed.judged_by() == {**usual.judged_by(), "streamed": True}
    assert usual.fingerprint != streamed.fingerprint
    assert streamed.name == "tcva_faithfulness(streamed=True)"


def test_a_streamed_judgement_is_joined_with_panels_repeats_and_fused_judges() -> None:
    model, other = ScriptedModel(reply), ScriptedModel(reply, name="scripted:two")
    sample = SAMPLE.model_copy(update={"response": ANSWER})
    for settings in ({"repeats": 2}, {"fuse": other}, {"fuse": "lexical"}):
        parts = TCVA(judge=model, streamed=True, share=False, **settings).evaluate(
            sample
        )
        whole = TCVA(judge=model, share=False, **settings).evaluate(sample)
        assert parts.assessment == whole.assessment
        assert parts.score == whole.score
        assert parts.usage.calls > whole.usage.calls


def test_a_streamed_sample_with_too_many_claims_is_not_asked_about() -> None:
    model = ScriptedModel(reply)
    sample = SAMPLE.model_copy(update={"response": ANSWER})
    result: Any = TCVA(judge=model, streamed=True, max_claims=5).evaluate(sample)
    assert result.unscored.reason == "too_long"
    assert model.requests == []


def test_streamed_judgements_are_stored_sentence_by_sentence(tmp_path: Any) -> None:
    model = ScriptedModel(reply)
    tcva = TCVA(judge=model, streamed=True, store=tmp_path / "v.db", share=False)
    sample = SAMPLE.model_copy(update={"response": ANSWER})
    first = tcva.evaluate(sample)
    again = tcva.evaluate(sample)
    assert again.from_store
    assert again == first
    assert len(model.requests) == 6
    longer = sample.model_copy(update={"response": f"{ANSWER} Dinner is late."})
    tcva.evaluate(longer)
    assert len(model.requests) == 7


def test_a_question_of_a_model_sees_the_contexts_and_history() -> None:
    model = ScriptedModel(reply)
    sample = SAMPLE.model_copy(update={"history": "user: Hello."})
    served(AnswerStream(TCVA(judge=model), sample), is_async=False)
    assert all("user: Hello." in r.user for r in model.requests)


def test_no_claim_gets_the_verdict_of_its_end_alone() -> None:
    # By itself the first claim, which has no capitals, is split into two; the second is supported.
    text = "i like e. coli. it is nine. Fine"
    sample = Sample(response=text, contexts=["it is nine."])
    tcva = TCVA(judge=ScriptedModel(reply), streamed=True, share=False)
    assert serve(tcva.evaluate(sample), "remove").text == REFUSAL
    stream = AnswerStream(tcva, sample, on_fail="remove")
    assert served(stream, is_async=False, text=text) == REFUSAL
    judged = [claim.claim for claim in tcva.evaluate(sample).claims]
    assert judged == split_claims(text) == ["i like e. coli. it is nine.", "Fine"]

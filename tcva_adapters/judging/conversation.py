"""Asking a judge model: what is asked stands apart from how the answer is waited for.

A judgement is a generator: it yields what to ask, is sent what was answered or thrown why nothing
was, and returns what came of it. `converse` and `aconverse` are its two faces.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.protocol import JudgeModel, ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.results.assessment import Reason, Unscored, Usage
from tcva_adapters.samples.sample import whole_characters

Outcome = TypeVar("Outcome")

_REASONS: Final = {"timeout": Reason.TIMEOUT, "rate_limit": Reason.RATE_LIMIT}


def converse(steps: Generator[JudgeRequest, ModelReply, Outcome], model: JudgeModel) -> Outcome:
    """Ask a model all that a judgement wants to know; whatever a call raises is thrown into it."""
    try:
        request = next(steps)
        while True:
            try:
                reply = checked_reply(model.complete(request))
            except Exception as error:  # noqa: BLE001  # any failure of a call is a value here
                request = steps.throw(as_judge_error(error))
            else:
                request = steps.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # a generator hands its result over untyped


async def aconverse(
    steps: Generator[JudgeRequest, ModelReply, Outcome], model: JudgeModel
) -> Outcome:
    """The same, awaited."""
    try:
        request = next(steps)
        while True:
            try:
                reply = checked_reply(await model.acomplete(request))
            except Exception as error:  # noqa: BLE001  # as above; cancellation passes through
                request = steps.throw(as_judge_error(error))
            else:
                request = steps.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # as above


@dataclass(slots=True)
class Conversation:
    """The calls of one judgement.

    Attributes:
        usage: What they cost.
        replies: Every reply, in order, since it was paid for.
    """

    usage: Usage = field(default_factory=Usage)
    replies: list[str] = field(default_factory=list)

    def ask(self, request: JudgeRequest) -> Generator[JudgeRequest, ModelReply, ModelReply]:
        """Ask once, as a step of a judgement.

        Raises:
            CannotScoreError: The call failed.
        """
        started = time.perf_counter()
        try:
            reply = yield request
        except JudgeError as error:
            self.usage += Usage(seconds=time.perf_counter() - started)
            reason = _REASONS.get(error.reason, Reason.JUDGE_ERROR)
            raise CannotScoreError(reason, str(error), self.replies, fatal=error.fatal) from error
        self.replies.append(reply.text)
        self.usage += Usage(
            calls=1,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            retries=reply.retries,
            seconds=time.perf_counter() - started,
            cost=reply.cost,
        )
        return reply


class CannotScoreError(Exception):
    """Ends a judgement early; the judge that began it catches it.

    Attributes:
        unscored: Why.
    """

    def __init__(
        self, reason: Reason, detail: str, replies: Sequence[str], *, fatal: bool = False
    ) -> None:
        super().__init__(detail)
        raw = "\n---\n".join(replies) if replies else None
        self.unscored = Unscored(reason=reason, detail=detail, raw_reply=raw, fatal=fatal)


def checked_reply(reply: Any) -> ModelReply:
    """A reply that is one, and that every file and store can hold.

    Raises:
        JudgeError: The model returned something else.
    """
    if not isinstance(reply, ModelReply) or not isinstance(reply.text, str):
        msg = f"the judge model returned {type(reply).__name__}; it must return a ModelReply"
        raise JudgeError(msg, fatal=True)
    text = whole_characters(reply.text)
    return reply if text == reply.text else replace(reply, text=text, token_logprobs=None)

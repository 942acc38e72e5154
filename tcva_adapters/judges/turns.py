"""Judgements as turns, and how a model is asked: live, awaited, or by others who bring the replies.

A judgement is a generator that makes no call itself: it yields a list of requests that do not wait
for each other, is sent their replies, and returns what came of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.protocol import (
    JudgeModel,
    JudgeRequest,
    ModelReply,
    Sampling,
    acomplete,
    complete,
)
from tcva_adapters.models.secrets import quotable
from tcva_adapters.results.assessment import Reason, Unscored, Usage

Outcome = TypeVar("Outcome")

Replies = Sequence[ModelReply | JudgeError]
"""One for each request of a turn; behind a `JudgeError` further ones may be missing."""

Turns = Generator[list[JudgeRequest], Replies, Outcome]


def drive(turns: Turns[Outcome], model: JudgeModel) -> Outcome:
    """What comes of a judgement; after a failed call the rest of its turn is not asked."""
    try:
        requests = next(turns)
        while True:
            replies: list[ModelReply | JudgeError] = []
            for request in requests:
                try:
                    replies.append(complete(model, request))
                except JudgeError as error:
                    replies.append(error)
                    break
            requests = turns.send(replies)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # a generator returns its result untyped


async def adrive(turns: Turns[Outcome], model: JudgeModel) -> Outcome:
    """The same, awaited; the requests of a turn are under way at the same time."""

    async def reply(request: JudgeRequest) -> ModelReply | JudgeError:
        try:
            return await acomplete(model, request)
        except JudgeError as error:
            return error

    try:
        requests = next(turns)
        while True:
            if len(requests) == 1:  # needs no task of its own
                replies = [await reply(requests[0])]
            else:
                replies = await asyncio.gather(*map(reply, requests))
            requests = turns.send(replies)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # as above


@dataclass(slots=True)
class Calls:
    """The calls of one judgement.

    Attributes:
        seed_offset: Added to the seed of every request.
        temperature: Of the model, for requests that ask for none; None leaves the model's own.
        usage: What they cost.
        replies: Every reply, in order, since it was paid for.
    """

    seed_offset: int = 0
    temperature: float | None = None

    usage: Usage = field(default_factory=Usage)
    replies: list[str] = field(default_factory=list)

    def ask(self, requests: Sequence[JudgeRequest]) -> Turns[list[ModelReply]]:
        """Ask, as one turn of a judgement.

        Raises:
            JudgeError: A call failed.
        """
        started = time.perf_counter()
        answers = yield [self._drawn(request) for request in requests]
        self.usage += Usage(seconds=time.perf_counter() - started)
        replies = [answer for answer in answers if isinstance(answer, ModelReply)]
        self.replies += [reply.text for reply in replies]
        self.usage = sum((reply.usage(0.0) for reply in replies), self.usage)
        for answer in answers:
            if isinstance(answer, JudgeError):
                raise answer
        return replies

    def _drawn(self, request: JudgeRequest) -> JudgeRequest:
        """The request as this judgement draws its replies."""
        if not self.seed_offset and self.temperature is None:
            return request
        drawn = request.sampling or Sampling()
        temperature = self.temperature if drawn.temperature is None else drawn.temperature
        offset = drawn.seed_offset + self.seed_offset
        sampling = replace(drawn, temperature=temperature, seed_offset=offset)
        return replace(request, sampling=sampling)


def why_unscored(error: Exception, replies: Sequence[str] = ()) -> Unscored:
    """The reason of an unscored result, for whatever ended a judgement.

    What is no failure of a call is a fault, of ours or of somebody's judge: it stays with its
    sample.

    Args:
        error: What was raised. The reason of a `JudgeError` counts where it is one of `Reason`.
        replies: What was paid for until then.
    """
    reason, fatal = Reason.JUDGE_ERROR, False
    detail = f"judging ended unexpectedly with {type(error).__name__}: {quotable(str(error))}"
    if isinstance(error, JudgeError):
        with suppress(ValueError):
            reason = Reason(error.reason)
        detail, fatal = str(error), error.fatal
    raw = "\n---\n".join(replies) if replies else None
    return Unscored(reason=reason, detail=detail, raw_reply=raw, fatal=fatal)

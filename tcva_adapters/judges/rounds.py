"""The exchange with a model: rounds of requests, and their replies.

A judgement is a generator that makes no call itself. In each round it yields a list of independent
requests and is sent their replies; at the end it returns its outcome. `drive` makes the calls, `adrive`
awaits them, and a batch sends in replies that came hours later.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, TypeVar

from tcva_adapters.errors import JudgeError
from tcva_adapters.loops import turn_with_time, work_aside
from tcva_adapters.models.judge_model import (
    JudgeModel,
    JudgeRequest,
    ModelReply,
    Sampling,
    acomplete,
    complete,
)
from tcva_adapters.results.judgement import Judgement, Usage

Outcome = TypeVar("Outcome")

Replies = Sequence[ModelReply | JudgeError]
"""One reply for each request of a round; after a `JudgeError` the rest may be missing."""

Rounds = Generator[list[JudgeRequest], Replies, Outcome]
"""A judgement as a generator, which yields requests, is sent replies and returns its outcome."""

_SECONDS_A_CALL = 5e-4
"""Approximate CPU seconds of a call that a framework's client makes on the event loop."""

_SECONDS_A_CHARACTER = 4e-7
"""Approximate CPU seconds per character that was sent, as quotes are looked up in the text."""


class SentenceMark(Judgement):
    """A judge's answer about a sentence that it was shown alone.

    Attributes:
        claims_nothing: Whether the sentence asserts nothing that could be right or wrong.
    """

    stored_as: ClassVar[str] = "sentence"
    called: ClassVar[str] = "the mark of a sentence"

    claims_nothing: bool


class SentenceMemory:
    """The marks that the same judge gave sentences before; this base class remembers nothing."""

    def first_mark(
        self,
        sentence: str,  # noqa: ARG002  # for those that remember
        mark: SentenceMark | None = None,
    ) -> SentenceMark | None:
        """Return the earlier mark of a sentence; without one, remember and return the given mark."""
        return mark


FORGETFUL = SentenceMemory()
"""A memory without marks: each sentence is asked about."""


@dataclass(slots=True)
class Calls:
    """The calls of one judgement.

    Attributes:
        sampling: The offset of the seed in every request, and the model's temperature there.
        memory: The marks that the judge gave sentences before.
        usage: What the calls cost.
        replies: The texts of all replies in order, also of a failed judgement, as they were paid for.
        n_sentences: The number of sentences that were asked about alone.
    """

    sampling: Sampling = field(default_factory=Sampling)
    memory: SentenceMemory = FORGETFUL
    usage: Usage = field(default_factory=Usage)
    replies: list[str] = field(default_factory=list)
    n_sentences: int = 0

    def ask(self, requests: Sequence[JudgeRequest]) -> Rounds[list[ModelReply]]:
        """Send requests in one round and return their replies; without requests there is no round.

        Raises:
            JudgeError: A call failed.
        """
        if not requests:
            return []
        started = time.perf_counter()
        answers = yield [self._drawn(request) for request in requests]
        self.usage += Usage(seconds=time.perf_counter() - started)

        replies = []
        failure = None
        for answer in answers:
            if isinstance(answer, JudgeError):
                failure = failure or answer
            else:
                replies.append(answer)
                self.replies.append(answer.text)
                self.usage += answer.usage(0.0)
        if failure is not None:
            raise failure
        return replies

    def _drawn(self, request: JudgeRequest) -> JudgeRequest:
        """The request with the seed and temperature of this judgement."""
        if self.sampling == Sampling():
            return request
        return replace(
            request,
            sampling=replace(
                request.sampling or Sampling(),
                seed_offset=self.sampling.seed_offset,
                temperature=self.sampling.temperature,
            ),
        )


def drive(rounds: Rounds[Outcome], model: JudgeModel) -> Outcome:
    """Make the calls of a judgement and return its outcome.

    After a failed call the remaining requests of its round are not sent.
    """
    steps = _steps(rounds)
    step = steps.send(None)
    while isinstance(step, list):
        replies: list[ModelReply | JudgeError] = []
        for request in step:
            try:
                replies.append(complete(model, request))
            except JudgeError as error:
                replies.append(error)
                break
        step = steps.send(replies)
    return step


async def adrive(rounds: Rounds[Outcome], model: JudgeModel) -> Outcome:
    """The same, awaited; the requests of a round are under way at the same time.

    Long work between the calls does not block the event loop. A cancellation waits for this work,
    since the replies were paid for; see `loops.work_aside`.
    """

    async def reply(request: JudgeRequest) -> ModelReply | JudgeError:
        await turn_with_time(_SECONDS_A_CALL)
        try:
            return await acomplete(model, request)
        except JudgeError as error:
            return error

    steps = _steps(rounds)
    most_sent = 0
    await turn_with_time()
    step = steps.send(None)
    while isinstance(step, list):
        if len(step) == 1:  # needs no task of its own
            replies = [await reply(step[0])]
        else:
            replies = await asyncio.gather(*map(reply, step))
        # Quotes may be looked up in the texts of an earlier round, so the largest one counts.
        most_sent = max(most_sent, sum(len(request.user) for request in step))
        step = await work_aside(
            partial(steps.send, replies), _SECONDS_A_CHARACTER * most_sent
        )
    return step


def _steps(
    rounds: Rounds[Outcome],
) -> Generator[list[JudgeRequest] | Outcome, Replies | None, None]:
    """Yield the lists of requests of a judgement, and at the end its outcome."""
    yield (yield from rounds)

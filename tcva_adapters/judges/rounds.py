"""The exchange with a model: rounds of requests, and their replies.

A judgement is a generator that makes no call itself. In each round it yields a list of requests that
do not wait for each other, and is sent their replies; at the end it returns its outcome. `drive` makes
the calls, `adrive` awaits them, and a batch brings replies that came hours later.
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
from tcva_adapters.models.protocol import (
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
"""One for each request of a round; behind a `JudgeError` further ones may be missing."""

Rounds = Generator[list[JudgeRequest], Replies, Outcome]
"""A judgement without its calls."""

_SECONDS_A_CALL = 5e-4
"""About how much CPU time a call takes where a framework's client makes it on the loop."""

_SECONDS_A_CHARACTER = 4e-7
"""The same for a character that was sent: quotes are looked up in it."""


class SentenceMark(Judgement):
    """A judge's answer about a sentence that it was shown alone.

    Attributes:
        claims_nothing: Whether the sentence asserts nothing that could be right or wrong.
    """

    stored_as: ClassVar[str] = "sentence"
    called: ClassVar[str] = "the mark of a sentence"

    claims_nothing: bool


class SentenceMemory:
    """The marks that the same judge gave before. This class remembers nothing; a subclass may."""

    def setdefault(
        self,
        sentence: str,  # noqa: ARG002  # for those that remember
        mark: SentenceMark | None = None,
    ) -> SentenceMark | None:
        """The earlier mark of a sentence; where there is none, the given one, which is remembered."""
        return mark


FORGETFUL = SentenceMemory()
"""Where nothing is remembered, each sentence is asked about."""


@dataclass(slots=True)
class Calls:
    """The calls of one judgement.

    Attributes:
        sampling: What is added to the seed of every request, and the model's temperature for it.
        memory: What the judge said of sentences before.
        usage: What the calls cost.
        replies: Every reply, in order, since it was paid for.
        n_sentences: How many sentences were asked about alone.
    """

    sampling: Sampling = field(default_factory=Sampling)
    memory: SentenceMemory = FORGETFUL
    usage: Usage = field(default_factory=Usage)
    replies: list[str] = field(default_factory=list)
    n_sentences: int = 0

    def ask(self, requests: Sequence[JudgeRequest]) -> Rounds[list[ModelReply]]:
        """Ask in one round; without requests there is no round.

        Raises:
            JudgeError: A call failed.
        """
        if not requests:
            return []
        started = time.perf_counter()
        answers = yield [self._drawn(request) for request in requests]
        self.usage += Usage(seconds=time.perf_counter() - started)

        replies: list[ModelReply] = []
        failures: list[JudgeError] = []
        for answer in answers:
            if isinstance(answer, JudgeError):
                failures.append(answer)
            else:
                replies.append(answer)
                self.replies.append(answer.text)
                self.usage += answer.usage(0.0)
        if failures:
            raise failures[0]
        return replies

    def _drawn(self, request: JudgeRequest) -> JudgeRequest:
        """The request with the seed and temperature of this judgement."""
        if self.sampling == Sampling():
            return request
        sampling = replace(
            request.sampling or Sampling(),
            seed_offset=self.sampling.seed_offset,
            temperature=self.sampling.temperature,
        )
        return replace(request, sampling=sampling)


def drive(rounds: Rounds[Outcome], model: JudgeModel) -> Outcome:
    """Make the calls of a judgement and return its outcome.

    After a failed call the rest of its round is not asked.
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

    Long work between the calls does not hold up the event loop, and a cancellation waits for it:
    replies were paid for. See `loops.work_aside`.
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
        # What was shown for verdicts is searched after questions about single sentences, too.
        most_sent = max(most_sent, sum(len(request.user) for request in step))
        step = await work_aside(
            partial(steps.send, replies), _SECONDS_A_CHARACTER * most_sent
        )
    return step


def _steps(
    rounds: Rounds[Outcome],
) -> Generator[list[JudgeRequest] | Outcome, Replies | None, None]:
    """The lists of requests of a judgement, and at the end its outcome."""
    yield (yield from rounds)

"""Answer questions on a sample or a stream: by the store, by shared judgements, then by the judge."""

from __future__ import annotations

import asyncio
import logging
import time
from asyncio import AbstractEventLoop
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from tcva_adapters.judges.base import why_unscored
from tcva_adapters.loops import checkpoint, is_in_loop, turn_with_time, work_aside
from tcva_adapters.progress import Progress
from tcva_adapters.results.judgement import Judgement, Reason, Unscored, Usage
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import (
    Evaluation,
    Question,
    R,
    stored_answers,
)
from tcva_adapters.runner.sharing import SHARED, SharedEntry
from tcva_adapters.samples.sample import Sample

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

AHEAD = 32
"""The samples that are read ahead for each judgement that may be under way: a slow call delays those
behind it only when so many of them are done."""

READ_AT_ONCE = 64
"""The most samples that are looked up in a store at once."""

ENOUGH_FAILURES = 20
"""The number of failures with the same reason, and no success among them, that ends a run. Once a
call has succeeded, only failures that every call would meet (a wrong key) count, since a text that a
server refuses says nothing about others."""

LONGEST_WAIT = 300.0
"""Seconds after which a waiter makes the call itself, where the judge's own deadline is not known."""

_ELSEWHERE = 1.0
"""Seconds to wait for a call of another event loop, which may no longer run, or may need the thread
that waits."""

_STORE_SECONDS = 0.05
"""Seconds that reading or writing a store may take, which is too long to block an event loop."""

_READING = 0.02
"""Seconds after which reading does not wait for further samples."""


@dataclass(slots=True)
class _NextSamples:
    """The next samples of a stream.

    Attributes:
        samples: The samples that came at once.
        is_last: Whether no others follow.
        error: The error that their iterator raised behind them.
    """

    samples: list[Sample] = field(default_factory=list)
    is_last: bool = False
    error: Exception | None = None


@dataclass(slots=True)
class _Pending:
    """A sample whose answers are on their way.

    Attributes:
        answers: One for each question; None until it has arrived.
        under_way: The futures or tasks of answers from other threads or tasks, by the index of their
            question.
    """

    sample: Sample
    questions: Sequence[Question]
    answers: list[Judgement | None]
    under_way: dict[int, Any] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return all(future.done() for future in self.under_way.values())

    def unanswered(self) -> list[tuple[int, Question]]:
        """The questions without an answer, with their indices."""
        return [
            (place, question)
            for place, question in enumerate(self.questions)
            if self.answers[place] is None
        ]


@dataclass(slots=True)
class _Endings:
    """How the calls of a judge have ended in this run.

    Attributes:
        has_succeeded: Whether a call has given a judgement.
        failures: The number of failures by reason, since the last success.
        ended: Why no further call is made; None while calls are made.
    """

    has_succeeded: bool = False
    failures: Counter[Reason] = field(default_factory=Counter)
    ended: Unscored | None = None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The next step towards an answer: it is there, or is waited for, or the asker asks the judge.

    Attributes:
        answer: The answer, where it is there already.
        awaited: The shared judgement to wait for, where another asker makes it.
        seconds: How long to wait for it.
        begun: The shared judgement that the asker makes; None for one that is not shared.
    """

    answer: Judgement | None = None
    awaited: SharedEntry | None = None
    seconds: float = 0.0
    begun: SharedEntry | None = None


class Runner(Generic[R]):
    """A runner that answers the questions of an evaluation about a single sample, or about a batch.

    Args:
        evaluation: The evaluation that asks the questions.
        batch: The progress of the batch, in which a failure that every call would meet ends further
            calls; None for a single sample.
    """

    def __init__(
        self, evaluation: Evaluation[R], batch: Progress | None = None
    ) -> None:
        self._evaluation = evaluation
        self._store = evaluation.store
        self._batch = batch
        self._holds_a_loop = False
        self._endings: dict[int, _Endings] = {}
        self._computed: list[tuple[str, Judgement]] = []
        self._failed: set[Reason] = set()

    def result(self, sample: Sample) -> R:
        """Judge one sample in this thread; several questions to models are asked in several threads."""
        (pending,) = self._look_up([sample])
        questions = self._to_judge(pending)
        if len(questions) > 1:
            (result,) = self.stream(iter([sample]))
            return result

        for place, question in questions:
            pending.answers[place] = self.answer(question)
        result = self._finish(pending)
        self._write_computed()
        return result

    async def aresult(self, sample: Sample) -> R:
        """The same, awaited; several questions are asked in several tasks, a single one in this task."""
        await turn_with_time()
        (pending,) = await self._aside(partial(self._look_up, [sample]))
        if len(self._to_judge(pending)) > 1:
            results = self.astream(iter([sample]))
            (result,) = [result async for result in results]
            return result

        result = await self._afinish(pending)
        await self._aside(self._write_computed)
        await checkpoint()
        return result

    def answer(self, question: Question) -> Judgement:
        """Answer a question to which the store has no answer: share a judgement, or ask the judge.

        The answer is stored.
        """
        attempt = self._attempt(question, None, None)
        while attempt.awaited is not None:
            with suppress(TimeoutError):
                attempt.awaited.done.result(attempt.seconds)
            attempt = self._attempt(question, None, attempt.awaited)
        if attempt.answer is not None:
            return attempt.answer

        answer: Judgement | None = None
        try:
            answer = question.ask()
        except Exception as error:  # noqa: BLE001  # a judge may be anybody's
            answer = question.failed_answer(why_unscored(error))
        finally:
            if attempt.begun is not None:
                SHARED.end(attempt.begun, answer)
        return self._keep(question, answer)

    async def aanswer(self, question: Question) -> Judgement:
        """The same, awaited."""
        loop = asyncio.get_running_loop()
        attempt = self._attempt(question, loop, None)
        while attempt.awaited is not None:
            # Before Python 3.12 `asyncio.wait_for` drops a cancellation that comes with the answer.
            done = asyncio.wrap_future(attempt.awaited.done)
            try:
                await asyncio.wait([done], timeout=attempt.seconds)
            finally:
                done.cancel()
            attempt = self._attempt(question, loop, attempt.awaited)
        if attempt.answer is not None:
            return attempt.answer

        answer: Judgement | None = None
        try:
            answer = await question.aask()
        except Exception as error:  # noqa: BLE001  # as above; cancellation passes through
            answer = question.failed_answer(why_unscored(error))
        finally:
            if attempt.begun is not None:
                SHARED.end(attempt.begun, answer)
        return await self._aside(partial(self._keep, question, answer))

    def stream(self, samples: Iterator[Sample]) -> Iterator[R]:
        """Judge many samples, and yield their results in order.

        Samples are read in this thread, as far ahead as `AHEAD` allows.
        """
        self._holds_a_loop = is_in_loop()
        most = self._evaluation.max_concurrency
        pool = ThreadPoolExecutor(most, thread_name_prefix="tcva")
        waiting: deque[_Pending] = deque()
        upcoming = _NextSamples()

        try:
            while not upcoming.is_last:
                upcoming = self._read(samples)
                for pending in self._look_up(upcoming.samples):
                    for place, question in self._to_judge(pending):
                        # The context has what a framework sets for callbacks and traces.
                        pending.under_way[place] = pool.submit(
                            copy_context().run, self.answer, question
                        )
                    waiting.append(pending)

                while waiting and (
                    upcoming.is_last
                    or len(waiting) > AHEAD * most
                    or waiting[0].is_done
                ):
                    yield self._finish(waiting.popleft())
        finally:
            # After Ctrl-C nothing new starts. Calls under way end by themselves and reach the
            # store, but are not waited for here.
            pool.shutdown(wait=False, cancel_futures=True)
            self._write_computed()
        if upcoming.error is not None:
            raise upcoming.error

    async def astream(self, samples: Iterator[Sample]) -> AsyncGenerator[R]:
        """The same, awaited.

        Judgements under way are cancelled when the caller stops taking results, or is cancelled.
        """
        most = self._evaluation.max_concurrency
        gate = asyncio.Semaphore(most)
        tasks: set[asyncio.Task[Judgement]] = set()
        waiting: deque[_Pending] = deque()
        upcoming = _NextSamples()

        def end(task: asyncio.Task[Judgement]) -> None:
            tasks.discard(task)
            gate.release()

        try:
            while not upcoming.is_last:
                upcoming = self._read(samples)
                for pending in await self._aside(
                    partial(self._look_up, upcoming.samples)
                ):
                    for place, question in self._to_judge(pending):
                        await gate.acquire()
                        task = asyncio.create_task(self.aanswer(question))
                        tasks.add(task)
                        task.add_done_callback(end)
                        pending.under_way[place] = task
                    waiting.append(pending)

                await asyncio.sleep(0)  # lets the tasks run
                while waiting and (
                    upcoming.is_last
                    or len(waiting) > AHEAD * most
                    or waiting[0].is_done
                ):
                    yield await self._afinish(waiting.popleft())
        finally:
            under_way = [*tasks]
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            await self._aside(self._write_computed)
        if upcoming.error is not None:
            raise upcoming.error

    async def _aside(self, work: Callable[[], T]) -> T:
        """Do work off the event loop if it may wait for the store's file."""
        return work() if self._store is None else await work_aside(work, _STORE_SECONDS)

    def _read(self, samples: Iterator[Sample]) -> _NextSamples:
        """Read the next samples: as many as a store is asked about, or as come at once.

        An error of the iterator is raised later: the results of the samples before it come first.
        """
        upcoming = _NextSamples(is_last=True)
        most = 1 if self._store is None else READ_AT_ONCE
        until = time.monotonic() + _READING
        try:
            for sample in samples:
                upcoming.samples.append(sample)
                if len(upcoming.samples) >= most or time.monotonic() > until:
                    upcoming.is_last = False
                    break
        except Exception as error:  # noqa: BLE001  # whatever the caller's own samples raise
            upcoming.error = error
        return upcoming

    def _look_up(self, samples: Sequence[Sample]) -> list[_Pending]:
        """Look up the answers about samples in the store, after writing what was computed so far."""
        self._write_computed()
        asked = []
        for sample in samples:
            questions = self._evaluation.questions(sample)
            asked.append(_Pending(sample, questions, [None] * len(questions)))

        if self._store is not None:
            all_questions = [q for pending in asked for q in pending.questions]
            with self._store.spared():
                left = iter(stored_answers(self._store, all_questions))
                for pending in asked:
                    pending.answers = [*islice(left, len(pending.answers))]
        return asked

    def _to_judge(self, pending: _Pending) -> list[tuple[int, Question]]:
        """The questions that take long enough to be judged at the same time, with their indices."""
        return [] if self._evaluation.is_instant else pending.unanswered()

    async def _afinish(self, pending: _Pending) -> R:
        """Await the answers about a sample, and make its result; see `_finish`."""
        for place, question in pending.unanswered():
            task = pending.under_way.get(place)
            pending.answers[place] = await (task or self.aanswer(question))
        return self._finish(pending)

    def _finish(self, pending: _Pending) -> R:
        """Wait for the answers about a sample, make its result, emit it and count it as done."""
        for place, question in pending.unanswered():
            future = pending.under_way.get(place)
            pending.answers[place] = (
                future.result() if future else self.answer(question)
            )
        result = self._evaluation.result_of(pending.sample, pending.answers)
        self._evaluation.emit_result(result)
        if self._batch is not None:
            why = result.unscored
            self._batch.tick(failed=why is not None and why.reason.is_failure)
        return result

    def _attempt(
        self,
        question: Question,
        loop: AbstractEventLoop | None,
        past: SharedEntry | None,
    ) -> _Attempt:
        """Take an answer that is there, or else find a judgement to make, or to wait for.

        Args:
            question: The question.
            loop: The event loop that asks; None for a thread.
            past: The shared judgement that was waited for; None at first.
        """
        endings = self._endings.get(id(question.judge))
        identity = question.identity
        if endings is not None and endings.ended is not None:
            return _Attempt(question.failed_answer(endings.ended))
        if identity is None or not self._evaluation.share:
            return _Attempt()

        entry = past
        if entry is None or entry.answer is None:
            entry, is_new = SHARED.begin(identity, question.key, self, loop, past)
            if is_new:
                return _Attempt(begun=entry)

        answer = entry.answer
        if answer is not None:
            _LOG.debug("a judgement of another evaluator is shared")
            # The answer of another evaluator, with the fields of this question's sample.
            as_shared = {"usage": Usage(), "shared": not answer.from_store}
            kept = self._keep(question, answer)
            return _Attempt(
                kept.model_copy(update={**question.sample_fields, **as_shared})
            )

        seconds = identity.seconds or LONGEST_WAIT
        if entry.loop not in (None, loop):
            seconds = min(seconds, _ELSEWHERE)
        is_anothers = loop is None and entry.run is not self
        if is_anothers and (self._holds_a_loop or is_in_loop()):
            seconds = 0.0  # or that loop would stand still
        return _Attempt(awaited=entry, seconds=seconds)

    def _keep(self, question: Question, answer: Judgement) -> Judgement:
        """Note how a call ended, and put its answer into the store."""
        why = answer.failure
        if why is not None:  # one warning for each reason is enough
            level = logging.INFO if why.reason in self._failed else logging.WARNING
            _LOG.log(level, "a judgement failed: %s", why.reason.value)
            self._failed.add(why.reason)
        if self._batch is not None:
            answer = self._count_ending(question, answer)
        if self._evaluation.is_instant:
            self._computed.append((question.key, answer))
        elif self._store is not None:
            _write(self._store, [(question.key, answer)])
        return answer

    def _count_ending(self, question: Question, answer: Judgement) -> Judgement:
        """Note what an answer means for the rest of a batch; see `ENOUGH_FAILURES`.

        Once a call has succeeded, a failure concerns its own sample alone.
        """
        endings = self._endings.setdefault(id(question.judge), _Endings())
        why = answer.failure
        if why is None:
            # A sample without a call does not show that calls can succeed.
            if answer.unscored is None or answer.usage.calls:
                endings.has_succeeded = True
                endings.failures.clear()
                # A call that was under way shows that calls can succeed.
                endings.ended = None
            return answer

        concerns_sample_only = (
            endings.has_succeeded or why.reason is Reason.INVALID_INPUT
        )
        if why.fatal or not concerns_sample_only:
            endings.failures[why.reason] += 1
        if endings.failures[why.reason] >= ENOUGH_FAILURES and endings.ended is None:
            endings.ended = Unscored(
                reason=why.reason,
                detail=f"not asked, after {ENOUGH_FAILURES} failures like this: {why.detail}",
                fatal=True,
            )
        if not endings.has_succeeded:
            return answer
        failure = why.model_copy(update={"fatal": False})
        return answer.model_copy(update={"unscored": failure})

    def _write_computed(self) -> None:
        """Write computed judgements to the store, all at once."""
        computed = self._computed
        self._computed = []
        if computed and self._store is not None:
            _write(self._store, computed)


def _write(store: VerdictStore, judgements: Iterable[tuple[str, Judgement]]) -> None:
    with store.spared():
        store.put_many(judgements)

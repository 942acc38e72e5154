"""Asking judges: the store first, then what others know, then the judge; one sample, or a stream.

A sample is a list of questions that do not wait for each other, and a result is made of their
answers (`Asking`), so nothing here knows of claims or ratings.

Evaluators of one process share what is known, or under way: three metrics at three temperatures ask
the same judge for the same judgement. The first asker judges, in its own thread, event loop and
context, and the others take what it got. Failures are raised for everybody who waits for them, and never
remembered.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, deque
from collections.abc import (
    AsyncGenerator,
    Callable,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

from pydantic_core import to_json

from tcva_adapters.events import emit
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.non_claims import SentenceMark, SentenceMemory
from tcva_adapters.judges.rounds import Rounds
from tcva_adapters.judges.unscored import why_unscored
from tcva_adapters.loops import checkpoint, is_in_loop, turn_with_time, work_aside
from tcva_adapters.models.protocol import Identity
from tcva_adapters.models.store_keys import digest, key_of
from tcva_adapters.progress import Progress
from tcva_adapters.results.assessment import Judgement, Reason, Unscored, Usage
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

_LOG: Final = logging.getLogger(__name__)

Answer = TypeVar("Answer", bound=Judgement)
Item = TypeVar("Item")
R = TypeVar("R", bound=Scored)
Out = TypeVar("Out", bound=Scored)

AHEAD: Final = 32
"""Samples that are read ahead for each judgement that may be under way: a slow call holds up those
behind it only when so many of them are done."""

CHUNK: Final = 64
"""Samples that are looked up in a store at once, at most."""

ENOUGH_FAILURES: Final = 20
"""So many failures with the same reason and no success among them end a run. Once a call succeeded,
only failures count that every call would meet (a wrong key); a text that a server refuses says
nothing of others."""

LONGEST_WAIT: Final = 300.0
"""Seconds after which a waiter asks for itself where the judge's own deadline is not known."""

_ELSEWHERE: Final = 1.0
"""Seconds that a call of another event loop is waited for: nobody may run that loop any more, and a
thread that waits may be the one that it needs."""

_STORE_SECONDS: Final = 0.05
"""Seconds that reading or writing a store may take: too many to hold up an event loop."""

_READING: Final = 0.02
"""Seconds after which further samples of a chunk are not waited for."""

MOST_REMEMBERED: Final = 4096
MOST_BYTES: Final = 64_000_000
"""How many judgements are remembered, and how large they are together; the one that was used least
recently goes first."""

Read = tuple[Sequence[Item], bool, Exception | None]
"""The next items, whether these were the last ones, and why they end early."""


@dataclass(eq=False, slots=True)
class Call:
    """A judgement under way, or remembered.

    Attributes:
        place: Whose judgement, and of what.
        holder: The object that judges; of what is remembered, a weak reference to it.
        run: What it is part of; None once it has ended.
        loop: The event loop that it is awaited on; None for a synchronous one.
        done: Its answer; None where the one who judged went away without one.
        size: In bytes, of what is remembered; 0 while it is under way.
    """

    place: tuple[Hashable, str]
    holder: Any
    run: object
    loop: asyncio.AbstractEventLoop | None
    done: Future[Any] = field(default_factory=Future)
    size: int = 0


class SharedJudgements:
    """The judgements that evaluators share, by judge and key."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything; judgements under way end on their own, and are not remembered."""
        self._lock = threading.Lock()
        self._calls: OrderedDict[tuple[Hashable, str], Call] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        """How many answers are remembered for judges that are still there."""
        with self._lock:
            return sum(
                call.size > 0 and call.holder() is not None
                for call in self._calls.values()
            )

    @property
    def under_way(self) -> int:
        """How many judgements are being made."""
        with self._lock:
            return sum(call.size == 0 for call in self._calls.values())

    def begin(
        self,
        identity: Identity,
        key: str,
        run: object,
        loop: asyncio.AbstractEventLoop | None = None,
        past: Call | None = None,
    ) -> tuple[Call, bool]:
        """What is remembered or under way, or a new call, and whether the asker is to make it.

        Args:
            identity: Whose judgement.
            key: Of what.
            run: What it would be part of.
            loop: Where it would be awaited; None for a synchronous asker.
            past: A judgement that the asker waits for no longer.
        """
        is_object = identity.equal is None
        place = (("object", id(identity.holder)) if is_object else identity.equal, key)
        with self._lock:
            call = self._calls.get(place)
            if call is not None:
                maker = call.holder() if call.size else call.holder
                is_there = maker is identity.holder if is_object else maker is not None
                self._calls.move_to_end(place)
                if is_there and (call is not past or call.size):
                    return call, False
                self._bytes -= call.size
            call = self._calls[place] = Call(place, identity.holder, run, loop)
            call.done.set_running_or_notify_cancel()  # no waiter can cancel it for the others
            return call, True

    def end(self, call: Call, answer: Any) -> None:
        """Tell those who wait, and remember what is no failure.

        Args:
            call: What ends.
            answer: The judgement; None hands it over to one of them.
        """
        holder, size = call.holder, 0
        # What no file can hold is not remembered, nor where nobody can tell when its judge goes.
        with suppress(ValueError, TypeError):
            if answer is not None and answer.failure is None:
                holder, size = weakref.ref(holder), len(to_json(answer, fallback=str))
        call.done.set_result(answer)
        with self._lock:
            if self._calls.get(call.place) is not call:
                return
            call.holder, call.size, call.run, call.loop = holder, size, None, None
            self._bytes += size
            if size == 0:
                del self._calls[call.place]
            while len(self._calls) > MOST_REMEMBERED or self._bytes > MOST_BYTES:
                self._bytes -= self._calls.popitem(last=False)[1].size


SHARED: Final = SharedJudgements()
"""What the evaluators of this process share."""


def clear_shared() -> None:
    """Forget the judgements that evaluators of this process share; the next ones are asked anew."""
    SHARED.clear()


if hasattr(
    os, "register_at_fork"
):  # nobody in a child makes the judgements that were under way
    os.register_at_fork(after_in_child=SHARED.clear)


class Question(ABC, Generic[Answer]):
    """What one judge is asked about one sample.

    Attributes:
        judge: Who is asked.
        key: Equal where everything that can change the answer is equal.
        identity: Which judges are the same one; None for a judge that answers at once, whose
            answers are not shared.
        own: Fields of an answer that are this sample's, and not those of an equal question.
        answered_by: What an answer is.
    """

    answered_by: ClassVar[type[Judgement]]
    judge: Any
    key: str
    identity: Identity | None
    own: Mapping[str, Any]

    @abstractmethod
    def ask(self) -> Answer:
        """Ask the judge. Failures are values."""

    @abstractmethod
    async def aask(self) -> Answer:
        """The same, awaited."""

    @abstractmethod
    def rounds(self) -> Rounds[Answer]:
        """The same of a model without its calls, for who brings the replies."""

    @abstractmethod
    def given_up(self, why: Unscored) -> Answer:
        """The answer where no call can succeed."""


class Asking(ABC, Generic[R]):
    """What has questions about samples, and makes results of their answers.

    Attributes:
        is_instant: Whether all judging takes milliseconds: it is done at once in the thread that
            asks, and stored later, many at a time.
        store: Where judgements made before are served from; None for none.
        share: Whether judgements are shared with other evaluators of this process.
        max_concurrency: How many judgements are under way at once.
        events: Whether each result is emitted as an event, and whether with texts.
        name: What events call the evaluation.
    """

    is_instant: bool
    store: VerdictStore | None
    share: bool
    max_concurrency: int
    events: Literal[False, True, "texts"] = False
    name: str

    @abstractmethod
    def questions(self, sample: Sample) -> list[Question[Any]]:
        """What is asked about a sample, all in one round; nothing where a required field is missing."""

    @abstractmethod
    def answered(self, sample: Sample, answers: Sequence[Any]) -> R:
        """The result of a sample, from an answer to each of its questions, in their order."""

    def emitted(self, result: Out) -> Out:
        """A result on its way out, after its event where there are events."""
        if self.events:
            emit(result, name=self.name, texts=self.events == "texts")
        return result


@dataclass(slots=True)
class _Calls:
    """How the calls of a judge have ended in this run."""

    has_succeeded: bool = False
    failures: Counter[Reason] = field(default_factory=Counter)
    ended: Unscored | None = None


@dataclass(slots=True)
class _Asked:
    """A sample in a batch.

    Attributes:
        answers: As far as they are there.
        left: The places of those that are judged elsewhere.
        under_way: Their futures.
    """

    sample: Sample
    questions: Sequence[Question[Any]]
    answers: list[Any]
    left: Sequence[int]
    under_way: dict[int, Any] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return all(each.done() for each in self.under_way.values())


class Runner(Generic[R]):
    """How the questions of one evaluation, or of one batch, are answered.

    Args:
        scorer: Whose questions.
        in_batch: Whether a failure that no call can escape spares the rest.
    """

    def __init__(self, scorer: Asking[R], *, in_batch: bool = False) -> None:
        self._scorer = scorer
        self._store = scorer.store
        self._chunk = CHUNK if scorer.store else 1
        self._in_batch = in_batch
        self._holds_a_loop = False
        self._calls: dict[int, _Calls] = {}
        self._computed: list[tuple[Question[Any], Any]] = []
        self._failed: set[Reason] = set()

    def result(self, sample: Sample) -> R:
        """One sample's result, in this thread; a model's several questions in several threads."""
        (asked,) = self._asked([sample])
        if len(asked.left) > 1:
            (result,) = self.stream(iter([sample]), Progress("", 1))
            return result
        for i in asked.left:
            asked.answers[i] = self.answer(asked.questions[i])
        result = self._handed(asked, Progress("", 1))
        self._write_computed()
        return result

    async def aresult(self, sample: Sample) -> R:
        """The same, awaited; several questions in several tasks, a single one in this very one."""
        await turn_with_time()
        (asked,) = await self._aside(partial(self._asked, [sample]))
        if len(asked.left) > 1:
            results = self.astream(iter([sample]), Progress("", 1))
            (result,) = [result async for result in results]
            return result
        result = await self._ahanded(asked, Progress("", 1))
        await self._aside(self._write_computed)
        await checkpoint()
        return result

    def answer(self, question: Question[Any]) -> Any:
        """The answer to a question that the store has none to: another's, or asked here and now."""
        call: Call | None = None
        while True:
            answer, call, seconds = self._begun(question, None, call)
            if answer is not None:
                return answer
            if call is None or seconds is None:
                break
            with suppress(TimeoutError):
                call.done.result(seconds)
        try:
            answer = question.ask()
        except Exception as error:  # noqa: BLE001  # a judge may be anybody's
            answer = question.given_up(why_unscored(error))
        finally:
            if call is not None:
                SHARED.end(call, answer)
        return self._kept(question, answer)

    async def aanswer(self, question: Question[Any]) -> Any:
        """The same, awaited."""
        call: Call | None = None
        while True:
            answer, call, seconds = self._begun(
                question, asyncio.get_running_loop(), call
            )
            if answer is not None:
                return answer
            if call is None or seconds is None:
                break
            # Before Python 3.12 `asyncio.wait_for` drops a cancellation that comes with the answer.
            done = asyncio.wrap_future(call.done)
            try:
                await asyncio.wait([done], timeout=seconds)
            finally:
                done.cancel()
        try:
            answer = await question.aask()
        except Exception as error:  # noqa: BLE001  # as above; cancellation passes through
            answer = question.given_up(why_unscored(error))
        finally:
            if call is not None:
                SHARED.end(call, answer)
        return await self._aside(partial(self._kept, question, answer))

    async def _aside(self, work: Callable[[], Item]) -> Item:
        """Do work that may wait for the store's file off the event loop."""
        return work() if self._store is None else await work_aside(work, _STORE_SECONDS)

    def stream(self, samples: Iterator[Sample], shown: Progress) -> Iterator[R]:
        """The results of many samples, in order.

        Args:
            samples: Read in this thread, as far ahead as there is room.
            shown: Is given every result.
        """
        self._holds_a_loop = is_in_loop()
        most = self._scorer.max_concurrency
        pool = ThreadPoolExecutor(most, thread_name_prefix="tcva")
        waiting: deque[_Asked] = deque()
        is_end, error = False, None

        try:
            while not is_end:
                some, is_end, error = read_some(samples, self._chunk)
                for asked in self._asked(some):
                    for i in asked.left:
                        # What a framework has set for its callbacks and traces holds there, too.
                        run = copy_context().run
                        asked.under_way[i] = pool.submit(
                            run, self.answer, asked.questions[i]
                        )
                    waiting.append(asked)
                while waiting and (
                    is_end or len(waiting) > AHEAD * most or waiting[0].is_done
                ):
                    yield self._handed(waiting.popleft(), shown)
        finally:
            # After Ctrl-C nothing new starts. Calls under way end by themselves and reach the
            # store, but nobody is made to wait for them here.
            pool.shutdown(wait=False, cancel_futures=True)
            self._write_computed()
        if error is not None:
            raise error

    async def astream(
        self, samples: Iterator[Sample], shown: Progress
    ) -> AsyncGenerator[R]:
        """The same, awaited.

        What is under way is cancelled where the caller stops taking, or is cancelled.
        """
        most = self._scorer.max_concurrency
        gate = asyncio.Semaphore(most)
        tasks: set[asyncio.Task[Any]] = set()
        waiting: deque[_Asked] = deque()
        is_end, error = False, None

        def ended(task: asyncio.Task[Any]) -> None:
            tasks.discard(task)
            gate.release()

        try:
            while not is_end:
                some, is_end, error = read_some(samples, self._chunk)
                for asked in await self._aside(partial(self._asked, some)):
                    for i in asked.left:
                        await gate.acquire()
                        task = asyncio.create_task(self.aanswer(asked.questions[i]))
                        tasks.add(task)
                        task.add_done_callback(ended)
                        asked.under_way[i] = task
                    waiting.append(asked)
                await asyncio.sleep(0)  # what has begun goes on
                while waiting and (
                    is_end or len(waiting) > AHEAD * most or waiting[0].is_done
                ):
                    for task in waiting[0].under_way.values():
                        await task
                    yield await self._ahanded(waiting.popleft(), shown)
        finally:
            under_way = [*tasks]
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            await self._aside(self._write_computed)
        if error is not None:
            raise error

    def _asked(self, samples: Sequence[Sample]) -> list[_Asked]:
        """Samples with the answers that the store has."""
        self._write_computed()
        asked = [(sample, self._scorer.questions(sample)) for sample in samples]
        found = iter(
            self._stored([question for _, questions in asked for question in questions])
        )
        chunk = []
        for sample, questions in asked:
            answers = [next(found) for _ in questions]
            left = [i for i, answer in enumerate(answers) if answer is None]
            chunk.append(
                _Asked(
                    sample, questions, answers, [] if self._scorer.is_instant else left
                )
            )
        return chunk

    async def _ahanded(self, asked: _Asked, shown: Progress) -> R:
        """The same as `_handed`, awaited."""
        for i, question in enumerate(asked.questions):
            if asked.answers[i] is None and i not in asked.under_way:
                asked.answers[i] = await self.aanswer(question)
        return self._handed(asked, shown)

    def _handed(self, asked: _Asked, shown: Progress) -> R:
        """The result of a sample, once its answers are there."""
        for i, question in enumerate(asked.questions):
            if i in asked.under_way:
                asked.answers[i] = asked.under_way[i].result()
            elif asked.answers[i] is None:
                asked.answers[i] = self.answer(question)
        result = self._scorer.emitted(
            self._scorer.answered(asked.sample, asked.answers)
        )
        why = result.unscored
        shown.tick(failed=why is not None and why.reason.is_failure)
        return result

    def _begun(
        self,
        question: Question[Any],
        loop: asyncio.AbstractEventLoop | None,
        past: Call | None,
    ) -> tuple[Any, Call | None, float | None]:
        """An answer that is there; else a call to make, or to wait for so many seconds.

        Args:
            question: What is asked.
            loop: The event loop that asks; None for a thread.
            past: What was waited for.
        """
        calls, identity = self._calls.get(id(question.judge)), question.identity
        if calls is not None and calls.ended is not None:
            return question.given_up(calls.ended), None, None
        if identity is None or not self._scorer.share:
            return None, None, None
        found = past.done.result() if past is not None and past.done.done() else None
        if found is None:
            call, is_own = SHARED.begin(identity, question.key, self, loop, past)
            if is_own:
                return None, call, None
            found = call.done.result() if call.done.done() else None
        if found is not None:
            _LOG.debug("a judgement of another evaluator is shared")
            # What another evaluator got, under the name of this question's sample.
            free = {"usage": Usage(), "shared": not found.from_store}
            stored = self._kept(question, found).model_copy(
                update={**question.own, **free}
            )
            return stored, None, None
        seconds = identity.seconds or LONGEST_WAIT
        if call.loop not in (None, loop):
            seconds = min(seconds, _ELSEWHERE)
        if (
            loop is None
            and call.run is not self
            and (self._holds_a_loop or is_in_loop())
        ):
            seconds = 0.0  # or that loop would stand still
        return None, call, seconds

    def _kept(self, question: Question[Answer], answer: Answer) -> Answer:
        """A new answer, once it is in the store and it is known what it means for the rest.

        See `ENOUGH_FAILURES` for when a batch ends. Any other failure is its sample's own.
        """
        why = answer.failure
        if why is not None:  # after an outage one line tells all
            level = logging.INFO if why.reason in self._failed else logging.WARNING
            _LOG.log(level, "a judgement failed: %s", why.reason.value)
            self._failed.add(why.reason)
        if self._in_batch:
            calls = self._calls.setdefault(id(question.judge), _Calls())
            if why is not None:
                answer = answer.own_failure() if calls.has_succeeded else answer
                is_own = calls.has_succeeded or why.reason is Reason.INVALID_INPUT
                if why.fatal or not is_own:
                    calls.failures[why.reason] += 1
                if calls.failures[why.reason] >= ENOUGH_FAILURES:
                    detail = f"not asked, after {ENOUGH_FAILURES} failures like this: {why.detail}"
                    ended = {
                        "raw_reply": None,
                        "fatal": True,
                        "detail": detail,
                    }
                    calls.ended = calls.ended or why.model_copy(update=ended)
            elif (
                answer.unscored is None or answer.usage.calls
            ):  # a sample without a call proves nothing
                calls.has_succeeded = True
                calls.failures.clear()
                calls.ended = (
                    None  # a call that was under way shows that calls can succeed
                )
        if self._store is not None:
            if self._scorer.is_instant:
                self._computed.append((question, answer))
            else:
                self._write([(question, answer)])
        return answer

    def _stored(self, questions: Sequence[Question[Any]]) -> list[Any]:
        """What the store has of these questions of one kind, None where it has nothing."""
        if self._store is not None and questions:
            with self._store.spared():
                return stored(self._store, questions)
        return [None] * len(questions)

    def _write_computed(self) -> None:
        """Put what was computed for one chunk of samples into the store, all of it at once."""
        computed, self._computed = self._computed, []
        self._write(computed)

    def _write(self, answered: Sequence[tuple[Question[Any], Any]]) -> None:
        if answered and self._store is not None:
            with self._store.spared():
                self._store.put_many(
                    [(question.key, answer) for question, answer in answered]
                )


@dataclass(frozen=True)
class SharedSentences(SentenceMemory):
    """What a judge said of sentences that it was shown alone, shared or stored as judgements are.

    Attributes:
        judge: Who is asked.
        identity: Which judges are the same one; None shares nothing.
        store: Where the answers are stored; None shares them in this process.
    """

    judge: Judge
    identity: Identity | None
    store: VerdictStore | None

    def setdefault(
        self, sentence: str, mark: SentenceMark | None = None
    ) -> SentenceMark | None:
        """The earlier mark of a sentence; where there is none, the given one, which is remembered."""
        name, parameters = key_of(self.judge).values()
        key = digest({"alone": [name, self.judge.prompt_version, parameters, sentence]})
        if self.store is not None:
            with self.store.spared():
                known = self.store.get_many([key], SentenceMark).get(key)
                if known is None and mark is not None:
                    self.store.put_many([(key, mark)])
                return known or mark
        if self.identity is None:
            return mark
        call, is_new = SHARED.begin(self.identity, key, run=None)
        if is_new:
            SHARED.end(call, mark)
        return call.done.result() if call.done.done() else mark


def stored(store: VerdictStore, questions: Sequence[Question[Any]]) -> list[Any]:
    """What a store has of questions of one kind, None where it has nothing; looked up in one go."""
    found = store.get_many([each.key for each in questions], questions[0].answered_by)
    _LOG.debug("%s of %s judgements are in the store", len(found), len(questions))
    return [
        found[q.key].model_copy(update=q.own) if q.key in found else None
        for q in questions
    ]


def read_some(items: Iterator[Item], most: int) -> Read[Item]:
    """The next items: so many, or those that come at once.

    Args:
        items: Whatever they raise is returned, for who first hands on what came before.
        most: How many at most.
    """
    found: list[Item] = []
    until = time.monotonic() + _READING
    try:
        for item in items:
            found.append(item)
            if len(found) >= most or time.monotonic() > until:
                return found, False, None
    except Exception as error:  # noqa: BLE001  # whatever the caller's own samples raise
        return found, True, error
    return found, True, None

"""Asking judges: the store first, then what others know, then the judge; one sample, or a stream.

A sample is a list of questions that do not wait for each other, and a result is made of their
answers (`Scorer.questions`, `Scorer.answered`), so nothing here knows of claims or ratings.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
    Sequence,
)
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from tcva_adapters.errors import TCVAError
from tcva_adapters.judges.turns import Turns, why_unscored
from tcva_adapters.loops import is_in_loop
from tcva_adapters.progress import Progress
from tcva_adapters.results.assessment import Judgement, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.sharing import SHARED, Call, Identity, await_, wait

Answer = TypeVar("Answer", bound=Judgement)
Item = TypeVar("Item")
R = TypeVar("R", bound=Scored)
R_co = TypeVar("R_co", bound=Scored, covariant=True)

AHEAD: Final = 32
"""Samples that are read ahead for each judgement that may be under way: a slow call holds up those
behind it only when so many of them are done."""

CHUNK: Final = 64
"""Samples that are looked up in a store at once, at most."""

IN_A_ROW: Final = 3
"""Failures of the same fatal way, one after the other, that end a run although calls succeeded."""

_MOST_WAITING: Final = 256
"""Computed answers that wait for the store together, at most, and for a second at most."""

_READING: Final = 0.02
"""Seconds after which so many are not waited for."""

Read = tuple[Sequence[Item], bool, Exception | None]
"""The next items, whether these were the last ones, and why they end early."""


class Question(ABC, Generic[Answer]):
    """What one judge is asked about one sample. Its key is made once, with the question.

    Attributes:
        judge: Who is asked.
        key: Equal where everything that can change the answer is equal.
        identity: Which judges are the same one; None for a judge that only computes, whose answers
            are not worth sharing.
    """

    judge: object
    key: str
    identity: Identity | None

    @abstractmethod
    def ask(self) -> Answer:
        """Ask the judge. Failures are values."""

    @abstractmethod
    async def aask(self) -> Answer:
        """The same, awaited."""

    @abstractmethod
    def conversation(self) -> Turns[Answer] | None:
        """The same without its calls, for who brings the replies of the judge's model.

        None for a judge that is no model, or whose calls are its own business.
        """

    @classmethod
    @abstractmethod
    def read(cls, store: VerdictStore, questions: Sequence[Self]) -> list[Answer | None]:
        """The finished answers that a store has, one for each question; looked up in one go."""

    @classmethod
    @abstractmethod
    def write(cls, store: VerdictStore, answered: Sequence[tuple[Self, Answer]]) -> None:
        """Put answers into a store, in one transaction."""

    @abstractmethod
    def free(self, answer: Answer) -> Answer:
        """The answer to an equal question under the name of this one's sample, at no cost."""

    @abstractmethod
    def given_up(self, why: Unscored) -> Answer:
        """The answer where no call can succeed."""


class Asks(Protocol[R_co]):
    """What a runner needs to know of a `Scorer`."""

    store: VerdictStore | None
    share: bool
    max_concurrency: int

    @property
    def is_local(self) -> bool:
        """Whether all judging is computing in this process."""

    def questions(self, sample: Sample) -> Sequence[Question[Any]]:
        """What is asked about a sample."""

    def answered(self, sample: Sample, answers: Sequence[Any]) -> R_co:
        """The result that the answers make."""


@dataclass(slots=True)
class _Luck:
    """How the calls of a judge have ended in this run."""

    has_succeeded: bool = False
    way: str = ""
    times: int = 0
    ended: Unscored | None = None


@dataclass(slots=True)
class _Asked:
    """A sample in a batch: the answers that its questions have, and futures of others by place."""

    sample: Sample
    questions: Sequence[Question[Any]]
    known: Sequence[Any]
    under_way: dict[int, Any]

    @property
    def is_done(self) -> bool:
        return all(each.done() for each in self.under_way.values())


class Runner(Generic[R]):
    """How the questions of one evaluation, or of one batch, are answered.

    Args:
        scorer: Whose questions.
        in_batch: Whether a failure that no call can escape spares the rest.
    """

    def __init__(self, scorer: Asks[R], *, in_batch: bool = False) -> None:
        self._scorer = scorer
        self._in_batch = in_batch
        self._store = scorer.store
        self._waits = not is_in_loop()  # or a loop would stand still
        self._luck: dict[int, _Luck] = {}
        self._computed: list[tuple[Question[Any], Any]] = []
        self._since = 0.0

    def result(self, sample: Sample) -> R:
        """One sample's result, in this thread; several questions are asked in several threads."""
        questions = self._scorer.questions(sample)
        found = self._stored(questions)
        if found.count(None) > 1 and not self._scorer.is_local:
            with threads(self._scorer.max_concurrency) as submit:
                left = [i for i, answer in enumerate(found) if answer is None]
                under_way = {i: submit(self.answer, questions[i]) for i in left}
                for i, each in under_way.items():
                    found[i] = each.result()
        for i, question in enumerate(questions):
            if found[i] is None:
                found[i] = self.answer(question)
        if self._computed:
            self._flush()
        return self._scorer.answered(sample, found)

    async def aresult(self, sample: Sample) -> R:
        """The same, awaited; several questions are awaited together."""
        questions = self._scorer.questions(sample)
        found = self._stored(questions)
        left = [i for i, answer in enumerate(found) if answer is None]
        if len(left) == 1:  # here and not in a task of its own: in this very context
            found[left[0]] = await self.aanswer(questions[left[0]])
        else:
            answers = await asyncio.gather(*(self.aanswer(questions[i]) for i in left))
            for i, answer in zip(left, answers, strict=True):
                found[i] = answer
        if self._computed:
            self._flush()
        return self._scorer.answered(sample, found)

    def answer(self, question: Question[Any]) -> Any:
        """The answer to a question that the store has none to: another's, or asked here and now."""
        identity = question.identity if self._scorer.share else None
        owner: object = self
        waits, call, deadline = self._waits, None, 0.0
        while True:
            if (ended := self._ended(question)) is not None:
                return ended
            if identity is None:
                break
            found, call, is_own = SHARED.begin(identity, question.key, owner=owner, waits=waits)
            if is_own:
                break
            if call is not None:
                deadline = deadline or identity.deadline
                try:
                    found = wait(call, deadline)
                except TimeoutError:
                    waits, owner = False, None
                    continue
                if found is None:  # who judged it went away
                    continue
                found = self._noted(question, found)
            return self._taken(question, found)
        answer: Any = None
        try:
            answer = question.ask()
        except Exception as error:  # noqa: BLE001  # a judge may be anybody's
            answer = question.given_up(why_unscored(error))
        finally:
            answer = self._kept(question, call, answer)
        return answer

    async def aanswer(self, question: Question[Any]) -> Any:
        """The same, awaited."""
        identity = question.identity if self._scorer.share else None
        loop = asyncio.get_running_loop()
        waits, call, deadline = True, None, 0.0
        while True:
            if (ended := self._ended(question)) is not None:
                return ended
            if identity is None:
                break
            found, call, is_own = SHARED.begin(identity, question.key, loop, waits=waits)
            if is_own:
                break
            if call is not None:
                deadline = deadline or identity.deadline
                try:
                    found = await await_(call, deadline)
                except TimeoutError:
                    waits = False
                    continue
                if found is None:  # who judged it went away
                    continue
                found = self._noted(question, found)
            return self._taken(question, found)
        answer: Any = None
        try:
            answer = await question.aask()
        except Exception as error:  # noqa: BLE001  # as above; cancellation passes through
            answer = question.given_up(why_unscored(error))
        finally:
            answer = self._kept(question, call, answer)
        return answer

    def stream(self, samples: Iterator[Sample], shown: Progress) -> Iterator[R]:
        """The results of many samples, in order.

        Args:
            samples: Read in this thread, as far ahead as there is room.
            shown: Told of every result.
        """
        waiting: deque[_Asked] = deque()
        is_end, error, was_taken = False, None, False
        with ExitStack() as stack:
            stack.callback(self._flush)
            begin = partial(stack.enter_context(threads(self._most)), self.answer)
            while True:
                if not is_end and self._has_room(waiting, was_taken=was_taken):
                    was_taken = False
                    some, is_end, error = read_some(samples, self._chunk)
                    waiting += self._begun(some, begin)
                elif waiting:
                    was_taken = True
                    yield self._handed(waiting.popleft(), shown)
                elif error is not None:
                    raise error
                else:
                    return

    async def astream(
        self, samples: Iterator[Sample] | AsyncIterator[Sample], shown: Progress
    ) -> AsyncGenerator[R]:
        """The same, awaited; samples that are awaited hold nothing up.

        What is under way is cancelled where the caller stops taking, or is cancelled.
        """
        waiting: deque[_Asked] = deque()
        gate = asyncio.Semaphore(self._most)
        tasks: set[asyncio.Task[Any]] = set()
        reading: asyncio.Task[Read[Sample]] | None = None
        is_end, error, was_taken = False, None, False

        async def gated(question: Question[Any]) -> Any:
            async with gate:
                return await self.aanswer(question)

        def begin(question: Question[Any]) -> asyncio.Task[Any]:
            return _started(gated(question), tasks)

        try:
            while True:
                if reading is not None and reading.done():
                    some, is_end, error = reading.result()
                    waiting += self._begun(some, begin)
                    reading = None
                if reading is None and not is_end and self._has_room(waiting, was_taken=was_taken):
                    was_taken = False
                    if isinstance(samples, AsyncIterator):
                        reading = _started(_next(samples), tasks)
                    else:
                        some, is_end, error = read_some(samples, self._chunk)
                        waiting += self._begun(some, begin)
                        await asyncio.sleep(0)  # what has begun goes on
                        continue
                if waiting and waiting[0].is_done:
                    was_taken = True
                    await asyncio.sleep(0)  # others have their turn between two results
                    yield self._handed(waiting.popleft(), shown)
                elif waiting or reading is not None:
                    first = waiting[0].under_way.values() if waiting else ()
                    left = [each for each in (*first, reading) if each and not each.done()]
                    await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                else:
                    break
            if error is not None:
                raise error
        finally:
            await _cancelled(tasks)
            self._flush()

    @property
    def _most(self) -> int:
        return self._scorer.max_concurrency

    @property
    def _chunk(self) -> int:
        return 1 if self._store is None else CHUNK

    def _has_room(self, waiting: Sequence[_Asked] | deque[_Asked], *, was_taken: bool) -> bool:
        """Whether to read on before the next result is handed over.

        A slow source must not hold back what is done; but each result that is taken makes room for
        a sample, so that a slow taker leaves nobody idle.
        """
        if self._scorer.is_local or not waiting:
            return not waiting
        return len(waiting) < AHEAD * self._most and (was_taken or not waiting[0].is_done)

    def _begun(
        self, samples: Sequence[Sample], begin: Callable[[Question[Any]], Any]
    ) -> Iterator[_Asked]:
        """Samples with the answers that the store has, and those that are not computed under way."""
        asked = [(sample, self._scorer.questions(sample)) for sample in samples]
        found = iter(self._stored([question for _, questions in asked for question in questions]))
        for sample, questions in asked:
            known = [next(found) for _ in questions]
            under_way = {}
            if not self._scorer.is_local:
                left = [i for i, answer in enumerate(known) if answer is None]
                under_way = {i: begin(questions[i]) for i in left}
            yield _Asked(sample, questions, known, under_way)

    def _handed(self, asked: _Asked, shown: Progress) -> R:
        """The result of a sample, once its answers are there; what is computed is computed now."""
        answers = [
            answer
            if answer is not None
            else asked.under_way[i].result()
            if i in asked.under_way
            else self.answer(asked.questions[i])
            for i, answer in enumerate(asked.known)
        ]
        result = self._scorer.answered(asked.sample, answers)
        why = result.unscored
        shown.tick(failed=why is not None and why.reason.is_failure)
        return result

    def _ended(self, question: Question[Any]) -> Any:
        """The answer where the run has ended before; None where it goes on."""
        luck = self._luck.get(id(question.judge))
        if luck is None or luck.ended is None:
            return None
        return question.given_up(luck.ended.model_copy(update={"raw_reply": None}))

    def _taken(self, question: Question[Answer], answer: Answer) -> Answer:
        """An answer that another evaluator got; the store of this one is to have it, too."""
        if self._store is not None:
            self._write(question, answer)
        return question.free(answer)

    def _kept(self, question: Question[Any], call: Call | None, answer: Any) -> Any:
        """A new answer, once the store has it and those who wait were told; None for none."""
        own = answer
        try:
            if answer is not None:
                own = self._noted(question, answer)
                if self._store is not None:
                    self._write(question, own)
        finally:
            if call is not None and question.identity is not None:
                keeps = answer is not None and answer.failure is None
                SHARED.end(call, question.identity, question.key, answer, keeps=keeps)
        return own

    def _noted(self, question: Question[Answer], answer: Answer) -> Answer:
        """An answer, once it is known what it means for the rest of a batch.

        A failure that no call can escape ends the run before any call of the judge succeeded, and
        with the third of the same way in a row. Any other such failure is its sample's own.
        """
        if not self._in_batch:
            return answer
        why = answer.failure
        luck = self._luck.setdefault(id(question.judge), _Luck())
        if why is None or not why.fatal:
            luck.has_succeeded |= why is None
            luck.times = 0
            return answer
        way = why.detail.partition(":")[0]
        luck.times = luck.times + 1 if way == luck.way else 1
        luck.way = way
        if luck.has_succeeded and luck.times < IN_A_ROW:
            return answer.own_failure()
        luck.ended = why
        return answer

    def _stored(self, questions: Sequence[Question[Any]]) -> list[Any]:
        """What the store has of these questions of one kind, None where it has nothing."""
        if self._store is not None and questions:
            with self._store.spared():
                return type(questions[0]).read(self._store, questions)
        return [None] * len(questions)

    def _write(self, question: Question[Any], answer: Any) -> None:
        """Put a new answer into the store; what is only computed waits for others."""
        if not self._computed:
            self._since = time.monotonic()
        self._computed.append((question, answer))
        is_due = len(self._computed) >= _MOST_WAITING or time.monotonic() > self._since + 1
        if is_due or not self._scorer.is_local:
            self._flush()

    def _flush(self) -> None:
        """Write what waits, in one transaction; what is wrong with one answer costs no other its place."""
        pairs, self._computed = self._computed, []
        if not pairs or self._store is None:
            return
        try:
            type(pairs[0][0]).write(self._store, pairs)
        except TCVAError:
            for question, answer in pairs:
                with self._store.spared():
                    type(question).write(self._store, [(question, answer)])


def _started(work: Coroutine[Any, Any, Item], tasks: set[asyncio.Task[Any]]) -> asyncio.Task[Item]:
    """A task, among the others as long as it is under way."""
    tasks.add(task := asyncio.create_task(work))
    task.add_done_callback(tasks.discard)
    return task


async def _cancelled(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def threads(number: int) -> Iterator[Callable[..., Future[Any]]]:
    """Work is done in threads, each piece in the context of the one who hands it in."""
    pool = ThreadPoolExecutor(number, thread_name_prefix="tcva")
    try:
        # What a framework has set for its callbacks and traces holds there, too.
        yield lambda work, *arguments: pool.submit(copy_context().run, work, *arguments)
    finally:
        # After Ctrl-C nothing new starts. Calls under way end by themselves and reach the
        # store, but nobody is made to wait for them here.
        pool.shutdown(wait=False, cancel_futures=True)


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


async def _next(items: AsyncIterator[Item]) -> Read[Item]:
    """The same of items that are awaited: the next one."""
    try:
        return [await anext(items)], False, None
    except StopAsyncIteration:
        return [], True, None
    except Exception as error:  # noqa: BLE001  # as above
        return [], True, error

"""Asking questions: the store first, then what others know, then the judge.

A sample's way to its result is a generator that yields questions and is sent their answers
(`Scorer.steps`), so nothing here knows of claims or ratings. `window` asks those of many samples.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from tcva_adapters.errors import TCVAError
from tcva_adapters.judges.turns import Turns, why_unscored
from tcva_adapters.results.assessment import Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.store_troubles import StoreTroubles
from tcva_adapters.sharing import SHARED, Identity, context_of_work

Answer = TypeVar("Answer")
R = TypeVar("R", bound=Scored)

_MOST_WAITING: Final = 256
"""Computed answers that wait for the store, at most."""

_LONGEST_WAIT: Final = 1.0
"""Seconds that they wait there, at most."""

Submit = Callable[..., Future[Any]]
Plan = Generator[Sequence["Question[Any]"], Sequence[Any], R]
"""See `tcva_adapters.scorer.Steps`."""


class Question(ABC, Generic[Answer]):
    """What one judge is asked about one sample. Its key is made once, with the question.

    Attributes:
        judge: Who is asked; a failure that no further call can escape ends all its questions.
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
    def failure(self, answer: Answer) -> Unscored | None:
        """Why another try may give a better answer; None where none can."""

    @abstractmethod
    def given_up(self, why: Unscored) -> Answer:
        """The answer where no call can succeed."""


class Asks(Protocol):
    """What the engine needs to know of a scorer."""

    store: VerdictStore | None
    share: bool
    max_concurrency: int

    @property
    def is_local(self) -> bool:
        """Whether all judging is computing in this process."""


class _Writes:
    """Answers on their way into a store, several in one transaction where they come at once.

    Args:
        store: The store.
        troubles: Told of what fails.
        waits: Whether answers may wait for others: those of a judge that only computes, for a
            second at most. All others are in the store when `put` returns.
    """

    def __init__(self, store: VerdictStore, troubles: StoreTroubles, *, waits: bool) -> None:
        self._store, self._troubles, self._waits = store, troubles, waits
        self._pairs: list[tuple[Question[Any], Any]] = []
        self._since = 0.0
        self._writing = Lock()

    def put(self, question: Question[Answer], answer: Answer) -> None:
        """Write an answer, and those that others have put meanwhile."""
        self.add(question, answer)
        now = time.monotonic()
        if len(self._pairs) == 1:
            self._since = now
        is_due = len(self._pairs) >= _MOST_WAITING or now - self._since >= _LONGEST_WAIT
        if not self._waits or is_due:
            self.flush()

    def add(self, question: Question[Answer], answer: Answer) -> None:
        """The answer is written by the next `flush`, whoever calls it."""
        self._pairs.append((question, answer))

    def flush(self) -> None:
        """Write what waits; when this returns, all that was put before is written."""
        with self._writing:
            pairs, self._pairs = self._pairs, []
            if not pairs:
                return
            try:
                type(pairs[0][0]).write(self._store, pairs)
            except TCVAError:
                for pair in pairs:  # what is wrong with one costs no other its place
                    with self._troubles.spared(loses=1):
                        type(pair[0]).write(self._store, [pair])


@dataclass
class Asking:
    """How the questions of one evaluation, or of one batch, are answered; used around them.

    Attributes:
        scorer: Whose questions.
        in_batch: Whether equal questions may be answered by one answer, and a failure that no call
            can escape spares the rest.
    """

    scorer: Asks
    in_batch: bool = False
    _fatal: dict[int, Unscored] = field(default_factory=dict)
    _troubles: StoreTroubles = field(init=False)
    _writes: _Writes | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        store = self.scorer.store
        self._troubles = StoreTroubles(store, in_batch=self.in_batch)
        if store is not None:
            waits = self.in_batch and self.scorer.is_local
            self._writes = _Writes(store, self._troubles, waits=waits)

    def __enter__(self) -> Self:
        """These questions."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what waits, and tell how the store failed."""
        if self._writes is not None:
            self._writes.flush()
        self._troubles.__exit__(kind, error, trace)

    def place(self, question: Question[Any]) -> object:
        """Equal for questions that one answer serves."""
        is_one = self.in_batch and self.scorer.share
        return (id(question.judge), question.key) if is_one else question

    def stored(self, questions: Sequence[Question[Any]]) -> list[Any]:
        """What the store has of these questions of one kind, None where it has nothing."""
        store = self.scorer.store
        if store is not None and questions:
            with self._troubles.spared():
                return type(questions[0]).read(store, questions)
        return [None] * len(questions)

    def answer(self, question: Question[Answer]) -> Answer:
        """The answer to a question, whoever has it."""
        (known,) = self.stored([question])
        return self.new(question) if known is None else known

    async def aanswer(self, question: Question[Answer]) -> Answer:
        """The same, awaited."""
        (known,) = self.stored([question])
        return await self.anew(question) if known is None else known

    def new(self, question: Question[Answer]) -> Answer:
        """The answer to a question that the store has none to."""
        fatal = self._fatal.get(id(question.judge))
        if fatal is not None:
            return question.given_up(fatal.model_copy(update={"raw_reply": None}))
        if question.identity is None or not self.scorer.share:
            return self._written(question, _asked(question))
        found = SHARED.ask(
            question.identity,
            question.key,
            lambda: self._written(question, _asked(question)),
            lambda answer: question.failure(answer) is not None,
        )
        return self._shared(question, found.answer) if found.is_shared else found.answer  # type: ignore[no-any-return]  # as above

    async def anew(self, question: Question[Answer]) -> Answer:
        """The same, awaited."""
        fatal = self._fatal.get(id(question.judge))
        if fatal is not None:
            return question.given_up(fatal.model_copy(update={"raw_reply": None}))

        async def judge() -> Answer:
            return await self._awritten(question, await _aasked(question))

        if question.identity is None or not self.scorer.share:
            return await judge()
        found = await SHARED.aask(
            question.identity,
            question.key,
            judge,
            lambda answer: question.failure(answer) is not None,
        )
        return self._shared(question, found.answer) if found.is_shared else found.answer  # type: ignore[no-any-return]  # as above

    def _written(self, question: Question[Answer], answer: Answer) -> Answer:
        """A new answer, once the store has it and it is known what it means for the rest."""
        self._note(question, answer)
        if self._writes is not None:
            self._writes.put(question, answer)
        return answer

    async def _awritten(self, question: Question[Answer], answer: Answer) -> Answer:
        """The same; what else is answered in the same turn of the loop is written with it."""
        if self._writes is None or not self.in_batch:
            return self._written(question, answer)
        self._note(question, answer)
        self._writes.add(question, answer)
        try:
            await asyncio.sleep(0)
        finally:
            self._writes.flush()
        return answer

    def _note(self, question: Question[Answer], answer: Answer) -> None:
        """Remember a failure that no further call can escape."""
        failure = question.failure(answer)
        if self.in_batch and failure is not None and failure.fatal:
            self._fatal[id(question.judge)] = failure

    def _shared(self, question: Question[Answer], answer: Answer) -> Answer:
        """An answer that another evaluator got; the store of this one is to have it too."""
        self._note(question, answer)
        if self._writes is not None and self.stored([question]) == [None]:
            self._writes.put(question, answer)
        return question.free(answer)


def _asked(question: Question[Answer]) -> Answer:
    """What the judge answers; a judge that raises costs its sample, never the batch."""
    try:
        return question.ask()
    except Exception as error:  # noqa: BLE001  # a judge may be anybody's
        return question.given_up(why_unscored(error))


async def _aasked(question: Question[Answer]) -> Answer:
    """The same, awaited."""
    try:
        return await question.aask()
    except Exception as error:  # noqa: BLE001  # as above; cancellation passes through
        return question.given_up(why_unscored(error))


def answered(plan: Plan[R], asking: Asking) -> R:
    """One sample's result, in this thread; questions that stand side by side in several."""
    try:
        questions = next(plan)
        while True:
            questions = plan.send(_answers(questions, asking))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # a generator hands its result over untyped


def _answers(questions: Sequence[Question[Any]], asking: Asking) -> list[Any]:
    if len(questions) < 2 or asking.scorer.is_local:
        return [asking.answer(question) for question in questions]
    with threads(asking.scorer.max_concurrency) as submit:
        return [f.result() for f in [submit(asking.answer, each) for each in questions]]


async def asked(plan: Plan[R], asking: Asking) -> R:
    """One sample's result, awaited; questions that stand side by side are awaited together."""
    ask = asking.aanswer
    try:
        questions = next(plan)
        while True:
            # A single one is awaited here and not in a task of its own: in this very context.
            questions = plan.send(
                [await ask(questions[0])]
                if len(questions) == 1
                else await asyncio.gather(*map(ask, questions))
            )
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # as above


@contextmanager
def threads(number: int) -> Iterator[Submit]:
    """Work is done in threads, each piece in the context of the one who hands it in."""
    pool = ThreadPoolExecutor(number, thread_name_prefix="tcva")
    try:
        # What a framework has set for its callbacks and traces holds there, too.
        yield lambda work, *arguments: pool.submit(context_of_work().run, work, *arguments)
    finally:
        # After Ctrl-C nothing new starts. Calls under way end by themselves and reach the
        # store, but nobody is made to wait for them here.
        pool.shutdown(wait=False, cancel_futures=True)

"""Asking questions and batching: the store first, then what others know, then the judge.

One engine for everything that scores, sync and async. A sample's way to its result is a generator
that yields questions and is sent their answers (`Scorer.steps`), so the engine knows nothing of
claims or ratings.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from tcva_adapters.judging.conversation import why_unscored
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.progress import Progress, progress_of
from tcva_adapters.results.assessment import Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.store_troubles import StoreTroubles
from tcva_adapters.sharing import SHARED, Identity, context_of_work

Answer = TypeVar("Answer")
R = TypeVar("R", bound=Scored)

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
    def conversation(self) -> Generator[JudgeRequest, ModelReply, Answer] | None:
        """The same without its calls, for who brings the replies of the judge's model.

        None for a judge that is no model, or whose calls are its own business.
        """

    @abstractmethod
    def read(self, store: VerdictStore) -> Answer | None:
        """The finished answer that a store has, if any."""

    @abstractmethod
    def write(self, store: VerdictStore, answer: Answer) -> None:
        """Put an answer into a store."""

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

    def __post_init__(self) -> None:
        self._troubles = StoreTroubles(self.scorer.store, in_batch=self.in_batch)

    def __enter__(self) -> Self:
        """These questions."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how the store failed."""
        self._troubles.__exit__(kind, error, trace)

    def place(self, question: Question[Any]) -> object:
        """Equal for questions that one answer serves."""
        is_one = self.in_batch and self.scorer.share
        return (id(question.judge), question.key) if is_one else question

    def answer(self, question: Question[Answer]) -> Answer:
        """The answer to a question, whoever has it."""
        known = self._known(question)
        if known is not None:
            return known
        if question.identity is None or not self.scorer.share:
            return self._new(question, _asked(question))
        found = SHARED.ask(
            question.identity,
            question.key,
            lambda: self._new(question, _asked(question)),
            lambda answer: question.failure(answer) is not None,
        )
        return self._shared(question, found.answer) if found.is_shared else found.answer  # type: ignore[no-any-return]  # of this question's kind

    async def aanswer(self, question: Question[Answer]) -> Answer:
        """The same, awaited."""
        known = self._known(question)
        if known is not None:
            return known
        if question.identity is None or not self.scorer.share:
            return self._new(question, await _aasked(question))

        async def judge() -> Answer:
            return self._new(question, await _aasked(question))

        found = await SHARED.aask(
            question.identity,
            question.key,
            judge,
            lambda answer: question.failure(answer) is not None,
        )
        return self._shared(question, found.answer) if found.is_shared else found.answer  # type: ignore[no-any-return]  # as above

    def _known(self, question: Question[Answer]) -> Answer | None:
        """What can be said without a call: from the store, or because no call can succeed."""
        found = None
        if self.scorer.store is not None:
            with self._troubles.spared():
                found = question.read(self.scorer.store)
        fatal = self._fatal.get(id(question.judge))
        if found is None and fatal is not None:
            return question.given_up(fatal.model_copy(update={"raw_reply": None}))
        return found

    def _new(self, question: Question[Answer], answer: Answer) -> Answer:
        """A new answer, once the store has it and it is known what it means for the rest."""
        self._note(question, answer)
        if self.scorer.store is not None:
            with self._troubles.spared(loses=1):
                question.write(self.scorer.store, answer)
        return answer

    def _note(self, question: Question[Answer], answer: Answer) -> None:
        """Remember a failure that no further call can escape."""
        failure = question.failure(answer)
        if self.in_batch and failure is not None and failure.fatal:
            self._fatal[id(question.judge)] = failure

    def _shared(self, question: Question[Answer], answer: Answer) -> Answer:
        """An answer that another evaluator got; the store of this one is to have it too."""
        self._note(question, answer)
        store = self.scorer.store
        if store is not None:
            with self._troubles.spared(loses=1):
                if question.read(store) is None:
                    question.write(store, answer)
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
    with _threads(asking.scorer.max_concurrency) as submit:
        return [f.result() for f in [submit(asking.answer, each) for each in questions]]


async def asked(
    plan: Plan[R], asking: Asking, answer: Callable[[Question[Any]], Any] | None = None
) -> R:
    """One sample's result, awaited; questions that stand side by side are awaited together.

    Args:
        plan: The sample's.
        asking: How questions are answered.
        answer: Answers a question, where a batch has a way of its own.
    """
    ask = answer or asking.aanswer
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


def batch(plans: Sequence[Plan[R]], asking: Asking, *, progress: bool | None) -> list[R]:
    """The results of many samples, in order; equal questions are asked once."""
    with (
        progress_of("judging", len(plans), progress) as shown,
        _here() if asking.scorer.is_local else _threads(asking.scorer.max_concurrency) as submit,
    ):
        running = _Running(plans, asking, submit, shown)
        running.run()
        return running.results


def _tick(shown: Progress, result: Scored) -> None:
    why = result.unscored
    shown.tick(failed=why is not None and why.reason.is_failure)


class _Running(Generic[R]):
    """A batch under way: which questions are asked, and which samples wait for them.

    Attributes:
        results: In the order of the plans.
    """

    def __init__(
        self, plans: Sequence[Plan[R]], asking: Asking, submit: Submit, shown: Progress
    ) -> None:
        self.results: list[Any] = [None] * len(plans)
        self._plans = plans
        self._asking = asking
        self._submit = submit
        self._shown = shown
        self._questions: list[Sequence[Question[Any]]] = [()] * len(plans)
        self._lacking = [0] * len(plans)
        self._askers: dict[object, Question[Any]] = {}
        self._answers: dict[object, Any] = {}
        self._waiting: dict[object, list[int]] = {}
        self._done: SimpleQueue[tuple[object, Future[Any]]] = SimpleQueue()

    def run(self) -> None:
        """Ask until every sample has its result."""
        for index in range(len(self._plans)):
            self._advance(index)
        while self._waiting:
            place, future = self._done.get()
            self._answers[place] = future.result()
            for index in self._waiting.pop(place):
                self._lacking[index] -= 1
                if not self._lacking[index]:
                    self._advance(index)

    def _advance(self, index: int) -> None:
        """Take a sample as far as it gets with the answers that there are."""
        plan = self._plans[index]
        while not self._lacking[index]:
            answers = [self._answer(question) for question in self._questions[index]]
            try:
                self._questions[index] = plan.send(answers) if answers else next(plan)
            except StopIteration as stop:
                self.results[index] = stop.value
                _tick(self._shown, stop.value)
                return
            places = {self._asking.place(each): each for each in self._questions[index]}
            for place, question in places.items():
                if place not in self._answers:
                    self._lacking[index] += 1
                    self._wait(index, place, question)

    def _wait(self, index: int, place: object, question: Question[Any]) -> None:
        self._waiting.setdefault(place, []).append(index)
        if place not in self._askers:
            self._askers[place] = question
            future = self._submit(self._asking.answer, question)
            future.add_done_callback(lambda done: self._done.put((place, done)))

    def _answer(self, question: Question[Any]) -> Any:
        place = self._asking.place(question)
        answer = self._answers[place]
        # The call was counted at the first of the equal questions.
        return answer if self._askers[place] is question else question.free(answer)


async def abatch(plans: Sequence[Plan[R]], asking: Asking, *, progress: bool | None) -> list[R]:
    """The same, awaited, with a limit to what is under way."""
    gate = asyncio.Semaphore(asking.scorer.max_concurrency)
    tasks: dict[object, tuple[Question[Any], asyncio.Task[Any]]] = {}

    async def gated(question: Question[Any]) -> Any:
        async with gate:
            return await asking.aanswer(question)

    async def answer(question: Question[Any]) -> Any:
        place = asking.place(question)
        if place not in tasks:
            tasks[place] = question, group.create_task(gated(question))
        asker, task = tasks[place]
        found = await task
        return found if asker is question else question.free(found)

    async def one(plan: Plan[R]) -> R:
        result = await asked(plan, asking, answer)
        _tick(shown, result)
        return result

    with progress_of("judging", len(plans), progress) as shown:
        try:
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(one(plan)) for plan in plans]
        except BaseExceptionGroup as failed:  # not of a judge, whose failures are values
            raise failed.exceptions[0] from None
    return [task.result() for task in running]


@contextmanager
def _here() -> Iterator[Submit]:
    """Work is done when it is handed in."""

    def submit(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*arguments))
        return future

    yield submit


@contextmanager
def _threads(number: int) -> Iterator[Submit]:
    """Work is done in threads, each piece in the context of the one who hands it in."""
    pool = ThreadPoolExecutor(number, thread_name_prefix="tcva")
    try:
        # What a framework has set for its callbacks and traces holds there, too.
        yield lambda work, *arguments: pool.submit(context_of_work().run, work, *arguments)
    finally:
        # After Ctrl-C nothing new starts. Calls under way end by themselves and reach the
        # store, but nobody is made to wait for them here.
        pool.shutdown(wait=False, cancel_futures=True)

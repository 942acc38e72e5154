"""Many samples through one window: read, asked and handed over in order, so many at a time.

One engine for every batch, sync and async. It holds the samples between the one that is handed
over next and the one that was read last, asks equal questions once, and lets no sample wait for
another one but for its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from enum import Enum, auto
from queue import SimpleQueue
from typing import Any, Final, Generic, Self, TypeVar

from tcva_adapters.batch import Asking, Plan, Question, R, threads
from tcva_adapters.progress import Progress

AHEAD: Final = 32
"""Samples that are read ahead for each judgement that may be under way: a slow call holds up those
behind it only when so many of them are done."""

CHUNK: Final = 64
"""Samples that are looked up in a store at once, at most."""

_READING: Final = 0.02
"""Seconds after which so many are not waited for."""

_REMEMBERED: Final = 4096
"""Answers that later equal questions find."""

_Known = tuple[Question[Any], Any]
"""Who asked, and the answer."""

Item = TypeVar("Item")
Read = tuple[Sequence[Item], bool, Exception | None]
"""The next items, whether these were the last ones, and why they end early."""


class Need(Enum):
    """What a window waits for."""

    READING = auto()
    ANSWER = auto()
    TAKING = auto()
    NOTHING = auto()


class _Way(Generic[R]):
    """A sample on its way to its result."""

    __slots__ = ("found", "is_done", "lacking", "plan", "questions", "result")

    def __init__(self, plan: Plan[R]) -> None:
        self.plan = plan
        self.questions: Sequence[Question[Any]] = ()
        self.found: dict[object, _Known] = {}
        self.lacking = 0
        self.is_done = False
        self.result: R


class Window(Generic[R]):
    """The samples that were read and not yet handed over.

    Args:
        asking: How questions are answered.
        ask: Begins to ask a question under its place; `answered` is told of the answer.
        shown: Told of every sample that is done.

    Attributes:
        chunk: How many samples are to be read at once, at most.
        is_reading: Whether somebody is about to read; set by who does.
    """

    def __init__(
        self, asking: Asking, ask: Callable[[object, Question[Any]], None], shown: Progress
    ) -> None:
        scorer = asking.scorer
        self._asking, self._ask, self._shown = asking, ask, shown
        self._is_local = scorer.is_local
        self.chunk = 1 if scorer.store is None else CHUNK
        self._most = self.chunk if self._is_local else AHEAD * scorer.max_concurrency
        # As many again wait behind those that are asked, so that nobody is idle while a result
        # is in the caller's hands.
        self._most_asked = 2 * scorer.max_concurrency
        self._ways: deque[_Way[R]] = deque()
        self._fresh: deque[_Way[R]] = deque()
        self._asked: dict[object, tuple[Question[Any], list[_Way[R]]]] = {}
        self._known: OrderedDict[object, _Known] = OrderedDict()
        self._error: Exception | None = None
        self._is_read_out = self._was_taken = self.is_reading = False

    def need(self) -> Need:
        """What is to be done next."""
        while self._fresh and self._may_ask:
            self._advance(self._fresh.popleft())
        is_first_done = self._is_first_done
        # A slow source must not hold back what is done; but each result that is taken makes
        # room for a sample, so that a slow taker leaves nobody idle.
        if self._may_read and (not is_first_done or (self._was_taken and not self._is_local)):
            self._was_taken = False
            return Need.READING
        if is_first_done:
            return Need.TAKING
        if self._asked or self.is_reading:
            return Need.ANSWER
        if self._error is not None:
            raise self._error
        return Need.NOTHING

    def read(self, plans: Sequence[Plan[R]], is_end: bool, error: Exception | None) -> None:
        """Take what was read.

        Args:
            plans: Of the samples.
            is_end: Whether there are no more.
            error: Why there are no more; it is raised once all before it is handed over.
        """
        self._is_read_out, self._error = is_end, error
        ways = [_Way(plan) for plan in plans]
        for way in ways:
            self._step(way)
        self._look_up(ways)
        self._ways += ways
        self._fresh += ways

    def answered(self, place: object, answer: Any) -> None:
        """Go on with the samples that wait for an answer."""
        asker, waiting = self._asked.pop(place)
        known = self._remember(place, asker, answer)
        for way in waiting:
            way.found[place] = known
            way.lacking -= 1
            if not way.lacking:
                self._advance(way)

    def taken(self) -> R:
        """The next result, which leaves the window."""
        self._was_taken = True
        return self._ways.popleft().result

    @property
    def _is_first_done(self) -> bool:
        return bool(self._ways) and self._ways[0].is_done

    @property
    def _may_ask(self) -> bool:
        # What is only computed is computed when its turn has come.
        return not self._is_first_done if self._is_local else len(self._asked) < self._most_asked

    @property
    def _may_read(self) -> bool:
        has_room = not self._ways if self._is_local else len(self._ways) < self._most
        return has_room and self._may_ask and not (self._is_read_out or self.is_reading)

    def _step(self, way: _Way[R], answers: Sequence[Any] | None = None) -> None:
        """To the next questions of a sample, or to its result."""
        try:
            way.questions = next(way.plan) if answers is None else way.plan.send(answers)
        except StopIteration as stop:
            way.result, way.is_done, way.questions = stop.value, True, ()
            why = way.result.unscored
            self._shown.tick(failed=why is not None and why.reason.is_failure)
        way.found.clear()

    def _look_up(self, ways: Sequence[_Way[R]]) -> None:
        """Give samples the answers that are known without asking."""
        sought: dict[object, tuple[Question[Any], list[_Way[R]]]] = {}
        for way in ways:
            for question in way.questions:
                place = self._asking.place(question)
                known = self._known.get(place)
                if known is not None:
                    self._known.move_to_end(place)
                    way.found[place] = known
                elif place not in self._asked:
                    sought.setdefault(place, (question, []))[1].append(way)
        if self._asking.scorer.store is None:
            return
        stored = self._asking.stored([question for question, _ in sought.values()])
        for (place, (question, wanting)), answer in zip(sought.items(), stored, strict=True):
            if answer is not None:
                known = self._remember(place, question, answer)
                for way in wanting:
                    way.found[place] = known

    def _advance(self, way: _Way[R]) -> None:
        """Take a sample as far as it gets without waiting."""
        while not way.is_done:
            places = {self._asking.place(each): each for each in way.questions}
            for place, question in places.items():
                if place not in way.found:
                    self._answer(way, place, question)
            if way.lacking:
                return
            self._step(way, [self._told(way, question) for question in way.questions])
            self._look_up([way])

    def _answer(self, way: _Way[R], place: object, question: Question[Any]) -> None:
        """The answer to a question now, or once somebody has it."""
        known = self._known.get(place)
        if known is not None:
            way.found[place] = known
        elif self._is_local:
            way.found[place] = self._remember(place, question, self._asking.new(question))
        else:
            way.lacking += 1
            if place in self._asked:
                self._asked[place][1].append(way)
            else:
                self._asked[place] = question, [way]
                self._ask(place, question)

    def _remember(self, place: object, asker: Question[Any], answer: Any) -> _Known:
        known = asker, answer
        if place is not asker:  # which no other question would find
            self._known[place] = known
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _told(self, way: _Way[R], question: Question[Any]) -> Any:
        asker, answer = way.found[self._asking.place(question)]
        # The call was counted at the first of the equal questions.
        return answer if asker is question else question.free(answer)


def stream(plans: Iterator[Plan[R]], asking: Asking, shown: Progress) -> Iterator[R]:
    """The results of many samples, in order.

    Args:
        plans: Of the samples; read in this thread, as far ahead as the window is wide.
        asking: How questions are answered.
        shown: Told of every sample that is done.
    """
    answers: SimpleQueue[tuple[object, Future[Any]]] = SimpleQueue()
    with ExitStack() as stack:
        scorer = asking.scorer
        submit = None if scorer.is_local else stack.enter_context(threads(scorer.max_concurrency))

        def ask(place: object, question: Question[Any]) -> None:
            if submit is not None:
                future = submit(asking.new, question)
                future.add_done_callback(lambda done: answers.put((place, done)))

        window: Window[R] = Window(asking, ask, shown)
        while (need := window.need()) is not Need.NOTHING:
            if need is Need.READING:
                window.read(*read_some(plans, window.chunk))
            elif need is Need.TAKING:
                yield window.taken()
            is_waiting = need is Need.ANSWER
            while is_waiting or not answers.empty():
                place, future = answers.get()
                window.answered(place, future.result())
                is_waiting = False


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


async def astream(
    plans: Iterator[Plan[R]] | AsyncIterator[Plan[R]], asking: Asking, shown: Progress
) -> AsyncGenerator[R]:
    """The same, awaited; samples that are awaited hold nothing up.

    What is under way is cancelled where the caller stops taking, or is cancelled.
    """
    is_local = asking.scorer.is_local
    gate = asyncio.Semaphore(asking.scorer.max_concurrency)

    async def gated(question: Question[Any]) -> Any:
        async with gate:
            return await asking.anew(question)

    async with _Tasks() as tasks:
        window: Window[R] = Window(asking, lambda at, each: tasks.begin(at, gated(each)), shown)
        while (need := window.need()) is not Need.NOTHING:
            if need is Need.TAKING:
                if is_local:  # others have their turn between two results
                    await asyncio.sleep(0)
                yield window.taken()
            elif need is Need.READING:
                if isinstance(plans, AsyncIterator):
                    window.is_reading = True
                    tasks.begin(plans, _aread(plans))
                else:
                    window.read(*read_some(plans, window.chunk))
            for place, outcome in await tasks.ended(wait=need is Need.ANSWER):
                if place is plans:
                    window.is_reading = False
                    window.read(*outcome)
                else:
                    window.answered(place, outcome)


class _Tasks:
    """Work under way, which is cancelled at the end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._ended: asyncio.Queue[tuple[object, asyncio.Task[Any]]] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def begin(self, place: object, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(lambda done: self._ended.put_nowait((place, done)))

    async def ended(self, *, wait: bool) -> list[tuple[object, Any]]:
        """What has ended since, with its outcome; at least one of them if it is to be waited for."""
        found = [await self._ended.get()] if wait else []
        while not self._ended.empty():
            found.append(self._ended.get_nowait())
        self._running.difference_update(task for _, task in found)
        return [(place, task.result()) for place, task in found]


async def _aread(plans: AsyncIterator[Plan[R]]) -> Read[Plan[R]]:
    """The next sample, as `read_some` has it."""
    try:
        return [await anext(plans)], False, None
    except StopAsyncIteration:
        return [], True, None
    except Exception as error:  # noqa: BLE001  # whatever the caller's own samples raise
        return [], True, error

"""Judgements that evaluators of one process share: what is known, or under way, is not asked again.

Three metrics at three temperatures ask the same judge for the same judgement; the first asker
judges, in its own thread, event loop and context, and the others take what it got. Failures are
handed to those who wait for them, and never remembered.

Nobody waits where that could hold up the one who judges. A synchronous caller on a thread whose
event loop is running, or in the executor of the loop that the judgement is awaited on, judges for
itself, and so do the threads that such a caller waits for. Where that loop stands still, a waiter
takes over. Every wait ends, by the call's own deadline or after `LONGEST_WAIT`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from tcva_adapters.loops import is_in_loop

Answer = TypeVar("Answer")

MOST_REMEMBERED: Final = 4096
"""How many judgements are remembered per judge; the one that was used least recently goes first."""

LONGEST_WAIT: Final = 300.0
"""Seconds after which a waiter asks for itself where the judge's own deadline is not known."""

_SLICE: Final = 0.25
"""Seconds after which a waiter looks whether the one who judges is still there."""

_STANDSTILL: Final = 5.0
"""Seconds after which an event loop that gives no sign of life is taken to stand still."""

_BEHIND: ContextVar[frozenset[threading.Thread]] = ContextVar("tcva_behind", default=frozenset())
"""The threads that stand still until this one has done its work."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which judges are the same one.

    Attributes:
        holder: The object that judges. What is shared is dropped when the last holder is.
        equal: What judges that were made from a name have in common (class, model, address,
            settings, a digest of the key); None where only the same object is the same judge.
        patience: Timeouts and retries: a waiter with others asks for itself.
        seconds: The longest that one call may take; None where that is not known.
    """

    holder: object
    equal: Hashable | None = None
    patience: Hashable | None = None
    seconds: float | None = None

    @property
    def key(self) -> Hashable:
        """Equal for the same judge."""
        return ("object", id(self.holder)) if self.equal is None else ("equal", self.equal)


class Shared(NamedTuple):
    """An answer, and whether somebody else was asked for it."""

    answer: Any
    is_shared: bool


class _GivenUp(Exception):  # noqa: N818  # it is a signal between askers, and no error
    """The one who judged went away without an answer."""


@dataclass(eq=False)
class _Call:
    """A judgement under way.

    Attributes:
        thread: Where it is made.
        loop: The event loop that it is awaited on; None for a synchronous one.
        waiters: Those who wait for it.
    """

    thread: threading.Thread
    loop: asyncio.AbstractEventLoop | None
    waiters: list[Future[Any]] = field(default_factory=list)
    _called: float | None = None

    @property
    def is_gone(self) -> bool:
        """Whether it may never end: its loop is closed or stands still, or its thread has ended."""
        if not self.thread.is_alive() or (self.loop is not None and self.loop.is_closed()):
            return True
        called = self._called
        return called is not None and time.monotonic() - called > _STANDSTILL

    def call_out(self) -> None:
        """Ask its loop for a sign of life."""
        if self.loop is not None and self._called is None:
            self._called = time.monotonic()
            with suppress(RuntimeError):  # it was closed just now
                self.loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self._called = None

    def settle(self, answer: Any = None, error: Exception | None = None) -> None:
        """Tell all who wait, once; those who have gone meanwhile hear nothing."""
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                if error is None:
                    waiter.set_result(answer)
                else:
                    waiter.set_exception(error)


class _Turn(NamedTuple):
    """What an asker is to do: use an answer, wait, judge for all, or judge for itself."""

    known: Any = None
    wait: tuple[_Call, Future[Any]] | None = None
    first: _Call | None = None


class SharedJudgements:
    """Answers by judge and key, and the judgements under way."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything; judgements under way end on their own, and are not remembered."""
        self._epoch = object()
        self._lock = threading.Lock()
        self._known: dict[Hashable, OrderedDict[str, Any]] = {}
        self._holders: dict[Hashable, set[int]] = {}
        self._calls: dict[tuple[Hashable, str, Hashable], _Call] = {}

    def __len__(self) -> int:
        """How many answers are remembered."""
        with self._lock:
            return sum(map(len, self._known.values()))

    @property
    def under_way(self) -> int:
        """How many judgements are being made."""
        with self._lock:
            return len(self._calls)

    def remember(self, identity: Identity, key: str, answer: object) -> None:
        """Remember an answer that nobody asked for."""
        with self._lock:
            self._remember(identity.key, identity.holder, key, answer)

    def known(self, identity: Identity, key: str) -> Any:
        """What is remembered; None where nothing is."""
        with self._lock:
            remembered = self._known.get(identity.key)
            return None if remembered is None else remembered.get(key)

    def ask(
        self,
        identity: Identity,
        key: str,
        judge: Callable[[], Answer],
        is_failure: Callable[[Answer], bool],
    ) -> Shared:
        """The answer of this judge under this key: known, waited for, or judged here and now.

        Args:
            identity: Whose answer.
            key: What is asked.
            judge: Asks; called at most once.
            is_failure: Whether an answer must not be remembered.
        """
        deadline = time.monotonic() + (identity.seconds or LONGEST_WAIT)
        epoch = self._epoch
        while True:
            turn = self._turn(identity, key, None)
            if turn.known is not None:
                return Shared(turn.known, is_shared=True)
            if turn.wait is None:
                break
            call, waiter = turn.wait
            try:
                return Shared(self._waited(identity, key, call, waiter, deadline), is_shared=True)
            except _GivenUp:
                continue  # whoever comes first now judges for the others
            except TimeoutError:
                turn = _Turn()
                break
        answer: Any = None
        try:
            answer = judge()
        finally:
            is_new = answer is not None and not is_failure(answer) and epoch is self._epoch
            self._end(identity, key, turn.first, answer, is_worth_it=is_new)
        return Shared(answer, is_shared=False)

    async def aask(
        self,
        identity: Identity,
        key: str,
        judge: Callable[[], Awaitable[Answer]],
        is_failure: Callable[[Answer], bool],
    ) -> Shared:
        """The same, awaited."""
        deadline = time.monotonic() + (identity.seconds or LONGEST_WAIT)
        epoch = self._epoch
        while True:
            turn = self._turn(identity, key, asyncio.get_running_loop())
            if turn.known is not None:
                return Shared(turn.known, is_shared=True)
            if turn.wait is None:
                break
            call, waiter = turn.wait
            try:
                return Shared(
                    await self._awaited(identity, key, call, waiter, deadline), is_shared=True
                )
            except _GivenUp:
                continue  # as above
            except TimeoutError:
                turn = _Turn()
                break
        answer: Any = None
        try:
            answer = await judge()
        finally:
            is_new = answer is not None and not is_failure(answer) and epoch is self._epoch
            self._end(identity, key, turn.first, answer, is_worth_it=is_new)
        return Shared(answer, is_shared=False)

    def _turn(self, identity: Identity, key: str, loop: asyncio.AbstractEventLoop | None) -> _Turn:
        who = identity.key
        place = (who, key, identity.patience)
        with self._lock:
            remembered = self._known.get(who)
            if remembered is not None and key in remembered:
                remembered.move_to_end(key)
                self._hold(who, identity.holder)
                return _Turn(known=remembered[key])
            call = self._calls.get(place)
            if call is not None and call.is_gone:
                self._drop(place, call)
                call = None
            if call is None:
                first = _Call(threading.current_thread(), loop)
                self._calls[place] = first
                return _Turn(first=first)
            if not may_wait_for(call.thread, call.loop, loop):
                return _Turn()
            waiter: Future[Any] = Future()
            call.waiters.append(waiter)
            return _Turn(wait=(call, waiter))

    def _waited(
        self, identity: Identity, key: str, call: _Call, waiter: Future[Any], deadline: float
    ) -> Any:
        while True:
            left = deadline - time.monotonic()
            try:
                return waiter.result(max(0.0, min(_SLICE, left)))
            except TimeoutError:
                # A thread may work before its executor counts it among its own: so once more.
                if left <= 0 or not may_wait_for(call.thread, call.loop, None):
                    waiter.cancel()
                    raise
                self._look_after(identity, key, call)

    async def _awaited(
        self, identity: Identity, key: str, call: _Call, waiter: Future[Any], deadline: float
    ) -> Any:
        answer = asyncio.wrap_future(waiter)  # cancelling it leaves the other waiters alone
        try:
            while not answer.done():
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                await asyncio.wait({answer}, timeout=min(_SLICE, left))
                self._look_after(identity, key, call)
            return answer.result()
        finally:
            answer.cancel()

    def _look_after(self, identity: Identity, key: str, call: _Call) -> None:
        call.call_out()
        if call.is_gone:
            with self._lock:
                self._drop((identity.key, key, identity.patience), call)

    def _end(
        self,
        identity: Identity,
        key: str,
        call: _Call | None,
        answer: Any,
        *,
        is_worth_it: bool,
    ) -> None:
        """Remember an answer that is worth it, and tell those who wait; None where there is none."""
        who = identity.key
        with self._lock:
            if is_worth_it:
                self._remember(who, identity.holder, key, answer)
            if call is None:
                return
            if answer is None:
                self._drop((who, key, identity.patience), call)
                return
            self._forget_call((who, key, identity.patience), call)
            call.settle(answer)

    def _drop(self, place: tuple[Hashable, str, Hashable], call: _Call) -> None:
        self._forget_call(place, call)
        call.settle(error=_GivenUp())

    def _forget_call(self, place: tuple[Hashable, str, Hashable], call: _Call) -> None:
        if self._calls.get(place) is call:
            del self._calls[place]

    def _remember(self, who: Hashable, holder: object, key: str, answer: Any) -> None:
        if not self._hold(who, holder):
            return
        known = self._known.setdefault(who, OrderedDict())
        known[key] = answer
        if len(known) > MOST_REMEMBERED:
            known.popitem(last=False)

    def _hold(self, who: Hashable, holder: object) -> bool:
        """Count a holder; False where it cannot tell when it goes and its address is another's."""
        if id(holder) not in self._holders.get(who, ()):
            try:
                weakref.finalize(holder, self._leave, who, id(holder)).atexit = False
            except TypeError:
                return False
            self._holders.setdefault(who, set()).add(id(holder))
        return True

    def _leave(self, who: Hashable, holder: int) -> None:
        """A holder is gone; with the last one goes all that was remembered."""
        # No lock: it runs wherever the last reference goes, perhaps in the middle of `_turn`.
        # Every step below is one operation of a dictionary or a set.
        holders = self._holders.get(who, set())
        holders.discard(holder)
        if not holders:
            self._holders.pop(who, None)
            self._known.pop(who, None)


def may_wait_for(
    thread: threading.Thread,
    loop: asyncio.AbstractEventLoop | None,
    own: asyncio.AbstractEventLoop | None,
) -> bool:
    """Whether this caller may wait for a judgement that is made elsewhere.

    Not for its own thread, and not for one that stands still until this one is done. A synchronous
    caller not where a loop runs in this thread: it may be the one that is waited for, or hold
    others up. And not in the loop's own executor: what the judgement needs may stand in line behind
    the waiters. `BaseEventLoop._default_executor` and `ThreadPoolExecutor._threads` are private
    (CPython 3.11 to 3.13); of a loop that does not show them (uvloop) nobody knows.

    Args:
        thread: Where it is made.
        loop: The event loop that it is awaited on; None for a synchronous one.
        own: The loop that the caller awaits it on; None for a synchronous caller.
    """
    if own is not None and own is loop:
        return True
    held = _BEHIND.get() | {threading.current_thread()}
    if thread in held:
        return False
    if own is not None or loop is None:
        return own is not None or not is_in_loop()
    executor = getattr(loop, "_default_executor", loop)
    threads = () if executor is None else getattr(executor, "_threads", held)
    return not is_in_loop() and held.isdisjoint(threads)


def context_of_work() -> Context:
    """This context, for another thread whose work this one waits for."""
    context = copy_context()
    context.run(_BEHIND.set, _BEHIND.get() | {threading.current_thread()})
    return context


SHARED: Final = SharedJudgements()
"""What the evaluators of this process share."""


def clear_shared() -> None:
    """Forget the judgements that evaluators of this process share; the next ones are asked anew."""
    SHARED.clear()


if hasattr(os, "register_at_fork"):  # nobody in a child makes the judgements that were under way
    os.register_at_fork(after_in_child=SHARED.clear)

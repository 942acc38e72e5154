"""Two limits for calls to a server, shared by threads and event loops: how many, how often."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager

from tcva_adapters.loops import is_in_loop


class ConcurrencyLimit:
    """At most so many holders at once, whatever threads or event loops they live in.

    `asyncio.Semaphore` belongs to one event loop and `threading.Semaphore` would block the loop,
    so places are handed over through futures that both can wait for, first come, first served.
    """

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._lock = threading.Lock()
        self._waiting: deque[Future[None]] = deque()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Wait for a place and keep it for the block.

        Inside a running event loop the block starts at once: waiting would stop the very
        coroutines that hold the places. Such a thread adds one holder at most.
        """
        if is_in_loop():
            yield
            return
        place = self._queue()
        try:
            place.result()
            yield
        finally:
            self._leave(place)

    @asynccontextmanager
    async def ahold(self) -> AsyncIterator[None]:
        """Await a place and keep it for the block."""
        place = self._queue()
        try:
            if not place.done():
                await asyncio.wrap_future(place)
            yield
        finally:
            self._leave(place)

    def _queue(self) -> Future[None]:
        place: Future[None] = Future()
        with self._lock:
            if self._free:
                self._free -= 1
                place.set_result(None)
            else:
                self._waiting.append(place)
        return place

    def _leave(self, place: Future[None]) -> None:
        # A waiter that gives up has no place, unless it was handed over at that very moment.
        if place.cancel() or place.cancelled():
            return
        with self._lock:
            while self._waiting:
                following = self._waiting.popleft()
                if following.set_running_or_notify_cancel():
                    following.set_result(None)
                    return
            self._free += 1


class RateLimit:
    """Evenly spaced starts: so many per minute, on the monotonic clock.

    Each call books the next moment that is free, so that waiters need no queue. A booking is not
    given back when its call is cancelled.
    """

    def __init__(self, per_minute: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._spacing = 60.0 / per_minute
        self._clock = clock
        self._next = float("-inf")
        self._lock = threading.Lock()

    def book(self) -> float:
        """Book the next free moment; returns the seconds until then, 0 when it is now.

        >>> limit = RateLimit(60, clock=lambda: 100.0)
        >>> limit.book(), limit.book(), limit.book()
        (0.0, 1.0, 2.0)
        """
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._spacing
            return start - now

"""Event loops: for synchronous callers, and for work that must not hold one up."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from asyncio import ensure_future, wrap_future
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

P = ParamSpec("P")
T = TypeVar("T")

_LONG = 0.02
"""Seconds; longer work leaves the thread of the event loop."""

_SHORT = 0.004
"""Seconds; work up to this length stays in the event loop, in a later turn if need be."""

_A_TURN = 0.005
"""Seconds that the pieces of work in one turn of a loop may take together."""

_A_MOMENT = 0.001
"""Seconds; until then a turn counts as new, and takes work of any length."""

_BEGAN: WeakKeyDictionary[asyncio.AbstractEventLoop, float] = WeakKeyDictionary()
"""When work began in the present turn of each loop."""

_LOOPS: dict[tuple[int, str], asyncio.AbstractEventLoop] = {}
"""Loops by process and name: a forked process inherits loops without the threads that run them."""


def is_in_loop() -> bool:
    """Whether blocking work in this thread holds up an event loop.

    >>> is_in_loop()
    False
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def submit(work: Coroutine[Any, Any, T], name: str) -> Future[T]:
    """Start a coroutine on a loop in a thread of its own, in the context of the caller.

    Args:
        work: The coroutine.
        name: The name of the loop; there is one loop per name and process.
    """
    return asyncio.run_coroutine_threadsafe(work, _loop((os.getpid(), name)))


def wait_for(work: Coroutine[Any, Any, T], name: str = "tcva-loop") -> T:
    """Run a coroutine for a synchronous caller and return its result, also inside a running loop.

    All coroutines run on one loop in a thread of its own: asynchronous clients keep connections that
    belong to the loop they were opened in, and on a new loop per call would send, and pay, twice.
    """
    done = submit(work, name)
    try:
        return done.result()
    except BaseException:
        done.cancel()  # after Ctrl-C nobody waits for the answer
        raise


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Make the function for synchronous callers of a coroutine function whose name begins with ``a``.

    >>> async def aanswer(number: int) -> int:
    ...     return number
    >>> answer = blocking(aanswer)
    >>> answer.__name__, answer(number=42)
    ('answer', 42)
    """

    @wraps(function)
    def wait(*args: P.args, **arguments: P.kwargs) -> T:
        return wait_for(function(*args, **arguments))

    wait.__name__ = wait.__qualname__ = function.__name__.removeprefix("a")
    return wait


async def work_aside(work: Callable[[], T], seconds: float) -> T:
    """Compute something for an event loop without holding it up.

    Short work is done at once, or in a later turn of the loop where this one has no time left; long
    work in one thread that all loops of the process share. If the task is cancelled meanwhile,
    the work is not lost: its result is returned, and what the task waits for next is cancelled; see
    `checkpoint`.

    Args:
        work: The function; it is called once, in the context of the caller.
        seconds: How long it may take, roughly.
    """
    if seconds <= _LONG and _has_time(seconds):
        return work()
    later = _in_its_turn(work)
    is_short = seconds <= _SHORT
    future = ensure_future(
        later if is_short else wrap_future(submit(later, "tcva-work"))
    )
    is_cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            is_cancelled = True
    task = asyncio.current_task()
    if is_cancelled and task is not None:
        task.uncancel()  # once more is not twice
        task.cancel()
    return future.result()


async def checkpoint() -> None:
    """Let a cancellation that `work_aside` put off take effect here."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        await asyncio.sleep(0)


async def turn_with_time(seconds: float = 0.0) -> None:
    """Wait for a turn of the event loop that has time for more work, and book the work.

    Args:
        seconds: How long the work that follows, and work that it starts, may take.
    """
    while not _has_time(seconds):  # noqa: ASYNC110  # nothing else tells of the next turn
        await asyncio.sleep(0)
    _BEGAN[asyncio.get_running_loop()] -= seconds


def _has_time(seconds: float) -> bool:
    """Whether this turn of the loop has time for a piece of work; for its first one it always has."""
    loop = asyncio.get_running_loop()
    now = time.perf_counter()
    if loop not in _BEGAN:
        _BEGAN[loop] = now
        loop.call_soon(_BEGAN.pop, loop)
    return now - _BEGAN[loop] <= max(_A_TURN - seconds, _A_MOMENT)


async def _in_its_turn(work: Callable[[], T]) -> T:
    await turn_with_time()
    return work()


def _loop(key: tuple[int, str]) -> asyncio.AbstractEventLoop:
    if key not in _LOOPS:
        # Without a lock: a process that is forked while another thread holds one would
        # never get it.
        loop = asyncio.new_event_loop()
        if _LOOPS.setdefault(key, loop) is loop:
            threading.Thread(
                target=loop.run_forever,
                name=key[1],
                daemon=True,
            ).start()
        else:
            loop.close()
    return _LOOPS[key]

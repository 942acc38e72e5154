"""Event loops: whether one runs in this thread, and one for whoever has none."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

T = TypeVar("T")

_LOOPS: Final[dict[tuple[int, str], asyncio.AbstractEventLoop]] = {}
"""By process and name: a forked process inherits its parent's without the threads that run them."""


def is_in_loop() -> bool:
    """Whether what is done here without awaiting it holds up an event loop.

    >>> is_in_loop()
    False
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def submit(work: Coroutine[Any, Any, T], name: str = "tcva-loop") -> Future[T]:
    """Have a coroutine run on a loop in a thread of its own, in the context of the caller.

    Args:
        work: The coroutine.
        name: Of the loop. There is one of each name.
    """
    return asyncio.run_coroutine_threadsafe(work, _loop((os.getpid(), name)))


def wait_for(work: Coroutine[Any, Any, T], name: str = "tcva-loop") -> T:
    """The result of a coroutine, for a synchronous caller; it also works where a loop is running.

    All of them run on one loop in a thread of its own: asynchronous clients keep connections that
    belong to the loop they were opened in, and on a new loop per call would send, and pay, twice.
    """
    done = submit(work, name)
    try:
        return done.result()
    except BaseException:
        done.cancel()  # after Ctrl-C nobody waits for the answer
        raise


def _loop(key: tuple[int, str]) -> asyncio.AbstractEventLoop:
    if key not in _LOOPS:
        # Without a lock: a process that is forked while another thread holds one would never get it.
        loop = asyncio.new_event_loop()
        if _LOOPS.setdefault(key, loop) is loop:
            threading.Thread(target=loop.run_forever, name=key[1], daemon=True).start()
        else:
            loop.close()
    return _LOOPS[key]

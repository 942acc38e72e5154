"""Event loops: whether one runs in this thread, and one for whoever has none."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any, Final, TypeVar

T = TypeVar("T")

_LOCK: Final = threading.Lock()


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


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, for a synchronous caller; it also works where a loop is running.

    All of them run on one loop in a thread of its own: asynchronous clients keep connections that
    belong to the loop they were opened in, and on a new loop per call would send, and pay, twice.
    """
    with _LOCK:  # threads that come first together would each make a loop
        loop = _loop(os.getpid())
    done = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return done.result()
    except BaseException:
        done.cancel()  # after Ctrl-C nobody waits for the answer
        raise


@lru_cache(maxsize=1)
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The loop of a process: a forked one inherits its parent's without the thread that runs it."""
    del process
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tcva-loop", daemon=True).start()
    return loop

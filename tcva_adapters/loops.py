"""Whether an event loop runs in this thread."""

from __future__ import annotations

import asyncio


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

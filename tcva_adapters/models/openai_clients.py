"""Clients of the openai package, one per event loop where they are asynchronous."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

_T = TypeVar("_T")
_CONNECT_SECONDS: Final = 10.0
_NOT_IMPLEMENTED: Final = 501


def new_sync(url: str, key: str, timeout: float, max_retries: int) -> OpenAI:
    """A client for threads."""
    import openai  # noqa: PLC0415  # only who uses it needs the package

    def hook(response: Any) -> None:
        _never_repeat_501(response)

    return openai.OpenAI(
        base_url=url,
        api_key=key,
        max_retries=max_retries,
        timeout=openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        http_client=openai.DefaultHttpxClient(event_hooks={"response": [hook]}),
    )


def new_async(url: str, key: str, timeout: float, max_retries: int) -> AsyncOpenAI:
    """A client for one event loop."""
    import openai  # noqa: PLC0415  # only who uses it needs the package

    async def hook(response: Any) -> None:  # an asynchronous client awaits it
        _never_repeat_501(response)

    return openai.AsyncOpenAI(
        base_url=url,
        api_key=key,
        max_retries=max_retries,
        timeout=openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [hook]}),
    )


def _never_repeat_501(response: Any) -> None:
    # The SDK repeats every status from 500 on, and obeys this header of its own service. What is
    # not implemented now will not be in a second either.
    if response.status_code == _NOT_IMPLEMENTED:
        response.headers["x-should-retry"] = "false"


class LoopClients:
    """One asynchronous client per event loop, closed at the end of the loop.

    A connection belongs to the loop that opened it. A request over a connection of a dead loop
    reaches the server, but its answer reaches nobody, so that the SDK asks a second time.

    Args:
        make: Makes a client with connections of its own.
        first: A client of the user's, which serves the first loop and is not closed here.
    """

    def __init__(
        self, make: Callable[[], AsyncOpenAI], *, first: AsyncOpenAI | None = None
    ) -> None:
        self._make = make
        self._first = first
        self._lock = threading.Lock()
        self._clients: dict[
            asyncio.AbstractEventLoop, tuple[AsyncOpenAI, AsyncGenerator[None] | None]
        ] = {}

    async def client(self) -> AsyncOpenAI:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop in self._clients:
                return self._clients[loop][0]
            for dead in [known for known in self._clients if known.is_closed()]:
                del self._clients[dead]
            client, guard = self._new()
            self._clients[loop] = client, guard
        if guard is not None:
            await anext(guard)
        return client

    def _new(self) -> tuple[AsyncOpenAI, AsyncGenerator[None] | None]:
        if self._first is not None:
            client, self._first = self._first, None
            return client, None
        client = self._make()
        return client, _closed_with_its_loop(client)


async def _closed_with_its_loop(client: AsyncOpenAI) -> AsyncGenerator[None]:
    """Suspended for the life of its loop: `asyncio.run` closes such generators at the end."""
    try:
        yield
    finally:
        await client.close()


class LoopThread:
    """A thread with an event loop, for synchronous calls over an asynchronous client.

    Args:
        owner: The thread ends with it.
    """

    def __init__(self, owner: object) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._owner = weakref.ref(owner)

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """The result of a coroutine; blocks the calling thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="tcva-judge", daemon=True
                )
                thread.start()
                owner = self._owner()
                if owner is not None:
                    weakref.finalize(owner, _stop, self._loop, thread)
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():
        thread.join(timeout=5.0)

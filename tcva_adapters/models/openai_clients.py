"""Clients of the openai package, one per event loop, and what calls to one server share."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tcva_adapters.models.limits import ConcurrencyLimit, RateLimit

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

_T = TypeVar("_T")
_CONNECT_SECONDS: Final = 10.0
_FILE_SECONDS: Final = 300.0
"""Between two pieces of a file that is sent or fetched."""


def new_client(url: str, key: str, max_retries: int) -> AsyncOpenAI:
    """A client for one event loop. How long a call may take is the caller's business."""
    import openai  # noqa: PLC0415  # only who uses it needs the package

    from tcva_adapters.models.openai_http import http_client  # noqa: PLC0415  # as above

    return openai.AsyncOpenAI(
        base_url=url,
        api_key=key,
        max_retries=max_retries,
        timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
        http_client=http_client(url),
    )


def new_blocking_client(url: str, key: str, max_retries: int) -> OpenAI:
    """A client for files and batches, which follows no redirects: files hold samples."""
    import openai  # noqa: PLC0415  # as above

    return openai.OpenAI(
        base_url=url,
        api_key=key,
        max_retries=max_retries,
        timeout=openai.Timeout(_FILE_SECONDS, connect=_CONNECT_SECONDS),
        http_client=openai.DefaultHttpxClient(follow_redirects=False),
    )


class Answered(NamedTuple):
    """What came back of one request.

    Attributes:
        content: The body.
        retries_taken: How often the openai package had repeated the request.
    """

    content: bytes
    retries_taken: int


async def post(client: AsyncOpenAI, body: Mapping[str, Any]) -> Answered:
    """Send a body by a client that was made here, of whose answer only the bytes are wanted.

    By the package's way to any endpoint: that to chat completions first looks through the whole
    body for what it may have to rewrite, which takes as long as all the rest.
    """
    import httpx2  # noqa: PLC0415  # as above

    response = await client.post("/chat/completions", cast_to=httpx2.Response, body=body)
    repeated = response.request.headers.get("x-stainless-retry-count", "0")
    return Answered(response.content, int(repeated))


async def create(client: AsyncOpenAI, body: Mapping[str, Any]) -> Any:
    """Send a body by a user's client, whose method may be a wrapped one."""
    return await client.chat.completions.with_raw_response.create(**body)


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

    It starts with the first call and ends with this object.

    Args:
        clients: The clients, which live as long as the thread, so that its own can be closed there.
    """

    def __init__(self, clients: LoopClients | None) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of a coroutine; blocks the calling thread, whose context it has."""
        try:
            done = asyncio.run_coroutine_threadsafe(work, self._started())
        except RuntimeError:  # the interpreter is about to end
            work.close()
            raise
        try:
            return done.result()
        except BaseException:
            done.cancel()  # after Ctrl-C nobody waits for the answer
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=_serve, args=(loop, self._clients), name="tcva-judge", daemon=True
                )
                thread.start()
                weakref.finalize(self, _stop, loop, thread).atexit = False  # it goes with us
                self._loop = loop
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop, clients: LoopClients | None) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:  # at its end it cancels what is left
        runner.get_loop().run_forever()
    del clients  # not earlier


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():
        thread.join(timeout=5.0)


class Connections:
    """What all calls to one server share: clients, the thread of synchronous calls, the limits.

    A forked process gets new ones: threads, locks and connections are its parent's.

    Args:
        clients: Makes the clients; None where a synchronous client of the user's is used.
        max_concurrency: Calls under way at once.
        requests_per_minute: None sets no limit.
        blocking: Makes a client for what is no chat completion; None where the user has one.
    """

    def __init__(
        self,
        clients: Callable[[], LoopClients] | None,
        max_concurrency: int,
        requests_per_minute: float | None,
        blocking: Callable[[], OpenAI] | None = None,
    ) -> None:
        self.blocking = blocking
        self._settings = (clients, max_concurrency, requests_per_minute)
        self.renew()
        _ALL.add(self)

    def renew(self) -> None:
        """Start afresh, as if nothing had been sent yet."""
        clients, max_concurrency, requests_per_minute = self._settings
        self.limit = ConcurrencyLimit(max_concurrency)
        self.rate = None if requests_per_minute is None else RateLimit(requests_per_minute)
        self.clients = None if clients is None else clients()
        self.thread = LoopThread(self.clients)
        self.pool = ThreadPoolExecutor(max_concurrency) if clients is None else None


_ALL: Final = weakref.WeakSet[Connections]()
_INHERITED: Final[list[object]] = []
"""What a parent process opened. It is not closed here: that would write to what the parent reads."""


def _renew_all() -> None:
    for connections in list(_ALL):
        _INHERITED.append(vars(connections).copy())
        connections.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

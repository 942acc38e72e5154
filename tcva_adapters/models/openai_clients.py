"""Clients of the openai package, and what calls to one server share. Imported with the package."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httpx2
import openai

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.limits import ConcurrencyLimit, RateLimit
from tcva_adapters.models.openai_calls import Call
from tcva_adapters.models.openai_errors import Server
from tcva_adapters.models.openai_reply import Answer
from tcva_adapters.models.secrets import basic

LARGEST_REPLY: Final = 16_000_000
"""Bytes of a reply, unpacked: the longest replies with token probabilities take a few million."""

HAS_AIOHTTP: Final = find_spec("aiohttp") is not None
"""Asynchronous calls go over aiohttp where it is installed: it costs less than httpx2."""

_PATH: Final = "/chat/completions"
_CONNECT_SECONDS: Final = 10.0
_FILE_SECONDS: Final = 300.0
"""Between two pieces of a file that is sent or fetched."""

_AS_READ: Final = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "content-type"}
)
"""Headers about how a body travelled, which a body that is read no longer has. JSON is UTF-8
whatever they say, and Python knows encodings that take minutes for a reply of this size."""


class ReplyTooLargeError(openai.OpenAIError):
    """A reply has more than `LARGEST_REPLY` bytes. The openai package hands its own errors on."""


class _Body:
    """The body of a response, piece by piece, up to a limit of size and time."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._pieces: list[bytes] = []
        self._size = 0
        wait = response.request.extensions["timeout"]["read"]
        self._end = None if wait is None else time.monotonic() + wait

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > LARGEST_REPLY:
            msg = f"the reply is larger than {LARGEST_REPLY:,} bytes"
            raise ReplyTooLargeError(msg)
        if self._end is not None and time.monotonic() > self._end:
            msg = "the reply did not end in time"
            raise httpx2.ReadTimeout(msg, request=self._response.request)
        self._pieces.append(piece)

    def whole(self) -> httpx2.Response:
        """The same response with its body."""
        found = self._response
        return httpx2.Response(
            found.status_code,
            headers=[(k, v) for k, v in found.headers.items() if k not in _AS_READ],
            content=b"".join(self._pieces),
            request=found.request,
            extensions=found.extensions,
        )


class BlockingHttp(openai.DefaultHttpxClient):
    """Reads so much of a reply and no more, whatever its status."""

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send a request and read the reply; ``stream`` has no meaning here."""
        del stream
        response = super().send(request, stream=True, **options)
        body = _Body(response)
        try:
            for piece in response.iter_bytes():
                body.add(piece)
        finally:
            response.close()
        return body.whole()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


class _AsyncHttp(httpx2.AsyncClient):
    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        del stream
        response = await super().send(request, stream=True, **options)
        body = _Body(response)
        try:
            async for piece in response.aiter_bytes():
                body.add(piece)
        finally:
            await response.aclose()
        return body.whole()


class HttpxHttp(_AsyncHttp, openai.DefaultAsyncHttpxClient):
    """`BlockingHttp`, awaited."""


class AiohttpHttp(_AsyncHttp, openai.DefaultAioHttpClient):
    """The same over aiohttp, which is cheaper, with many calls above all."""


class Clients:
    """Makes the clients of one server; none follows a redirect, since requests hold samples.

    Args:
        url: The server's address. A user and password in it become a header: the openai package and
            httpx2 log addresses.
        key: The API key.
        max_retries: How often a request is sent again.
    """

    is_asynchronous = True

    def __init__(self, url: str, key: str, max_retries: int) -> None:
        self.max_retries = max_retries
        parts = urlsplit(url)
        userinfo, has_user, host = parts.netloc.rpartition("@")
        self._settings: dict[str, Any] = {
            "api_key": key,
            "base_url": parts._replace(netloc=host, query="").geturl(),
            "default_query": dict(parse_qsl(parts.query)) or None,
            "default_headers": {"Authorization": basic(userinfo)} if has_user else None,
            "max_retries": 0,  # they are counted, and given time, by `Call`
            "timeout": openai.Timeout(None, connect=_CONNECT_SECONDS),
        }
        # The certificates take longer to load than a call.
        self._http: dict[str, Any] = {"follow_redirects": False, "verify": parts.scheme == "https"}

    def blocking(self) -> openai.OpenAI:
        """For the calls of synchronous callers."""
        return openai.OpenAI(**self._settings, http_client=BlockingHttp(**self._http))

    def asynchronous(self) -> tuple[openai.AsyncOpenAI, bool]:
        """For the calls of one event loop, at whose end it is to be closed; see `HAS_AIOHTTP`."""
        http = AiohttpHttp(**self._http) if HAS_AIOHTTP else HttpxHttp(**self._http)
        if HAS_AIOHTTP:
            loop = asyncio.get_running_loop()
            weakref.finalize(http, _close_quietly, http._transport, loop, os.getpid())  # noqa: SLF001  # no other way to its session
        return openai.AsyncOpenAI(**self._settings, http_client=http), True

    def for_files(self) -> openai.OpenAI:
        """For files and batches, of any size; to be closed."""
        changed = {
            "max_retries": self.max_retries,
            "timeout": openai.Timeout(_FILE_SECONDS, connect=_CONNECT_SECONDS),
            "http_client": openai.DefaultHttpxClient(**self._http),
        }
        return openai.OpenAI(**{**self._settings, **changed})

    def send(self, client: openai.OpenAI, body: dict[str, Any], seconds: float | None) -> Answer:
        """Send a body, of whose answer only the bytes are wanted.

        By the package's way to any endpoint: that to chat completions first looks through the whole
        body for what it may have to rewrite, which takes as long as all the rest.
        """
        connect = min(seconds or _CONNECT_SECONDS, _CONNECT_SECONDS)
        options: Any = {"timeout": openai.Timeout(seconds, connect=connect)}
        try:
            return _answer(client.post(_PATH, cast_to=httpx2.Response, body=body, options=options))
        except openai.OpenAIError as error:
            return answer_of_error(error)

    async def asend(
        self, client: openai.AsyncOpenAI, body: dict[str, Any], seconds: float | None
    ) -> Answer:
        """The same, awaited."""
        try:
            async with asyncio.timeout(seconds):
                return _answer(await client.post(_PATH, cast_to=httpx2.Response, body=body))
        except openai.OpenAIError as error:
            return answer_of_error(error)
        except TimeoutError as error:
            return Answer(None, error=error)


class UsersClients:
    """Clients of the user's, which keep their own rules, and whose methods may be wrapped ones.

    Args:
        client: The synchronous one, or None.
        async_client: The asynchronous one, or None.

    Raises:
        InvalidValueError: One is no client of the openai package.
    """

    max_retries = 0
    """They send requests again by themselves."""

    def __init__(
        self, client: openai.OpenAI | None, async_client: openai.AsyncOpenAI | None
    ) -> None:
        for each in (client, async_client):
            if each is not None and not hasattr(each, "base_url"):
                msg = f"a client is one of the openai package, not a {type(each).__name__}"
                raise InvalidValueError(msg)
        self._client = client
        self._async_client = async_client
        self.is_asynchronous = async_client is not None
        self._is_used = False

    @property
    def address(self) -> tuple[str, str]:
        """Address and key."""
        given: Any = self._client or self._async_client
        return str(given.base_url), str(given.api_key)

    def blocking(self) -> openai.OpenAI | None:
        """The synchronous one."""
        return self._client

    def asynchronous(self) -> tuple[openai.AsyncOpenAI, bool]:
        """The asynchronous one, then copies with connections for other event loops, to be closed."""
        client: Any = self._async_client
        if not self._is_used:
            self._is_used = True
            return client, False
        return client.copy(http_client=openai.DefaultAsyncHttpxClient()), True

    def for_files(self) -> openai.OpenAI:
        """The synchronous one.

        Raises:
            InvalidValueError: There is none.
        """
        if self._client is None:
            msg = "the model has an AsyncOpenAI alone; give client=openai.OpenAI(...), too"
            raise InvalidValueError(msg)
        return self._client

    def send(self, client: Any, body: dict[str, Any], _seconds: float | None) -> Answer:
        """Send a body."""
        try:
            raw = client.chat.completions.with_raw_response.create(**body)
        except openai.OpenAIError as error:
            return answer_of_error(error)
        return Answer(HTTPStatus.OK, raw.content, sent=1 + raw.retries_taken)

    async def asend(self, client: Any, body: dict[str, Any], _seconds: float | None) -> Answer:
        """The same, awaited."""
        try:
            raw = await client.chat.completions.with_raw_response.create(**body)
        except openai.OpenAIError as error:
            return answer_of_error(error)
        return Answer(HTTPStatus.OK, raw.content, sent=1 + raw.retries_taken)


def _close_quietly(transport: Any, loop: asyncio.AbstractEventLoop, process: int) -> None:
    """Close what nobody has closed, which aiohttp would complain of.

    Its loop ended without its generators, or idles. A parent process' connections are left alone:
    it reads from them.
    """
    session = transport.client
    if session is None or session.closed or loop.is_running() or process != os.getpid():
        return
    closing = session.close()
    if loop.is_closed():  # there is nothing left to wait for
        with suppress(StopIteration, RuntimeError):
            closing.send(None)
        closing.close()
    else:
        try:
            loop.run_until_complete(closing)
        except RuntimeError:  # another loop runs in this thread
            closing.close()


def _answer(response: httpx2.Response) -> Answer:
    return Answer(response.status_code, response.content, dict(response.headers))


def answer_of_error(error: openai.OpenAIError) -> Answer:
    """What an exception of the package says came back."""
    request, response = getattr(error, "request", None), getattr(error, "response", None)
    sent = 1 if request is None else 1 + int(request.headers.get("x-stainless-retry-count", 0))
    if response is not None:
        return Answer(response.status_code, response.content, dict(response.headers), sent=sent)
    return Answer(None, error=error, sent=sent, is_final=isinstance(error, ReplyTooLargeError))


async def _closed_with_its_loop(client: openai.AsyncOpenAI) -> AsyncGenerator[None]:
    """Suspended for the life of its loop: `asyncio.run` closes such generators at the end."""
    try:
        yield
    finally:
        await client.close()


class Connections:
    """What all calls to one server share: the clients that are open, and the limits.

    A forked process gets new ones: locks and connections are its parent's.

    Args:
        clients: Makes the clients.
        max_concurrency: Calls under way at once.
        requests_per_minute: None sets no limit.
    """

    def __init__(
        self,
        clients: Clients | UsersClients,
        max_concurrency: int,
        requests_per_minute: float | None,
    ) -> None:
        self.clients = clients
        self._limits = (max_concurrency, requests_per_minute)
        self.renew()
        _ALL.add(self)

    def renew(self) -> None:
        """Start afresh, as if nothing had been sent yet."""
        max_concurrency, requests_per_minute = self._limits
        self.limit = ConcurrencyLimit(max_concurrency)
        self.rate = None if requests_per_minute is None else RateLimit(requests_per_minute)
        self.pool = ThreadPoolExecutor(max_concurrency)
        self._lock = threading.Lock()
        self._blocking: openai.OpenAI | None = None
        self._of_loops: dict[
            asyncio.AbstractEventLoop, tuple[openai.AsyncOpenAI, AsyncGenerator[None] | None]
        ] = {}

    def call(self, server: Server, max_retries: int | None = None) -> Call:
        """A call that begins now."""
        retries = self.clients.max_retries
        return Call(server, retries if max_retries is None else max_retries, self.rate)

    def blocking(self) -> openai.OpenAI | None:
        """The synchronous client; None where the user gave an asynchronous one alone."""
        with self._lock:
            self._blocking = self._blocking or self.clients.blocking()
            return self._blocking

    async def asynchronous(self) -> openai.AsyncOpenAI:
        """The client of the running event loop, closed at its end.

        A connection belongs to the loop that opened it. A request over a connection of a dead loop
        reaches the server, but its answer reaches nobody.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop in self._of_loops:
                return self._of_loops[loop][0]
            for dead in [known for known in self._of_loops if known.is_closed()]:
                del self._of_loops[dead]
            client, is_closed = self.clients.asynchronous()
            guard = _closed_with_its_loop(client) if is_closed else None
            self._of_loops[loop] = client, guard
        if guard is not None:
            await anext(guard)
        return client


_ALL: Final = weakref.WeakSet[Connections]()
_INHERITED: Final[list[object]] = []
"""What a parent process opened. It is not closed here: that would write to what the parent reads."""


def _renew_all() -> None:
    for connections in list(_ALL):
        _INHERITED.append(vars(connections).copy())
        connections.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

"""Clients of the openai package, and what calls to one server share. Imported with the package.

All calls of all models go over one event loop in a thread of its own, whatever threads and loops
the callers live in: connections belong to the loop that opened them, and loops of callers end.
There is one client, one limit and no lock.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httpx2
import openai

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.addresses import basic
from tcva_adapters.models.openai_reply import Answer
from tcva_adapters.results.settings import ModelConfig

LARGEST_REPLY: Final = 16_000_000
"""Bytes of a reply, unpacked: the longest replies with token probabilities take a few million."""

HAS_AIOHTTP: Final = find_spec("aiohttp") is not None
"""Calls go over aiohttp where it is installed: it costs less than httpx2."""

_PATH: Final = "/chat/completions"
_CONNECT_SECONDS: Final = 10.0
_FILE_SECONDS: Final = 300.0
"""Between two pieces of a file that is sent or fetched."""

_INHERITED: Final[list[object]] = []
"""What a parent process opened. It is not closed here: that would write to what the parent reads."""


class ReplyTooLargeError(openai.OpenAIError):
    """A reply has more than `LARGEST_REPLY` bytes. The openai package hands its own errors on."""


class Connection:
    """What all calls to one server share in this process; used on one event loop alone.

    Args:
        settings: Of the model.
    """

    max_retries = 0
    """How often a request is sent again."""

    def __init__(self, settings: ModelConfig) -> None:
        self._most = settings.max_concurrency
        self._spacing = 60.0 / (settings.requests_per_minute or math.inf)
        self._process: int | None = None

    def places(self) -> asyncio.Semaphore:
        """The places under the limit; a forked process starts afresh."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._places = asyncio.Semaphore(self._most)
            self._next = -math.inf
            self._client: openai.AsyncOpenAI | None = None
        return self._places

    def book(self) -> float:
        """Book the next moment that is free for a request; returns the seconds until then."""
        now = time.monotonic()
        start = max(now, self._next)
        self._next = start + self._spacing
        return start - now

    def home(self) -> asyncio.AbstractEventLoop | None:
        """The caller's loop, where requests of calls that are awaited there have to be sent on it."""
        return None

    def _opened(self, client: Callable[[], openai.AsyncOpenAI]) -> openai.AsyncOpenAI:
        """The client of the loop that runs, which is made at first."""
        if self._client is None:
            self._client = client()
            loop = asyncio.get_running_loop()
            weakref.finalize(self, _close, self._client, loop, os.getpid())
        return self._client


class OwnConnection(Connection):
    """A client of our own. It follows no redirect, since requests hold samples.

    Args:
        settings: Of the model.
        url: The server's address. A user and password in it become a header: the openai package and
            httpx2 log addresses.
        key: The API key.
    """

    def __init__(self, settings: ModelConfig, url: str, key: str) -> None:
        super().__init__(settings)
        self.max_retries = settings.max_retries
        parts = urlsplit(url)
        userinfo, has_user, host = parts.netloc.rpartition("@")
        self._settings: dict[str, Any] = {
            "api_key": key,
            "base_url": parts._replace(netloc=host, query="").geturl(),
            "default_query": dict(parse_qsl(parts.query)) or None,
            "default_headers": {"Authorization": basic(userinfo)} if has_user else None,
        }
        # The certificates take longer to load than a call.
        self._http: dict[str, Any] = {"follow_redirects": False, "verify": parts.scheme == "https"}

    async def send(self, body: dict[str, Any], home: asyncio.AbstractEventLoop | None) -> Answer:
        """Send a body.

        By the package's way to any endpoint: that to chat completions first looks through the whole
        body for what it may have to rewrite, which takes as long as all the rest.
        """
        del home
        try:
            response = await self._opened(self._open).post(
                _PATH, cast_to=httpx2.Response, body=body
            )
        except openai.OpenAIError as error:
            return answer_of_error(error)
        return Answer(response.status_code, response.content, dict(response.headers))

    def for_files(self) -> tuple[openai.OpenAI, bool]:
        """One for files of any size."""
        client = openai.OpenAI(
            **self._settings,
            max_retries=self.max_retries,
            timeout=openai.Timeout(_FILE_SECONDS, connect=_CONNECT_SECONDS),
            http_client=openai.DefaultHttpxClient(**self._http),
        )
        return client, True

    def _open(self) -> openai.AsyncOpenAI:
        http = openai.DefaultAioHttpClient if HAS_AIOHTTP else openai.DefaultAsyncHttpxClient
        return openai.AsyncOpenAI(
            **self._settings,
            max_retries=0,  # they are counted, and given time, by the model
            timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
            http_client=http(**self._http, event_hooks={"response": [_read]}),
        )


class UsersConnection(Connection):
    """Clients of the user's, which keep their own rules, and whose methods may be wrapped ones.

    Args:
        settings: Of the model.
        client: The synchronous one, or None. It is used in threads.
        async_client: The asynchronous one, or None. It belongs to the first loop that it is used
            on; calls from elsewhere go over a copy with fresh connections.

    Raises:
        InvalidValueError: One is no client of the openai package.
    """

    def __init__(
        self,
        settings: ModelConfig,
        client: openai.OpenAI | None,
        async_client: openai.AsyncOpenAI | None,
    ) -> None:
        super().__init__(settings)
        for each in (client, async_client):
            if each is not None and not hasattr(each, "base_url"):
                msg = f"a client is one of the openai package, not a {type(each).__name__}"
                raise InvalidValueError(msg)
        self._blocking: Any = client
        self._asynchronous: Any = async_client
        self._first: asyncio.AbstractEventLoop | None = None
        given: Any = client or async_client
        self.url, self.key = str(given.base_url), str(given.api_key)

    def home(self) -> asyncio.AbstractEventLoop | None:
        """The caller's loop, where the asynchronous client belongs to it."""
        loop = asyncio.get_running_loop()
        self._first = self._first or loop
        return loop if self._first is loop else None

    async def send(self, body: dict[str, Any], home: asyncio.AbstractEventLoop | None) -> Answer:
        """Send a body by the client that fits the caller; a synchronous one serves both."""
        loop = asyncio.get_running_loop()
        try:
            if self._asynchronous is None or (self._blocking is not None and home is None):
                create = partial(_completions(self._blocking).create, **body)
                raw = await asyncio.wrap_future(_in_thread(create))
            elif home is not None:
                sent = _completions(self._asynchronous).create(**body)
                raw = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(sent, home))
            else:
                self._first = self._first or loop
                client = self._asynchronous if self._first is loop else self._opened(self._open)
                raw = await _completions(client).create(**body)
        except openai.OpenAIError as error:
            return answer_of_error(error)
        return Answer(HTTPStatus.OK, raw.content, sent=1 + raw.retries_taken)

    def for_files(self) -> tuple[openai.OpenAI, bool]:
        """The synchronous one.

        Raises:
            InvalidValueError: There is none.
        """
        if self._blocking is None:
            msg = "the model has an AsyncOpenAI alone; give client=openai.OpenAI(...), too"
            raise InvalidValueError(msg)
        return self._blocking, False

    def _open(self) -> openai.AsyncOpenAI:
        http = openai.DefaultAsyncHttpxClient()
        return self._asynchronous.copy(http_client=http)  # type: ignore[no-any-return]  # any client


def _in_thread(call: Callable[[], Any]) -> Future[Any]:
    """The result of a call in a thread that nobody waits for at the end of the process."""
    done: Future[Any] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001  # raised where it is awaited
            done.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    return done


def _completions(client: Any) -> Any:
    return client.chat.completions.with_raw_response


async def _read(response: Any) -> None:
    """Read so much of a reply and no more, whatever its status."""
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > LARGEST_REPLY:
            msg = f"the reply is larger than {LARGEST_REPLY:,} bytes"
            raise ReplyTooLargeError(msg)
        pieces.append(piece)
    response._content = b"".join(pieces)  # noqa: SLF001  # what reading it whole would do
    # JSON is UTF-8 whatever headers say; Python knows encodings that take minutes for this size.
    response.encoding = "utf-8"


def answer_of_error(error: openai.OpenAIError) -> Answer:
    """What an exception of the package says came back."""
    request, response = getattr(error, "request", None), getattr(error, "response", None)
    sent = 1 if request is None else 1 + int(request.headers.get("x-stainless-retry-count", 0))
    if response is not None:
        return Answer(response.status_code, response.content, dict(response.headers), sent=sent)
    return Answer(None, error=error, sent=sent, is_final=isinstance(error, ReplyTooLargeError))


def _close(client: openai.AsyncOpenAI, loop: asyncio.AbstractEventLoop, process: int) -> None:
    if process == os.getpid():
        asyncio.run_coroutine_threadsafe(client.close(), loop)
    else:
        _INHERITED.append(client)

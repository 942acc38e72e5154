"""Clients of the openai package, and what calls to one server share. Imported with the package.

All calls of all models go over one event loop in a thread of its own, whatever threads and loops
the callers live in: connections belong to the loop that opened them, and loops of callers end.
There is one client, one limit and no lock.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
import weakref
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final

import httpx2
import openai

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.call_errors import NO_CREDIT
from tcva_adapters.models.openai_exchange import Answer
from tcva_adapters.results.settings import ModelConfig

LARGEST_REPLY: Final = 16_000_000
"""Bytes of a reply, unpacked: the longest replies with token probabilities take a few million."""

HAS_AIOHTTP: Final = find_spec("aiohttp") is not None
"""Calls go over aiohttp where it is installed: it costs less than httpx2."""

_CONNECT_SECONDS: Final = 10.0
_FILE_SECONDS: Final = 300.0
"""Between two pieces of a file that is sent or fetched."""


class ReplyTooLargeError(openai.OpenAIError):
    """A reply has more than `LARGEST_REPLY` bytes. The openai package hands its own errors on."""


class Connection:
    """What all calls to one server share in this process; used on one event loop alone.

    Args:
        config: Of the model.
        url: The server's address.
        key: The API key.
        basic: A user and password as the header has them, or an empty string.
        client: One of the user's, which keeps its own rules and whose methods may be wrapped ones.
            A synchronous one is used in threads.
    """

    def __init__(self, config: ModelConfig, url: str, key: str, basic: str, client: Any) -> None:
        self._config = config
        self._given = client
        self._settings: dict[str, Any] = {
            "base_url": url,
            "api_key": key,
            "default_headers": {"Authorization": f"Basic {basic}"} if basic else None,
            "max_retries": config.max_retries,
        }
        # No redirect is followed: requests hold samples. Certificates take longer to load than a call.
        self._http: dict[str, Any] = {"follow_redirects": False, "verify": url[:5] == "https"}
        self._process: int | None = None

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place under the limits of concurrency and rate; a forked process starts afresh."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._places = asyncio.Semaphore(self._config.max_concurrency)
            self._next = -math.inf
            self._client: openai.AsyncOpenAI | None = None
            self._threads = ThreadPoolExecutor(self._config.max_concurrency, "tcva-client")
        async with self._places:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + 60.0 / (self._config.requests_per_minute or math.inf)
            if start > now:
                await asyncio.sleep(start - now)
            yield

    async def send(self, body: dict[str, Any]) -> Answer:
        """Send a body.

        Our own client's by the package's way to any endpoint: that to chat completions first looks
        through the whole body for what it may have to rewrite, which takes as long as all the rest.
        """
        try:
            if self._given is None:
                sent = self._own().post("/chat/completions", cast_to=httpx2.Response, body=body)
                response = await sent
                return Answer(response.status_code, response.content, sent=_sent(response.request))
            create = partial(self._given.chat.completions.with_raw_response.create, **body)
            if isinstance(self._given, openai.AsyncOpenAI):
                raw = await create()
            else:
                call = partial(copy_context().run, create)
                raw = await asyncio.get_running_loop().run_in_executor(self._threads, call)
            return Answer(HTTPStatus.OK, raw.content, sent=1 + raw.retries_taken)
        except openai.OpenAIError as error:
            return answer_of_error(error)

    def _own(self) -> openai.AsyncOpenAI:
        if self._client is None:
            http = openai.DefaultAioHttpClient if HAS_AIOHTTP else openai.DefaultAsyncHttpxClient
            self._client = openai.AsyncOpenAI(
                **self._settings,
                timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),  # the call has its own
                http_client=http(**self._http, event_hooks={"response": [_read]}),
            )
            loop = asyncio.get_running_loop()
            weakref.finalize(self, _close, self._client, loop, os.getpid())
        return self._client

    def for_files(self) -> tuple[openai.OpenAI, bool]:
        """A client for files of any size, and whether it is to be closed after use.

        Raises:
            InvalidValueError: The user's is an asynchronous one.
        """
        if isinstance(self._given, openai.AsyncOpenAI):
            msg = "files of batches need client=openai.OpenAI(...), not an AsyncOpenAI"
            raise InvalidValueError(msg)
        if self._given is not None:
            return self._given, False
        client = openai.OpenAI(
            **self._settings,
            timeout=openai.Timeout(_FILE_SECONDS, connect=_CONNECT_SECONDS),
            http_client=openai.DefaultHttpxClient(**self._http),
        )
        return client, True


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
    is_final = response.status_code == HTTPStatus.NOT_IMPLEMENTED
    if is_final or (response.is_client_error and NO_CREDIT.encode() in response.content):
        response.headers["x-should-retry"] = "false"  # which the package obeys


def _sent(request: httpx2.Request | None) -> int:
    """How many requests were sent until this one, itself included."""
    return 1 if request is None else 1 + int(request.headers.get("x-stainless-retry-count", 0))


def answer_of_error(error: openai.OpenAIError) -> Answer:
    """What an exception of the package says came back."""
    response, sent = getattr(error, "response", None), _sent(getattr(error, "request", None))
    if response is None:
        return Answer(0, sent=sent, error=error)
    return Answer(response.status_code, response.content, dict(response.headers), sent)


def _close(client: openai.AsyncOpenAI, loop: asyncio.AbstractEventLoop, process: int) -> None:
    if process == os.getpid():  # what a parent opened is not closed here: it reads on
        asyncio.run_coroutine_threadsafe(client.close(), loop)

"""Retries and limits of the calls to an OpenAI-compatible server, on the connections that they share.

All calls of clients that are made here go over one event loop in a thread of its own, whatever
threads and loops the callers live in: connections belong to the loop that opened them, and loops of
callers end. There is one client, one limit and no lock. The openai package repeats failed requests.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
import weakref
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any

from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.models.call_errors import NO_CREDIT
from tcva_adapters.models.openai_exchange import Answer, Body
from tcva_adapters.results.settings import ModelConfig

try:
    import httpx2
    import openai
except ImportError as error:
    MSG = f"a model judge needs the extra 'openai': {install_hint('openai')}"
    raise MissingDependencyError(MSG) from error

LARGEST_REPLY = 16_000_000
"""Bytes of a reply, unpacked: the longest replies with token probabilities take a few million."""

HAS_AIOHTTP = find_spec("aiohttp") is not None
"""Calls go over aiohttp where it is installed: it costs less than httpx2."""

CALLS_THREAD = "tcva-calls"
"""The thread of the loop for calls. No code of the user runs on it, so that waiting callers cannot hold it up."""

_CONNECT_SECONDS = 10.0


@dataclass(slots=True)
class _Loop:
    """The connections and limits that calls on one event loop share.

    Attributes:
        client: The client, which has the connections.
        places: Limits how many calls run at the same time.
        threads: The threads in which a synchronous client of the user's works.
        next_start: When the next call may start.
    """

    client: Any
    places: asyncio.Semaphore
    threads: ThreadPoolExecutor
    next_start: float = -math.inf


class Connection:
    """The connections to one server, which all calls share.

    They live on one event loop, except for those of a client of the user's.

    Args:
        config: The settings of the model.
        users_client: A client of the user's, which keeps its own rules and whose methods may be wrapped
            ones, or None. A synchronous one is used in threads.
        url: The server's address.
        key: The API key.
        header: User and password, encoded for the header, or an empty string.

    Attributes:
        users_client: The user's client.
        is_async: Whether it is an asynchronous one.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        users_client: Any,
        url: str,
        key: str,
        header: str,
    ) -> None:
        self.users_client = users_client
        self.is_async = isinstance(users_client, openai.AsyncOpenAI)
        self._config = config
        self._new_client = partial(
            openai.AsyncOpenAI,
            base_url=url,
            api_key=key,
            default_headers={"Authorization": f"Basic {header}"} if header else None,
            max_retries=config.max_retries,
            # Each call, or request for a file, has a limit of its own.
            timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
        )
        # Redirects are not followed, since requests hold samples. Certificates take
        # longer to load than a call, so they are loaded for https alone.
        self._transport = {
            "follow_redirects": False,
            "verify": url.startswith("https"),
        }
        self._loops: dict[AbstractEventLoop, _Loop] = {}
        # Under its only key, the loop that has the user's client: `setdefault` needs no lock.
        self._lent_to: dict[str, AbstractEventLoop] = {}

    @asynccontextmanager
    async def place(self) -> AsyncIterator[_Loop]:
        """Wait for a place for a call on this loop, under the limits of concurrency and rate.

        A forked process has another loop, and so limits of its own.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            for closed in [known for known in [*self._loops] if known.is_closed()]:
                self._loops.pop(closed, None)
            most = self._config.max_concurrency
            self._loops[loop] = _Loop(
                self._client_here(),
                asyncio.Semaphore(most),
                ThreadPoolExecutor(most, "tcva-client"),
            )
        here = self._loops[loop]
        async with here.places:
            now = time.monotonic()
            start = max(now, here.next_start)
            here.next_start = start + (
                60.0 / (self._config.requests_per_minute or math.inf)
            )
            if start > now:
                await asyncio.sleep(start - now)
            yield here

    def _client_here(self) -> Any:
        """Return the user's client where no other loop has its connections, else one for this loop."""
        loop = asyncio.get_running_loop()
        is_own_loop = threading.current_thread().name == CALLS_THREAD
        if self.users_client is not None and not self.is_async:
            return self.users_client
        transport: Any = (
            openai.DefaultAioHttpClient
            if HAS_AIOHTTP
            else openai.DefaultAsyncHttpxClient
        )
        if self.users_client is None:
            client = self._new_client(
                http_client=transport(
                    **self._transport, event_hooks={"response": [_read]}
                )
            )
        elif not is_own_loop and self._lent_to.setdefault("loop", loop) is loop:
            return self.users_client
        else:
            client = self.users_client.copy(http_client=transport(**self._transport))
        weakref.finalize(self, _close, client, loop, os.getpid())
        return client

    async def send(self, here: _Loop, body: Body) -> Answer:
        """Send a request body and return the answer.

        A client made here uses the package's call for any endpoint. The one for chat completions
        first searches the whole body for parts to rewrite, which takes as long as all the rest.
        """
        client = here.client
        try:
            if self.users_client is None:
                response = await client.post(
                    "/chat/completions", cast_to=httpx2.Response, body=body
                )
                return Answer(
                    response.status_code,
                    response.content,
                    sent=_requests_until(response.request),
                )
            create = partial(client.chat.completions.with_raw_response.create, **body)
            if self.is_async:
                raw = await create()
            else:
                raw = await asyncio.get_running_loop().run_in_executor(
                    here.threads, partial(copy_context().run, create)
                )
            return Answer(HTTPStatus.OK, raw.content, sent=1 + raw.retries_taken)
        except openai.OpenAIError as error:
            return answer_of_error(error)

    def for_files(self) -> openai.OpenAI | openai.AsyncOpenAI:
        """Return a client for files of any size; close it after use where it is not the user's.

        Raises:
            InvalidValueError: The user's client is asynchronous.
        """
        if self.is_async:
            raise InvalidValueError(
                "batches need client=openai.OpenAI(...), not an AsyncOpenAI"
            )
        transport: Any = openai.DefaultAsyncHttpxClient
        return self.users_client or self._new_client(
            http_client=transport(**self._transport)
        )


async def _read(response: Any) -> None:
    """Read a reply of any status, up to the largest size that is allowed."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > LARGEST_REPLY:
            # The package passes on errors of its own.
            raise openai.OpenAIError(
                f"the reply is larger than {LARGEST_REPLY:,} bytes"
            )
    response._content = bytes(content)  # noqa: SLF001  # what reading it whole would do
    # JSON is UTF-8 whatever headers say; Python knows encodings that take minutes for this size.
    response.encoding = "utf-8"
    if response.is_client_error and NO_CREDIT.encode() in response.content:
        response.headers["x-should-retry"] = "false"  # which the package obeys


def _requests_until(request: httpx2.Request | None) -> int:
    """Count the requests up to this one, itself included."""
    headers = {} if request is None else request.headers
    return 1 + int(headers.get("x-stainless-retry-count", 0))


def answer_of_error(error: openai.OpenAIError) -> Answer:
    """Read an exception of the package as the answer that came back."""
    sent = _requests_until(getattr(error, "request", None))
    response = getattr(error, "response", None)
    if response is None:
        return Answer(0, sent=sent, error=error)
    return Answer(response.status_code, response.content, dict(response.headers), sent)


def _close(client: openai.AsyncOpenAI, loop: AbstractEventLoop, process: int) -> None:
    # A client that the parent process opened is not closed here, as the parent still
    # uses it. The connections of a loop that has ended are gone with it.
    if process == os.getpid() and not loop.is_closed():
        asyncio.run_coroutine_threadsafe(client.close(), loop)

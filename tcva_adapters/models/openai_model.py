"""Any OpenAI-compatible server as a judge model, on the openai package. Imported where it is used.

All calls of clients that are made here go over one event loop in a thread of its own, whatever
threads and loops the callers live in: connections belong to the loop that opened them, and loops of
callers end. There is one client, one limit and no lock.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import threading
import time
import weakref
from collections.abc import AsyncIterator, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Final, Self
from urllib.parse import unquote

from tcva_adapters.errors import (
    InvalidValueError,
    JudgeError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.loops import submit, wait_for
from tcva_adapters.models.call_errors import NO_CREDIT
from tcva_adapters.models.openai_exchange import (
    FEW_LOGPROBS,
    Answer,
    Body,
    Server,
    exchange,
)
from tcva_adapters.models.protocol import (
    Identity,
    JudgeRequest,
    ModelReply,
    Sampling,
    closed_object,
)
from tcva_adapters.models.secrets import basic, mask, server_of, shown_url, split_url
from tcva_adapters.results.settings import ModelConfig
from tcva_adapters.results.settings_model import shows_settings

try:
    import httpx2
    import openai
except ImportError as error:
    MSG: Final = f"a model judge needs the extra 'openai': {install_hint('openai')}"
    raise MissingDependencyError(MSG) from error

DEFAULT_URL: Final = "https://api.openai.com/v1"
PLACEHOLDER_KEY: Final = "none"
"""Sent over plain http, to servers on the own machine or network: they want a header but no key."""

LARGEST_REPLY: Final = 16_000_000
"""Bytes of a reply, unpacked: the longest replies with token probabilities take a few million."""

HAS_AIOHTTP: Final = find_spec("aiohttp") is not None
"""Calls go over aiohttp where it is installed: it costs less than httpx2."""

NEUTRAL: Final = JudgeRequest(
    system="Reply with JSON alone.",
    user='Reply with this JSON object: {"ok": true}',
    schema=closed_object({"ok": {"type": "boolean"}}),
    schema_name="tcva_probe",
)
"""A question that holds nothing of any sample."""

_THREAD: Final = "tcva-calls"
"""Nothing of the user's runs on the loop of this thread: whoever waits for it never holds it up."""

_CONNECT_SECONDS: Final = 10.0


class OpenAICompatibleModel:
    """A chat model behind the OpenAI API or anything that speaks it.

    The openai package does the transport, and repeats failed requests after growing pauses, or
    after the one that the server asks for, up to two minutes. What a server refuses (JSON schema,
    JSON mode, seed, token probabilities, temperature, the name of the token limit) is left out from
    then on; see `refused`.

    A call ends after ``timeout`` seconds, its repeated requests included; waiting for a place
    under ``max_concurrency`` or ``requests_per_minute`` comes before that. Replies of more than
    16 MB are not read, and redirects are not followed. This holds for clients that are made here;
    one of the user's keeps its own rules.

    One object may be used from several threads and event loops at once, also from a synchronous
    call inside a running loop, and in a forked process. It is pickled as its settings, without
    keys, and another process reads its own environment. A copy shares connections and limits, and
    learns for itself what the server refuses.

    Args:
        model: The model's name.
        client: An `openai.OpenAI` or `openai.AsyncOpenAI` to use, with its own key, address, timeout
            and retries. An asynchronous one is used by the first event loop that awaits a call, so
            that the application may use it there, too; synchronous calls and other loops get
            copies with connections of their own.
        **settings: See `ModelConfig`.

    Attributes:
        name: ``openai:`` and the model's name.
        parameters: What can change a reply: the settings as asked for, and the server's host and
            path.
        config: The settings, without address and key.
        server: The server, as messages name it.
        connection: What all its calls share.
        refused: The features that the server has refused so far, each with its reason.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or the address is none.
        JudgeError: There is no key, and the address is none of plain http.
    """

    follows_sampling = True
    """Requests may ask for a temperature and a seed of their own."""

    @shows_settings(ModelConfig)
    def __init__(
        self,
        model: str,
        *,
        client: openai.OpenAI | openai.AsyncOpenAI | None = None,
        **settings: Any,
    ) -> None:
        config = ModelConfig(**settings)
        if not isinstance(model, str) or not model.strip():
            msg = f"model must be the name of a model, got {model!r}"
            raise InvalidValueError(msg)
        self._made_from: Hashable | None = None
        self._pickled: Mapping[str, Any] | None = None
        if client is None:
            given = (
                config.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
            ).strip()
            url, userinfo = split_url(given)
            key = _key(config.api_key, url)
            if type(self) is OpenAICompatibleModel:
                digest = hashlib.sha256(f"{given}\n{key}".encode()).hexdigest()
                asked = (
                    config.temperature,
                    config.seed,
                    config.max_tokens,
                    config.prices,
                )
                self._made_from = (model, asked, digest)
            if config.api_key is None and not userinfo:
                self._pickled = {**settings, "base_url": url}
        elif hasattr(client, "base_url"):
            url, userinfo, key = str(client.base_url), "", str(client.api_key)
        else:
            msg = f"client must be a client of the openai package, got {type(client).__name__}"
            raise InvalidValueError(msg)
        header = basic(userinfo)
        password = userinfo.partition(":")[2] or userinfo
        self.server = Server(
            shown_url(url), model, (key, password, unquote(password), header)
        )
        self.connection = Connection(
            config, client, url, key, header if userinfo else ""
        )
        self.refused: dict[str, str] = {}
        self.config = config.model_copy(
            update={"base_url": None, "api_key": None}
        )  # secrets
        self._timeout = config.timeout if client is None else None
        self.name = f"openai:{model}"
        asked_for = config.model_dump(include={"temperature", "seed", "max_tokens"})
        self.parameters = {"server": mask(server_of(client, url)), **asked_for}

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self), refused=dict(self.refused))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._pickled is None:
            msg = f"{self!r} has its own key or client and cannot be pickled; use OPENAI_API_KEY"
            raise InvalidValueError(msg)
        return partial(type(self), self.server.model, **self._pickled), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.server.model!r}, base_url={self.server.url!r})"

    @property
    def identity(self) -> Identity:
        """The same server, settings and key are the same judge; a client of the user's is itself."""
        return Identity(self, self._made_from, self._timeout)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: No text came. ``reason`` is one of ``authentication``, ``permission``,
                ``model_not_found``, ``quota``, ``redirect``, ``unreachable``, ``connection``,
                ``timeout``, ``rate_limit``, ``server_error``, ``invalid_input`` (a prompt
                that is too long) and ``judge_error``; ``fatal`` is true where every call would fail like
                that: ``authentication``, ``quota``, ``unreachable``, and where the server's code
                says that there is no such model.
        """
        return wait_for(self._ask(request), _THREAD)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: As `complete` does.
        """
        if isinstance(self.connection.given, openai.AsyncOpenAI):
            return await self._ask(request)
        return await asyncio.wrap_future(submit(self._ask(request), _THREAD))

    def probe(self) -> dict[str, Any]:
        """Ask one tiny question with every feature, for a report on the server.

        Returns:
            ``server``, ``answers`` (whether a reply came), and either what failed (``reason``,
            ``detail``) or what works: ``model``, ``logprobs`` (whether they really came), and
            ``refused`` with the server's reasons.
        """
        found = {"server": self.server.url}
        try:
            reply = self.complete(
                replace(NEUTRAL, sampling=Sampling(top_logprobs=FEW_LOGPROBS))
            )
        except JudgeError as error:
            return {
                **found,
                "answers": False,
                "reason": error.reason,
                "detail": str(error),
            }
        has_logprobs = reply.token_logprobs is not None
        more = {
            "model": reply.model,
            "logprobs": has_logprobs,
            "refused": dict(self.refused),
        }
        return {
            **found,
            "answers": True,
            **more,
        }

    async def _ask(self, request: JudgeRequest) -> ModelReply:
        """A call, on the loop that has the connections."""
        async with self.connection.place() as client:
            steps = exchange(self.server, self.config, request, self.refused)
            try:
                async with asyncio.timeout(self._timeout):
                    body = next(steps)
                    while True:
                        body = steps.send(await self.connection.send(client, body))
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]  # a generator's is untyped
            except TimeoutError:
                msg = f"no answer from {self.server.url} within {self._timeout:g} s; raise timeout"
                raise JudgeError(msg, reason="timeout") from None


@dataclass(slots=True)
class _OnLoop:
    """What calls on one event loop share: connections, places, and when the next may start."""

    client: Any
    places: asyncio.Semaphore
    next: float = -math.inf


class Connection:
    """What all calls to one server share, on one event loop but for clients of the user's.

    Args:
        config: Of the model.
        given: A client of the user's, which keeps its own rules and whose methods may be wrapped
            ones, or None. A synchronous one is used in threads.
        url: The server's address.
        key: The API key.
        header: A user and password as the header has them, or an empty string.
    """

    def __init__(
        self,
        config: ModelConfig,
        given: Any,
        url: str,
        key: str,
        header: str,
    ) -> None:
        self.given = given
        self._config = config
        self._settings: dict[str, Any] = {
            "base_url": url,
            "api_key": key,
            "default_headers": {"Authorization": f"Basic {header}"} if header else None,
            "max_retries": config.max_retries,
        }
        # No redirect is followed: requests hold samples. Certificates take longer to load than a call.
        self._http: dict[str, Any] = {
            "follow_redirects": False,
            "verify": url[:5] == "https",
        }
        self._loops: dict[asyncio.AbstractEventLoop, _OnLoop] = {}
        self._lent_to: dict[str, asyncio.AbstractEventLoop] = {}
        self._threads: ThreadPoolExecutor | None = None

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Any]:
        """The client of this loop, under the limits of concurrency and rate.

        A forked process has another loop, and so starts afresh.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._loops:
            for closed in [each for each in [*self._loops] if each.is_closed()]:
                self._loops.pop(closed, None)
            places = asyncio.Semaphore(self._config.max_concurrency)
            self._threads = ThreadPoolExecutor(
                self._config.max_concurrency, "tcva-client"
            )
            self._loops[loop] = _OnLoop(self._client_here(), places)
        here = self._loops[loop]
        async with here.places:
            now = time.monotonic()
            start = max(now, here.next)
            here.next = start + 60.0 / (self._config.requests_per_minute or math.inf)
            if start > now:
                await asyncio.sleep(start - now)
            yield here.client

    def _client_here(self) -> Any:
        """The user's client, where its connections are of no other loop; else one made for this."""
        loop = asyncio.get_running_loop()
        is_own_loop = threading.current_thread().name == _THREAD
        if self.given is not None and not isinstance(self.given, openai.AsyncOpenAI):
            return self.given
        http = (
            openai.DefaultAioHttpClient
            if HAS_AIOHTTP
            else openai.DefaultAsyncHttpxClient
        )
        if self.given is None:
            client = openai.AsyncOpenAI(
                **self._settings,
                timeout=openai.Timeout(
                    None, connect=_CONNECT_SECONDS
                ),  # the call has its own
                http_client=http(**self._http, event_hooks={"response": [_read]}),
            )
        elif not is_own_loop and self._lent_to.setdefault("loop", loop) is loop:
            return self.given
        else:
            client = self.given.copy(http_client=http(**self._http))
        weakref.finalize(self, _close, client, loop, os.getpid())
        return client

    async def send(self, client: Any, body: Body) -> Answer:
        """Send a body.

        Our own client's by the package's way to any endpoint: that to chat completions first looks
        through the whole body for what it may have to rewrite, which takes as long as all the rest.
        """
        try:
            if self.given is None:
                sent = client.post(
                    "/chat/completions", cast_to=httpx2.Response, body=body
                )
                response = await sent
                return Answer(
                    response.status_code, response.content, sent=_sent(response.request)
                )
            create = partial(client.chat.completions.with_raw_response.create, **body)
            if isinstance(client, openai.AsyncOpenAI):
                raw = await create()
            else:
                call = partial(copy_context().run, create)
                raw = await asyncio.get_running_loop().run_in_executor(
                    self._threads, call
                )
            return Answer(HTTPStatus.OK, raw.content, sent=1 + raw.retries_taken)
        except openai.OpenAIError as error:
            return answer_of_error(error)

    def for_files(self) -> openai.OpenAI | openai.AsyncOpenAI:
        """A client for files of any size; to be closed after use where it is not the user's.

        Raises:
            InvalidValueError: The user's is an asynchronous one.
        """
        if isinstance(self.given, openai.AsyncOpenAI):
            msg = "batches need client=openai.OpenAI(...), not an AsyncOpenAI"
            raise InvalidValueError(msg)
        return self.given or openai.AsyncOpenAI(
            **self._settings,
            timeout=openai.Timeout(
                None, connect=_CONNECT_SECONDS
            ),  # each request has its own
            http_client=openai.DefaultAsyncHttpxClient(**self._http),
        )


async def _read(response: Any) -> None:
    """Read so much of a reply and no more, whatever its status."""
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > LARGEST_REPLY:
            msg = f"the reply is larger than {LARGEST_REPLY:,} bytes"
            raise openai.OpenAIError(msg)  # the package hands its own errors on
        pieces.append(piece)
    response._content = b"".join(pieces)  # noqa: SLF001  # what reading it whole would do
    # JSON is UTF-8 whatever headers say; Python knows encodings that take minutes for this size.
    response.encoding = "utf-8"
    if response.is_client_error and NO_CREDIT.encode() in response.content:
        response.headers["x-should-retry"] = "false"  # which the package obeys


def _sent(request: httpx2.Request | None) -> int:
    """How many requests were sent until this one, itself included."""
    return (
        1
        if request is None
        else 1 + int(request.headers.get("x-stainless-retry-count", 0))
    )


def answer_of_error(error: openai.OpenAIError) -> Answer:
    """What an exception of the package says came back."""
    response, sent = (
        getattr(error, "response", None),
        _sent(getattr(error, "request", None)),
    )
    if response is None:
        return Answer(0, sent=sent, error=error)
    return Answer(response.status_code, response.content, dict(response.headers), sent)


def _close(
    client: openai.AsyncOpenAI, loop: asyncio.AbstractEventLoop, process: int
) -> None:
    # What a parent process opened is not closed here: it reads on. A loop that ended took its own along.
    if process == os.getpid() and not loop.is_closed():
        asyncio.run_coroutine_threadsafe(client.close(), loop)


def _key(given: str | None, url: str) -> str:
    key = (given or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not key and url.startswith("http:"):
        return PLACEHOLDER_KEY
    if key and key.isascii() and key.isprintable():
        return key
    msg = f"no valid API key for {url}; set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server"
    raise JudgeError(msg, reason="authentication", fatal=True)

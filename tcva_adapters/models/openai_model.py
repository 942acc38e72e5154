"""Any OpenAI-compatible server as a judge model, on the openai package."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Hashable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, cast

from typing_extensions import Unpack

from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.models.openai_clients import (
    Connections,
    LoopClients,
    create,
    new_blocking_client,
    new_client,
    post,
)
from tcva_adapters.models.openai_errors import Server, shown_url
from tcva_adapters.models.openai_exchange import Exchange
from tcva_adapters.models.openai_features import Capabilities, Settings
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest
from tcva_adapters.models.secrets import Mask, secrets_of
from tcva_adapters.models.settings import ModelSettings, check_url, is_local
from tcva_adapters.models.steps import arun, run
from tcva_adapters.results.settings import resolved, shows_settings
from tcva_adapters.sharing import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

DEFAULT_URL: Final = "https://api.openai.com/v1"
PLACEHOLDER_KEY: Final = "none"
"""Sent to servers on the own machine or network, which want a header but no key."""

_PROBE_RETRIES: Final = 1


class OpenAICompatibleModel:
    """A chat model behind the OpenAI API or anything that speaks it.

    The openai package does the transport: connections, repeated requests with growing pauses,
    Retry-After. What a server refuses (JSON schema, JSON mode, seed, token probabilities,
    temperature, the name of the token limit) is left out from then on; see `capabilities`.

    A call ends after ``timeout`` seconds, its repeated requests included; waiting for a place
    under ``max_concurrency`` or ``requests_per_minute`` comes before that. Replies of more than
    16 MB are not read, and redirects to another scheme, host or port are not followed. This holds
    for clients that are made here; one of the user's keeps its own rules.

    One object may be used from several threads and event loops at once, also from a synchronous
    call inside a running loop, and in a forked process. It is pickled as its settings, without
    keys, and another process reads its own environment. A copy shares connections and limits, and
    learns for itself what the server refuses.

    Args:
        model: The model's name.
        client: An `openai.OpenAI` to use, with its own key, address, timeout and retries.
        async_client: The same for the asynchronous face. On a second event loop it is copied
            with fresh connections, since connections die with their loop. Where only one of the
            two is given, it serves both faces.
        **settings: See `ModelSettings`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or the address is none.
        MissingDependencyError: The openai package is missing.
        JudgeError: There is no key and the server is not a local one.
    """

    follows_sampling = True
    """Requests may ask for a temperature and a seed of their own."""

    @shows_settings(ModelSettings)
    def __init__(
        self,
        model: str,
        *,
        client: OpenAI | None = None,
        async_client: AsyncOpenAI | None = None,
        **settings: Unpack[ModelSettings],
    ) -> None:
        try:
            import openai  # noqa: PLC0415  # takes a second, and is an extra
        except ImportError as error:
            msg = f"a model as judge needs openai: pip install 'tcva-adapters[openai]' ({error})"
            raise MissingDependencyError(msg) from error
        found = cast("ModelSettings", resolved(ModelSettings, settings, of="a model"))
        if not isinstance(model, str) or not model.strip():
            msg = f"model={model!r}; it is the name of a model"
            raise InvalidValueError(msg)
        self._settings = Settings(
            model, found["temperature"], found["seed"], found["max_tokens"], found["logprobs"]
        )
        self._client: Any = client
        self._made_from: Hashable | None = None
        self._pickled: Mapping[str, Any] | str = (
            f"{model}: a model with a client of its own is not pickled; give base_url, and set "
            "OPENAI_API_KEY where it is opened"
        )
        given, clients = client or async_client, None
        blocking: Callable[[], OpenAI] | None = None
        self._send = post if given is None else create
        if given is None:
            url = (found["base_url"] or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL).strip()
            key, retries = _key(found["api_key"], check_url(url)), found["max_retries"]
            clients = partial(LoopClients, partial(new_client, url, key, retries))
            blocking = partial(new_blocking_client, url, key, retries)
            if type(self) is OpenAICompatibleModel:
                # An address may hold a password, too.
                digest = hashlib.sha256(f"{url}\n{key}".encode()).hexdigest()
                self._made_from = (self._settings, found["prices"], digest)
            self._pickled = _pickled(settings, url)
        elif hasattr(given, "base_url"):
            url, key, retries = str(given.base_url), str(given.api_key), given.max_retries
        else:
            msg = f"a client is one of the openai package, not a {type(given).__name__}"
            raise InvalidValueError(msg)
        if async_client is not None:

            def again() -> AsyncOpenAI:
                return async_client.copy(http_client=openai.DefaultAsyncHttpxClient())

            clients = partial(LoopClients, again, first=async_client)
        self._connections = Connections(
            clients, found["max_concurrency"], found["requests_per_minute"], blocking
        )
        mask = Mask(key, os.environ.get("OPENAI_API_KEY") or "", *secrets_of(url))
        timeout = found["timeout"] if given is None else None
        self._server = Server(shown_url(url), model, mask, retries, timeout)
        self._exchange = Exchange(self._server, found["prices"], openai.OpenAIError)

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self), _exchange=copy(self._exchange))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._pickled, str):
            raise InvalidValueError(self._pickled)
        return _reopened, (type(self), self._settings.model, self._pickled, self._server.url)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.model!r}, base_url={self._server.url!r})"

    @property
    def name(self) -> str:
        """``openai:`` and the model's name."""
        return f"openai:{self._settings.model}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What can change a reply: the settings as asked for, and the server's host and path."""
        return {
            "server": self._server.url.partition("://")[2],
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "max_tokens": self._settings.max_tokens,
            "logprobs": self._settings.logprobs,
        }

    @property
    def identity(self) -> Identity:
        """The same server, settings and key are the same judge; a client of the user's is itself."""
        if self._made_from is None:
            return Identity(self)
        server = self._server
        return Identity(self, self._made_from, (server.timeout, server.retries), server.timeout)

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        return self._exchange.capabilities

    def steps(
        self, request: JudgeRequest, exchange: Exchange
    ) -> Generator[dict[str, Any], Any, ModelReply]:
        """A call without its transport, for who brings answers another way.

        Args:
            request: What is asked.
            exchange: What is known of the server, and learnt; see `exchange`.

        Raises:
            JudgeError: As `complete` does.
        """
        reply, _ = yield from exchange.steps(request, self._settings)
        return reply

    def exchange(self, known: Capabilities) -> Exchange:
        """What `steps` takes, where so much is known; what it learns stays with it."""
        return self._exchange.knowing(known)

    def blocking_client(self) -> OpenAI:
        """A client for what is no chat completion: the user's own, or a new one, to be closed.

        Raises:
            InvalidValueError: The user gave an asynchronous one alone.
        """
        if self._connections.blocking is not None:
            return self._connections.blocking()
        if self._client is None:
            msg = f"{self!r} has an AsyncOpenAI alone; give client=openai.OpenAI(...), too"
            raise InvalidValueError(msg)
        return self._client  # type: ignore[no-any-return]  # the user's, checked when it was given

    @property
    def has_own_client(self) -> bool:
        """Whether `blocking_client` is the user's."""
        return self._connections.blocking is None

    @property
    def prices(self) -> tuple[float, float] | None:
        """Per million input and per million output tokens; None where none were given."""
        return self._exchange.prices

    @property
    def server(self) -> Server:
        """The server, as messages name it."""
        return self._server

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: No text came. ``reason`` is one of ``authentication``, ``permission``,
                ``model_not_found``, ``quota``, ``redirect``, ``unreachable``, ``connection``,
                ``timeout``, ``rate_limit``, ``server_error``, ``context_length`` and
                ``judge_error``; ``fatal`` is true for ``authentication`` and ``quota``.
        """
        with self._connections.limit.hold():
            return self._block(request, self._settings)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: As `complete` does.
        """
        here = self._connections
        async with here.limit.ahold():
            if here.clients is None:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(here.pool, self._block, request, self._settings)
            return await self._await(request, self._settings, here.clients)

    def probe(self) -> dict[str, Any]:
        """Ask one tiny question with every feature, for a report on the server.

        Returns:
            ``answers`` (whether a reply came), ``server``, ``seconds``, and either what failed
            (``reason``, ``detail``) or what works: ``model``, ``response_format``,
            ``follows_schema``, ``seed``, ``temperature``, ``logprobs`` (whether they really
            came), ``token_limit``, ``requests`` sent, and ``dropped`` with the server's reasons.
        """
        started = time.perf_counter()
        settings = replace(self._settings, logprobs=True)
        report: dict[str, Any] = {"answers": False, "server": self._server.url}
        try:
            reply = self._block(NEUTRAL, settings, max_retries=_PROBE_RETRIES)
        except JudgeError as error:
            report |= {"reason": error.reason, "detail": str(error)}
        else:
            capabilities = self.capabilities
            report |= {
                "answers": True,
                "model": reply.model or self._settings.model,
                "response_format": capabilities.response_format,
                "follows_schema": _follows_probe_schema(reply.text),
                "seed": "seed" not in capabilities.dropped,
                "temperature": "temperature" not in capabilities.dropped,
                "logprobs": reply.token_logprobs is not None,
                "token_limit": capabilities.token_limit,
                "requests": 1 + reply.retries,
                "dropped": dict(capabilities.dropped),
            }
        return report | {"seconds": round(time.perf_counter() - started, 3)}

    def _block(
        self, request: JudgeRequest, settings: Settings, *, max_retries: int | None = None
    ) -> ModelReply:
        """A call that blocks its thread, over whichever client there is."""
        here, client = self._connections, self._client
        clients = here.clients
        if client is None and clients is not None:
            return here.thread.run(self._await(request, settings, clients, max_retries=max_retries))
        if max_retries is not None:
            client = client.with_options(max_retries=max_retries)

        def send(body: dict[str, Any]) -> Any:
            if here.rate is not None:
                time.sleep(here.rate.book())
            return client.chat.completions.with_raw_response.create(**body)

        reply, used = run(self._exchange.steps(request, settings), send)
        return run(self._exchange.settled(request, settings, reply, used), send)

    async def _await(
        self,
        request: JudgeRequest,
        settings: Settings,
        clients: LoopClients,
        *,
        max_retries: int | None = None,
    ) -> ModelReply:
        rate, client = self._connections.rate, cast("Any", await clients.client())
        if max_retries is not None:
            client = client.with_options(max_retries=max_retries)
        if self._send is create:
            _ = client.chat.completions  # it imports, which is to take no call's time
        reply: ModelReply | None = None
        try:
            async with asyncio.timeout(self._server.timeout) as deadline:

                async def send(body: dict[str, Any]) -> Any:
                    if rate is not None:
                        pause, end = rate.book(), deadline.when()
                        if end is not None:  # standing in line is not the server's time
                            deadline.reschedule(end + pause)
                        await asyncio.sleep(pause)
                    return await self._send(client, body)

                found, used = await arun(self._exchange.steps(request, settings), send)
                reply = found
                return await arun(self._exchange.settled(request, settings, found, used), send)
        except TimeoutError:
            if reply is not None:
                return reply  # it was paid for
            raise self._server.late() from None


def _pickled(settings: ModelSettings, url: str) -> Mapping[str, Any] | str:
    """The settings from which a model is made again elsewhere, or why it is not."""
    is_secret = "@" in url or "?" in url
    if settings.get("api_key") is not None:
        return "a model with api_key=... is not pickled; set OPENAI_API_KEY in its place"
    if not is_secret:
        return {**settings, "base_url": url}
    if settings.get("base_url") is not None:
        return "a model whose base_url holds a password is not pickled; set OPENAI_BASE_URL"
    return dict(settings)


def _reopened(
    cls: type[OpenAICompatibleModel], model: str, settings: ModelSettings, server: str
) -> OpenAICompatibleModel:
    """A model as it was pickled, with the key of this process' environment.

    Raises:
        InvalidValueError: The environment here names another server.
    """
    found = cls(model, **settings)
    if found.parameters["server"] != server.partition("://")[2]:
        msg = f"{found!r} was pickled as one of {server}; set OPENAI_BASE_URL to the same here"
        raise InvalidValueError(msg)
    return found


def _follows_probe_schema(text: str) -> bool:
    try:
        return set(json.loads(text)) == {"ok"}
    except (ValueError, TypeError):
        return False


def _key(given: str | None, url: str) -> str:
    key = (given or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not key and is_local(url):
        return PLACEHOLDER_KEY
    if not key:
        msg = f"no API key for {shown_url(url)}: set OPENAI_API_KEY or pass api_key"
        raise JudgeError(msg, reason="authentication", fatal=True)
    if not (key.isascii() and key.isprintable()):
        msg = "the API key holds characters that no key has; check OPENAI_API_KEY or api_key"
        raise JudgeError(msg, reason="authentication", fatal=True)
    return key

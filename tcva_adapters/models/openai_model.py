"""Any OpenAI-compatible server as a judge model, on the openai package."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Generator, Hashable, Mapping
from copy import copy
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Self

from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.loops import wait_for
from tcva_adapters.models.openai_errors import Server, shown_url
from tcva_adapters.models.openai_exchange import Exchange
from tcva_adapters.models.openai_features import FEW_LOGPROBS, Capabilities, Settings
from tcva_adapters.models.openai_reply import Answer
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest, Sampling
from tcva_adapters.models.secrets import Mask, secrets_of
from tcva_adapters.models.settings import check_url, is_local
from tcva_adapters.results.settings import ModelConfig, shows_settings
from tcva_adapters.sharing import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

    from tcva_adapters.models.openai_clients import Clients, UsersClients

DEFAULT_URL: Final = "https://api.openai.com/v1"
PLACEHOLDER_KEY: Final = "none"
"""Sent to servers on the own machine or network, which want a header but no key."""

_PROBE_RETRIES: Final = 1


class OpenAICompatibleModel:
    """A chat model behind the OpenAI API or anything that speaks it.

    The openai package does the transport. A failed request is repeated after growing pauses, or
    after the one that the server asks for, as long as there is time. What a server refuses (JSON
    schema, JSON mode, seed, token probabilities, temperature, the name of the token limit) is left
    out from then on; see `capabilities`.

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
        client: An `openai.OpenAI` to use, with its own key, address, timeout and retries.
        async_client: The same for the asynchronous face. On a second event loop it is copied
            with fresh connections, since connections die with their loop. Where only one of the
            two is given, it serves both faces.
        **settings: See `ModelConfig`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or the address is none.
        MissingDependencyError: The openai package is missing.
        JudgeError: There is no key and the server is not a local one.
    """

    follows_sampling = True
    """Requests may ask for a temperature and a seed of their own."""

    @shows_settings(ModelConfig)
    def __init__(
        self,
        model: str,
        *,
        client: OpenAI | None = None,
        async_client: AsyncOpenAI | None = None,
        **settings: Any,
    ) -> None:
        try:
            import_module("openai")  # it takes a second, and is an extra
            from tcva_adapters.models.openai_clients import (  # noqa: PLC0415  # see above
                Clients,
                Connections,
                UsersClients,
            )
        except ImportError as error:
            msg = f"a model as judge needs openai: pip install 'tcva-adapters[openai]' ({error})"
            raise MissingDependencyError(msg) from error
        found = dict(ModelConfig(**settings))
        if not isinstance(model, str) or not model.strip():
            msg = f"model={model!r}; it is the name of a model"
            raise InvalidValueError(msg)
        self._settings = Settings(model, found["temperature"], found["seed"], found["max_tokens"])
        self._made_from: Hashable | None = None
        if client is None and async_client is None:
            url = (found["base_url"] or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL).strip()
            key = _key(found["api_key"], check_url(url))
            clients: Clients | UsersClients = Clients(url, key, found["max_retries"])
            timeout: float | None = found["timeout"]
            if type(self) is OpenAICompatibleModel:
                # An address may hold a password, too.
                digest = hashlib.sha256(f"{url}\n{key}".encode()).hexdigest()
                self._made_from = (self._settings, found["prices"], digest)
            self._pickled = _pickled(settings, url)
        else:
            clients, timeout = UsersClients(client, async_client), None
            url, key = clients.address
            self._pickled = (
                f"{model}: a model with a client of its own is not pickled; give base_url, and set "
                "OPENAI_API_KEY where it is opened"
            )
        self._connections = Connections(
            clients, found["max_concurrency"], found["requests_per_minute"]
        )
        mask = Mask(key, os.environ.get("OPENAI_API_KEY") or "", *secrets_of(url))
        self._exchange = Exchange(Server(shown_url(url), model, mask, timeout), found["prices"])

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self), _exchange=self.exchange(self.capabilities))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._pickled, str):
            raise InvalidValueError(self._pickled)
        return _reopened, (type(self), self._settings.model, self._pickled, self.server.url)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.model!r}, base_url={self.server.url!r})"

    @property
    def name(self) -> str:
        """``openai:`` and the model's name."""
        return f"openai:{self._settings.model}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What can change a reply: the settings as asked for, and the server's host and path."""
        own = asdict(self._settings)
        del own["model"]
        return {"server": self.server.url.partition("://")[2], **own}

    @property
    def identity(self) -> Identity:
        """The same server, settings and key are the same judge; a client of the user's is itself."""
        if self._made_from is None:
            return Identity(self)
        timeout = self.server.timeout
        return Identity(
            self, self._made_from, (timeout, self._connections.clients.max_retries), timeout
        )

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        return self._exchange.capabilities

    @property
    def clients(self) -> Clients | UsersClients:
        """What makes the clients of the openai package."""
        return self._connections.clients

    @property
    def prices(self) -> tuple[float, float] | None:
        """Per million input and per million output tokens; None where none were given."""
        return self._exchange.prices

    @property
    def server(self) -> Server:
        """The server, as messages name it."""
        return self._exchange.server

    def exchange(self, known: Capabilities) -> Exchange:
        """What `steps` takes, where so much is known; what it learns stays with it."""
        return Exchange(self.server, self.prices, known)

    def steps(
        self, request: JudgeRequest, exchange: Exchange
    ) -> Generator[dict[str, Any], Answer, ModelReply]:
        """A call without its transport, for who brings answers another way.

        Args:
            request: What is asked.
            exchange: What is known of the server, and learnt; see `exchange`.

        Raises:
            JudgeError: As `complete` does.
        """
        return exchange.steps(request, self._settings)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: No text came. ``reason`` is one of ``authentication``, ``permission``,
                ``model_not_found``, ``quota``, ``redirect``, ``unreachable``, ``connection``,
                ``timeout``, ``rate_limit``, ``server_error``, ``context_length`` and
                ``judge_error``; ``fatal`` is true where every call would fail like
                that: ``authentication``, ``quota``, ``unreachable``, and where the server's code
                says that there is no such model.
        """
        with self._connections.limit.hold():
            return self._block(request)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: As `complete` does.
        """
        here = self._connections
        async with here.limit.ahold():
            if not here.clients.is_asynchronous:
                return await asyncio.get_running_loop().run_in_executor(
                    here.pool, self._block, request
                )
            return await self._await(request)

    def probe(self) -> dict[str, Any]:
        """Ask one tiny question with every feature, for a report on the server.

        Returns:
            ``answers`` (whether a reply came), ``server``, ``seconds``, and either what failed
            (``reason``, ``detail``) or what works: ``model``, ``response_format``,
            ``follows_schema``, ``seed``, ``temperature``, ``logprobs`` (whether they really
            came), ``token_limit``, ``requests`` sent, and ``dropped`` with the server's reasons.
        """
        started = time.perf_counter()
        report: dict[str, Any] = {"answers": False, "server": self.server.url}
        request = replace(NEUTRAL, sampling=Sampling(top_logprobs=FEW_LOGPROBS))
        try:
            reply = self._block(request, max_retries=_PROBE_RETRIES)
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

    def _block(self, request: JudgeRequest, max_retries: int | None = None) -> ModelReply:
        """A call that blocks its thread."""
        here = self._connections
        client = here.blocking()
        if client is None:
            return wait_for(self._await(request, max_retries))
        call = here.call(self.server, max_retries)

        steps = self._exchange.steps(request, self._settings)
        try:
            body = next(steps)
            while True:
                time.sleep(call.place_in_line())
                answer = here.clients.send(client, body, call.left)
                pause = call.pause(answer)
                if pause is None:
                    body = steps.send(call.last(answer))
                else:
                    time.sleep(pause)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]  # a generator returns its result untyped

    async def _await(self, request: JudgeRequest, max_retries: int | None = None) -> ModelReply:
        here = self._connections
        client = await here.asynchronous()
        call = here.call(self.server, max_retries)

        steps = self._exchange.steps(request, self._settings)
        try:
            body = next(steps)
            while True:
                await asyncio.sleep(call.place_in_line())
                answer = await here.clients.asend(client, body, call.left)
                pause = call.pause(answer)
                if pause is None:
                    body = steps.send(call.last(answer))
                else:
                    await asyncio.sleep(pause)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]  # as above


def _pickled(settings: Mapping[str, Any], url: str) -> Mapping[str, Any] | str:
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
    cls: type[OpenAICompatibleModel], model: str, settings: Mapping[str, Any], server: str
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

"""Any OpenAI-compatible server as a judge model, on the openai package."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import time
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Self

from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.loops import submit, wait_for
from tcva_adapters.models.addresses import check_url, is_local, secrets_of, shown_url
from tcva_adapters.models.openai_errors import Server
from tcva_adapters.models.openai_exchange import Exchange
from tcva_adapters.models.openai_features import FEW_LOGPROBS, Capabilities
from tcva_adapters.models.openai_reply import Answer
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest, Sampling
from tcva_adapters.models.secrets import Mask
from tcva_adapters.results.settings import ModelConfig, shows_settings
from tcva_adapters.sharing import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

    from tcva_adapters.models.openai_clients import OwnConnection, UsersConnection

DEFAULT_URL: Final = "https://api.openai.com/v1"
PLACEHOLDER_KEY: Final = "none"
"""Sent to servers on the own machine or network, which want a header but no key."""

_THREAD: Final = "tcva-calls"
"""Nothing of the user's runs on the loop of this thread: whoever waits for it never holds it up."""

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 8.0
"""Seconds before a request is sent again: doubled each time, unless the server says how long."""


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
        async_client: The same for the asynchronous face. It belongs to the first event loop that
            uses it; on others it is copied with fresh connections. Where only one of the two is
            given, it serves both faces.
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
                OwnConnection,
                UsersConnection,
            )
        except ImportError as error:
            msg = f"a model as judge needs openai: pip install 'tcva-adapters[openai]' ({error})"
            raise MissingDependencyError(msg) from error
        config = ModelConfig(**settings)
        if not isinstance(model, str) or not model.strip():
            msg = f"model={model!r}; it is the name of a model"
            raise InvalidValueError(msg)
        self._made_from: Hashable | None = None
        self._pickled: Mapping[str, Any] | None = None
        self.connection: OwnConnection | UsersConnection
        if client is None and async_client is None:
            url = (config.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL).strip()
            key = _key(config.api_key, check_url(url))
            self.connection = OwnConnection(config, url, key)
            timeout: float | None = config.timeout
            if type(self) is OpenAICompatibleModel:
                # An address may hold a password, too.
                digest = hashlib.sha256(f"{url}\n{key}".encode()).hexdigest()
                asked = (config.temperature, config.seed, config.max_tokens, config.prices)
                self._made_from = (model, asked, digest)
            is_secret = "@" in url or "?" in url
            if config.api_key is None and not (is_secret and config.base_url):
                self._pickled = {**settings, "base_url": None if is_secret else url}
        else:
            self.connection = UsersConnection(config, client, async_client)
            url, key, timeout = self.connection.url, self.connection.key, None
        mask = Mask(key, os.environ.get("OPENAI_API_KEY") or "", *secrets_of(url))
        self.server = Server(shown_url(url), model, mask, timeout)
        """The server, as messages name it."""
        self._config = config.model_copy(update={"base_url": None, "api_key": None})  # secrets
        self._exchange = self.exchange(Capabilities())

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self), _exchange=self.exchange(self.capabilities))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._pickled is None:
            msg = (
                f"{self!r} has a key, a password or a client of its own and is not pickled; set "
                "OPENAI_API_KEY, or set OPENAI_BASE_URL where the password is in it, in their place"
            )
            raise InvalidValueError(msg)
        return _reopened, (type(self), self.server.model, self._pickled, self.server.url)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.server.model!r}, base_url={self.server.url!r})"

    @property
    def name(self) -> str:
        """``openai:`` and the model's name."""
        return f"openai:{self.server.model}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What can change a reply: the settings as asked for, and the server's host and path."""
        asked = self._config.model_dump(include={"temperature", "seed", "max_tokens"})
        return {"server": self.server.url.partition("://")[2], **asked}

    @property
    def identity(self) -> Identity:
        """The same server, settings and key are the same judge; a client of the user's is itself."""
        timeout = self.server.timeout
        return Identity(self, self._made_from, (timeout, self._config.max_retries), timeout)

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        return self._exchange.capabilities

    @property
    def prices(self) -> tuple[float, float] | None:
        """Per million input and per million output tokens; None where none were given."""
        return self._config.prices

    def exchange(self, known: Capabilities) -> Exchange:
        """Calls without their transport, for who brings answers another way.

        Args:
            known: What is known of the server; what is learnt stays with the exchange.
        """
        return Exchange(self.server, self._config, known)

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
        return wait_for(self._ask(request), _THREAD)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: As `complete` does.
        """
        asked = self._ask(request, self.connection.home())
        return await asyncio.wrap_future(submit(asked, _THREAD))

    def probe(self) -> dict[str, Any]:
        """Ask one tiny question with every feature, for a report on the server.

        Returns:
            ``answers`` (whether a reply came), ``server``, ``seconds``, and either what failed
            (``reason``, ``detail``) or what works: ``model``, ``response_format``, ``logprobs``
            (whether they really came), ``requests`` sent, and ``dropped`` with the server's
            reasons.
        """
        started = time.perf_counter()
        report: dict[str, Any]
        try:
            reply = self.complete(replace(NEUTRAL, sampling=Sampling(top_logprobs=FEW_LOGPROBS)))
        except JudgeError as error:
            report = {"answers": False, "reason": error.reason, "detail": str(error)}
        else:
            report = {
                "answers": True,
                "model": reply.model or self.server.model,
                "response_format": self.capabilities.response_format,
                "logprobs": reply.token_logprobs is not None,
                "requests": 1 + reply.retries,
                "dropped": dict(self.capabilities.dropped),
            }
        seconds = round(time.perf_counter() - started, 3)
        return {"server": self.server.url, **report, "seconds": seconds}

    async def _ask(
        self, request: JudgeRequest, home: asyncio.AbstractEventLoop | None = None
    ) -> ModelReply:
        """A call, on the loop of the connection."""
        sent = 0
        async with self.connection.places():
            try:
                async with asyncio.timeout(self.server.timeout) as deadline:
                    steps = self._exchange.steps(request)
                    body, tries = next(steps), 0
                    while True:
                        await self._wait_in_line(deadline)
                        sent += 1
                        answer = await self.connection.send(body, home)
                        sent += answer.sent - 1
                        pause = self._pause(answer, tries, deadline)
                        if pause is None:
                            body = steps.send(replace(answer, sent=tries + answer.sent))
                            tries = 0
                        else:
                            tries += 1
                            await asyncio.sleep(pause)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]  # a generator's is untyped
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise self.server.late(sent) from None

    async def _wait_in_line(self, deadline: asyncio.Timeout) -> None:
        """Wait for the next request's moment, which is not the server's time."""
        pause = self.connection.book()
        if pause:
            if (end := deadline.when()) is not None:
                deadline.reschedule(end + pause)
            await asyncio.sleep(pause)

    def _pause(self, answer: Answer, tries: int, deadline: asyncio.Timeout) -> float | None:
        """Seconds until the request is sent again; None where this answer is the last one."""
        if tries >= self.connection.max_retries or not answer.may_pass:
            return None
        if self.server.failure(answer).kind.fatal:
            return None
        doubled = min(_FIRST_PAUSE * 2.0**tries, _LONGEST_PAUSE)
        pause = answer.pause or doubled * random.uniform(0.75, 1.0)  # noqa: S311  # callers are to spread
        end = deadline.when()
        is_in_time = end is None or asyncio.get_running_loop().time() + pause < end
        return pause if is_in_time else None


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


def _key(given: str | None, url: str) -> str:
    key = (given or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not key and is_local(url):
        return PLACEHOLDER_KEY
    if key and key.isascii() and key.isprintable():
        return key
    msg = f"no API key for {shown_url(url)}: set OPENAI_API_KEY or pass api_key"
    if key:
        msg = "the API key holds characters that no key has; check OPENAI_API_KEY or api_key"
    raise JudgeError(msg, reason="authentication", fatal=True)

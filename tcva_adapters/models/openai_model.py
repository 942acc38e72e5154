"""Any OpenAI-compatible server as a judge model, on the openai package."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Self

from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.loops import submit, wait_for
from tcva_adapters.models.openai_exchange import FEW_LOGPROBS, Server, exchange
from tcva_adapters.models.protocol import JudgeRequest, ModelReply, Sampling, closed_object
from tcva_adapters.models.secrets import basic, is_local, shown_url, split_url
from tcva_adapters.results.settings import ModelConfig, shows_settings
from tcva_adapters.sharing import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

DEFAULT_URL: Final = "https://api.openai.com/v1"
PLACEHOLDER_KEY: Final = "none"
"""Sent to servers on the own machine or network, which want a header but no key."""

NEUTRAL: Final = JudgeRequest(
    system="Reply with JSON alone.",
    user='Reply with this JSON object: {"ok": true}',
    schema=closed_object({"ok": {"type": "boolean"}}),
    schema_name="tcva_probe",
)
"""A question that holds nothing of any sample."""

_THREAD: Final = "tcva-calls"
"""Nothing of the user's runs on the loop of this thread: whoever waits for it never holds it up."""


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
    keys, and another process reads its own environment. A copy shares connections and
    limits, and learns for itself what the server refuses.

    Args:
        model: The model's name.
        client: An `openai.OpenAI` or `openai.AsyncOpenAI` to use, with its own key, address, timeout
            and retries. An asynchronous one is used on an event loop in a thread of its own,
            and by nothing else.
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
        MissingDependencyError: The openai package is missing.
        JudgeError: There is no key and the server is not a local one.
    """

    follows_sampling = True
    """Requests may ask for a temperature and a seed of their own."""

    @shows_settings(ModelConfig)
    def __init__(
        self, model: str, *, client: OpenAI | AsyncOpenAI | None = None, **settings: Any
    ) -> None:
        try:
            import_module("openai")  # it takes a second, and is an extra
            from tcva_adapters.models.openai_clients import Connection  # noqa: PLC0415  # see above
        except ImportError as error:
            msg = f"a model as judge needs openai: pip install 'tcva-adapters[openai]' ({error})"
            raise MissingDependencyError(msg) from error
        config = ModelConfig(**settings)
        if not isinstance(model, str) or not model.strip():
            msg = f"model={model!r}; it is the name of a model"
            raise InvalidValueError(msg)
        self._made_from: Hashable | None = None
        self._pickled: Mapping[str, Any] | None = None
        if client is None:
            given = (config.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL).strip()
            url, userinfo = split_url(given)
            key = _key(config.api_key, url)
            digest = hashlib.sha256(f"{given}\n{key}".encode()).hexdigest()
            asked = (config.temperature, config.seed, config.max_tokens, config.prices)
            if type(self) is OpenAICompatibleModel:
                self._made_from = (model, asked, digest)
            if config.api_key is None and not userinfo:
                self._pickled = {**settings, "base_url": url}
        elif hasattr(client, "base_url"):
            url, userinfo, key = str(client.base_url), "", str(client.api_key)
        else:
            msg = f"a client is one of the openai package, not a {type(client).__name__}"
            raise InvalidValueError(msg)
        header = basic(userinfo)
        self.server = Server(shown_url(url), model, (key, userinfo.partition(":")[2], header))
        self.connection = Connection(config, url, key, header if userinfo else "", client)
        self.refused: dict[str, str] = {}
        self.config = config.model_copy(update={"base_url": None, "api_key": None})  # secrets
        self._timeout = config.timeout if client is None else None
        self.name = f"openai:{model}"
        self.parameters: Mapping[str, Any] = {
            "server": self.server.url.partition("://")[2],
            **config.model_dump(include={"temperature", "seed", "max_tokens"}),
        }

    def __copy__(self) -> Self:
        found = object.__new__(type(self))
        vars(found).update(vars(self), refused=dict(self.refused))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._pickled is None:
            msg = (
                f"{self!r} has a key, a password or a client of its own and is not pickled; set "
                "OPENAI_API_KEY in its place"
            )
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
        return await asyncio.wrap_future(submit(self._ask(request), _THREAD))

    def probe(self) -> dict[str, Any]:
        """Ask one tiny question with every feature, for a report on the server.

        Returns:
            ``answers`` (whether a reply came), ``server``, ``seconds``, and either what failed
            (``reason``, ``detail``) or what works: ``model``, ``logprobs`` (whether they really
            came), and ``refused`` with the server's reasons.
        """
        started = time.perf_counter()
        report: dict[str, Any]
        try:
            reply = self.complete(replace(NEUTRAL, sampling=Sampling(top_logprobs=FEW_LOGPROBS)))
        except JudgeError as error:
            report = {"answers": False, "reason": error.reason, "detail": str(error)}
        else:
            has_logprobs = reply.token_logprobs is not None
            report = {"answers": True, "model": reply.model, "logprobs": has_logprobs}
            report["refused"] = dict(self.refused)
        seconds = round(time.perf_counter() - started, 3)
        return {"server": self.server.url, **report, "seconds": seconds}

    async def _ask(self, request: JudgeRequest) -> ModelReply:
        """A call, on the loop of the connection."""
        async with self.connection.place():
            steps = exchange(self.server, self.config, request, self.refused)
            try:
                async with asyncio.timeout(self._timeout):
                    body = next(steps)
                    while True:
                        body = steps.send(await self.connection.send(body))
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]  # a generator's is untyped
            except TimeoutError:
                msg = (
                    f"{self.server.url} did not answer within {self._timeout:g} s; raise timeout "
                    "(--judge-timeout) or lower the concurrency"
                )
                raise JudgeError(msg, reason="timeout") from None


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

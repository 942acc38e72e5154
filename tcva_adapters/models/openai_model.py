"""Any OpenAI-compatible server as a judge model, on the openai package. Imported where it is used."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.loops import submit, wait_for
from tcva_adapters.models.judge_model import (
    Identity,
    JudgeRequest,
    ModelReply,
    Sampling,
    closed_object,
)
from tcva_adapters.models.openai_exchange import FEW_LOGPROBS, Server, exchange
from tcva_adapters.models.openai_retries_and_limits import CALLS_THREAD, Connection
from tcva_adapters.models.secrets import mask
from tcva_adapters.models.server_address import (
    basic,
    server_of,
    shown_url,
    split_url,
)
from tcva_adapters.results.settings import ModelConfig
from tcva_adapters.results.settings_base import shows_settings
from tcva_adapters.samples.json_values import Json

if TYPE_CHECKING:
    import openai

DEFAULT_URL = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "none"
"""Sent over plain http, to servers on the own machine or network: they want a header but no key."""

NEUTRAL = JudgeRequest(
    system="Reply with JSON alone.",
    user='Reply with this JSON object: {"ok": true}',
    schema=closed_object({"ok": {"type": "boolean"}}),
    schema_name="tcva_probe",
)
"""A question that holds nothing of any sample."""


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
        connection: The connections that all its calls share.
        refused: The features that the server has refused so far, each with its reason.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or the address is not one.
        JudgeError: There is no key, and the address is not one of plain http.
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
            raise InvalidValueError(f"model must be the name of a model, got {model!r}")
        self._made_from: Hashable | None = None
        self._pickled: Mapping[str, Any] | None = None
        asked_for = config.model_dump(include={"temperature", "seed", "max_tokens"})
        if client is None:
            address = (
                config.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
            ).strip()
            url, userinfo = split_url(address)
            key = _key(config.api_key, url)
            if type(self) is OpenAICompatibleModel:
                digest = hashlib.sha256(f"{address}\n{key}".encode()).hexdigest()
                self._made_from = (
                    model,
                    tuple(asked_for.values()),
                    config.prices,
                    digest,
                )
            if config.api_key is None and not userinfo:
                self._pickled = {**settings, "base_url": url}
        elif hasattr(client, "base_url"):
            url = str(client.base_url)
            userinfo = ""
            key = str(client.api_key)
        else:
            raise InvalidValueError(
                f"client must be a client of the openai package, got {type(client).__name__}"
            )
        header = basic(userinfo)
        password = userinfo.partition(":")[2] or userinfo
        self.server = Server(
            shown_url(url), model, (key, password, unquote(password), header)
        )
        self.connection = Connection(
            config,
            users_client=client,
            url=url,
            key=key,
            header=header if userinfo else "",
        )
        self.refused: dict[str, str] = {}
        self.config = config.model_copy(update={"base_url": None, "api_key": None})
        self._timeout = config.timeout if client is None else None
        self.name = f"openai:{model}"
        self.parameters = {"server": mask(server_of(client, url)), **asked_for}

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        vars(copied).update(vars(self), refused=dict(self.refused))
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return copy(self)

    def __reduce__(self) -> tuple[object, ...]:
        if self._pickled is None:
            raise InvalidValueError(
                f"{self!r} has its own key or client and cannot be pickled; use OPENAI_API_KEY"
            )
        return partial(type(self), self.server.model, **self._pickled), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.server.model!r}, base_url={self.server.url!r})"

    @property
    def identity(self) -> Identity:
        """Equal for the same server, settings and key; with a client of the user's, for itself alone."""
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
        return wait_for(self._ask(request), CALLS_THREAD)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: As `complete` does.
        """
        if self.connection.is_async:
            return await self._ask(request)
        return await asyncio.wrap_future(submit(self._ask(request), CALLS_THREAD))

    def probe(self) -> Json:
        """Ask one tiny question with every feature, for a report on the server.

        Returns:
            ``server``, ``answers`` (whether a reply came), and either what failed (``reason``,
            ``detail``) or what works: ``model``, ``logprobs`` (whether they really came), and
            ``refused`` with the server's reasons.
        """
        request = replace(NEUTRAL, sampling=Sampling(top_logprobs=FEW_LOGPROBS))
        try:
            reply = self.complete(request)
        except JudgeError as error:
            return {
                "server": self.server.url,
                "answers": False,
                "reason": error.reason,
                "detail": str(error),
            }
        return {
            "server": self.server.url,
            "answers": True,
            "model": reply.model,
            "logprobs": reply.token_logprobs is not None,
            "refused": dict(self.refused),
        }

    async def _ask(self, request: JudgeRequest) -> ModelReply:
        """Make a call, on the loop that has the connections."""
        async with self.connection.place() as here:
            steps = exchange(self.server, self.config, request, self.refused)
            try:
                async with asyncio.timeout(self._timeout):
                    body = next(steps)
                    while True:
                        body = steps.send(await self.connection.send(here, body))
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]  # a generator's is untyped
            except TimeoutError:
                raise JudgeError(
                    f"no answer from {self.server.url} within {self._timeout:g} s; raise timeout",
                    reason="timeout",
                ) from None


def _key(api_key: str | None, url: str) -> str:
    key = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not key and url.startswith("http:"):
        return PLACEHOLDER_KEY
    if key and key.isascii() and key.isprintable():
        return key
    raise JudgeError(
        f"no valid API key for {url}; set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server",
        reason="authentication",
        fatal=True,
    )

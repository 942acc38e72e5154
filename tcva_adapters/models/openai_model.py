"""Any OpenAI-compatible server as a judge model, on the openai package."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import os
import threading
import time
import weakref
from collections.abc import Generator, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tcva_adapters.errors import InvalidValueError, JudgeError, MissingDependencyError
from tcva_adapters.models.limits import ConcurrencyLimit, RateLimit
from tcva_adapters.models.openai_clients import LoopClients, LoopThread, new_async, new_sync
from tcva_adapters.models.openai_errors import Failure, Server, shown_url
from tcva_adapters.models.openai_features import (
    Capabilities,
    Feature,
    Settings,
    format_drop,
    named_features,
    next_drop,
)
from tcva_adapters.models.openai_reply import Completion, read_completion
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest, closed_object
from tcva_adapters.models.steps import arun, run
from tcva_adapters.sharing import Identity

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

DEFAULT_URL: Final = "https://api.openai.com/v1"
PLACEHOLDER_KEY: Final = "none"
"""Sent to servers on the own machine or network, which want a header but no key."""

_PRICE_UNIT: Final = 1_000_000
_PROBE_RETRIES: Final = 1


class OpenAICompatibleModel:
    """A chat model behind the OpenAI API or anything that speaks it.

    The openai package does the transport: connections, repeated requests with growing pauses,
    Retry-After. What a server refuses (JSON schema, JSON mode, seed, token probabilities,
    temperature, the name of the token limit) is left out from then on; see `capabilities`.

    One object may be used from several threads and event loops at once, also from a synchronous
    call inside a running loop.

    Args:
        model: The model's name.
        base_url: The server's address; OPENAI_BASE_URL, else OpenAI's.
        api_key: The key; OPENAI_API_KEY. A server on the own machine or network needs none.
        temperature: 0 to 2; None leaves it to the server.
        seed: None sends none.
        max_tokens: Limit of a reply's length.
        timeout: Seconds for one request.
        max_retries: How often a failed request is repeated.
        max_concurrency: Calls under way at once, over all threads and event loops.
        requests_per_minute: Calls are spaced evenly to this rate; repeated requests of the openai
            package do not count. None sets no limit.
        prices: Per million input tokens and per million output tokens, to fill in costs.
        logprobs: Ask for token probabilities, from which verdicts get level probabilities.
        client: An `openai.OpenAI` to use, with its own key, address, timeout and retries.
        async_client: The same for the asynchronous face. On a second event loop it is copied
            with fresh connections, since connections die with their loop. Where only one of the
            two is given, it serves both faces.

    Raises:
        InvalidValueError: A setting is out of range, or the address is none.
        MissingDependencyError: The openai package is missing.
        JudgeError: There is no key and the server is not a local one.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        max_tokens: int = 4096,
        timeout: float = 60.0,
        max_retries: int = 5,
        max_concurrency: int = 8,
        requests_per_minute: float | None = None,
        prices: tuple[float, float] | None = None,
        logprobs: bool = False,
        client: OpenAI | None = None,
        async_client: AsyncOpenAI | None = None,
    ) -> None:
        try:
            import openai  # noqa: PLC0415  # takes a second, and is an extra
        except ImportError as error:
            msg = f"a model as judge needs openai: pip install 'tcva-adapters[openai]' ({error})"
            raise MissingDependencyError(msg) from error
        _check(
            (bool(model.strip()), "model must name a model", model),
            (
                temperature is None or 0 <= temperature <= 2,
                "temperature lies in [0, 2]",
                temperature,
            ),
            (max_tokens >= 1, "max_tokens must be 1 or more", max_tokens),
            (timeout > 0, "timeout must be above 0 seconds", timeout),
            (max_retries >= 0, "max_retries must be 0 or more", max_retries),
            (prices is None or min(prices) >= 0, "prices must be 0 or more", prices),
        )
        self._sdk_error = openai.OpenAIError
        self._settings = Settings(model, temperature, seed, max_tokens, logprobs)
        self._prices = prices
        self._concurrency = ConcurrencyLimit(max_concurrency)
        self._rate = None if requests_per_minute is None else RateLimit(requests_per_minute)
        self._lock = threading.Lock()
        self._capabilities = Capabilities()
        self._answered = False
        self._sync: Any = client
        self._loops: LoopClients | None = None
        self._thread = LoopThread(self)
        given = client or async_client
        if given is None:
            url = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
            _check_url(url)
            key = _key(api_key, url)
            self._loops = LoopClients(lambda: new_async(url, key, timeout, max_retries))
            self._sync = new_sync(url, key, timeout, max_retries)
            weakref.finalize(self, self._sync.close)
        else:
            url, key, max_retries = str(given.base_url), given.api_key, given.max_retries
        if async_client is not None:
            self._loops = LoopClients(
                lambda: async_client.copy(http_client=openai.DefaultAsyncHttpxClient()),
                first=async_client,
            )
        self._pool = ThreadPoolExecutor(max_concurrency) if self._loops is None else None
        self._server = Server(
            shown_url(url), model, key, max_retries, timeout if given is None else None
        )
        self._made_from: Hashable | None = None
        if given is None and type(self) is OpenAICompatibleModel:
            # An address may hold a password, too.
            digest = hashlib.sha256(f"{url}\n{key}".encode()).hexdigest()
            self._made_from = (self._settings, prices and tuple(prices), digest)

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
        patience = (server.timeout, server.retries)
        seconds = (1 + server.retries) * (server.timeout or 0.0) or None
        return Identity(self, self._made_from, patience, seconds)

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        with self._lock:
            return self._capabilities

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: No text came. ``reason`` is one of ``authentication``, ``permission``,
                ``model_not_found``, ``quota``, ``connection``, ``timeout``, ``rate_limit``,
                ``server_error``, ``context_length`` and ``judge_error``; ``fatal`` is true for
                the first four, and for ``connection`` where the server never answered.
        """
        with self._concurrency.hold():
            return self._block(request, self._settings)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: As `complete` does.
        """
        async with self._concurrency.ahold():
            if self._loops is None:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, self._block, request, self._settings)
            return await self._await(request, self._settings, self._loops)

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
            reply = self._block(_PROBE, settings, max_retries=_PROBE_RETRIES)
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
        if self._sync is None and self._loops is not None:
            return self._thread.run(self._await(request, settings, self._loops))
        client = self._sync
        if max_retries is not None:
            client = client.with_options(max_retries=max_retries)

        def send(body: dict[str, Any]) -> Any:
            if self._rate is not None:
                time.sleep(self._rate.book())
            return client.chat.completions.with_raw_response.create(**body)

        return run(self._steps(request, settings), send)

    async def _await(
        self, request: JudgeRequest, settings: Settings, loops: LoopClients
    ) -> ModelReply:
        client: Any = await loops.client()

        async def send(body: dict[str, Any]) -> Any:
            if self._rate is not None:
                await asyncio.sleep(self._rate.book())
            return await client.chat.completions.with_raw_response.create(**body)

        return await arun(self._steps(request, settings), send)

    def _steps(
        self, request: JudgeRequest, settings: Settings
    ) -> Generator[dict[str, Any], Any, ModelReply]:
        """Ask, and ask for less as long as the server wants less.

        A feature that the server names is forgotten at once. One that was given up on suspicion
        is only forgotten when a reply came without it: the sample may have been the trouble.
        """
        capabilities = self.capabilities
        sent = input_tokens = output_tokens = 0
        while True:
            body = capabilities.body(settings, request)
            refusal: Exception | None = None
            try:
                raw = yield body
            except self._sdk_error as error:
                refusal = error
            if refusal is not None:
                sent += 1 + _retries(refusal)
                capabilities = self._with_less(body, capabilities, self._server.failure(refusal))
                continue
            self._answered = True
            sent += 1 + raw.retries_taken
            completion = self._read(raw.text)
            input_tokens += completion.input_tokens
            output_tokens += completion.output_tokens
            form = format_drop(body)
            if not completion.text.strip() and completion.finish_reason != "length":
                if form is None:
                    msg = f"{self._server.url} returned an empty message"
                    raise JudgeError(msg, reason="judge_error")
                capabilities = capabilities.without(form, "the message came back empty")
                continue
            self._remember(capabilities)
            return ModelReply(
                text=completion.text,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                retries=sent - 1,
                truncated=completion.finish_reason == "length",
                model=completion.model,
                cost=self._cost(input_tokens, output_tokens),
                token_logprobs=completion.token_logprobs,
            )

    def _with_less(
        self, body: Mapping[str, Any], capabilities: Capabilities, failure: Failure
    ) -> Capabilities:
        named = named_features(body, failure.message, failure.param)
        feature = next_drop(body, named)
        curable = failure.may_be_cured_by_less(names_a_feature=bool(named))
        error = failure.as_error(answered_before=self._answered)
        self._answered = self._answered or failure.status is not None
        if feature is None or not curable:
            raise error
        features: tuple[Feature, ...] = (feature,)
        if failure.is_limit_too_large:
            # The other name of the limit would be refused just the same.
            features = ("max_tokens", "max_completion_tokens")
        for dropped in features:
            capabilities = capabilities.without(dropped, failure.message)
            if named:
                self._remember(Capabilities({dropped: failure.message}))
        return capabilities.merged(self.capabilities)  # what other threads learnt meanwhile

    def _remember(self, capabilities: Capabilities) -> None:
        with self._lock:
            self._capabilities = self._capabilities.merged(capabilities)

    def _read(self, body: str) -> Completion:
        completion = read_completion(body)
        server = self._server
        if completion is None:
            msg = (
                f"{server.url} answered with something that is no chat completion: "
                f"{server.clean(body)[:100]!r}; check base_url, which usually ends in /v1"
            )
            raise JudgeError(msg, reason="server_error")
        if completion.finish_reason == "content_filter":
            msg = f"the content filter of {server.url} cut the reply off"
            raise JudgeError(msg, reason="judge_error")
        if completion.refusal and not completion.text:
            msg = f"{server.model} refused to judge: {server.clean(completion.refusal)}"
            raise JudgeError(msg, reason="judge_error")
        return completion

    def _cost(self, input_tokens: int, output_tokens: int) -> float | None:
        if self._prices is None:
            return None
        per_input, per_output = self._prices
        return (input_tokens * per_input + output_tokens * per_output) / _PRICE_UNIT


_PROBE: Final = JudgeRequest(
    system="Reply with JSON alone.",
    user='Reply with this JSON object: {"ok": true}',
    schema=closed_object({"ok": {"type": "boolean"}}),
    schema_name="tcva_probe",
)


def _follows_probe_schema(text: str) -> bool:
    try:
        return set(json.loads(text)) == {"ok"}
    except (ValueError, TypeError):
        return False


def _retries(error: Exception) -> int:
    """How often the SDK had repeated the request that failed in the end."""
    request = getattr(error, "request", None)
    return int(request.headers.get("x-stainless-retry-count", 0)) if request is not None else 0


def _check(*rules: tuple[bool, str, object]) -> None:
    for is_kept, rule, value in rules:
        if not is_kept:
            msg = f"{rule}, got {value!r}"
            raise InvalidValueError(msg)


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        msg = f"base_url must look like https://host/v1, got {shown_url(url)!r}"
        raise InvalidValueError(msg)


def _key(given: str | None, url: str) -> str:
    key = (given or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not key and _is_local(url):
        return PLACEHOLDER_KEY
    if not key:
        msg = f"no API key for {shown_url(url)}: set OPENAI_API_KEY or pass api_key"
        raise JudgeError(msg, reason="authentication", fatal=True)
    if not (key.isascii() and key.isprintable()):
        msg = "the API key holds characters that no key has; check OPENAI_API_KEY or api_key"
        raise JudgeError(msg, reason="authentication", fatal=True)
    return key


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        # A bare name is a machine of the own network; these endings are reserved for such.
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))

"""One question to a chat completion server: asked for less as long as the server wants less."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_errors import Failure, Server
from tcva_adapters.models.openai_features import (
    Capabilities,
    Feature,
    Settings,
    blamed_features,
    format_drop,
    named_features,
    next_drop,
)
from tcva_adapters.models.openai_reply import Completion, read_completion
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest

_PRICE_UNIT: Final = 1_000_000


class Exchange:
    """What is sent to a server and read from it, apart from how it travels.

    Args:
        server: The server.
        prices: Per million input tokens and per million output tokens.
        sdk_error: The base of the errors of the openai package.
    """

    def __init__(
        self, server: Server, prices: tuple[float, float] | None, sdk_error: type[Exception]
    ) -> None:
        self.server = server
        self.prices = prices
        self._sdk_error = sdk_error
        self._lock = threading.Lock()
        self._capabilities = Capabilities()

    def __copy__(self) -> Exchange:
        return self.knowing(self.capabilities)

    def knowing(self, capabilities: Capabilities) -> Exchange:
        """One of its own, which begins with what is known."""
        found = Exchange(self.server, self.prices, self._sdk_error)
        found._capabilities = capabilities  # of this class
        return found

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        with self._lock:
            return self._capabilities

    def steps(
        self, request: JudgeRequest, settings: Settings
    ) -> Generator[dict[str, Any], Any, tuple[ModelReply, Capabilities]]:
        """Ask, and ask for less as long as the server wants less.

        A feature is forgotten at once where the server blames its parameter. What was given up
        because of a text, or on suspicion, is returned beside the reply: it may have been the
        sample's fault.
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
                capabilities = self._with_less(body, capabilities, self.server.failure(refusal))
                continue
            sent += 1 + raw.retries_taken
            completion = self._read(raw)
            input_tokens += completion.input_tokens
            output_tokens += completion.output_tokens
            form = format_drop(body)
            if form is not None and _is_empty(completion):
                capabilities = capabilities.without(form, "the message came back empty")
                continue
            found = replace(completion, input_tokens=input_tokens, output_tokens=output_tokens)
            return self._reply(found, sent - 1), capabilities

    def settled(
        self, request: JudgeRequest, settings: Settings, reply: ModelReply, used: Capabilities
    ) -> Generator[dict[str, Any], Any, ModelReply]:
        """Find out whether the server refuses everybody what a request had to do without.

        It is asked once more, in the same form and without the sample, for all that was given up.
        """
        known = self.capabilities
        if request is NEUTRAL or not used.dropped.keys() - known.dropped.keys():
            self._remember(used)
            return reply
        neutral = replace(request, system=NEUTRAL.system, user=NEUTRAL.user)
        completion = Completion("")
        try:
            raw = yield known.body(settings, neutral)
            sent = 1 + raw.retries_taken
            completion = self._read(raw)
            is_refused = _is_empty(completion)
        except self._sdk_error as error:
            sent = 1 + _retries(error)
            is_refused = self.server.failure(error).is_refusal
        except JudgeError:
            is_refused = False
        if is_refused:
            self._remember(used)
        input_tokens = reply.input_tokens + completion.input_tokens
        output_tokens = reply.output_tokens + completion.output_tokens
        return replace(
            reply,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            retries=reply.retries + sent,
            cost=self._cost(input_tokens, output_tokens),
        )

    def _with_less(
        self, body: Mapping[str, Any], capabilities: Capabilities, failure: Failure
    ) -> Capabilities:
        blamed = blamed_features(body, failure.param)
        named = blamed or named_features(body, failure.message)
        feature = next_drop(body, named)
        if feature is None or not failure.may_be_cured_by_less(names_a_feature=bool(named)):
            raise failure.as_error()
        features: tuple[Feature, ...] = (feature,)
        if failure.is_limit_too_large:
            # The other name of the limit would be refused just the same.
            features = ("max_tokens", "max_completion_tokens")
        for dropped in features:
            capabilities = capabilities.without(dropped, failure.message)
            if dropped in blamed:
                self._remember(Capabilities({dropped: failure.message}))
        return capabilities.merged(self.capabilities)  # what other threads learnt meanwhile

    def _remember(self, capabilities: Capabilities) -> None:
        with self._lock:
            self._capabilities = self._capabilities.merged(capabilities)

    def _read(self, raw: Any) -> Completion:
        """A completion without secrets, if there is one and it is no refusal."""
        server = self.server
        body = raw.content.decode("utf-8-sig", errors="replace")
        completion = read_completion(body)
        if completion is None:
            msg = (
                f"{server.url} answered with something that is no chat completion: "
                f"{server.clean(body)[:100]!r}; check base_url, which usually ends in /v1"
            )
            raise JudgeError(msg, reason="server_error")
        text = server.mask(completion.text)
        completion = replace(completion, choices=tuple(map(server.mask, completion.choices)))
        if text != completion.text:  # the tokens are of another text now
            completion = replace(completion, text=text, token_logprobs=None)
        if completion.finish_reason == "content_filter":
            msg = f"the content filter of {server.url} cut the reply off"
            raise JudgeError(msg, reason="judge_error")
        if completion.refusal and not completion.text:
            msg = f"{server.model} refused to judge: {server.clean(completion.refusal)}"
            raise JudgeError(msg, reason="judge_error")
        return replace(completion, model=server.mask(completion.model))

    def _reply(self, completion: Completion, retries: int) -> ModelReply:
        if _is_empty(completion):
            msg = f"{self.server.url} returned an empty message"
            raise JudgeError(msg, reason="judge_error")
        return ModelReply(
            text=completion.text,
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            retries=retries,
            truncated=completion.finish_reason == "length",
            model=completion.model,
            cost=self._cost(completion.input_tokens, completion.output_tokens),
            token_logprobs=completion.token_logprobs,
            cached_tokens=completion.cached_tokens,
            choices=completion.choices,
        )

    def _cost(self, input_tokens: int, output_tokens: int) -> float | None:
        if self.prices is None:
            return None
        per_input, per_output = self.prices
        return (input_tokens * per_input + output_tokens * per_output) / _PRICE_UNIT


def _is_empty(completion: Completion) -> bool:
    said = any(text.strip() for text in (completion.text, *completion.choices))
    return not said and completion.finish_reason != "length"


def _retries(error: Exception) -> int:
    """How often the SDK had repeated the request that failed in the end."""
    request = getattr(error, "request", None)
    return int(request.headers.get("x-stainless-retry-count", 0)) if request is not None else 0

"""One question to a chat completion server: asked for less as long as the server wants less."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_errors import Failure, Server
from tcva_adapters.models.openai_features import (
    Capabilities,
    Feature,
    Settings,
    named_features,
    next_drop,
)
from tcva_adapters.models.openai_reply import Answer, Completion, read_completion
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest

_PRICE_UNIT: Final = 1_000_000
_ENOUGH: Final = 2
"""Questions that were only answered without a feature, after which no other one asks for it."""


class Exchange:
    """What is sent to a server and read from it, apart from how it travels.

    Args:
        server: The server.
        prices: Per million input tokens and per million output tokens.
        known: What it is known to refuse.
    """

    def __init__(
        self,
        server: Server,
        prices: tuple[float, float] | None,
        known: Capabilities | None = None,
    ) -> None:
        self.server = server
        self.prices = prices
        self._lock = threading.Lock()
        self._known = known or Capabilities()
        self._suspected: Counter[Feature] = Counter()

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        with self._lock:
            return self._known

    def steps(
        self, request: JudgeRequest, settings: Settings
    ) -> Generator[dict[str, Any], Answer, ModelReply]:
        """Yield bodies, be sent what came back, and ask for less as long as the server wants less.

        A feature is given up for all questions where the server blames its parameter. What is given
        up because of a text, or on suspicion, may be the sample's fault: others ask for it until a
        second question is only answered without it.

        Raises:
            JudgeError: No text came.
        """
        used = self.capabilities
        sent = input_tokens = output_tokens = 0
        while True:
            body = used.body(settings, request)
            answer = yield body
            sent += answer.sent
            if not answer.is_success:
                failure = self.server.failure(replace(answer, sent=sent))
                used = self._with_less(body, used, failure)
                continue
            completion = self._read(answer)
            input_tokens += completion.input_tokens
            output_tokens += completion.output_tokens
            if not completion.text.strip() and completion.finish_reason != "length":
                form = body.get("response_format", {}).get("type")
                if form is None:
                    msg = f"{self.server.url} returned an empty message"
                    raise JudgeError(msg, reason="judge_error")
                used = used.without(form, "the message came back empty")
                continue
            self._learn(used, is_neutral=request.user == NEUTRAL.user)
            return ModelReply(
                text=completion.text,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                retries=sent - 1,
                truncated=completion.finish_reason == "length",
                model=completion.model,
                cost=self._cost(input_tokens, output_tokens),
                token_logprobs=completion.token_logprobs,
                cached_tokens=completion.cached_tokens,
            )

    def _with_less(
        self, body: Mapping[str, Any], used: Capabilities, failure: Failure
    ) -> Capabilities:
        blamed = named_features(body, failure.param or "")
        named = blamed or named_features(body, failure.message)
        feature = next_drop(body, named)
        if feature is None or not failure.may_be_cured_by_less(names_a_feature=bool(named)):
            raise failure.as_error()
        features: tuple[Feature, ...] = (feature,)
        if failure.is_limit_too_large:
            # The other name of the limit would be refused just the same.
            features = ("max_tokens", "max_completion_tokens")
        less = Capabilities(dict.fromkeys(features, failure.message))
        with self._lock:
            if feature in blamed:
                self._known = self._known.merged(less)
            return used.merged(less).merged(self._known)  # and what other threads learnt meanwhile

    def _learn(self, used: Capabilities, *, is_neutral: bool) -> None:
        """Note what a question had to do without in order to be answered."""
        with self._lock:
            for feature in used.dropped.keys() - self._known.dropped.keys():
                self._suspected[feature] += 1
                if is_neutral or self._suspected[feature] >= _ENOUGH:
                    self._known = self._known.without(feature, used.dropped[feature])

    def _read(self, answer: Answer) -> Completion:
        """A completion without secrets, if there is one and it is no refusal."""
        server = self.server
        body = answer.content.decode("utf-8-sig", errors="replace")
        completion = read_completion(body)
        if completion is None:
            msg = (
                f"{server.url} answered with something that is no chat completion: "
                f"{server.clean(body)[:100]!r}; check base_url, which usually ends in /v1"
            )
            raise JudgeError(msg, reason="server_error")
        text = server.mask(completion.text)
        if text != completion.text:  # the tokens are of another text now
            completion = replace(completion, text=text, token_logprobs=None)
        if completion.finish_reason == "content_filter":
            msg = f"the content filter of {server.url} cut the reply off"
            raise JudgeError(msg, reason="judge_error")
        if completion.refusal and not completion.text:
            msg = f"{server.model} refused to judge: {server.clean(completion.refusal)}"
            raise JudgeError(msg, reason="judge_error")
        return replace(completion, model=server.mask(completion.model))

    def _cost(self, input_tokens: int, output_tokens: int) -> float | None:
        if self.prices is None:
            return None
        per_input, per_output = self.prices
        return (input_tokens * per_input + output_tokens * per_output) / _PRICE_UNIT

"""One question to a chat completion server: asked for less as long as the server wants less."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_errors import Failure, Server
from tcva_adapters.models.openai_features import Capabilities, features_in, named_feature
from tcva_adapters.models.openai_reply import Answer, Completion, read_completion
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import NEUTRAL, JudgeRequest
from tcva_adapters.results.settings import ModelConfig

_PRICE_UNIT: Final = 1_000_000
_ENOUGH: Final = 2
"""Questions that were only answered without a feature, after which no other one asks for it."""


class Exchange:
    """What is sent to a server and read from it, apart from how it travels.

    Args:
        server: The server.
        settings: What is asked for, and the prices.
        known: What the server is known to refuse.
    """

    def __init__(
        self, server: Server, settings: ModelConfig, known: Capabilities | None = None
    ) -> None:
        self._server = server
        self._settings = settings
        self._lock = threading.Lock()
        self._known = known or Capabilities()
        self._suspected: Counter[str] = Counter()

    @property
    def capabilities(self) -> Capabilities:
        """What the server has refused so far."""
        return self._known

    def steps(self, request: JudgeRequest) -> Generator[dict[str, Any], Answer, ModelReply]:
        """Yield bodies, be sent what came back, and ask for less as long as the server wants less.

        A feature is given up for all questions where the server blames its parameter. What is given
        up because of a text, or on suspicion, may be the sample's fault: others ask for it until a
        second question is only answered without it.

        Raises:
            JudgeError: No text came.
        """
        used = self._known
        sent = input_tokens = output_tokens = 0
        while True:
            body = used.body(self._server.model, self._settings, request)
            answer = yield body
            sent += answer.sent
            if not answer.is_success:
                failure = self._server.failure(replace(answer, sent=sent))
                used = self._with_less(body, used, failure)
                continue
            reply, finish_reason, _ = self._read(answer)
            input_tokens += reply.input_tokens
            output_tokens += reply.output_tokens
            if reply.text.strip() or finish_reason == "length":
                self._learn(used, is_neutral=request.user == NEUTRAL.user)
                return replace(
                    reply,
                    input_tokens=input_tokens,
                    output_tokens=output_tokens,
                    retries=sent - 1,
                    cost=self._cost(input_tokens, output_tokens),
                )
            form = body.get("response_format", {}).get("type")
            if form is None:
                msg = f"{self._server.url} returned an empty message"
                raise JudgeError(msg)
            used = used.without(form, "the message came back empty")

    def _with_less(
        self, body: Mapping[str, Any], used: Capabilities, failure: Failure
    ) -> Capabilities:
        blamed = named_feature(body, failure.param)
        named = blamed or named_feature(body, failure.message)
        unnamed = (f for f in features_in(body) if f != "max_completion_tokens")
        feature = named or next(unnamed, None)
        if feature is None or not failure.may_be_cured_by_less(names_a_feature=bool(named)):
            raise failure.as_error()
        features = [feature]
        if failure.is_limit_too_large:
            # The other name of the limit would be refused just the same.
            features = ["max_tokens", "max_completion_tokens"]
        less = Capabilities(dict.fromkeys(features, failure.message))
        with self._lock:
            if blamed:
                self._known = self._known.merged(less)
            return used.merged(less).merged(self._known)  # and what other calls learnt meanwhile

    def _learn(self, used: Capabilities, *, is_neutral: bool) -> None:
        """Note what a question had to do without in order to be answered."""
        with self._lock:
            for feature in used.dropped.keys() - self._known.dropped.keys():
                self._suspected[feature] += 1
                if is_neutral or self._suspected[feature] >= _ENOUGH:
                    self._known = self._known.without(feature, used.dropped[feature])

    def _read(self, answer: Answer) -> Completion:
        """A completion without secrets, if there is one and it is no refusal."""
        server = self._server
        body = answer.content.decode("utf-8-sig", errors="replace")
        completion = read_completion(body)
        if completion is None:
            msg = (
                f"{server.url} answered with something that is no chat completion: "
                f"{server.clean(body)[:100]!r}; check base_url, which usually ends in /v1"
            )
            raise JudgeError(msg, reason="server_error")
        reply, finish_reason, refusal = completion
        if finish_reason == "content_filter":
            msg = f"the content filter of {server.url} cut the reply off"
            raise JudgeError(msg)
        if refusal and not reply.text:
            msg = f"{server.model} refused to judge: {server.clean(refusal)}"
            raise JudgeError(msg)
        text = server.mask(reply.text)
        if text != reply.text:  # the tokens are of another text now
            reply = replace(reply, text=text, token_logprobs=None)
        return completion._replace(reply=replace(reply, model=server.mask(reply.model)))

    def _cost(self, input_tokens: int, output_tokens: int) -> float | None:
        if self._settings.prices is None:
            return None
        per_input, per_output = self._settings.prices
        return (input_tokens * per_input + output_tokens * per_output) / _PRICE_UNIT

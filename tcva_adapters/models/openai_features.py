"""What a server turned out to support: features are dropped one by one and stay dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from tcva_adapters.models.request import JudgeRequest, Sampling
from tcva_adapters.results.settings import ModelConfig

_FORMAT_WORDS: Final = (
    r"response_format|json_schema|json_object|json[ _]mode|structured[ _]outputs?|guided_json"
    r"|grammar"
)
_FEATURES: Final = {
    "many_logprobs": "(?:top_)?logprobs",
    "logprobs": "(?:top_)?logprobs",
    "json_schema": _FORMAT_WORDS,
    "seed": "seed",
    "json_object": _FORMAT_WORDS,
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "max_completion_tokens": "max_completion_tokens",
}
"""What refusals call a feature. In the order in which they are given up when a refusal names
nothing: what servers most often lack, and what costs the judgement least. The second name of the
token limit is only given up by name."""

FEW_LOGPROBS: Final = 5
"""Alternatives per token that every server with logprobs gives; more are ``many_logprobs``."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features that a server has refused so far, each with its reason in a sentence.

    >>> capabilities = Capabilities().without("json_schema", "unknown response_format")
    >>> capabilities.response_format, capabilities.token_limit
    ('json_object', 'max_tokens')
    """

    dropped: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def response_format(self) -> str:
        """The strictest form of a reply that is still taken: ``text`` is none."""
        forms = (form for form in ("json_schema", "json_object") if form not in self.dropped)
        return next(forms, "text")

    @property
    def token_limit(self) -> str | None:
        """The name under which the server takes the limit of a reply's length, if it does."""
        names = (n for n in ("max_tokens", "max_completion_tokens") if n not in self.dropped)
        return next(names, None)

    def without(self, feature: str, why: str) -> Capabilities:
        """The same with one feature less."""
        return self.merged(Capabilities({feature: why}))

    def merged(self, other: Capabilities) -> Capabilities:
        """Without what either of the two has dropped."""
        return Capabilities(MappingProxyType({**other.dropped, **self.dropped}))

    def body(self, model: str, settings: ModelConfig, request: JudgeRequest) -> dict[str, Any]:
        """The arguments of a chat completion, without the dropped features."""
        texts = (("system", request.system), ("user", request.user))
        messages = [{"role": role, "content": text} for role, text in texts if text]
        drawn = request.sampling or Sampling()
        body: dict[str, Any] = {"model": model, "messages": messages}
        # Prompts of others carry no schema: they ask for their form in the text.
        if request.schema and self.response_format != "text":
            body["response_format"] = {"type": self.response_format}
        if request.schema and self.response_format == "json_schema":
            schema = {"name": request.schema_name, "schema": request.schema, "strict": True}
            body["response_format"]["json_schema"] = schema
        temperature = settings.temperature if drawn.temperature is None else drawn.temperature
        if temperature is not None and "temperature" not in self.dropped:
            body["temperature"] = temperature
        if settings.seed is not None and "seed" not in self.dropped:
            body["seed"] = settings.seed + drawn.seed_offset
        if drawn.top_logprobs is not None and "logprobs" not in self.dropped:
            few = "many_logprobs" in self.dropped
            number = min(drawn.top_logprobs, FEW_LOGPROBS) if few else drawn.top_logprobs
            body |= {"logprobs": True, "top_logprobs": number}
        if self.token_limit is not None:
            body[self.token_limit] = drawn.max_tokens or settings.max_tokens
        return body


def features_in(body: Mapping[str, Any]) -> list[str]:
    """The features that a request uses, in the order in which they would be given up.

    >>> features_in({"temperature": 0.0, "seed": 0})
    ['seed', 'temperature']
    """
    used = {*body, body.get("response_format", {}).get("type", "")}
    if body.get("top_logprobs", 0) > FEW_LOGPROBS:
        used.add("many_logprobs")
    return [feature for feature in _FEATURES if feature in used]


def named_feature(body: Mapping[str, Any], text: str) -> str | None:
    """The feature of a request that a text names first; None where it names none.

    >>> named_feature({"seed": 0, "temperature": 0.0}, "no temperature and no seed")
    'temperature'
    """
    places = {}
    for feature in features_in(body):
        pattern = rf"(?<![a-z_])(?:{_FEATURES[feature]})(?![a-z_])"
        if match := re.search(pattern, text, re.IGNORECASE):
            places[feature] = match.start()
    return min(places, key=places.__getitem__, default=None)

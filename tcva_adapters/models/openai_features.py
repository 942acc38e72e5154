"""What a server turned out to support: features are dropped one by one and stay dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from tcva_adapters.models.request import JudgeRequest, Sampling

Feature = Literal[
    "many_logprobs",
    "logprobs",
    "json_schema",
    "seed",
    "json_object",
    "max_tokens",
    "temperature",
    "max_completion_tokens",
]

_FEATURES: Final[tuple[Feature, ...]] = get_args(Feature)
"""In the order in which they are given up when a refusal names nothing: what servers most often
lack, and what costs the judgement least. The second name of the token limit is only given up by
name."""

_FORMAT_WORDS: Final = (
    r"response_format|json_schema|json_object|json[ _]mode|structured[ _]outputs?|guided_json"
    r"|grammar"
)
_WORDS: Final[dict[Feature, str]] = {
    "many_logprobs": "(?:top_)?logprobs",
    "logprobs": "(?:top_)?logprobs",
    "json_schema": _FORMAT_WORDS,
    "json_object": _FORMAT_WORDS,
}
"""What refusals call a feature, where that is not its name alone."""

_NAMED: Final = {
    feature: re.compile(rf"(?<![a-z_])(?:{_WORDS.get(feature, feature)})(?![a-z_])", re.IGNORECASE)
    for feature in _FEATURES
}
FEW_LOGPROBS: Final = 5
"""Alternatives per token that every server with logprobs gives; more are ``many_logprobs``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What every request of a model asks for, as far as the server takes it.

    Attributes:
        model: The model's name.
        temperature: None to leave it to the server.
        seed: None to send none.
        max_tokens: Limit of a reply's length.
    """

    model: str
    temperature: float | None
    seed: int | None
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features that a server has refused so far, each with its reason in a sentence.

    >>> capabilities = Capabilities().without("json_schema", "unknown response_format")
    >>> capabilities.response_format, capabilities.token_limit
    ('json_object', 'max_tokens')
    """

    dropped: Mapping[Feature, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def response_format(self) -> Literal["json_schema", "json_object", "text"]:
        """The strictest form of a reply that the server still takes."""
        if "json_schema" not in self.dropped:
            return "json_schema"
        return "text" if "json_object" in self.dropped else "json_object"

    @property
    def token_limit(self) -> Literal["max_tokens", "max_completion_tokens"] | None:
        """The name under which the server takes the limit of a reply's length, if it does."""
        if "max_tokens" not in self.dropped:
            return "max_tokens"
        return None if "max_completion_tokens" in self.dropped else "max_completion_tokens"

    def without(self, feature: Feature, why: str) -> Capabilities:
        """The same with one feature less."""
        return self.merged(Capabilities({feature: why}))

    def merged(self, other: Capabilities) -> Capabilities:
        """Without what either of the two has dropped."""
        return Capabilities(MappingProxyType({**other.dropped, **self.dropped}))

    def body(self, settings: Settings, request: JudgeRequest) -> dict[str, Any]:
        """The arguments of a chat completion, without the dropped features."""
        texts = (("system", request.system), ("user", request.user))
        messages = [{"role": role, "content": text} for role, text in texts if text]
        body: dict[str, Any] = {"model": settings.model, "messages": messages}
        # Prompts of others carry no schema: they ask for their form in the text.
        form = self.response_format if request.schema else None
        if form == "json_schema":
            schema = {"name": request.schema_name, "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif form == "json_object":
            body["response_format"] = {"type": "json_object"}
        drawn = request.sampling or Sampling()
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


def features_in(body: Mapping[str, Any]) -> tuple[Feature, ...]:
    """The features that a request uses, in the order in which they would be given up."""
    used = {*body, body.get("response_format", {}).get("type", "")}
    if body.get("top_logprobs", 0) > FEW_LOGPROBS:
        used.add("many_logprobs")
    return tuple(f for f in _FEATURES if f in used)


def named_features(body: Mapping[str, Any], text: str) -> tuple[Feature, ...]:
    """The features of a request that a text names, the first one in front."""
    found = ((feature, _NAMED[feature].search(text)) for feature in features_in(body))
    places = ((match.start(), feature) for feature, match in found if match)
    return tuple(feature for _, feature in sorted(places, key=lambda place: place[0]))


def next_drop(body: Mapping[str, Any], named: tuple[Feature, ...]) -> Feature | None:
    """What to give up after a refusal: what it names, else the next in line; None at the end.

    >>> next_drop({"seed": 0, "temperature": 0.0}, ("temperature",))
    'temperature'
    >>> next_drop({"seed": 0, "temperature": 0.0}, ())
    'seed'
    """
    if named:
        return named[0]
    return next((f for f in features_in(body) if f != "max_completion_tokens"), None)

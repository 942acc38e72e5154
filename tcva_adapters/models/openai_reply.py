"""Reading a chat completion: tolerant of what servers leave out or add."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from tcva_adapters.models.protocol import ModelReply, TokenLogprob, as_count
from tcva_adapters.models.reply_json import read_integer

_PASSING: Final = frozenset({408, 409, 429})
"""Statuses below 500 that pass."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back of a request, over a connection or in a file of a batch.

    Attributes:
        status: The HTTP status; None where there was no answer.
        content: Its body.
        headers: Its headers, in small letters.
        sent: Requests that were sent for it, repeated ones included.
        error: Why there was no answer.
        is_final: Whether there will be none the next time either.
    """

    status: int | None
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: int = 1
    error: BaseException | None = None
    is_final: bool = False

    @property
    def is_success(self) -> bool:
        """Whether a completion may be in it."""
        return HTTPStatus.OK <= (self.status or 0) < HTTPStatus.MULTIPLE_CHOICES

    @property
    def may_pass(self) -> bool:
        """Whether the same request may get another answer."""
        if self.status is None:
            return not self.is_final
        is_broken = self.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return self.status in _PASSING or (is_broken and self.status != HTTPStatus.NOT_IMPLEMENTED)

    @property
    def pause(self) -> float | None:
        """Seconds that the server wants to pass before the next request; None where it says none."""
        for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            with suppress(KeyError, ValueError):
                seconds = float(self.headers[name]) * unit
                return seconds if seconds > 0 else None  # NaN is none either
        return None


class Completion(NamedTuple):
    """What a chat completion says.

    Attributes:
        reply: The message, without a separate reasoning field, and what it took.
        finish_reason: Why it ended, e.g. ``stop`` or ``length``.
        refusal: What the model said instead of answering, or an empty string.
    """

    reply: ModelReply
    finish_reason: str
    refusal: str


def read_completion(raw: str) -> Completion | None:
    """The completion that a body holds, or None where it holds none.

    >>> read_completion('{"choices": [{"message": {"content": "hi"}}]}').reply.text
    'hi'
    >>> read_completion("<html>") is None
    True
    """
    try:
        payload = json.loads(raw, parse_int=read_integer)
        choice = payload["choices"][0]
        message = choice["message"]
        text = _content(message.get("content"))
        finish_reason = str(choice.get("finish_reason") or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    usage = payload.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, Mapping) else None
    reply = ModelReply(
        text=text,
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        truncated=finish_reason == "length",
        model=str(payload.get("model") or ""),
        token_logprobs=token_logprobs(choice.get("logprobs")),
        # As OpenAI or llama.cpp tell it.
        cached_tokens=_count(details, "cached_tokens") or _count(payload.get("timings"), "cache_n"),
    )
    return Completion(reply, finish_reason, str(message.get("refusal") or ""))


def _content(content: Any) -> str:
    if isinstance(content, list):  # some servers send the message in typed parts
        parts = (part for part in content if isinstance(part, Mapping))
        return "".join(_content(part.get("text")) for part in parts if part.get("type") == "text")
    return content if isinstance(content, str) else ""


def _count(holder: Any, key: str) -> int:
    return as_count(holder.get(key) if isinstance(holder, Mapping) else None)


def token_logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    """The tokens of a reply as JSON has them, also without the ``content`` around them.

    None where one of them is odd: the reply itself may be good all the same.
    """
    try:
        entries = logprobs if isinstance(logprobs, list) else logprobs["content"]
        tokens = tuple(
            TokenLogprob(*_token(entry), tuple(map(_token, entry.get("top_logprobs") or ())))
            for entry in entries
        )
    except (LookupError, TypeError, AttributeError, ValueError):
        return None
    return tokens or None


def _token(entry: Any) -> tuple[str, float]:
    token, logprob = entry["token"], entry["logprob"]
    if not isinstance(token, str) or isinstance(logprob, bool):
        raise TypeError(entry)
    return token, float(logprob)

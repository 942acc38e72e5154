"""One question to a chat completion server: what is sent, what is read, and what a failure means.

Apart from how it travels: live calls and the files of batches ask and read in the same way.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models import protocol
from tcva_adapters.models.call_errors import Kind, causes_of, kind_of, kind_of_error
from tcva_adapters.models.reply_json import read_integer
from tcva_adapters.models.secrets import mask, quotable, shown_url
from tcva_adapters.results.settings import ModelConfig

_LOG: Final = logging.getLogger(__name__)
_FORMAT: Final = (
    r"response[_ ]format|json_schema|json_object|json[ _]mode|structured[ _]outputs?|guided_json"
    r"|grammar"
)
_FEATURES: Final = {
    "many_logprobs": "(?:top_)?logprobs",
    "logprobs": "(?:top_)?logprobs",
    "json_schema": _FORMAT,
    "json_object": _FORMAT,
    "seed": "seed",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_(?:completion_)?tokens",
}
"""What a request may do without, and what refusals call it."""

FEW_LOGPROBS: Final = 5
"""Alternatives per token that every server with logprobs gives; more are ``many_logprobs``."""

Body = dict[str, Any]
"""The arguments of a chat completion."""

_REFUSED: Final = frozenset({400, 404, 422})
_UNREAD: Final = Kind("connection", hint="cannot read the reply of {url}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back of a request, over a connection or in a file of a batch.

    Attributes:
        status: The HTTP status; 0 where there was no answer.
        content: Its body.
        headers: Its headers, in small letters.
        sent: Requests that were sent for it, repeated ones included.
        error: Why there was no answer.
    """

    status: int
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: int = 1
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """The server as messages may name it.

    Attributes:
        url: Its address without credentials.
        model: The model asked for.
        secrets: The key and passwords, which are taken out of what it says.
    """

    url: str
    model: str
    secrets: tuple[str, ...] = field(repr=False)

    def clean(self, text: str) -> str:
        """A quotation fit for a message."""
        return quotable(text, *self.secrets)

    def said(self, answer: Answer) -> tuple[str, str, str]:
        """A refusal's message, the parameter that it blames, and its code; empty where it has none."""
        try:
            payload = json.loads(answer.content)
        except (ValueError, RecursionError):
            payload = None
        fields = payload.get("error", payload) if isinstance(payload, Mapping) else None
        fields = fields if isinstance(fields, Mapping) else {"message": fields}
        message = fields.get("message") or answer.content[:10_000].decode(
            errors="replace"
        )
        param, code = (str(fields.get(name) or "") for name in ("param", "code"))
        return self.clean(str(message)), param, code

    def error(self, answer: Answer) -> JudgeError:
        """What an answer means that is no success; fatal where it holds for every call."""
        if answer.error is not None:
            causes = causes_of(answer.error)[::-1]
            kind = kind_of_error(answer.error)
            # Clients wrap a broken connection into a timeout of their own.
            if (
                kind.reason != "unreachable"
                and kind_of_error(causes[0]).reason != "timeout"
            ):
                kind = _UNREAD
            said = self.clean(
                next(filter(None, map(str, causes)), "the connection broke off")
            )
        else:
            message, _, code = self.said(answer)
            kind = kind_of(answer.status, code)
            said = f"{self.url} answered {answer.status}: {message}".removesuffix(": ")
        where = self.clean(shown_url(answer.headers.get("location", ""))) or "nowhere"
        hint = kind.hint.format(
            url=self.url,
            model=self.model,
            where=where,
        )
        sent = f"{answer.sent} request{'' if answer.sent == 1 else 's'} sent"
        if pause := answer.headers.get("retry-after"):
            sent += f", Retry-After: {self.clean(pause)}"
        msg = f"{hint} ({said}; {sent})" if hint else f"{said} ({sent})"
        return JudgeError(msg, reason=kind.reason, fatal=kind.fatal)


def exchange(
    server: Server,
    config: ModelConfig,
    request: protocol.JudgeRequest,
    refused: dict[str, str],
) -> Generator[Body, Answer, protocol.ModelReply]:
    """Yield bodies, be sent what came back, and ask for less where the server refuses a feature.

    Args:
        server: The server.
        config: What is asked for, and the prices.
        request: The question.
        refused: The features that the server has refused so far, with its reasons. What it refuses
            here is added, unless it names it in words that stand in the question, too: it may
            repeat these.

    Raises:
        JudgeError: No text came.
    """
    without: dict[str, str] = {}
    sent = 0
    while True:
        body = _body(server.model, config, request, {*refused, *without})
        answer = yield body
        sent += answer.sent
        if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            reply, cost = _read(server, answer), None
            if config.prices is not None:
                per_input, per_output = config.prices
                cost = (
                    reply.input_tokens * per_input + reply.output_tokens * per_output
                ) / 1e6
            return replace(reply, retries=sent - 1, cost=cost)
        message, param, _ = server.said(answer)
        feature = _named(body, param) or _named(body, message)
        if feature is None or answer.status not in _REFUSED:
            raise server.error(replace(answer, sent=sent))
        is_certain = param or not re.search(
            _FEATURES[feature], request.user, re.IGNORECASE
        )
        (refused if is_certain else without)[feature] = message
        _LOG.info(
            "%s refuses %s; the request is sent again without it", server.url, feature
        )


def _body(
    model: str,
    config: ModelConfig,
    request: protocol.JudgeRequest,
    refused: Collection[str],
) -> Body:
    """The arguments of a chat completion, without the refused features."""
    texts = (("system", request.system), ("user", request.user))
    messages = [{"role": role, "content": text} for role, text in texts if text]
    drawn = request.sampling or protocol.Sampling()
    body: Body = {"model": model, "messages": messages}
    # Prompts of others carry no schema: they ask for their form in the text.
    if request.schema and "json_schema" not in refused:
        schema = {
            "name": request.schema_name,
            "schema": request.schema,
            "strict": True,
        }
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema and "json_object" not in refused:
        body["response_format"] = {"type": "json_object"}
    temperature = config.temperature if drawn.temperature is None else drawn.temperature
    if temperature is not None and "temperature" not in refused:
        body["temperature"] = temperature
    if config.seed is not None and "seed" not in refused:
        body["seed"] = config.seed + drawn.seed_offset
    if drawn.top_logprobs is not None and "logprobs" not in refused:
        few = "many_logprobs" in refused
        number = min(drawn.top_logprobs, FEW_LOGPROBS) if few else drawn.top_logprobs
        body |= {"logprobs": True, "top_logprobs": number}
    limits = (
        name for name in ("max_tokens", "max_completion_tokens") if name not in refused
    )
    if (limit := next(limits, None)) is not None:
        body[limit] = drawn.max_tokens or config.max_tokens
    return body


def _named(body: Body, text: str) -> str | None:
    """The feature of a request that a text names; None where it names none."""
    used = {*body, body.get("response_format", {}).get("type", "")}
    if body.get("top_logprobs", 0) > FEW_LOGPROBS:
        used.add("many_logprobs")
    for feature, pattern in _FEATURES.items():
        found = re.search(rf"(?<![a-z_])(?:{pattern})(?![a-z_])", text, re.IGNORECASE)
        if feature in used and found is not None:
            return feature
    return None


def _read(server: Server, answer: Answer) -> protocol.ModelReply:
    """The reply without secrets, where there is one."""
    body = answer.content.decode("utf-8-sig", errors="replace")
    reply, fault = read_completion(body)
    if reply is None:
        msg = (
            f"the reply of {server.url} is not a chat completion: "
            f"{server.clean(body)[:100]!r}; check base_url, which usually ends in /v1"
        )
        raise JudgeError(msg, reason="server_error")
    if fault:
        msg = f"{server.url}: {server.clean(fault)}"
        raise JudgeError(msg)
    text, model = (mask(text, *server.secrets) for text in (reply.text, reply.model))
    # The tokens of a masked text are of another one.
    tokens = reply.token_logprobs if text == reply.text else None
    return replace(
        reply,
        text=text,
        model=model,
        token_logprobs=tokens,
    )


def read_completion(raw: str) -> tuple[protocol.ModelReply | None, str]:
    """The reply that a body holds, tolerant of what servers leave out or add; and why it is none.

    >>> read_completion('{"choices": [{"message": {"content": "hi"}}]}')[0].text
    'hi'
    >>> read_completion("<html>")
    (None, '')
    """
    try:
        payload = json.loads(raw, parse_int=read_integer)
        choice = payload["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        finish_reason = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None, ""
    if isinstance(text, list):  # some servers send the message in typed parts
        parts = (
            part
            for part in text
            if isinstance(part, Mapping) and part.get("type") == "text"
        )
        text = "".join(
            part["text"] for part in parts if isinstance(part.get("text"), str)
        )
    text = text if isinstance(text, str) else ""
    usage = payload.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    reply = protocol.ModelReply(
        text=text,
        input_tokens=protocol.as_count(usage.get("prompt_tokens")),
        output_tokens=protocol.as_count(usage.get("completion_tokens")),
        truncated=finish_reason == "length",
        model=str(payload.get("model") or ""),
        token_logprobs=protocol.token_logprobs(choice.get("logprobs")),
    )
    if finish_reason == "content_filter":
        return reply, "the content filter cut off the reply"
    if text.strip() or reply.truncated:
        return reply, ""
    return (
        reply,
        f"the model refused to judge: {refusal}" if refusal else "the reply is empty",
    )

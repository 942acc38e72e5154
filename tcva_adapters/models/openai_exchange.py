"""One request to a chat completion server: its body, its reply, and the meaning of a failure.

The transport is elsewhere: live calls and the files of batches ask and read in the same way.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from tcva_adapters.errors import JudgeError
from tcva_adapters.models import judge_model
from tcva_adapters.models.call_errors import (
    ErrorKind,
    causes_of,
    kind_of,
    kind_of_error,
)
from tcva_adapters.models.reply_json import read_integer
from tcva_adapters.models.secrets import mask, quotable
from tcva_adapters.models.server_address import shown_url
from tcva_adapters.results.settings import ModelConfig
from tcva_adapters.tables import counted

_LOG = logging.getLogger(__name__)
_FORMAT = (
    r"response[_ ]format|json_schema|json_object|json[ _]mode|structured[ _]outputs?|guided_json"
    r"|grammar"
)
_FEATURES = {
    "many_logprobs": "(?:top_)?logprobs",
    "logprobs": "(?:top_)?logprobs",
    "json_schema": _FORMAT,
    "json_object": _FORMAT,
    "seed": "seed",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_(?:completion_)?tokens",
}
"""The features that a request can do without, with the words by which refusals name them."""

FEW_LOGPROBS = 5
"""Alternatives per token that every server with logprobs gives; more are ``many_logprobs``."""

Body = dict[str, Any]
"""The arguments of a chat completion."""

_REFUSED = frozenset({400, 404, 422})
_UNREAD = ErrorKind("connection", hint="cannot read the reply of {url}")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request, over a connection or in a file of a batch.

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
class Refusal:
    """The words of a server that refuses a request; empty where it says nothing.

    Attributes:
        message: The message, without secrets.
        parameter: The parameter that it blames.
        code: Its code for the failure.
    """

    message: str
    parameter: str
    code: str


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
        """Make a text fit to be quoted in a message."""
        return quotable(text, *self.secrets)

    def refusal(self, answer: Answer) -> Refusal:
        """Read the message, parameter and code of a refusal."""
        try:
            payload = json.loads(answer.content)
        except (ValueError, RecursionError):
            payload = None
        error = payload.get("error", payload) if isinstance(payload, Mapping) else None
        fields = error if isinstance(error, Mapping) else {"message": error}
        body = answer.content[:10_000].decode(errors="replace")
        return Refusal(
            message=self.clean(str(fields.get("message") or body)),
            parameter=str(fields.get("param") or ""),
            code=str(fields.get("code") or ""),
        )

    def error(self, answer: Answer) -> JudgeError:
        """Turn an answer that is no success into an error, fatal where it holds for every call."""
        if answer.error is not None:
            innermost, *_ = causes = causes_of(answer.error)[::-1]
            kind = kind_of_error(answer.error)
            # Clients wrap a broken connection into a timeout of their own.
            is_timeout = kind_of_error(innermost).reason == "timeout"
            if kind.reason != "unreachable" and not is_timeout:
                kind = _UNREAD
            detail = self.clean(
                next(filter(None, map(str, causes)), "the connection broke off")
            )
        else:
            refusal = self.refusal(answer)
            kind = kind_of(answer.status, refusal.code)
            detail = f"{self.url} answered {answer.status}"
            if refusal.message:
                detail += f": {refusal.message}"
        hint = kind.hint.format(
            url=self.url,
            model=self.model,
            where=self.clean(shown_url(answer.headers.get("location", "")))
            or "nowhere",
        )
        sent = f"{counted(answer.sent, 'request')} sent"
        if pause := answer.headers.get("retry-after"):
            sent += f", Retry-After: {self.clean(pause)}"
        return JudgeError(
            f"{hint} ({detail}; {sent})" if hint else f"{detail} ({sent})",
            reason=kind.reason,
            fatal=kind.fatal,
        )


def exchange(
    server: Server,
    config: ModelConfig,
    request: judge_model.JudgeRequest,
    refused: dict[str, str],
) -> Generator[Body, Answer, judge_model.ModelReply]:
    """Yield request bodies, receive the answers, and ask again without features that are refused.

    The ``retries`` of the reply count these further requests, too.

    Args:
        server: The server.
        config: The settings of the request, and the prices.
        request: The question.
        refused: The features that the server has refused so far, with its reasons. A new refusal
            is added, unless the server names the feature only in words that stand in the question,
            too, which it may repeat.

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
            reply = replace(_read(server, answer), retries=sent - 1)
            if config.prices is None:
                return reply
            per_input, per_output = config.prices
            return replace(
                reply,
                cost=(reply.input_tokens * per_input + reply.output_tokens * per_output)
                / 1e6,
            )

        refusal = server.refusal(answer)
        feature = _feature_in(body, refusal.parameter) or _feature_in(
            body, refusal.message
        )
        if feature is None or answer.status not in _REFUSED:
            raise server.error(replace(answer, sent=sent))
        may_repeat = re.search(_FEATURES[feature], request.user, re.IGNORECASE)
        is_certain = refusal.parameter or not may_repeat
        (refused if is_certain else without)[feature] = refusal.message
        _LOG.info(
            "%s refuses %s; the request is sent again without it", server.url, feature
        )


def _body(
    model: str,
    config: ModelConfig,
    request: judge_model.JudgeRequest,
    refused: Collection[str],
) -> Body:
    """The arguments of a chat completion, without the refused features."""
    messages = [
        {"role": role, "content": text}
        for role, text in (("system", request.system), ("user", request.user))
        if text
    ]
    sampling = request.sampling or judge_model.Sampling()
    body: Body = {"model": model, "messages": messages}
    # Prompts of other packages may have no schema, and ask for their form in the text.
    if request.schema and "json_schema" not in refused:
        schema = {
            "name": request.schema_name,
            "schema": request.schema,
            "strict": True,
        }
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema and "json_object" not in refused:
        body["response_format"] = {"type": "json_object"}
    temperature = sampling.temperature
    if temperature is None:
        temperature = config.temperature
    if temperature is not None and "temperature" not in refused:
        body["temperature"] = temperature
    if config.seed is not None and "seed" not in refused:
        body["seed"] = config.seed + sampling.seed_offset
    if sampling.top_logprobs is not None and "logprobs" not in refused:
        number = sampling.top_logprobs
        if "many_logprobs" in refused:
            number = min(number, FEW_LOGPROBS)
        body |= {"logprobs": True, "top_logprobs": number}
    for limit in ("max_tokens", "max_completion_tokens"):
        if limit not in refused:
            body[limit] = sampling.max_tokens or config.max_tokens
            break
    return body


def _feature_in(body: Body, text: str) -> str | None:
    """The feature of a request that a text names; None where it names none."""
    used = {*body, body.get("response_format", {}).get("type", "")}
    if body.get("top_logprobs", 0) > FEW_LOGPROBS:
        used.add("many_logprobs")
    for feature, pattern in _FEATURES.items():
        if feature in used and re.search(
            rf"(?<![a-z_])(?:{pattern})(?![a-z_])", text, re.IGNORECASE
        ):
            return feature
    return None


def _read(server: Server, answer: Answer) -> judge_model.ModelReply:
    """Read the reply of an answer, without secrets."""
    body = answer.content.decode("utf-8-sig", errors="replace")
    reply, fault = read_completion(body)
    if reply is None:
        raise JudgeError(
            (
                f"the reply of {server.url} is not a chat completion: "
                f"{server.clean(body)[:100]!r}; check base_url, which usually ends in /v1"
            ),
            reason="server_error",
        )
    if fault:
        raise JudgeError(f"{server.url}: {server.clean(fault)}")
    text, model = (mask(text, *server.secrets) for text in (reply.text, reply.model))
    # The tokens belong to the text before it was masked.
    tokens = reply.token_logprobs if text == reply.text else None
    return replace(reply, text=text, model=model, token_logprobs=tokens)


def read_completion(raw: str) -> tuple[judge_model.ModelReply | None, str]:
    """Read the reply in a body, whatever servers leave out or add, and the fault it has, if any.

    >>> read_completion('{"choices": [{"message": {"content": "hi"}}]}')[0].text
    'hi'
    >>> read_completion("<html>")
    (None, '')
    """
    try:
        payload = json.loads(raw, parse_int=read_integer)
        choice = payload["choices"][0]
        message = choice["message"]
        text = message.get("content")
        refusal = message.get("refusal")
        finish_reason = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None, ""
    if isinstance(text, list):  # some servers send the message in typed parts
        text = "".join(
            part["text"]
            for part in text
            if isinstance(part, Mapping)
            and part.get("type") == "text"
            and isinstance(part.get("text"), str)
        )
    if not isinstance(text, str):
        text = ""
    usage = payload.get("usage")
    if not isinstance(usage, Mapping):
        usage = {}
    reply = judge_model.ModelReply(
        text=text,
        input_tokens=judge_model.as_count(usage.get("prompt_tokens")),
        output_tokens=judge_model.as_count(usage.get("completion_tokens")),
        truncated=finish_reason == "length",
        model=str(payload.get("model") or ""),
        token_logprobs=judge_model.token_logprobs(choice.get("logprobs")),
    )
    if finish_reason == "content_filter":
        return reply, "the content filter cut off the reply"
    if text.strip() or reply.truncated:
        return reply, ""
    if refusal:
        return reply, f"the model refused to judge: {refusal}"
    return reply, "the reply is empty"

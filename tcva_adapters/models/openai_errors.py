"""What a request without success means: from what came back to `JudgeError`, without any secret."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import FATAL, NO_CREDIT, innermost_reason
from tcva_adapters.models.openai_reply import Answer
from tcva_adapters.models.secrets import Mask, quotable

_CONTEXT_LENGTH: Final = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|reduce the length|exceeds? the (?:available )?context",
    re.IGNORECASE,
)
_LIMIT_TOO_LARGE: Final = re.compile(
    r"max_(?:completion_)?tokens\b.{0,80}\b(?:too large|too high|at most|less than|exceed)",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL: Final = re.compile(
    r"model[^.]{0,120}?(?:not (?:be )?(?:found|exist|loaded|available)|does(?: not|n't) exist)"
    r"|(?:unknown|invalid|no such|not a valid) model|deployment[^.]{0,60}not exist",
    re.IGNORECASE,
)
_CONTENT_CODES: Final = frozenset({"content_filter", "content_policy_violation"})
_NO_MODEL_CODES: Final = frozenset({"model_not_found", "DeploymentNotFound"})
_REFUSED: Final = frozenset({400, 404, 422, 501})

_REDIRECT: Final = (
    "{url} redirects to {where}, where samples are not sent; if that is the judge, set base_url or "
    "OPENAI_BASE_URL to its address"
)
_UNKNOWN_MODEL: Final = "no model {model!r} at {url}; `curl {url}/models` lists those it has"
_LOST: Final = (
    "no chat completions at {url}; check base_url, which usually ends in /v1, and the model's name "
    "{model!r}"
)
_MEANINGS: Final = {
    401: ("authentication", "the API key was not accepted; check OPENAI_API_KEY or api_key"),
    402: ("quota", "no credit left"),
    403: ("permission", "the server refused the request; check the key's rights"),
    404: ("model_not_found", _LOST),
    408: ("timeout", "the server gave the request up"),
    413: ("context_length", "the prompt is too long for {model}"),
    429: ("rate_limit", "rate limit; set requests_per_minute"),
}
_UNANSWERED: Final = {
    "timeout": "{url} did not answer in time",
    "unreachable": "cannot reach {url}; check OPENAI_BASE_URL or base_url",
    "connection": "no reply of {url} could be read",
}


@dataclass(frozen=True, slots=True)
class Server:
    """The server as messages may name it.

    Attributes:
        url: Its address without credentials and query.
        model: The model asked for.
        mask: Takes the key and passwords out of what it says.
        timeout: Seconds that a call may take, its repeated requests included; None where the
            client of a user decides.
    """

    url: str
    model: str
    mask: Mask = field(repr=False)
    timeout: float | None

    def clean(self, text: str) -> str:
        """A quotation fit for a message."""
        return quotable(text, self.mask)

    def failure(self, answer: Answer) -> Failure:
        """What an answer means that is no success."""
        try:
            payload = json.loads(answer.content)
        except (ValueError, RecursionError):
            payload = None
        said: Any = payload.get("error", payload) if isinstance(payload, Mapping) else payload
        fields: Mapping[str, Any] = said if isinstance(said, Mapping) else {"message": said}
        message, param = fields.get("message"), fields.get("param")
        if not (isinstance(message, str) and message):
            message = answer.content[:10_000].decode(errors="replace")
        return Failure(
            self,
            answer,
            self.clean(message),
            code=str(fields.get("code") or ""),
            param=param if isinstance(param, str) else None,
        )

    def late(self, sent: int) -> JudgeError:
        """What is raised when the time of a call is over."""
        msg = (
            f"{self.url} did not answer within {self.timeout:g} s ({requests(sent)}); raise timeout "
            "(--judge-timeout) or lower the concurrency"
        )
        return JudgeError(msg, reason="timeout")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    What a server wrote may repeat the words of the sample, so it is only ever about this request.

    Attributes:
        server: Who failed.
        answer: What came back, with the number of requests that were sent until then.
        message: What the server said, cleaned.
        code: The server's word for it, or an empty string.
        param: The parameter that the server blames.
    """

    server: Server
    answer: Answer
    message: str
    code: str = ""
    param: str | None = None

    @property
    def status(self) -> int:
        """The HTTP status; 0 where there was no answer."""
        return self.answer.status or 0

    @property
    def is_refusal(self) -> bool:
        """Whether the server says that it cannot do what it was asked for."""
        return self.status in _REFUSED and (
            self.is_limit_too_large
            or not (self._is_context_length or self._is_content or self._is_no_model)
        )

    @property
    def is_limit_too_large(self) -> bool:
        """The reply's length limit is more than the model can write, whatever the prompt."""
        return self.status in _REFUSED and _LIMIT_TOO_LARGE.search(self.message) is not None

    def may_be_cured_by_less(self, *, names_a_feature: bool) -> bool:
        """Whether a request that asks for less may succeed.

        Args:
            names_a_feature: Whether the message names a feature that the request used.
        """
        # Most 404s are wrong addresses; some gateways answer so when no server has a feature.
        return self.is_refusal and (
            self.status != HTTPStatus.NOT_FOUND or names_a_feature or "support" in self.message
        )

    @property
    def _is_context_length(self) -> bool:
        return "context_length" in self.code or bool(_CONTEXT_LENGTH.search(self._said))

    @property
    def _is_content(self) -> bool:
        return self.code in _CONTENT_CODES or "content management policy" in self._said

    @property
    def _is_no_model(self) -> bool:
        return (
            self.code in _NO_MODEL_CODES
            or self.param == "model"
            or _NO_MODEL.search(self._said) is not None
        )

    @property
    def _said(self) -> str:
        """The message where it is an answer to the request; that of a broken server is none."""
        return self.message if self.status < HTTPStatus.INTERNAL_SERVER_ERROR else ""

    def as_error(self) -> JudgeError:
        """The failure as it is raised; fatal where it holds for every call."""
        server, answer, sent = self.server, self.answer, requests(self.answer.sent)
        if answer.status is None:
            reason, cause = innermost_reason(answer.error or TimeoutError())
            reason = reason if reason in ("timeout", "unreachable") else "connection"
            said = server.clean(str(cause)) or "the connection broke off"
            msg = f"{_UNANSWERED[reason].format(url=server.url)} ({sent}): {said}"
            return JudgeError(msg, reason=reason, fatal=reason in FATAL)
        if (pause := answer.pause) is not None:
            is_longer = server.timeout is not None and pause >= server.timeout
            sent = f"{sent}; it asks for a pause of {pause:g} s{', more than is left' * is_longer}"
        reason, meaning = self._meaning
        where = server.clean(shown_url(answer.headers.get("location", ""))) or "nowhere"
        meaning = meaning.format(url=server.url, model=server.model, where=where)
        said = f"{server.url} answered {self.status}: {self.message}".removesuffix(": ")
        msg = f"{meaning} ({said}; {sent})" if meaning else f"{said} ({sent})"
        is_fatal = reason in FATAL or (reason == "model_not_found" and self.code in _NO_MODEL_CODES)
        return JudgeError(msg, reason=reason, fatal=is_fatal)

    @property
    def _meaning(self) -> tuple[str, str]:
        """The reason of the error, and what it says before the server's own words."""
        status = self.status
        is_broken = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        plain = _MEANINGS.get(status, ("judge_error", ""))
        # The first that holds.
        cases = (
            (status < HTTPStatus.BAD_REQUEST, ("redirect", _REDIRECT)),
            (self.code == NO_CREDIT and not is_broken, _MEANINGS[402]),
            (status in _MEANINGS and status != HTTPStatus.NOT_FOUND, plain),
            (self._is_context_length, _MEANINGS[413]),
            (self._is_content, ("judge_error", "the content filter refused the sample")),
            (is_broken, ("server_error", "")),
            (self._is_no_model, ("model_not_found", _UNKNOWN_MODEL)),
        )
        return next((meaning for holds, meaning in cases if holds), plain)


def requests(sent: int) -> str:
    """How many requests were sent, in words.

    >>> requests(1), requests(3)
    ('1 request sent', '3 requests sent')
    """
    return f"{sent} request{'' if sent == 1 else 's'} sent"


def shown_url(url: str) -> str:
    """An address without credentials, query and closing slash, also one that is none.

    >>> shown_url("https://me:secret@host:8000/v1/?key=x")
    'https://host:8000/v1'
    >>> shown_url("me:secret@host/v1")
    'host/v1'
    """
    scheme, mark, rest = url.rpartition("://")
    place = rest.rpartition("@")[2]  # first: passwords hold anything
    return f"{scheme}{mark}{place.partition('?')[0].partition('#')[0]}".rstrip("/")

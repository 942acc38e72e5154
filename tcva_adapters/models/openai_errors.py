"""What a failed call means: from the SDK's exceptions to `JudgeError`, without any secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import NO_CREDIT, as_judge_error
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
_REFUSED: Final = frozenset({400, 404, 422, 501})


@dataclass(frozen=True, slots=True)
class Server:
    """The server as messages may name it.

    Attributes:
        url: Its address without credentials and query.
        model: The model asked for.
        mask: Takes the key and passwords out of what it says.
        retries: How often the SDK repeats a request.
        timeout: Seconds that a call may take, its repeated requests included; None where the
            client of a user decides.
    """

    url: str
    model: str
    mask: Mask = field(repr=False)
    retries: int
    timeout: float | None

    def clean(self, text: str) -> str:
        """A quotation fit for a message."""
        return quotable(text, self.mask)

    def failure(self, error: Exception) -> Failure:
        """What the SDK's exception says."""
        status = getattr(error, "status_code", None)
        if status is None:
            cause = error.__cause__ or error
            text = self.clean(str(cause) or type(cause).__name__)  # a reset says nothing else
            return Failure(self, None, text, kind=as_judge_error(error).reason)
        response = getattr(error, "response", None)
        location = "" if response is None else response.headers.get("location", "")
        return self.refusal(status, getattr(error, "body", None), str(error), location)

    def refusal(self, status: int, said: Any, text: str = "", location: str = "") -> Failure:
        """What an answer means that is no success.

        Args:
            status: The HTTP status.
            said: Its ``error``, a mapping or a text.
            text: What is quoted where that says nothing.
            location: Where the server pointed instead.
        """
        fields = said if isinstance(said, Mapping) else {"message": said}
        message, param = fields.get("message"), fields.get("param")
        return Failure(
            self,
            status,
            self.clean(message if isinstance(message, str) and message else text),
            code=str(fields.get("code") or ""),
            param=param if isinstance(param, str) else None,
            location=location,
        )

    def late(self) -> JudgeError:
        """What is raised when the time of a call is over."""
        msg = (
            f"{self.url} did not answer within {self.timeout:g} s, retries included; raise timeout "
            "(--judge-timeout) or lower the concurrency"
        )
        return JudgeError(msg, reason="timeout")


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    What a server wrote may repeat the words of the sample, so it is only ever about this request.

    Attributes:
        server: Who failed.
        status: The HTTP status; None where there was no answer.
        message: What the server said, cleaned.
        code: The server's word for it, or an empty string.
        param: The parameter that the server blames.
        location: Where the server pointed instead.
        kind: Why there was no answer, in a word; see `as_judge_error`.
    """

    server: Server
    status: int | None
    message: str
    code: str = ""
    param: str | None = None
    location: str = ""
    kind: str = ""

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
            self.code in ("model_not_found", "DeploymentNotFound")
            or self.param == "model"
            or _NO_MODEL.search(self._said) is not None
        )

    @property
    def _said(self) -> str:
        """The message where it is an answer to the request; that of a broken server is none."""
        return self.message if (self.status or 0) < HTTPStatus.INTERNAL_SERVER_ERROR else ""

    def as_error(self) -> JudgeError:
        """The failure as it is raised.

        It is fatal where the server refuses whoever asks; see `tcva_adapters.models.proof` for
        what else may be.
        """
        server, said = self.server, f": {self.message}" if self.message else ""
        if self.status is not None:
            return self._status_error(f"{server.url} answered {self.status}{said}")
        if self.kind == "timeout":
            msg = f"{server.url} did not answer in time ({server.retries} retries){said}"
            return JudgeError(msg, reason="timeout")
        if self.kind == "unreachable":
            msg = f"cannot reach {server.url}; check OPENAI_BASE_URL or base_url{said}"
            return JudgeError(msg, reason="unreachable")
        msg = f"no reply of {server.url} could be read{said}"
        return JudgeError(msg, reason="connection")

    def _status_error(self, answer: str) -> JudgeError:
        server, status = self.server, self.status or 0
        url, model = server.url, server.model
        where = server.clean(shown_url(self.location))
        rejected = f"the API key was not accepted; check OPENAI_API_KEY or api_key ({answer})"
        forbidden = f"the server refused the request; check the key's rights ({answer})"
        unknown = f"no model {model!r} at {url}; `curl {url}/models` lists those it has ({answer})"
        lost = (
            f"no chat completions at {url}; check base_url, which usually ends in /v1, and the "
            f"model's name {model!r} ({answer})"
        )
        hurried = f"rate limit after {server.retries} retries; set requests_per_minute ({answer})"
        pointed = (
            f"{url} redirects to {where or 'nowhere'}, where samples are not sent; if that is the "
            f"judge, set base_url or OPENAI_BASE_URL to its address (status {status})"
        )
        is_broken = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        # The first that holds.
        cases = (
            (status < HTTPStatus.BAD_REQUEST, ("redirect", pointed, False)),
            (
                (self.code == NO_CREDIT and not is_broken) or status == HTTPStatus.PAYMENT_REQUIRED,
                ("quota", f"no credit left: {answer}", True),
            ),
            (status == HTTPStatus.UNAUTHORIZED, ("authentication", rejected, True)),
            (status == HTTPStatus.FORBIDDEN, ("permission", forbidden, False)),
            (status == HTTPStatus.TOO_MANY_REQUESTS, ("rate_limit", hurried, False)),
            (status == HTTPStatus.REQUEST_TIMEOUT, ("timeout", answer, False)),
            (
                self._is_context_length or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                ("context_length", f"the prompt is too long for {model}: {answer}", False),
            ),
            (
                self._is_content,
                ("judge_error", f"the content filter refused the sample: {answer}", False),
            ),
            (is_broken, ("server_error", f"{answer} ({server.retries} retries)", False)),
            (self._is_no_model, ("model_not_found", unknown, False)),
            (status == HTTPStatus.NOT_FOUND, ("model_not_found", lost, False)),
            (True, ("judge_error", answer, False)),
        )
        reason, msg, fatal = next(case for holds, case in cases if holds)
        return JudgeError(msg, reason=reason, fatal=fatal)


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

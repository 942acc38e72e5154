"""What a failed call means: from the SDK's exceptions to `JudgeError`, without any secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import LONGEST_QUOTE, without_keys

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
        secret: The key, which no message may contain.
        retries: How often the SDK repeats a request.
        timeout: Seconds that a request may take; None where the client of a user decides.
    """

    url: str
    model: str
    secret: str
    retries: int
    timeout: float | None

    def __repr__(self) -> str:
        return f"Server(url={self.url!r}, model={self.model!r})"

    def clean(self, text: str) -> str:
        """A quotation fit for a message: no key, one line, not too long."""
        if self.secret:
            text = text.replace(self.secret, "***")
        text = without_keys(text)
        return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "..."

    def failure(self, error: Exception) -> Failure:
        """What the SDK's exception says."""
        status = getattr(error, "status_code", None)
        if status is None:
            text = self.clean(str(error.__cause__ or error))
            return Failure(self, None, text, timed_out="Timeout" in type(error).__name__)
        body = getattr(error, "body", None)
        said = body.get("message") if isinstance(body, Mapping) else body
        text = said if isinstance(said, str) and said else str(error)
        return Failure(
            self,
            status,
            self.clean(text),
            code=str(getattr(error, "code", None) or ""),
            param=getattr(error, "param", None),
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    Attributes:
        server: Who failed.
        status: The HTTP status; None where there was no answer.
        message: What the server said, cleaned.
        code: The server's word for it, or an empty string.
        param: The parameter that the server blames.
        timed_out: True when the time ran out.
    """

    server: Server
    status: int | None
    message: str
    code: str = ""
    param: str | None = None
    timed_out: bool = False

    @property
    def is_limit_too_large(self) -> bool:
        """The reply's length limit is more than the model can write, whatever the prompt."""
        return self.status in _REFUSED and _LIMIT_TOO_LARGE.search(self.message) is not None

    def may_be_cured_by_less(self, *, names_a_feature: bool) -> bool:
        """Whether a request that asks for less may succeed.

        Args:
            names_a_feature: Whether the message names a feature that the request used.
        """
        if self.status not in _REFUSED:
            return False
        if self.is_limit_too_large:
            return True
        if self._is_context_length or self._is_content or self._is_no_model:
            return False
        # Most 404s are wrong addresses; some gateways answer so when no server has a feature.
        return self.status != HTTPStatus.NOT_FOUND or names_a_feature or "support" in self.message

    @property
    def _is_context_length(self) -> bool:
        return "context_length" in self.code or bool(_CONTEXT_LENGTH.search(self.message))

    @property
    def _is_content(self) -> bool:
        return self.code in _CONTENT_CODES or "content management policy" in self.message

    @property
    def _is_no_model(self) -> bool:
        return (
            self.code in ("model_not_found", "DeploymentNotFound")
            or self.param == "model"
            or _NO_MODEL.search(self.message) is not None
        )

    def as_error(self, *, answered_before: bool) -> JudgeError:
        """The failure as it is raised.

        Args:
            answered_before: Whether this server has ever answered. A server that never did is
                taken for a wrong address, which is fatal.
        """
        server, said = self.server, f": {self.message}" if self.message else ""
        if self.timed_out:
            within = "in time " if server.timeout is None else f"within {server.timeout:g} s "
            msg = (
                f"{server.url} did not answer {within}"
                f"({server.retries} retries); raise the timeout or lower the concurrency"
            )
            return JudgeError(msg, reason="timeout")
        if self.status is None:
            msg = f"cannot reach {server.url}; check OPENAI_BASE_URL or base_url{said}"
            return JudgeError(msg, reason="connection", fatal=not answered_before)
        return self._status_error(f"{server.url} answered {self.status}{said}")

    def _status_error(self, answer: str) -> JudgeError:
        server, status = self.server, self.status or 0
        url, model = server.url, server.model
        rejected = f"the API key was not accepted; check OPENAI_API_KEY or api_key ({answer})"
        unknown = f"no model {model!r} at {url}; `curl {url}/models` lists those it has ({answer})"
        lost = (
            f"no chat completions at {url}; check base_url, which usually ends in /v1, and the "
            f"model's name {model!r} ({answer})"
        )
        hurried = f"rate limit after {server.retries} retries; set requests_per_minute ({answer})"
        # The first that holds; whether it is fatal comes last.
        cases = (
            (
                self.code == "insufficient_quota" or status == HTTPStatus.PAYMENT_REQUIRED,
                ("quota", f"no credit left: {answer}", True),
            ),
            (status == HTTPStatus.UNAUTHORIZED, ("authentication", rejected, True)),
            (status == HTTPStatus.FORBIDDEN, ("permission", rejected, True)),
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
            (self._is_no_model, ("model_not_found", unknown, True)),
            (status == HTTPStatus.NOT_FOUND, ("model_not_found", lost, True)),
            (
                status >= HTTPStatus.INTERNAL_SERVER_ERROR,
                ("server_error", f"{answer} ({server.retries} retries)", False),
            ),
            (True, ("judge_error", answer, False)),
        )
        reason, msg, fatal = next(case for holds, case in cases if holds)
        return JudgeError(msg, reason=reason, fatal=fatal)


def shown_url(url: str) -> str:
    """An address without credentials, query and closing slash.

    >>> shown_url("https://me:secret@host:8000/v1/?key=x")
    'https://host:8000/v1'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")

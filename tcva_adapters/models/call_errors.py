"""The meaning of failed calls, whichever package raised the error or whatever a server answered.

One table decides it, by the status, by the server's code, and by the name of the exception's
class. The message of a server decides nothing, since it may repeat the sample's words.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.secrets import quotable

NO_CREDIT = "insufficient_quota"
"""The code by which servers say that an account is used up."""


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A kind of failure.

    Attributes:
        reason: The reason of the `JudgeError`.
        statuses: The HTTP statuses that say so.
        named: A pattern for servers' codes, under any status below 500, and for names of
            exceptions.
        hint: What it means for the user.
        fatal: Whether it holds for every call, whatever is asked.
    """

    reason: str
    statuses: Container[int | None] = ()
    named: str = "(?!)"
    hint: str = ""
    fatal: bool = False


OTHER = ErrorKind("judge_error")
_NO_MODEL = (
    "no model {model!r} at {url}; check the name (`curl {url}/models` lists all) and base_url, "
    "which usually ends in /v1"
)
_KINDS = (
    # The first that fits counts: packages wrap a refused connection into a timeout of their own.
    ErrorKind(
        "redirect",
        range(300, 400),
        hint="{url} redirects to {where}, and redirects are not followed;"
        " if that is the right server, set base_url or OPENAI_BASE_URL to it",
    ),
    ErrorKind(
        "quota",
        (402,),
        rf"\b{NO_CREDIT}\b|\binsufficientquota",
        "the account has no credit left",
        fatal=True,
    ),
    ErrorKind(
        "unreachable",
        (),
        r"\bconnecterror\b|connectionrefused|clientconnectorerror|gaierror"
        "|endpointconnection",
        "cannot reach {url}; check OPENAI_BASE_URL or base_url",
        fatal=True,
    ),
    ErrorKind(
        "timeout",
        (408, 504),
        "timeout|timedout|deadlineexceeded",
        "{url} did not answer in time",
    ),
    ErrorKind(
        "rate_limit",
        (429,),
        "ratelimit|toomanyrequests|resourceexhausted",
        "rate limit reached; set requests_per_minute",
    ),
    ErrorKind(
        "authentication",
        (401,),
        "authenticationerror|unauthenticated",
        "the API key was not accepted; check OPENAI_API_KEY",
        fatal=True,
    ),
    ErrorKind(
        "permission",
        (403,),
        "permissiondenied",
        "the API key does not have the rights for this",
    ),
    ErrorKind(
        "invalid_input", (), "context_length", "the prompt is too long for {model}"
    ),
    ErrorKind(
        "model_not_found",
        (),
        r"\bmodel_not_found\b|DeploymentNotFound",
        _NO_MODEL,
        fatal=True,
    ),
    ErrorKind("model_not_found", (404,), r"\bnotfounderror\b", _NO_MODEL),
    ErrorKind("server_error", range(500, 600), "internalservererror"),
)


def kind_of(status: int | None = None, named: str = "") -> ErrorKind:
    """Classify a failure; `OTHER` where no kind fits. Codes of a 5xx are ignored.

    >>> kind_of(429).reason, kind_of(429, "insufficient_quota").reason
    ('rate_limit', 'quota')
    """
    is_broken = status is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR
    for kind in _KINDS:
        is_named = not is_broken and re.search(kind.named, named, re.IGNORECASE)
        if status in kind.statuses or is_named:
            return kind
    return OTHER


def as_judge_error(error: BaseException) -> JudgeError:
    """Turn an exception into a `JudgeError`, by class names, codes and statuses of all causes.

    Provider packages are not imported, so it does not matter which are installed.

    >>> class RateLimitError(Exception):
    ...     status_code = 429
    >>> as_judge_error(RateLimitError("slow down")).reason
    'rate_limit'
    """
    causes = causes_of(error)
    kind = kind_of_error(error)
    # Packages that retry raise an error of their own, which says nothing.
    is_inner = kind is not OTHER or type(error).__name__ == "RetryError"
    quoted = error
    if is_inner:
        quoted = next((cause for cause in causes[::-1] if str(cause)), error)
    return JudgeError(
        f"{type(quoted).__name__}: {quotable(str(quoted))}",
        reason=kind.reason,
        fatal=kind.fatal,
    )


def kind_of_error(error: BaseException) -> ErrorKind:
    """Classify a failure by an exception and its causes together."""
    causes = causes_of(error)
    holders = [*causes, *(getattr(cause, "response", None) for cause in causes)]
    codes = [
        getattr(holder, name, None)
        for holder in holders
        for name in ("status_code", "http_status", "code")
    ]
    numbers = (
        code for code in codes if isinstance(code, int) and not isinstance(code, bool)
    )
    status = next(numbers, None)
    bodies = (getattr(cause, "body", None) for cause in causes)
    codes += [body.get("code") for body in bodies if isinstance(body, Mapping)]
    codes += [cls.__name__ for cause in causes for cls in type(cause).__mro__]
    return kind_of(status, " ".join(map(str, codes)))


def causes_of(error: BaseException) -> list[BaseException]:
    """An exception and its causes, each once: `raise error from error` makes a circle."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and id(cause) not in map(id, causes):
        causes.append(cause)
        cause = cause.__cause__
    return causes

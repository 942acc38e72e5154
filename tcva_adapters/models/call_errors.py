"""What a failed call means, whichever package raised it or whatever a server answered.

One table says it, by the status, by the server's code for it, by the name of the exception's class,
and, where a server answered to the very request, by its words.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.loops import is_in_loop
from tcva_adapters.models.secrets import quotable

NO_CREDIT: Final = "insufficient_quota"
"""The code by which servers say that an account is used up."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure.

    Attributes:
        reason: Of the `JudgeError`.
        statuses: The HTTP statuses that say so.
        named: A pattern of servers' codes, whatever the status below 500, and of the names of
            exceptions.
        words: A pattern of what servers say in a refusal.
        hint: What it means for the user.
        fatal: Whether it holds for every call, whatever is asked.
    """

    reason: str
    statuses: Container[int | None] = ()
    named: str = "^$"
    words: str = "^$"
    hint: str = ""
    fatal: bool = False

    @property
    def is_about_the_request(self) -> bool:
        """Whether a server's code or words say it, not its status alone."""
        return self.fatal or self.words != "^$"


OTHER: Final = Kind("judge_error")
_NO_MODEL: Final = "no model {model!r} at {url}; `curl {url}/models` lists those it has"
_KINDS: Final = (
    # The first that fits counts: a timeout is also a connection error in several packages.
    Kind("redirect", range(300, 400), hint="{url} redirects to {where}, where samples are not sent;"
         " if that is the judge, set base_url or OPENAI_BASE_URL to its address"),
    Kind("quota", (402,), rf"\b{NO_CREDIT}\b|\binsufficientquota", hint="no credit left", fatal=True),
    Kind("timeout", (408, 504), "timeout|timedout|deadlineexceeded",
         hint="the server gave the request up"),
    Kind("rate_limit", (429,), "ratelimit|toomanyrequests|resourceexhausted",
         hint="rate limit; set requests_per_minute"),
    Kind("authentication", (401,), "authenticationerror|unauthenticated",
         hint="the API key was not accepted; check OPENAI_API_KEY or api_key", fatal=True),
    Kind("permission", (403,), "permissiondenied",
         hint="the server refused the request; check the key's rights"),
    Kind("context_length", (413,), "context_length", words=(
         r"context[_ ](?:length|window|size)|maximum context|too many (?:input )?tokens"
         r"|(?:prompt|input) is too long|reduce the length|exceeds? the (?:available )?context"),
         hint="the prompt is too long for {model}"),
    Kind("judge_error", named=r"\bcontent_(?:filter|policy_violation)\b",
         words="content management policy", hint="the content filter refused the sample"),
    Kind("model_not_found", named=r"\b(?:model_not_found|DeploymentNotFound)\b", hint=_NO_MODEL,
         fatal=True),
    Kind("model_not_found", hint=_NO_MODEL, words=(
         r"model[^.]{0,120}?(?:not (?:be )?(?:found|exist|loaded|available)|does(?: not|n't) exist)"
         r"|(?:unknown|invalid|no such|not a valid) model|deployment[^.]{0,60}not exist")),
    Kind("model_not_found", (404,), r"\bnotfounderror\b",
         hint="no chat completions at {url}; check base_url, which usually ends in /v1, and the "
         "model's name {model!r}"),
    Kind("unreachable", named=r"\bconnecterror\b|connectionrefused|clientconnectorerror"
         "|endpointconnection|gaierror", fatal=True),
    Kind("server_error", range(500, 600), "internalservererror"),
)  # fmt: skip  # a table


def kind_of(status: int | None = None, named: str = "", said: str = "") -> Kind:
    """The kind of a failure; `OTHER` where nothing tells it.

    What a broken server says is no answer to the request.

    >>> kind_of(429).reason, kind_of(429, "insufficient_quota").reason
    ('rate_limit', 'quota')
    """
    for kind in _KINDS:
        if status in kind.statuses:
            return kind
        if status is None or status < HTTPStatus.INTERNAL_SERVER_ERROR:
            texts = ((kind.named, named), (kind.words, said))
            if any(text and re.search(pattern, text, re.IGNORECASE) for pattern, text in texts):
                return kind
    return OTHER


def as_judge_error(error: BaseException) -> JudgeError:
    """What an exception means, told by class names, codes and statuses, its causes included.

    Provider packages are not imported: which of them are installed is not our business. Packages
    that retry raise an error of their own, with the real one as its cause. What a server wrote
    decides nothing: it may repeat the sample's words.

    >>> class RateLimitError(Exception):
    ...     status_code = 429
    >>> as_judge_error(RateLimitError("slow down")).reason
    'rate_limit'
    """
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, JudgeError):
            return cause
        kind = _kind_of_error(cause)
        if kind is not OTHER:
            return JudgeError(_message(cause), reason=kind.reason, fatal=kind.fatal)
    return JudgeError(_message(causes[-1] if type(error).__name__ == "RetryError" else error))


def innermost(error: BaseException) -> tuple[Kind, BaseException]:
    """Why a connection failed, by the deepest cause that says so, and the one to quote.

    Clients wrap a refused or broken connection into a timeout of their own.
    """
    causes = list(_causes(error))[::-1]
    for cause in causes:
        kind = _kind_of_error(cause)
        if kind is not OTHER and (kind.reason != "timeout" or cause is causes[0]):
            return kind, cause
    return OTHER, next((each for each in causes if str(each)), error)


@contextmanager
def judge_errors() -> Iterator[None]:
    """Whatever is raised inside comes out as the `JudgeError` that it means.

    Raises:
        JudgeError: See `as_judge_error`.
        CancelledError: The task that waits here is cancelled.
    """
    try:
        yield
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        found = as_judge_error(error)
        # No circle of causes: DeepEval follows them without end.
        is_cause = any(found is cause for cause in _causes(error))
        raise found from (found.__cause__ if is_cause else error)


def _is_cancelled() -> bool:
    """Whether this very task is cancelled, and not one that a model made."""
    task = asyncio.current_task() if is_in_loop() else None
    return task is not None and task.cancelling() > 0


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # `raise error from error` makes a circle
        seen.add(id(error))
        yield error
        error = error.__cause__


def _kind_of_error(error: BaseException) -> Kind:
    body = getattr(error, "body", None)
    codes = (getattr(error, "code", None), body.get("code") if isinstance(body, Mapping) else None)
    holders = (error, getattr(error, "response", None))
    found = [getattr(h, n, None) for h in holders for n in ("status_code", "http_status", "code")]
    status = next((s for s in found if isinstance(s, int) and not isinstance(s, bool)), None)
    names = (cls.__name__ for cls in type(error).__mro__)
    return kind_of(status, " ".join(map(str, (*codes, *names))))


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {quotable(str(error))}"

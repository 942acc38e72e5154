"""What an exception of a call means, whichever package raised it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.loops import is_in_loop
from tcva_adapters.models.secrets import quotable

NO_CREDIT: Final = "insufficient_quota"
"""The code by which servers say that an account is used up."""

FATAL: Final = frozenset({"authentication", "quota", "unreachable"})
"""Failures that hold for every call, whatever is asked."""

_KINDS: Final = tuple(
    (reason, statuses, re.compile(words))
    # The first that fits counts: a timeout is also a connection error in several packages.
    for reason, statuses, words in (
        ("timeout", (408, 504), "timeout|timedout|deadlineexceeded"),
        ("rate_limit", (429,), "ratelimit|toomanyrequests|resourceexhausted"),
        ("authentication", (401,), "authenticationerror|unauthenticated"),
        ("quota", (402,), r"\binsufficientquota"),
        ("permission", (403,), "permissiondenied"),
        ("model_not_found", (404,), r"\bnotfounderror\b"),
        (
            "unreachable",
            (),
            r"\bconnecterror\b|connectionrefused|clientconnectorerror|endpointconnection|gaierror",
        ),
        ("server_error", range(500, 600), "internalservererror"),
    )
)


def as_judge_error(error: BaseException) -> JudgeError:
    """What an exception means, told by class names and status codes, its causes included.

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
        reason = _reason(cause)
        if reason:
            return JudgeError(_message(cause), reason=reason, fatal=reason in FATAL)
    return JudgeError(_message(causes[-1] if type(error).__name__ == "RetryError" else error))


def innermost_reason(error: BaseException) -> tuple[str, BaseException]:
    """Why a connection failed, by the deepest cause that says so, and the one to quote.

    Clients wrap a refused or broken connection into a timeout of their own.
    """
    causes = list(_causes(error))[::-1]
    for cause in causes:
        reason = _reason(cause)
        if reason and (reason != "timeout" or cause is causes[0]):
            return reason, cause
    return "", next((each for each in causes if str(each)), error)


@contextmanager
def judge_errors() -> Iterator[None]:
    """Whatever is raised inside comes out as the `JudgeError` that it means.

    Raises:
        JudgeError: See `as_judge_error`.
        CancelledError: The task that waits here is cancelled.
    """
    try:
        yield
    except (
        Exception,
        asyncio.CancelledError,
    ) as error:  # whatever it is, it comes out as the other kind
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


def _reason(error: BaseException) -> str:
    """What one exception means; an empty text where it says nothing."""
    status = _status(error) or _status(getattr(error, "response", None))
    if _has_no_credit(error, status):
        return "quota"
    names = " ".join(cls.__name__ for cls in type(error).__mro__).lower()
    found = (kind for kind, statuses, words in _KINDS if status in statuses or words.search(names))
    return next(found, "")


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {quotable(str(error))}"


def _status(holder: Any) -> int | None:
    found = (getattr(holder, name, None) for name in ("status_code", "http_status", "code"))
    return next((s for s in found if isinstance(s, int) and not isinstance(s, bool)), None)


def _has_no_credit(error: BaseException, status: int | None) -> bool:
    """Whether an account is used up, by the code beside the text."""
    body = getattr(error, "body", None)
    codes = (getattr(error, "code", None), body.get("code") if isinstance(body, Mapping) else None)
    is_refusal = status is None or status < HTTPStatus.INTERNAL_SERVER_ERROR
    return is_refusal and NO_CREDIT in codes

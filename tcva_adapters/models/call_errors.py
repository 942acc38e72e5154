"""What an exception of a call means, whichever package raised it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.secrets import mask_of, quotable

NO_CREDIT: Final = "insufficient_quota"
"""The code by which servers say that an account is used up."""

_KINDS: Final = tuple(
    (reason, statuses, re.compile(words), fatal)
    # The first that fits counts: a timeout is also a connection error in several packages.
    for reason, statuses, words, fatal in (
        ("timeout", (408, 504), "timeout|timedout|deadlineexceeded", False),
        ("rate_limit", (429,), "ratelimit|toomanyrequests|resourceexhausted", False),
        ("authentication", (401,), "authenticationerror|unauthenticated", True),
        ("quota", (402,), r"\binsufficientquota", True),
        ("permission", (403,), "permissiondenied", False),
        ("model_not_found", (404,), r"\bnotfounderror\b", False),
        (
            "unreachable",
            (),
            r"\bconnecterror\b|connectionrefused|clientconnectorerror|endpointconnection|gaierror",
            False,
        ),
        ("server_error", range(500, 600), "internalservererror", False),
    )
)


def as_judge_error(error: BaseException, asked: object = None) -> JudgeError:
    """What an exception means, told by class names and status codes, its causes included.

    Provider packages are not imported: which of them are installed is not our business. Packages
    that retry raise an error of their own, with the real one as its cause. What a server wrote
    decides nothing: it may repeat the sample's words.

    Args:
        error: What was raised.
        asked: The LLM that raised it, whose keys are taken out of the message.

    >>> class RateLimitError(Exception):
    ...     status_code = 429
    >>> as_judge_error(RateLimitError("slow down")).reason
    'rate_limit'
    """
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, JudgeError):
            return cause
        status = _status(cause) or _status(getattr(cause, "response", None))
        names = " ".join(cls.__name__ for cls in type(cause).__mro__).lower()
        if _has_no_credit(cause, status):
            return JudgeError(_message(cause, asked), reason="quota", fatal=True)
        for reason, statuses, words, fatal in _KINDS:
            if status in statuses or words.search(names):
                return JudgeError(_message(cause, asked), reason=reason, fatal=fatal)
    last = causes[-1] if type(error).__name__ == "RetryError" else error
    return JudgeError(_message(last, asked))


@contextmanager
def judge_errors(asked: object) -> Iterator[None]:
    """Whatever is raised inside comes out as the `JudgeError` that it means.

    Args:
        asked: See `as_judge_error`.

    Raises:
        JudgeError: See `as_judge_error`.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001  # whatever it is, it comes out as the other kind
        found = as_judge_error(error, asked)
        raise found from cause_of(found, error)


def cause_of(found: JudgeError, error: BaseException) -> BaseException | None:
    """What a `JudgeError` is raised from: the exception that it was made of."""
    # No circle of causes: DeepEval follows them without end.
    return found.__cause__ if any(found is cause for cause in _causes(error)) else error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # `raise error from error` makes a circle
        seen.add(id(error))
        yield error
        error = error.__cause__


def _message(error: BaseException, asked: object) -> str:
    return f"{type(error).__name__}: {quotable(str(error), mask_of(asked))}"


def _status(holder: Any) -> int | None:
    found = (getattr(holder, name, None) for name in ("status_code", "http_status", "code"))
    return next((s for s in found if isinstance(s, int) and not isinstance(s, bool)), None)


def _has_no_credit(error: BaseException, status: int | None) -> bool:
    """Whether an account is used up, by the code beside the text."""
    body = getattr(error, "body", None)
    codes = (getattr(error, "code", None), body.get("code") if isinstance(body, Mapping) else None)
    is_refusal = status is None or status < HTTPStatus.INTERNAL_SERVER_ERROR
    return is_refusal and NO_CREDIT in codes

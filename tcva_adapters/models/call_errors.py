"""What an exception of a call means, whichever package raised it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tcva_adapters.errors import JudgeError

_KEY_LIKE: Final = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*.-]{6,}|(?<=Bearer )\S+")
"""What looks like a secret; it is taken out of every message."""

LONGEST_QUOTE: Final = 300

_KINDS: Final = (
    # The first that fits counts: a timeout is also a connection error in several packages.
    ("timeout", (408, 504), ("timeout", "timedout", "deadlineexceeded"), False),
    ("rate_limit", (429,), ("ratelimit", "toomanyrequests", "resourceexhausted"), False),
    ("authentication", (401,), ("authenticationerror", "unauthenticated"), True),
    ("permission", (403,), ("permissiondenied",), True),
    ("model_not_found", (404,), ("notfounderror",), True),
    ("server_error", (500, 502, 503, 529), ("internalservererror",), False),
)


def as_judge_error(error: BaseException) -> JudgeError:
    """What an exception means, told by class names and status codes, its causes included.

    Provider packages are not imported: which of them are installed is not our business. Packages
    that retry raise an error of their own, with the real one as its cause.

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
        for reason, statuses, words, fatal in _KINDS:
            if status in statuses or any(word in names for word in words):
                return JudgeError(_message(cause), reason=reason, fatal=fatal)
    return JudgeError(_message(causes[-1] if type(error).__name__ == "RetryError" else error))


@contextmanager
def judge_errors() -> Iterator[None]:
    """Whatever is raised inside comes out as the `JudgeError` that it means.

    Raises:
        JudgeError: See `as_judge_error`.
    """
    try:
        yield
    except Exception as error:
        found = as_judge_error(error)
        if any(found is cause for cause in _causes(error)):
            # No circle of causes: DeepEval follows them without end.
            raise found from found.__cause__
        raise found from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # `raise error from error` makes a circle
        seen.add(id(error))
        yield error
        error = error.__cause__


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {without_keys(str(error))[:LONGEST_QUOTE]}"


def without_keys(text: str) -> str:
    """A text on one line, with whatever looks like a secret taken out."""
    return " ".join(_KEY_LIKE.sub("***", text).split())


def _status(holder: Any) -> int | None:
    found = (getattr(holder, name, None) for name in ("status_code", "http_status", "code"))
    return next((s for s in found if isinstance(s, int) and not isinstance(s, bool)), None)

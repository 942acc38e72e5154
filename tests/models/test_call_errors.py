"""What exceptions of calls mean, by name and status, without importing their packages."""

from __future__ import annotations

import pytest

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error


class RateLimitError(Exception):
    status_code = 429


class GatewayError(Exception):
    class response:  # noqa: N801  # the attribute's own name
        status_code = 504


@pytest.mark.parametrize(
    ("error", "reason", "fatal"),
    [
        (TimeoutError("late"), "timeout", False),
        (RateLimitError("slow down"), "rate_limit", False),
        (GatewayError("late"), "timeout", False),
        (type("AuthenticationError", (Exception,), {})("no"), "authentication", True),
        (ValueError("odd"), "judge_error", False),
    ],
)
def test_names_and_statuses_tell(error: Exception, reason: str, fatal: bool) -> None:
    found = as_judge_error(error)
    assert (found.reason, found.fatal) == (reason, fatal)
    assert str(error) in str(found)


def test_the_cause_tells_where_a_retrying_package_hides_it() -> None:
    outer = RuntimeError("gave up")
    outer.__cause__ = RateLimitError("slow down")
    assert as_judge_error(outer).reason == "rate_limit"


def test_a_judge_error_stays_itself_even_in_a_circle() -> None:
    error = JudgeError("no", reason="permission", fatal=True)
    error.__cause__ = error
    assert as_judge_error(error) is error
    circle = ValueError("round")
    circle.__cause__ = circle
    assert as_judge_error(circle).reason == "judge_error"


def test_keys_are_taken_out() -> None:
    assert "sk-abcdefgh1234" not in str(as_judge_error(ValueError("bad key sk-abcdefgh1234")))

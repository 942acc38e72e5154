"""What exceptions of calls mean, by name and status, without importing their packages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.protocol import JudgeRequest, ModelReply, acomplete, complete
from tests.support.faces import REQUEST
from tests.support.scripted import ScriptedModel


def made(name: str, said: str, **attributes: Any) -> Exception:
    error: Exception = type(name, (Exception,), attributes)(said)
    return error


def caused(cause: Exception) -> Exception:
    outer = made("APIConnectionError", "gave up")
    outer.__cause__ = cause
    return outer


BUSY = made("RateLimitError", "slow down", status_code=429)
CIRCLE = ValueError("round")
CIRCLE.__cause__ = CIRCLE


@pytest.mark.parametrize(
    ("error", "reason", "fatal"),
    [
        (TimeoutError("late"), "timeout", False),
        (BUSY, "rate_limit", False),
        (made("Gateway", "late", response=SimpleNamespace(status_code=504)), "timeout", False),
        (made("Spent", "x", status_code=429, code="insufficient_quota"), "quota", True),
        (made("AuthenticationError", "no"), "authentication", True),
        (made("StatusError", "no", status_code=401), "authentication", True),
        (made("StatusError", "no", status_code=404), "model_not_found", False),
        (ValueError("odd"), "judge_error", False),
        (caused(BUSY), "rate_limit", False),
        (caused(ConnectionRefusedError(111, "refused")), "unreachable", True),
        (CIRCLE, "judge_error", False),
    ],
    ids=repr,
)
def test_names_statuses_and_causes_tell(error: Exception, reason: str, fatal: bool) -> None:
    found = as_judge_error(error)
    assert (found.reason, found.fatal) == (reason, fatal)
    assert str(error.__cause__ or error) in str(found)


@pytest.mark.parametrize(
    "ask",
    [lambda model: complete(model, REQUEST), lambda model: asyncio.run(acomplete(model, REQUEST))],
)
def test_whatever_a_model_does_comes_out_as_a_reply_or_a_judge_error(
    ask: Callable[[Any], ModelReply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "given-by-hand-0123456789")
    assert ask(ScriptedModel(["by given-by-hand-0123456789"])).text == "by ***"
    for answer, says in (
        (ValueError("bad key sk-abcdefgh1234"), r"ValueError: bad key \*\*\*"),
        (asyncio.CancelledError("inside"), "inside"),  # its own tasks'
        (None, "must return a ModelReply"),
        (ModelReply(7), "must return a ModelReply"),  # type: ignore[arg-type]  # the point
    ):
        with pytest.raises(JudgeError, match=says):
            ask(ScriptedModel(lambda _, answer=answer: answer))


def test_a_cancelled_task_stays_cancelled() -> None:
    class Slow(ScriptedModel):
        async def acomplete(self, request: JudgeRequest) -> Any:
            await asyncio.sleep(30)

    async def main() -> None:
        task = asyncio.create_task(acomplete(Slow([]), REQUEST))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

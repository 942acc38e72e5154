"""What exceptions of calls mean, by name and status, without importing their packages."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.framework_prompts import PromptedModel, _strict, read_object
from tcva_adapters.models.judge_model import (
    JudgeRequest,
    ModelReply,
    acomplete,
    complete,
)
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


@pytest.mark.parametrize(("error", "reason", "fatal"), [
    (TimeoutError("late"), "timeout", False), (BUSY, "rate_limit", False),
    (made("Gateway", "late", response=SimpleNamespace(status_code=504)), "timeout", False),
    (made("Spent", "x", status_code=429, code="insufficient_quota"), "quota", True),
    (made("AuthenticationError", "no"), "authentication", True),
    (made("StatusError", "no", status_code=401), "authentication", True),
    (made("StatusError", "no", status_code=404), "model_not_found", False),
    (ValueError("odd"), "judge_error", False), (caused(BUSY), "rate_limit", False),
    (caused(ConnectionRefusedError(111, "refused")), "unreachable", True),
    (CIRCLE, "judge_error", False),
], ids=repr)  # fmt: skip
def test_names_statuses_and_causes_tell(
    error: Exception, reason: str, fatal: bool
) -> None:
    found = as_judge_error(error)
    assert (found.reason, found.fatal) == (reason, fatal)
    assert str(error.__cause__ or error) in str(found)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: complete(model, REQUEST),
        lambda model: asyncio.run(acomplete(model, REQUEST)),
    ],
)
def test_model_failures(
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


class Said(BaseModel):
    verdict: int


class Fixed:
    """A judge model with one reply; it keeps what it was asked."""

    name = "scripted:fixed"
    parameters: dict[str, Any] = {}  # noqa: RUF012  # as the protocol has it

    def __init__(self, reply: ModelReply | Exception) -> None:
        self.reply = reply
        self.requests: list[JudgeRequest] = []

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.requests.append(request)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


def test_a_reply_that_is_no_such_object_is_an_error() -> None:
    asked = PromptedModel(Fixed(ModelReply("A lovely day.")))
    with pytest.raises(JudgeError, match="no valid"):
        asked.ask("Is it?", Said)
    assert (asked.failures, asked.usage.calls, asked.fatal) == (1, 1, None)
    fatal = PromptedModel(
        Fixed(JudgeError("no credit left", reason="quota", fatal=True))
    )
    with pytest.raises(JudgeError, match="no credit"):
        fatal.ask("Is it?")
    assert fatal.fatal is not None


def test_langchain_instructions_reach_the_model() -> None:
    core = pytest.importorskip("langchain_core.messages", reason="the extra langchain")
    from tcva_adapters.langchain.llm import BridgedLLM  # noqa: PLC0415  # slow

    model = Fixed(ModelReply("yes"))
    messages = [core.SystemMessage("Brief."), core.HumanMessage("Is it?")]
    said = BridgedLLM(PromptedModel(model)).invoke(messages)
    assert said.text == "yes"
    (request,) = model.requests
    assert (request.system, request.user, request.schema) == ("Brief.", "Is it?", {})


def test_an_unknown_exception_of_a_model_is_a_judge_error_with_its_cause() -> None:
    cause = ConnectionResetError("gone")
    asked = PromptedModel(Fixed(cause))
    with pytest.raises(JudgeError, match="gone") as raised:
        asked.ask("Is it?")
    assert raised.value.__cause__ is cause
    assert asked.usage.calls == asked.failures == 1


@pytest.mark.parametrize("text", [
    '{"verdict": 1}',
    'Sure:\n```json\n{"verdict": 1}\n```\nAnything else?',
    '<think>{"verdict": 0}</think>{"verdict": 1}',
    "{'verdict': 1,}",
    '{"other": 2} {"verdict": 1}',
])  # fmt: skip
def test_an_object_is_found_in_a_reply(text: str) -> None:
    assert read_object(text, Said) == Said(verdict=1)


@pytest.mark.parametrize(
    "text", ["", "verdict 1", '["verdict"]', '{"verdict": "high"}', "{"]
)
def test_what_is_no_object_of_the_shape_is_none(text: str) -> None:
    assert read_object(text, Said) is None


def test_a_list_that_was_cut_off_is_not_read_as_a_shorter_one() -> None:
    class Many(BaseModel):
        verdicts: list[int]

    assert read_object('{"verdicts": [1, 1, 0', Many) is None
    asked = PromptedModel(Fixed(ModelReply('{"verdicts": [1]}', truncated=True)))
    with pytest.raises(JudgeError):
        asked.ask("?", Many)


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every object schema in a schema."""
    parts = schema.values() if isinstance(schema, dict) else schema
    inner = [
        found
        for part in parts
        if isinstance(part, dict | list)
        for found in objects(part)
    ]
    is_object = isinstance(schema, dict) and schema.get("type") == "object"
    return [schema, *inner] if is_object else inner


def test_schemas_are_fit_for_strict_modes() -> None:
    class Inner(BaseModel):
        title: str  # a property by the name of a keyword
        reason: str | None = None

    class Outer(BaseModel):
        inner: Inner
        default: list[Inner] = []

    strict = _strict(Outer.model_json_schema())
    found = objects(strict)
    assert len(found) == 2
    for one in found:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    inner = strict["$defs"]["Inner"]["properties"]
    text = {"type": "string"}
    assert inner == {"title": text, "reason": {"anyOf": [text, {"type": "null"}]}}
    assert strict["properties"]["inner"] == {"$ref": "#/$defs/Inner"}

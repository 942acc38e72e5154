"""Prompts of others through a judge model: what is asked, counted and read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.prompted import Prompted, _strict, read_object
from tcva_adapters.models.protocol import JudgeRequest, ModelReply


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
    asked = Prompted(Fixed(ModelReply("A lovely day.")))
    with pytest.raises(JudgeError, match="holds no"):
        asked.ask("Is it?", Said)
    assert (asked.failures, asked.usage.calls, asked.fatal) == (1, 1, None)
    fatal = Prompted(Fixed(JudgeError("no credit left", reason="quota", fatal=True)))
    with pytest.raises(JudgeError, match="no credit"):
        fatal.ask("Is it?")
    assert fatal.fatal is not None


def test_langchain_instructions_reach_the_model() -> None:
    core = pytest.importorskip("langchain_core.messages", reason="the extra langchain")
    from tcva_adapters.langchain.llm import from_judge_model  # noqa: PLC0415  # slow

    model = Fixed(ModelReply("yes"))
    said = from_judge_model(model).invoke(
        [core.SystemMessage("Brief."), core.HumanMessage("Is it?")]
    )
    assert said.text == "yes"
    (request,) = model.requests
    assert (request.system, request.user, request.schema) == ("Brief.", "Is it?", {})


def test_an_unknown_exception_of_a_model_is_a_judge_error_with_its_cause() -> None:
    cause = ConnectionResetError("gone")
    asked = Prompted(Fixed(cause))
    with pytest.raises(JudgeError, match="gone") as raised:
        asked.ask("Is it?")
    assert raised.value.__cause__ is cause
    assert asked.usage.calls == asked.failures == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": 1}',
        'Sure:\n```json\n{"verdict": 1}\n```\nAnything else?',
        '<think>{"verdict": 0}</think>{"verdict": 1}',
        "{'verdict': 1,}",
        '{"other": 2} {"verdict": 1}',
    ],
)
def test_an_object_is_found_in_a_reply(text: str) -> None:
    assert read_object(text, Said) == Said(verdict=1)


@pytest.mark.parametrize("text", ["", "verdict 1", '["verdict"]', '{"verdict": "high"}', "{"])
def test_what_is_no_object_of_the_shape_is_none(text: str) -> None:
    assert read_object(text, Said) is None


def test_a_list_that_was_cut_off_is_not_read_as_a_shorter_one() -> None:
    class Many(BaseModel):
        verdicts: list[int]

    assert read_object('{"verdicts": [1, 1, 0', Many) is None
    asked = Prompted(Fixed(ModelReply('{"verdicts": [1]}', truncated=True)))
    with pytest.raises(JudgeError):
        asked.ask("?", Many)


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every object schema in a schema."""
    parts = schema.values() if isinstance(schema, dict) else schema
    inner = [found for part in parts if isinstance(part, dict | list) for found in objects(part)]
    return (
        [schema, *inner] if isinstance(schema, dict) and schema.get("type") == "object" else inner
    )


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
    assert inner == {
        "title": {"type": "string"},
        "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    assert strict["properties"]["inner"] == {"$ref": "#/$defs/Inner"}

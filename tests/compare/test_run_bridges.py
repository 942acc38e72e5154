"""The frameworks' own metrics, unmodified, on a judge model through each adapter's bridge.

The model is scripted: it answers every prompt with the lexical judge's reply, so the scores must be
those of the offline LLMs, which never see a prompt as text.
"""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any

import pytest
from pydantic import BaseModel

from tcva_adapters.compare.running.methods import Method, choose, llm_of
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.prompted import Prompted, _strict, read_object
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.samples.sample import Sample
from tests.support.lexical_server import LexicalModel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the frameworks' own

METHODS = choose(["all"], is_lexical=True)[0]
SAMPLES = [Sample.from_record(json.loads(line)) for line in sample_lines()]
COMPLETE = [s for s in SAMPLES if s.input and s.response and s.contexts and s.reference]


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


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_bridge_gives_the_scores_of_the_offline_llm(method: Method) -> None:
    for sample in COMPLETE[1:30:9]:
        asked = Prompted(LexicalModel())
        bridged = asyncio.run(method.score(sample, llm_of(method.framework, asked)))
        offline = asyncio.run(method.score(sample, llm_of(method.framework, None)))
        assert bridged.score == offline.score is not None
        assert [v.word for v in bridged.verdicts] == [v.word for v in offline.verdicts]
        assert asked.usage.calls >= 1
        assert asked.usage.input_tokens == 10 * asked.usage.calls
        assert asked.failures == 0
        assert bridged.calls in (None, asked.usage.calls)


@pytest.mark.parametrize(
    "name",
    [
        "ragas.faithfulness",
        "deepeval.faithfulness",
        "llamaindex.faithfulness",
        "langchain.context_qa",
    ],
)
def test_the_synchronous_faces_do_the_same(name: str) -> None:
    framework, metric = name.split(".")
    adapter = import_module(f"tcva_adapters.{framework}")
    bridged = adapter.score_framework_metric(metric, COMPLETE[0], llm_of(framework, LexicalModel()))
    assert (
        bridged.score
        == adapter.score_framework_metric(metric, COMPLETE[0], adapter.LexicalLLM()).score
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_failing_call_is_the_error_of_the_score(method: Method) -> None:
    # DeepEval follows an error's causes to their end: a circle of them would never return.
    asked = Prompted(Fixed(JudgeError("no credit left", reason="quota", fatal=True)))
    score = asyncio.run(method.score(COMPLETE[0], llm_of(method.framework, asked)))
    assert score.score is None
    assert score.error
    assert asked.failures >= 1
    assert asked.fatal is not None


@pytest.mark.parametrize("framework", ["ragas", "deepeval"])
def test_a_reply_that_is_no_such_object_is_an_error(framework: str) -> None:
    asked = Prompted(Fixed(ModelReply("A lovely day.")))
    score = asyncio.run(
        Method(framework, "faithfulness").score(COMPLETE[0], llm_of(framework, asked))
    )
    assert score.score is None
    assert "holds no" in score.error
    assert "A lovely day." in score.error
    assert (asked.failures, asked.fatal) == (asked.usage.calls, None)


def test_langchain_instructions_reach_the_model() -> None:
    from langchain_core.messages import HumanMessage, SystemMessage  # noqa: PLC0415  # slow

    model = Fixed(ModelReply("yes"))
    llm = llm_of("langchain", model)
    said = llm.invoke([SystemMessage("Be brief."), HumanMessage("Is it?")])
    assert said.text == "yes"
    (request,) = model.requests
    assert (request.system, request.user, request.schema) == ("Be brief.", "Is it?", {})


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
    with pytest.raises(JudgeError, match="was cut off"):
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

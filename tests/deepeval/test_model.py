"""DeepEval LLMs as judges, in any TCVA. The replies are scripted, the servers local."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from deepeval.config.settings import get_settings
from deepeval.models import LocalModel
from deepeval.models.utils import EvaluationCost
from deepeval.test_case import LLMTestCase
from pydantic import BaseModel

from tcva_adapters import TCVA, Sample
from tcva_adapters.deepeval import as_judge_model
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.judge_model import (
    JudgeModel,
    JudgeRequest,
    acomplete,
    complete,
)
from tcva_adapters.results.judgement import Reason
from tests.deepeval.entry import ScriptedLLM, hanging_up, scripted
from tests.support.scripted import verdict_json
from tests.support.server import WRONG_KEY, ScriptedServer, error, in_turn

REQUEST = JudgeRequest(
    system="Judge.", user="The data.", schema={}, schema_name="tcva_verdicts"
)
SAMPLE = Sample(
    input="When?", response="It opens at nine.", contexts=("It opens at nine.",)
)
OPENS = "It opens at nine."
CASE = LLMTestCase(input="When?", actual_output=OPENS, retrieval_context=[OPENS])
FULLY = verdict_json((1, "fully", "opens at nine"))

Ask = Callable[[JudgeModel], Any]
both_faces = pytest.mark.parametrize(
    "ask",
    [lambda m: complete(m, REQUEST), lambda m: asyncio.run(acomplete(m, REQUEST))],
    ids=["sync", "async"],
)


def model_of(llm: object) -> JudgeModel:
    model = as_judge_model(llm)
    assert model is not None
    return model


class Answering(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
    """Answers with whatever object it was given."""

    def __init__(self, answer: Any) -> None:
        super().__init__(lambda _: "")
        self.answer = answer

    def generate(self, prompt: str) -> Any:
        self.prompts.append(prompt)
        return self.answer

    async def a_generate(self, prompt: str) -> Any:
        return self.generate(prompt)


class Schematic(ScriptedLLM):  # type: ignore[no-untyped-call]  # as its base class
    """As DeepEval's guide writes a class: it cannot answer without a schema."""

    def generate(self, prompt: str, schema: type[BaseModel]) -> Any:  # type: ignore[override]  # the signature that DeepEval documents
        return schema.model_validate_json(self.reply(prompt))

    async def a_generate(self, prompt: str, schema: type[BaseModel]) -> Any:  # type: ignore[override]  # the signature that DeepEval documents
        return self.generate(prompt, schema)


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get_settings(), "DEEPEVAL_RETRY_CAP_SECONDS", 0)


def local(server: ScriptedServer, **options: Any) -> LocalModel:
    return LocalModel(
        model="m", base_url=server.base_url, api_key="sk-local-secret", **options
    )


def test_it_has_a_name_and_parameters_without_secrets() -> None:
    model = model_of(scripted())
    assert model.name == "deepeval:scripted"
    assert model.parameters == {"temperature": 0.0}
    assert "never-shown" not in repr(model)
    with ScriptedServer(hanging_up(in_turn(FULLY))) as server:
        given = {"max_tokens": 500, "seed": 1, "extra_headers": {"api-key": "secret"}}
        model = model_of(local(server, generation_kwargs=given))
        assert model.name == "deepeval:m (Local Model)"
        asked = {"temperature": 0.0, "max_tokens": 500, "seed": 1}
        assert model.parameters == asked


@both_faces
@pytest.mark.parametrize(("cost", "expected"), [
    (EvaluationCost(0.5, 10, 5), (10, 5, 0.5)),
    (EvaluationCost(None, 10, 5), (10, 5, None)),  # no price is known
    (EvaluationCost(0.5), (0, 0, 0.5)),
    (0.25, (0, 0, 0.25)),
    (None, (0, 0, None)),
])  # fmt: skip
def test_cost_and_tokens_are_taken_from_the_pair(
    ask: Ask, cost: Any, expected: Any
) -> None:
    answer = ask(model_of(Answering(("text", cost))))
    assert answer.text == "text"
    assert (answer.input_tokens, answer.output_tokens, answer.cost) == expected


@both_faces
def test_an_answer_that_is_no_text_is_an_error(ask: Ask) -> None:
    with pytest.raises(JudgeError, match="must return text, got a list"):
        ask(model_of(Answering(["yes"])))


@pytest.mark.parametrize("claims", ["split", "llm"])
def test_a_class_that_insists_on_a_schema_gets_one(claims: Any) -> None:
    replies = [json.dumps({"claims": ["It opens at nine."]})] * (claims == "llm") + [
        FULLY
    ]
    left = list(replies)
    tcva = TCVA(judge=Schematic(lambda _: left.pop(0)), claims=claims)
    assert tcva.evaluate(SAMPLE).score == 1.0
    left = list(replies)
    assert asyncio.run(tcva.aevaluate(SAMPLE)).score == 1.0


# DeepEval's own classes, against a server


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize(
    ("answer", "reason", "fatal"),
    [
        (error(429, "slow down"), Reason.RATE_LIMIT, False),
        (WRONG_KEY, Reason.JUDGE_ERROR, True),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_exceptions_of_it(
    answer: Any, reason: Reason, fatal: bool, asynchronous: bool
) -> None:
    with ScriptedServer(hanging_up(in_turn(answer))) as server:
        tcva = TCVA(judge=local(server))
        result = (
            asyncio.run(tcva.aevaluate(SAMPLE))
            if asynchronous
            else tcva.evaluate(SAMPLE)
        )
    assert result.unscored is not None
    assert (result.unscored.reason, result.unscored.fatal) == (reason, fatal)
    assert "sk-local" not in result.unscored.detail
    assert "RetryError" not in result.unscored.detail

"""Fields of evaluators: every setting is one, left to the run or changed in a copy."""

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import (
    ConfigurableField,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_openai import ChatOpenAI

from tcva_adapters import CCRS, TCVA, Sample
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.langchain import (
    ScorerEvaluator,
    TCVAEvaluator,
    as_judge_model,
    result_of,
)
from tcva_adapters.models.judge_model import JudgeModel, JudgeRequest
from tcva_adapters.results.settings import TCVASettings
from tests.langchain.entry import RECORD, ScriptedChatModel, scripted
from tests.support.office import TWO
from tests.support.scripted import Declared, verdict_json

CLAIMS = '{"claims": ["It opens at nine."]}'
FULLY = verdict_json((1, "fully", ""))


def test_every_setting_is_shown_and_left_to_the_run() -> None:
    settings = TCVASettings.model_fields
    parameters = inspect.signature(TCVAEvaluator).parameters
    assert list(parameters) == ["llm", "criterion", "mapper", "name", *settings]
    evaluator = TCVAEvaluator("lexical")
    for name, setting in settings.items():
        assert parameters[name].default is setting.default
        assert getattr(evaluator, name) == evaluator.scorer.settings[name]
        (spec,) = evaluator.configurable_fields(
            **{name: ConfigurableField(id="it")}
        ).config_specs
        assert spec.description == setting.description


def test_the_dial_is_configurable_at_run_time() -> None:
    model = scripted(TWO, TWO)
    evaluator = TCVAEvaluator(model, share=False)
    step = evaluator.configurable_fields(
        temperature=ConfigurableField(id="tcva_temperature")
    )
    chain = RunnablePassthrough.assign(tcva=step)
    lenient = chain.invoke(RECORD, {"configurable": {"tcva_temperature": "lenient"}})[
        "tcva"
    ]
    assert lenient["scoring"]["temperature"] == 0.9
    assert (
        lenient["score"] == result_of(chain.invoke(RECORD)["tcva"]).at("lenient").score
    )
    with pytest.raises(InvalidValueError, match="5"):
        chain.invoke(RECORD, {"configurable": {"tcva_temperature": 5}})
    assert len(model.prompts) == 2


@pytest.mark.parametrize("copied", [TCVAEvaluator.model_copy, TCVAEvaluator.copy])
def test_judge_criterion_mapper_store_and_name_change(
    copied: Any, tmp_path: Path
) -> None:
    model = scripted(CLAIMS, verdict_json((1, "mostly", "opens at nine")))
    own = TCVA("completeness", judge="lexical")
    changes = {
        "llm": Declared(model, "langchain"),
        "criterion": "correctness",
        "claims": "llm",
        "max_claims": 3,
        "store": tmp_path / "verdicts.sqlite",
        "mapper": lambda text: {"answer": text, "reference": "It opens at nine."},
        "name": "checked",
    }
    changed = copied(TCVAEvaluator("lexical", fuse=[own]), update=changes)
    seen = changed.invoke("At nine, it opens.")
    assert (seen["judge"], seen["criterion"]) == ("langchain:scripted", "correctness")
    assert [claim["claim"] for claim in seen["claims"]] == ["It opens at nine."]
    assert [member["criterion"] for member in seen["members"]] == ["completeness"]
    assert (changed.max_claims, changed.get_name()) == (3, "checked")
    assert changed.invoke("At nine, it opens.")["from_store"]
    assert (changed.scorer.subject, len(model.prompts)) == ("correctness", 2)


def test_copies_have_another_scorer_and_share_its_store(tmp_path: Path) -> None:
    ccrs = CCRS("ac", judge="lexical", store=tmp_path / "v.sqlite")
    evaluator = ScorerEvaluator(ccrs, name="mine")
    record = {"answer": "At nine.", "context": ["-"], "ground_truth": "at nine"}
    assert result_of(evaluator.invoke(record)).exact is False
    other = evaluator.model_copy(
        update={"scorer": ccrs.changed(em="normalised", lambda_=0.0)}
    )
    assert (result_of(other.invoke(record)).exact, other.name) == (True, "mine")
    assert (evaluator.scorer, evaluator.scorer.store) == (ccrs, other.scorer.store)
    with pytest.raises(InvalidValueError, match=r"'lamda'.*ScorerEvaluator"):
        evaluator.model_copy(update={"lamda": 0.1})
    with pytest.raises(InvalidValueError, match=r"scorer=.*model_copy\(update="):
        evaluator.scorer = CCRS("ac", judge="lexical")


REQUEST = JudgeRequest(system="Rules.", user="Data.", schema={}, schema_name="verdicts")
SAMPLE = Sample(response="It opens at nine.", contexts=("It opens at nine.",))
GOOD = verdict_json((1, "fully", "opens at nine"))
KEY = "sk-never-shown-1234567890"


def model_of(llm: object) -> JudgeModel:
    model = as_judge_model(llm)
    assert model is not None
    return model


class StatusError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}, Bearer {KEY}")
        self.status_code = status


def test_system_and_user_text_are_separate_messages() -> None:
    seen: list[Any] = []

    def keep(messages: Any) -> AIMessage:
        seen.extend(messages)
        return AIMessage("ok")

    model_of(RunnableLambda(keep)).complete(REQUEST)
    assert seen == [SystemMessage("Rules."), HumanMessage("Data.")]


def test_a_completion_model_gets_one_text_without_roles() -> None:
    class Echo(FakeListLLM):
        def _call(self, prompt: str, *_: Any, **__: Any) -> str:
            return prompt

    assert model_of(Echo(responses=[])).complete(REQUEST).text == "Rules.\n\nData."


@pytest.mark.parametrize("asynchronous", [False, True])
def test_tokens_name_and_truncation_are_passed_on(asynchronous: bool) -> None:
    llm = ScriptedChatModel(reply=lambda _: "said", finish_reason="length")
    model = model_of(llm)
    reply = (
        asyncio.run(model.acomplete(REQUEST))
        if asynchronous
        else model.complete(REQUEST)
    )
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("said", 10, 5)
    assert reply.truncated
    assert reply.model == "scripted-2026-01-01"


def test_content_blocks_are_read_without_the_reasoning() -> None:
    blocks: list[Any] = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "said"},
    ]
    assert (
        model_of(RunnableLambda(lambda _: AIMessage(blocks))).complete(REQUEST).text
        == "said"
    )


def test_answers_from_a_cache_cost_no_tokens() -> None:
    llm = ScriptedChatModel(reply=lambda _: "said", cache=InMemoryCache())
    model = model_of(llm)
    first, second = model.complete(REQUEST), model.complete(REQUEST)
    assert len(llm.prompts) == 1
    assert (first.input_tokens, second.input_tokens, second.text) == (10, 0, first.text)


@pytest.mark.parametrize("wrap", [
    lambda llm: llm, lambda llm: llm.with_config(tags=["judge"]),
    lambda llm: llm.bind(seed=3).with_retry().with_fallbacks([scripted()]),
], ids=["bare", "config", "bind, retry and fallbacks"])  # fmt: skip
def test_wrapped_models_judge_and_keep_their_name(wrap: Any) -> None:
    result = TCVA(judge=wrap(scripted(GOOD))).evaluate(SAMPLE)
    assert (result.score, result.assessment.judge) == (1.0, "langchain:scripted")


def test_langchains_own_retries_ask_again() -> None:
    llm = scripted(StatusError(429), GOOD)
    retrying = llm.with_retry(wait_exponential_jitter=False)
    assert TCVA(judge=retrying).evaluate(SAMPLE).score == 1.0
    assert len(llm.prompts) == 2


def test_parameters_hold_what_changes_a_reply_and_no_secret() -> None:
    llm = ChatOpenAI(model="gpt-x", api_key=KEY, temperature=0, seed=3, max_retries=0)  # type: ignore[arg-type]  # a plain text is taken
    model = model_of(llm.bind(stop=["END"], extra_headers={"x": KEY}).with_retry())
    assert model.name == "langchain:gpt-x"
    asked = {"temperature": 0.0, "seed": 3, "stop": ["END"]}
    assert model.parameters == asked
    assert KEY not in f"{model!r}{json.dumps(dict(model.parameters))}"


def test_a_wrappers_parameters_win() -> None:
    assert model_of(scripted().bind(temperature=1)).parameters["temperature"] == 1
    assert model_of(scripted()).parameters["temperature"] == 0.0
    one, two = TCVA(judge=scripted()), TCVA(judge=scripted().bind(seed=3))
    assert one.key(SAMPLE) != two.key(SAMPLE)


def test_a_runnable_that_gives_no_text_is_refused() -> None:
    with pytest.raises(JudgeError, match=r"must return text.*got a dict"):
        model_of(RunnableLambda(lambda _: {"score": 1})).complete(REQUEST)

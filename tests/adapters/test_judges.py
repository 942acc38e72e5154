"""Who judges: the lexical judge in any dress, and LLMs of any framework."""

from __future__ import annotations

import asyncio
import re
from importlib import import_module
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.models.protocol import JudgeRequest, acomplete, complete, identity_of
from tests.adapters.table import ADAPTERS, Adapter, each_adapter
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import ScriptedModel

FRAMEWORKS = ["ragas", "langchain", "llamaindex", "deepeval"]


@each_adapter
def test_the_lexical_judge_is_known_in_every_dress(adapter: Adapter) -> None:
    expected = TCVA(judge="lexical").evaluate(SAMPLE)
    for framework in FRAMEWORKS:
        llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
        found: Any = adapter.score(adapter.built(llm), SAMPLE)
        assert (found.score, found.claims) == (expected.score, expected.claims)
        assert found.assessment.judge == "lexical/3"


@each_adapter
def test_llms_of_any_framework_and_judge_models_are_asked_the_same(adapter: Adapter) -> None:
    model = ScriptedModel([TWO])
    assert adapter.score(adapter.built(model), SAMPLE).score == pytest.approx(0.65, abs=1e-12)
    (request,) = model.requests
    for other in ADAPTERS:
        llm = other.llm(lambda _: TWO)
        assert adapter.score(adapter.built(llm), SAMPLE).score == pytest.approx(0.65, abs=1e-12)
        assert llm.prompts == [f"{request.system}\n\n{request.user}"]


@each_adapter
def test_what_cannot_judge_is_refused_when_built(adapter: Adapter) -> None:
    names = [] if adapter.name == "deepeval" else ["gpt-nothing/else"]  # names are DeepEval's own
    for judge in [7, True, [], b"lexical", *names]:
        with pytest.raises(InvalidValueError, match=re.escape(f"judge {judge!r}")):
            adapter.built(judge)
    with pytest.raises(InvalidValueError):
        adapter.built("lexical", claims="llm")


@each_adapter
def test_judges_that_are_fused_follow_the_criterion(adapter: Adapter) -> None:
    llm, own = adapter.llm(lambda _: TWO), TCVA("faithfulness", judge="lexical")
    evaluator = adapter.built(llm, fuse=["lexical", own])
    evaluator = adapter.changed(evaluator, criterion="correctness")
    found: Any = adapter.score(evaluator, SAMPLE)
    members = found.assessment.members
    assert [each.criterion for each in members] == ["correctness", "faithfulness"]


REQUEST = JudgeRequest("Judge.", "The data.", {}, "verdicts")
KEY = "sk-never-shown-1234567890"


class StatusError(Exception):
    """As providers' clients raise it."""

    status_code = 401


def read(adapter: Adapter, llm: object) -> Any:
    return import_module(f"tcva_adapters.{adapter.name.split()[0]}").as_judge_model(llm)


@each_adapter
def test_llms_of_the_framework_and_nothing_else_are_taken(adapter: Adapter) -> None:
    llm: Any = adapter.llm(lambda _: "yes")
    for other in ("lexical", None, 3, object(), type(llm)):
        assert read(adapter, other) is None
    model = read(adapter, llm)
    assert identity_of(model) == identity_of(read(adapter, llm))
    answered = complete(model, REQUEST), asyncio.run(acomplete(model, REQUEST))
    assert [each.text for each in answered] == ["yes"] * 2
    assert llm.prompts == ["Judge.\n\nThe data."] * 2
    assert model.name == f"{adapter.name.split()[0]}:scripted"
    assert "sk-never" not in f"{model!r}{model.parameters}"
    assert identity_of(model).holder is llm


@each_adapter
def test_a_failure_has_a_reason_and_shows_no_key(adapter: Adapter) -> None:
    def fails(_: str) -> str:
        raise StatusError(f"status 401, Bearer {KEY}")  # noqa: EM102, TRY003  # as others write it

    model = read(adapter, adapter.llm(fails))
    for ask in (complete, lambda *given: asyncio.run(acomplete(*given))):
        with pytest.raises(JudgeError) as caught:
            ask(model, REQUEST)
        assert (caught.value.reason, caught.value.fatal) == ("authentication", True)
        assert isinstance(caught.value.__cause__, StatusError)
        assert KEY not in str(caught.value)

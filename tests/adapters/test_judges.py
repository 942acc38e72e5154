"""Who judges: the lexical judge in any dress, LLMs of any framework, and the store before them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError
from tests.adapters.table import ADAPTERS, Adapter, each_adapter
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import ScriptedModel

FRAMEWORKS = ["ragas", "langchain", "llamaindex", "deepeval"]


@each_adapter
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_lexical_judge_is_known_in_every_dress(adapter: Adapter, framework: str) -> None:
    llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
    found = adapter.score(adapter.built(llm), SAMPLE)
    expected = TCVA(judge="lexical").evaluate(SAMPLE)
    assert (found.score, found.claims) == (expected.score, expected.claims)
    assert found.assessment.judge == "lexical/3"  # type: ignore[attr-defined]  # a Result


@each_adapter
@pytest.mark.parametrize("other", ADAPTERS, ids=lambda adapter: adapter.name)
def test_llms_of_any_framework_and_judge_models_are_asked_the_same(
    adapter: Adapter, other: Adapter
) -> None:
    llm, model = other.llm(lambda _: TWO), ScriptedModel([TWO])
    assert adapter.score(adapter.built(llm), SAMPLE).score == pytest.approx(0.65, abs=1e-12)
    assert adapter.score(adapter.built(model), SAMPLE).score == pytest.approx(0.65, abs=1e-12)
    (request,) = model.requests
    assert llm.prompts == [f"{request.system}\n\n{request.user}"]


@each_adapter
def test_what_cannot_judge_is_refused_when_built(adapter: Adapter) -> None:
    names = [] if adapter.name == "deepeval" else ["gpt-nothing/else"]  # names are DeepEval's own
    for judge in [7, True, [], b"lexical", *names]:
        with pytest.raises(InvalidValueError, match=re.escape(f"judge {judge!r}")):
            adapter.built(judge)


@each_adapter
def test_an_llm_that_cannot_follow_a_setting_is_said_before_anything_is_judged(
    adapter: Adapter,
) -> None:
    with pytest.raises(InvalidValueError, match="needs a model"):
        adapter.built("lexical", claims="llm")


@each_adapter
def test_a_store_serves_what_was_judged_before(adapter: Adapter, tmp_path: Path) -> None:
    llm = adapter.llm(lambda _: TWO)
    for temperature in (0.5, 0.2):
        evaluator = adapter.built(
            llm, store=tmp_path / "verdicts.sqlite", temperature=temperature, share=False
        )
        adapter.score(evaluator, SAMPLE)
        evaluator.scorer.store.close()
    assert len(llm.prompts) == 1


@each_adapter
def test_judges_that_are_fused_follow_the_criterion(adapter: Adapter) -> None:
    llm, own = adapter.llm(lambda _: TWO), TCVA("faithfulness", judge="lexical")
    evaluator = adapter.built(llm, fuse=["lexical", own])
    evaluator = adapter.changed(evaluator, criterion="correctness")
    found: Any = adapter.score(evaluator, SAMPLE)
    members = found.assessment.members
    assert [each.criterion for each in members] == ["correctness", "faithfulness"]

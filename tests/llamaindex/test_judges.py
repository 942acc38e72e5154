"""Which LLM judges, what it is asked for, and the store before it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from llama_index.core import Settings

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.llamaindex import LexicalLLM, TCVAEvaluator
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import CONTEXTS, evaluated
from tests.support.office import ONE, SCORE, TWO


def test_the_judge_is_settings_llm_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = scripted(TWO)
    monkeypatch.setattr(Settings, "_llm", llm)
    assert evaluated(TCVAEvaluator()).score == pytest.approx(SCORE)
    assert len(llm.prompts) == 1


def test_no_judge_at_all_is_said_when_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.delenv("IS_TESTING", raising=False)
    with pytest.raises(InvalidValueError, match=r"Settings\.llm") as caught:
        TCVAEvaluator()
    assert isinstance(caught.value.__cause__, ImportError | ValueError)


def test_the_lexical_judge_needs_no_llm() -> None:
    result = TCVAEvaluator("lexical").evaluate(response=CONTEXTS[0], contexts=CONTEXTS)
    assert result.score == 1.0
    assert "lexical" in result.result.assessment.judge


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["ragas", "langchain", "llamaindex", "deepeval"])
def test_the_lexical_judge_is_known_in_every_dress(framework: str) -> None:
    llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
    result = evaluated(TCVAEvaluator(llm))
    expected = evaluated(TCVAEvaluator("lexical"))
    assert (result.score, result.claims) == (expected.score, expected.claims)
    assert result.result.assessment.judge == expected.result.assessment.judge


def test_the_lexical_llm_in_settings_serves_ours_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", LexicalLLM())
    assert evaluated(TCVAEvaluator()).score == evaluated(TCVAEvaluator("lexical")).score


def test_claims_may_be_asked_of_the_judge() -> None:
    llm = scripted('{"claims": ["The office opens at nine."]}', ONE)
    assert evaluated(TCVAEvaluator(llm, claims="llm")).score == 1.0
    assert len(llm.prompts) == 2


def test_a_store_saves_the_call(tmp_path: Path) -> None:
    llm = scripted(TWO)
    first = evaluated(TCVAEvaluator(llm, store=tmp_path / "verdicts.sqlite"))
    again = evaluated(TCVAEvaluator(llm, store=tmp_path / "verdicts.sqlite", temperature=0.1))
    assert again.result.assessment.from_store
    assert again.claims == first.claims

"""Which LLM judges, of RAGAS' two families, LangChain's or none, and the store before it."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from ragas import RunConfig
from ragas.metrics._faithfulness import Faithfulness

from tcva_adapters import TCVA
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.ragas import LexicalLLM, TCVACollectionMetric, TCVAMetric
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM, scripted
from tests.ragas.office import COLUMN, evaluated, turn
from tests.support.office import ONE, SAMPLE, SCORE, TWO


def test_both_families_of_llms_are_asked_the_same_and_once() -> None:
    older, newer = ScriptedLLM(lambda _: TWO), ScriptedInstructorLLM(lambda _: TWO)
    scores = [evaluated([TCVAMetric(llm=llm)])[COLUMN] for llm in (older, newer)]
    assert scores[0] == scores[1]
    assert older.prompts == newer.prompts
    assert len(older.prompts) == 1


def test_a_langchain_model_is_taken_as_ragas_takes_it() -> None:
    result = evaluated([TCVAMetric()], llm=FakeListChatModel(responses=[TWO]))
    assert result[COLUMN] == pytest.approx([SCORE], abs=1e-12)
    with_own = evaluated([TCVAMetric(llm=FakeListChatModel(responses=[TWO]))])
    assert with_own[COLUMN] == result[COLUMN]


def test_a_metric_keeps_its_own_llm_and_gives_back_a_lent_one() -> None:
    own, lent = ScriptedLLM(lambda _: TWO), ScriptedLLM(lambda _: ONE)
    metrics = [TCVAMetric(name="own", llm=own), TCVAMetric(name="lent")]
    evaluated(metrics, llm=lent)
    assert (len(own.prompts), len(lent.prompts)) == (1, 2)  # ONE lacks claim 2: asked once more
    assert metrics[1].llm is None


def test_without_any_llm_it_says_so() -> None:
    with pytest.raises(ValueError, match="no valid LLM"):
        TCVAMetric().init(RunConfig())
    with pytest.raises(JudgeError, match="pass llm="):
        TCVAMetric().single_turn_score(turn())


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["ragas", "langchain", "llamaindex", "deepeval"])
def test_the_lexical_judge_is_known_in_every_dress(framework: str) -> None:
    llm = import_module(f"tcva_adapters.{framework}").LexicalLLM()
    (expected,) = evaluated([TCVAMetric(llm="lexical")])[COLUMN]
    found: Any
    (found,) = evaluated([TCVAMetric(llm=llm)])[COLUMN]
    assert found == expected > 0
    assert found.result.assessment.judge == TCVA(judge="lexical").judge.name
    row = turn().to_dict() | {"reference": None}
    assert TCVACollectionMetric(llm).score(**row).value == expected


def test_one_lexical_llm_serves_native_metrics_and_ours() -> None:
    theirs: list[Any] = [Faithfulness()]
    criteria = ("faithfulness", "answer_relevancy", "correctness", "completeness", "context_recall")
    metrics = [*theirs, *(TCVAMetric(criterion=name) for name in criteria)]
    llm: Any = LexicalLLM()  # RAGAS' annotation lacks the newer family, which it takes
    scores = evaluated(metrics, llm=llm, raise_exceptions=True).scores[0]
    expected = {
        f"tcva_{name}": TCVA(name, judge="lexical").evaluate(SAMPLE).score for name in criteria
    }
    assert {name: scores[name] for name in expected} == expected
    assert not any(math.isnan(score) for score in scores.values())
    # RAGAS wraps LangChain's LLMs itself.
    wrapped = evaluated([TCVAMetric()], llm=import_module("tcva_adapters.langchain").LexicalLLM())
    assert wrapped[COLUMN] == [scores[COLUMN]]


def test_an_llm_that_cannot_follow_an_option_is_said_before_anything_is_judged() -> None:
    llm: Any = LexicalLLM()
    metric = TCVAMetric(claims="llm")
    with pytest.raises(InvalidValueError, match="needs a model"):
        evaluated([metric], llm=llm)


def test_an_llm_in_the_place_of_a_forgotten_one_is_asked() -> None:
    class Other(LexicalLLM):
        """Of the same size, so that it may be put where the one before it was."""

    metric = TCVAMetric()
    assert metric.llm is None
    for _ in range(20):
        metric.llm = LexicalLLM()
        assert metric.scorer.judge.name == TCVA(judge="lexical").judge.name
        metric.llm = None
        metric.llm = Other()
        assert metric.scorer.judge.name.startswith("ragas:")


# RAGAS announces the end of its wrapper on every use.
@pytest.mark.filterwarnings("ignore:LangchainLLMWrapper is deprecated:DeprecationWarning")
def test_another_judge_to_fuse_is_asked_where_ragas_thinks_it_equal() -> None:
    # Imported by name, the wrapper would announce its end to pytest.
    wrapper: Any = import_module("ragas.llms").LangchainLLMWrapper
    first, second = (wrapper(FakeListChatModel(responses=[TWO])) for _ in range(2))
    assert first == second
    metric = TCVAMetric(llm="lexical", fuse=first)
    other = metric.changed(fuse=second)
    asked: Any = [each.scorer.members[0].judge for each in (metric, other)]
    assert [judge.model.llm for judge in asked] == [first, second]
    assert asked[1].model.llm is second
    many = [second]
    both = metric.changed(fuse=many)
    many.append(first)
    assert len(both.scorer.members) == 1


def test_a_store_serves_what_was_judged_before(tmp_path: Path) -> None:
    llm = ScriptedLLM(scripted(TWO))
    for temperature in (0.5, 0.2):
        metric = TCVAMetric(llm=llm, store=tmp_path / "verdicts.db", temperature=temperature)
        evaluated([metric])
    assert len(llm.prompts) == 1

"""What a drop-in makes of a sample: TCVA's own score, whatever its framework carries it in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tcva_adapters import TCVA
from tests.adapters.table import Adapter, each_adapter
from tests.support.office import SAMPLE, SCORE, TWO
from tests.support.scripted import ScriptedModel

BUILT_IN = ("faithfulness", "answer_relevancy", "correctness", "completeness", "context_recall")


@each_adapter
def test_the_score_is_that_of_tcva_at_any_temperature_and_costs_one_call(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: TWO)
    found: Any = adapter.score(adapter.built(llm), SAMPLE)
    assert found.score == pytest.approx(SCORE, abs=1e-12)
    for temperature in (0.1, 0.37, 0.93, 1.0):
        tcva = TCVA(judge=ScriptedModel([TWO]), temperature=temperature)
        expected = tcva.evaluate(SAMPLE).score
        evaluator = adapter.built(llm, temperature=temperature)
        assert adapter.score(evaluator, SAMPLE).score == expected
        assert asyncio.run(adapter.ascore(evaluator, SAMPLE)).score == expected
        assert found.at(temperature).score == expected
    assert len(llm.prompts) == 1


@each_adapter
def test_every_criterion_is_judged_by_its_own_fields(adapter: Adapter) -> None:
    for criterion in BUILT_IN:
        tcva = TCVA(criterion, judge="lexical")
        others = {name: None for name in ("input", "reference") if name not in tcva.required}
        sample = SAMPLE.model_copy(update=others)
        found = adapter.score(adapter.built("lexical", criterion=criterion), sample)
        expected = tcva.evaluate(sample)
        assert (found.score, found.claims) == (expected.score, expected.claims)


@each_adapter
def test_a_repr_names_the_judge_and_shows_no_secret(adapter: Adapter) -> None:
    llm = adapter.llm(lambda _: TWO)
    llm.api_key = "sk-never-shown-1234567890"
    shown = repr(adapter.built(llm))
    assert ":scripted" in shown
    assert llm.api_key not in shown

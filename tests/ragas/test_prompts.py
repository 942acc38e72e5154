"""The texts of a criterion as RAGAS' prompts: read, replaced, saved, adapted, refused."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from ragas.llms.base import BaseRagasLLM
from ragas.metrics._faithfulness import Faithfulness

from tcva_adapters import TCVA
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.ragas import LexicalLLM, TCVAMetric
from tests.ragas.entry import ScriptedInstructorLLM, ScriptedLLM
from tests.ragas.office import COLUMN, evaluated, turn
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import ScriptedModel


def set_wording(metric: TCVAMetric, text: str) -> None:
    prompt = metric.get_prompts()["wording"]
    prompt.instruction = text
    metric.set_prompts(wording=prompt)


def test_prompts_are_the_texts_of_the_criterion() -> None:
    llm = ScriptedLLM(lambda _: TWO)
    metric = TCVAMetric(llm=llm)
    prompts = metric.get_prompts()
    assert set(prompts) == {"wording", "fully", "mostly", "partial", "minor", "none"}
    assert prompts["wording"].instruction == metric.scorer.criterion.wording
    before = metric.scorer.key(SAMPLE)
    prompts["none"].instruction = "the passages say nothing of the sort, or the opposite"
    metric.set_prompts(**prompts)
    metric.single_turn_score(turn())
    assert "- none: the passages say nothing of the sort, or the opposite" in llm.prompts[0]
    assert metric.scorer.key(SAMPLE) != before
    assert TCVAMetric(llm=llm).scorer.key(SAMPLE) == before  # other metrics are not touched


def test_judges_that_are_fused_are_asked_in_the_same_texts() -> None:
    llm, other = ScriptedLLM(lambda _: TWO), ScriptedInstructorLLM(lambda _: TWO)
    own = TCVA(judge=ScriptedModel([TWO]))
    metric = TCVAMetric(llm=llm, fuse=[other, own])
    set_wording(metric, "Decide what the passages bear out.")
    score: Any = metric.single_turn_score(turn())
    for asked in (llm, other):
        assert "Decide what the passages bear out." in asked.prompts[0]
    assert metric.scorer.members[1] is own  # with the texts that it was built with
    assert len(score.result.assessment.members) == 2


def test_what_is_no_text_of_the_criterion_is_refused() -> None:
    metric = TCVAMetric(llm="lexical")
    with pytest.raises(InvalidValueError, match="NLIStatementPrompt"):
        metric.set_prompts(wording=Faithfulness().nli_statements_prompt)
    with pytest.raises(ValueError, match="nonesuch"):
        metric.set_prompts(nonesuch=metric.get_prompts()["wording"])
    with pytest.raises(InvalidValueError, match="wording"):
        set_wording(metric, " ")
    metric.get_prompts()["wording"].instruction = "of a copy that was not set"
    assert metric.scorer.criterion == FAITHFULNESS


def test_prompts_with_examples_are_refused() -> None:
    metric = TCVAMetric(llm="lexical")
    prompt = metric.get_prompts()["minor"]
    prompt.examples = [(prompt.input_model(), prompt.output_model(levels=["minor"]))]
    with pytest.raises(InvalidValueError, match="examples"):
        metric.set_prompts(minor=prompt)
    with pytest.raises(InvalidValueError, match="no prompt to send"):
        asyncio.run(prompt.generate(llm=LexicalLLM(), data=prompt.input_model()))


def test_prompts_are_saved_and_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metric = TCVAMetric(llm="lexical")
    set_wording(metric, "Decide strictly.")
    metric.save_prompts(str(tmp_path))
    assert capsys.readouterr().out.count("Prompt saved") == 6
    other = TCVAMetric(llm="lexical")
    other.set_prompts(**other.load_prompts(str(tmp_path)))
    assert other.scorer.criterion == metric.scorer.criterion


@pytest.mark.parametrize("family", [ScriptedLLM, ScriptedInstructorLLM])
def test_adapted_prompts_are_saved_loaded_and_asked(
    family: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translator = family(lambda _: json.dumps({"statements": ["Auf Deutsch."]}))
    metric = TCVAMetric(llm=family(lambda _: TWO))
    metric.set_prompts(
        **asyncio.run(metric.adapt_prompts("german", translator, adapt_instruction=True))
    )
    metric.save_prompts(str(tmp_path))
    with pytest.raises(FileExistsError):
        metric.save_prompts(str(tmp_path))
    assert "german" in capsys.readouterr().out
    llm = family(lambda _: TWO)
    other = TCVAMetric(temperature=0.9)  # texts belong to the criterion, not to the dial
    with pytest.raises(FileNotFoundError, match="english"):
        other.load_prompts(str(tmp_path))
    other.set_prompts(**other.load_prompts(str(tmp_path), language="german"))
    assert not math.isnan(evaluated([other], llm=llm)[other.name][0])
    assert llm.prompts[0].count("Auf Deutsch.") == 6
    assert other.name == f"{COLUMN}(T=0.9)"


def test_prompts_are_adapted_by_the_llm() -> None:
    llm: BaseRagasLLM = ScriptedLLM(lambda _: json.dumps({"statements": ["Entscheide."]}))
    metric = TCVAMetric(llm="lexical")
    kept = asyncio.run(metric.adapt_prompts("german", llm))
    assert kept["wording"].instruction == metric.scorer.criterion.wording
    adapted = asyncio.run(metric.adapt_prompts("german", llm, adapt_instruction=True))
    metric.set_prompts(**adapted)
    assert metric.get_prompts()["wording"].language == "german"
    assert metric.scorer.criterion.wording == "Entscheide."

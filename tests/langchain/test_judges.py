"""Judges of their own settings, additional ones, and the store before them."""

from __future__ import annotations

import json
from pathlib import Path

from langchain_core.runnables import ConfigurableField

from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.langchain import TCVAEvaluator
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import TWO
from tests.support.scripted import ScriptedModel, verdict_json


def test_a_store_serves_the_second_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    first = TCVAEvaluator(scripted(TWO), store=path).invoke(RECORD)
    idle = scripted()
    second = TCVAEvaluator(idle, store=path, temperature=0.3).invoke(RECORD)
    assert second["from_store"]
    assert second["claims"] == first["claims"]
    assert not idle.prompts


def test_a_judge_with_settings_of_its_own_keeps_them_at_run_time() -> None:
    claims = json.dumps({"claims": ["It opens at nine."]})
    judge = LLMJudge(ScriptedModel([claims, verdict_json((1, "fully", ""))]), claims="llm")
    step = TCVAEvaluator(judge).configurable_fields(temperature=ConfigurableField(id="dial"))
    seen = step.invoke(RECORD, {"configurable": {"dial": 0.2}})
    assert [claim["claim"] for claim in seen["claims"]] == ["It opens at nine."]


def test_an_additional_judge_follows_the_criterion_at_run_time() -> None:
    step = TCVAEvaluator("lexical", fuse="lexical").configurable_fields(
        criterion=ConfigurableField(id="criterion")
    )
    seen = step.invoke(RECORD, {"configurable": {"criterion": "answer_relevancy"}})
    assert [member["criterion"] for member in seen["members"]] == ["answer_relevancy"]

"""Fields of evaluators: every setting is one, left to the run or changed in a copy."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField, RunnablePassthrough

from tcva_adapters import CCRS, TCVA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import ScorerEvaluator, TCVAEvaluator, result_of
from tcva_adapters.results.settings import TCVASettings
from tests.langchain.entry import RECORD, scripted
from tests.support.office import TWO
from tests.support.scripted import verdict_json

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
        (spec,) = evaluator.configurable_fields(**{name: ConfigurableField(id="it")}).config_specs
        assert spec.description == setting.description


def test_the_dial_is_configurable_at_run_time() -> None:
    model = scripted(TWO, TWO)
    step = TCVAEvaluator(model, share=False).configurable_fields(
        temperature=ConfigurableField(id="tcva_temperature")
    )
    chain = RunnablePassthrough.assign(tcva=step)
    lenient = chain.invoke(RECORD, {"configurable": {"tcva_temperature": "lenient"}})["tcva"]
    assert lenient["scoring"]["temperature"] == 0.9
    assert lenient["score"] == result_of(chain.invoke(RECORD)["tcva"]).at("lenient").score
    with pytest.raises(InvalidValueError, match="5"):
        chain.invoke(RECORD, {"configurable": {"tcva_temperature": 5}})
    assert len(model.prompts) == 2


@pytest.mark.parametrize("copied", [TCVAEvaluator.model_copy, TCVAEvaluator.copy])
def test_judge_criterion_claims_mapper_store_and_name_can_be_changed(
    copied: Any, tmp_path: Path
) -> None:
    model = scripted(CLAIMS, verdict_json((1, "mostly", "opens at nine")))
    own = TCVA("completeness", judge="lexical")
    changes = {
        "llm": model,
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
    other = evaluator.model_copy(update={"scorer": ccrs.changed(em="normalised", lambda_=0.0)})
    assert (result_of(other.invoke(record)).exact, other.name) == (True, "mine")
    assert (evaluator.scorer, evaluator.scorer.store) == (ccrs, other.scorer.store)
    with pytest.raises(InvalidValueError, match=r"'lamda'.*ScorerEvaluator"):
        evaluator.model_copy(update={"lamda": 0.1})
    with pytest.raises(InvalidValueError, match=r"scorer=.*model_copy\(update="):
        evaluator.scorer = CCRS("ac", judge="lexical")
